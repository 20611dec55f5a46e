"""The sparse backend against the portable one: sums and means over whole graphs, and their derivatives."""

import itertools
import types

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from native_samples import agree, pull, push, received_by
from strategies import graphs, random_data, random_graph

import tgraph as tg
from tgraph.kernels import torch_sparse
from tgraph.kernels.call import Call
from tgraph.kernels.reductions import REDUCTIONS
from tgraph.kernels.torch_sparse import matrix

pytestmark = pytest.mark.skipif(not torch.backends.mkl.is_available(), reason="this torch is built without MKL")

FLOATS = (torch.float32, torch.float64)


def whole(graph):
    return pull(graph, graph.everything()), push(graph)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (64,), (2, 5)])
@pytest.mark.parametrize("directed", [True, False])
def test_sums_and_means(dtype, reduce, shape, directed):
    graph = random_graph(30, 200, directed=directed, dtype=dtype)
    data, others = random_data((30, *shape), dtype), random_data((graph.num_arcs,), dtype, 1)
    for sub in whole(graph):
        agree("sparse", sub, data, reduce)
        agree("sparse", sub, data, reduce, "mul")  # the stored weights, which are not copied
        agree("sparse", sub, data, reduce, "mul", others)
        agree("sparse", sub, data, reduce, "mul", 0.5)
        agree("sparse", sub, data.t().contiguous().t() if len(shape) == 1 else data, reduce)


def test_mixed_dtypes():
    graph = random_graph(12, 60)
    for data, weights in itertools.product(FLOATS, (*FLOATS, torch.int32, torch.float16)):
        others = random_data((graph.num_arcs,), weights)
        for sub in whole(graph):
            agree("sparse", sub, random_data((12, 3), data), "sum", "mul", others)
            agree("sparse", sub, random_data((12, 3), data), "sum", "mul", others, torch.float64)
    agree("sparse", whole(graph)[0], random_data((12,), torch.int64), "sum", "copy", None, torch.float64)


@given(graphs(min_vertices=1, dtypes=FLOATS, lowest=-9), st.sampled_from(["sum", "mean"]), st.sampled_from([(), (3,)]))
def test_any_graph(graph, reduce, columns):
    for sub in whole(graph):
        agree("sparse", sub, random_data((graph.num_vertices, *columns), torch.float32), reduce, "mul")
        agree("sparse", sub, random_data((graph.num_vertices, *columns), torch.float32), reduce)


def test_nan_and_infinities_reach_their_neighbours_only():
    graph = random_graph(12, 60)
    for number, columns in itertools.product((torch.nan, torch.inf), ((), (9,))):
        data = random_data((12, *columns), torch.float32)
        data[4] = number
        for sub in whole(graph):
            agree("sparse", sub, data, "sum")


def test_neighbors_of_int64():
    shape = random_graph(12, 60, dtype=torch.float32)
    graph = tg.Graph(shape.offset, shape.neighbors, shape.weights)
    object.__setattr__(graph, "neighbors", graph.neighbors.long())  # as where n does not fit int32
    found = torch_sparse.aggregate(push(graph).reverse(), torch.ones(12, 2), REDUCTIONS["sum"], "copy", None)
    torch.testing.assert_close(found.values, graph.out_degree[:, None].expand(-1, 2).float())


# ---- gradients ------------------------------------------------------------------------------------------------------


@pytest.mark.covering(1)
@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("directed", [True, False])
def test_first_and_second_derivatives(reduce, shape, directed):
    graph = random_graph(5, 7, directed=directed)
    random = torch.Generator().manual_seed(3)
    data = torch.randn((5, *shape), dtype=torch.float64, generator=random).requires_grad_()
    weights = torch.randn(graph.num_arcs, dtype=torch.float64, generator=random).requires_grad_()
    for sub in whole(graph):

        def function(data, weights=None, sub=sub):
            return received_by("sparse", sub, data, reduce, "copy" if weights is None else "mul", weights).values

        assert torch.autograd.gradcheck(function, (data, weights))
        assert torch.autograd.gradgradcheck(function, (data, weights))
        assert torch.autograd.gradcheck(function, (data,))


