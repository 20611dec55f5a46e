"""Sweeps: levels by a sort, sums level by level against plain Python, native against portable to the last bit."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, grid, on_threads, random_graph, refused_naming, thread_count

import tgraph as tg
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.primitives.centrality.level_accumulate import levels, sweep

BACKENDS = ["portable", "native"] if native.load() else ["portable"]
needs_native = pytest.mark.skipif(len(BACKENDS) == 1, reason="the compiled kernels are not installed")


def depths(graph, sources):
    return torch.stack([tg.algorithms.bfs(graph, source) for source in sources])


def swept(graph, depth, bias, descending):
    """One search by plain Python: neighbours one level before are summed, each once."""
    deepest = max(depth)
    values = [0.0] * graph.num_vertices
    step = 1 if descending else -1
    for level in range(deepest, -1, -1) if descending else range(deepest + 1):
        for v in range(graph.num_vertices):
            if depth[v] == level:
                begin, end = graph.offset[v : v + 2].tolist()
                near = [u for u in sorted(set(graph.neighbors[begin:end].tolist())) if depth[u] == level + step]
                values[v] = bias[v] + sum(values[u] for u in near if depth[u] >= 0)
    return values


@pytest.mark.parametrize("backend", BACKENDS)
@given(depth=st.lists(st.integers(-1, 6), max_size=30))
def test_levels_are_a_stable_sort(backend, depth):
    for dtype in (torch.int32, torch.int64):
        order, offset = levels(torch.tensor(depth, dtype=dtype), backend="auto" if backend == "native" else backend)
        expected = sorted((i for i, d in enumerate(depth) if d >= 0), key=lambda i: (depth[i], i))
        assert order.tolist() == expected
        assert offset.tolist() == [sum(0 <= d < level for d in depth) for level in range(max([-1, *depth]) + 2)]


@pytest.mark.parametrize("backend", BACKENDS)
@given(graph=graphs(min_vertices=1), data=st.data())
def test_a_sweep_sums_level_by_level(backend, graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=3))
    depth = depths(graph, sources)
    order, offset = levels(depth, backend=backend)
    numbers = st.lists(st.integers(0, 9), min_size=graph.num_vertices, max_size=graph.num_vertices)
    bias = torch.tensor([data.draw(numbers) for _ in sources], dtype=torch.float64) / 4
    for rows, descending in ((graph.transpose(), False), (graph, True)):
        found = sweep(rows, order, offset, bias, descending=descending, backend=backend)
        expected = [swept(rows, *one, descending) for one in zip(depth.tolist(), bias.tolist(), strict=True)]
        assert found.tolist() == expected
        one = sweep(rows, *levels(depth[0]), bias[0], descending=descending, backend=backend)
        assert one.tolist() == expected[0]


@pytest.mark.covering(1)
@needs_native
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("shape", ["random", "dense", "grid", "star", "path"])
def test_native_equals_portable_to_the_last_bit(shape, directed):
    """Graphs with levels that a team shares, by pulls and by pushes, and long rows of small ones."""
    graph = {
        "random": lambda: random_graph(20_000, 150_000, directed=directed),
        "dense": lambda: random_graph(700, 200_000, directed=directed),
        "grid": lambda: grid(60, 70),
        "star": lambda: tg.Graph.from_edges([0] * 60_000, range(60_000), directed=directed),
        "path": lambda: tg.Graph.from_edges(range(300), range(1, 301), directed=directed),
    }[shape]()
    generator = torch.Generator().manual_seed(3)
    for sources in ([0], [0, 5, 1, 299]):
        depth = depths(graph, sources)
        order, offset = levels(depth)
        assert [torch.equal(a, b) for a, b in zip(levels(depth, backend="portable"), (order, offset), strict=True)]
        bias = torch.rand(depth.shape, generator=generator, dtype=torch.float64)
        for rows, descending in ((graph.transpose(), False), (graph, True)):
            reference = sweep(rows, order, offset, bias, descending=descending, backend="portable")
            for count in (1, 2, 3):
                with thread_count(count):
                    found = sweep(rows, order, offset, bias, descending=descending, backend="native")
                assert torch.equal(reference, found)


@needs_native
def test_levels_by_several_threads():
    depth = torch.randint(-1, 9, (200_000,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    for found in on_threads(lambda: levels(depth, backend="native")):
        assert all(map(torch.equal, found, levels(depth, backend="portable")))


def test_values_in_another_dtype_are_served_by_the_portable_backend():
    graph = grid(3, 4)
    order, offset = levels(depths(graph, [0]))
    bias = torch.zeros(12)
    bias[0] = 1
    assert sweep(graph, order, offset, bias).tolist() == [1, 1, 1, 1, 1, 2, 3, 4, 1, 3, 6, 10]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bias": torch.zeros(3, dtype=torch.int64)}, ("bias", "int64", "float64")),
        ({"bias": torch.zeros(4)}, ("bias", "[3]", "[4]")),
        ({"order": torch.tensor([0.0])}, ("order", "float32")),
        ({"order": torch.tensor([0, 1, 3])}, ("order", "3", "2")),
        ({"order": torch.tensor([-1, 1, 2])}, ("order", "-1")),
        ({"level_offset": torch.tensor([0, 4])}, ("level_offset", "0..3")),
        ({"level_offset": torch.tensor([0, 2, 1])}, ("level_offset", "ascend")),
        ({"level_offset": torch.tensor([], dtype=torch.int64)}, ("level_offset",)),
        ({"order": torch.tensor([0, 2, 1]), "level_offset": torch.tensor([0, 1, 3])}, ("1 at position 2", "sort")),
        ({"order": torch.tensor([0, 1, 1]), "level_offset": torch.tensor([0, 1, 3])}, ("1 at position 2", "sort")),
    ],
)
def test_arguments_that_do_not_fit(change, words):
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    arguments = {"order": torch.tensor([0, 1, 2]), "level_offset": torch.tensor([0, 1, 2, 3]), "bias": torch.zeros(3)}
    refused_naming(words, sweep, graph, **{**arguments, **change})


def test_depths_that_are_no_integers():
    with pytest.raises(ArgumentError, match="float32"):
        levels(torch.zeros(3))
