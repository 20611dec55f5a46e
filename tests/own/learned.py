"""Programs with gradients, as a user writes them: `learned` are the tensors that the gradients are of."""

from __future__ import annotations

import torch

import tgraph as tg


class Heat(tg.Program):
    """Heat that flows along arcs, with gradients of the first heat and of the step."""

    rounds = 6

    def init(self, graph):
        self.heat = torch.arange(graph.num_vertices).cos().requires_grad_()
        self.step = torch.tensor(0.1, requires_grad=True)
        self.learned = self.heat, self.step
        return self.heat, graph.everything()

    def compute(self, sub, heat, active):
        return heat + self.step * (tg.aggregate(sub, heat, "mean").values - heat), active


class Sage(tg.Program):
    """A layer of GraphSAGE with a feature of each arc, its weight."""

    rounds = 1

    def init(self, graph):
        self.x = (torch.arange(graph.num_vertices)[:, None] + torch.arange(4)).cos().requires_grad_()
        self.weight = torch.arange(20.0).sin().reshape(5, 4).requires_grad_()
        self.learned = self.x, self.weight
        return self.x, graph.everything()

    def compute(self, sub, x, active):
        message = lambda u, v, weight: torch.cat([u, weight[:, None]], 1)  # noqa: E731
        return x + tg.aggregate(sub, x, "mean", edge=message).values @ self.weight, active


class Attention(tg.Program):
    """Attention of one's own."""

    rounds = 1

    def init(self, graph):
        self.x = (torch.arange(graph.num_vertices)[:, None] + torch.arange(4)).cos().requires_grad_()
        self.learned = (self.x,)
        return self.x, graph.everything()

    def compute(self, sub, x, active):
        power = lambda u, v: (u * v).sum(1).tanh().exp()  # noqa: E731
        total = tg.aggregate(sub, x, edge=power).values
        received = tg.aggregate(sub, x, edge=lambda u, v: power(u, v)[:, None] * u).values
        return received / total.clamp(min=1e-9)[:, None], active


class Roughness(tg.Program):
    """How far a vertex is from its neighbours, a function of both ends of an arc."""

    rounds = 1

    def init(self, graph):
        self.x = torch.arange(graph.num_vertices).cos().requires_grad_()
        self.learned = (self.x,)
        return self.x, graph.everything()

    def compute(self, sub, x, active):
        return tg.aggregate(sub, x, edge=lambda u, v: (u - v).square()).values, active
