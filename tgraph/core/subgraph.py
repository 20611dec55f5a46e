"""Subgraph: the arcs of one iteration as tensors, what TENSORIZE hands to COMPUTE."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, cast

import torch
from torch import Tensor

from tgraph.core.columns import NONE
from tgraph.core.derived import computed_once
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch, Selection
from tgraph.errors import ArgumentError

Mode = Literal["push", "pull"]


class InLayout(Enum):
    """Stands for weights that are the graph's own, and still in its layout."""

    WEIGHTS = "the weights in the layout"


# The second argument of an edge operation: [e], [e, ...], a number, or None without one.
Weights = Tensor | float | InLayout | None


@dataclass
class Subgraph:
    """Rows of a CSR structure and the direction in which messages cross them.

    graph : the whole graph; degrees and weights that a program needs are those of the original graph.
    active : the vertices that send.
    mode : "push", messages go from a row to its neighbors; "pull", from the neighbors to their row.
    rows : the vertices whose rows are held, an index tensor [k], or None for all of them in order.
    selection : those rows, gathered at first use: `offset` int64 [k + 1], `neighbors` int32/int64 [e], and
        `positions`, where each arc is stored, int64 [e] or None where all are held in stored order.
    mirrored : False where the rows are those of `graph`, True where those of its transpose.
    backend : which kernels serve the operators, a name of the registry.
    scratch : working memory that the iterations of a run share.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> active = graph.select(0)
    >>> sub = tg.Program().tensorize(graph, active, "push")
    >>> sub.rows, sub.offset, sub.neighbors
    (tensor([0]), tensor([0, 2]), tensor([1, 2], dtype=torch.int32))
    """

    graph: Graph
    active: Frontier
    mode: Mode
    rows: Tensor | None
    selection: Selection
    mirrored: bool
    backend: str = "auto"
    scratch: Scratch | None = None

    def ensure_valid(self) -> None:
        """See `Graph.ensure_valid`, of the rows held.

        >>> graph = tg.Graph(torch.tensor([0, 1]), torch.tensor([7], dtype=torch.int32))
        >>> tg.Subgraph(graph, graph.everything(), "push", None, graph.selection(), False).ensure_valid()
        Traceback (most recent call last):
            ...
        tgraph.errors.ArgumentError: neighbors: 7 at position 0 is no vertex number below 1
        """
        graph, selection = self.graph, self.selection
        own = graph.layout is None and selection.stored_neighbors is graph.neighbors
        if own and selection.stored_offset is graph.offset:
            graph.ensure_valid()
        else:
            selection.ensure_valid(graph.num_vertices)

    @property
    def offset(self) -> Tensor:
        """Where the arcs of each row begin, int64 [k + 1]. Whole graphs share the stored tensor.

        >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 0])
        >>> sub = tg.Program().tensorize(graph, graph.select([0, 2]), "push")
        >>> sub.offset
        tensor([0, 2, 3])
        """
        return self.selection.offset

    @property
    def neighbors(self) -> Tensor:
        """The other end of each arc, int32/int64 [e]. Whole graphs share the stored tensor.

        >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 0])
        >>> sub = tg.Program().tensorize(graph, graph.select([0, 2]), "push")
        >>> sub.neighbors
        tensor([1, 2, 0], dtype=torch.int32)
        """
        return self.selection.neighbors

    @property
    def positions(self) -> Tensor | None:
        """Where each arc is stored, int64 [e], or None where all are held in stored order.

        >>> graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 0])
        >>> sub = tg.Program().tensorize(graph, graph.select([0, 2]), "push")
        >>> sub.positions
        tensor([0, 1, 3])
        """
        return self.selection.positions

    @property
    def num_arcs(self) -> int:
        """e, the arcs held.

        >>> graph = tg.generators.star(5)
        >>> tg.Program().tensorize(graph, graph.select(0), "push").num_arcs
        5
        """
        return self.selection.num_arcs

    @property
    def is_whole(self) -> bool:
        """True where all rows are held.

        >>> graph = tg.generators.star(5)
        >>> program = tg.Program()
        >>> program.tensorize(graph, graph.select(0), "push").is_whole
        False
        >>> program.tensorize(graph, graph.everything(), "push").is_whole
        True
        """
        return self.rows is None

    @property
    def sends_partly(self) -> bool:
        """True in a pull whose neighbors are not all active, so that the messages of some must be left out.

        >>> graph = tg.generators.star(5)
        >>> program = tg.Program()
        >>> program.tensorize(graph, graph.select(0), "pull").sends_partly
        True
        >>> program.tensorize(graph, graph.select(0), "push").sends_partly
        False
        """
        return self.mode == "pull" and not self.active.is_everything

    @property
    def active_mask(self) -> Tensor | None:
        """The neighbors that send in a pull, bool [n], or None for all.

        >>> graph = tg.generators.path(4)
        >>> tg.Program().tensorize(graph, graph.select(1), "pull").active_mask
        tensor([False,  True, False, False])
        """
        return self.active.mask if self.sends_partly else None

    @computed_once
    def row_of_arc(self) -> Tensor:
        """The number 0..k-1 of the row that each arc belongs to, int64 [e].

        >>> graph = tg.generators.path(4)
        >>> sub = tg.Program().tensorize(graph, graph.select([1, 3]), "push")
        >>> sub.row_of_arc, sub.neighbors
        (tensor([0, 0, 1]), tensor([0, 2, 2], dtype=torch.int32))
        """
        number = torch.arange(len(self.offset) - 1, device=self.offset.device)
        return number.repeat_interleave(self.offset.diff(), output_size=self.num_arcs)

    def weights(self) -> Tensor | None:
        """The graph's weight of each arc held, [e], or None.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], [5.0, 6.0, 7.0])
        >>> tg.Program().tensorize(graph, graph.select(1), "push").weights()
        tensor([7.], dtype=torch.float64)
        """
        if self.graph.layout is not None:
            return self.selection.weights
        stored = self.graph.weights
        if stored is None:
            return None
        if stored.requires_grad:  # the weights of the cached transpose are detached
            return self.arc_data(stored)
        if self.mirrored:
            stored = cast(Tensor, self.graph.transpose_detached().weights)
        return stored if self.positions is None else stored.index_select(0, self.positions)

    def arc_data(self, data: Tensor | str) -> Tensor:
        """`data` [m, ...] in the stored order of `graph`'s arcs, or the name of a column of numbers, brought into the
        order of the arcs held. Raises ArgumentError for an unknown name.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], columns={"year": [1997, 2001, 2016]})
        >>> sub = tg.Program().tensorize(graph, graph.select(0), "push")
        >>> sub.arc_data(torch.tensor([10, 20, 30])), sub.arc_data("year")
        (tensor([10, 20]), tensor([1997, 2001]))
        """
        if isinstance(data, str):
            data = self.graph.arc_columns.number(data, "data")
        place = self.positions
        if self.mirrored:
            turned = of_transpose(self.graph, data)
            if turned is None:
                permutation = self.graph.decoded().transpose_permutation
                place = permutation if place is None else permutation.index_select(0, place)
            else:
                data = turned
        return data if place is None else data.index_select(0, place)

    def reverse(self) -> Subgraph:
        """The same arcs with every message going the other way, so that the active vertices receive.

        A push becomes a pull on the same tensors. A pull becomes one from the out-neighbours of the active vertices.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
        >>> sub = tg.Program().tensorize(graph, graph.everything(), "push").reverse()
        >>> tg.aggregate(sub, torch.tensor([1, 10, 100])).values
        tensor([110, 100,   0])
        """
        if not self.mirrored:
            everything = self.graph.everything()
            if self.mode == "push":
                return replace(self, mode="pull", active=everything)
            return replace(self, mode="push", active=everything if self.is_whole else self.graph.select(self.rows))
        rows = None if self.active.is_everything else self.active.ids
        return rows_of(self.graph, rows, self.active, self.backend).reverse()


