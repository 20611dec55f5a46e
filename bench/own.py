"""A search that a user writes as a Relaxation, as the README shows, beside the one that comes with tgraph.

    python -m bench.own SCALE

Prints JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import torch

import tgraph as tg
from bench.measure import Called, Settings, interleave, ratio, seconds
from bench.peers.tgraph_ import plain


class Hops(tg.Relaxation):
    """Arcs from a source: min over in-arcs of hops + 1."""

    reduce, edge, weight = "min", "add", 1

    def __init__(self, source: int):
        self.source = source

    def init(self, graph: tg.Graph) -> Any:
        hops = torch.full((graph.num_vertices,), torch.iinfo(torch.int32).max, dtype=torch.int32)
        hops[self.source] = 0
        return hops, graph.select(self.source)


class Distance(tg.Relaxation):
    """Shortest distance from a source: min over in-arcs of distance + weight."""

    reduce, edge = "min", "add"

    def __init__(self, source: int):
        self.source = source

    def init(self, graph: tg.Graph) -> Any:
        distance = torch.full((graph.num_vertices,), torch.inf)
        distance[self.source] = 0
        return distance, graph.select(self.source)


def compare(one: Callable[[int], Any], other: Callable[[int], Any], sources: list[int]) -> dict[str, Any]:
    """Times of two functions on the same sources, in turn, and the ratio of the second to the first."""

    def unchecked(argument: Any, result: Any) -> None:
        pass

    contestants = [Called("one", one, unchecked), Called("other", other, unchecked)]
    samples = interleave(contestants, sources, Settings())
    for found in samples.values():
        if found.error:
            return {"error": found.error}
    first, second = samples["one"].blocks, samples["other"].blocks
    found = ratio(second, first)
    assert found is not None
    return {"first": seconds(first).median, "second": seconds(second).median, "ratio": vars(found)}


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
        unreached = torch.iinfo(torch.int32).max
        assert torch.equal(hops.masked_fill(hops == unreached, -1), tg.algorithms.bfs(graph, sources[0]))
        pairs = {
            "bfs": (lambda s, g=graph: tg.algorithms.bfs(g, s), lambda s, g=graph: tg.run(Hops(s), g).values),
            "sssp": (
                lambda s, g=weighted: tg.algorithms.sssp(g, s),
                lambda s, g=weighted: tg.run(Distance(s), g).values,
            ),
        }
        for algorithm, (shipped, own) in pairs.items():
            rows.append({"graph": name, "algorithm": algorithm} | compare(shipped, own, sources))
    return rows


if __name__ == "__main__":
    print(json.dumps(user(int(sys.argv[1]))))
