"""A relaxation from its first frontier to its fixpoint. One launch does many rounds while frontiers are small; each of
the others ends with one small device-to-host read."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import torch
from torch import Tensor

from tgraph.core.direction import DirectionPolicy, settles
from tgraph.core.graph import Graph
from tgraph.core.rows import Selection
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import frontier, relaxation, runtime
from tgraph.kernels.cuda.frontier import ARCS_PER_BLOCK, BLOCK, INDEX_TYPES, TYPES, arc_arguments, blocks
from tgraph.kernels.cuda.relaxation import messages_of
from tgraph.kernels.cuda.runtime import Argument, Kernel
from tgraph.kernels.loops import LoopCall, Round
from tgraph.kernels.operators.aggregation.aggregation import across

SOURCE = "relaxation/fixpoint.cu"

# As in fixpoint.cu: what one block takes on. Rounds that one launch does at most: the log of these is read at once.
SMALL_SIZE, SMALL_ARCS, SMALL_FAR, SMALL_ROUNDS = 768, 1 << 14, 1 << 14, 512


def instantiations() -> Iterator[Kernel]:
    """Every kernel that a fixpoint may launch."""
    yield from relaxation.instantiations()
    for value in TYPES.values():
        yield Kernel(SOURCE, "put_off", (value,))
        for index in INDEX_TYPES.values():
            yield Kernel(SOURCE, "push_small", (value, index))


def refuses(call: Call) -> str | None:
    """Why the kernels do not run such a relaxation, None where they do."""
    if call.data.dim() != 1:
        return "its loop relaxes one value for each vertex"
    return relaxation.refuses(call)


class FarPile:
    """Vertices put off until the border of the bucket reaches their values. Without a width nothing is put off.

    width : of the buckets.
    size : how many vertices are in the pile, those whose turn has come meanwhile among them.
    """

    def __init__(self, values: Tensor, width: float | None):
        self.size, self.width, self._values = 0, 0.0 if width is None else float(width), values
        self._list: Tensor | None = None
        if width is None:
            return
        n, device = len(values), values.device
        lowest = -torch.inf if values.dtype.is_floating_point else torch.iinfo(values.dtype).min
        if not values.dtype.is_floating_point:
            self.width = float(max(1, round(min(self.width, torch.iinfo(values.dtype).max // 2))))
        self._list = torch.empty(n, dtype=torch.int64, device=device)
        self._bits = torch.zeros(blocks(n, 32), dtype=torch.int32, device=device)
        self._border = torch.full((1,), lowest, dtype=values.dtype, device=device)

    @property
    def arguments(self) -> list[Argument]:
        """Arguments of the kernels: the pile, the bitmap of all that were ever put off, and the border."""
        return [None] * 3 if self._list is None else [self._list, self._bits, self._border]

    def __bool__(self) -> bool:
        return self._list is not None

    def take(self, ids: Tensor) -> Tensor:
        """The next vertices of the pile, [k], written to the front of `ids`; the border moves on."""
        assert self._list is not None
        pile = self._list[: self.size]
        pile = pile[self._values.index_select(0, pile) > self._border]
        value = self._values.index_select(0, pile)
        if len(pile):
            self._border.copy_(self._border_from(value.amin()))
        near = value <= self._border
        taken, kept = pile[near], pile[~near]
        self._list[: len(kept)] = kept
        self.size = len(kept)
        ids[: len(taken)] = taken
        return ids[: len(taken)]

    def _border_from(self, lowest: Tensor) -> Tensor:
        """The end of a bucket that begins with this value, and belongs to it however the sum is rounded."""
        width = self.width if lowest.dtype.is_floating_point else int(self.width)
        border = lowest + width
        return torch.where(border < lowest, torch.full_like(lowest, _largest(lowest.dtype)), border)


class Fixpoint:
    """A `Loop` of kernel launches: small frontiers take many rounds in one."""

    def __init__(self, call: LoopCall):
        graph, values, active, weights, delta = call.graph, call.values, call.active, call.weights, call.delta
        graph.ensure_valid()
        n, device = graph.num_vertices, values.device
        self._given, self._graph, self._values = graph, graph.decoded(), values
        self._weights, self._transposed, self._best_weight = weights, call.transposed, call.best_weight
        self._reduction, self._edge = call.reduction, call.edge
        self._messages: dict[str, list[Argument]] = {}
        buckets = (
            delta is not None and call.reduction.name == "min" and call.mode != "pull" and not active.is_everything
        )
        self._far = FarPile(values, delta if buckets else None)
        # The frontier: everything, or a list of vertices, of which `_front` is the bitmap where it is known.
        self._ids, self._changed = (torch.empty(n, dtype=torch.int64, device=device) for _ in range(2))
        self._reached, self._spare = (torch.zeros(blocks(n, 32), dtype=torch.int32, device=device) for _ in range(2))
        self._front: Tensor | None = None
        self._everything = active.is_everything
        self._size, self._arcs = active.measure()
        if not self._everything:
            self._ids[: self._size] = active.ids
        self._per_arc = isinstance(weights, Tensor) and weights.dim() > 0
        self._direction = DirectionPolicy(
            graph, "push" if self._far else call.mode, settles(values, active, self._per_arc)
        )

    @property
    def active(self) -> int:
        """The size of the frontier that comes next, with what has been put off."""
        return self._size + self._far.size

    def advance(self, limit: int, seconds: float) -> tuple[bool, int]:
        """See `Loop.advance`."""
        rounds: list[Round] = []
        start = perf_counter()
        while self.active and len(rounds) < limit and (not rounds or perf_counter() - start < seconds):
            rounds += self._step(limit - len(rounds))
        self._rounds = rounds
        return not self.active, len(rounds)

    def rounds(self) -> list[Round]:
        """See `Loop.rounds`."""
        return self._rounds

    def _step(self, limit: int) -> list[Round]:
        began, size, arcs = perf_counter(), self._size, self._arcs
        if not size and self._far.size > SMALL_FAR:
            self._refill()
            return []
        pulls = bool(size) and self._direction.pick(size, arcs, self._everything) == "pull"
        if not (pulls or self._everything) and size <= SMALL_SIZE and arcs <= SMALL_ARCS:
            done = self._push_small(min(limit, SMALL_ROUNDS))
        else:
            done = [(size, arcs, self._pull() if pulls else self._push())]
        spent = (perf_counter() - began) * 1e3 / max(1, len(done))
        for of_round in done:
            self._direction.passed(*of_round[:2])
        return [Round(pulls, *of_round, spent) for of_round in done]

    def _refill(self) -> None:
        taken = self._far.take(self._ids)
        degree = self._graph.out_degree.index_select(0, taken)
        self._size, self._arcs, self._front = len(taken), int(degree.sum()), None

    def _sent(self, mode: str) -> list[Argument]:
        """The weights of a mode and what to do with them."""
        if mode not in self._messages:
            weights = self._transposed() if mode == "pull" and self._per_arc else self._weights
            self._messages[mode] = messages_of(self._values, self._reduction, self._edge, weights)
        return self._messages[mode]

    def _types(self, graph: Graph) -> tuple[str, str]:
        return TYPES[self._values.dtype], INDEX_TYPES[graph.neighbors.dtype]

    def _forget_front(self) -> None:
        """The frontier changes: its bitmap is emptied and kept for another."""
        if self._front is not None:
            self._spare, self._front = self._front.zero_(), None

    def _push_small(self, limit: int) -> list[tuple[int, int, int]]:
        """At most so many rounds by one block: vertices and arcs of the frontier of each, and how many it changed."""
        self._forget_front()
        graph, found = self._graph, torch.empty(4 + 3 * limit, dtype=torch.int64, device=self._values.device)
        runtime.launch(
            Kernel(SOURCE, "push_small", self._types(graph)),
            1,
            SMALL_SIZE,
            graph.offset,
            graph.neighbors,
            *self._sent("push"),
            self._values,
            self._reached,
            self._ids,
            self._changed,
            *self._far.arguments,
            self._far.width,
            self._size,
            self._far.size,
            limit,
            found,
            found[4:],
        )
        self._size, self._arcs, count, self._far.size, *log = found.tolist()
        return [(log[i], log[i + 1], log[i + 2]) for i in range(0, 3 * count, 3)]

    def _push(self) -> int:
        """One round from a frontier of any size; how many vertices it changed."""
        graph, values = self._graph, self._values
        arcs = arc_arguments(self._selection())
        rows, num_arcs = arcs[2], arcs[-1]
        sent = values.clone() if rows is None else values.index_select(0, rows)
        sums = frontier.new_sums(values.device, 4)
        one = (True, 1, 1)  # stored weights, a column, and a thread for it
        given = (*arcs, *one, sent, *self._sent("push"), graph.offset, values, self._reached, self._changed)
        if num_arcs:
            kernel, grid = Kernel(relaxation.SOURCE, "push_arcs", self._types(graph)), blocks(num_arcs, ARCS_PER_BLOCK)
            runtime.launch(kernel, grid, BLOCK, *given, sums)
        self._forget_front()
        if self._far:
            return self._put_off(min(len(values), num_arcs), sums)
        self._size, self._arcs, *_ = sums.tolist()
        self._ids, self._changed = self._changed, self._ids
        self._front, self._reached, self._everything = self._reached, self._spare, False
        return self._size

    def _selection(self) -> Selection:
        graph = self._graph
        if self._everything:
            return Selection(graph.offset, graph.neighbors)
        return Selection(graph.offset, graph.neighbors, self._ids[: self._size], num_arcs=self._arcs)

    def _put_off(self, most: int, sums: Tensor) -> int:
        """Divide what a push has changed, at most so many vertices, into those that come next and the far pile; how
        many they are."""
        graph, far, state = self._graph, self._far, frontier.new_sums(sums.device, 4)
        given = (self._changed, sums, self._values, graph.offset, self._reached, self._ids, *far.arguments, far.size)
        if most:
            kernel = Kernel(SOURCE, "put_off", (TYPES[self._values.dtype],))
            runtime.launch(kernel, blocks(most), BLOCK, *given, state)
        self._size, self._arcs, changed, more = state.tolist()
        far.size += more
        return changed

    def _pull(self) -> int:
        """One round into all vertices; how many it changed."""
        graph, values = self._graph, self._values
        reverse = self._given.transpose().decoded()
        reverse.ensure_valid()
        if self._front is None and not self._everything:
            self._front = self._spare
            frontier.insert(self._ids[: self._size], self._front)
        front, sums = None if self._everything else self._front, frontier.new_sums(values.device, 3)
        limit = self._bound()
        arcs = (reverse.offset, reverse.neighbors, graph.offset)
        relaxation.pull(*arcs, front, self._sent("pull"), limit, values, self._reached, sums)
        self._forget_front()
        self._size, self._arcs, _ = sums.tolist()
        self._front, self._reached, self._everything = self._reached, self._spare, False
        self._ids[: self._size] = frontier.members(self._front, self._size)
        return self._size

    def _bound(self) -> Tensor | None:
        """The best message of a round. With a weight for each arc hardly a row meets it."""
        if self._best_weight is None or self._per_arc or not self._graph.num_arcs:
            return None
        sent = self._values if self._everything else self._values.index_select(0, self._ids[: self._size])
        best = self._reduction.best(sent)
        identity = self._reduction.identity(best.dtype)
        message = across(best, self._edge, self._best_weight).to(best.dtype)
        return torch.where(best == identity, identity, message)


def _largest(dtype: torch.dtype) -> float | int:
    return torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max
