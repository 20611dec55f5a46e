"""Sums over arcs by the compiled kernels at once: the same as by torch's operators, gradients of any order included."""

import pytest
import torch
from torch.func import grad, vmap

from tgraph.core.building.edge_index import sort_by_target
from tgraph.core.csr import Csr
from tgraph.core.dispatch import PORTABLE
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels import watched
from tgraph.kernels.autograd import eager
from tgraph.kernels.native.aggregation import csr_sums
from tgraph.primitives.attention import gat

pytestmark = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")

SIZES = [(7, 7), (9, 4), (4, 9), (1, 1), (5, 0), (0, 5), (2000, 3000)]


def edges(num_sources, num_targets, size, dtype=torch.int64):
    if not num_sources or not num_targets:
        size = 0
    source = torch.randint(max(num_sources, 1), (size,), dtype=dtype)
    return source, torch.randint(max(num_targets, 1), (size,), dtype=dtype)


def arcs_of(num_sources, num_targets, size=40):
    arcs = sort_by_target(*edges(num_sources, num_targets, size), num_sources, num_targets)
    return Csr.unchecked(*arcs, num_sources)


@pytest.mark.covering(2)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("size", [0, 30, 100_000])
@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("loops", [0, 3, "all"])
@pytest.mark.parametrize("ascending", [False, True])
def test_edges_are_sorted_as_torch_sorts_them(sizes, dtype, size, replace, loops, ascending):
    torch.manual_seed(size)
    both = min(sizes)
    loops = both if loops == "all" else min(loops, both)
    source, target = edges(*sizes, size, dtype)
    target = target.sort().values if ascending else target
    found = sort_by_target(source, target, *sizes, loops, replace)
    expected = PORTABLE.operators["sort_by_target"].run(source, target, *sizes, loops, replace)
    for one, other in zip(found, expected, strict=True):
        assert one is other is None or torch.equal(one, other)
    if size and all(sizes):  # every arc is where its position says, row by row
        offset, neighbors, position = found
        stay = source != target if replace and loops else slice(None)
        ends = [torch.cat((end[stay], torch.arange(loops))) for end in (source, target)]
        position = torch.arange(size) if position is None else position
        assert torch.equal(neighbors.long(), ends[0][position])
        assert torch.equal(torch.arange(sizes[1]).repeat_interleave(offset.diff()), ends[1][position])


def test_edges_by_target_stay_where_they_are():
    source, target = torch.tensor([2, 0, 1, 1]), torch.tensor([0, 0, 1, 2])
    offset, neighbors, position = sort_by_target(source, target, 3, 3)
    assert offset.tolist() == [0, 2, 3, 4] and neighbors.tolist() == [2, 0, 1, 1] and position is None
    offset, neighbors, position = sort_by_target(source, target, 3, 3, 3, replace=True)
    assert offset.tolist() == [0, 2, 3, 5] and neighbors.tolist() == [0, 2, 1, 1, 2]
    assert position.tolist() == [2, 0, 3, 1, 4]


def test_rows_in_order_are_as_if_sorted():
    source, target = edges(50, 50, 400)
    order = (target * 50 + source).argsort(stable=True)
    for replace in (True, False):
        kept = order[source[order] != target[order]] if replace else order
        offset, neighbors, position = sort_by_target(source[order], target[order], 50, 50, 50, replace)
        shuffled = kept[torch.randperm(len(kept))]
        ends = source[shuffled], target[shuffled]
        expected, by_source, _ = sort_by_target(*ends, 50, 50, 50, replace)
        assert torch.equal(offset, expected) and torch.equal(neighbors, by_source)
        assert position.sort().values.tolist() == list(range(len(kept) + 50))


