"""Overflow checks of relaxations on integers: a proof before the first round if possible, else between rounds."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tgraph.core import sums
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import InLayout, arc_weights
from tgraph.errors import ArgumentError
from tgraph.kernels.messages import column
from tgraph.kernels.operators.aggregation.aggregation import sent_data
from tgraph.model.program import Program, Relaxation

ENDLESS = 2**62  # more rounds than any run has

FEW = 16  # values of a frontier: fewer are checked as Python numbers, faster than two calls of torch


def growth(program: Relaxation, graph: Graph, rounds: int | None) -> float | None:
    """A bound on the change of a value from the initial ones in `rounds` (None: until convergence), or None."""
    if program.edge == "copy":
        return 0
    if program.edge == "mul":
        return None
    largest = max(map(abs, program.weight_range(graph)))
    if program.edge == "add" and largest:
        largest *= _longest(program, graph, rounds)
    return largest if math.isfinite(largest) else None


def watch(program: Program, graph: Graph, values: Tensor, active: Frontier, rounds: int | None) -> Watch | None:
    """The `Watch` of a relaxation that begins with the `active` vertices; None where no overflow is possible in
    `rounds` rounds, or the program overrides `compute`."""
    if not isinstance(program, Relaxation) or type(program).compute is not Relaxation.compute:
        return None
    if program.edge not in ("add", "mul") or values.is_floating_point() or not graph._has_arcs:
        return None
    watch = Watch(program, graph, values.dtype)
    first = program.first
    sent = watch.range_of_sent(values, active) if first is None else (int(first), int(first))
    return None if sent is None or watch.fits(sent, _longest(program, graph, rounds)) else watch


class Watch:
    """Bounds on the number of rounds of a relaxation without overflow, from the values before them."""

    def __init__(self, program: Relaxation, graph: Graph, dtype: torch.dtype):
        limits = torch.iinfo(dtype)
        self._program, self._graph = program, graph
        self._identity = program.reduction.identity(dtype)  # a message of this value would mean "not reached"
        is_min = program.reduction.name == "min"
        self._least, self._most = limits.min + (not is_min), limits.max - is_min
        smallest, largest = program.weight_range(graph)
        self._weights = math.floor(smallest), math.ceil(largest)

    def rounds(self, values: Tensor, active: Frontier) -> int:
        """The number of rounds without overflow, at least 1. Raises ArgumentError for an overflow in the next."""
        sent, count = self.range_of_sent(values, active), 1
        if sent is None:
            return count
        if not self.fits(sent, 1):
            self._check_arcs(values, active, sent)
            return count
        while 2 * count <= ENDLESS and self.fits(sent, 2 * count):
            count *= 2
        return count

    def range_of_sent(self, values: Tensor, active: Frontier) -> tuple[int, int] | None:
        """(least, greatest) value sent by the active vertices, None without any."""
        sent = values if active.is_everything else values.index_select(0, active.ids)
        if sent.numel() <= FEW:
            numbers = (sent if sent.dim() == 1 else sent.flatten()).tolist()
            numbers = [number for number in numbers if number != self._identity]
            return (min(numbers), max(numbers)) if numbers else None
        sent = sent[sent != self._identity]
        if not len(sent):
            return None
        least, greatest = torch.stack(torch.aminmax(sent)).tolist()
        return least, greatest

    def fits(self, sent: tuple[int, int], rounds: int) -> bool:
        """Whether values in the range `sent` stay within the dtype for `rounds` rounds."""
        least, greatest = sent
        if self._program.edge == "add":
            least += rounds * min(self._weights[0], 0)
            greatest += rounds * max(self._weights[1], 0)
        else:
            for _ in range(min(rounds, 64)):  # values that still grow then exceed 64 bits
                corners = [value * weight for value in (least, greatest) for weight in self._weights]
                before, (least, greatest) = (least, greatest), (min(least, *corners), max(greatest, *corners))
                if before == (least, greatest):
                    break
        return self._least <= least and greatest <= self._most

    def _check_arcs(self, values: Tensor, active: Frontier, sent: tuple[int, int]) -> None:
        """Raise ArgumentError for the first arc with a message that does not fit. On a streamed graph, without arcs in
        memory, for a possible one."""
        graph, program = self._graph, self._program
        sign = "+" if program.edge == "add" else "*"
        if graph.layout is not None and graph.layout.streams:
            numbers = f"values from {sent[0]} to {sent[1]} {sign} weights from {self._weights[0]} to {self._weights[1]}"
            raise self._error(f"{numbers}: the result does not fit", values.dtype)
        held = Program.tensorize(program, graph, active, "push")
        weights = arc_weights(held, values, program.edge, program.weight)
        weights = held.weights() if isinstance(weights, InLayout) else weights
        weight = torch.as_tensor(weights, device=values.device).to(torch.int64)
        value = sent_data(held, values).to(torch.int64)
        weight = (column(weight, value) if weight.dim() else weight).expand_as(value)
        leaves = sums.leaves(value, weight, program.edge, self._least, self._most) & (value != self._identity)
        if not bool(leaves.any()):
            return
        place = tuple(leaves.nonzero()[0].tolist())
        row, target = int(held.row_of_arc[place[0]]), int(held.neighbors[place[0]])
        source = row if held.rows is None else int(held.rows[row])
        numbers = f"{int(value[place])} {sign} {int(weight[place])} on the arc {source} -> {target}"
        raise self._error(f"{numbers} does not fit", values.dtype)

    def _error(self, numbers: str, dtype: torch.dtype) -> ArgumentError:
        wider = "float64 values and weights" if dtype == torch.int64 else "values of torch.int64"
        reserved = f" ({self._identity} stands for not reached)"
        return ArgumentError(f"values: {numbers} {dtype}{reserved}; let init return {wider}")


def _longest(program: Relaxation, graph: Graph, rounds: int | None) -> int:
    """The largest number of arcs on the path of a message: at most n where no arc improves a value."""
    smallest, largest = program.weight_range(graph)
    gains_nothing = smallest >= 0 if program.reduction.name == "min" else largest <= 0
    longest = ENDLESS if rounds is None else rounds
    return min(longest, graph.num_vertices) if program.edge == "add" and gains_nothing else longest
