"""Operations on the two ends of edges, and the softmax of edges, against loops over the edges."""

import operator

import pytest
import torch
from strategies import random_graph, refused

from tgraph.errors import ArgumentError
from tgraph.primitives.attention import Csr
from tgraph.primitives.edges import edge_softmax, u_op_v

SRC, DST = torch.tensor([3, 0, 0, 2, 2, 0, 3]), torch.tensor([1, 0, 1, 1, 1, 4, 0])


def arcs(positions=True):
    order = torch.argsort(DST, stable=True)
    offset = torch.cat((torch.zeros(1, dtype=torch.int64), torch.bincount(DST, minlength=6).cumsum(0)))
    return Csr(offset, SRC[order].int(), order if positions else None, 4), order


def random(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(len(shape)), dtype=torch.float64).add(0.5)


@pytest.mark.covering(1)
@pytest.mark.parametrize("positions", [False, True])
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "truediv", "dot"])
def test_operations(operation, positions):
    (made, order), name = arcs(positions), operation.removeprefix("true")
    source, target = random(4, 2, 3).requires_grad_(), random(6, 2, 3).requires_grad_()
    found = u_op_v(made, name, source, target)
    for place, edge in enumerate(range(7) if positions else order.tolist()):
        u, v = source[SRC[edge]], target[DST[edge]]
        expected = (u * v).sum(-1) if operation == "dot" else getattr(operator, operation)(u, v)
        torch.testing.assert_close(found[place], expected)
    assert torch.autograd.gradcheck(lambda u, v: u_op_v(made, name, u, v), (source, target))
    assert torch.autograd.gradgradcheck(lambda u, v: u_op_v(made, name, u, v), (source, target))


def test_operations_broadcast():
    made, _ = arcs()
    found = u_op_v(made, "mul", random(4, 2, 1), random(6, 1, 3))
    assert found.shape == (7, 2, 3)


@pytest.mark.covering(1)
@pytest.mark.parametrize("positions", [False, True])
@pytest.mark.parametrize("shape", [(7,), (7, 2), (7, 2, 3)])
def test_softmax(shape, positions):
    made, order = arcs(positions)
    score = (random(*shape) * 100).requires_grad_()
    target = DST if positions else DST[order]
    found, expected = edge_softmax(made, score), torch.zeros_like(score)
    for v in range(6):
        among = (target == v).view(-1, *[1] * (len(shape) - 1)).expand(shape)
        expected = torch.where(among, torch.softmax(torch.where(among, score, -torch.inf), 0), expected)
    torch.testing.assert_close(found, expected)
    assert torch.autograd.gradcheck(lambda x: edge_softmax(made, x), score / 100)
    assert torch.autograd.gradgradcheck(lambda x: edge_softmax(made, x), score / 100)


def test_no_edges():
    made = Csr(torch.zeros(3, dtype=torch.int64), torch.empty(0, dtype=torch.int32), None, 2)
    assert u_op_v(made, "dot", random(2, 3), random(2, 3)).shape == (0,)
    assert edge_softmax(made, random(0, 2)).shape == (0, 2)


def test_compiles_as_one_graph():
    made, _ = arcs()
    source, target = random(4, 2), random(6, 2)

    def alpha(u, v):
        return edge_softmax(made, u_op_v(made, "add", u, v))

    compiled = torch.compile(alpha, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(source, target), alpha(source, target))
    for each in (source, target):
        each.requires_grad_()
    expected = torch.autograd.grad(alpha(source, target).square().sum(), (source, target))
    found = torch.autograd.grad(compiled(source, target).square().sum(), (source, target))
    torch.testing.assert_close(found, expected)


def test_under_transforms_of_torch_func():
    made, _ = arcs()
    source, target = random(4, 2, 3), random(6, 2, 3)

    def loss(u):
        return edge_softmax(made, u_op_v(made, "dot", u, target)).square().sum()

    expected = torch.autograd.grad(loss(source.requires_grad_()), source)[0]
    torch.testing.assert_close(torch.func.grad(loss)(source.detach()), expected)
    assert torch.func.vmap(lambda u: u_op_v(made, "add", u, target))(torch.stack((source, source))).shape == (
        2,
        7,
        2,
        3,
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_numbers(dtype):
    made, _ = arcs()
    u, v = random(4, 2, 5).to(dtype), random(6, 2, 5).to(dtype)
    found, expected = u_op_v(made, "dot", u, v), u_op_v(made, "dot", u.double(), v.double())
    assert found.dtype == dtype
    torch.testing.assert_close(found, expected.to(dtype))
    torch.testing.assert_close(edge_softmax(made, found), edge_softmax(made, found.double()).to(dtype))


def test_softmax_of_what_is_no_number():
    made, _ = arcs()
    score = random(7, 2) * 100
    score[::3], score[5], score[2, 0] = -torch.inf, torch.inf, torch.nan
    found = edge_softmax(made, score)
    for v in (0, 1, 4):
        torch.testing.assert_close(found[v == DST], torch.softmax(score[v == DST], 0), equal_nan=True)


def test_integers():
    made, _ = arcs()
    source, target = torch.arange(8).view(4, 2).int(), torch.arange(12).view(6, 2).int()
    assert torch.equal(u_op_v(made, "mul", source, target), source[SRC] * target[DST])
    assert torch.equal(u_op_v(made, "dot", source, target), (source[SRC] * target[DST]).sum(-1))
    assert torch.equal(u_op_v(made, "div", source + 1, target + 1), (source + 1)[SRC] / (target + 1)[DST])


def test_what_does_not_fit_is_named():
    made, _ = arcs()
    refused("operation: 'pow' is not one of 'add'", u_op_v, made, "pow", random(4), random(6))
    refused(r"target: expected a tensor \[6, ...\], got \[4\]", u_op_v, made, "add", random(4), random(4))
    refused(r"source, target: \[4, 2\] and \[6, 3\] do not broadcast", u_op_v, made, "add", random(4, 2), random(6, 3))
    refused("'dot' sums over the last dimension", u_op_v, made, "dot", random(4), random(6))
    refused("source: the tensor is on the device meta", u_op_v, made, "add", random(4).to("meta"), random(6))
    refused("score: expected a floating tensor", edge_softmax, made, torch.ones(7, dtype=torch.int64))


def test_a_graph_has_its_arcs_in_their_order():
    graph = random_graph(20, 60, directed=True)
    source, target = graph.to_edge_index()
    u, v = torch.rand(2, 20)
    torch.testing.assert_close(u_op_v(graph, "sub", u, v), u[source] - v[target])
    share = edge_softmax(graph, u_op_v(graph, "mul", u, v))
    torch.testing.assert_close(torch.zeros(20).index_add(0, target, share), (graph.in_degree > 0).float())
    with pytest.raises(ArgumentError, match="arcs: expected a Csr or a Graph"):
        edge_softmax(3, share)
