"""Gradients of the compiled `aggregate`: against finite differences, of narrow data, of ties, on several threads."""

import pytest
import torch
from native_samples import hub_graph, pull, push, received_by, served, subgraphs
from strategies import on_threads, random_data, random_graph

import tgraph as tg
from tgraph.core.system import native
from tgraph.kernels.torch_scatter import library

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")


@pytest.mark.parametrize(("reduce", "edge"), [("sum", "mul"), ("max", "mul"), ("max", "copy"), ("mean", "copy")])
def test_gradients_do_not_depend_on_threads(reduce, edge):
    graph = hub_graph()

    def gradients():
        data = random_data((400, 70), torch.float32).requires_grad_()
        weights = graph.weights.clone().requires_grad_()
        received = tg.aggregate(graph, data, reduce, edge=edge, weights=weights)
        return torch.autograd.grad((received * received.detach().cos()).sum(), (data, weights)[: 1 + (edge == "mul")])

    alone, *others = on_threads(gradients)
    for other in others:
        assert all(torch.equal(*pair) for pair in zip(alone, other, strict=True))


def smooth(sub, reduce, edge):
    left_to_others = edge == "add" and reduce in ("sum", "mean")  # whose gradients are native again
    sub.backend = "auto" if left_to_others else "native"

    def function(data, weights):
        received = tg.aggregate(sub, data, reduce, edge=edge, weights=weights)
        return torch.where(received.values.isinf(), 0, received.values)

    return function


@pytest.mark.thorough
@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("edge", ["copy", "add", "mul"])
def test_first_and_second_derivatives(reduce, edge):
    for directed in (True, False):
        graph = random_graph(5, 7, directed=directed)
        random = torch.Generator().manual_seed(3)
        for shape, wide in (((), ()), ((2,), ()), ((2,), (2,)), ((2, 2), (2,))):
            data = torch.randn((5, *shape), dtype=torch.float64, generator=random).requires_grad_()
            weights = torch.randn((graph.num_arcs, *wide), dtype=torch.float64, generator=random).requires_grad_()
            for sub in subgraphs(graph):
                assert torch.autograd.gradcheck(smooth(sub, reduce, edge), (data, weights))
                if directed and len(shape) != 1:
                    assert torch.autograd.gradgradcheck(smooth(sub, reduce, edge), (data, weights))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_gradients_of_narrow_data(dtype, reduce):
    graph = random_graph(30, 200)
    for sub in (pull(graph, graph.everything()), push(graph), push(graph, torch.arange(9))):
        grads = []
        for kind in (dtype, torch.float64):
            data = random_data((30, 4), dtype).to(kind).requires_grad_()
            weights = random_data((graph.num_arcs,), dtype, 1).to(kind).requires_grad_()
            received = served(sub, data, reduce, "mul", weights).values
            assert received.dtype == kind
            grads.append(torch.autograd.grad(received.sum(), (data, weights)))
        for found, exact in zip(*grads, strict=True):
            assert found.dtype == dtype
            if reduce != "max" or dtype == torch.float32:  # rounding makes ties, of which the first counts
                torch.testing.assert_close(found.double(), exact, rtol=5e-2, atol=5e-2)


@pytest.mark.parametrize("reduce", ["min", "max"])
@pytest.mark.parametrize(
    "backend", ["native", pytest.param("scatter", marks=pytest.mark.skipif(library.load() is None, reason="not there"))]
)
def test_the_first_of_equal_messages_takes_the_gradient(reduce, backend):
    graph = tg.Graph.from_edges([0, 1, 2], [3, 3, 3])
    data = torch.tensor([1.0, 1, 1, 0], requires_grad=True)
    for sub in (pull(graph, graph.everything()), push(graph), push(graph, torch.tensor([0, 1, 2]))):
        (grad,) = torch.autograd.grad(received_by(backend, sub, data, reduce).values[-1], data)
        assert grad.tolist() == [1, 0, 0, 0]


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("reduce", ["min", "max"])
@pytest.mark.parametrize("columns", [15, 16, 33, 64])
def test_wide_selections_and_their_gradients_are_the_portable_ones(reduce, dtype, columns):
    for directed in (True, False):
        graph = random_graph(20, 120, directed=directed)  # with parallel arcs, self-loops and vertices without arcs
        random = torch.Generator().manual_seed(columns)
        data = torch.randint(-2, 3, (20, columns), generator=random).to(dtype)  # many messages are equal
        data[3, 0], data[5, 1], data[7] = torch.nan, torch.inf, -torch.inf
        for sub in subgraphs(graph):
            found = []
            for backend in ("auto", "portable"):
                sub.backend, held = backend, data.clone().requires_grad_()
                values = tg.aggregate(sub, held, reduce).values
                upstream = torch.randn(values.shape, dtype=dtype, generator=torch.Generator().manual_seed(7))
                found.append((values.detach(), *torch.autograd.grad(values, held, upstream)))
            torch.testing.assert_close(*found, equal_nan=True)


def test_second_derivatives_of_wide_selections():
    graph = random_graph(4, 6)
    data = torch.randn((4, 16), dtype=torch.float64, generator=torch.Generator().manual_seed(3)).requires_grad_()
    for sub in subgraphs(graph):
        assert torch.autograd.gradcheck(smooth(sub, "max", "copy"), (data, None))
        assert torch.autograd.gradgradcheck(smooth(sub, "max", "copy"), (data, None))


def test_the_weights_of_the_graph_are_not_sorted_back():
    """Backward of a GCN layer: the graph holds its weights in both orders."""
    graph = random_graph(30, 200, dtype=torch.float32)
    data = random_data((30, 4), torch.float32).requires_grad_()
    graph.transpose()
    tg.aggregate(graph, data, "sum", edge="mul").sum().backward()
    found = data.grad
    data.grad = None
    tg.aggregate(graph, data, "sum", edge="mul", weights=graph.weights.clone()).sum().backward()
    torch.testing.assert_close(found, data.grad)
