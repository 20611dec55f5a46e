"""The portable backend on devices that are not available here: its operators are recorded and compared with theirs.

Runs on the CPU with `tgraph.core.system.devices` saying otherwise, without the compiled kernels, on data of at most
32 bits.
"""

import aten
import pytest
import torch
from native_samples import subgraphs
from strategies import random_data, random_graph

import tgraph as tg
from tgraph.core.system import devices
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

KINDS = {"mps": "mps", "rocm": "cuda", "xpu": "xpu"}  # what torch calls the device


@pytest.fixture(params=list(KINDS))
def device(request, monkeypatch):
    """The kind of device that everything seems to run on."""
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    monkeypatch.setattr(devices, "kind", lambda tensor: KINDS[request.param])
    return request.param


def holds(device, recorder):
    """Everything that ran is there on the device."""
    assert recorder.operators, "nothing ran"
    missing = sorted(name for name in recorder.operators if aten.lacks(device, name))
    assert not missing, f"{device} lacks {', '.join(missing)}; choose another operator in tgraph.core.system.devices"
    if device == "mps":
        assert not recorder.wide, f"mps has no float64: {', '.join(sorted(recorder.wide))}"
        assert ("prod", torch.int64) not in recorder.scatters, aten.MPS_LACKS["scatter_reduce of int64 by prod"]


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_aggregate(device, dtype, reduce):
    if device == "mps" and reduce == "prod" and dtype == torch.int32:
        pytest.skip(aten.MPS_LACKS["scatter_reduce of int64 by prod"])
    graph = random_graph(12, 60, dtype=dtype)
    expected, found = [], []
    for results, recorder in ((expected, None), (found, aten.Recorder())):
        with pytest.MonkeyPatch.context() as patch:
            if recorder is None:
                patch.setattr(devices, "kind", lambda tensor: "cpu")
            for sub in subgraphs(graph):
                sub.backend = "portable"
                for edge in EDGE_OPERATIONS:
                    data = random_data((12, 2), dtype)
                    data.requires_grad_(dtype.is_floating_point)
                    with recorder or torch.enable_grad():
                        received = tg.aggregate(sub, data, reduce, edge=edge)
                        results.append(received.values.detach())
                        if received.values.requires_grad:
                            received.values.float().sum().backward()
    holds(device, recorder)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
@pytest.mark.parametrize("mode", ["push", "pull", "auto"])
def test_relaxations(device, dtype, mode):
    graph = random_graph(40, 200, dtype=dtype)
    expected = tg.algorithms.sssp(graph, 0, mode=mode)
    with aten.Recorder() as recorder:
        found = tg.algorithms.sssp(random_graph(40, 200, dtype=dtype), 0, mode=mode, backend="portable")
        tg.algorithms.bfs(graph, 0, mode=mode, backend="portable")
        tg.algorithms.wcc(graph, backend="portable")
    holds(device, recorder)
    assert torch.equal(found, expected)


def test_linear_iterations(device):
    graph = random_graph(40, 200, dtype=torch.float32)
    with aten.Recorder() as recorder:
        tg.algorithms.pagerank(graph, backend="portable")
        tg.algorithms.hits(graph, backend="portable")
    holds(device, recorder)


@pytest.mark.parametrize("directed", [True, False])
def test_patterns(device, directed):
    graph = random_graph(40, 200, directed=directed)
    with aten.Recorder() as recorder:
        if not directed:
            tg.algorithms.triangle_count(graph, backend="portable")
        tg.algorithms.core_number(graph, backend="portable")
        tg.algorithms.cdlp(graph, iterations=3, backend="portable")
        depth = tg.algorithms.bfs(graph, 0, backend="portable")
        order, offset = tg.primitives.level_accumulate.levels(depth[None], backend="portable")
        for logarithms in (False, True):
            bias = torch.zeros(1, 40)
            tg.primitives.level_accumulate.sweep(graph, order, offset, bias, logarithms=logarithms, backend="portable")
    holds(device, recorder)


def test_graphs_are_built_and_transposed_on_the_device(device):
    src, dst = torch.randint(20, (2, 80), generator=torch.Generator().manual_seed(0), dtype=torch.int32).unbind()
    with aten.Recorder() as recorder:
        graph = tg.Graph.from_edges(src, dst, torch.ones(80), num_vertices=20)
        graph.transpose(), graph.mean_degree_met, graph.mean_weight, graph.weight_range
        tg.Graph.from_edges(src, dst, directed=False, multi="first", self_loops="drop")
    holds(device, recorder)


# ---- the lists ------------------------------------------------------------------------------------------------------


def test_what_is_known_to_be_missing_is_found_missing():
    """MPS has no segment_reduce in torch 2.13: were this to change, `devices.reduces_segments` could follow."""
    assert aten.lacks("mps", "segment_reduce") and aten.lacks("mps", "_segment_reduce_backward")
    assert not aten.lacks("rocm", "segment_reduce")
    assert not any(aten.lacks("mps", name) for name in ("index_add", "scatter_reduce.two", "add.Tensor", "view"))


def test_what_the_recorder_sees():
    with aten.Recorder() as recorder:
        torch.ones(3).double().scatter_reduce(0, torch.zeros(3, dtype=torch.int64), torch.ones(3).double(), "prod")
    assert "_to_copy" in recorder.wide and recorder.scatters == {("prod", torch.float64)}
