"""The compiled `aggregate` against the portable one: every dtype, reduction, edge operation, selection and width.
That both are right is held against plain Python in `test_operators`, and so are the gradients."""

import itertools

import pytest
import torch
from backends import native as native_backend
from hypothesis import given
from hypothesis import strategies as st
from native_samples import hub_graph, pull, push, served, subgraphs
from strategies import graphs, random_data, random_graph, same_on_threads

import tgraph as tg
from tgraph.core.rows import Scratch
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels import choose
from tgraph.kernels.call import Call
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32, torch.int64)
FLOATS = (torch.float32, torch.float64)
CLOSE = {torch.float32: 1e-4, torch.float64: 1e-11, torch.bfloat16: 3e-2, torch.float16: 4e-3}
COLUMNS = ((), (1,), (2,), (3,), (7,), (16,), (33,), (2, 5), (64,), (100,), (129,))


def is_compiled(dtype, reduce, edge="copy"):
    """Whether messages of a dtype that have a weight each are reduced by compiled kernels."""
    if dtype in (torch.float16, torch.bfloat16):
        return reduce != "prod" and edge in ("copy", "mul")
    if reduce == "prod":
        return edge == "copy"
    return edge in (("copy", "mul") if reduce in ("sum", "mean") else ("copy", "mul", "add"))


def agree(sub, data, reduce, edge="copy", weights=None, dtype=None):
    """The native backend gives the results of the portable one, or refuses what it is not compiled for."""
    per_arc = isinstance(weights, torch.Tensor)
    sent = torch.promote_types(dtype or data.dtype, weights.dtype) if per_arc else dtype or data.dtype
    if not is_compiled(sent, reduce, edge if per_arc else "copy"):
        return refused(sub, data, reduce, edge, weights, dtype)
    found = served(sub, data, reduce, edge, weights, dtype)
    sub.backend = "portable"
    expected = tg.aggregate(sub, data, reduce, edge=edge, weights=weights, dtype=dtype)
    assert found.values.dtype == expected.values.dtype
    assert (found.vertices is None) == (expected.vertices is None)
    assert found.vertices is None or torch.equal(found.vertices, expected.vertices.to(torch.int64))
    adds = found.values.is_floating_point() and (reduce in ("sum", "mean", "prod") or edge in ("add", "mul"))
    tolerance = CLOSE[found.values.dtype] if adds else 0
    torch.testing.assert_close(found.values, expected.values, rtol=tolerance, atol=tolerance, equal_nan=True)


def refused(sub, data, reduce, edge, weights, dtype):
    sub.backend = "native"
    with pytest.raises(tg.errors.ArgumentError, match=f"reduce='{reduce}' with edge='{edge}' is not compiled"):
        tg.aggregate(sub, data, reduce, edge=edge, weights=weights, dtype=dtype)
    found = {}
    for sub.backend in ("auto", "portable"):
        found[sub.backend] = tg.aggregate(sub, data, reduce, edge=edge, weights=weights, dtype=dtype).values
    assert tg.explain(sub, data, reduce, edge=edge, weights=weights, dtype=dtype).startswith("aggregate: portable")
    assert torch.equal(found["auto"], found["portable"])


# ---- the same as the portable operators -----------------------------------------------------------------------------


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool, torch.uint8, torch.int8, torch.int16])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_copies(dtype, reduce):
    graph = random_graph(12, 60)
    for shape in ((), (3,), (2, 5)):
        for sub in subgraphs(graph):
            agree(sub, random_data((12, *shape), dtype), reduce)


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("edge", [edge for edge in EDGE_OPERATIONS if edge != "copy"])
def test_weights(dtype, edge):
    """One for all, one per arc, one per head, one per column, and such as are spread."""
    graph = random_graph(12, 60)
    m, random = graph.num_arcs, random_data
    reductions = ["sum", "mean", "min", "max", "prod"] if dtype.is_floating_point else ["sum", "min", "max", "prod"]
    for shape, wide in [((), ()), ((3,), ()), ((4, 3), (4,)), ((4, 3), (4, 3)), ((4, 3), (1, 3)), ((1,), (4,))]:
        for sub, reduce in itertools.product(subgraphs(graph), reductions):
            if reduce == "prod" and not dtype.is_floating_point:
                continue  # of int64, whose overflow differs in no way but takes no tolerance
            agree(sub, random((12, *shape), dtype), reduce, edge, random((m, *wide), dtype))
    for sub in subgraphs(graph):
        agree(sub, random((12, 3), dtype), "sum", edge, 2)
        agree(sub, random((12, 3), dtype), "any", edge, 0.5)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64])
