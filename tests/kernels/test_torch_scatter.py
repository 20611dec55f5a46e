"""The scatter backend against the portable one: every dtype, reduction, edge operation and selection."""

import builtins
import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from native_samples import agree, pull, push, received_by, subgraphs
from strategies import graphs, random_data, random_graph

import tgraph as tg
from tgraph.errors import ArgumentError
from tgraph.kernels import torch_scatter
from tgraph.kernels.call import Call
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS
from tgraph.kernels.torch_scatter import library, reducing

installed = pytest.mark.skipif(library.load() is None, reason="torch-scatter is not installed; make scatter builds it")

FLOATS = (torch.float32, torch.float64)
DTYPES = (*FLOATS, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8, torch.int8, torch.int16)


@installed
@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_copies(dtype, reduce):
    if dtype == torch.bool and reduce in ("min", "max"):
        pytest.skip("torch-scatter has no bool")
    graph = random_graph(12, 60)
    for shape in ((), (3,), (2, 2)):
        for sub in subgraphs(graph):
            agree("scatter", sub, random_data((12, *shape), dtype), reduce)


@installed
@pytest.mark.parametrize("edge", [edge for edge in EDGE_OPERATIONS if edge != "copy"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_weights(dtype, edge):
    graph = random_graph(12, 60)
    for shape, wide in [((), ()), ((3,), ()), ((4, 3), (4,))]:
        for sub, reduce in itertools.product(subgraphs(graph)[::2], ["sum", "mean", "min", "any"]):
            agree(
                "scatter",
                sub,
                random_data((12, *shape), dtype),
                reduce,
                edge,
                random_data((graph.num_arcs, *wide), dtype),
            )
    agree("scatter", pull(graph, graph.everything()), random_data((12, 3), dtype), "sum", edge, 2)
    agree(
        "scatter",
        pull(graph, graph.everything()),
        random_data((12,), dtype),
        "sum",
        edge,
        random_data((60,), FLOATS[0]),
    )


@installed
@given(graphs(dtypes=(torch.float32,), lowest=-9), st.sampled_from(list(REDUCTIONS)), st.sampled_from([(), (2,), (0,)]))
def test_any_graph(graph, reduce, columns):
    for sub in subgraphs(graph):
        agree("scatter", sub, random_data((graph.num_vertices, *columns), torch.float32), reduce, "mul")


@installed
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, *FLOATS])
def test_nan_and_infinities(dtype):
    """torch-scatter alone would skip NaN, and give the largest finite number for a minimum of infinite ones."""
    graph = random_graph(12, 60)
    for number, columns, reduce in itertools.product(
        (torch.nan, torch.inf, -torch.inf, torch.finfo(dtype).max), ((), (3,)), ("sum", "mean", "min", "max", "prod")
    ):
        data = random_data((12, *columns), dtype)
        data[4] = number
        for sub in subgraphs(graph):
            agree("scatter", sub, data, reduce)
            agree("scatter", sub, torch.full_like(data, number), reduce)
    limits = torch.full((12,), torch.iinfo(torch.int64).max)
    for sub, reduce in itertools.product(subgraphs(graph), ("min", "max")):
        agree("scatter", sub, limits, reduce)
        agree("scatter", sub, ~limits, reduce)


def test_integers_in_the_order_of_floating_numbers():
    for dtype in (torch.float16, torch.bfloat16, *FLOATS):
        limit, least = torch.finfo(dtype).max, torch.finfo(dtype).tiny
        numbers = torch.tensor([-torch.inf, -limit, -1, -least, 0, least, 1, limit, torch.inf], dtype=dtype)
        for segment in ("min", "max"):
            ordered = reducing.in_order(numbers, segment)
            assert (ordered.diff() > 0).all()
            assert torch.equal(reducing.in_order(-torch.zeros(1, dtype=dtype), segment), ordered[4:5])
            limits = torch.iinfo(ordered.dtype)
            assert limits.min < ordered.min() and ordered.max() < limits.max
        nan = torch.tensor([torch.nan], dtype=dtype)
        assert reducing.in_order(nan, "min") < ordered[0] and reducing.in_order(nan, "max") > ordered[-1]


# ---- gradients ------------------------------------------------------------------------------------------------------


