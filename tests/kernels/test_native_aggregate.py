"""The compiled `aggregate` against the portable one: every dtype, reduction, edge operation, selection and width.
That both are right is held against plain Python in `test_operators`, and so are the gradients."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graph

import tgraph as tg
from tgraph import native
from tgraph.kernels import choose
from tgraph.kernels import native as native_backend
from tgraph.kernels.call import Call
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS
from tgraph.rows import Scratch

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32, torch.int64)
FLOATS = (torch.float32, torch.float64)
CLOSE = {torch.float32: 1e-4, torch.float64: 1e-11, torch.bfloat16: 3e-2, torch.float16: 4e-3}
COLUMNS = ((), (1,), (2,), (3,), (7,), (16,), (33,), (2, 5), (64,), (100,), (129,))


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    """As many threads for torch and the kernels."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def random_data(shape, dtype, seed=0):
    random = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return (torch.rand(shape, generator=random) + 0.5).to(dtype)
    if dtype == torch.bool:
        return torch.randint(2, shape, generator=random).bool()
    return torch.randint(0 if dtype == torch.uint8 else -3, 5, shape, generator=random).to(dtype)


def hub_graph(n=400, m=30000, seed=0, **options):
    """Half of the arcs lead to one vertex and a quarter leave it: rows of several pieces, and of many chunks."""
    random = torch.Generator().manual_seed(seed)
    src, dst = torch.randint(n, (2, m), generator=random).unbind()
    dst[: m // 2] = 3
    src[m // 4 : m // 2] = 3
    return tg.Graph.from_edges(src, dst, torch.rand(m, generator=random), num_vertices=n, **options)


def pull(graph, active, rows=None, width=None):
    selection = tg.neighbor_select(graph.transpose(), rows, width=width)
    return tg.reconstruct(graph, active, rows, selection, "pull")


def push(graph, rows=None, width=None):
    active = graph.everything() if rows is None else graph.select(rows)
    return tg.reconstruct(graph, active, rows, tg.neighbor_select(graph, rows, width=width))


def subgraphs(graph):
    """Whole and in part, with silent vertices, heads of rows, and a row twice."""
    n = graph.num_vertices
    some = torch.arange(n)[::3].contiguous()
    half = graph.select(torch.arange(n) % 2 == 0)
    return [
        pull(graph, graph.everything()),
        pull(graph, half),
        pull(graph, graph.nothing()),
        pull(graph, graph.everything(), some.flip(0)),
        pull(graph, half, some.to(torch.int32), 3),
        pull(graph, graph.everything(), None, 2),
        pull(graph, graph.everything(), torch.cat((some, some))),
        push(graph),
        push(graph, some),
        push(graph, some, 2),
        push(graph, None, 2),
        push(graph, torch.empty(0, dtype=torch.int64)),
        push(graph, some).reverse(),
    ]


def served(sub, data, reduce, edge="copy", weights=None, dtype=None):
    """What the native backend gives, which must not refuse."""
    sub.backend = "native"
    return tg.aggregate(sub, data, reduce, edge=edge, weights=weights, dtype=dtype)


def agree(sub, data, reduce, edge="copy", weights=None, dtype=None):
    found = served(sub, data, reduce, edge, weights, dtype)
    sub.backend = "portable"
    expected = tg.aggregate(sub, data, reduce, edge=edge, weights=weights, dtype=dtype)
    assert found.values.dtype == expected.values.dtype
    assert (found.vertices is None) == (expected.vertices is None)
    assert found.vertices is None or torch.equal(found.vertices, expected.vertices.to(torch.int64))
    adds = found.values.is_floating_point() and (reduce in ("sum", "mean", "prod") or edge in ("add", "mul"))
    tolerance = CLOSE[found.values.dtype] if adds else 0
    torch.testing.assert_close(found.values, expected.values, rtol=tolerance, atol=tolerance, equal_nan=True)


# ---- the same as the portable operators -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool, torch.uint8, torch.int8, torch.int16])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_copies(dtype, reduce):
    graph = random_graph(12, 60)
    for shape in ((), (3,), (2, 5)):
        for sub in subgraphs(graph):
            agree(sub, random_data((12, *shape), dtype), reduce)


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


@pytest.fixture(scope="module")
def alone():
    """Results of one thread by which to measure those of more."""
    return {}


@pytest.mark.parametrize("shape", [(), (5,), (70,)])
@pytest.mark.parametrize("reduce", ["sum", "mean", "min"])
def test_threads_change_no_bit(shape, reduce, threads, alone):
    graph = hub_graph()
    data = random_data((400, *shape), torch.float32)
    for index, sub in enumerate(subgraphs(graph)):
        for edge in ("copy", "mul"):
            found = served(sub, data, reduce, edge).values
            key = (shape, reduce, index, edge)
            assert torch.equal(found, alone.setdefault(key, found)), (key, threads)


def test_long_rows(threads):
    graph = hub_graph()
    for shape, edge in itertools.product(((), (5,), (70,)), ("copy", "mul")):
        for active in (graph.everything(), graph.select(torch.arange(0, 400, 2))):
            for reduce in ("sum", "mean", "max"):
                agree(pull(graph, active), random_data((400, *shape), torch.float64), reduce, edge, graph.weights)


def test_gradients_do_not_depend_on_threads(threads, alone):
    graph = hub_graph()
    for reduce, edge in (("sum", "mul"), ("max", "mul"), ("mean", "copy")):
        data = random_data((400, 70), torch.float32).requires_grad_()
        weights = graph.weights.clone().requires_grad_()
        received = tg.aggregate(graph, data, reduce, edge=edge, weights=weights)
        grads = torch.autograd.grad((received * received.detach().cos()).sum(), (data, weights)[: 1 + (edge == "mul")])
        for index, grad in enumerate(grads):
            assert torch.equal(grad, alone.setdefault(("grad", reduce, edge, index), grad)), threads


def test_a_sparse_push_uses_no_table_of_its_own_run():
    """The table keeps what earlier pushes wrote, which must not be taken for slots of this one."""
    graph = random_graph(50, 300)
    scratch = Scratch(50)
    for seed in range(20):
        rows = torch.randperm(50, generator=torch.Generator().manual_seed(seed))[: 1 + seed % 7]
        sub = push(graph, rows)
        sub.scratch = scratch
        agree(sub, random_data((50, 2), torch.float64, seed), "sum")


# ---- gradients ------------------------------------------------------------------------------------------------------


def smooth(sub, reduce, edge):
    def function(data, weights):
        received = served(sub, data, reduce, edge, weights)
        return torch.where(received.values.isinf(), 0, received.values)

    return function


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("edge", ["copy", "add", "mul"])
def test_first_and_second_derivatives(reduce, edge):
    for directed in (True, False):
        graph = random_graph(7, 12, directed=directed)
        random = torch.Generator().manual_seed(3)
        for shape, wide in (((), ()), ((2,), ()), ((2, 2), (2,)), ((2,), (2,))):
            data = torch.randn((7, *shape), dtype=torch.float64, generator=random).requires_grad_()
            weights = torch.randn((graph.num_arcs, *wide), dtype=torch.float64, generator=random).requires_grad_()
            for sub in subgraphs(graph):
                assert torch.autograd.gradcheck(smooth(sub, reduce, edge), (data, weights))
                if not shape or sub.is_whole:
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
            if reduce != "max" or dtype == torch.float32:  # rounding makes ties, whose first one wins
                torch.testing.assert_close(found.double(), exact, rtol=5e-2, atol=5e-2)


@pytest.mark.parametrize("reduce", ["min", "max"])
def test_the_first_of_equal_messages_takes_the_gradient(reduce):
    graph = tg.Graph.from_edges([0, 1, 2], [3, 3, 3])
    data = torch.tensor([1.0, 1, 1, 0], requires_grad=True)
    for sub in (pull(graph, graph.everything()), push(graph), push(graph, torch.tensor([0, 1, 2]))):
        (grad,) = torch.autograd.grad(served(sub, data, reduce).values[-1], data)
        assert grad.tolist() == [1, 0, 0, 0]


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


# ---- what it refuses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"data": torch.ones(3, requires_grad=True), "reduction": "prod"}, "product"),
        ({"data": torch.ones(3, requires_grad=True), "edge": "min", "weights": torch.ones(2)}, "edge='min'"),
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
        pushed = tg.reconstruct(graph, graph.everything(), rows, tg.neighbor_select(graph, rows))
        for sub in (pull(graph, graph.everything(), rows), pushed):
            with pytest.raises(IndexError):
                served(sub, torch.ones(6), "sum")


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
    with pytest.raises(ValueError, match="heard"):
        module.pull_float32(*structure, torch.ones(5, dtype=torch.bool), **good, **rest)


# ---- explain --------------------------------------------------------------------------------------------------------


def test_explain():
    graph = random_graph(6, 20, dtype=torch.float32)
    assert tg.explain(graph, torch.ones(6)) == "aggregate: native serves it"
    assert tg.explain(push(graph, torch.tensor([2])), torch.ones(6), "max", edge="add") == "aggregate: native serves it"
    why = tg.explain(graph, torch.ones(6, requires_grad=True), "prod")
    assert why == "aggregate: portable serves it (native does not: it has no gradient of a product)"
    with pytest.raises(tg.errors.ArgumentError, match="data"):
        tg.explain(graph, torch.ones(5))


def test_explain_names_kernels_that_are_turned_off(monkeypatch):
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    assert "TGRAPH_NATIVE=0" in tg.explain(random_graph(6, 20), torch.ones(6))
