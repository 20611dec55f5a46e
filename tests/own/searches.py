"""Programs from a source, as a user writes them: paths, reachability, arrivals."""

from __future__ import annotations

import torch

import tgraph as tg


class Hops(tg.Program):
    """Breadth-first search."""

    def init(self, graph):
        hops = torch.full((graph.num_vertices,), torch.inf)
        hops[0] = 0
        return hops, graph.select(0)

    def compute(self, sub, hops, active):
        return tg.update(hops, active, tg.aggregate(sub, hops + 1, "min"), torch.minimum)


class Parents(tg.Program):
    """Breadth-first search with parents: of those a level before, the least."""

    def init(self, graph):
        self.ids = torch.arange(graph.num_vertices)
        parent = torch.where(self.ids == 0, 0, -1)
        return parent, graph.select(0)

    def compute(self, sub, parent, active):
        first = lambda old, new: torch.where(old < 0, new, old)  # noqa: E731
        return tg.update(parent, active, tg.aggregate(sub, self.ids, "min"), first)


class Searches(tg.Relaxation):
    """Breadth-first searches from four sources at once."""

    weight = 1

    def init(self, graph):
        sources = torch.arange(4)
        hops = torch.full((graph.num_vertices, 4), torch.inf)
        hops[sources, sources] = 0
        return hops, graph.select(sources)


class Distance(tg.Program):
    """Shortest paths."""

    def init(self, graph):
        distance = torch.full((graph.num_vertices,), torch.inf)
        distance[0] = 0
        return distance, graph.select(0)

    def compute(self, sub, distance, active):
        return tg.update(distance, active, tg.aggregate(sub, distance, "min", edge="add"), torch.minimum)


class ShortestPaths(tg.Relaxation):
    """Shortest paths, declared."""

    def init(self, graph):
        distance = torch.full((graph.num_vertices,), torch.inf)
        distance[0] = 0
        return distance, graph.select(0)


class Widest(tg.Program):
    """Widest paths."""

    def init(self, graph):
        width = torch.full((graph.num_vertices,), -torch.inf)
        width[0] = torch.inf
        return width, graph.select(0)

    def compute(self, sub, width, active):
        return tg.update(width, active, tg.aggregate(sub, width, "max", edge="min"), torch.maximum)


class Reliable(tg.Program):
    """Most reliable paths, where the weight of an arc is the odds against it."""

    def init(self, graph):
        reached = torch.zeros(graph.num_vertices)
        reached[0] = 1
        return reached, graph.select(0)

    def compute(self, sub, reached, active):
        chance = lambda u, v, odds: u / (1 + odds)  # noqa: E731
        return tg.update(reached, active, tg.aggregate(sub, reached, "max", edge=chance), torch.maximum)


class CountPaths(tg.Program):
    """The number of shortest paths, in two columns: hops and paths."""

    def init(self, graph):
        both = torch.tensor([torch.inf, 0]).repeat(graph.num_vertices, 1)
        both[0] = torch.tensor([0.0, 1.0])
        return both, graph.select(0)

    def compute(self, sub, both, active):
        sent = both + torch.tensor([1.0, 0.0])
        nearest = tg.aggregate(sub, sent[:, 0].contiguous(), "min")
        counted = tg.aggregate(sub, both[:, 1].contiguous())
        received = tg.Received(torch.stack([nearest.values, counted.values], 1), nearest.vertices)
        return tg.update(both, active, received, lambda old, new: torch.where(old[:, :1] == torch.inf, new, old))


class CountPathsApart(tg.Program):
    """The same, in a dict of tensors."""

    def init(self, graph):
        self.level = 0
        hops, paths = torch.full((graph.num_vertices,), torch.inf), torch.zeros(graph.num_vertices)
        hops[0], paths[0] = 0, 1
        return {"hops": hops, "paths": paths}, graph.select(0)

    def compute(self, sub, data, active):
        self.level += 1
        fresh = data["hops"] == torch.inf
        counted = tg.aggregate(sub, data["paths"])
        first = lambda old, new, at: torch.where(fresh[at], new, old)  # noqa: E731
        paths, active = tg.update(data["paths"], active, counted, first)
        hops = torch.where(fresh & (paths > 0), self.level, data["hops"])
        return {"hops": hops, "paths": paths}, active


class Arrival(tg.Program):
    """Earliest arrival, where the weight of an arc is its departure and a ride takes 1."""

    def init(self, graph):
        time = torch.full((graph.num_vertices,), torch.inf)
        time[0] = 0
        return time, graph.select(0)

    def compute(self, sub, time, active):
        ride = lambda u, v, at: torch.where(u <= at, at + 1, torch.inf)  # noqa: E731
        return tg.update(time, active, tg.aggregate(sub, time, "min", edge=ride), torch.minimum)


class Labelled(tg.Program):
    """Vertices that arcs of a weight below 6 reach."""

    def init(self, graph):
        reached = torch.zeros(graph.num_vertices)
        reached[0] = 1
        return reached, graph.select(0)

    def compute(self, sub, reached, active):
        follow = lambda u, v, label: torch.where(label < 6, u, 0)  # noqa: E731
        return tg.update(reached, active, tg.aggregate(sub, reached, "max", edge=follow), torch.maximum)


class Walkers(tg.Program):
    """A walker from each vertex, four steps: next is the vertex behind the arc of the greatest draw."""

    rounds = 4

    def init(self, graph):
        self.step, self.ids = 0, torch.arange(graph.num_vertices)
        return self.ids.clone(), graph.everything()

    def compute(self, sub, at, active):
        self.step += 1
        draw = lambda u, v: (u * 7919 + v * 104729 + self.step * 1299709) * 2654435761 % 2**32  # noqa: E731
        following = tg.aggregate(sub.reverse(), self.ids, "argmax", edge=draw).values
        return torch.where(following < 0, self.ids, following)[at], active


class Strong(tg.Program):
    """Who reaches a vertex, and whom it reaches, of the greatest number within its part."""

    def __init__(self, part):
        self.part = part

    def init(self, graph):
        ids = torch.arange(graph.num_vertices)
        return torch.stack([ids, ids], 1), graph.everything()

    def compute(self, sub, ends, active):
        within = lambda u, v: torch.where(u["part"] == v["part"], u["end"], -1)  # noqa: E731
        ahead = tg.aggregate(sub, {"part": self.part, "end": ends[:, 0]}, "max", edge=within)
        behind = tg.aggregate(sub.reverse(), {"part": self.part, "end": ends[:, 1]}, "max", edge=within)
        received = tg.Received(torch.stack([ahead.values, behind.values], 1))
        return tg.update(ends, active, received, torch.maximum)


def strong(graph, **options):
    """Strong components: parts are split by the two ends until these are one."""
    part = torch.zeros(graph.num_vertices, dtype=torch.int64)
    while True:
        ahead, behind = tg.run(Strong(part), graph, **options).values.unbind(1)
        if bool((ahead == behind).all()):
            return ahead
        part = ahead * graph.num_vertices + behind
