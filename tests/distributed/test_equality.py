"""Programs on a graph that is spread over ranks give what they give on the whole graph: to the bit where they compare,
and to 1e-6 where they add."""

from collections.abc import Collection

import pytest
import torch
from collected import DATA, graph_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ranks import on_ranks
from torch import Tensor

import tgraph as tg
from tgraph.distributed import gather, spread

METHODS = ("ebp", "wcp")


def pagerank(graph, source):
    return tg.algorithms.pagerank(graph)


def weighted_pagerank(graph, source):
    return tg.algorithms.pagerank(graph, weighted=graph.weight_dtype is not None, dtype=torch.float64)


class Reached(tg.Program):
    """A program of its own steps, with a frontier: how many hops ago a vertex was last reached by a walk of five."""

    rounds = 5

    def __init__(self, source):
        self.source = source

    def init(self, graph):
        return torch.zeros(graph.num_vertices, dtype=torch.int64), graph.select(self.source)

    def compute(self, sub, seen, active):
        return tg.update(seen, active, tg.aggregate(sub, seen + 1, "max"), torch.maximum)


EXACT = {
    "bfs": lambda graph, source: tg.algorithms.bfs(graph, source),
    "bfs from several": lambda graph, source: tg.algorithms.bfs(graph, [source, 0, source]),
    "bfs of two hops": lambda graph, source: tg.algorithms.bfs(graph, source, max_depth=2),
    "bfs by pull": lambda graph, source: tg.algorithms.bfs(graph, source, mode="pull"),
    "sssp": lambda graph, source: tg.algorithms.sssp(graph, source),
    "widest path": lambda graph, source: tg.algorithms.widest_path(graph, source),
    "a program": lambda graph, source: tg.run(Reached(source), graph).values,
    "degrees": lambda graph, source: torch.stack((graph.out_degree, graph.in_degree), 1),
    "min": lambda graph, source: tg.aggregate(graph, graph.out_degree, "min"),
    "max over weights": lambda graph, source: tg.aggregate(graph, graph.out_degree.double(), "max", edge=_edge(graph)),
    "any": lambda graph, source: tg.aggregate(graph, graph.out_degree > 2, "any"),
    "integers": lambda graph, source: tg.aggregate(graph, graph.out_degree, "sum"),
}
ADDED = {
    "pagerank": pagerank,
    "weighted pagerank": weighted_pagerank,
    "plain pagerank": lambda graph, source: tg.run(tg.algorithms.PlainPageRank(), graph).values,
    "katz": lambda graph, source: tg.algorithms.katz(graph, alpha=1e-4),
    "hits": lambda graph, source: torch.stack(tg.algorithms.hits(graph), 1) if graph.num_arcs else graph.out_degree,
    "sum": lambda graph, source: tg.aggregate(graph, graph.out_degree.double() / 3, "sum", edge=_edge(graph)),
    "mean": lambda graph, source: tg.aggregate(graph, graph.out_degree.double(), "mean"),
}


def _edge(graph) -> str:
    return "copy" if graph.weight_dtype is None else "mul"


def differences(
    whole: tg.Graph,
    method: str,
    source: int,
    names: Collection[str] = (),
    cut: str | None = None,
    parts: tg.Graph | None = None,
) -> list[str]:
    """What differs between a graph and the same spread over ranks, by the programs of these `names`, or by all;
    `parts` : the second of these, where it is there already."""
    parts = spread(whole, method=method, cut=cut) if parts is None else parts
    place = source if parts.order is None else int((parts.order == source).nonzero())
    wrong = []
    for name, function in {**EXACT, **ADDED}.items():
        if names and name not in names:
            continue
        if name == "widest path" and whole.weight_dtype is None:
            continue
        if name == "bfs from several":  # vertex 0 is another one in an order of parts
            wanted = function(whole.permute(parts.order) if parts.order is not None else whole, place)
            wanted = wanted if parts.order is None else parts.restore(wanted)
        else:
            wanted = function(whole, source)
        found = parts.restore(gather(parts, function(parts, place)))
        same = found.dtype == wanted.dtype and (
            torch.equal(found, wanted) if name in EXACT else torch.allclose(found, wanted, rtol=1e-6, atol=1e-9)
        )
        if not same:
            wrong.append(f"{name} by {method} of {whole}: {found} is not {wanted}")
    label = parts.restore(gather(parts, tg.algorithms.wcc(parts)))
    wanted = tg.algorithms.wcc(whole if parts.order is None else whole.permute(parts.order))
    if not torch.equal(label, wanted if parts.order is None else parts.restore(wanted)):
        wrong.append(f"components by {method} of {whole}: {label} is not {wanted}")
    if parts.num_self_loops != whole.num_self_loops or parts.weight_range != whole.weight_range:
        wrong.append(f"{parts.num_self_loops}, {parts.weight_range}: not those of {whole}")
    return wrong


