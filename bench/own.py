"""Programs of a few lines that a user writes, beside those of tgraph: searches, which run as the relaxations that they
are, and power iterations, which are fused.

    python -m bench.own SCALE

Prints JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import torch

import tgraph as tg
from bench.arrays import TOLERANCE
from bench.measure import Called, Settings, interleave, ratio, seconds
from bench.peers.tgraph_ import plain

ROUNDS = 20


class Search(tg.Program):
    """A search from a source."""

    unreached: ClassVar[torch.Tensor]

    def __init__(self, source: int):
        self.source = source

    def init(self, graph: tg.Graph) -> Any:
        values = self.unreached.repeat(graph.num_vertices)
        values[self.source] = 0
        return values, graph.select(self.source)


class Hops(Search):
    """Arcs from a source: min over in-arcs of hops + 1."""

    unreached = torch.tensor(2**31 - 2, dtype=torch.int32)

    def compute(self, sub: tg.Subgraph, hops: Any, active: tg.Frontier) -> Any:
        return tg.update(hops, active, tg.aggregate(sub, hops + 1, "min"), torch.minimum)


class Distance(Search):
    """Shortest distance from a source: min over in-arcs of distance + weight."""

    unreached = torch.tensor(torch.inf, dtype=torch.float64)

    def compute(self, sub: tg.Subgraph, distance: Any, active: tg.Frontier) -> Any:
        return tg.update(distance, active, tg.aggregate(sub, distance, "min", edge="add"), torch.minimum)


class Iteration(tg.Program):
    """A power iteration that stops once it moves by less than the tolerance."""

    tolerance: float | None = TOLERANCE

    def init(self, graph: tg.Graph) -> Any:
        return torch.full((graph.num_vertices,), 1 / graph.num_vertices), graph.everything()

    def residual(self, before: Any, after: Any) -> Any:
        return (after - before).abs().sum()


class Ranks(Iteration):
    """PageRank."""

    def compute(self, sub: tg.Subgraph, rank: Any, active: tg.Frontier) -> Any:
        n, out_degree = sub.graph.num_vertices, sub.graph.out_degree
        received = tg.aggregate(sub, rank / out_degree.clamp(min=1)).values
        lost = rank[out_degree == 0].sum()
        return 0.15 / n + 0.85 * (received + lost / n), active


class Hubs(Iteration):
    """HITS."""

    def compute(self, sub: tg.Subgraph, hub: Any, active: tg.Frontier) -> Any:
        authority = tg.aggregate(sub, hub).values
        hub = tg.aggregate(sub.reverse(), authority / authority.sum()).values
        return hub / hub.sum(), active


class Heat(Iteration):
    """Heat that flows along the arcs of an undirected graph, by Euler's method."""

    tolerance, rounds = None, ROUNDS

    def init(self, graph: tg.Graph) -> Any:
        self.step = 1 / float(graph.out_degree.max())
        return (torch.arange(graph.num_vertices) % 2).float(), graph.everything()

    def compute(self, sub: tg.Subgraph, heat: Any, active: tg.Frontier) -> Any:
        received = tg.aggregate(sub, heat).values
        return heat + self.step * (received - sub.graph.out_degree * heat), active


def diffusion(graph: tg.Graph) -> torch.Tensor:
    """Heat by a primitive, an affine step from the present heat."""
    program = Heat()
    heat, _ = program.init(graph)
    kept, flow = 1 - program.step * graph.out_degree, tg.primitives.linear.AffineMap()
    for _ in range(ROUNDS):
        heat = flow.step(graph, heat, alpha=program.step).add_(kept * heat)
    return heat


def compare(one: Callable[[int], Any], other: Callable[[int], Any], sources: list[int]) -> dict[str, Any]:
    """Times of two functions on the same sources, in turn, and the ratio of the second to the first."""
    samples = interleave([Called("one", one), Called("other", other)], sources, Settings())
    for found in samples.values():
        if found.error:
            return {"error": found.error}
    first, second = samples["one"].blocks, samples["other"].blocks
    share = ratio(second, first)
    assert share is not None
    return {"first": seconds(first).median, "second": seconds(second).median, "ratio": vars(share)}


def iterations(graph: tg.Graph) -> dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]]:
    """The shipped and the own power iterations, which must agree."""
    pairs: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
        "pagerank": (lambda _: tg.algorithms.pagerank(graph, tol=TOLERANCE), lambda _: tg.run(Ranks(), graph).values),
        "hits": (
            lambda _: tg.algorithms.hits(graph, tol=None, max_iterations=ROUNDS)[0],
            lambda _: tg.run(rounds(Hubs()), graph).values,
        ),
        "heat": (lambda _: diffusion(graph), lambda _: tg.run(Heat(), graph).values),
    }
    for shipped, own in pairs.values():
        expected, found = shipped(0), own(0)
        assert float((found - expected).abs().sum() / expected.abs().sum()) < 1e-4
    return pairs


def rounds(program: Iteration) -> Iteration:
    """The program for ROUNDS rounds: on a grid, HITS takes ten thousand to converge."""
    program.tolerance, program.rounds = None, ROUNDS
    return program


def user(scale: int) -> list[dict[str, Any]]:
    """Shipped first, the user's own second; both must agree."""
    side = round(1000 * 2 ** ((scale - 20) / 2))
    graphs = {
        f"rmat-{scale}": tg.generators.rmat(scale, weighted=True),
        f"grid-{side}x{side}": tg.generators.grid2d(side, side, weighted=True),
    }
    rows = []
    for name, weighted in graphs.items():
        graph = plain(weighted)
        sources = graph.out_degree.topk(8).indices.tolist()
        hops = tg.run(Hops(sources[0]), graph).values
        assert torch.equal(hops.masked_fill(hops == Hops.unreached, -1), tg.algorithms.bfs(graph, sources[0]))
        pairs = {
            "bfs": (lambda s, g=graph: tg.algorithms.bfs(g, s), lambda s, g=graph: tg.run(Hops(s), g).values),
            "bfs, as written": (
                lambda s, g=graph: tg.run(Hops(s), g),
                lambda s, g=graph: tg.run(Hops(s), g, fuse=False),
            ),
            "sssp": (
                lambda s, g=weighted: tg.algorithms.sssp(g, s),
                lambda s, g=weighted: tg.run(Distance(s), g).values,
            ),
        } | iterations(graph)
        for algorithm, (shipped, own) in pairs.items():
            rows.append({"graph": name, "algorithm": algorithm} | compare(shipped, own, sources))
    return rows


if __name__ == "__main__":
    print(json.dumps(user(int(sys.argv[1]))))
