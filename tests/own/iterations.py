"""Programs in which all vertices take part in each round, as a user writes them: ranks, heat, labels, beliefs."""

from __future__ import annotations

import torch

import tgraph as tg


class Components(tg.Program):
    """Components of an undirected graph."""

    def init(self, graph):
        return torch.arange(graph.num_vertices), graph.everything()

    def compute(self, sub, label, active):
        return tg.update(label, active, tg.aggregate(sub, label, "min"), torch.minimum)


class WeakComponents(tg.Program):
    """Weak components of a directed graph."""

    def init(self, graph):
        return torch.arange(graph.num_vertices), graph.everything()

    def compute(self, sub, label, active):
        behind = tg.aggregate(sub.reverse(), label, "min").values
        nearest = lambda old, new: torch.minimum(torch.minimum(old, new), behind)  # noqa: E731
        return tg.update(label, active, tg.aggregate(sub, label, "min"), nearest)


class Ranks(tg.Program):
    """PageRank."""

    rounds = 10

    def init(self, graph):
        return torch.full((graph.num_vertices,), 1 / graph.num_vertices), graph.everything()

    def compute(self, sub, rank, active):
        n, degree = sub.graph.num_vertices, sub.graph.out_degree
        lost = rank[degree == 0].sum()
        return 0.15 / n + 0.85 * (tg.aggregate(sub, rank / degree.clamp(min=1)).values + lost / n), active


class RankDeltas(tg.Program):
    """PageRank by what each vertex has yet to send, in two columns: rank and rest."""

    def init(self, graph):
        self.share = 0.85 / graph.out_degree.clamp(min=1)
        return torch.tensor([0.0, 0.15]).repeat(graph.num_vertices, 1), graph.everything()

    def compute(self, sub, both, active):
        rank, rest = both.unbind(1)
        sent = torch.where(rest > 1e-3, rest, 0)
        left = torch.stack([rank + sent, rest - sent], 1)
        more = lambda old, new: old + torch.stack([torch.zeros_like(new), new], 1)  # noqa: E731
        both, _ = tg.update(left, active, tg.aggregate(sub, sent * self.share), more)
        return both, sub.graph.select(both[:, 1] > 1e-3)

    def finish(self, both):
        return both.sum(1)


class Personal(tg.Program):
    """PageRank of walks that begin anew at a source."""

    rounds = 10

    def init(self, graph):
        self.home = torch.zeros(graph.num_vertices)
        self.home[0] = 1
        return self.home.clone(), graph.everything()

    def compute(self, sub, rank, active):
        degree = sub.graph.out_degree
        lost = rank[degree == 0].sum()
        received = tg.aggregate(sub, rank / degree.clamp(min=1)).values
        return 0.85 * received + (0.15 + 0.85 * lost) * self.home, active


class Hubs(tg.Program):
    """HITS."""

    rounds = 20

    def init(self, graph):
        return torch.ones(graph.num_vertices), graph.everything()

    def compute(self, sub, hub, active):
        authority = tg.aggregate(sub, hub).values
        hub = tg.aggregate(sub.reverse(), authority / authority.sum()).values
        return hub / hub.sum(), active


class Salsa(tg.Program):
    """SALSA, the hubs."""

    rounds = 20

    def init(self, graph):
        return torch.full((graph.num_vertices,), 1 / graph.num_vertices), graph.everything()

    def compute(self, sub, hub, active):
        outward, inward = sub.graph.out_degree.clamp(min=1), sub.graph.in_degree.clamp(min=1)
        authority = tg.aggregate(sub, hub / outward).values
        return tg.aggregate(sub.reverse(), authority / inward).values, active


class Katz(tg.Program):
    """Katz centrality."""

    rounds = 40

    def init(self, graph):
        self.alpha = 1 / (1 + float(graph.in_degree.max()))
        return torch.ones(graph.num_vertices), graph.everything()

    def compute(self, sub, score, active):
        return tg.update(score, active, tg.aggregate(sub, score), lambda old, new: self.alpha * new + 1)


class Labels(tg.Program):
    """Fixed labels of every fifth vertex spread to the others by the mean."""

    rounds = 6

    def init(self, graph):
        self.fixed = torch.arange(graph.num_vertices) % 5 == 0
        return self.fixed.float(), graph.everything()

    def compute(self, sub, label, active):
        keep = lambda old, new: torch.where(self.fixed, old, new)  # noqa: E731
        return tg.update(label, active, tg.aggregate(sub, label, "mean"), keep)


class Softmax(tg.Program):
    """A smooth maximum of the in-neighbours."""

    rounds = 3

    def init(self, graph):
        return (torch.arange(graph.num_vertices) % 7).to(torch.get_default_dtype()), graph.everything()

    def compute(self, sub, value, active):
        smooth = tg.aggregate(sub, value, "logsumexp")
        return tg.update(value, active, smooth, lambda old, new: torch.maximum(old, new / 2))


class SumProduct(tg.Program):
    """Loopy belief propagation over three states, with messages [m, 3] from `source` to `target` [m]."""

    rounds = 8

    def __init__(self, source, target):
        n = int(target.max()) + 1
        self.source, self.messages = source, torch.zeros(len(source), 3)
        self.reverse = torch.searchsorted(source * n + target, target * n + source)
        self.coupling = torch.eye(3)

    def init(self, graph):
        self.prior = (torch.arange(3.0) + torch.arange(graph.num_vertices)[:, None]).cos()
        return self.prior, graph.everything()

    def compute(self, sub, belief, active):
        others = belief[self.source] - self.messages[self.reverse]
        self.messages = (others[:, :, None] + self.coupling).logsumexp(1).log_softmax(1)
        received = tg.aggregate(sub, belief, edge=lambda u, v, message: message, weights=self.messages)
        return self.prior + received.values, active

    def finish(self, belief):
        return belief.softmax(1)


def sweep(graph, **options):
    """The least conductance among the sets that begin the order by personalised PageRank over degree."""
    rank, degree, ids = tg.run(Personal(), graph, **options).values, graph.out_degree, torch.arange(graph.num_vertices)
    order = (rank / degree.clamp(min=1))[ids].argsort(descending=True, stable=True)
    place = torch.empty_like(order).index_copy(0, order, ids)
    before = tg.aggregate(graph, place, edge=lambda u, v: (u < v).long())
    cut, volume = (degree - 2 * before)[order].cumsum(0), degree[order].cumsum(0)
    smaller = torch.minimum(volume, graph.num_arcs - volume)
    return (cut / smaller)[smaller > 0].min()
