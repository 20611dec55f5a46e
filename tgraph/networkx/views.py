"""Mappings that stand for networkx's dicts of nodes and of neighbours, read from tensors on demand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from contextlib import nullcontext
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any, NoReturn

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from tgraph import Graph
from tgraph.io.adjacency import without_collections
from tgraph.io.columns import Column, dicts_of
from tgraph.kernels.operators.csr.arc_lookup import arc_lookup
from tgraph.networkx.nodes import Nodes

READ_ONLY = "this graph is in tensors and cannot be changed; change a copy in networkx's own classes, G.to_networkx()"


def refuse(*args: Any, **options: Any) -> NoReturn:
    """Replaces the methods that change a graph."""
    raise nx.NetworkXError(READ_ONLY)


class ReadOnlyDict(dict[Any, Any]):
    """A dict of attributes, or of parallel edges by key, read-only; its copies can be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def __deepcopy__(self, memo: Any) -> dict[Any, Any]:
        from copy import deepcopy

        return deepcopy(dict(self), memo)


NOTHING = ReadOnlyDict()
MANY = 1000  # new dicts that trigger Python's garbage collector


def attributes_of(columns: Mapping[Any, Column], count: int, positions: Any = slice(None)) -> list[Any]:
    """A dict of attributes for each of `count` positions, a slice or an array of indices."""
    if not columns:
        return [NOTHING] * count
    with without_collections(count) if count > MANY else nullcontext():
        return dicts_of(columns, count, positions, ReadOnlyDict)


class _Items(ItemsView):
    def __iter__(self) -> Iterator[Any]:
        return zip(self._mapping, self._mapping._every(), strict=True)  # type: ignore[attr-defined]


class _Values(ValuesView):
    def __iter__(self) -> Iterator[Any]:
        return iter(self._mapping._every())  # type: ignore[attr-defined]


class _View(Mapping):
    """A mapping that finds all values at once, by `_every`."""

    __slots__ = ()

    def items(self) -> ItemsView:
        return _Items(self)

    def values(self) -> ValuesView:
        return _Values(self)

    def copy(self) -> dict[Any, Any]:
        return dict(self.items())

    def __repr__(self) -> str:
        return repr(dict(self.items()))


class NodeDicts(_View):
    """The attributes of each node: networkx's `_node`."""

    def __init__(self, nodes: Nodes, columns: Mapping[Any, Column]):
        self._nodes, self._columns = nodes, columns

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._nodes.names)

    def __contains__(self, node: Any) -> bool:
        return node in self._nodes

    def __getitem__(self, node: Any) -> ReadOnlyDict:
        vertex = self._nodes.index(node)
        return attributes_of(self._columns, 1, slice(vertex, vertex + 1))[0] if self._columns else NOTHING

    def _every(self) -> list[ReadOnlyDict]:
        return attributes_of(self._columns, len(self))


BLOCK = 1 << 13  # arcs read at once in passes over all