@pytest.mark.parametrize("wrong", [-1, 5, 2**40])
@pytest.mark.parametrize("end", ["source", "target"])
@pytest.mark.parametrize("loops", [0, 5])
def test_ends_that_are_no_vertices_are_named(wrong, end, loops):
    ends = {"source": torch.tensor([0, 1, 2]), "target": torch.tensor([1, 2, 2])}
    ends[end][1] = wrong
    with pytest.raises(ArgumentError, match=f"the {end} {wrong} of edge 1"):
        sort_by_target(*ends.values(), 5, 5, loops, replace=True)
    with pytest.raises(ArgumentError, match=f"the source {wrong} of edge 0"):  # a self-loop, which is not kept
        sort_by_target(torch.tensor([wrong]), torch.tensor([wrong]), 5, 5, 5, replace=True)


@pytest.mark.parametrize("sizes", SIZES)
def test_arcs_turned_around_twice_are_themselves(sizes):
    arcs = arcs_of(*sizes)
    back = Csr(*arcs.by_column()[:2], None, sizes[1])  # which checks them
    again = back.by_column()
    assert torch.equal(again[0], arcs.offset) and torch.equal(again[1], arcs.neighbors)
    number = arcs.by_column(numbered=True)[2]
    assert torch.equal(arcs.row_of_arc()[number], back.neighbors.long())


def test_what_inference_has_derived_serves_training():
    arcs, data = arcs_of(7, 7), torch.rand(7, 8, requires_grad=True)
    with torch.inference_mode():
        arcs.by_column(numbered=True)
        arcs.inverse_degree(data.dtype)
    gat(arcs, data[:, None], data[:, :1], data[:, 1:2], torch.rand(40, 1), backend="portable").sum().backward()
    (found,) = torch.autograd.grad(eager.aggregate(arcs, data, "mean").square().sum(), data, create_graph=True)
    found.sum().backward()
    assert data.grad.isfinite().all()


def by_message(arcs, data, mean, weights):
    received = eager._by_message(arcs, data, weights)
    return received * arcs.inverse_degree(data.dtype) if mean else received


@pytest.mark.parametrize("sizes", [size for size in SIZES if size[0]])
@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("often", [0, eager.OFTEN])
@pytest.mark.parametrize("many", [0, csr_sums.MANY])
def test_sums_and_their_gradients(sizes, mean, weighted, often, many, monkeypatch):
    monkeypatch.setattr(eager, "OFTEN", often)  # gradients go back by the transpose, or along the arcs
    monkeypatch.setattr(csr_sums, "MANY", many)
    torch.manual_seed(1)
    arcs = arcs_of(*sizes)
    data = torch.randn(sizes[0], 3, dtype=torch.float64, requires_grad=True)
    weights = torch.rand(arcs.num_arcs, dtype=torch.float64) if weighted else None
    assert eager.serves(arcs.neighbors, arcs.num_columns, data, weights)
    found = eager.aggregate(arcs, data, "mean" if mean else "sum", weights)
    expected = by_message(arcs, data, mean, weights)
    torch.testing.assert_close(found, expected)
    if found.numel():
        same_derivatives(found, expected, data)


def same_derivatives(found, expected, data):
    """The first, computed twice, and the second."""
    for create_graph in (False, True):
        options = {"retain_graph": True, "create_graph": create_graph}
        one, other = (torch.autograd.grad(out.sin().sum(), data, **options)[0] for out in (found, expected))
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(*(torch.autograd.grad(g.pow(3).sum(), data, retain_graph=True)[0] for g in (one, other)))


@pytest.mark.parametrize("reduce", eager.REDUCTIONS)
@pytest.mark.parametrize("sizes", [(5, 4), (3, 6), (5, 5)])
def test_numerical_gradients(reduce, sizes):
    arcs = arcs_of(*sizes, 12)
    data = torch.randn(sizes[0], 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: eager.aggregate(arcs, x, reduce), (data,))
    assert torch.autograd.gradgradcheck(lambda x: eager.aggregate(arcs, x, reduce), (data,))
    if reduce in ("sum", "mean"):
        weights = torch.rand(arcs.num_arcs, dtype=torch.float64, requires_grad=True)
        for inputs in ((data, weights), (data.detach(), weights)):
            assert torch.autograd.gradcheck(lambda x, w: eager.aggregate(arcs, x, reduce, w), inputs)
            assert torch.autograd.gradgradcheck(lambda x, w: eager.aggregate(arcs, x, reduce, w), inputs)