@installed
@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("edge", ["copy", "add", "mul"])
def test_first_and_second_derivatives(reduce, edge):
    graph = random_graph(5, 7)
    random = torch.Generator().manual_seed(3)
    data = torch.randn((5, 2), dtype=torch.float64, generator=random).requires_grad_()
    weights = torch.randn(7, dtype=torch.float64, generator=random).requires_grad_()
    for sub in subgraphs(graph)[::2]:

        def function(data, weights, sub=sub):
            values = received_by("scatter", sub, data, reduce, edge, weights).values
            return torch.where(values.isinf(), 0, values)

        assert torch.autograd.gradcheck(function, (data, weights))
        assert torch.autograd.gradgradcheck(function, (data, weights))


@installed
@given(graphs(min_vertices=1, dtypes=(torch.float64,)), st.sampled_from(["sum", "mean", "min", "max"]))
def test_the_gradients_of_the_portable_backend(graph, reduce):
    """Of messages that differ: of equal ones the first takes the gradient."""
    data = torch.randn((graph.num_vertices, 2), dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    data, weights = data.requires_grad_(), (graph.weights + torch.arange(graph.num_arcs) / 64).requires_grad_()
    for sub in (pull(graph, graph.everything()), pull(graph, graph.select([0])), push(graph, torch.tensor([0]))):
        found, expected = (
            torch.autograd.grad(received.values.nan_to_num(0, 0, 0).sin().sum(), (data, weights))
            for received in (received_by(name, sub, data, reduce, "add", weights) for name in ("scatter", "portable"))
        )
        torch.testing.assert_close(found, expected)


# ---- what it refuses ------------------------------------------------------------------------------------------------


def call(data, reduce="sum", **options):
    return Call("aggregate", data, REDUCTIONS[reduce], **options)


@installed
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (call(torch.ones(3, dtype=torch.bool), "max"), "bool"),
        (call(torch.ones(3, dtype=torch.uint16), "min"), "uint16"),
        (call(torch.ones(3, device="meta")), "meta"),
        (Call("relax", torch.ones(3)), "it has no relax"),
    ],
)
def test_refusals(asked, words):
    assert words in torch_scatter.refuses(asked)


@installed
@pytest.mark.parametrize(
    ("reduce", "mode", "words"),
    [
        ("sum", "pull", None),
        ("max", "pull", None),
        ("sum", "push", "order"),
        ("max", "push", None),
        ("prod", "pull", "order"),
    ],
)
def test_what_is_refused_on_cuda(reduce, mode, words):
    graph = random_graph(6, 20)
    sub = pull(graph, graph.everything()) if mode == "pull" else push(graph)
    asked = call(torch.ones(6), reduce, sub=sub)
    why = torch_scatter._refuses_on_cuda(asked, asked.reduction, torch.float32)
    assert why is words or words in why


@installed
def test_torch_scatter_counts_with_32_bits_on_cuda():
    graph = random_graph(6, 20)
    asked = call(torch.ones(1).expand(6, 2**27), sub=pull(graph, graph.everything()))
    assert "32 bits" in torch_scatter._refuses_on_cuda(asked, asked.reduction, torch.float32)


def test_auto_does_not_choose_it(monkeypatch):
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    why = tg.explain(random_graph(6, 20), torch.ones(6), "max")
    assert why.startswith("aggregate: portable serves it") and "scatter does not: it is rarely the fastest" in why


def test_where_it_is_not_installed(monkeypatch):
    monkeypatch.setattr(library, "_found", lambda: (None, f"torch-scatter is not installed; {library.REMEDY}"))
    graph = random_graph(6, 20)
    sub = pull(graph, graph.everything())
    sub.backend = "scatter"
    with pytest.raises(ArgumentError, match=r"not installed; pip install 'tgraph\[scatter\]'.*make scatter"):
        tg.aggregate(sub, torch.ones(6))


def test_a_library_that_does_not_load(monkeypatch):
    def fails(name, *rest):
        if name == "torch_scatter":
            raise OSError("undefined symbol: _ZN3c10\nmore")
        return original(name, *rest)

    original = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", fails)
    module, why = library._found.__wrapped__()
    assert module is None and "does not load: undefined symbol: _ZN3c10;" in why