class Rows(_View):
    """The neighbours of each node: networkx's `_adj` or `_pred`.

    graph : in CSR. order : its arcs in the order of the dicts, None where that is its own.
    arcs : the place of each arc among the columns, None where that is its own. columns, keys : of the edges; see
    `tgraph.io.adjacency.Adjacency`.
    """

    nodes: Nodes
    columns: Mapping[Any, Column] | dict[Any, Column]
    offset: memoryview
    ascending: memoryview

    def __init__(
        self,
        graph: Graph,
        nodes: Nodes,
        multigraph: bool,
        order: Tensor | None = None,
        arcs: Tensor | None = None,
        columns: Mapping[Any, Column] | None = None,
        keys: np.ndarray | None = None,
    ):
        self._arguments = graph, nodes, multigraph, order, arcs, columns, keys
        neighbors = graph.neighbors.cpu()
        self.nodes, self.columns, self.edge_keys = nodes, columns or {}, keys
        self.bounds: Tensor = graph.offset.cpu()
        self.offset, self.ascending = _buffer(self.bounds), _buffer(neighbors)
        self._is_numbered = isinstance(nodes.names, range)
        self.lookup: Any = arc_lookup(self.bounds, neighbors)
        self.targets: Tensor = neighbors if order is None else neighbors[order.cpu()]
        self.listed: memoryview = _buffer(self.targets)
        self.arcs: Tensor | None = arcs if arcs is None else arcs.cpu()
        order = order if order is None else order.cpu()
        self.order: Tensor | None = order if self.arcs is None else (self.arcs if order is None else self.arcs[order])
        self._row = MultiRow if multigraph else Row
        self._scalars = _scalars(self.columns)
        self._single = self._scalars[0] if self._scalars is not None and len(self._scalars) == 1 else None

    def __reduce__(self) -> Any:
        return Rows, self._arguments

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes.names)

    def __contains__(self, node: Any) -> bool:
        return node in self.nodes

    def __getitem__(self, node: Any) -> Row:
        vertex = self.nodes.index(node)
        return self._row(self, self.offset[vertex], self.offset[vertex + 1])

    def joins(self, u: Any, v: Any) -> bool:
        """True if there is an arc from one node to another. May raise KeyError if one is no node."""
        if type(u) is type(v) is int and self._is_numbered:
            return self.lookup.arc(u, v) >= 0  # -1 for a number that is no vertex
        index = self.nodes.index
        return self.lookup.arc(index(u), index(v)) >= 0

    def degree(self, node: Any) -> int:
        """The number of arcs of a row."""
        return self.lookup.degree(self.nodes.index(node))

    def _every(self) -> Iterator[Row]:
        row = self._row
        for begin, end in self.blocks():
            bounds = self.bounds[begin : end + 1].tolist()
            block = Block(self, bounds[0], bounds[-1])
            yield from (row(self, first, last, block) for first, last in pairwise(bounds))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """The nodes in runs that have about BLOCK arcs each: first, and the one after the last."""
        count = len(self.nodes)
        steps = torch.arange(0, len(self.targets) + count, BLOCK)
        ends = torch.searchsorted(self.bounds + torch.arange(count + 1), steps)  # a node counts as an arc
        return pairwise([*ends.unique().tolist(), count]) if count else iter(())

    def arcs_of(self, begin: int, end: int) -> tuple[Tensor, Tensor, Tensor]:
        """(source, target, place among the columns) of the arcs of the vertices from `begin` to `end`, in the order of
        the dicts."""
        bounds = self.bounds[begin : end + 1]
        first, last = int(bounds[0]), int(bounds[-1])
        source = torch.arange(begin, end).repeat_interleave(bounds.diff(), output_size=last - first)
        arcs = torch.arange(first, last) if self.order is None else self.order[first:last]
        return source, self.targets[first:last], arcs

    def places(self, begin: int, end: int) -> Any:
        """The places in the columns of the arcs from `begin` to `end` in the order of the dicts."""
        return slice(begin, end) if self.order is None else self.order[begin:end].numpy()

    def attributes(self, begin: int, end: int) -> list[ReadOnlyDict]:
        """The attributes of these arcs."""
        return attributes_of(self.columns, end - begin, self.places(begin, end))

    def one(self, place: int) -> ReadOnlyDict:
        """The attributes of one arc, by its place in ascending order."""
        if self.arcs is not None:
            place = int(self.arcs[place])
        if self._single is not None:
            name, values = self._single
            return ReadOnlyDict({name: values[place]})
        if self._scalars is None:
            return attributes_of(self.columns, 1, slice(place, place + 1))[0]
        return ReadOnlyDict({name: values[place] for name, values in self._scalars})


