"""LABOR: arcs of the graph, as many and as likely as those of NeighborSampler, from fewer vertices."""

import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import citation_graph, drawn_alike, with_both
from strategies import graphs, random_graph

from tgraph.sampling import LaborSampler, NeighborSampler, blocks


@given(graphs(min_vertices=1), st.data())
@settings(max_examples=min(30, settings().max_examples))
def test_as_many_arcs_as_fanouts_and_degrees_allow(graph, data):
    seeds = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=6))
    fanouts = data.draw(st.lists(st.integers(-1, 5), min_size=1, max_size=3))
    found = with_both(LaborSampler(graph, fanouts, seed=3), seeds)
    assert found.node[: len(seeds)].tolist() == seeds
    assert len(set(zip(found.col.tolist(), found.edge.tolist(), strict=True))) == len(found.edge)
    source = torch.arange(graph.num_vertices).repeat_interleave(graph.out_degree)
    ends = torch.stack((source, graph.neighbors.long()))[:, found.edge]
    ends = ends if graph.directed else ends.flip(0)
    assert torch.equal(ends, torch.stack((found.node[found.row], found.node[found.col])))
    assert sum(found.num_sampled_nodes) == len(found.node) and sum(found.num_sampled_edges) == len(found.edge)
    drawn, begin = torch.bincount(found.col, minlength=len(found.node)), 0
    for fanout, size in zip(fanouts, found.num_sampled_nodes, strict=False):
        degree = graph.in_degree[found.node[begin : begin + size]]
        expected = degree if fanout < 0 else degree.clamp(max=fanout)
        assert torch.equal(drawn[begin : begin + size], expected)
        begin += size
    if -1 not in fanouts:
        assert len(blocks(found)) == len(fanouts)


@pytest.mark.parametrize("options", [{}, {"direction": "out"}, {"induced": True}, {"layer_dependency": True}])
def test_of_several_types(options):
    graph = citation_graph()
    fanouts = {kind: [4, 3] if kind[1] != "by" else [0, 2] for kind in graph}
    found = with_both(LaborSampler(graph, fanouts, seed=2, **options), {"paper": torch.tensor([3, 0, 3])})
    assert found.node["paper"][:3].tolist() == [3, 0, 3]
    for kind, held in graph.items():
        ends = found.node[kind[0]][found.row[kind]], found.node[kind[2]][found.col[kind]]
        place = torch.empty_like(held.permutation).index_copy_(0, held.permutation, torch.arange(held.num_arcs))[
            found.edge[kind]
        ]
        assert torch.equal(ends[0], held.neighbors[place].long()) and torch.equal(ends[1], held.row_of_arc()[place])


def test_arcs_are_drawn_alike(kernels):
    graph = random_graph(20, 200)
    sampler = LaborSampler(graph, [5], seed=1)
    counts = torch.zeros(graph.num_arcs)
    for draw in range(1500):
        counts[sampler.sample([7], draw=draw).edge] += 1
    inside = graph.neighbors == 7
    sources = torch.arange(20).repeat_interleave(graph.out_degree)[inside]
    assert bool((counts[~inside] == 0).all())
    single = counts[inside][sources.bincount(minlength=20)[sources] == 1]  # parallel arcs are drawn together
    assert len(single) > 4 and scipy.stats.chisquare(single, single.mean().repeat(len(single))).pvalue > 1e-4


def test_fewer_vertices_than_independent_draws():
    graph = random_graph(2000, 60_000, directed=False)
    seeds = torch.arange(400)
    sizes = {
        name: len(sampler.sample(seeds, draw=0).node)
        for name, sampler in {
            "neighbor": NeighborSampler(graph, [10, 5]),
            "labor": LaborSampler(graph, [10, 5]),
            "dependent": LaborSampler(graph, [10, 5], layer_dependency=True),
        }.items()
    }
    assert sizes["dependent"] < sizes["labor"] < 0.8 * sizes["neighbor"]


def test_the_same_on_any_number_of_threads_and_another_at_each_call():
    drawn_alike(LaborSampler(random_graph(500, 9000), [10, 5], seed=3), torch.arange(300))
