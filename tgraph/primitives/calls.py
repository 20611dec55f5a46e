"""Calls of algorithms, as all processes make them over which a graph is spread."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tgraph.core.graph import Graph

F = TypeVar("F", bound=Callable[..., Any])


def as_one(function: F) -> F:
    """The function, of which a call that fails in one process fails in all over which its graph is spread: with
    RankError in the others, and at once.

    >>> tg.primitives.calls.as_one(tg.algorithms.bfs)(tg.generators.path(3), 0)
    tensor([0, 1, 2], dtype=torch.int32)
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for given in (*args, *kwargs.values()):
            if isinstance(given, Graph) and (layout := given.layout) is not None and layout.spreads:
                with layout.calling(function.__name__):
                    return function(*args, **kwargs)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]
