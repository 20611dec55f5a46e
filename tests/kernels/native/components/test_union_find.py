"""Union-find: the portable twin against a plain one, the native against the portable, whatever the threads."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graph, refused_naming, thread_count

import tgraph as tg
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.primitives.union_find import frequent, join, outside

BACKENDS = ["portable", "native"] if native.load() else ["portable"]


def rows_of(graph, rows=None, width=None, backend="auto"):
    selection = tg.neighbor_select(graph, rows, width=width)
    sub = tg.reconstruct(graph, graph.everything(), rows, selection)
    sub.backend = backend
    return sub


def joined(graph, label, rows, width):
    """The labels by a union-find over the arcs one at a time."""
    label = list(label)

    def root(v):
        while label[v] != v:
            v = label[v]
        return v

    offset, neighbors = graph.offset.tolist(), graph.neighbors.tolist()
    for row in range(graph.num_vertices) if rows is None else rows:
        for u in neighbors[offset[row] : offset[row + 1]][:width]:
            low, high = sorted((root(row), root(u)))
            label[high] = low
    return [root(v) for v in range(graph.num_vertices)]


@pytest.mark.parametrize("backend", BACKENDS)
@given(graph=graphs(), data=st.data())
def test_join_equals_a_plain_union_find(backend, graph, data):
    n = graph.num_vertices
    chosen = st.none() if n == 0 else st.none() | st.lists(st.integers(0, n - 1), max_size=5)
    rows, width = data.draw(chosen), data.draw(st.none() | st.integers(0, 3))
    label = [data.draw(st.integers(0, v)) for v in range(n)]
    for dtype in (torch.int32, torch.int64):
        given_label = torch.tensor(label, dtype=dtype)
        selected = None if rows is None else torch.tensor(rows, dtype=torch.int64)
        found = join(rows_of(graph, selected, width, backend), given_label)
        assert found is given_label and found.tolist() == joined(graph, label, rows, width)


@pytest.mark.skipif(len(BACKENDS) == 1, reason="the compiled kernels are not installed")
@pytest.mark.parametrize("shape", ["random", "sparse", "path", "star", "joined late"])
def test_native_equals_portable_on_graphs_that_threads_share(shape):
    n = 40_000
    order = torch.randperm(n, generator=torch.Generator().manual_seed(1))
    graph = {
        "random": lambda: random_graph(n, 200_000),
        "sparse": lambda: random_graph(n, 24_000),
        "path": lambda: tg.Graph.from_edges(order[:-1], order[1:], directed=False),
        "star": lambda: tg.Graph.from_edges(order[:1].expand(n), order, directed=False),
        "joined late": lambda: tg.Graph.from_edges(*last_of_cliques_in_twos(), num_vertices=n, directed=False),
    }[shape]()
    some = torch.arange(0, n, 3)
    for rows, width in ((None, 2), (None, None), (some, None), (some, 1)):
        expected = steps(graph, rows, width, "portable")
        for count in (1, 2, 3):
            with thread_count(count):
                found = steps(graph, rows, width, "native")
            for one, other in zip(found, expected, strict=True):
                assert torch.equal(one, other)


def last_of_cliques_in_twos():
    """Edges of cliques of ten vertices, of which every two are joined by their last ones: none of the first arcs."""
    ends = torch.combinations(torch.arange(10)).T
    last = torch.arange(9, 20_000, 20)
    return torch.cat(
        [(ends[:, None] + torch.arange(0, 20_000, 10)[:, None]).flatten(1), torch.stack([last, last + 10])], 1
    )


def steps(graph, rows, width, backend):
    """The labels joined along some arcs, and the vertices outside the largest tree, with and without a width."""
    label = join(rows_of(graph, rows, width, backend), torch.arange(graph.num_vertices, dtype=torch.int32))
    sub = rows_of(graph, None, 2, backend)
    return label, outside(sub, label).ids, outside(sub, label, 2).ids


@pytest.mark.parametrize("backend", BACKENDS)
@given(graph=graphs(min_vertices=1), width=st.none() | st.integers(0, 3))
def test_outside_leaves_out_the_largest_tree(backend, graph, width):
    sub = rows_of(graph, None, None, backend)
    label = join(sub, torch.arange(graph.num_vertices))
    largest, degree = frequent(label), graph.out_degree.tolist()
    expected = [v for v, root in enumerate(label.tolist()) if root != largest and (width is None or degree[v] > width)]
    assert outside(sub, label, width).ids.tolist() == expected


@pytest.mark.parametrize(("label", "expected"), [([0], 0), ([0, 1, 1], 1), ([0, 1, 1, 0], 0), ([0, 1, 2, 3, 3], 3)])
def test_the_most_frequent_label_of_every_vertex_and_the_least_of_equals(label, expected):
    assert frequent(torch.tensor(label)) == expected


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("label", "words"),
    [
        (torch.zeros(3), ("int32", "float32")),
        (torch.zeros(2, dtype=torch.int64), ("[3]", "[2]")),
        (torch.tensor([0, 2, 1]), ("2 at position 1", "0..1")),
        (torch.tensor([0, 0, -5], dtype=torch.int32), ("-5 at position 2",)),
        (torch.tensor([0, 0, 2**31 - 1], dtype=torch.int32), ("position 2",)),
        ([0, 0, 0], ("list",)),
    ],
)
def test_labels_that_are_no_forest(backend, label, words):
    refused_naming(words, join, rows_of(tg.Graph.from_edges([0, 1], [1, 2]), backend=backend), label)


def test_rows_that_are_no_vertices():
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(ArgumentError, match="3 at position 1 is no vertex index"):
        join(rows_of(graph, torch.tensor([0, 3])), torch.arange(3))


def test_no_vertices():
    graph = tg.Graph.from_edges([], [])
    label = torch.arange(0)
    assert join(rows_of(graph), label).tolist() == [] and len(outside(rows_of(graph), label)) == 0