@pytest.mark.parametrize("reduce", eager.REDUCTIONS)
def test_gradients_of_several_at_once(reduce):
    arcs = arcs_of(6, 5)
    data = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    one_by_one(eager.aggregate(arcs, data, reduce), data)


def one_by_one(out, *inputs):
    """Gradients for several upstream ones at once are those for each."""
    upstream = torch.randn(3, *out.shape, dtype=torch.float64)
    for given in inputs:
        (found,) = torch.autograd.grad(out, given, upstream, is_grads_batched=True, retain_graph=True)
        singly = [torch.autograd.grad(out, given, each, retain_graph=True)[0] for each in upstream]
        torch.testing.assert_close(found, torch.stack(singly))


def test_what_is_left_to_the_operators():
    arcs, data = arcs_of(6, 6), torch.randn(6, 2)
    assert eager.serves(arcs.neighbors, arcs.num_columns, data)
    assert not eager.serves(arcs.neighbors, arcs.num_columns, data.half())
    assert not eager.serves(arcs.neighbors, arcs.num_columns, data[:, 0])
    assert not eager.serves(arcs.neighbors, arcs.num_columns, data[:5])
    assert not eager.serves(arcs.neighbors, arcs.num_columns, data.to("meta"))
    assert not eager.serves(arcs.neighbors, arcs.num_columns, data, torch.ones(arcs.num_arcs).double())
    assert eager.aggregate(arcs, data, "prod") is eager.aggregate(arcs, data.half(), "max") is None
    assert eager.aggregate(arcs, data, "max", torch.ones(arcs.num_arcs)) is None
    with watched():
        assert not eager.serves(arcs.neighbors, arcs.num_columns, data)
    seen = []
    vmap(lambda x: seen.append(eager.serves(arcs.neighbors, arcs.num_columns, x)) or x)(data[None])
    grad(lambda x: seen.append(eager.serves(arcs.neighbors, arcs.num_columns, x)) or x.sum())(data)
    with torch._subclasses.FakeTensorMode() as fake:
        seen.append(eager.serves(arcs.neighbors, arcs.num_columns, fake.from_tensor(data)))
    assert seen == [False] * 3


def test_without_the_kernels(monkeypatch):
    arcs, data = arcs_of(6, 6), torch.randn(6, 2)
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    assert not eager.serves(arcs.neighbors, arcs.num_columns, data)


@pytest.mark.parametrize("mean", [True, False])
def test_weights_of_the_transpose_are_asked_for_where_they_are_known(mean, monkeypatch):
    monkeypatch.setattr(eager, "OFTEN", 0)
    arcs, data = arcs_of(6, 5), torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    weights = torch.rand(arcs.num_arcs, dtype=torch.float64)
    asked = []

    def transposed():
        asked.append(weights[arcs.by_column(numbered=True)[2]])
        return asked[0]

    found = torch.autograd.grad(eager.aggregate(arcs, data, "mean" if mean else "sum", weights, transposed).sum(), data)
    expected = torch.autograd.grad(by_message(arcs, data, mean, weights).sum(), data)
    torch.testing.assert_close(found, expected)
    assert len(asked) == 1


def test_attention_without_operators_gives_their_gradients():
    arcs = arcs_of(6, 6)
    shapes = [(6, 2), (6, 2), (6, 2, 3)]
    source, target, value = (torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes)
    out = gat(arcs, value, source, target)
    one_by_one(out, source, target, value)
    with watched() as choices:  # by the operators
        observed = gat(arcs, value, source, target)
    assert [choice.call.operation for choice in choices] == ["attend"]
    torch.testing.assert_close(out, observed)


