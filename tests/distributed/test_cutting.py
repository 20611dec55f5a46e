"""Parts whose rows are cut: the same values, and no rank has all arcs of a hub."""

import pytest
import torch
import torch.distributed as dist
from ranks import nothing_is_wrong, on_ranks
from test_equality import METHODS, differences, edges, made

import tgraph as tg
from tgraph.distributed import spread
from tgraph.errors import ArgumentError

CUTS = ("hubs", "grid")


def star(n: int) -> tg.Graph:
    """A hub that all others have an edge to, and a path among these."""
    path = torch.arange(1, n)
    source, target = torch.cat((torch.zeros(n - 1, dtype=torch.int64), path[:-1])), torch.cat((path, path[1:]))
    return tg.Graph.from_edges(source, target, num_vertices=n)


# A program for each way in which messages travel.
SOME = (
    "bfs",
    "bfs of two hops",
    "bfs by pull",
    "bfs from several",
    "sssp",
    "pagerank",
    "weighted pagerank",
    "integers",
)


def compare_some(cuts: tuple[str, str]) -> list[str]:
    """Two graphs, each by one of the cuts and of the partitions."""
    graphs = edges(300, 2500, True, True, 5), edges(400, 20000, False, False, 6)
    each = zip(cuts, graphs, METHODS, strict=True)
    return [f"{cut}: {wrong}" for cut, graph, method in each for wrong in differences(graph, method, 5, SOME, cut)]


@pytest.mark.parametrize("cuts", [CUTS, pytest.param(CUTS[::-1], marks=pytest.mark.thorough)])
def test_programs_are_equal(cuts):
    nothing_is_wrong(4, compare_some, cuts, timeout=300)


def compare_made() -> list[str]:
    return [
        f"{cut}: {wrong}"
        for i, graph in enumerate([*made(), star(3000)])
        for cut in CUTS
        for wrong in differences(graph, METHODS[i % 2], 5, cut=cut)
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("number", [1, 2, 3, 4, 6, 8])
def test_programs_are_equal_on_more_ranks(number):
    nothing_is_wrong(number, compare_made, timeout=900)


def shares(folder: str) -> tuple[dict, list[str]]:
    """Arcs and mirrors of this rank by cut, of a file; and what mistakes say."""
    found, said = {}, []
    for cut in (None, *CUTS):
        graph = tg.distributed.open(f"{folder}/star.tg", cut=cut)
        part = graph.layout.part
        found[cut] = part.num_arcs, len(part.mirrors), graph.num_arcs, int(graph.out_degree.max())
    x = torch.ones(part.num_own, 2, requires_grad=True)
    for call in (
        lambda: tg.aggregate(graph, x, "sum"),
        lambda: tg.nn.GATConv(2, 2)(x, graph),
        lambda: tg.sampling.NeighborSampler(graph, [2]).sample(torch.tensor([1])),
        lambda: tg.aggregate(graph.to_undirected(), graph.out_degree, "sum"),
        lambda: spread(star(9), cut="rows"),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        said.append(str(caught.value))
        dist.barrier()
    return found, said


def test_arcs_of_a_hub_are_shared(tmp_path):
    whole, ranks = star(4000), 4
    tg.stream.write_partitioned(whole, tmp_path / "star.tg", parts=ranks)
    results = on_ranks(ranks, shares, str(tmp_path))
    by_cut = {cut: [found[cut] for found, _ in results] for cut in (None, *CUTS)}
    for numbers in by_cut.values():
        assert {(arcs, degree) for _, _, arcs, degree in numbers} == {(whole.num_arcs, 3999)}
        assert sum(arcs for arcs, *_ in numbers) == whole.num_arcs
    # The hub is the first vertex, and half of all others are mirrors where it has its whole row.
    assert max(mirrors for _, mirrors, *_ in by_cut[None]) > 1000
    assert max(mirrors for _, mirrors, *_ in by_cut["hubs"]) < 10
    for _, said in results:
        assert all("its rows are cut" in each for each in said[:4])
        assert "cut: " in said[4] and "'rows' is not one of" in said[4]