def test_every_width(columns, dtype):
    """Blocks of columns, and what is left over."""
    graph = random_graph(40, 300, dtype=dtype)
    for reduce, edge in (("sum", "copy"), ("max", "copy"), ("sum", "mul")):
        for active in (graph.everything(), graph.select([0, 5, 7])):
            agree(pull(graph, active), random_data((40, *columns), dtype), reduce, edge)
        agree(push(graph, torch.arange(20)), random_data((40, *columns), dtype), reduce, edge)


@pytest.mark.parametrize("columns", COLUMNS)
def test_every_width_of_bytes(columns):
    """Numbers and truth, also of a row that is reduced by pieces."""
    for graph in (random_graph(40, 300), hub_graph(40, 9000)):
        for dtype, reduce in ((torch.bool, "any"), (torch.bool, "all"), (torch.uint8, "max"), (torch.uint8, "min")):
            data = random_data((40, *columns), dtype)
            agree(pull(graph, graph.select(range(0, 40, 2))), data, reduce)
            agree(push(graph, torch.arange(20)), data, reduce)


@pytest.mark.parametrize("edge", ["copy", "mul"])
def test_mixed_dtypes(edge):
    graph = random_graph(12, 60, dtype=torch.float32)
    for data, weights in itertools.product((*DTYPES, torch.bool), (*FLOATS, torch.int32, torch.int64, torch.bfloat16)):
        others = None if edge == "copy" else random_data((graph.num_arcs,), weights)
        for sub in subgraphs(graph)[::3]:
            for columns in ((), (3,)):
                agree(sub, random_data((12, *columns), data), "sum", edge, others)
                agree(sub, random_data((12, *columns), data), "sum", edge, others, torch.float64)
                if data.is_floating_point:
                    agree(sub, random_data((12, *columns), data), "mean", edge, others, torch.float64)


def test_float32_added_in_float64_keeps_what_float32_drops():
    graph = tg.Graph.from_edges(torch.arange(1, 4001), torch.zeros(4000, dtype=torch.int64))
    data = torch.full((4001,), 0.1)
    for columns in (data, data[:, None].expand(-1, 3)):
        found = tg.aggregate(graph, columns, "sum", dtype=torch.float64)[0]
        assert found.dtype == torch.float64 and torch.allclose(found, 4000 * data[:1].double(), rtol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_every_narrow_number_goes_through_unchanged(dtype):
    """Normal ones, those below, infinite ones and NaN; and what float32 rounds to them."""
    numbers = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype)
    n = len(numbers)
    ring = tg.Graph.from_edges(torch.arange(n), (torch.arange(n) + 1) % n)
    for data in (numbers, numbers[:, None].expand(-1, 9).contiguous()):
        found = tg.aggregate(ring, data, "max").roll(-1, 0)
        assert torch.equal(found.isnan(), data.isnan())
        assert torch.equal(found[~data.isnan()], data[~data.isnan()])
    pairs = tg.Graph.from_edges(torch.arange(n).repeat(2), torch.cat((torch.arange(n), (torch.arange(n) + 1) % n)))
    sums = numbers.float() + numbers.float().roll(1)
    found = tg.aggregate(pairs, numbers, "sum")
    assert torch.equal(found.nan_to_num(7.0), sums.to(dtype).nan_to_num(7.0))


def test_flushing_denormal_floats_keeps_those_of_float16():
    """If enabled, which some threads may be, float32 flushes denormal numbers to zero; all of
    float16 are normal float32."""
    numbers = torch.arange(0, 2**11, dtype=torch.int16).view(torch.float16)
    ring = tg.Graph.from_edges(torch.arange(2**11), (torch.arange(2**11) + 1) % 2**11)
    for data in (numbers, numbers[:, None].expand(-1, 9).contiguous()):
        if not torch.set_flush_denormal(True):
            pytest.skip("this processor always computes with denormal numbers")
        try:
            found = {reduce: tg.aggregate(ring, data, reduce) for reduce in ("sum", "max")}
        finally:
            torch.set_flush_denormal(False)
        for values in found.values():
            assert torch.equal(values.roll(-1, 0), data)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinities(dtype):
    graph = random_graph(12, 60)
    for number, columns, reduce in itertools.product(
        (torch.nan, torch.inf, -torch.inf), ((), (9,)), ("sum", "mean", "min", "max", "prod")
    ):
        data = random_data((12, *columns), dtype)
        data[4] = number
        for sub in subgraphs(graph)[:6]:
            agree(sub, data, reduce)


