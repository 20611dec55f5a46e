"""The functions of networkx that run here, by networkx's name of each, and what they leave to networkx.

A function registers itself with `@implements`. It has the signature, the results and the exceptions of networkx's; its
graphs are those of `tgraph.networkx.graph`. `refuses` takes the same arguments, before any graph is converted, and
returns None or the reason why the call is networkx's.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx

from tgraph.networkx import history

Function = Callable[..., Any]

# What a call costs networkx decides from which size on it runs here, see `interface.should_run`: less than a conversion
# ("light"), some times as much, or more the larger the graph.
COSTS = ("light", "linear", "superlinear")


@dataclass(frozen=True)
class Entry:
    """A function of networkx that runs here.

    name : as networkx dispatches it. topic : the module of `functions` that it is in. gaps : what is left to networkx,
    for a reader. cost : one of COSTS, that of networkx's own function. made_of : the functions that run here of which
    networkx's own code is made, where that is what runs.
    """

    name: str
    run: Function
    topic: str
    gaps: str = ""
    cost: str = "linear"
    refuses: Function | None = None
    made_of: tuple[str, ...] = ()

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.run)

    def refused(self, args: tuple, kwargs: dict[str, Any]) -> str | None:
        """The reason why these arguments are networkx's, or None."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for name in ("weight", "distance"):
            if callable(bound.arguments.get(name)):
                return f"{name} is a function"
        return None if self.refuses is None else self.refuses(*bound.args, **bound.kwargs)


FUNCTIONS: dict[str, Entry] = {}


def implements(
    *, name: str | None = None, gaps: str = "", cost: str = "linear", refuses: Function | None = None
) -> Callable[[Function], Function]:
    """Register the decorated function as networkx's of the same name, or of the name that networkx dispatches."""

    def register(function: Function) -> Function:
        return _register(name or function.__name__, function, function.__module__, gaps, cost, refuses)

    return register


def made_of(*parts: str, gaps: str = "", cost: str = "linear", refuses: Function | None = None) -> Callable[..., None]:
    """Register networkx's own code for the functions named, given our graphs: it is made of `parts`, which run here,
    and of views, so that nothing in it walks the arcs in Python."""

    module = sys._getframe(1).f_globals["__name__"]

    def register(*names: str) -> None:
        for name in names:
            function = nx.utils.backends._registered_algorithms[name].orig_func
            _register(name, function, module, gaps, cost, refuses, parts)

    return register


def _register(
    name: str,
    function: Function,
    module: str,
    gaps: str,
    cost: str,
    refuses: Function | None,
    parts: tuple[str, ...] = (),
) -> Function:
    if cost not in COSTS:
        raise ValueError(f"cost: {cost!r} is not one of {COSTS}")

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        history.ran(name)
        return function(*args, **kwargs)

    FUNCTIONS[name] = Entry(name, run, module.rpartition(".")[2], gaps, cost, refuses, parts)
    return run
