"""Betweenness estimated with a bound on the error (KADABRA: Borassi and Natale, ESA 2016).

The estimate of a vertex is the share of random shortest paths, between random pairs, that it is inside of. So many are
drawn that with probability 1 - delta no vertex is off by more than epsilon: at most

    omega = (floor(log2(D - 2)) + 1 + log(2 / delta)) / (2 epsilon^2)

paths, where D bounds the number of vertices on a shortest path (Riondato and Kornaropoulos 2016), and fewer where the
estimates allow it. After t paths a vertex of estimate b is off downwards by at most f(b, t), and upwards by g(b, t),
but with a probability that is its share of delta / 2; shares are larger for vertices that a first, discarded hundredth
of the paths finds important, since they take longest. The paths come from the primitive `sample_paths.inside`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.structure.neighborhoods import Reach

GROWTH = 1.2  # from one test of the estimates to the next


def approximate_betweenness(
    graph: tg.Graph, *, epsilon: float = 0.01, delta: float = 0.1, seed: int | None = None, backend: str = "auto"
) -> Tensor:
    """Estimated betweenness of every vertex: float64 [n], no value off by more than `epsilon` with probability 1 -
    `delta`.

    Paths are counted in hops. The same `seed` gives the same result, on any number of threads; None is 0. `backend`
    names the kernels. Raises ArgumentError for an epsilon or delta that is not between 0 and 1.

    >>> graph = tg.generators.star(9)
    >>> tg.algorithms.approximate_betweenness(graph, epsilon=0.05).round(decimals=1)
    tensor([1., 0., 0., 0., 0., 0., 0., 0., 0., 0.], dtype=torch.float64)
    """
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not 0 < value < 1:
            raise tg.errors.ArgumentError(f"{name}: must be between 0 and 1, got {value}")
    n = graph.num_vertices
    zero = torch.zeros(n, dtype=torch.float64, device=graph.device)
    if n < 3 or not graph.num_arcs:
        return zero
    scale = n / (n - 2)  # a path of random ends misses a vertex that is one of them
    bound, key = epsilon / scale, tg.random.key(0 if seed is None else seed)
    most = _most_paths(graph, bound, delta)
    draw = tg.primitives.sample_paths.inside
    with tg.one_torch_thread(backend):
        first = max(1, math.ceil(most / 100))
        rough = draw(graph, key, 0, first, backend=backend).to(torch.float64) / first
        share = _shares(rough, first, bound, delta)
        inside, drawn = torch.zeros(n, dtype=torch.int64, device=graph.device), 0
        while drawn < most:
            further = min(max(first, math.ceil(drawn * (GROWTH - 1))), most - drawn)
            inside += draw(graph, key, first + drawn, further, backend=backend)
            drawn += further
            estimate = inside.to(torch.float64) / drawn
            if bool((_error(estimate, share, most, drawn) <= bound).all()):
                break
    return estimate * scale


def _most_paths(graph: tg.Graph, epsilon: float, delta: float) -> int:
    """How many paths are enough whatever they find."""
    longest = _longest_path(graph)
    return math.ceil((math.floor(math.log2(max(longest - 2, 1))) + 1 + math.log(2 / delta)) / (2 * epsilon**2))


def _longest_path(graph: tg.Graph) -> int:
    """A bound on the vertices of a shortest path: in an undirected graph twice the depth of a search in each component
    and one more; in a directed one, all."""
    if graph.directed:
        return graph.num_vertices
    return 2 * int(tg.run(Reach(tg.algorithms.wcc(graph).unique()), graph).values.max()) + 1


def _shares(rough: Tensor, drawn: int, epsilon: float, delta: float) -> Tensor:
    """For each vertex the logarithm of 1 / its share of delta, for an error downwards and as much for one upwards: the
    shares are exp(-c epsilon^2 / estimate) and a little more, with the least c for which they add up to delta / 2."""
    n = len(rough)
    least = 0.001 * delta / (4 * n)  # for those that were found on no path
    need = epsilon**2 / rough.clamp(min=1 / drawn)
    low, high = 0.0, math.log(4 * n / (0.999 * delta)) / float(need.min())
    for _ in range(60):
        middle = (low + high) / 2
        enough = 2 * float(torch.exp(-middle * need).sum()) <= 0.999 * delta / 2
        low, high = (low, middle) if enough else (middle, high)
    return -torch.log(torch.exp(-high * need) + least)


def _error(estimate: Tensor, share: Tensor, most: int, drawn: int) -> Tensor:
    """The larger of the errors downwards and upwards, f and g of the paper, [n]."""
    third, ratio = 1 / 3, most / drawn
    spread = 2 * estimate * most / share
    below = share / drawn * (third - ratio + torch.sqrt((third - ratio) ** 2 + spread))
    above = share / drawn * (third + ratio + torch.sqrt((third + ratio) ** 2 + spread))
    return torch.maximum(below, above)
