"""The symmetric normalisation of Kipf and Welling, "Semi-supervised classification with graph convolutional networks"
(ICLR 2017), as PyTorch Geometric computes it: D^-1/2 (A + I) D^-1/2, D the weighted in-degrees."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeGuard, TypeVar

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.system.library import in_functorch
from tgraph.errors import ArgumentError
from tgraph.kernels.autograd.segments import segment_reduce, take
from tgraph.kernels.operators.csr.degree_weights import inverse_root_degree
from tgraph.nn.adjacency import Adjacency, ArcWeights, EndWeights, GraphAdjacency, Scale, inverse_root
from tgraph.nn.compiled import at_trace_time, derive, mark_static
from tgraph.nn.self_loops import find_loops, stored_loops, with_loops, with_more_loops
from tgraph.nn.spread import SpreadAdjacency, SpreadWeights

T = TypeVar("T")


def gcn_norm(
    adjacency: Adjacency,
    edge_weight: Tensor | None,
    improved: bool,
    loops: str | None,
    dtype: torch.dtype,
    sums: bool = True,
) -> tuple[Adjacency, ArcWeights | Scale | SpreadWeights]:
    """The adjacency to aggregate over, and its normalised weights.

    edge_weight : [E], or None for 1, in `dtype`. improved : whether added self-loops weigh 2 instead of 1.
    loops : "remaining" adds a self-loop to each vertex without one, "more" adds one to every vertex, "replaced" does so
        and removes existing ones, None adds none.
    sums : whether messages are summed. For a graph in a layout with its own weights or none, the result is then the
        adjacency itself and a `Scale`; for a graph spread over processes, `SpreadWeights`.

    Without edge weights every self-loop weighs 1, also if `improved`, as in PyTorch Geometric 2.8. The result is cached
    with the adjacency; with edge weights only on the CPU, with a copy of the weights to detect changes.
    """
    if isinstance(adjacency, SpreadAdjacency):
        adjacency.require_none(edge_weight=edge_weight)
        return adjacency, adjacency.normalised(improved, loops is not None, dtype)
    if adjacency.num_sources != adjacency.num_targets:
        raise ArgumentError(
            f"edge_index: {adjacency.num_sources} sources and {adjacency.num_targets} targets; GCN normalises square "
            "matrices only"
        )
    if edge_weight is not None and edge_weight.numel() != adjacency.num_edges:
        raise ArgumentError(
            f"edge_weight: expected [{adjacency.num_edges}], one for each edge, got {list(edge_weight.shape)}"
        )
    of_loops = 0.0 if loops is None else 2.0 if improved else 1.0
    if sums and edge_weight is None and stays_in_layout(adjacency):
        return adjacency, adjacency.cached(("scale", of_loops, dtype), lambda: _scale(adjacency, of_loops, dtype))
    if sums and edge_weight is not None and given_in_layout(adjacency, edge_weight):
        given = edge_weight.reshape(-1)
        if not _may_be_compared(edge_weight):
            return adjacency, _scale(adjacency, of_loops, dtype, given)
        key = ("scale", of_loops, dtype, "of edges")
        made = cached_while_equal(adjacency, key, edge_weight, lambda: _scale(adjacency, of_loops, dtype, given))
        return adjacency, made
    compiling = torch.compiler.is_compiling()
    if compiling and isinstance(adjacency, GraphAdjacency):
        _prepare_norm(adjacency.graph, adjacency.reverse, loops is not None, dtype)
    looped = None
    if loops is not None:
        looped = with_more_loops(adjacency) if loops == "more" else with_loops(adjacency, adjacency.num_targets)
    over = adjacency if looped is None else looped.adjacency
    fill = 2.0 if improved else 1.0

    if edge_weight is None:
        return over, _norm_of_ones(adjacency, over, loops is not None, dtype)

    def compute() -> ArcWeights:
        flat = edge_weight.reshape(-1)
        if looped is None:
            return _normalised(over, flat)
        replaced = loops == "replaced"
        return _normalised(over, looped.features(flat, fill) if replaced else looped.weights(flat, fill))

    if compiling or in_functorch() or not _may_be_compared(edge_weight):
        return over, compute()
    return over, cached_while_equal(adjacency, ("gcn", improved, loops, dtype), edge_weight, compute)


def stays_in_layout(adjacency: Adjacency) -> TypeGuard[GraphAdjacency]:
    """Whether an adjacency is that of a graph in a layout, whose weights and self-loops can stay there."""
    graph = adjacency.graph if isinstance(adjacency, GraphAdjacency) else None
    if graph is None or graph.layout is None:
        return False
    return not torch.compiler.is_compiling() or (graph.weight_dtype is None and not graph.num_self_loops)


def given_in_layout(adjacency: Adjacency, edge_weight: Tensor) -> TypeGuard[GraphAdjacency]:
    """Whether floating weights of the edges of a graph in a layout are read part by part as its arcs are."""
    fits = edge_weight.numel() == adjacency.num_edges and edge_weight.is_floating_point()
    return fits and not (torch.compiler.is_compiling() or in_functorch()) and stays_in_layout(adjacency)


def _scale(adjacency: GraphAdjacency, fill: float, dtype: torch.dtype, given: Tensor | None = None) -> Scale:
    """The weights that stay in the layout, of the graph or `given` ones [m]. `fill` : the weight of a self-loop where
    none is stored, 0 to add none."""
    graph = adjacency.graph
    weight_dtype = graph.weight_dtype if given is None else given.dtype
    of_arcs = weight_dtype is not None if given is None else given
    if weight_dtype is None:
        degree = adjacency.degree.to(dtype)
    else:
        own_dtype = (
            weight_dtype if weight_dtype.is_floating_point else torch.get_default_dtype()
        )  # of roots of integers
        ones = torch.ones(graph.num_vertices, dtype=torch.promote_types(dtype, own_dtype), device=graph.device)
        degree = adjacency.over_layout(ones, "sum", "mul", given)
    if not fill:
        return Scale(inverse_root(degree), 0.0, of_arcs)
    vertex, position, weight = stored_loops(graph)
    weight = weight if given is None else given.index_select(0, position)
    own: Tensor | float = 1.0 if weight_dtype is None else fill
    if len(vertex):
        weight = degree.new_ones(len(vertex)) if weight is None else weight.to(degree.dtype)
        place = torch.arange(len(vertex), device=vertex.device)
        last = torch.full_like(adjacency.degree, -1).scatter_reduce(0, vertex, place, "amax")
        own = torch.where(last < 0, own, weight[last]).index_add(0, vertex, -weight)
    return Scale(inverse_root(degree + own), own, of_arcs)


@at_trace_time
def _prepare_norm(graph: Graph, reverse: bool, loops: bool, dtype: torch.dtype) -> bool:
    """Compute the weights of a graph convolution over unit edge weights. The result has no meaning."""
    adjacency: Adjacency = GraphAdjacency(graph, reverse)
    over = find_loops(adjacency, graph.num_vertices, "source_to_target").adjacency if loops else adjacency
    weights = _norm_of_ones(adjacency, over, loops, dtype)
    derive(over)
    mark_static(weights.values, weights.find_transposed(over))
    return True


def _norm_of_ones(adjacency: Adjacency, over: Adjacency, looped: bool, dtype: torch.dtype) -> ArcWeights:
    """The normalised weights of unit edge weights, cached; `over` is the adjacency, or with self-loops if `looped`."""

    def compute() -> ArcWeights:
        if torch.compiler.is_compiling():
            return _normalised(over, torch.ones(over.num_edges, dtype=dtype, device=over.rows.device))
        arcs = over.arcs(of_edges=False)
        return EndWeights(arcs, inverse_root_degree(arcs.offset, dtype))

    return adjacency.cached(("gcn", looped, dtype), compute)


def _may_be_compared(edge_weight: Tensor) -> bool:
    """Whether weights are plain CPU data: not trained, and compared without synchronising a device."""
    return type(edge_weight) is Tensor and edge_weight.device.type == "cpu" and not edge_weight.requires_grad


def cached_while_equal(adjacency: Adjacency, key: Hashable, edge_data: Tensor, compute: Callable[[], T]) -> T:
    """The cached result if computed from equal edge data, else a new one. Fused optimizers do not increment version
    counters, so the data are compared."""
    last: _Last[T] = adjacency.cached(key, _Last)
    found = last.found
    if found is None or not torch.equal(found[0], edge_data):
        with torch.inference_mode(False), torch.no_grad():
            last.found = found = edge_data.clone(), compute()
    return found[1]


class _Last(Generic[T]):
    """A cache of one entry. found : (edge data, result), or None."""

    found: tuple[Tensor, T] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of both."""
        return 0 if self.found is None else self.found[0].nbytes + getattr(self.found[1], "nbytes", 0)


def _normalised(over: Adjacency, edge_weight: Tensor) -> ArcWeights:
    """The edge weights [E'] divided by the square roots of the degrees of both endpoints, in the order of the rows."""
    rows = over.rows
    weights = edge_weight if over.position is None else take(edge_weight, over.position)
    scale = inverse_root(segment_reduce(weights, rows.offset, "sum"))
    target = torch.arange(rows.num_vertices, device=rows.device).repeat_interleave(
        rows.offset.diff(), output_size=weights.shape[0]
    )
    return ArcWeights(take(scale, rows.neighbors) * weights * take(scale, target))
