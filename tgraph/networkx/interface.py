"""The object behind the entry point `networkx.backends`: the questions of networkx's dispatch to a backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx

from tgraph.networkx import functions, history
from tgraph.networkx.convert import convert_from_nx, convert_to_nx
from tgraph.networkx.expected import EXPECTED_FAILURES
from tgraph.networkx.registry import FUNCTIONS


class BackendInterface:
    """Each function of the registry is an attribute of its name."""

    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            if name in nx.utils.backends._registered_algorithms:
                history.left(name, "it is not among the functions of tgraph")
            raise AttributeError(name)
        return self.__dict__.setdefault(name, FUNCTIONS[name].run)  # found without this the next time

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *FUNCTIONS})

    def can_run(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> bool | str:
        """True, or the reason to leave these arguments to networkx."""
        if any(type(graph).adjacency is not nx.Graph.adjacency for graph in _graphs(args, kwargs)):
            reason: str | None = "a class of graphs that computes its neighbours"
        else:
            reason = FUNCTIONS[name].refused(args, kwargs)
        return _noted(name, reason)

    def should_run(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> bool | str:
        """True, or the reason why the call is as quick in networkx; see `thresholds`."""
        return _noted(name, FUNCTIONS[name].declined(args, kwargs, _graphs(args, kwargs)))

    def on_start_tests(self, items: Sequence[Any]) -> None:
        """Mark the tests of networkx that are expected to fail."""
        import pytest

        for item in items:
            name = item.nodeid.rpartition("networkx/")[2] or item.nodeid
            for test, reason in EXPECTED_FAILURES.items():
                if name.endswith(test):
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=False))


def _graphs(args: Sequence[Any], kwargs: dict[str, Any]) -> list[nx.Graph]:
    """The graphs among the arguments, and those in lists."""
    found: list[nx.Graph] = []
    for each in (*args, *kwargs.values()):
        if isinstance(each, nx.Graph):
            found.append(each)
        elif isinstance(each, list) and each and isinstance(each[0], nx.Graph):
            found += each
    return found


def _noted(name: str, reason: str | None) -> bool | str:
    """The answer to networkx."""
    if reason is None:
        return True
    history.left(name, reason)
    return reason


functions.load()
backend = BackendInterface()
