"""Programs as a user writes them, each a few lines, for tests of engines: `PROGRAMS` gives one for a graph with weights
from 1 to 9 and a source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import tgraph as tg

INF = torch.inf


def start(graph: tg.Graph, source: int, unreached: float, value: float = 0.0, columns: tuple[int, ...] = ()) -> Any:
    """Values of which one vertex has another, and that vertex as the frontier."""
    values = torch.full((graph.num_vertices, *columns), unreached, dtype=torch.float64)
    values[source] = value
    return values, graph.select(source)


class Program(tg.Program):
    def __init__(self, source: int):
        self.source = source


class Hops(Program):
    def init(self, graph):
        return start(graph, self.source, graph.num_vertices)

    def compute(self, sub, depth, active):
        return tg.update(depth, active, tg.aggregate(sub, depth + 1, "min"), torch.minimum)


class Parents(Program):
    """The least in-neighbour on a shortest path, by a key depth * n + parent."""

    def init(self, graph):
        self.n = graph.num_vertices
        key, active = start(graph, self.source, self.n * self.n, self.source)
        self.ids = torch.arange(self.n, dtype=torch.float64)
        return key, active

    def compute(self, sub, key, active):
        sent = (torch.div(key, self.n, rounding_mode="floor") + 1) * self.n + self.ids
        nearer = lambda old, new: torch.where(new // self.n < old // self.n, new, old)  # noqa: E731
        return tg.update(key, active, tg.aggregate(sub, sent, "min"), nearer)


class Distance(Program):
    def init(self, graph):
        return start(graph, self.source, INF)

    def compute(self, sub, distance, active):
        return tg.update(distance, active, tg.aggregate(sub, distance, "min", edge="add"), torch.minimum)


class DistanceInRounds(Distance):
    """With a state, so that it is called as it is written."""

    count = 0

    def compute(self, sub, distance, active):
        self.count += 1
        return super().compute(sub, distance, active)


class Widest(Program):
    def init(self, graph):
        return start(graph, self.source, -INF, INF)

    def compute(self, sub, width, active):
        return tg.update(width, active, tg.aggregate(sub, width, "max", edge="min"), torch.maximum)


class Reliable(Program):
    """The most reliable path, by a probability for all arcs."""

    def init(self, graph):
        return start(graph, self.source, 0.0, 1.0)

    def compute(self, sub, chance, active):
        return tg.update(chance, active, tg.aggregate(sub, chance, "max", edge="mul", weights=0.5), torch.maximum)


class CountPaths(Program):
    """[hops, shortest paths] of each vertex, level by level."""

    def init(self, graph):
        self.level = 0
        both, active = start(graph, self.source, 0.0, 1.0, (2,))
        both[:, 0] = INF
        both[self.source, 0] = 0
        return both, active

    def compute(self, sub, both, active):
        self.level += 1
        level = float(self.level)

        def fresh(old, new):
            reached = (old[:, 0] == INF) & (new[:, 1] > 0)
            return torch.where(reached[:, None], torch.stack([torch.full_like(old[:, 0], level), new[:, 1]], 1), old)

        sent = torch.stack([torch.zeros(len(both), dtype=both.dtype), both[:, 1]], 1)
        return tg.update(both, active, tg.aggregate(sub, sent), fresh)


class Walks(Program):
    rounds = 4

    def init(self, graph):
        return start(graph, self.source, 0.0, 1.0)

    def compute(self, sub, walks, active):
        return tg.update(walks, active, tg.aggregate(sub, walks), lambda old, new: old + new)


class Components(Program):
    def init(self, graph):
        return torch.arange(graph.num_vertices), graph.everything()

    def compute(self, sub, label, active):
        return tg.update(label, active, tg.aggregate(sub, label, "min"), torch.minimum)


class WeakComponents(Components):
    def compute(self, sub, label, active):
        backward = tg.aggregate(sub.reverse(), label, "min").values
        best = lambda old, new: torch.minimum(torch.minimum(old, new), backward)  # noqa: E731
        label, active = tg.update(label, active, tg.aggregate(sub, label, "min"), best)
        return label, sub.graph.everything() if len(active) else active


class Peeling(Program):
    """The 3-core: 1 for its vertices."""

    def init(self, graph):
        self.left = graph.in_degree.double()
        gone = self.left < 3
        return torch.where(gone, 0.0, 1.0).double(), graph.select(gone)

    def compute(self, sub, inside, active):
        lost = tg.aggregate(sub, torch.ones_like(inside))

        def peeled(old, new, at):
            self.left[at] -= new
            return torch.where(self.left[at] < 3, 0.0, old)

        return tg.update(inside, active, lost, peeled)


class Ranks(Program):
    rounds = 10

    def init(self, graph):
        n = graph.num_vertices
        return torch.full((n,), 1 / max(n, 1), dtype=torch.float64), graph.everything()

    def compute(self, sub, rank, active):
        n, degree = sub.graph.num_vertices, sub.graph.out_degree
        lost = rank[degree == 0].sum()
        return 0.15 / n + 0.85 * (tg.aggregate(sub, rank / degree.clamp(min=1)).values + lost / n), active


class RankDeltas(Program):
    """The rest of each rank that is still to be sent, while it is large."""

    def init(self, graph):
        self.share = 0.85 / graph.out_degree.clamp(min=1).double()
        self.rank = torch.zeros(graph.num_vertices, dtype=torch.float64)
        return torch.full((graph.num_vertices,), 0.15, dtype=torch.float64), graph.everything()

    def compute(self, sub, delta, active):
        sends = active.mask
        self.rank += torch.where(sends, delta, 0)
        received = tg.aggregate(sub, delta * self.share)
        rest = torch.where(sends, 0, delta)
        if received.vertices is None:
            rest = rest + received.values
        else:
            rest = rest.index_add(0, received.vertices, received.values)
        return rest, sub.graph.select(rest > 1e-3)

    def finish(self, values):
        return self.rank + values


class Hubs(Program):
    rounds = 6

    def init(self, graph):
        return torch.ones(graph.num_vertices, dtype=torch.float64), graph.everything()

    def compute(self, sub, hub, active):
        authority = tg.aggregate(sub, hub).values
        hub = tg.aggregate(sub.reverse(), authority / authority.sum()).values
        return hub / hub.sum(), active


class Katz(Program):
    rounds = 8

    def init(self, graph):
        return torch.ones(graph.num_vertices, dtype=torch.float64), graph.everything()

    def compute(self, sub, score, active):
        return tg.update(score, active, tg.aggregate(sub, score), lambda old, new: 0.01 * new + 1)


class Heat(Program):
    rounds = 6

    def init(self, graph):
        self.step = 0.1
        return start(graph, self.source, 0.0, 100.0)[0], graph.everything()

    def compute(self, sub, heat, active):
        mean = tg.aggregate(sub, heat, "mean").values
        return heat + self.step * (mean - heat), active


class Labels(Program):
    """Fixed labels of some vertices spread to the others by the mean."""

    rounds = 6

    def init(self, graph):
        self.fixed = torch.arange(graph.num_vertices) % 5 == 0
        return torch.where(self.fixed, 1.0, 0.0).double(), graph.everything()

    def compute(self, sub, label, active):
        keep = lambda old, new, at: torch.where(self.fixed[at], old, new)  # noqa: E731
        return tg.update(label, active, tg.aggregate(sub, label, "mean"), keep)


class Arrival(Program):
    """Earliest arrival, where the weight of an arc is its departure and a ride takes 1."""

    def init(self, graph):
        return start(graph, self.source, INF)

    def compute(self, sub, time, active):
        ride = lambda u, v, at: torch.where(u <= at, at + 1, INF)  # noqa: E731
        return tg.update(time, active, tg.aggregate(sub, time, "min", edge=ride), torch.minimum)


class Labelled(Program):
    """Vertices that arcs of a weight below 6 reach."""

    def init(self, graph):
        return start(graph, self.source, 0.0, 1.0)

    def compute(self, sub, reached, active):
        follow = lambda u, v, label: torch.where(label < 6, u, 0)  # noqa: E731
        return tg.update(reached, active, tg.aggregate(sub, reached, "max", edge=follow), torch.maximum)


class BestSender(Program):
    """The in-neighbour of the greatest value, twice."""

    rounds = 2

    def init(self, graph):
        return (torch.arange(graph.num_vertices) * 7 % 11).double(), graph.everything()

    def compute(self, sub, value, active):
        return tg.update(value, active, tg.aggregate(sub, value, "argmax"), lambda old, new: (new + old) % 11)


class Softmax(Program):
    """A smooth maximum of the in-neighbours."""

    rounds = 3

    def init(self, graph):
        return (torch.arange(graph.num_vertices) % 7).double(), graph.everything()

    def compute(self, sub, value, active):
        return tg.update(
            value, active, tg.aggregate(sub, value, "logsumexp"), lambda old, new: torch.maximum(old, new / 2)
        )


PROGRAMS: dict[str, Callable[[int], tg.Program]] = {
    each.__name__: each
    for each in (
        *(Hops, Parents, Distance, DistanceInRounds, Widest, Reliable, CountPaths, Walks, Components, WeakComponents),
        *(Peeling, Ranks, RankDeltas, Hubs, Katz, Heat, Labels, Arrival, Labelled, BestSender, Softmax),
    )
}
RELAXATIONS = {"Hops", "Distance", "Widest", "Reliable", "Components"}
