"""PageRank against networkx and against the solution of the linear system."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    BACKENDS,
    FLOATS,
    INTEGERS,
    arcs,
    close,
    dense,
    graphs,
    random_graph,
    refused,
    refused_naming,
    same_on_threads,
    twin,
)

import tgraph as tg
from tgraph.algorithms import HITS, PageRank, PlainPageRank, pagerank
from tgraph.core.system import native
from tgraph.errors import ArgumentError, NotConvergedError

TIGHT = {"tol": 1e-13, "max_iterations": 1000, "dtype": torch.float64}


def solved(graph, damping=0.85, jump=None, redistribute=True, weighted=False):
    """The ranks from the linear system (I - d (P + dangling jump^T)^T) rank = (1 - d) jump."""
    n, follow = graph.num_vertices, dense(graph, weighted)
    jump = np.full(n, 1 / n) if jump is None else np.asarray(jump, dtype=float) / np.sum(jump)
    leaving = follow.sum(1)
    follow[leaving > 0] /= leaving[leaving > 0, None]
    if redistribute:
        follow[leaving == 0] = jump
    return np.linalg.solve(np.eye(n) - damping * follow.T, (1 - damping) * jump)


@given(graphs())
def test_the_program_of_the_paper(graph):
    for backend in BACKENDS:
        found = tg.run(PlainPageRank(), graph, backend=backend).values
        assert torch.allclose(found, pagerank(graph), atol=1e-4)  # float32, to a tolerance of 1e-5


@pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
def test_the_program_of_the_paper_is_one_pass_over_the_arcs():
    graph = tg.generators.grid2d(300, 300)
    run = tg.run(PlainPageRank(), graph, trace=True)
    assert [choice.split(":")[0] for choice in run.trace.choices] == ["affine_step"]
    assert torch.allclose(run.values, pagerank(graph, tol=PlainPageRank.tolerance), rtol=1e-4)


@settings(max_examples=15)
@given(graphs(min_vertices=1), st.sampled_from([0.0, 0.5, 0.85, 0.99]))
def test_ranks_solve_the_equations(graph, damping):
    options = {**TIGHT, "max_iterations": 10_000, "damping": damping}
    for backend, method in itertools.product(BACKENDS, PageRank.METHODS):
        found = pagerank(graph, backend=backend, method=method, **options)
        assert found.dtype == torch.float64
        assert close(found.tolist(), solved(graph, damping), 1e-10)
        assert math.isclose(float(found.sum()), 1)
        ignoring = pagerank(graph, dangling="ignore", backend=backend, method=method, **options)
        assert close(ignoring.tolist(), solved(graph, damping, redistribute=False), 1e-10)


@given(graphs(min_vertices=1), st.data())
def test_personalization_equals_networkx(graph, data):
    jump = data.draw(st.lists(st.integers(0, 3), min_size=graph.num_vertices, max_size=graph.num_vertices).filter(any))
    expected = nx.pagerank(twin(graph), personalization=dict(enumerate(jump)), weight=None, tol=1e-15, max_iter=10_000)
    found = pagerank(graph, personalization=torch.tensor(jump), **TIGHT)
    assert close(found.tolist(), expected.values(), 1e-10)
    named = tg.Graph(graph.offset, graph.neighbors, vertices=[f"v{i}" for i in range(graph.num_vertices)])
    chosen = {f"v{i}": weight for i, weight in enumerate(jump) if weight}
    assert torch.equal(pagerank(named, personalization=chosen, **TIGHT), found)


@given(graphs(min_vertices=1, dtypes=(*INTEGERS, *FLOATS)))
@settings(max_examples=15)
def test_weighted(graph):
    expected = solved(graph, weighted=True)
    for backend, method in itertools.product(BACKENDS, PageRank.METHODS):
        found = pagerank(graph, weighted=True, backend=backend, method=method, **TIGHT)
        assert found.dtype == torch.float64 and close(found.tolist(), expected, 1e-10)


@pytest.mark.parametrize("weights", [None, *INTEGERS, *FLOATS])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ranks_are_kept_in_the_dtype_asked_for(weights, dtype):
    graph = random_graph(20, 60, dtype=weights)
    found = pagerank(graph, weighted=weights is not None, dtype=dtype)
    assert found.dtype == dtype
    assert close(found.tolist(), solved(graph, weighted=weights is not None), 1e-5)


def test_weighted_without_weights():
    with pytest.raises(ArgumentError, match="weights"):
        pagerank(random_graph(5, 9), weighted=True)


@pytest.mark.parametrize("rounds", [0, 1, 2, 7])
def test_a_fixed_number_of_rounds(rounds, backend):
    graph = random_graph(30, 90)
    n, rank = graph.num_vertices, np.full(graph.num_vertices, 1 / graph.num_vertices)
    degree = np.diff(graph.offset.numpy())
    for _ in range(rounds):
        received = np.zeros(n)
        for u, v, _ in arcs(graph):
            received[v] += rank[u] / degree[u]
        rank = 0.15 / n + 0.85 * (received + rank[degree == 0].sum() / n)
    run = tg.run(PageRank(tol=None, max_iterations=rounds, dtype=torch.float64), graph, backend=backend)
    assert run.iterations == rounds and run.converged
    assert close(run.values.tolist(), rank, 1e-14)


def test_the_tolerance_is_the_l1_change_of_the_last_iteration():
    graph = random_graph(50, 200)
    run = tg.run(PageRank(tol=1e-4, dtype=torch.float64), graph)
    ranks = [
        tg.run(PageRank(tol=None, max_iterations=k, dtype=torch.float64), graph).values
        for k in range(run.iterations + 1)
    ]
    change = [float((b - a).abs().sum()) for a, b in itertools.pairwise(ranks)]
    assert change[-1] <= 1e-4 < change[-2]
    assert math.isclose(run.residual, change[-1], rel_tol=1e-9)


def test_not_converged_carries_the_ranks_so_far():
    graph = random_graph(50, 200)
    with pytest.raises(NotConvergedError) as caught:
        pagerank(graph, tol=1e-12, max_iterations=3, dtype=torch.float64)
    error = caught.value
    assert torch.equal(error.run.values, pagerank(graph, tol=None, max_iterations=3, dtype=torch.float64))
    assert error.run.iterations == 3 and not error.run.converged
    assert error.residual == error.run.residual > 1e-12
    for word in ("PageRank", "3 iterations", "max_iterations", "tolerance"):
        assert word in str(error), error


@pytest.mark.parametrize("algorithm", [pagerank, tg.algorithms.hits])
def test_gradients_flow_through_the_weights(algorithm, backend):
    graph = random_graph(8, 24, dtype=torch.float64)

    def scores(weights):
        weighted = tg.Graph(graph.offset, graph.neighbors, weights)
        return algorithm(weighted, weighted=True, tol=None, max_iterations=4, dtype=torch.float64, backend=backend)

    assert torch.autograd.gradcheck(scores, graph.weights.clone().requires_grad_())


def test_gradients_twice_on_one_graph(backend):
    """A training step after another: nothing that the graph keeps may hold on to the first one."""
    graph = random_graph(8, 24, dtype=torch.float64)
    weights = graph.weights.clone().requires_grad_()
    graph = tg.Graph(graph.offset, graph.neighbors, weights)
    gradients = []
    for _ in range(2):
        weights.grad = None
        ranks = pagerank(graph, weighted=True, tol=None, max_iterations=3, dtype=torch.float64, backend=backend)
        ranks.square().sum().backward()
        gradients.append(weights.grad)
    assert gradients[0].abs().sum() > 0 and torch.equal(*gradients)


def test_a_vertex_whose_weights_are_all_zero_is_dangling():
    weights = torch.tensor([0.0, 0, 1, 2], dtype=torch.float64, requires_grad=True)
    graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 0], weights)
    ranks = pagerank(graph, weighted=True, **TIGHT)
    detached = tg.Graph(graph.offset, graph.neighbors, graph.weights.detach())
    assert close(ranks.tolist(), solved(detached, weighted=True), 1e-10)
    ranks[0].backward()
    assert weights.grad.isfinite().all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"damping": 1.5}, ("damping", "1.5", "between 0 and 1")),
        ({"damping": -0.1}, ("damping", "-0.1")),
        ({"damping": math.nan}, ("damping", "nan")),
        ({"dangling": "drop"}, ("dangling", "'drop'", "'ignore'")),
        ({"method": "jacobi"}, ("method", "'jacobi'", "'gauss-seidel'")),
        ({"personalization": torch.ones(2)}, ("personalization", "[3]")),
        ({"personalization": torch.tensor([1.0, -1, 0])}, ("personalization", "negative")),
        ({"personalization": torch.zeros(3)}, ("personalization", "zero")),
        ({"personalization": torch.tensor([1.0, math.nan, 0])}, ("personalization: nan at position 1",)),
        ({"personalization": torch.tensor([1.0, math.inf, 0])}, ("personalization",)),
    ],
)
def test_arguments_out_of_range(options, words):
    refused_naming(words, pagerank, tg.Graph.from_edges([0, 1], [1, 2]), **options)


def test_the_smallest_graphs(backend):
    assert pagerank(tg.Graph.from_edges([], []), backend=backend).tolist() == []
    assert pagerank(tg.Graph.from_edges([], [], num_vertices=1), backend=backend).tolist() == [1]
    assert close(pagerank(tg.Graph.from_edges([], [], num_vertices=4), backend=backend).tolist(), [0.25] * 4, 1e-6)
    assert close(pagerank(tg.Graph.from_edges([0], [0]), backend=backend).tolist(), [1], 1e-6)


def test_two_runs_are_equal_to_the_last_bit(backend):
    graph = random_graph(300, 4000)
    assert torch.equal(pagerank(graph, backend=backend), pagerank(graph, backend=backend))


@pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
@pytest.mark.parametrize("method", [*PageRank.METHODS, "hits"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_native_and_portable_kernels_give_the_same_ranks(method, weighted, dtype):
    graph = random_graph(200, 3000, dtype=torch.float32)
    options = {"weighted": weighted, "dtype": dtype}
    program = HITS(**options) if method == "hits" else PageRank(method=method, **options)
    runs = [tg.run(program, graph, backend=backend) for backend in ("native", "portable")]
    if method == "gauss-seidel":  # whose compiled steps use more new values: equal to the tolerance
        assert runs[0].iterations <= runs[1].iterations
        assert torch.allclose(*(run.values for run in runs), atol=1e-6)
        return
    assert runs[0].iterations == runs[1].iterations
    found, expected = (list(run.values.values()) if method == "hits" else [run.values] for run in runs)
    tolerance = 1e-6 if dtype == torch.float32 else 1e-12
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
def test_gauss_seidel_follows_a_grid_within_a_step():
    graph = tg.generators.grid2d(120, 1000)
    options = {"tol": 1e-8, "dtype": torch.float64, "max_iterations": 200}
    power, seidel = (tg.run(PageRank(method=method, **options), graph) for method in PageRank.METHODS)
    assert seidel.iterations < 0.8 * power.iterations  # nearly as many by blocks alone
    assert torch.allclose(seidel.values, power.values, rtol=1e-3)


@pytest.mark.parametrize("dangling", ["redistribute", "ignore"])
def test_gauss_seidel_needs_fewer_iterations(dangling, backend):
    graph = tg.generators.rmat(9)
    power, seidel = (
        tg.run(PageRank(method=method, dangling=dangling), graph, backend=backend) for method in PageRank.METHODS
    )
    assert seidel.iterations < 0.6 * power.iterations  # it starts from the final sum, without a lagging dangling mass
    assert float((seidel.values - power.values).abs().sum()) < 2e-6


def test_ranks_keep_an_accuracy_that_weights_of_any_size_allow():
    weights = torch.tensor([1e-30, 3e-30, 1e30, 1e30], dtype=torch.float64)
    graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 0, 0], weights)
    assert close(pagerank(graph, weighted=True).tolist(), solved(graph, weighted=True), 1e-5)


def test_a_program_runs_on_one_graph_after_another():
    program, graphs = PageRank(tol=None, max_iterations=3), [random_graph(n, 90) for n in (30, 40)]
    first = tg.run(program, graphs[0]).values
    kept = first.clone()
    assert len(tg.run(program, graphs[1]).values) == 40
    assert torch.equal(first, kept) and torch.equal(tg.run(program, graphs[0]).values, kept)


def test_compute_serves_ranks_that_it_has_not_made():
    graph = random_graph(30, 90)
    program = PageRank(dtype=torch.float64)
    rank, everything = program.init(graph)
    sub = program.tensorize(graph, everything, "pull")
    program.compute(sub, rank, everything)
    other = torch.rand(30, dtype=torch.float64)
    again = PageRank(dtype=torch.float64)
    again.init(graph)
    expected, _ = again.compute(sub, other.clone(), everything)
    assert torch.equal(program.compute(sub, other, everything)[0], expected)


@pytest.mark.parametrize("dangling", ["redistribute", "ignore"])
@pytest.mark.parametrize("weighted", [False, True])
def test_several_personalizations_at_once(weighted, dangling):
    graph = random_graph(60, 150, dtype=torch.float64)
    wanted = torch.rand(60, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    options = {"weighted": weighted, "dangling": dangling, "tol": 1e-10, "dtype": torch.float64}
    found = pagerank(graph, personalization=wanted, **options)
    alone = [pagerank(graph, personalization=column, **options) for column in wanted.T]
    assert found.shape == (60, 4) and torch.allclose(found, torch.stack(alone, 1), atol=1e-9)
    refused("no column all zero", pagerank, graph, personalization=torch.zeros(60, 2))
    refused("damping", pagerank, graph, personalization=wanted, method="gauss-seidel", damping=1)


SOLVED = (
    (1, False, "redistribute", torch.float64),
    (8, True, "ignore", torch.float64),
    (11, False, "ignore", torch.float32),
    (19, True, "redistribute", torch.float64),
    (0, False, "ignore", torch.float32),
)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("columns", "weighted", "dangling", "dtype"), SOLVED)
def test_several_personalizations_by_gauss_seidel(columns, weighted, dangling, dtype, compiled, monkeypatch):
    graph = random_graph(300, 900, dtype=torch.int32)
    wanted = torch.rand(300, columns, dtype=torch.float64, generator=torch.Generator().manual_seed(2)).pow(8)
    options = {"weighted": weighted, "dangling": dangling, "personalization": wanted, "max_iterations": 500}
    expected = pagerank(graph, tol=1e-12, dtype=torch.float64, **options)
    if not compiled:
        monkeypatch.setattr(native, "load", lambda: None)
    tol, off = (1e-6, 1e-6) if dtype == torch.float32 else (1e-12, 1e-10)
    found = pagerank(graph, tol=tol, dtype=dtype, method="gauss-seidel", **options)
    assert found.dtype == dtype and torch.allclose(found.double(), expected, atol=off)


def test_groups_of_columns_do_not_change_the_ranks():
    graph, wanted = random_graph(3000, 90000), torch.rand(3000, 16, dtype=torch.float64)
    same_on_threads(lambda: pagerank(graph, personalization=wanted, method="gauss-seidel"))
    with pytest.raises(NotConvergedError):
        pagerank(graph, personalization=wanted, method="gauss-seidel", max_iterations=1)
