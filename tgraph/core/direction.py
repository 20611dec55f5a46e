"""The direction of an iteration."""

from __future__ import annotations

from typing import Any

from tgraph.core.devices import compiles_each_shape
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Mode


class DirectionPolicy:
    """Push or pull by the work ahead, with hysteresis (direction-optimising BFS; Beamer, Asanovic, Patterson 2012).

    A push costs the arcs of the frontier. A pull costs a look at every vertex and up to all arcs into those that can
    still improve. Where every vertex is expanded once (`settles`) these are the arcs not explored yet, and most rows
    end early: pull once the frontier's arcs reach 1/alpha of them, and 1/floor of n. Elsewhere a pull reads all
    arcs, and pays only once the frontier has as many. It turns back once the frontier shrinks below n/beta. While
    everything is active, pull: it adds in a fixed order. On devices where each shape is compiled anew always pull: the
    shapes of a push change with its frontier.
    """

    ALPHA, BETA, FLOOR = 4, 18, 8

    def __init__(self, graph: Graph, mode: str = "auto", settles: bool = False):
        self.num_vertices, self.unexplored = graph.num_vertices, graph.num_arcs
        self.fixed: Mode | None = None if mode == "auto" else mode  # type: ignore[assignment]
        if mode == "auto" and compiles_each_shape(graph.device):
            self.fixed = "pull"
        self.settles = settles
        self.alpha = self.ALPHA if settles else 1
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
        if self.fixed is not None:
            self.direction = self.fixed
        elif everything:
            self.direction = "pull"
        elif self.direction == "push":
            if arcs * self.alpha >= self.unexplored and arcs * self.FLOOR > self.num_vertices:
                self.direction = "pull"
        elif size * self.BETA < self.num_vertices and size < self._last_size:
            self.direction = "push"
        return self.direction

    def state(self) -> dict[str, Any]:
        """What the directions to come depend on, for a checkpoint."""
        return {"unexplored": self.unexplored, "direction": self.direction, "last_size": self._last_size}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.unexplored, self.direction, self._last_size = state["unexplored"], state["direction"], state["last_size"]

    def passed(self, size: int, arcs: int) -> None:
        """An iteration from such a frontier is over, or about to begin."""
        if self.settles:
            self.unexplored = max(0, self.unexplored - arcs)
        self._last_size = size