@given(graphs(dtypes=(torch.float32,)), st.sampled_from(list(REDUCTIONS)), st.sampled_from([(), (3,)]))
def test_any_graph(graph, reduce, columns):
    if graph.num_vertices or not columns:
        for sub in subgraphs(graph):
            agree(sub, random_data((graph.num_vertices, *columns), torch.float32), reduce)


def test_neighbors_of_int64():
    shape = random_graph(12, 60, dtype=torch.float32)
    graph = tg.Graph(shape.offset, shape.neighbors.to(torch.int64), shape.weights)
    wide = pull(graph, graph.everything())
    reverse = graph.transpose()
    wide.selection = tg.neighbor_select(
        tg.Graph(reverse.offset, reverse.neighbors.to(torch.int64), reverse.weights), None
    )
    for sub in (wide, push(graph), push(graph, torch.arange(4))):
        for columns in ((), (3,)):
            agree(sub, random_data((12, *columns), torch.float32), "sum", "mul")


def test_data_that_is_not_contiguous():
    graph = random_graph(12, 60)
    data = random_data((7, 24), torch.float32).t()[::2]
    for sub in subgraphs(graph):
        agree(sub, data, "sum")
        agree(sub, data[:, 0], "max")


# ---- order and threads ----------------------------------------------------------------------------------------------


@pytest.mark.covering(1)
@pytest.mark.parametrize("shape", [(), (5,), (70,)])
@pytest.mark.parametrize("reduce", ["sum", "mean", "min"])
def test_threads_change_no_bit(shape, reduce):
    graph = hub_graph()
    data = random_data((400, *shape), torch.float32)
    for sub, edge in itertools.product(subgraphs(graph), ("copy", "mul")):
        same_on_threads(lambda sub=sub, edge=edge: served(sub, data, reduce, edge).values)


def test_long_rows():
    """Cut into pieces, which gives other sums than one after the other, yet close ones."""
    graph = hub_graph()
    for shape, edge in itertools.product(((), (5,), (70,)), ("copy", "mul")):
        for active in (graph.everything(), graph.select(torch.arange(0, 400, 2))):
            for reduce in ("sum", "mean", "max"):
                agree(pull(graph, active), random_data((400, *shape), torch.float64), reduce, edge, graph.weights)


def test_a_sparse_push_trusts_no_table_of_an_earlier_one():
    """The table keeps what earlier pushes wrote, which must not be taken for slots of this one."""
    graph = random_graph(50, 300)
    scratch = Scratch(50)
    for seed in range(20):
        rows = torch.randperm(50, generator=torch.Generator().manual_seed(seed))[: 1 + seed % 7]
        sub = push(graph, rows)
        sub.scratch = scratch
        agree(sub, random_data((50, 2), torch.float64, seed), "sum")


# ---- what it refuses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"data": torch.ones(3), "edge": "mul", "weights": torch.ones(2), "reduction": "any"}, "'any'"),
        ({"data": torch.ones(3, dtype=torch.int32), "edge": "mul", "weights": torch.ones(2).int(),
          "reduction": "mean"}, "'mean'"),
        ({"data": torch.ones(3, dtype=torch.int8), "edge": "mul", "weights": torch.ones(2, dtype=torch.int8),
          "reduction": "min"}, "int8"),
        ({"data": torch.ones(3, 0)}, "columns"),
        ({"data": torch.ones(3, dtype=torch.uint16), "reduction": "min"}, "uint16"),
        ({"data": torch.ones(3, device="meta")}, "meta"),
    ],
)  # fmt: skip
def test_refusals(arguments, words):
    arguments = {"reduction": "sum", **arguments}
    arguments["reduction"] = REDUCTIONS[arguments["reduction"]]
    call = Call("aggregate", **arguments)
    assert words in native_backend.refuses(call)
    if call.data.device.type == "cpu":
        assert choose("auto", call).backend.name == "portable"


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_transforms_of_torch_func_are_served_otherwise():
    graph = random_graph(6, 20)
    many = torch.rand(4, 6)
    found = torch.vmap(lambda x: tg.aggregate(graph, x, "sum"))(many)
    torch.testing.assert_close(found, torch.stack([tg.aggregate(graph, x, "sum") for x in many]))
    grad = torch.func.grad(lambda x: tg.aggregate(graph, x, "sum").sum())(many[0])
    torch.testing.assert_close(grad, graph.out_degree.float())