def edges(n: int, m: int, directed: bool, weighted: bool, seed: int) -> tg.Graph:
    random = torch.Generator().manual_seed(seed)
    source = (torch.rand(m, generator=random) ** 3 * n).long()  # hubs
    weights = torch.randint(0, 9, (m,), generator=random).float() if weighted else None
    target = torch.randint(0, n, (m,), generator=random)
    return tg.Graph.from_edges(source, target, weights, num_vertices=n, directed=directed)


def made() -> list[tg.Graph]:
    found = [tg.generators.grid2d(30, 20), tg.generators.rmat(9, seed=2, directed=True)]
    for directed in (False, True):
        found += [edges(700, 5000, directed, weighted, 5) for weighted in (False, True)]
    found.append(edges(2000, 40000, False, True, 6))  # components begin with a sample
    return found


def compare_made() -> list[str]:
    return [wrong for graph in made() for method in METHODS for wrong in differences(graph, method, 5)]


def compare_some() -> list[str]:
    """Each graph by one of the partitions."""
    return [wrong for i, graph in enumerate(made()) for wrong in differences(graph, METHODS[i % 2], 5)]


def test_programs_are_equal():
    for wrong in on_ranks(2, compare_some, timeout=300):
        assert not wrong, "\n".join(wrong)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [1, 2, 3, 4, 8])
def test_programs_are_equal_on_more_ranks(number):
    for wrong in on_ranks(number, compare_made, timeout=900):
        assert not wrong, "\n".join(wrong)


def compare_collected(name: str) -> list[str]:
    whole = graph_of(name, weighted=name.startswith("USA"))
    source = int(whole.out_degree.argmax())
    names = ("bfs", "sssp", "widest path", "a program", "pagerank", "sum")
    return [wrong for method in (*METHODS, "metis") for wrong in differences(whole, method, source, names)]


@pytest.mark.thorough
@pytest.mark.skipif(not DATA.exists(), reason="the real graphs are not in ../shared/data")
@pytest.mark.parametrize("number", [2, 4, 8])
@pytest.mark.parametrize("name", ["cnr-2000", "soc-Epinions1", "USA-road-BAY"])  # web, social, road
def test_programs_are_equal_on_real_graphs(name, number):
    pytest.importorskip("pymetis")
    for wrong in on_ranks(number, compare_collected, name, timeout=900):
        assert not wrong, "\n".join(wrong)


@st.composite
def small_graphs(draw) -> tg.Graph:
    n = draw(st.integers(1, 12))
    ends = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30)
    arcs = torch.tensor(draw(ends), dtype=torch.int64).reshape(-1, 2)
    weights = torch.arange(len(arcs)).float() % 4 if draw(st.booleans()) else None
    return tg.Graph.from_edges(arcs[:, 0], arcs[:, 1], weights, num_vertices=n, directed=draw(st.booleans()))


def compare_random() -> list[str]:
    """All ranks draw the same graphs."""

    @settings(max_examples=15, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(small_graphs(), st.sampled_from(METHODS), st.integers(0, 11))
    def compare(graph: tg.Graph, method: str, source: int) -> None:
        wrong = differences(graph, method, source % graph.num_vertices)
        assert not wrong, "\n".join(wrong)

    compare()
    return []


def test_programs_are_equal_on_random_graphs():
    assert on_ranks(3, compare_random, timeout=300) == [[], [], []]


def twice() -> Tensor:
    graph = spread(edges(700, 5000, True, False, 5), method="wcp")
    return torch.stack([gather(graph, tg.algorithms.pagerank(graph)) for _ in range(2)])


def test_sums_have_the_same_bits_in_every_run():
    first, second = on_ranks(2, twice), on_ranks(2, twice)
    assert all(torch.equal(ranks, first[0][:1].expand(2, -1)) for ranks in (*first, *second))
