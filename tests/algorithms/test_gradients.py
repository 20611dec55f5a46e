"""Gradients of algorithms: against finite differences, in all orders that are promised, and within torch.func."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

import tgraph as tg

A = tg.algorithms
ARCS = [0, 0, 1, 2, 3, 3, 4, 1, 5], [1, 2, 2, 0, 4, 1, 0, 2, 3]
GRAPH = tg.Graph.from_edges(*ARCS, num_vertices=7)  # with parallel arcs, an isolated and a dangling vertex
NETWORK = tg.Graph.from_edges([0, 1, 2, 0, 0], [1, 2, 3, 3, 2], directed=False)
EXACT = {"tol": 1e-12, "max_iterations": 3000}


def drawn(*shape, seed=0):
    return torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) + 0.5


def finite(values):
    return values.nan_to_num(posinf=0, neginf=0)


def network(edges):
    """The network with a weight [m], equal for the two arcs of an edge."""
    return NETWORK.weighted_by((edges + edges[NETWORK.transpose_permutation]) / 2)


def pagerank(w, damping, jump, **options):
    return A.pagerank(
        GRAPH.weighted_by(w), damping=damping, personalization=jump, weighted=True, dtype=w.dtype, **EXACT, **options
    )


W, SYMMETRIC, HALF = drawn(GRAPH.num_arcs), drawn(NETWORK.num_arcs, seed=1), torch.tensor(0.5, dtype=torch.float64)
CASES = {
    "pagerank": (pagerank, W, HALF, drawn(7)),
    "pagerank without dangling mass": (lambda *given: pagerank(*given, dangling="ignore"), W, HALF, drawn(7)),
    "pagerank of two surfers": (pagerank, W, HALF, drawn(7, 2)),
    "uniform pagerank": (lambda w, damping: pagerank(w, damping, None, method="gauss-seidel"), W, HALF),
    "katz": (
        lambda w, a, b: A.katz(GRAPH.weighted_by(w), alpha=a, beta=b, weighted=True, **EXACT),
        W,
        HALF / 3,
        drawn(7),
    ),
    "hits": (lambda w: A.hits(GRAPH.weighted_by(w), weighted=True, dtype=w.dtype, **EXACT)[1], W),
    "eigenvector": (lambda w: A.eigenvector(GRAPH.weighted_by(w), weighted=True, **EXACT), W),
    "closeness": (lambda e: A.current_flow_closeness(network(e), weighted=True), SYMMETRIC),
    "closeness by cg": (
        lambda e: A.current_flow_closeness(network(e), weighted=True, method="cg", tol=1e-13),
        SYMMETRIC,
    ),
    "sssp": (lambda w: finite(A.sssp(GRAPH.weighted_by(w), [0, 5])), W),
    "widest": (lambda w: finite(A.widest_path(GRAPH.weighted_by(w), 5)), W),
    "soft": (
        lambda w, t: finite(A.soft_shortest_paths(GRAPH.weighted_by(w), [0, 3], temperature=t, tol=1e-13)),
        W,
        HALF / 2,
    ),
    "flow": (lambda w: A.maximum_flow(GRAPH.weighted_by(w), 5, 0)[0], W),
    "cut": (lambda e: A.stoer_wagner(network(e))[0], SYMMETRIC),
    "forest": (lambda e: A.minimum_spanning_forest(network(e)).weights.sum() / 2, SYMMETRIC),
    "matching": (lambda e: A.matching_weight(network(e), A.heavy_matching(network(e))), SYMMETRIC),
}
FIRST_ORDER = {"closeness"}  # checked once: the dense inverse is torch's


@pytest.mark.parametrize("name", CASES)
def test_gradients_agree_with_differences(name):
    function, *given = CASES[name]
    leaves = [each.clone().requires_grad_() for each in given]
    assert gradcheck(function, leaves)
    if name not in FIRST_ORDER:
        assert gradgradcheck(function, leaves, atol=1e-4, fast_mode=True)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"forest", "closeness", "closeness by cg", "cut"}))
def test_torch_func_differentiates_columns_at_once(name):
    function, first, *others = CASES[name]
    found = torch.func.jacrev(lambda w: function(w, *others))(first)
    torch.testing.assert_close(found, torch.autograd.functional.jacobian(lambda w: function(w, *others), first))


def test_problems_of_a_batch_are_solved_each():
    weights = torch.stack((W, W.flip(0)))
    gradient = torch.func.grad(lambda w: finite(A.sssp(GRAPH.weighted_by(w), 0)).square().sum())
    torch.testing.assert_close(torch.vmap(gradient)(weights), torch.stack([gradient(w) for w in weights]))
    ranks = torch.vmap(lambda jump: pagerank(W, 0.5, jump))(drawn(2, 7).requires_grad_())
    torch.testing.assert_close(ranks.T, pagerank(W, 0.5, drawn(2, 7).T))


@given(st.data())
def test_gradients_of_distances_are_paths(data):
    n = data.draw(st.integers(1, 6))
    ends = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 2)), max_size=12)
    arcs = data.draw(ends)
    source, target, weight = (torch.tensor([arc[i] for arc in arcs], dtype=torch.int64) for i in range(3))
    graph = tg.Graph.from_edges(source, target, weight.double(), num_vertices=n)
    weights = graph.weights.clone().requires_grad_()
    distance, parent = A.sssp(graph.weighted_by(weights), 0, parents=True)
    assert torch.equal(distance, A.sssp(graph, 0)) and parent[0] == 0
    for v in range(n):  # what changes a distance is a path to it: its arcs and their lengths
        (path,) = torch.autograd.grad(distance[v], weights, retain_graph=True)
        if distance[v] < torch.inf:
            assert float((path * graph.weights).sum()) == float(distance[v].detach())
            u, w = graph.to_edge_index()
            balance = torch.zeros(n, dtype=path.dtype).index_add(0, w, path).index_add(0, u, -path)
            wanted = torch.zeros(n, dtype=path.dtype)
            wanted[v] += 1
            wanted[0] -= 1
            assert torch.equal(balance, wanted)
        else:
            assert not path.any()


def test_a_relaxation_of_ones_own_has_gradients_of_graph_weights_and_of_its_own():
    class Reliable(tg.Relaxation):
        reduce, edge = "max", "mul"

        def __init__(self, weight=None):
            self.weight = weight

        def init(self, graph):
            return torch.zeros(graph.num_vertices).index_fill(0, torch.tensor(0), 1), graph.select(0)

    graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    weights = torch.tensor([0.5, 0.9, 0.8, 0.3], requires_grad=True)
    for program, weighted in ((Reliable(), graph.weighted_by(weights)), (Reliable(weights), graph)):
        (found,) = torch.autograd.grad(tg.run(program, weighted).values.sum(), weights)
        torch.testing.assert_close(found, torch.tensor([1.0, 1.3, 0.0, 0.9]))


def test_values_of_too_few_rounds_are_refused():
    class Cheapest(tg.Relaxation):
        rounds = 2

        def init(self, graph):
            return torch.full((4,), torch.inf).index_fill(0, torch.tensor(0), 0), graph.select(0)

    graph = tg.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    weights = torch.tensor([1.0, 9.0, 1.0, 1.0], requires_grad=True)
    assert tg.run(Cheapest(), graph.weighted_by(weights.detach())).values.tolist() == [0, 1, 2, 10]
    with pytest.raises(tg.errors.ArgumentError, match=r"no path attains the value of vertex 3"):
        tg.run(Cheapest(), graph.weighted_by(weights))


def test_streamed_and_compressed_graphs_have_gradients():
    graph = tg.generators.rmat(8, seed=1, directed=True, weighted=True)
    graph = graph.weighted_by(graph.weights.float())
    damping, jump = torch.tensor(0.5, requires_grad=True), torch.rand(graph.num_vertices, requires_grad=True)

    def gradients(graph, **options):
        ranks = A.pagerank(graph, weighted=True, damping=damping, personalization=jump, **options)
        return torch.autograd.grad(ranks[0], (damping, jump))

    wanted = gradients(graph)
    torch.testing.assert_close(gradients(tg.formats.convert(graph, "sell")), wanted)
    torch.testing.assert_close(gradients(graph, memory=30_000), wanted)
    weights = graph.weights.clone().requires_grad_()
    source = int(graph.out_degree.argmax())
    same = [A.sssp(graph.weighted_by(weights), source, **options) for options in ({}, {"memory": 30_000})]
    found = [torch.autograd.grad(finite(each).sum(), weights)[0] for each in same]
    assert torch.equal(*found) and found[0].any()


def test_what_has_no_gradient_says_so():
    weights = torch.ones(9, dtype=torch.float64, requires_grad=True)
    far = tg.primitives.implicit.fixpoint(lambda p: -p, lambda x, p: 2 * x + p, weights)  # steps lead away from it
    torch.testing.assert_close(torch.autograd.grad(far.sum(), weights)[0], -weights.detach())
    far = tg.primitives.implicit.fixpoint(lambda p: 0 * p, lambda x, p: x + p * x, 0 * weights)  # all x are fixpoints
    with pytest.raises(tg.errors.NotConvergedError, match=r"backward: .* smaller damping"):
        far.sum().backward()
    with pytest.raises(tg.errors.ArgumentError, match=r"weights: a forest .* torch.autograd.grad"):
        torch.func.grad(lambda e: A.minimum_spanning_forest(network(e)).weights.sum())(SYMMETRIC)
    with pytest.raises(tg.errors.ArgumentError, match=r"column: .* \[9\], the tensor has torch.float64 \[3\]"):
        GRAPH.weighted_by(weights[:3])
    with pytest.raises(tg.errors.ArgumentError, match=r"mate: 3 at position 1; no edge joins"):
        A.matching_weight(NETWORK, torch.tensor([-1, 3, -1, 1]))
    nothing = tg.Graph.from_edges([], [], num_vertices=0)
    assert A.pagerank(nothing, damping=HALF.clone().requires_grad_()).shape == (0,)
