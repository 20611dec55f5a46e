"""Programs that choose, as a user writes them: cores, independent sets, colours, forests, matchings, triangles. All but
the matching are for undirected graphs."""

from __future__ import annotations

import torch

import tgraph as tg


class Core(tg.Program):
    """The 3-core: 0 for the other vertices, which tell their neighbours once."""

    def init(self, graph):
        left = graph.in_degree
        return torch.where(left < 3, 0, left), graph.select(left < 3)

    def compute(self, sub, left, active):
        lost = tg.aggregate(sub, (left == 0).long())
        return tg.update(left, active, lost, lambda old, new: torch.where(old - new < 3, 0, old - new))


class Independent(tg.Program):
    """A maximal independent set by Luby's method: 1 inside, 0 outside, -1 while that is open."""

    def init(self, graph):
        self.random = torch.Generator().manual_seed(0)
        return torch.full((graph.num_vertices,), -1), graph.everything()

    def compute(self, sub, inside, active):
        draw = torch.where(inside < 0, torch.rand(len(inside), generator=self.random), torch.inf)
        least = draw < tg.aggregate(sub, draw, "min").values
        near = tg.aggregate(sub, least.long(), "max").values > 0
        inside = torch.where(least, 1, torch.where((inside < 0) & near, 0, inside))
        return inside, sub.graph.select(inside < 0)

    def tensorize(self, graph, active, mode):
        return super().tensorize(graph, graph.everything(), mode)


class Colours(tg.Program):
    """One of 64 colours, the first that is free, by the method of Jones and Plassmann, large degrees first."""

    def init(self, graph):
        self.draw = graph.out_degree + torch.rand(graph.num_vertices, generator=torch.Generator().manual_seed(0))
        return torch.full((graph.num_vertices,), -1), graph.everything()

    def compute(self, sub, colour, active):
        draw = torch.where(colour < 0, self.draw, -1)
        turn = (colour < 0) & (draw > tg.aggregate(sub, draw, "max").values)
        used = tg.aggregate(sub, colour[:, None] == torch.arange(64), "any").values
        colour = torch.where(turn, used.logical_not().long().argmax(1), colour)
        return colour, active if bool((colour < 0).any()) else sub.graph.nothing()


class Boruvka(tg.Program):
    """The weight of a minimum spanning forest, of weights that are all different."""

    def init(self, graph):
        self.total = 0.0
        return torch.arange(graph.num_vertices), graph.everything()

    def compute(self, sub, part, active):
        leaves, ids = lambda u, v, weight: torch.where(u != v, weight, torch.inf), torch.arange(len(part))
        least = tg.aggregate(sub, part, "min", edge=leaves).values[ids]
        sender = tg.aggregate(sub, part, "argmin", edge=leaves).values[ids]
        part = part[ids]
        behind = part[sender]
        best = torch.full_like(least, torch.inf).scatter_reduce(0, part, least, "amin")
        taken = (least == best[part]) & (least < torch.inf)
        joined = ids.index_put((part[taken],), behind[taken])
        joined = torch.where((joined[joined] == ids) & (ids < joined), ids, joined)
        self.total += float(best[joined != ids].sum())
        while not torch.equal(joined, joined[joined]):
            joined = joined[joined]
        return joined[part], active if bool(taken.any()) else sub.graph.nothing()

    def finish(self, part):
        return torch.tensor(self.total)


class Auction(tg.Program):
    """A matching of vertices to out-neighbours, off the greatest weight by `step` for each vertex at most (Bertsekas
    1988), in two columns: who has a vertex, and its price."""

    step = 1.0

    def init(self, graph):
        self.ids = torch.arange(graph.num_vertices)
        return torch.tensor([-1.0, 0.0]).repeat(graph.num_vertices, 1), graph.everything()

    def compute(self, sub, sale, active):
        owner, price = sale.unbind(1)
        data, offers = {"id": self.ids, "owner": owner, "price": price}, sub.reverse()
        has = tg.aggregate(offers, data, "max", edge=lambda u, v: (u["owner"] == v["id"]).long()).values > 0
        profit = lambda u, v, weight: weight - u["price"]  # noqa: E731
        best = tg.aggregate(offers, data, "max", edge=profit).values
        data["wish"] = tg.aggregate(offers, data, "argmax", edge=profit).values
        others = lambda u, v, weight: torch.where(u["id"] == v["wish"], 0, profit(u, v, weight))  # noqa: E731
        second = tg.aggregate(offers, data, "max", edge=others).values.clamp(min=0)
        data["rise"] = torch.where(~has & (best > 0), best - second + self.step, -torch.inf)
        bid = lambda u, v: torch.where(u["wish"] == v["id"], u["rise"], -torch.inf)  # noqa: E731
        rise = tg.aggregate(sub, data, "max", edge=bid).values
        winner = tg.aggregate(sub, data, "argmax", edge=bid).values
        sold = rise > -torch.inf
        sale = torch.stack([torch.where(sold, winner, owner), price + torch.where(sold, rise, 0)], 1)
        return sale, active if bool(sold.any()) else sub.graph.nothing()


def triangles(graph, backend="auto", **direction):
    """The number of triangles, by the product of the graph with itself where it has arcs."""
    return tg.multiply(graph, graph, mask=graph, backend=backend).weights.sum() // 6