def of_transpose(graph: Graph, data: Tensor) -> Tensor | None:
    """A column of the arcs of a graph in the order of those of its transpose, kept with that; None for other tensors,
    and while a gradient is recorded, which what is kept has not."""
    if data.requires_grad or graph.arc_columns is NONE:
        return None
    name = graph.arc_columns.name_of(data)
    return None if name is None else cast(Tensor, graph.transpose_detached().arc_columns[name])


@dataclass(frozen=True)
class Received:
    """Results of an aggregate: `values` [r, ...], a tuple of tensors of a reduction that gives several, at the vertices
    [r], or at all of them in order where None.

    sub : the arcs that were aggregated. empty : the value of a vertex that no active vertex reaches, where there are
        values of such vertices too, NaN for that of a function; None where there are none, or where all vertices are
        active.

    >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
    >>> received = tg.Received(torch.tensor([5.0, 7.0]), torch.tensor([1, 2]))
    >>> values, changed = tg.update(torch.zeros(3), graph.everything(), received)
    >>> values, changed.ids
    (tensor([0., 5., 7.]), tensor([0, 1, 2]))
    """

    values: Tensor
    vertices: Tensor | None = None
    sub: Subgraph | None = None
    empty: float | None = None


def whole(graph: Graph, active: Frontier, mode: Mode, backend: str = "auto") -> Subgraph:
    """Every row of the graph (of its transpose in a pull): the stored tensors, no copy."""
    if mode == "pull" and graph.directed:
        graph.ensure_valid()  # else the transpose may be that of other arcs
    stored = graph if mode == "push" else graph.transpose_unchecked()
    return Subgraph(graph, active, mode, None, stored.selection(), mode == "pull", backend)


