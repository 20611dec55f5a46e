"""Partitions: every arc in one part, an order that is a permutation, bounds of size, few arcs cut, no chance."""

import itertools
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import arcs, graphs, grid, random_graph, thread_count

import tgraph as tg
from tgraph.errors import ArgumentError, MissingDependencyError
from tgraph.stream.partitioning.cuts import METHODS, by_metis, edge_balanced, partition, well_connected
from tgraph.stream.partitioning.parts import Parts

EVERY = pytest.mark.parametrize("method", METHODS)
COUNTS = st.sampled_from([1, 2, 3, 7, 64])


def shuffled(graph):
    """The graph in a random order, as if it had never had another."""
    order = torch.randperm(graph.num_vertices, generator=torch.Generator().manual_seed(0))
    mixed = graph.permute(order)
    return tg.Graph(mixed.offset, mixed.neighbors, mixed.weights, directed=graph.directed)


def star(leaves):
    return tg.Graph.from_edges([0] * leaves, range(1, leaves + 1), directed=False)


def contents(graph, parts):
    """The arcs of each part as [[(u, v, weight)]] by the original vertices, read off row by row."""
    held = parts.apply(graph)
    order = list(range(graph.num_vertices)) if parts.order is None else parts.order.tolist()
    named = [(order[u], order[v], weight) for u, v, weight in arcs(held)]
    bounds = parts.bounds.tolist()
    return [named[begin:end] for begin, end in itertools.pairwise(bounds)]


def slow_cut(graph, parts):
    """Arcs in a part whose target's first arc lies in another, found block by block."""
    held = parts.apply(graph)
    offset, bounds = held.offset.tolist(), parts.bounds.tolist()
    home = []
    for v in range(held.num_vertices):
        found = [i for i in range(len(parts)) if bounds[i] <= offset[v] < bounds[i + 1]]
        home.append(found[0] if found else len(parts) - 1)
    between = [[0] * len(parts) for _ in range(len(parts))]
    for position, (_, v, _) in enumerate(arcs(held)):
        part = next(i for i in range(len(parts)) if bounds[i] <= position < bounds[i + 1])
        between[part][home[v]] += 1
    return home, between


# ---- all methods --------------------------------------------------------------------------------------------------


@EVERY
@given(graph=graphs(dtypes=(None, torch.int64)), count=COUNTS)
def test_every_arc_is_in_one_part(method, graph, count):
    parts = partition(graph, count, method)
    assert len(parts) == count and parts.bounds.dtype == torch.int64
    if parts.order is not None:
        assert sorted(parts.order.tolist()) == list(range(graph.num_vertices))
    blocks = contents(graph, parts)
    assert sorted(itertools.chain(*blocks)) == sorted(arcs(graph))
    assert parts.sizes.tolist() == [len(block) for block in blocks]
    assert 1 <= parts.balance <= count


@EVERY
@given(graph=graphs(), count=COUNTS)
def test_cut_is_that_of_a_slow_count(method, graph, count):
    parts = partition(graph, count, method)
    held = parts.apply(graph)
    home, between = slow_cut(graph, parts)
    assert parts.part_of(held).tolist() == home
    assert parts.arcs_between(held).tolist() == between
    cut = graph.num_arcs - sum(between[i][i] for i in range(count))
    assert parts.cut(held) == (cut, cut / max(graph.num_arcs, 1))


@pytest.mark.covering(1)
@EVERY
@pytest.mark.parametrize("directed", [False, True])
def test_no_chance_and_no_threads(method, directed):
    graph = random_graph(600, 3000, directed=directed)
    first = partition(graph, 7, method, seed=5)
    with thread_count(2):
        again = partition(graph, 7, method, seed=5)
    assert torch.equal(first.bounds, again.bounds)
    assert (first.order is None) == (again.order is None)
    assert first.order is None or torch.equal(first.order, again.order)