def test_forward_mode_is_left_to_others():
    graph = random_graph(6, 20)
    with torch.autograd.forward_ad.dual_level():
        data = torch.autograd.forward_ad.make_dual(torch.ones(6), torch.ones(6))
        assert "forward-mode" in tg.explain(graph, data)


def test_rows_that_do_not_exist():
    graph = random_graph(6, 20)
    for vertex in (-1, 6):
        rows = torch.tensor([0, vertex])
        with pytest.raises(ArgumentError, match=f"{vertex} at position 1 is no vertex index"):
            tg.neighbor_select(graph, rows)
        with pytest.raises((ArgumentError, IndexError)):
            served(pull(graph, graph.everything(), rows), torch.ones(6), "sum")


def test_kernels_refuse_arrays_that_do_not_fit():
    module = native.load()
    graph = random_graph(6, 20)
    structure = (graph.neighbors, graph.offset, None, -1)
    good = {"data": torch.ones(6), "columns": 1, "weights": torch.ones(20), "heads": 1, "reduce": "sum", "edge": "mul"}
    rest = {"identity": 0.0, "mean": False, "out": torch.empty(6)}
    for wrong in (
        {"data": torch.ones(5)},
        {"columns": 2},
        {"columns": 0},
        {"heads": 2},
        {"weights": torch.ones(19)},
        {"weights": None},
        {"out": torch.empty(5)},
        {"reduce": "median"},
        {"edge": "power"},
    ):
        with pytest.raises(ValueError):
            module.pull_float32(*structure, None, **{**good, **rest, **wrong})
    with pytest.raises(ValueError, match="active"):
        module.pull_float32(*structure, torch.ones(5, dtype=torch.bool), **good, **rest)


# ---- explain --------------------------------------------------------------------------------------------------------


def test_explain():
    graph = random_graph(6, 20, dtype=torch.float32)
    assert tg.explain(graph, torch.ones(6)) == "aggregate: native serves it"
    assert tg.explain(push(graph, torch.tensor([2])), torch.ones(6), "max", edge="add") == "aggregate: native serves it"
    why = tg.explain(graph, torch.ones(6, requires_grad=True), "prod")
    assert why.startswith("aggregate: portable serves it (native does not: it has no gradient of a product; ")
    why = tg.explain(graph, torch.ones(6, requires_grad=True), edge="min")
    assert why.startswith("aggregate: portable serves it (native does not: it has no gradient of edge='min'; ")
    with pytest.raises(tg.errors.ArgumentError, match="data"):
        tg.explain(graph, torch.ones(5))


def test_explain_names_kernels_that_are_turned_off(monkeypatch):
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    assert "TGRAPH_NATIVE=0" in tg.explain(random_graph(6, 20), torch.ones(6))


def pushed(sub, data, reduce, edge):
    """The receivers, and the values received."""
    received = served(sub, data, reduce, edge)
    return torch.stack((received.vertices.double(), received.values.double()))


@pytest.mark.parametrize("edge", ["copy", "mul"])
@pytest.mark.parametrize(("reduce", "dtype"), [("sum", torch.float32), ("sum", torch.int64), ("min", torch.float64)])
def test_a_push_of_many_arcs_of_a_vertex_on_any_number_of_threads(reduce, dtype, edge):
    graph = tg.generators.rmat(13, 24, directed=True, seed=2)
    graph = tg.Graph(graph.offset, graph.neighbors, (graph.neighbors % 5).to(dtype))
    sub = tg.Program().tensorize(graph, graph.select(torch.arange(0, graph.num_vertices, 2)), "push")
    sub.scratch = Scratch(graph.num_vertices)
    data = random_data((graph.num_vertices,), torch.float32).mul(100).to(dtype)
    same_on_threads(lambda: pushed(sub, data, reduce, edge))
    agree(sub, data, reduce, edge, graph.weights)