@pytest.mark.parametrize("columns", [1, 3, 8, 16, 40, 64, 100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
def test_gradients_are_the_same_bits_before_and_after_arcs_are_turned_around(columns, dtype, weighted, threads):
    arcs = arcs_of(300, 200, 4000)
    data = torch.randn(300, columns, dtype=dtype, requires_grad=True)
    weights = torch.rand(arcs.num_arcs, dtype=dtype) if weighted else None
    upstream = torch.randn(200, columns, dtype=dtype)
    held = native.load().limit_threads(threads)
    try:
        outs = [eager.aggregate(arcs, data, "sum" if weighted else "mean", weights) for _ in range(eager.OFTEN + 2)]
        found = [torch.autograd.grad(out, data, upstream)[0] for out in outs]
    finally:
        native.load().limit_threads(held)
    assert arcs.has_transpose
    assert all(torch.equal(one, found[0]) for one in found)
    expected = by_message(arcs, data, not weighted, weights)
    torch.testing.assert_close(outs[0], expected)
    torch.testing.assert_close(found[0], torch.autograd.grad(expected, data, upstream)[0])


@pytest.mark.parametrize("columns", [1, 5, 16, 70])
@pytest.mark.parametrize("many", [0, csr_sums.MANY])
@pytest.mark.parametrize("weighted", [True, False])
def test_what_destinations_add_of_their_own(columns, many, weighted, monkeypatch):
    monkeypatch.setattr(csr_sums, "MANY", many)
    arcs = arcs_of(30, 30, 200)
    data = torch.randn(30, columns, dtype=torch.float64, requires_grad=True)
    weights = torch.rand(arcs.num_arcs, dtype=torch.float64) if weighted else None
    expected = by_message(arcs, data, False, weights) + 1.5 * data
    for _ in range(eager.OFTEN + 2):
        found = eager.aggregate(arcs, data, "sum", weights, own=1.5)
        torch.testing.assert_close(found, expected)
        same_derivatives(found, expected, data)


@pytest.mark.parametrize("columns", [1, 5, 16, 70])
@pytest.mark.parametrize("greatest", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_best_of_what_is_sent(columns, greatest, dtype, monkeypatch):
    arcs = arcs_of(300, 400, 1000)  # some destinations have no in-arcs
    data = torch.randn(300, columns, dtype=dtype)
    data[3, 0], data[4, -1] = torch.nan, -torch.inf
    sent = data[arcs.neighbors.long()]
    index = arcs.row_of_arc()[:, None].expand_as(sent)
    reduce = "amax" if greatest else "amin"
    expected = torch.zeros(400, columns, dtype=dtype).scatter_reduce(0, index, sent, reduce, include_self=False)
    data.requires_grad_()
    reduce = "max" if greatest else "min"
    for many in (0, csr_sums.MANY):
        monkeypatch.setattr(csr_sums, "MANY", many)
        found = eager.aggregate(arcs, data.detach(), reduce)
        assert torch.equal(found.nan_to_num(nan=9), expected.nan_to_num(nan=9))
        found = eager.aggregate(arcs, data.detach(), reduce, empty=7.0)
        assert bool((found[arcs.offset.diff() == 0] == 7).all())
    found = eager.aggregate(arcs, data, reduce)
    assert torch.equal(found.nan_to_num(nan=9), expected.nan_to_num(nan=9))
    upstream = torch.randn(400, columns, dtype=dtype)
    first = (sent == expected[index[:, 0]]) | sent.isnan()  # of equal ones the gradient goes to the first
    place = torch.where(first, torch.arange(len(sent))[:, None], len(sent))
    place = torch.full((400, columns), len(sent)).scatter_reduce(0, index, place, "amin")
    sender = torch.cat((arcs.neighbors.long(), torch.tensor([300])))[place]
    to_data = torch.zeros(301, columns, dtype=dtype).scatter_add(0, sender, upstream)[:300]
    torch.testing.assert_close(torch.autograd.grad(found, data, upstream)[0], to_data)
