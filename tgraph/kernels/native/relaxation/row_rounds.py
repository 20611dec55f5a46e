"""Rounds from few vertices by the kernel in `row_rounds.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.kernels.native.aggregation.arcs import number_of
from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.native.relaxation.relaxation import DTYPES
from tgraph.kernels.operators.relaxation import row_rounds as declared
from tgraph.kernels.operators.relaxation.row_rounds import Code
from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction

REDUCTIONS = ("sum", "min", "max")


def refuses(
    graph: Graph,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    code: Code,
    *_: object,
) -> str | None:
    """Why there is no kernel for such rounds, None where there is one."""
    if values.dtype not in DTYPES or values.dim() != 1 or not values.is_contiguous():
        return "it takes one value for each vertex, in 32 or 64 bits"
    if graph.layout is not None or graph.neighbors.dtype != torch.int32:
        return "it reads arcs in CSR with int32 neighbours"
    if reduction.name not in REDUCTIONS:
        return f"it has no {reduction.name!r}"
    if not values.is_floating_point() and (reduction.name == "sum" or edge != "copy"):
        return "sums of integers are checked, which it does not"
    if isinstance(weights, Tensor) and (weights.dtype != values.dtype or weights.shape != (graph.num_arcs,)):
        return "it takes weights [m] of the dtype of the values"
    return refuses_data(values)


@implements(declared.RowRound, refuses)
class RowRound:
    """See the declaration."""

    def __init__(
        self,
        graph: Graph,
        values: Tensor,
        reduction: Reduction,
        edge: str,
        weights: Tensor | float | None,
        code: Code,
        scratch: Scratch,
    ):
        graph.ensure_valid()
        dtype, empty = values.dtype, torch.empty(0, dtype=values.dtype, device="cpu")
        per_arc = weights.detach().contiguous() if isinstance(weights, Tensor) else None
        self._kernel = getattr(compiled(), "row_round_" + str(dtype).removeprefix("torch."))
        self._arguments = (
            graph.neighbors,
            graph.offset,
            per_arc,
            number_of(0 if weights is None or per_arc is not None else weights, dtype),  # type: ignore[arg-type]
            list(EDGE_OPERATIONS).index(edge),
            REDUCTIONS.index(reduction.name),
            number_of(reduction.identity(dtype), dtype),
            torch.tensor(code.steps, dtype=torch.int64, device="cpu").view(-1),
            code.sent,
            torch.tensor(code.numbers, dtype=dtype, device="cpu"),
            torch.stack(code.constants).view(-1) if code.constants else empty,
        )
        self._size, self._table = graph.num_vertices, scratch.slots(torch.int32)

    def step(self, values: Tensor, active: Tensor, arcs: int) -> tuple[Tensor, int]:
        """See the declaration."""
        following = torch.empty(min(arcs, self._size), dtype=torch.int64, device="cpu")
        changed, arcs = self._kernel(*self._arguments, active, values, self._table, following)
        torch.autograd.graph.increment_version(values)
        return following.narrow(0, 0, changed), arcs
