"""Products of matrices against dense ones over each semiring, and the kernels against each other."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import EDGE, arcs, graphs, grid, random_graph, thread_count

import tgraph as tg
from tgraph.core.system import native
from tgraph.model import multiply as module

PAIRS = list(itertools.product(("sum", "min", "max", "prod", "any"), ("mul", "add", "copy", "min", "max")))
REDUCE = {"sum": lambda x, y: x + y, "prod": lambda x, y: x * y, "min": min, "max": max, "any": lambda x, y: None}
DTYPES = (None, torch.int64, torch.int32, torch.float32, torch.float64)


def by_definition(a, b, reduce, edge, keeps=lambda i, j: True):
    """{(i, j): value} by all pairs of arcs that meet."""
    found = {}
    leaving = {}
    for k, j, w in arcs(b):
        leaving.setdefault(k, []).append((j, w))
    for i, k, w in arcs(a):
        for j, v in leaving.get(k, ()):
            if keeps(i, j):
                term = EDGE[edge](v, w)
                found[i, j] = REDUCE[reduce](found[i, j], term) if (i, j) in found else term
    return dict.fromkeys(found) if reduce == "any" else found


def entries(graph, reduce):
    return {(u, v): None if reduce == "any" else w for u, v, w in arcs(graph)}


@st.composite
def operands(draw):
    """Two matrices of the same size, and a mask."""
    a = draw(graphs(min_vertices=1, dtypes=DTYPES))
    n = a.num_vertices
    others = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20)
    pairs = draw(others), draw(others)
    b, mask = (tg.Graph.from_edges(*([p[i] for p in pair] for i in (0, 1)), num_vertices=n) for pair in pairs)
    weights = draw(st.sampled_from([None, torch.arange(b.num_arcs) % 5 - 1.0]))
    return a, draw(st.sampled_from([a, tg.Graph(b.offset, b.neighbors, weights)])), mask


def nearly(expected):
    """Floats may be rounded in another order."""
    floating = any(isinstance(value, float) for value in expected.values())
    return pytest.approx(expected, rel=1e-5, abs=1e-6, nan_ok=True) if floating else expected


@given(operands(), st.sampled_from(PAIRS))
def test_products_follow_the_definition(matrices, semiring):
    a, b, mask = matrices
    edges = {(u, v) for u, v, _ in arcs(mask)}
    unmasked = by_definition(a, b, *semiring)
    if any(isinstance(value, int) and abs(value) >= 2**63 for value in unmasked.values()):  # of parallel arcs
        for name in ("auto", "portable"):
            with pytest.raises(tg.errors.ArgumentError, match="may not fit int64"):
                tg.multiply(a, b, *semiring, backend=name)
        return
    for name in ("auto", "portable"):
        product = tg.multiply(a, b, *semiring, backend=name)
        product.validate()
        assert entries(product, semiring[0]) == nearly(unmasked)
        for complement in (False, True):
            product = tg.multiply(a, b, *semiring, mask=mask, complement=complement, backend=name)
            expected = by_definition(a, b, *semiring, lambda i, j, c=complement: ((i, j) in edges) != c)
            assert entries(product, semiring[0]) == nearly(expected)


@given(operands(), st.sampled_from(PAIRS))
def test_masked_products_by_pairs(matrices, semiring):
    a, b, mask = (graph.to_csr() for graph in matrices)
    a, b = (tg.Graph(*tg.core.building.sorting.merge_parallel(g.offset, g.neighbors, g.weights, "max")) for g in (a, b))
    edges = {(u, v) for u, v, _ in arcs(mask)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TERMS_PER_STEP", 0)
        for name in ("auto", "portable"):
            product = tg.multiply(a, b, *semiring, mask=mask, backend=name)
            assert entries(product, semiring[0]) == nearly(by_definition(a, b, *semiring, lambda i, j: (i, j) in edges))


def assert_same(first, second):
    assert torch.equal(first.offset, second.offset) and torch.equal(first.neighbors, second.neighbors)
    if first.weights is not None or second.weights is not None:
        assert torch.equal(first.weights, second.weights)


LARGE = {
    "hubs": lambda: random_graph(300, 4000, seed=1, dtype=torch.float64),
    "long rows": lambda: tg.generators.rmat(8, 20, seed=2, weighted=True),
    "sparse": lambda: random_graph(5_000, 10_000, seed=3),
    "short rows": lambda: grid(40, 50, torch.float32),
}


@pytest.mark.covering(1)
@pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("semiring", [("sum", "mul"), ("min", "add"), ("any", "copy")])
def test_kernels_agree_on_any_number_of_threads(name, semiring, monkeypatch):
    graph = LARGE[name]()
    mask = graph if name != "sparse" else tg.multiply(graph, graph, "any")
    for options in ({}, {"mask": mask}, {"mask": mask, "complement": True}):
        expected = tg.multiply(graph, graph, *semiring, backend="portable", **options)
        for count in (1, 2):
            with thread_count(count):
                assert_same(tg.multiply(graph, graph, *semiring, **options), expected)
    simple = graph.to_undirected()
    monkeypatch.setattr(module, "TERMS_PER_STEP", 0)
    by_pairs = tg.multiply(simple, simple, *semiring, mask=simple)
    monkeypatch.setattr(module, "TERMS_PER_STEP", 1e9)
    assert_same(by_pairs, tg.multiply(simple, simple, *semiring, mask=simple))


def test_portable_products_in_many_parts(monkeypatch):
    graph = random_graph(60, 500, seed=5, dtype=torch.int64)
    whole = tg.multiply(graph, graph, backend="portable")
    monkeypatch.setattr("tgraph.kernels.operators.algebra.spgemm.TERMS", 50)
    assert_same(tg.multiply(graph, graph, backend="portable"), whole)


@given(graphs(dtypes=(None, torch.int64, torch.float32)))
def test_products_with_tensors(graph):
    n = graph.num_vertices
    dense = torch.zeros(n, n, dtype=torch.float64)
    for u, v, w in arcs(graph):
        dense[u, v] += w
    data = torch.arange(3.0 * n, dtype=torch.float64).view(n, 3) + 1
    assert torch.allclose(tg.multiply(graph, data), dense @ data)
    assert torch.allclose(tg.multiply(graph, data[:, 0]), dense @ data[:, 0])
    wanted = torch.arange(n) % 2 == 0
    found = tg.multiply(graph, data, "min", "add", mask=wanted)
    assert torch.equal(found[wanted], tg.multiply(graph, data, "min", "add")[wanted])
    assert (found[~wanted] == torch.inf).all()


def test_squares_of_undirected_graphs_are_undirected():
    path = tg.Graph.from_edges([0, 1], [1, 2], directed=False)
    square = tg.multiply(path, path)
    assert not square.directed and arcs(square) == [(0, 0, 1), (0, 2, 1), (1, 1, 2), (2, 0, 1), (2, 2, 1)]
    assert tg.multiply(path, path, edge="copy").directed
    assert tg.multiply(path, path, mask=path).num_arcs == 0


def test_layouts_and_narrow_weights():
    graph = random_graph(50, 400, seed=7)
    assert_same(tg.multiply(graph.to_format("virtual"), graph, mask=graph), tg.multiply(graph, graph, mask=graph))
    halves = tg.Graph(graph.offset, graph.neighbors, torch.ones(graph.num_arcs, dtype=torch.float16))
    assert tg.multiply(halves, halves).weights.dtype == torch.float16
    bytes_ = tg.Graph(graph.offset, graph.neighbors, torch.full((graph.num_arcs,), 100, dtype=torch.int8))
    assert tg.multiply(bytes_, bytes_).weights.max() >= 10_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reduce": "mean"}, "reduce: 'mean' is not one of 'sum'"),
        ({"edge": "sub"}, "edge: 'sub'"),
        ({"mask": torch.ones(3, dtype=torch.bool)}, "mask: the product of two graphs takes a Graph"),
        ({"mask": tg.Graph.from_edges([0], [1], num_vertices=9)}, "mask: a matrix of 9 vertices does not fit one of 3"),
        ({"b": tg.Graph.from_edges([0], [1])}, "b: a matrix of 2 vertices"),
        ({"b": torch.ones(3), "mask": torch.ones(3)}, "mask: the product with a tensor takes"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(tg.errors.ArgumentError, match=message.replace("(", r"\(")):
        tg.multiply(graph, **{"b": graph} | options)


def test_the_smallest_matrices(backend):
    for n in (0, 1, 2):
        graph = tg.Graph.from_edges([], [], num_vertices=n)
        for options in ({}, {"mask": graph}, {"mask": graph, "complement": True}):
            assert tg.multiply(graph, graph, backend=backend, **options).num_arcs == 0


@pytest.mark.parametrize("reduce", ["sum", "prod"])
def test_parallel_arcs_of_both_count(reduce):
    loops = tg.Graph.from_edges([0] * 8, [0] * 8, torch.full((8,), 2**29 if reduce == "sum" else 1), multi="keep")
    with pytest.raises(tg.errors.ArgumentError, match="may not fit int64"):
        tg.multiply(loops, loops, reduce, "mul" if reduce == "sum" else "add")
