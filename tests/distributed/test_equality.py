"""Programs on a graph that is spread over ranks give what they give on the whole graph: to the bit where they compare,
and to 1e-6 where they add."""

from collections.abc import Collection

import pytest
import torch
from collected import DATA, graph_of
from hypothesis import given, settings
from hypothesis import strategies as st
from ranks import nothing_is_wrong, on_ranks
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
        return torch.zeros(graph.num_vertices, dtype=torch.int64, device=graph.device), graph.select(self.source)

    def compute(self, sub, seen, active):
        return tg.update(seen, active, tg.aggregate(sub, seen + 1, "max"), torch.maximum)


class Distances(tg.Program):
    """Shortest distances, written out; with a `count` of rounds, which only COMPUTE as it is written has."""

    def __init__(self, source, count=None):
        self.source, self.count = source, count

    def init(self, graph):
        distance = torch.full((graph.num_vertices,), torch.inf, dtype=torch.float64, device=graph.device)
        distance[self.source] = 0
        return distance, graph.select(self.source)

    def compute(self, sub, distance, active):
        if self.count is not None:
            self.count += 1
        edge = "copy" if sub.graph.weight_dtype is None else "add"
        return tg.update(distance, active, tg.aggregate(sub, distance, "min", edge=edge), torch.minimum)


EXACT = {
    "bfs": lambda graph, source: tg.algorithms.bfs(graph, source),
    "bfs from several": lambda graph, source: tg.algorithms.bfs(graph, [source, 0, source]),
    "bfs of two hops": lambda graph, source: tg.algorithms.bfs(graph, source, max_depth=2),
    "bfs by pull": lambda graph, source: tg.algorithms.bfs(graph, source, mode="pull"),
    "sssp": lambda graph, source: tg.algorithms.sssp(graph, source),
    "widest path": lambda graph, source: tg.algorithms.widest_path(graph, source),
    "a program": lambda graph, source: tg.run(Reached(source), graph).values,
    "distances": lambda graph, source: tg.run(Distances(source), graph).values,
    "distances in rounds": lambda graph, source: tg.run(Distances(source, 0), graph).values,
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


def components(whole: tg.Graph, parts: tg.Graph) -> tuple[Tensor, Tensor]:
    """Those of the parts, and of the graph in their order."""
    order = parts.order
    wanted = tg.algorithms.wcc(whole if order is None else whole.permute(order.to(whole.device)))
    return gather(parts, tg.algorithms.wcc(parts)), wanted


def difference(name: str, whole: tg.Graph, parts: tg.Graph, source: int, rtol: float = 1e-6) -> str | None:
    """What a program gives on a graph that is spread over ranks, on any device, where it is not that of the whole one;
    sums may differ by `rtol`. None where it is."""
    order = None if parts.order is None else parts.order.to(whole.device)
    place = source if order is None else int((order == source).nonzero())
    if name == "components":
        found, wanted = components(whole, parts)
    elif name == "facts":
        facts = [(each.num_self_loops, each.weight_range, each.num_arcs, each.num_edges) for each in (parts, whole)]
        return None if facts[0] == facts[1] else f"{facts[0]} are not those of {whole}: {facts[1]}"
    else:
        function = (EXACT | ADDED)[name]
        if name == "bfs from several" and order is not None:  # vertex 0 is another one in an order of parts
            wanted = parts.restore(function(whole.permute(order), place))
        else:
            wanted = function(whole, source)
        found = parts.restore(gather(parts, function(parts, place)))
    if found.device != parts.device:
        return f"{name} is on {found.device}, the parts on {parts.device}"
    found = found.to(whole.device)
    near = 1e-6 if found.dtype == torch.float32 else 1e-9  # an iteration more or less, as sums round
    same = torch.allclose(found, wanted, rtol=rtol, atol=near) if name in ADDED else torch.equal(found, wanted)
    return None if found.dtype == wanted.dtype and same else f"{name} of {whole}: {found} is not {wanted}"


def programs(whole: tg.Graph, names: Collection[str] = ()) -> list[str]:
    """Those of these names, or all, that run on a graph, and components; and what is said of it."""
    found = [name for name in (*EXACT, *ADDED) if not names or name in names]
    if whole.weight_dtype is None and "widest path" in found:
        found.remove("widest path")
    return [*found, "components", "facts"]


def differences(
    whole: tg.Graph,
    method: str,
    source: int,
    names: Collection[str] = (),
    cut: str | None = None,
    parts: tg.Graph | None = None,
) -> list[str]:
    """Differences between a graph and the same spread over ranks, by the programs of these `names`, or by all;
    `parts` : the second of these, where it is there already."""
    parts = spread(whole, method=method, cut=cut) if parts is None else parts
    wrong = (difference(name, whole, parts, source) for name in programs(whole, names))
    return [f"by {method}: {each}" for each in wrong if each is not None]


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
    """An undirected graph without weights, and a directed one with weights, each by one of the partitions."""
    graphs = made()
    return [*differences(graphs[2], "ebp", 5), *differences(graphs[5], "wcp", 5)]


def compare_under_another_default(number: int) -> list[str]:
    graph = made()[number]
    torch.set_default_device("meta")  # whatever is made on no device in particular has no values
    try:
        return differences(graph, "wcp", 5, cut="hubs")
    finally:
        torch.set_default_device(None)


@pytest.mark.parametrize("graph", [3, pytest.param(6, marks=pytest.mark.thorough)])
def test_the_default_device_of_torch_changes_nothing(graph):
    nothing_is_wrong(2, compare_under_another_default, graph)


def compare_large() -> list[str]:
    """Enough vertices that fresh vertex data is spread as soon as it is made."""
    graph = edges(1 << 16, 1 << 17, True, False, 5)
    return differences(graph, "ebp", 5, ["hits"])


@pytest.mark.parametrize("number", [1, 2])
def test_parts_that_are_read_while_a_program_begins(number):
    nothing_is_wrong(number, compare_large)


def test_programs_are_equal():
    nothing_is_wrong(2, compare_some, timeout=300)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [1, 2, 3, 4, 8])
def test_programs_are_equal_on_more_ranks(number):
    nothing_is_wrong(number, compare_made, timeout=900)


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
    nothing_is_wrong(number, compare_collected, name, timeout=900)


@st.composite
def small_graphs(draw) -> tg.Graph:
    n = draw(st.integers(1, 12))
    ends = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30)
    arcs = torch.tensor(draw(ends), dtype=torch.int64).reshape(-1, 2)
    weights = torch.arange(len(arcs)).float() % 4 if draw(st.booleans()) else None
    return tg.Graph.from_edges(arcs[:, 0], arcs[:, 1], weights, num_vertices=n, directed=draw(st.booleans()))


@settings(settings(), max_examples=settings().max_examples // 6, database=None)
@given(small_graphs(), st.sampled_from(METHODS), st.integers(0, 11))
def test_programs_are_equal_on_random_graphs(graph: tg.Graph, method: str, source: int):
    nothing_is_wrong(3, differences, graph, method, source % graph.num_vertices)


def twice() -> Tensor:
    graph = spread(edges(700, 5000, True, False, 5), method="wcp")
    return torch.stack([gather(graph, tg.algorithms.pagerank(graph)) for _ in range(2)])


def test_sums_have_the_same_bits_in_every_run():
    first, second = on_ranks(2, twice), on_ranks(2, twice)
    assert all(torch.equal(ranks, first[0][:1].expand(2, -1)) for ranks in (*first, *second))