@given(graphs(min_vertices=1, dtypes=(torch.float64,)), st.sampled_from(["sum", "mean"]), st.booleans())
def test_the_gradients_of_the_portable_backend(graph, reduce, own):
    """With the graph's weights too, whose order in the transpose is known, and those that want a gradient."""
    data = torch.randn((graph.num_vertices, 2), dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    data = data.requires_grad_()
    weights = graph.weights.clone().requires_grad_() if own else None
    for sub in whole(graph):
        found, expected = (
            torch.autograd.grad(
                received_by(name, sub, data, reduce, "mul", weights).values.sin().sum(),
                (data, weights) if own else (data,),
            )
            for name in ("sparse", "portable")
        )
        torch.testing.assert_close(found, expected)


def test_weights_of_a_graph_that_are_learnt():
    drawn = random_graph(12, 60, dtype=torch.float64)
    grads = []
    for backend in ("sparse", "portable"):
        graph = tg.Graph(drawn.offset, drawn.neighbors, drawn.weights.clone().requires_grad_())
        sub = pull(graph, graph.everything())
        sub.backend = backend
        tg.aggregate(sub, random_data((12, 3), torch.float64), "sum", edge="mul").values.sin().sum().backward()
        grads.append(graph.weights.grad)
    torch.testing.assert_close(*grads)


# ---- what is kept ---------------------------------------------------------------------------------------------------


def test_what_is_derived_is_kept_on_the_graph():
    graph = random_graph(12, 60, dtype=torch.float32)
    sub = pull(graph, graph.everything())
    sub.backend = "sparse"
    data = random_data((12, 2), torch.float32).requires_grad_()
    tg.aggregate(sub, data, "sum", edge="mul").values.sum().backward()
    tg.aggregate(sub, data, "sum").values.sum().backward()
    kept = (graph, graph.transpose())
    for stored in kept:
        assert {"_sparse_offset", "_sparse_ones_float32"} <= set(stored.caches)
    tensors = [stored._cache.values["_sparse_offset"] for stored in kept]
    tg.aggregate(sub, data, "sum").values.sum().backward()
    assert all(stored._cache.values["_sparse_offset"] is before for stored, before in zip(kept, tensors, strict=True))


def test_stored_weights_are_shared():
    graph = random_graph(12, 60, dtype=torch.float32)
    mirrored = matrix.Matrix(graph, True)
    values = graph.transpose().weights
    assert mirrored.tensor(values, torch.float32).values().data_ptr() == values.data_ptr()
    assert mirrored.values_of_transposed(values).data_ptr() == graph.weights.data_ptr()
    assert mirrored.transposed().values_of_transposed(graph.weights).data_ptr() == values.data_ptr()


# ---- what it refuses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (torch.ones(6), {"reduction": "max"}, "'max'"),
        (torch.ones(6), {"edge": "add", "weights": 1.0}, "edge='add'"),
        (torch.ones(6, dtype=torch.int64), {}, "int64"),
        (torch.ones(6, dtype=torch.bfloat16), {}, "bfloat16"),
        (torch.ones(6, 0), {}, "columns"),
        (torch.ones(6, 2), {"edge": "mul", "weights": torch.ones(20, 2)}, "one weight for each arc"),
        (torch.ones(6, device="meta"), {}, "meta"),
    ],
)
def test_refusals(data, options, words):
    graph = random_graph(6, 20)
    reduction = REDUCTIONS[options.pop("reduction", "sum")]
    sub = pull(graph, graph.everything())
    assert words in torch_sparse.refuses(Call("aggregate", data, reduction, sub=sub, **options))


def test_refusals_of_arcs():
    graph = random_graph(6, 20)
    for sub, words in (
        (pull(graph, graph.select([0])), "some vertices"),
        (pull(graph, graph.everything(), torch.tensor([1])), "some arcs"),
        (push(graph, torch.tensor([1])), "some arcs"),
        (push(graph, None, 2), "some arcs"),
        (None, "some arcs"),
    ):
        assert words in torch_sparse.refuses(Call("aggregate", torch.ones(6), REDUCTIONS["sum"], sub=sub))


def test_more_arcs_than_int32_counts():
    graph = types.SimpleNamespace(num_arcs=2**31)
    held = types.SimpleNamespace(is_whole=True, stored_neighbors=torch.empty(0, dtype=torch.int32))
    sub = types.SimpleNamespace(graph=graph, selection=held, sends_partly=False)
    assert "number of arcs" in torch_sparse._refuses_arcs(sub)


def test_auto_takes_it_where_there_are_no_compiled_kernels(monkeypatch):
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    graph = random_graph(6, 20)
    assert tg.explain(graph, torch.ones(6)).startswith("aggregate: sparse serves it (native does not")
    assert tg.explain(graph, torch.ones(6), "max").startswith("aggregate: portable serves it")


def test_auto_does_not_choose_cusparse():
    asked = types.SimpleNamespace(data=types.SimpleNamespace(is_cuda=True))
    assert "order" in torch_sparse.yields(asked)
    assert torch_sparse.yields(Call("aggregate", torch.ones(3))) is None
