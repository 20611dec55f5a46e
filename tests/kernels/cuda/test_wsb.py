"""The CUDA pulls over tiles with bitmaps against the portable one, those on tensor cores among them."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import torch
from backends import portable
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graphs, random_data, random_graph

import tgraph as tg
from tgraph.core.dispatch import BACKENDS, supports_all
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Subgraph
from tgraph.formats import WSB
from tgraph.kernels.cuda import pull, runtime
from tgraph.kernels.cuda import wsb as kernels
from tgraph.kernels.cuda.pull import TYPES
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

CLOSE = {torch.float32: 1e-4, torch.float64: 1e-11, torch.bfloat16: 2e-2, torch.float16: 4e-3}
REDUCES = ("sum", "prod", "min", "max")
TF32 = 2e-3  # of 10 bits after the leading one


@pytest.fixture
def prepared(device, host):
    """The device, with the kernels for small graphs compiled at once where it is the shim."""
    if device.type == "cpu":
        host.prepare(kernels.instantiations())
    return device


@contextmanager
def rounding():
    """float32 may be rounded meanwhile."""
    matmul = torch.backends.cuda.matmul
    before, matmul.allow_tf32 = matmul.allow_tf32, True
    yield
    matmul.allow_tf32 = before


@pytest.fixture
def tf32():
    with rounding():
        yield


def agree(graph, device, data, reduce, edge="copy", tolerance=None):
    """The kernel gives what the portable backend computes from the stored rows."""
    if reduce in ("sum", "prod") and data.dtype == torch.int32:
        data = data.long()  # as layouts do
    sub = Subgraph(graph, graph.everything(), "pull", None, Selection(graph.offset, graph.neighbors), False)
    reduction = REDUCTIONS[reduce]
    weights = None if graph.weights is None else graph.weights.to(data.dtype)
    expected = portable.aggregate(sub, data, reduction, edge, weights).values
    tiles = WSB.from_graph(graph, min_density=0).to(device).tiles
    tiles = tiles._replace(weights=None if tiles.weights is None else tiles.weights.to(data.dtype))
    found = kernels.pull(tiles, data.to(device), reduction, edge)
    adds = data.is_floating_point() and (reduce in ("sum", "prod") or edge in ("add", "mul"))
    tolerance = tolerance or (CLOSE[data.dtype] if adds else 0)
    torch.testing.assert_close(found.cpu(), expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    return found


@pytest.mark.parametrize("dtype", TYPES)
def test_every_reduction_edge_operation_and_width(prepared, dtype):
    graph = random_graph(70, 400, dtype=dtype)
    for reduce in REDUCES:
        for columns in (1, 3, 40):
            agree(graph, prepared, random_data((70, columns), dtype), reduce)
        for edge in EDGE_OPERATIONS if reduce != "prod" else ():
            agree(graph, prepared, random_data((70, 7), dtype), reduce, edge)


@pytest.mark.parametrize("columns", [8, 9, 16, 64, 72, 100])
@pytest.mark.parametrize("dtype", kernels.MULTIPLIED)
def test_tensor_cores(prepared, tf32, dtype, columns):
    """Columns that fill strips, that begin one, and that cannot be read 16 bytes at a time."""
    tolerance = TF32 if dtype == torch.float32 else CLOSE[dtype]
    data = random_data((70, columns), dtype)
    assert kernels.multiplies(data, "sum", "mul")
    for graph in (random_graph(70, 400, dtype=dtype), random_graph(70, 2000)):
        agree(graph, prepared, data, "sum", tolerance=tolerance)
        if graph.weights is not None:
            agree(graph, prepared, data, "sum", "mul", tolerance)


def test_float32_is_rounded_where_that_is_allowed_only(prepared):
    graph, data = random_graph(70, 400), random_data((70, 8), torch.float32)
    exact = agree(graph, prepared, data, "sum", tolerance=1e-6)
    assert not kernels.multiplies(data, "sum", "copy")
    with rounding():
        assert not torch.equal(agree(graph, prepared, data, "sum", tolerance=TF32), exact)
        agree(graph, prepared, data.round(), "sum", tolerance=1e-6)  # which TF32 holds


@pytest.mark.parametrize("dtype", kernels.MULTIPLIED)
@pytest.mark.parametrize("columns", [8, 12])
def test_nan_and_infinity_reach_their_neighbours_only(prepared, tf32, dtype, columns):
    graph = random_graph(70, 400, dtype=dtype)
    for bad in (torch.nan, torch.inf, -torch.inf):
        data = random_data((70, columns), dtype)
        data[0], data[17, 3], data[42, columns - 1] = bad, bad, bad
        for edge in ("copy", "mul"):
            agree(graph, prepared, data, "sum", edge, TF32 if dtype == torch.float32 else CLOSE[dtype])


@pytest.mark.parametrize("columns", [8, 12])
def test_numbers_that_tf32_would_round_to_infinity_reach_their_neighbours_only(prepared, tf32, columns):
    """A row without an arc to them must not see infinity times 0, nor one with an arc infinity. None of them are in
    one column: sums that overflow to both sides depend on what is added first, and on what is rounded."""
    graph, largest = random_graph(70, 400, dtype=torch.float32), torch.finfo(torch.float32).max
    data = random_data((70, columns), torch.float32)
    data[0, 0], data[17, 3], data[42, columns - 1] = largest, -largest, largest * (1 - 2**-12)
    for edge in ("copy", "mul"):
        agree(graph, prepared, data, "sum", edge, TF32)


def test_weights_that_tf32_would_round_to_infinity(prepared, tf32):
    graph, largest = random_graph(70, 400, dtype=torch.float32), torch.finfo(torch.float32).max
    weights = graph.weights.clone()
    weights[::7] = largest
    data = random_data((70, 8), torch.float32) * 1e-3
    data[::2] = 0
    agree(tg.Graph(graph.offset, graph.neighbors, weights), prepared, data, "sum", "mul", TF32)


@pytest.mark.parametrize("bits", [0x7FFFFFFF, -1, 0x7F800001])
def test_every_nan_is_told_from_a_number(prepared, tf32, bits):
    """That which the hardware makes, the same with a sign, and a signaling one."""
    data = random_data((70, 8), torch.float32)
    data.view(torch.int32)[0] = bits
    agree(random_graph(70, 400), prepared, data, "sum", "copy", TF32)


@settings(max_examples=20)
@given(graph=graphs(min_vertices=1, dtypes=(None, torch.float32)), draw=st.data())
def test_any_graph(host_launch, graph, draw):
    edge = draw.draw(st.sampled_from(("copy",) if graph.weights is None else ("copy", "mul")))
    for dtype, columns in ((torch.float32, 1), (torch.float16, 8), (torch.bfloat16, 16)):
        data = random_data((graph.num_vertices, columns), dtype)
        for reduce in ("sum", "max"):
            agree(graph, torch.device("cpu"), data, reduce, edge, CLOSE[dtype])


def test_grids_that_are_too_large_for_one_launch(prepared, monkeypatch):
    monkeypatch.setattr(pull, "MAX_GRID", (2**31 - 1, 2))
    graph = random_graph(70, 400)
    for dtype in (torch.float16, torch.float64):
        agree(graph, prepared, random_data((70, 200), dtype), "sum")


def test_the_layout_calls_it(prepared, monkeypatch):
    """Where its data is on a CUDA device; that of the shim pretends to be."""
    if prepared.type == "cpu":
        monkeypatch.delitem(BACKENDS["native"].operators, "pull_tiles")
        served = BACKENDS["cuda"].operators["pull_tiles"]._replace(refuses=supports_all)
        monkeypatch.setitem(BACKENDS["cuda"].operators, "pull_tiles", served)
    launched = []

    def launch(kernel, *given, really=runtime.launch):
        launched.append(kernel.name)
        return really(kernel, *given)

    monkeypatch.setattr(runtime, "launch", launch)
    graph = random_graph(70, 400, dtype=torch.bfloat16)
    layout = WSB.from_graph(graph, min_density=0).to(prepared)
    for columns, name in ((8, "multiply_tiles"), (7, "pull_tiles")):
        data = random_data((70, columns), torch.bfloat16)
        found = layout.pull(data.to(prepared), "sum", "mul")
        assert launched.pop() == name and torch.equal(found, agree(graph, prepared, data, "sum", "mul"))


def test_refusals():
    tiles = WSB.from_graph(random_graph(70, 400), min_density=0).tiles
    assert "CUDA device" in kernels.refuses(tiles, torch.ones(70, 1))
    wide = tiles._replace(columns=tiles.columns.long())
    assert "int32" in kernels.refuses(wide, SimpleNamespace(device=torch.device("cuda")))
    for data, reduce, edge in (
        (torch.ones((2, 8), dtype=torch.float64), "sum", "copy"),
        (torch.ones((2, 7), dtype=torch.float16), "sum", "copy"),
        (torch.ones((2, 8), dtype=torch.float16), "max", "copy"),
        (torch.ones((2, 8), dtype=torch.float16), "sum", "add"),
    ):
        assert not kernels.multiplies(data, reduce, edge)
