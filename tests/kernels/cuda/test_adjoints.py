"""What gradients take from CUDA kernels: against the portable backend in float64, and against finite differences."""

import pytest
import torch
from backends import portable
from native_samples import pull, push
from pull_samples import BORDERS, rows_of_degrees, subgraphs
from strategies import random_data, random_graph

import tgraph as tg
from tgraph import kernels
from tgraph.kernels import BACKENDS, Backend, Implementation
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import adjoints, aggregation, sddmm
from tgraph.kernels.cuda import pull as pulling
from tgraph.kernels.cuda.pull import TYPES
from tgraph.kernels.reductions import REDUCTIONS

FLOATS = sddmm.FLOATS
CLOSE = {torch.float32: 1e-4, torch.float64: 1e-11, torch.bfloat16: 2e-2, torch.float16: 4e-3}


@pytest.fixture(autouse=True)
def prepared(request):
    """All kernels of the dtypes that gradients have, compiled together."""
    if "shim" in request.node.name:
        integers = () if "int" not in request.node.name else (torch.int32, torch.int64)
        wanted = {TYPES[dtype] for dtype in (*FLOATS, *integers)}
        used = (*sddmm.instantiations(), *pulling.instantiations())
        request.getfixturevalue("host").prepare(kernel for kernel in used if kernel.types[0] in wanted)


@pytest.fixture
def backend(device, monkeypatch):
    """The name under which the kernels serve on the device."""
    if device.type == "cuda":
        return "cuda"
    served = {name: getattr(adjoints, name) for name in ("push_rows", "products", "argreduce")}
    shim = Backend("shim", {name: Implementation(run, adjoints.refuses) for name, run in served.items()})
    shim.offer("aggregate", aggregation.aggregate, aggregation.refuses)
    monkeypatch.setitem(BACKENDS, "shim", shim)
    return "shim"


def both(graph, device):
    """Each kind of subgraph on the CPU and on the device, with data of its rows' numbers."""
    return zip(subgraphs(graph), subgraphs(graph.to(device)), strict=True)


def num_rows(sub):
    return len(sub.offset) - 1


def close(found, expected, dtype, roundings=1):
    tolerance = CLOSE[dtype] * roundings
    torch.testing.assert_close(found.cpu().double(), expected.double(), rtol=tolerance, atol=tolerance)


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("columns", "heads"), [(1, 1), (3, 1), (8, 8), (16, 2), (40, 1), (33, 3), (512, 1)])
def test_products_are_those_of_the_portable_backend(device, dtype, columns, heads):
    graph = random_graph(40, 700)
    for sub, here in both(graph, device):
        row_data, data = random_data((num_rows(sub), columns), dtype), random_data((40, columns), dtype, 1)
        expected = portable.products(sub, row_data.double(), data.double(), heads)
        found = adjoints.products(here, row_data.to(device), data.to(device), heads)
        assert found.dtype == dtype and found.shape == (sub.num_arcs, heads)
        close(found, expected, dtype)


def test_products_of_data_that_is_not_aligned(device):
    graph, wide = random_graph(9, 40), random_data((20, 9), torch.float32)
    row_data, data = wide.flatten()[1:73].view(9, 8), wide[:9, 1:]
    here, sub = pull(graph.to(device), graph.to(device).everything()), pull(graph, graph.everything())
    for one, other in ((row_data, data), (data, row_data)):
        found = adjoints.products(here, one.to(device), other.to(device), 1)
        close(found, portable.products(sub, one, other, 1), torch.float32)


@pytest.mark.parametrize("shape", [(0, 1), (4, 0)])
def test_products_of_nothing(device, shape):
    graph = tg.Graph.from_edges([], [], num_vertices=4).to(device)
    if shape[1] == 0:
        graph = random_graph(4, 6).to(device)
    sub, data = pull(graph, graph.everything()), torch.ones((4, shape[1]), device=device)
    assert not adjoints.products(sub, data, data, 1).any()


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.uint8], ids=str)
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_pushes_from_rows_are_those_of_the_portable_backend(device, small_bins, dtype, reduce):
    graph, floating = rows_of_degrees(BORDERS[:14]), dtype.is_floating_point
    if reduce == "mean" and not floating:
        pytest.skip("messages of a mean are floating")
    exact = torch.float64 if dtype in (torch.float32, torch.float64) else dtype
    for sub, here in zip(pushes(graph), pushes(graph.to(device)), strict=True):
        for columns, heads in ((1, 0), (4, 0), (4, 1), (6, 3)):
            if heads and (dtype == torch.uint8 or REDUCTIONS[reduce].logical):
                continue
            data = random_data((num_rows(sub), columns), dtype)
            weights = random_data((sub.num_arcs, heads), dtype, 1) if heads else None
            edge = "mul" if heads else "copy"
            wide = None if weights is None else weights.to(exact)
            expected = portable.push_rows(sub, data.to(exact), REDUCTIONS[reduce], edge, wide)
            there = None if weights is None else weights.to(device)
            found = adjoints.push_rows(here, data.to(device), REDUCTIONS[reduce], edge, there)
            assert found.dtype == (torch.bool if REDUCTIONS[reduce].logical else dtype)
            if floating and not REDUCTIONS[reduce].logical:
                close(found, expected.to(dtype), dtype, 8 if reduce == "prod" else 1)  # each message is rounded
            else:
                assert torch.equal(found.cpu(), expected)