@EVERY
@pytest.mark.parametrize("count", [1, 2, 64])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_without_arcs(method, count, n):
    parts = partition(tg.Graph.from_edges([], [], num_vertices=n), count, method)
    assert parts.order is None and parts.bounds.tolist() == [0] * (count + 1) and parts.balance == 1
    assert parts.cut(parts.apply(tg.Graph.from_edges([], [], num_vertices=n))) == (0, 0)


@EVERY
def test_one_part_is_the_graph_itself(method):
    graph = random_graph(50, 200)
    parts = partition(graph, 1, method)
    assert parts.apply(graph) is graph and parts.bounds.tolist() == [0, 200] and parts.cut(graph) == (0, 0)


@EVERY
def test_vertices_without_arcs_at_both_ends(method):
    graph = tg.Graph.from_edges([3, 4, 5, 6], [4, 5, 6, 3], num_vertices=11)
    parts = partition(graph, 2, method)
    assert parts.sizes.sum() == 4 and parts.part_of(parts.apply(graph)).max() < 2


@EVERY
def test_results_come_back_in_the_order_of_the_graph(method):
    graph = shuffled(grid(20, 20))
    held = partition(graph, 5, method).apply(graph)
    depth = tg.algorithms.bfs(held, held.index(7))
    assert torch.equal(held.restore(depth), tg.algorithms.bfs(graph, 7))


# ---- edge-balanced ------------------------------------------------------------------------------------------------


