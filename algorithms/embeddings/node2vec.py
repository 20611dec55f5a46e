"""node2vec: vertices as points whose products tell how often walks meet them near each other (Grover and Leskovec,
"node2vec: scalable feature learning for networks", KDD 2016; Mikolov et al., "Distributed representations of words and
phrases and their compositionality", NeurIPS 2013). Walks are sentences, and vertices words: for a vertex v of a walk,
one u that is at most `window` steps away in it, and k drawn at random,

    loss = - log sigmoid(x[v] . y[u]) - sum of log sigmoid(- x[v] . y[w]) over the k vertices w drawn,

with probabilities in proportion to the power 3/4 of how often walks come to a vertex. Points and contexts, x and y, are
fitted on batches of such pairs; in an epoch each vertex of each walk is v twice, once for a u before it and once
for one after it. All that is drawn follows from the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

import tgraph as tg

STEPS = 1000  # of an epoch, while the batches are not too small or large


def node2vec(
    graph: tg.Graph,
    dimensions: int = 128,
    *,
    p: float = 1.0,
    q: float = 1.0,
    length: int = 80,
    walks: int = 10,
    window: int = 10,
    negatives: int = 5,
    epochs: int = 1,
    learning_rate: float = 0.1,
    batch: int | None = None,
    weighted: bool = False,
    seed: int = 0,
) -> Tensor:
    """Embedding of the vertices by random walks (node2vec): the point of each, float32 [n, `dimensions`], on the
    graph's device.

    `p`, `q`, `length`, `walks` and `weighted` are those of `node2vec_walks`; with p = q = 1 it is DeepWalk. `window`:
    how many steps apart two vertices of a walk count as near. `negatives`: vertices drawn for each pair. `epochs`,
    `learning_rate` and `batch`, pairs that a step takes (default: 128 to 8192, for some thousand steps), are
    those of the training. The same `seed` gives the
    same points on one machine, on any number of threads.
    Raises ArgumentError for numbers that are not above 0, and those of `node2vec_walks`.

    >>> points = tg.algorithms.node2vec(tg.generators.barbell(4, 0), dimensions=8, length=10, walks=2)
    >>> points.shape
    torch.Size([8, 8])
    """
    numbers = {"dimensions": dimensions, "window": window, "batch": batch, "learning_rate": learning_rate}
    for name, value in numbers.items():
        if value is not None and value <= 0:
            raise tg.errors.ArgumentError(f"{name}: must be above 0, got {value}")
    options: dict[str, Any] = {"p": p, "q": q, "walks": walks, "weighted": weighted, "seed": seed}
    found = tg.algorithms.node2vec_walks(graph, None, length, **options)
    n, device = graph.num_vertices, graph.device
    batch = batch or min(max(found.numel() // STEPS, 128), 1 << 13)
    counter = torch.arange(n * dimensions, device=device)
    points = (tg.random.uniform(tg.random.key(seed, 1), counter).view(n, dimensions) - 0.5) / dimensions
    x = _Adagrad(points.to(torch.float32), learning_rate)
    y = _Adagrad(torch.zeros_like(x.values), learning_rate)
    often = found.flatten().bincount(minlength=n).to(torch.float64).pow(0.75).cumsum(0)
    with torch.no_grad(), tg.one_torch_thread():
        for step, (v, u) in enumerate(_pairs(found, window, epochs, batch, seed)):
            drawn = torch.arange(len(v) * negatives, device=device) + (step << 32)
            share = tg.random.uniform(tg.random.key(seed, 2), drawn) * often[-1]
            others = torch.searchsorted(often, share, right=True).clamp(max=n - 1).view(len(v), negatives)
            _fit(x, y, v, torch.cat((u[:, None], others), 1))
    return x.values


class _Adagrad:
    """Values [n, d] that follow their gradients, each at a rate that falls with what it has gone already (Duchi, Hazan
    and Singer, "Adaptive subgradient methods", JMLR 2011)."""

    def __init__(self, values: Tensor, rate: float):
        self.values, self.rate, self.squares = values, rate, torch.full_like(values, 1e-10)

    def descend(self, rows: Tensor, gradient: Tensor) -> None:
        """Go against the gradient [k, d] of some rows [k], those of equal rows added."""
        rows, place = rows.unique(return_inverse=True)
        total = gradient.new_zeros((len(rows), gradient.shape[1])).index_add_(0, place, gradient)
        squares = self.squares[rows] + total.square()
        self.squares[rows] = squares
        self.values[rows] -= self.rate * total / squares.sqrt()


def _fit(x: _Adagrad, y: _Adagrad, v: Tensor, others: Tensor) -> None:
    """A step down the loss of vertices v [b] with others [b, 1 + k], the first of which was near, the rest drawn."""
    center, context = x.values[v], y.values[others]
    slope = (context @ center[:, :, None]).squeeze(2).sigmoid()
    slope[:, 0] -= 1
    x.descend(v, (slope[:, None, :] @ context).squeeze(1))
    y.descend(others.flatten(), (slope[:, :, None] * center[:, None, :]).flatten(0, 1))


def _pairs(walks: Tensor, window: int, epochs: int, batch: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Pairs of vertices near each other in walks [k, l], in batches: walks in an order drawn anew for each epoch, and
    for each vertex of a walk one before and one after it."""
    k, size = walks.shape
    place = torch.arange(size, device=walks.device)
    together = max(1, batch // (2 * size))
    for epoch in tg.progress.track(range(epochs), "node2vec", unit="epochs"):
        order = tg.random.permutation(tg.random.key(seed, 3 + 2 * epoch), k, walks.device)
        for rows in order.split(together) if k else ():
            held, centers, contexts = walks[rows], [], []
            for side, sign in enumerate((-1, 1)):
                counter = (rows[:, None] * size + place) * 2 + side
                other = place + sign * (1 + tg.random.below(tg.random.key(seed, 4 + 2 * epoch), counter, window))
                inside = (other >= 0) & (other < size)
                centers.append(held[inside])
                contexts.append(held.gather(1, other.clamp(0, size - 1))[inside])
            v, u = torch.cat(centers), torch.cat(contexts)
            if len(v):
                yield v, u
