"""Nodes: networkx's names of the vertices 0..n-1, in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import networkx as nx
from torch import Tensor


class NoNode(nx.NetworkXError):
    """An argument is no node of the graph, or cannot be one."""


class Nodes:
    """The names of vertices and the vertices of names.

    names : range(n), or a list of hashable objects.
    """

    def __init__(self, names: Sequence[Any]):
        self.names = names
        self._count = len(names) if isinstance(names, range) else 0  # of nodes that are their own vertices

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def kind(self) -> type | None:
        """int or str where all names are of just this class, so that equal ones look alike; else None."""
        kinds = {int} if isinstance(self.names, range) else set(map(type, self.names))
        return kinds.pop() if kinds in ({int}, {str}) else None

    @cached_property
    def _table(self) -> dict[Any, int]:
        return dict(zip(self.names, range(len(self.names)), strict=True))

    def index(self, name: Any) -> int:
        """The vertex of a node. Raises KeyError for an object that is no node, TypeError for one without a
        hash."""
        if type(name) is int and 0 <= name < self._count:
            return name
        if not isinstance(self.names, range):
            return self._table[name]
        hash(name)
        try:
            number = int(name)
        except (TypeError, ValueError, OverflowError):
            raise KeyError(name) from None
        if number != name or not 0 <= number < len(self.names):
            raise KeyError(name)
        return number

    def __contains__(self, name: Any) -> bool:
        if type(name) is int and 0 <= name < self._count:
            return True
        try:
            self.index(name)
        except KeyError:
            return False
        return True

    def indices(self, names: Iterable[Any]) -> list[int]:
        """The vertices of several nodes."""
        return list(map(self.index if isinstance(self.names, range) else self._table.__getitem__, names))

    def of(self, vertices: Tensor | list[int]) -> list[Any]:
        """The names of `vertices`, indices 0..n-1."""
        numbers = vertices.tolist() if isinstance(vertices, Tensor) else vertices
        return numbers if isinstance(self.names, range) else list(map(self.names.__getitem__, numbers))