@settings(max_examples=7 * settings().max_examples)
@given(graph=graphs(), count=st.integers(1, 40))
def test_edge_balanced_splits_only_rows_that_are_larger_than_a_part(graph, count):
    parts = edge_balanced(graph, count)
    m, offset = graph.num_arcs, graph.offset.tolist()
    assert parts.order is None
    assert int(parts.sizes.max()) <= 2 * -(-m // count)
    for bound in parts.bounds.tolist():
        if bound not in offset:
            row = max(v for v in range(graph.num_vertices) if offset[v] < bound)
            assert offset[row + 1] - offset[row] > m / count


def test_edge_balanced_leaves_no_part_empty_where_the_paper_does():
    ring = tg.Graph.from_edges(range(8), [*range(1, 8), 0])
    assert edge_balanced(ring, 4).sizes.tolist() == [2, 2, 2, 2]  # stretches of 8 / 4 + 1 arcs are 3, 3, 2, 0
    assert edge_balanced(ring, 5).sizes.max() == 2


def test_edge_balanced_takes_the_nearest_row():
    graph = tg.Graph.from_csr([0, 4, 5, 10], [0] * 10)
    assert edge_balanced(graph, 2).bounds.tolist() == [0, 5, 10]
    assert edge_balanced(graph, 3).bounds.tolist() == [0, 4, 6, 10]  # the last row is larger than 10 / 3


# ---- well-connected -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 5, 16])
@pytest.mark.parametrize("seed", [0, 1])
def test_well_connected_cuts_little_of_a_grid(count, seed):
    graph = shuffled(grid(60, 60))
    parts, stretches = well_connected(graph, count, seed), edge_balanced(graph, count)
    assert parts.balance <= 1.06  # a row of 4 arcs more than the 1.05 of the mean
    assert parts.cut(parts.apply(graph))[0] * 5 < stretches.cut(graph)[0]


@pytest.mark.parametrize("graph", [grid(40, 40), random_graph(500, 4000, directed=False)])
def test_well_connected_cuts_no_more_than_the_given_order_does(graph):
    parts = well_connected(graph, 4)
    assert parts.cut(parts.apply(graph))[0] <= edge_balanced(graph, 4).cut(graph)[0]


def test_communities_are_found():
    random = torch.Generator().manual_seed(0)
    src, dst = torch.randint(0, 50, (2, 8 * 1000), generator=random)
    community = torch.arange(8).repeat_interleave(1000) * 50
    graph = shuffled(tg.Graph.from_edges(src + community, dst + community, num_vertices=400, directed=False))
    parts = well_connected(graph, 8)
    held = parts.apply(graph)
    assert parts.cut(held)[1] < 0.1
    assert parts.balance < 1.06


def test_self_loops_alone_are_shared_out():
    graph = tg.Graph.from_edges(range(20), range(20), num_vertices=25)
    parts = well_connected(graph, 4)
    assert parts.sizes.tolist() == [5, 5, 5, 5] and parts.cut(parts.apply(graph)) == (0, 0)


def test_components_smaller_than_a_part_are_not_cut():
    rings = torch.arange(64).view(16, 4)
    graph = shuffled(tg.Graph.from_edges(rings.flatten(), rings.roll(1, 1).flatten(), directed=False))
    parts = well_connected(graph, 4)
    assert parts.cut(parts.apply(graph)) == (0, 0) and parts.balance == 1


@pytest.mark.parametrize("count", [2, 7, 64])
@pytest.mark.parametrize("method", ["ebp", "wcp"])
def test_a_hub_is_split(count, method):
    graph = shuffled(star(1000))
    parts = partition(graph, count, method)
    held = parts.apply(graph)
    hub = int(held.out_degree.argmax())
    inside = (parts.bounds > held.offset[hub]) & (parts.bounds < held.offset[hub + 1])
    assert int(inside.sum()) >= (count - 1) // 2
    assert parts.balance <= {2: 1.5, 7: 1.06, 64: 1.1}[count]


def test_vertices_keep_their_order_within_a_part():
    graph = shuffled(grid(30, 30))
    parts = well_connected(graph, 5)
    home = parts.part_of(parts.apply(graph))
    for part in range(5):
        assert bool((parts.order[home == part].diff() > 0).all())


def test_another_seed_gives_another_partition():
    graph = shuffled(grid(30, 30))
    assert not torch.equal(well_connected(graph, 5, 0).order, well_connected(graph, 5, 1).order)


@given(graph=graphs(), count=COUNTS, seed=st.integers(0, 3))
def test_well_connected_parts_are_no_larger_than_twice_the_mean(graph, count, seed):
    mean = -(-graph.num_arcs // count)
    assert int(well_connected(graph, count, seed).sizes.max()) <= 2 * mean


# ---- METIS, faults ------------------------------------------------------------------------------------------------


def test_metis_parts_are_whole_rows_of_few_cuts():
    graph = shuffled(grid(60, 60))
    parts = by_metis(graph, 5)
    held = parts.apply(graph)
    assert set(parts.bounds.tolist()) <= set(held.offset.tolist())
    assert parts.balance < 1.1 and parts.cut(held)[0] * 10 < edge_balanced(graph, 5).cut(graph)[0]


def test_metis_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(MissingDependencyError, match=r"by_metis needs the package pymetis.*tgraph\[metis\]"):
        by_metis(random_graph(5, 5), 2)


@EVERY
@pytest.mark.parametrize(("count", "message"), [(0, "1 or more, got 0"), (-1, "negative"), (1.5, "integer, got 1.5")])
def test_a_number_of_parts_that_is_none(method, count, message):
    with pytest.raises(ArgumentError, match=f"parts: .*{message}"):
        partition(random_graph(5, 5), count, method)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda graph: partition(graph, 2, "random"), "method: 'random' is not one of 'ebp', 'wcp', 'metis'"),
        (lambda graph: edge_balanced(graph, 2).apply(random_graph(5, 6)), "graph: has 6 arcs, these parts 5"),
        (lambda graph: edge_balanced(graph, 2).cut(random_graph(5, 6)), "graph: has 6 arcs, these parts 5"),
        (lambda graph: Parts(None, torch.tensor([0, 3, 2])), "bounds: they must begin with 0 and never decrease"),
        (lambda graph: Parts(None, torch.tensor([1, 3])), "bounds: they must begin with 0 and never decrease"),
        (lambda graph: Parts(None, torch.tensor([0])), r"bounds: expected int64 \[parts \+ 1\], got torch.int64 \[1\]"),
        (lambda graph: Parts(None, torch.tensor([0.0, 1.0])), "bounds: expected int64"),
    ],
)
def test_faults(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(random_graph(5, 5))
