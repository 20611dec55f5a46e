"""The object behind the entry point `networkx.backends`: what networkx's dispatch asks a backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx

from tgraph.networkx import functions, history
from tgraph.networkx.convert import convert_from_nx, convert_to_nx
from tgraph.networkx.expected import EXPECTED_FAILURES
from tgraph.networkx.registry import FUNCTIONS

# Below so many nodes and edges a call that first has to convert its graph takes longer here than in networkx, by what
# networkx's own function costs. What only reads a number off the graph is never worth a conversion.
WORTH_CONVERTING = {"view": None, "linear": 2_000, "superlinear": 300}


class BackendInterface:
    """Each function of the registry is an attribute of its name."""

    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            if name in nx.utils.backends._registered_algorithms:
                history.left(name, "it is not among the functions of tgraph")
            raise AttributeError(name)
        return FUNCTIONS[name].run

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *FUNCTIONS])

    def can_run(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> bool | str:
        """True, or why the function does not serve these arguments."""
        reason = FUNCTIONS[name].refused(tuple(args), kwargs)
        if reason is None:
            return True
        history.left(name, reason)
        return reason

    def should_run(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> bool | str:
        """True, or why the graphs are not worth a conversion. One that networkx has cached already is used."""
        graphs = [graph for graph in (*args, *kwargs.values()) if isinstance(graph, nx.Graph)]
        if all(_is_converted(graph) for graph in graphs):
            return True
        cost = FUNCTIONS[name].cost
        least = WORTH_CONVERTING[cost]
        if least is None:
            reason = "converting the graph takes longer than the call"
        elif (size := sum(map(_size, graphs))) < least:
            reason = f"the graph has {size} nodes and edges; below {least} converting it takes longer than the call"
        else:
            return True
        history.left(name, reason)
        return reason

    def on_start_tests(self, items: Sequence[Any]) -> None:
        """Mark the tests of networkx that are expected to fail."""
        import pytest

        for item in items:
            name = item.nodeid.rpartition("networkx/")[2] or item.nodeid
            for test, reason in EXPECTED_FAILURES.items():
                if name.endswith(test):
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=False))


def _is_converted(graph: Any) -> bool:
    if hasattr(graph, "__networkx_backend__") and graph.__networkx_backend__ == "tgraph":
        return True
    cache = getattr(graph, "__networkx_cache__", None)
    return cache is not None and bool(cache.get("backends", {}).get("tgraph"))


def _size(graph: Any) -> int:
    return len(graph) + sum(map(len, graph._adj.values()))


functions.load()
backend = BackendInterface()