def rows_of(graph: Graph, rows: Tensor | None, active: Frontier, backend: str = "auto") -> Subgraph:
    """The stored rows of the given vertices, as a push from them; all of them where None."""
    if rows is None:
        return whole(graph, active, "push", backend)
    return Subgraph(graph, active, "push", rows, graph.selection(rows), False, backend)


def arc_weights(sub: Subgraph, data: Tensor, edge: str, weights: Tensor | float | str | None) -> Weights:
    """The second argument of the edge operation for each arc of `sub`, None for "copy". The graph's own weights stay in
    a layout that can use them there; see `tgraph.kernels.call.Call.decoded`. Others stay in the order of all arcs where
    a graph is spread over processes."""
    if edge == "copy":
        return None
    if isinstance(weights, str):
        weights = sub.graph.arc_columns.number(weights, "weights")
    if isinstance(weights, (int, float)) or (isinstance(weights, Tensor) and weights.dim() == 0):
        return weights
    in_layout = sub.graph.layout is not None
    if weights is None or (not in_layout and weights is sub.graph.weights):
        usable = in_layout and (sub.selection.is_whole or sub.graph.storage.streams)
        if usable and sub.graph.weight_dtype is not None:
            return InLayout.WEIGHTS
        held = sub.weights()
        if held is None:
            raise ArgumentError(f"weights: edge={edge!r} needs weights and the graph has none; pass weights=")
        return held
    if not isinstance(weights, Tensor):
        raise ArgumentError(
            f"weights: expected a tensor, the name of a column or a number, got {type(weights).__name__}"
        )
    fits = weights.dim() <= max(1, data.dim()) and all(
        1 in (wide, given) or wide == given for wide, given in zip(data.shape[1:], weights.shape[1:], strict=False)
    )
    if len(weights) != sub.graph.num_arcs or not fits:
        raise ArgumentError(
            f"weights: expected [{sub.graph.num_arcs}] or [{sub.graph.num_arcs}, ...] with the leading dimensions of "
            f"data {list(data.shape)}, got {list(weights.shape)}"
        )
    return weights if sub.graph.storage.is_distributed else sub.arc_data(weights)
