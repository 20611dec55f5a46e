"""The direction of an iteration."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from torch import Tensor

from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Mode
from tgraph.core.system.devices import compiles_each_shape


class Thresholds(NamedTuple):
    """When to change the direction; every backend that runs the loop itself is given the same.

    alpha : pull once the frontier has 1/alpha of the arcs that are not explored yet.
    beta : push again once the frontier is smaller than n/beta, and shrinks.
    floor : and has more than n/floor arcs.
    remaining : vertices that a second pull checks at the cost of one, where vertices settle: it scans a bitmap of those
        left.
    """

    alpha: int = 4
    beta: int = 18
    floor: int = 8
    remaining: int = 64


THRESHOLDS = Thresholds()

# Arcs that `aggregate` reads in a pull of a whole graph while it writes one in a push: 2 to 8 by the dtype, the
# reduction and the size of the graph, measured on two threads (`bench.frontier`).
READ_PER_WRITE = 4


def settles(values: Tensor, active: Frontier, per_arc: bool) -> bool:
    """Whether the first message to reach a vertex is the best: one value [n] for each, equal for all that send, and
    one weight for all arcs (not `per_arc`), as in breadth-first search."""
    if per_arc or values.dim() != 1 or not len(active):
        return False
    sent = values if active.is_everything else values.index_select(0, active.ids)
    return bool((sent == sent[0]).all())


class DirectionPolicy:
    """Push or pull by the work ahead, with hysteresis (direction-optimising BFS; Beamer, Asanovic, Patterson 2012).

    A push costs the arcs of the frontier. A pull costs a look at every vertex and up to all arcs into those that can
    still improve. Where every vertex is expanded once (`settles`) these are the arcs not explored yet, and most rows
    end early: pull while the frontier has 1/alpha of them, and more than n/floor. Elsewhere a pull reads all arcs, and
    pays while the frontier has 1/`reads` of these, where `reads` in a pull cost as much as one write in a push; without
    them, once the frontier has as many, until it shrinks below n/beta. While everything is active, pull: it adds in a
    fixed order. On devices where each shape is compiled anew always pull: the shapes of a push change with its
    frontier.
    """

    num_vertices: int
    unexplored: int | Any

    def __init__(self, graph: Graph, mode: str = "auto", settles: bool = False, reads: int | None = None):
        self.num_vertices, self.unexplored = graph.num_vertices, graph.num_arcs
        self.fixed: Mode | None = None if mode == "auto" else mode  # type: ignore[assignment]
        if mode == "auto" and compiles_each_shape(graph.device):
            self.fixed = "pull"
        self.settles, self.reads = settles, reads
        self.direction: Mode = "push"
        self._last_size = 0

    def choose(self, active: Frontier) -> Mode:
        """The direction of the iteration that starts with this frontier."""
        size, arcs = active.measure()
        direction = self.pick(size, arcs, active.is_everything)
        self.passed(size, arcs)
        return direction

    def pick(self, size: int, arcs: int, everything: bool) -> Mode:
        """The direction for a frontier of so many vertices and arcs."""
        alpha, beta, floor, remaining = THRESHOLDS
        pulling = self.direction == "pull"
        if self.fixed is not None:
            pulling = self.fixed == "pull"
        elif everything:
            pulling = True
        elif self.settles or self.reads is not None or not pulling:
            share = alpha if self.settles else self.reads or 1
            pulling = (
                arcs * share >= self.unexplored and arcs * (remaining if pulling else 1) * floor > self.num_vertices
            )
        else:
            pulling = size * beta >= self.num_vertices or size >= self._last_size
        self.direction = "pull" if pulling else "push"
        return self.direction

    @property
    def most_pushed(self) -> int:
        """Arcs of a frontier of some vertices up to which it is pushed, after a push, where `reads` are known."""
        if self.fixed is not None or self.reads is None:
            return sys.maxsize if self.fixed == "push" else 0
        return max((self.unexplored - 1) // self.reads, self.num_vertices // THRESHOLDS.floor)

    def state(self) -> dict[str, Any]:
        """State of the policy, for a checkpoint."""
        return {"unexplored": self.unexplored, "direction": self.direction, "last_size": self._last_size}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.unexplored, self.direction, self._last_size = state["unexplored"], state["direction"], state["last_size"]

    def passed(self, size: int, arcs: int) -> None:
        """An iteration from such a frontier is over, or about to begin."""
        if self.settles:
            self.unexplored = max(0, self.unexplored - arcs)
        self._last_size = size
