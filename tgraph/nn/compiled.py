"""What torch.compile finds of a `tgraph.Graph`: all that a layer derives is derived while it traces, and is a constant
of the compiled code, which is for this graph."""

from __future__ import annotations

import torch

from tgraph.core.graph import Graph
from tgraph.kernels.autograd import pull_push
from tgraph.nn.adjacency import Adjacency, GraphAdjacency


def prepare(graph: Graph, reverse: bool) -> bool:
    """Derive what layers on the graph's own arcs take. What is returned means nothing."""
    _derive(GraphAdjacency(graph, reverse))
    return True


def prepare_loops(graph: Graph, reverse: bool, flow: str) -> bool:
    """Derive what layers take that add self-loops."""
    from tgraph.nn.self_loops import find_loops

    _derive(find_loops(GraphAdjacency(graph, reverse), graph.num_vertices, flow).adjacency)
    return True


def prepare_norm(graph: Graph, reverse: bool, loops: bool, dtype: torch.dtype) -> bool:
    """Derive the weights of a graph convolution whose edges weigh 1."""
    from tgraph.nn.normalisation import norm_of_ones
    from tgraph.nn.self_loops import find_loops

    adjacency: Adjacency = GraphAdjacency(graph, reverse)
    over = find_loops(adjacency, graph.num_vertices, "source_to_target").adjacency if loops else adjacency
    weights = norm_of_ones(adjacency, over, loops, dtype)
    _derive(over)
    _mark(weights.values, weights.find_transposed(over))
    return True


def _derive(adjacency: Adjacency) -> None:
    for stored in (adjacency.rows, adjacency.columns):
        stored.out_degree  # noqa: B018  checks the offsets
        pull_push.remember(stored)
        _mark(stored.offset, stored.neighbors)
    adjacency.degree, adjacency.unreached, adjacency.rows.transpose_permutation  # noqa: B018
    for of_edges in (True, False):
        arcs = adjacency.arcs(of_edges)
        arcs.transposed()
        arcs.transposed(numbered=True)


def _mark(*tensors: torch.Tensor | None) -> None:
    """CUDA graphs replay on these, and not on copies."""
    for tensor in tensors:
        if tensor is not None:
            torch._dynamo.mark_static_address(tensor)


# As `kernels.autograd.differentiable.prepare`: what torch.compiler.assume_constant_result does without the compiler.
for function in (prepare, prepare_loops, prepare_norm):
    setattr(function, "_dynamo_marked_constant", True)  # noqa: B010