def _scalars(columns: Mapping[Any, Column]) -> list[tuple[Any, memoryview]] | None:
    """The columns as sequences of Python's numbers, None where one cannot be such a sequence."""
    simple = (torch.bool, torch.int64, torch.float64, torch.float32, torch.int32)
    if all(
        isinstance(each.values, Tensor) and each.present is None and each.values.dtype in simple
        for each in columns.values()
    ):
        return [(name, _buffer(each.values)) for name, each in columns.items()]  # type: ignore[arg-type]
    return None


def _buffer(tensor: Tensor) -> memoryview:
    """The numbers as a sequence whose items are Python's."""
    return memoryview(tensor.cpu().numpy())  # type: ignore[arg-type]


class Block:
    """Consecutive arcs in the order of the dicts, read together on first use."""

    begin: int

    def __init__(self, rows: Rows, begin: int, end: int):
        self._rows, self.begin, self._end = rows, begin, end

    @cached_property
    def neighbours(self) -> list[Any]:
        return self._rows.nodes.of(self._rows.targets[self.begin : self._end])

    @cached_property
    def attributes(self) -> list[ReadOnlyDict]:
        return self._rows.attributes(self.begin, self._end)


class Row(_View):
    """The edges of one node: neighbour to attributes. block : arcs read together with these, or None."""

    __slots__ = ("_begin", "_block", "_end", "_rows")

    def __init__(self, rows: Rows, begin: int, end: int, block: Block | None = None):
        self._rows, self._begin, self._end, self._block = rows, begin, end, block

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)

    def __len__(self) -> int:
        return self._end - self._begin

    def __iter__(self) -> Iterator[Any]:
        return iter(self._neighbours())

    def __contains__(self, node: Any) -> bool:
        try:
            return self._find(node) >= 0
        except KeyError:
            return False

    def __getitem__(self, node: Any) -> ReadOnlyDict:
        return self._rows.one(self._first(node))

    def _first(self, node: Any) -> int:
        first = self._find(node)
        if first < 0:
            raise KeyError(node)
        return first

    def _find(self, node: Any) -> int:
        """The first arc to a node, in the ascending order; -1 where there is none."""
        return self._rows.lookup.find(self._begin, self._end, self._rows.nodes.index(node))

    def _neighbours(self) -> list[Any]:
        if self._block is None:
            return self._rows.nodes.of(self._rows.listed[self._begin : self._end].tolist())
        before = self._block.begin
        return self._block.neighbours[self._begin - before : self._end - before]

    def _every(self) -> list[Any]:
        if self._block is None:
            return self._rows.attributes(self._begin, self._end)
        before = self._block.begin
        return self._block.attributes[self._begin - before : self._end - before]


class MultiRow(Row):
    """The edges of one node of a multigraph: neighbour to key to attributes."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(set(self._rows.ascending[self._begin : self._end]))

    def __iter__(self) -> Iterator[Any]:
        return iter(dict.fromkeys(self._neighbours()))

    def __getitem__(self, node: Any) -> ReadOnlyDict:
        rows, first = self._rows, self._first(node)
        end = bisect_right(rows.ascending, rows.ascending[first], first, self._end)
        places: Any = slice(first, end) if rows.arcs is None else rows.arcs[first:end].numpy()
        edges = attributes_of(rows.columns, end - first, places)
        keys = range(len(edges)) if rows.edge_keys is None else rows.edge_keys[places].tolist()
        return ReadOnlyDict(zip(keys, edges, strict=True))

    def _every(self) -> list[Any]:
        neighbours, arcs = self._neighbours(), super()._every()
        own = self._rows.edge_keys
        keys = repeat(None) if own is None else own[self._rows.places(self._begin, self._end)].tolist()
        edges: dict[Any, dict[Any, Any]] = {neighbour: {} for neighbour in neighbours}
        for neighbour, key, attributes in zip(neighbours, keys, arcs, strict=False):
            parallel = edges[neighbour]
            parallel[len(parallel) if own is None else key] = attributes
        return list(map(ReadOnlyDict, edges.values()))
