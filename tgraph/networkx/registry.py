"""The functions of networkx that run here, by networkx's name of each, and what they leave to networkx.

A function registers itself with `@implements`. It has the signature, the results and the exceptions of networkx's; its
graphs are those of `tgraph.networkx.graph`. `only` has the values that arguments may have here, `directed` and
`multigraphs` say whether graphs may be. `refuses` takes some of the arguments, by name, before any graph is converted,
and returns None or the reason why the call is networkx's.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

from tgraph.errors import ArgumentError
from tgraph.io.adjacency import paused_collections
from tgraph.networkx import history, thresholds
from tgraph.networkx.given import as_networkx, begun

LISTS = {  # arguments that are some nodes, or pairs of them
    *("S", "T", "column_order", "ebunch", "nbunch", "nbunch1", "nbunch2", "nodelist", "nodes", "pairs", "row_order"),
    *("source", "sources", "targets", "top_nodes", "v"),
}
Function = Callable[..., Any]


def _is_among(value: Any, allowed: Any) -> bool:
    if inspect.isfunction(allowed):
        return bool(allowed(value))
    some = allowed if isinstance(allowed, tuple) else (allowed,)
    return any(value is one or (type(value) is type(one) and value == one) for one in some)


def _but(name: str, allowed: Any) -> str:
    """The values of an argument that are not allowed, in words."""
    if allowed is None or allowed is False:
        return name
    if inspect.isfunction(allowed):
        return f"{name} but {allowed.__name__.strip('_').replace('_', ' ')}"
    some = allowed if isinstance(allowed, tuple) else (allowed,)
    return f"{name} but {', '.join(getattr(one, '__name__', str(one)) for one in some)}"


@dataclass(frozen=True)
class Entry:
    """A function of networkx that runs here.

    name : as networkx dispatches it. module : of `functions`, that it is in. only : the values that arguments may have:
    one, a tuple of some, or a predicate whose name describes them. graphs : kinds of graphs that are left to
    networkx. refuses : of the arguments that it names, the reason why a call is left to networkx. further : other calls
    that are left to it, for a reader. cost : one of `thresholds.COSTS`, that of networkx's own function; given : other
    costs, by the first of these arguments that is given. made_of : the functions that run here of which networkx's own
    code is made, where that is what runs.
    """

    name: str
    run: Function
    module: str
    only: Mapping[str, Any] = field(default_factory=dict)
    graphs: tuple[str, ...] = ()
    refuses: Function | None = None
    further: str = ""
    cost: str = "linear"
    made_of: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def gaps(self) -> str:
        """The calls that are left to networkx, for a reader."""
        words = [*(_but(name, allowed) for name, allowed in self.only.items()), *self.graphs, self.further]
        return "; ".join(filter(None, words))

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.run)

    @functools.cached_property
    def _places(self) -> dict[str, tuple[int, Any]]:
        """The position of each argument, and its default."""
        return {name: (i, each.default) for i, (name, each) in enumerate(self.signature.parameters.items())}

    def argument(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The value of an argument, or its default; None for an unknown name."""
        place, default = self._places.get(name, (-1, None))
        return args[place] if 0 <= place < len(args) else kwargs.get(name, default)

    def refused(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        """The reason why these arguments are networkx's, or None."""
        for name in ("weight", "distance"):
            if callable(self.argument(name, args, kwargs)):
                return f"{name} is a function"
        for name in LISTS & self._places.keys():
            if isinstance(self.argument(name, args, kwargs), Iterator):
                return f"{name} is an iterator, of which networkx may see a part, or see it twice"
        for name, allowed in self.only.items():
            if not _is_among(self.argument(name, args, kwargs), allowed):
                return _but(name, allowed)
        for kind, is_left in (("multigraphs", "is_multigraph"), ("directed graphs", "is_directed")):
            if kind in self.graphs and any(getattr(G, is_left)() for G in self._graphs(args, kwargs)):
                return kind
        if self.refuses is None:
            return None
        asked = {name: self.argument(name, args, kwargs) for name in self._asked}
        if "kwargs" in asked:  # options that the signature does not name
            asked["kwargs"] = [name for name in kwargs if name not in self._places]
        return self.refuses(**asked)

    @functools.cached_property
    def _asked(self) -> tuple[str, ...]:
        """The arguments that `refuses` takes."""
        return tuple(inspect.signature(self.refuses).parameters) if self.refuses else ()

    def _graphs(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Any]:
        """The graphs among the arguments."""
        named = nx.utils.backends._registered_algorithms[self.name].graphs
        return (self.argument(name, args, kwargs) for name in named if self.argument(name, args, kwargs) is not None)

    def cost_of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, Any]:
        """The class of cost with these arguments, and the one that decides it, None where none does."""
        for name, cost in self.given.items():
            if (part := self.argument(name, args, kwargs)) is not None:
                return cost, part
        return self.cost, None

    def declined(self, args: Sequence[Any], kwargs: Mapping[str, Any], graphs: Sequence[Any]) -> str | None:
        """The reason why these arguments are as quick in networkx, or None."""
        cost, part = self.cost_of(args, kwargs)
        weight = self.argument(self._weight, args, kwargs) if self._weight else None
        return thresholds.declined(cost, part, weight, graphs)

    @functools.cached_property
    def _weight(self) -> str | None:
        """The argument that names the attribute that networkx converts edges with."""
        named = nx.utils.backends._registered_algorithms[self.name].edge_attrs
        return named if isinstance(named, str) and named in self._places else None


FUNCTIONS: dict[str, Entry] = {}


def implements(
    *,
    name: str | None = None,
    cost: str = "linear",
    given: Mapping[str, str] | None = None,
    only: Mapping[str, Any] | None = None,
    directed: bool = True,
    multigraphs: bool = True,
    refuses: Function | None = None,
    gaps: str = "",
    module: str = "",
    parts: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Register the decorated function as networkx's of the same name, or of the name that networkx dispatches.

    The parameters are those of `Entry`. Returns the function itself, for calls from other functions.
    """
    costs = {cost, *(given or {}).values()}
    for each in costs:
        if each not in thresholds.COSTS:
            raise ValueError(f"cost: {each!r} is not one of {thresholds.COSTS}")
    kinds = {"multigraphs": multigraphs, "directed graphs": directed}
    limits = only or {}, tuple(kind for kind, allowed in kinds.items() if not allowed), refuses, gaps

    def register(function: Function) -> Function:
        named = name or function.__name__
        call = function if parts else as_networkx(named, function)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            history.ran(named)
            is_local = "local" in costs and entry.cost_of(args, kwargs)[0] == "local"
            with thresholds.threads_for(args[0] if args else None, is_local), paused_collections():
                try:
                    found = call(*args, **kwargs)
                    return begun(found) if parts and inspect.isgenerator(found) else found
                except ArgumentError as fault:  # such as integers whose sums fit Python alone
                    raise NotImplementedError(str(fault)) from fault

        entry = Entry(named, run, module or function.__module__, *limits, cost, parts, given or {})
        if named in nx.utils.backends._registered_algorithms:  # not every release has all
            FUNCTIONS[named] = entry
        return function

    return register


def made_of(*parts: str, **options: Any) -> Callable[..., None]:
    """Register networkx's own code for the functions named, given our graphs: it is made of `parts`, which run here,
    and of views, so that nothing in it walks the arcs in Python. The options are those of `implements`."""
    module = sys._getframe(1).f_globals["__name__"]

    def register(*names: str) -> None:
        for name in names:
            function = nx.utils.backends._registered_algorithms[name].orig_func
            implements(name=name, parts=parts, module=module, **options)(function)

    return register