def pushes(graph):
    """From all rows, some, the heads of some, and none."""
    some = torch.arange(0, graph.num_vertices, 3, device=graph.device)
    return [push(graph), push(graph, some), push(graph, some, 2), push(graph, None, 3), push(graph, some[:0])]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("reduce", ["min", "max"])
def test_argreduce_is_that_of_the_portable_backend(device, small_bins, dtype, reduce):
    graph, reduction = rows_of_degrees(BORDERS[:14]), REDUCTIONS[reduce]
    for directed in (True, False):
        graph = graph if directed else random_graph(20, 90, directed=False)
        for sub, here in both(graph, device):
            senders = graph.num_vertices if sub.mode == "pull" else num_rows(sub)
            for columns, heads in ((1, 0), (6, 2)):
                data = random_data((senders, columns), torch.int64, 2).to(dtype)  # with many equal ones
                weights = random_data((sub.num_arcs, heads), torch.int64).to(dtype) if heads else None
                edge = "add" if heads else "copy"
                best = received(sub, data, reduction, edge, weights)
                expected = portable.argreduce(sub, data, reduction, edge, weights, best)
                given = (data.to(device), reduction, edge, None if weights is None else weights.to(device))
                found = adjoints.argreduce(here, *given, best.to(device))
                assert all(torch.equal(*pair) for pair in zip([part.cpu() for part in found], expected, strict=True))


def received(sub, data, reduction, edge, weights):
    """The argreduce [receivers, columns] of the portable backend."""
    if sub.mode == "push":
        return portable.push_rows(sub, data, reduction, edge, weights)
    shaped = data if weights is None else data.unflatten(1, (weights.shape[1], -1))
    return portable.aggregate(sub, shaped, reduction, edge, weights).values.flatten(1)


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("edge", ["copy", "add", "mul"])
def test_first_and_second_derivatives(device, backend, reduce, edge):
    for directed in (True, False):
        graph = random_graph(5, 7, directed=directed).to(device)
        random = torch.Generator().manual_seed(3)
        everything, some = graph.everything(), torch.tensor([0, 3, 4], device=graph.device)
        pulls = [pull(graph, everything), pull(graph, graph.select(some), some, 2)]
        for sub in [*pulls, push(graph), push(graph, some)]:
            sub.backend = backend

            def function(data, weights, sub=sub):
                values = tg.aggregate(sub, data, reduce, edge=edge, weights=weights).values
                return torch.where(values.isinf(), 0, values)

            for shape, wide in (((), ()), ((2, 2), (2,))):
                drawn = [torch.randn(size, dtype=torch.float64, generator=random) for size in (5, graph.num_arcs)]
                data, weights = torch.randn((5, *shape), dtype=torch.float64, generator=random), drawn[1]
                weights = weights.reshape(-1, *(1 for _ in wide)).expand(-1, *wide).contiguous()
                leaves = [part.to(device).requires_grad_() for part in (data, weights)]
                with kernels.watched() as choices:
                    assert torch.autograd.gradcheck(function, leaves, fast_mode=True)
                on_graphs = [choice for choice in choices if choice.call is not None]  # emulated tensors are the CPU's
                assert {choice.backend.name for choice in on_graphs} == {backend}
                if directed and not wide:
                    assert torch.autograd.gradgradcheck(function, leaves, fast_mode=True)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod"])
def test_pushes_of_sums_from_some_vertices_do_not_depend_on_the_order_of_threads(device, host, monkeypatch, reduce):
    graph = random_graph(60, 2000).to(device)
    data = random_data((60, 3), torch.float32).to(device)
    sub = push(graph, torch.arange(0, 60, 2, device=device))
    found = []
    for seed in range(3):
        monkeypatch.setattr(host, "seed", seed)
        found.append(aggregation.aggregate(sub, data, REDUCTIONS[reduce], "copy", None).values)
    assert all(torch.equal(found[0], other) for other in found)


def test_refusals():
    def refusal(operation, dtype):
        return adjoints.refuses(Call(operation, torch.ones((3, 2), dtype=dtype)))

    assert refusal("products", torch.float16) is None and refusal("push_rows", torch.bool) is None
    assert "int64" in refusal("products", torch.int64) and "int32" in refusal("argreduce", torch.int32)
    assert "float8" in refusal("push_rows", torch.float8_e5m2)
    subclass = type("Subclass", (torch.Tensor,), {})
    assert "subclass" in adjoints.refuses(Call("products", torch.ones((3, 2)).as_subclass(subclass)))
