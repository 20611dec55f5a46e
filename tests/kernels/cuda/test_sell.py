"""The CUDA pull over padded slices against the portable one."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pull_samples import REDUCES, agree_by_rows
from strategies import graphs, random_data, random_graph

from tgraph.core.dispatch import BACKENDS, supports_all
from tgraph.formats import ELL, SELL
from tgraph.kernels.cuda import pull, runtime
from tgraph.kernels.cuda import sell as kernels
from tgraph.kernels.cuda.pull import TYPES
from tgraph.kernels.reductions import EDGE_OPERATIONS


@pytest.fixture
def prepared(device, host):
    """The device, with the kernels for small graphs compiled at once where it is the shim."""
    if device.type == "cpu":
        host.prepare(kernel for kernel in kernels.instantiations() if kernel.types[1] == "int32_t")
    return device


def agree(layout, graph, device, *arguments):
    return agree_by_rows(kernels, layout.to(device).slices, graph, device, *arguments)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_reduction_edge_operation_and_width(prepared, dtype):
    graph = random_graph(70, 400, dtype=dtype)
    for options in ({"C": 32, "sigma": 64}, {"C": 5, "sigma": 1}):
        layout = SELL.from_graph(graph, **options)
        for reduce in REDUCES:
            for columns in (1, 3, 8, 16, 40):
                agree(layout, graph, prepared, random_data((70, columns), dtype), reduce)
            for edge in EDGE_OPERATIONS if reduce != "prod" else ():
                agree(layout, graph, prepared, random_data((70, 8), dtype), reduce, edge)


@settings(max_examples=20)
@given(graph=graphs(min_vertices=1, dtypes=(torch.float32,)), reduce=st.sampled_from(("sum", "max")))
def test_any_graph(host_launch, graph, reduce):
    for layout in (SELL.from_graph(graph, C=4, sigma=8), ELL.from_graph(graph, limit=1e9)):
        for columns in (1, 4):
            data = random_data((graph.num_vertices, columns), torch.float32)
            agree(layout, graph, torch.device("cpu"), data, reduce, "mul")


def test_padding_sends_nothing(prepared):
    """Vertex 0 is what padding names."""
    graph = random_graph(70, 400, dtype=torch.float32)
    for bad in (torch.nan, torch.inf):
        data = random_data((70, 4), torch.float32)
        data[0] = bad
        for layout in (SELL.from_graph(graph), ELL.from_graph(graph, limit=1e9)):
            for reduce in ("sum", "max"):
                agree(layout, graph, prepared, data, reduce, "mul")


def test_grids_that_are_too_large_for_one_launch(prepared, monkeypatch):
    monkeypatch.setattr(pull, "MAX_GRID", (2**31 - 1, 2))
    graph = random_graph(70, 400)
    agree(SELL.from_graph(graph), graph, prepared, random_data((70, 300), torch.float32), "sum")


def test_the_layout_calls_it(prepared, monkeypatch):
    """Where its data is on a CUDA device; that of the shim pretends to be."""
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    if prepared.type == "cpu":
        served = BACKENDS["cuda"].operators["pull_slices"]._replace(refuses=supports_all)
        monkeypatch.setitem(BACKENDS["cuda"].operators, "pull_slices", served)
    launched = []
    monkeypatch.setattr(runtime, "launch", lambda *given, really=runtime.launch: launched.append(really(*given)))
    graph = random_graph(70, 400, dtype=torch.float32)
    data = random_data((70, 1), torch.float32)
    found = SELL.from_graph(graph).to(prepared).pull(data.to(prepared), "sum", "mul")
    assert launched and torch.equal(found, agree(SELL.from_graph(graph), graph, prepared, data, "sum", "mul"))


def test_refusals():
    slices = SELL.from_graph(random_graph(70, 400)).slices
    assert "CUDA device" in kernels.refuses(slices, torch.ones(70, 1), "copy")
