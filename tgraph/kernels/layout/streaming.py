"""Union-find over all arcs of a layout, and the loops of one that streams, of which what is decoded has to fit a budget
of memory."""

from __future__ import annotations

from typing import Any, Protocol, cast

from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.kernels.call import Call
from tgraph.kernels.layout.arcs import layout_of
from tgraph.kernels.loops import LoopCall, PausedLoop
from tgraph.kernels.reductions import Reduction


class StreamedLayout(Protocol):
    """The operations of a layout that streams, besides the pull of all layouts. Weights are a number for all arcs,
    or None for those of the arcs; `tgraph.stream.run.streamed.Streamed` documents each member."""

    def relax_rows(
        self, sub: Subgraph, values: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
    ) -> Frontier: ...

    def fixpoint(self, call: LoopCall) -> PausedLoop: ...


def streamed(graph: Graph) -> StreamedLayout:
    """The layout of a graph that streams."""
    return cast(StreamedLayout, graph.layout)


def refuses_fixpoint(call: Call, sub: Subgraph) -> str | None:
    if not layout_of(sub.graph).streams:
        return "the loops walk the rows of a CSR"
    if call.data.requires_grad:
        return "it overwrites values, whose gradient would be lost"
    if call.edge == "mul":
        return "products may improve without end along a cycle, which only a limit of rounds detects"
    if call.edge == "add" and sub.graph.num_arcs:
        reduction = cast(Reduction, call.reduction)
        weights: Any = sub.graph.weight_range if call.weights_in_layout else (call.weights, call.weights)
        if not (weights[0] >= 0 if reduction.name == "min" else weights[1] <= 0):
            return "a cycle may improve without end, which only a limit of rounds detects"
    return None


def fixpoint(call: LoopCall) -> PausedLoop:
    """The start of a relaxation in the order in which the layout visits blocks; see `tgraph.engine.compiled_loop`."""
    return streamed(call.graph).fixpoint(call)


def refuses_join(call: Call, sub: Subgraph) -> str | None:
    return None if sub.selection.is_whole else "it joins along all arcs at once"


def join(sub: Subgraph, label: Tensor) -> bool:
    """See `tgraph.primitives.union_find.join`."""
    stored = sub.graph.transpose_detached() if sub.mirrored else sub.graph
    return layout_of(stored).join(stored, label)
