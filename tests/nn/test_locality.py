"""The share of gathers that miss a cache, beside a cache that is simulated."""

from collections import OrderedDict

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.tune.locality import Gaps, _times, misses


def simulated(reads, room):
    """The share of the reads that miss a cache of so many places that keeps what was used last."""
    cache, missed = OrderedDict(), 0
    for read in reads:
        missed += read not in cache
        cache[read] = True
        cache.move_to_end(read)
        if len(cache) > room:
            cache.popitem(last=False)
    return missed / len(reads)


GRAPHS = {
    "random": random_graph(300, 3000),
    "power law": tg.generators.rmat(9, 8),
    "mesh": tg.generators.grid2d(40, 40),
    "one": tg.Graph.from_edges([0], [0]),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("room", [3, 16, 100, 1000])
def test_a_simulated_cache_misses_as_much(name, room):
    graph = GRAPHS[name]
    assert abs(misses(graph, 256, 256 * room) - simulated(graph.neighbors.tolist(), room)) < 0.03


def test_short_rows_share_a_line():
    graph = GRAPHS["mesh"]
    lines = (graph.neighbors // 4).tolist()
    assert abs(misses(graph, 16, 64 * 8) - simulated(lines, 8)) < 0.03


def test_the_footprint_is_the_mean_over_all_windows():
    graph = random_graph(10, 40)
    reads = graph.neighbors.tolist()
    reuse, ends = _times(graph, 1)
    gaps = Gaps(torch.cat((reuse, ends)), len(set(reads)), len(reads))
    for window in range(1, len(reads) + 1):
        distinct = [len(set(reads[begin : begin + window])) for begin in range(len(reads) - window + 1)]
        assert gaps.footprint(window) == pytest.approx(sum(distinct) / len(distinct))


def test_a_cache_that_holds_all_misses_first_uses_alone():
    graph = GRAPHS["random"]
    assert misses(graph, 4, 1 << 20) == len((graph.neighbors // 16).unique()) / graph.num_arcs
    assert misses(tg.Graph.from_edges([], [], num_vertices=3), 4, 64) == 0
    assert misses(graph, 0, 64) > 0
