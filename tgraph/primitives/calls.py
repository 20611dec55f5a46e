"""Calls of algorithms by users: tensors have memory to read, and all processes over which a graph is spread call as
one."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from tgraph.core.building import memory
from tgraph.core.graph import Graph

F = TypeVar("F", bound=Callable[..., Any])


def as_one(function: F) -> F:
    """The `function`, which is given `readable` tensors and valid graphs alone, and of which a call that fails in one
    process fails in all over which its graph is spread: with RankError in the others, and at once.

    >>> tg.primitives.calls.as_one(tg.algorithms.bfs)(tg.generators.path(3), 0)
    tensor([0, 1, 2], dtype=torch.int32)
    """

    read = memory.guarded(function)
    checks = not hasattr(function, "reads_pieces")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for given in (*args, *kwargs.values()) if kwargs else args:
            if type(given) is not Graph:
                continue
            if (layout := given.layout) is None:
                if checks:
                    given.ensure_valid()  # torch reads beyond what was written into, or says so in its own words
            elif layout.is_distributed:
                with layout.calling(function.__name__):
                    return read(*args, **kwargs)
        return read(*args, **kwargs)

    return call  # type: ignore[return-value]


def reading_pieces(function: F) -> F:
    """The `function`, of which `as_one` does not check the graphs: it goes over their `edges.pieces`, which are valid.

    >>> tg.primitives.calls.reading_pieces(tg.algorithms.wcc)(tg.generators.path(3))
    tensor([0, 0, 0])
    """
    function.__dict__["reads_pieces"] = True
    return function


def all_as_one(package: str) -> None:
    """Have each public function of a package called by `as_one`, wherever in it the function is found.

    package : its name; it is imported, and names the functions in `__all__`.

    >>> tg.primitives.calls.all_as_one("tgraph.algorithms")
    """
    inside = [module for name, module in sys.modules.items() if f"{name}.".startswith(f"{package}.")]
    for name in sys.modules[package].__all__:
        function = getattr(sys.modules[package], name)
        if inspect.isfunction(function) and not hasattr(function, "__wrapped__"):
            called = as_one(function)
            for module in inside:
                if getattr(module, name, None) is function:
                    setattr(module, name, called)
