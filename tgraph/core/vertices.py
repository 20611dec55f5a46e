"""The vertices of a graph: indices, original ids, sets, and data with one row for each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import inputs, memory, validate
from tgraph.core.columns import NONE, Columns, as_numpy, flat
from tgraph.core.frontier import Frontier
from tgraph.core.ids import VertexIds
from tgraph.core.ranking import largest
from tgraph.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

OriginalIds = Tensor | np.ndarray | Sequence[Hashable]


class GraphVertices:
    """Vertices of a Graph, named by their index 0..n-1."""

    num_vertices: int  # n, isolated vertices included
    num_arcs: int  # m, the arcs stored: an undirected edge counts twice, an undirected self-loop once
    device: torch.device  # where the tensors are
    order: Tensor | None  # int64 [n], the vertex of the permuted graph that each vertex was; see `permute`
    _ids: VertexIds | None
    _vertex_columns: Columns = NONE

    @property
    def vertex_columns(self) -> Columns:
        """Named data of the vertices: {name: tensor [n, ...], or array of Arrow [n]}. See `with_columns`.

        >>> tg.generators.path(3).with_columns(vertices={"height": [5.0, 1.5, 2.0]}).vertex_columns["height"]
        tensor([5.0000, 1.5000, 2.0000], dtype=torch.float64)
        """
        return self._vertex_columns

    @property
    def out_degree(self) -> Tensor:
        """Arcs that leave each vertex, int64 [n]."""
        raise NotImplementedError

    @property
    def vertices(self) -> Tensor | np.ndarray | None:
        """Original ids: an int64 tensor [n] or an object array [n] of labels; None where they are 0..n-1.

        >>> tg.Graph.from_edges([7, 100], [100, 300], ids="compact").vertices
        tensor([  7, 100, 300])
        """
        return None if self._ids is None else self._ids.values

    # ---- original ids ----------------------------------------------------------------------------------------------

    def ids(self, index: Any) -> Any:
        """Original ids of vertex indices: one for an int, a tensor (or list of labels) for several. Indices that are
        spread over processes are gathered, and all get the ids of all.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], vertices=["ann", "bob", "eve"])
        >>> graph.ids(0), graph.ids([2, 1])
        ('ann', ['eve', 'bob'])
        """
        one = _is_one(index)
        index = _whole(index)
        wanted = self.as_vertices(index, "index")
        found = wanted if self._ids is None else self._ids.take(wanted)
        if one:
            return _item(found)
        return found.clone() if found is index else found

    def index(self, ids: Any) -> Any:
        """Indices 0..n-1 of original ids: an int for one id, int64 [k] for several.

        Raises UnknownVertexError for an id that names no vertex.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], vertices=["ann", "bob", "eve"])
        >>> graph.index("eve"), graph.index(["eve", "ann"])
        (2, tensor([2, 0]))
        """
        one = isinstance(ids, (str, bytes)) or _is_one(ids)
        if isinstance(ids, tuple) and self._ids is not None and not self._ids.are_integers:
            one = ids in self._ids._table  # a tuple can itself be a label
        wanted = [ids.item() if isinstance(ids, (Tensor, np.ndarray)) else ids] if one else ids
        known = self._ids or VertexIds(torch.arange(self.num_vertices, device=self.device))
        found = known.find(wanted).to(self.device)
        return int(found) if one else found

    def top(self, values: Tensor, k: int = 10) -> list[tuple[Any, Any]]:
        """The `k` vertices of largest value as (original id, value), largest first, ties by smallest index, NaN last.

        `values`: [n]. Of data that is spread over processes, each of which has to call this, the k largest of each are
        gathered, and all get the same. Raises ArgumentError for another shape.

        >>> graph = tg.Graph.from_edges([0, 2, 3], [1, 1, 2], vertices=["ann", "bob", "eve", "joe"])
        >>> graph.top(graph.in_degree, 2)
        [('bob', 2), ('eve', 1)]
        """
        self._check_vertex_data(values, "values", dimensions=1)
        k = min(k, self.num_vertices)
        if k <= 0:
            return []
        best = largest(values, k)
        found = self.ids(best)
        return list(zip(found.tolist() if isinstance(found, Tensor) else found, values[best].tolist(), strict=True))

    def frame(self, **columns: Tensor) -> pandas.DataFrame:
        """A pandas frame with one row per vertex: its original id, the `vertex_columns` of the graph, then the named
        vertex data, which replaces columns of the same names.

        Each of the `columns` is [n], or [n, k] which becomes k columns name_0 .. name_{k-1}. Data that is spread over
        processes is gathered: each of them has to call this, and gets the whole frame. Raises ArgumentError for
        another length, or the name "vertex".

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], vertices=["ann", "bob", "eve"])
        >>> graph.frame(depth=tg.algorithms.bfs(graph, 0), degree=graph.out_degree)
          vertex  depth  degree
        0    ann      0       1
        1    bob      1       1
        2    eve      2       0
        """
        import pandas

        table: dict[str, Any] = {"vertex": self.ids(torch.arange(self.num_vertices, device=self.device))}
        table["vertex"] = as_numpy(table["vertex"]) if isinstance(table["vertex"], Tensor) else table["vertex"]
        if "vertex" in columns:
            raise ArgumentError("columns: 'vertex' names the column of original ids; give yours another name")
        table |= flat(Columns({name: each for name, each in self.vertex_columns.items() if name not in columns}), table)
        for name, values in columns.items():
            self._check_vertex_data(values, name)
            values = _whole(values)
            if values.dim() == 1:
                table[name] = as_numpy(values)
            else:
                table |= {f"{name}_{i}": as_numpy(column) for i, column in enumerate(values.flatten(1).unbind(1))}
        return pandas.DataFrame(table)

    def restore(self, values: Tensor) -> Tensor:
        """The `values` [n, ...] at the vertices of a permuted graph, in the order of the graph that it was made from; a
        graph that was not permuted returns them as they are. Vertex indices among the data are not translated.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
        >>> turned = graph.permute([2, 1, 0])
        >>> turned.out_degree, turned.restore(turned.out_degree)
        (tensor([0, 1, 2]), tensor([2, 1, 0]))
        """
        self._check_vertex_data(values, "values")
        if self.order is None:
            return values
        return torch.empty_like(values).index_copy_(0, self.order.to(values.device), values)

    # ---- sets of vertices ------------------------------------------------------------------------------------------

    def select(self, vertices: Any, name: str = "vertices") -> Frontier:
        """The frontier that holds the given vertices: an index, several, or a bool mask [n].

        `name` is used in error messages. Raises ArgumentError for an index outside 0..n-1.

        >>> graph = tg.generators.path(4)
        >>> graph.select([0, 3]).ids, graph.select(torch.tensor([False, True, False, False])).ids
        (tensor([0, 3]), tensor([1]))
        """
        if _is_one(vertices):
            return Frontier(self, ids=self.as_vertices(vertices, name))
        if isinstance(vertices, np.ndarray) and vertices.dtype == np.bool_:
            vertices = torch.from_numpy(vertices)
        if isinstance(vertices, Tensor) and vertices.dtype == torch.bool:
            self._check_vertex_data(vertices, name, dimensions=1)
            return Frontier(self, mask=vertices.to(self.device))
        return Frontier(self, ids=self.as_vertices(vertices, name).unique())

    def as_vertices(self, vertices: Any, name: str = "vertices") -> Tensor:
        """Vertex indices int64 [k] on the graph's device, from an index or several, as whatever holds integers.

        `name` is used in error messages. Raises ArgumentError for an index outside 0..n-1, and for values that are
        no integers, such as a mask.

        >>> tg.generators.path(4).as_vertices([0, 3])
        tensor([0, 3])
        >>> tg.generators.path(4).as_vertices([0, 9])
        Traceback (most recent call last):
            ...
        tgraph.errors.ArgumentError: vertices: 9 at position 1 is no vertex index 0..3; graph.index(id) gives ...
        """
        if _is_one(vertices):
            if isinstance(vertices, Tensor):
                vertices = memory.readable(vertices, name)
            vertices = vertices.item() if isinstance(vertices, (Tensor, np.ndarray)) else vertices
            if type(vertices) is int and 0 <= vertices < self.num_vertices:  # a tenth of the time that tensors take
                return torch.full((1,), vertices, device=self.device)
            vertices = [vertices]
        elif isinstance(vertices, range):
            vertices = list(vertices)
        if not isinstance(vertices, Tensor) and len(vertices) and isinstance(vertices[0], (str, bytes)):
            first = str(vertices if isinstance(vertices, str) else vertices[0])
            raise ArgumentError(f"{name}: {first!r} is text and no vertex index; graph.index({first!r}) gives that")
        index = inputs.as_index(vertices, name).to(self.device, torch.int64)
        if not validate.are_below(index, self.num_vertices):
            position = int(((index < 0) | (index >= self.num_vertices)).nonzero()[0])
            raise ArgumentError(
                f"{name}: {int(index[position])} at position {position} is no vertex index "
                f"{inputs.below(self.num_vertices)}; graph.index(id) gives the index of an original id"
            )
        return index

    def everything(self) -> Frontier:
        """The frontier of all vertices; costs nothing.

        >>> tg.generators.path(4).everything().size
        4
        """
        return Frontier(self)

    def nothing(self) -> Frontier:
        """The empty frontier.

        >>> tg.generators.path(4).nothing().size
        0
        """
        return Frontier(self, ids=torch.empty(0, dtype=torch.int64, device=self.device), count=(0, 0))

    def _check_vertex_data(self, values: Tensor, name: str, dimensions: int | None = None) -> None:
        if not isinstance(values, Tensor) or values.shape[:1] != (self.num_vertices,):
            got = list(values.shape) if isinstance(values, Tensor) else type(values).__name__
            raise ArgumentError(f"{name}: expected a tensor with one row per vertex, [{self.num_vertices}], got {got}")
        memory.check_data(values, name)
        if dimensions is not None and values.dim() != dimensions:
            raise ArgumentError(f"{name}: expected {dimensions} dimension, got shape {list(values.shape)}")


def _is_one(vertices: Any) -> bool:
    """True for a single index or id, 0-dimensional tensors and arrays included."""
    if isinstance(vertices, (Tensor, np.ndarray)):
        return vertices.ndim == 0
    return not isinstance(vertices, Sequence)


def _item(found: Tensor | list[Any]) -> Any:
    return found[0].item() if isinstance(found, Tensor) else found[0]


def _whole(values: Any) -> Any:
    """The rows of all processes, of a tensor that is spread over several."""
    return values.full_tensor() if hasattr(values, "full_tensor") else values
