"""Rounds from few vertices by the kernel in `row_rounds.cpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.rows import Scratch
from tgraph.core.system.pages import fresh
from tgraph.kernels.native.aggregation.arcs import number_of
from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.native.relaxation.relaxation import DTYPES
from tgraph.kernels.operators.relaxation import row_rounds as declared
from tgraph.kernels.operators.relaxation.row_rounds import Code
from tgraph.kernels.reductions import EDGE_OPERATIONS, Reduction

REDUCTIONS = ("sum", "min", "max")
WORK = 1 << 22  # arcs after which rounds return, for signals: some 20 milliseconds


def refuses(
    graph: Graph,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | None,
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
    if weights is not None and (weights.dtype != values.dtype or weights.shape != (graph.num_arcs,)):
        return "it takes weights [m] of the dtype of the values"
    return refuses_data(values)


@implements(declared.RowRounds, refuses)
class RowRounds:
    """See the declaration."""

    def __init__(
        self,
        graph: Graph,
        values: Tensor,
        reduction: Reduction,
        edge: str,
        weights: Tensor | None,
        code: Code,
        scratch: Scratch,
    ):
        graph.ensure_valid()
        dtype, empty = values.dtype, torch.empty(0, dtype=values.dtype, device="cpu")
        per_arc = None if weights is None else weights.detach().contiguous()
        name = str(dtype).removeprefix("torch.")
        self._push, self._pull = (getattr(compiled(), f"row_{each}_{name}") for each in ("rounds", "pull"))
        self._graph, self._weights, self._scratch = graph, per_arc, scratch
        self._edge = list(EDGE_OPERATIONS).index(edge)
        self._reduction, self._identity = REDUCTIONS.index(reduction.name), number_of(reduction.identity(dtype), dtype)
        self._functions = (
            torch.tensor(code.steps, dtype=torch.int64, device="cpu").view(-1),
            code.sent,
            torch.tensor(code.numbers, dtype=dtype, device="cpu"),
            torch.stack(code.constants).view(-1) if code.constants else empty,
        )
        self.pulls = per_arc is None and reduction.name != "sum"
        self._messages: Tensor | None = None

    def push(self, values: Tensor, active: Frontier, most_rounds: int, most_arcs: int) -> tuple[Frontier, int]:
        """See the declaration."""
        graph, table = self._graph, self._scratch.slots(torch.int32)
        following = torch.empty(
            min(max(most_arcs, active.num_arcs), graph.num_vertices), dtype=torch.int64, device="cpu"
        )
        arcs = graph.neighbors, graph.offset, self._weights, self._edge, self._reduction, self._identity
        limits = most_rounds, most_arcs, WORK
        changed, leaving, rounds = self._push(*arcs, *self._functions, active.ids, values, table, *limits, following)
        torch.autograd.graph.increment_version(values)
        return Frontier(graph, ids=following.narrow(0, 0, changed), count=(changed, leaving)), rounds

    def pull(self, values: Tensor, active: Frontier) -> Frontier:
        """See the declaration."""
        graph, n = self._graph, self._graph.num_vertices
        if self._messages is None:
            self._messages = fresh((n,), values.dtype)
        turned = graph.transpose_unchecked()
        changed = torch.empty(n, dtype=torch.bool, device="cpu")
        arcs = turned.neighbors, turned.offset, graph.offset, self._reduction
        count = self._pull(*arcs, *self._functions, active.mask, values, self._messages, changed)
        torch.autograd.graph.increment_version(values)
        return Frontier(graph, mask=changed, count=count)
