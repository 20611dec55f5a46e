"""Results of functions of a graph, computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


def cached(compute: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """The function of a graph of `tgraph.networkx.graph`, which has its results for calls with equal arguments of the
    same classes."""

    @wraps(compute)
    def found(graph: Any, *args: P.args, **options: P.kwargs) -> T:
        key = (compute, args, tuple(options.items()), *map(type, args), *map(type, options.values()))
        results = graph._cached
        return results[key] if key in results else results.setdefault(key, compute(graph, *args, **options))

    return found
