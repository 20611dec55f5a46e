"""Features in files: aggregated, put through functions and permuted as in memory, within a budget."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from strategies import graphs, grid, random_graph, refused
from streams import streamed

import tgraph as tg
from tgraph.errors import ArgumentError, FileFormatError, MemoryBudgetError
from tgraph.stream.features import aggregation
from tgraph.stream.features.matrix import FeatureFile, create_features
from tgraph.stream.file.writing import write_partitioned
from tgraph.stream.run import budget

REDUCES = ("sum", "mean", "min", "max")
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
ENOUGH = 10**7


def features(n, width, dtype=torch.float32, seed=0):
    return torch.randn(n, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def stored(path, values, by_column=False):
    """The values in a file, as a user would save them."""
    if path.suffix == ".npy":
        np.save(path, np.asarray(values.numpy(), order="F" if by_column else "C"))
    else:
        save_file({"columns" if by_column else "x": (values.t() if by_column else values).contiguous()}, path)
    return path


def loaded(path):
    """The values in a file, read by numpy."""
    if path.suffix == ".npy":
        return torch.from_numpy(np.ascontiguousarray(np.load(path)))
    ((name, values),) = load_file(path).items()
    return values.t().contiguous() if name == "columns" else values


def same(found, wanted, tolerance=1e-5):
    assert found.dtype == wanted.dtype
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def least(call, *arguments, **options):
    """The smallest budget of a call, as its error names it."""
    with pytest.raises(MemoryBudgetError) as caught:
        call(*arguments, memory=1, **options)
    return caught.value.needed


# ---- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (0, 0), (1, 1), (1, 4), (7, 1), (7, 4)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("suffix", [".npy", ".safetensors"])
def test_files_are_read_and_written(tmp_path, suffix, dtype, shape, by_column):
    if suffix == ".npy" and dtype == torch.bfloat16:
        return
    values, path = features(*shape, dtype), tmp_path / f"x{suffix}"
    with create_features(path, shape, dtype, by_column=by_column, piece=8) as writer:
        writer.write(values[:3], 0)
        writer.write(values[3:], 3)
    assert torch.equal(loaded(path), values)
    again = stored(tmp_path / f"again{suffix}", values, by_column)
    for each in (path, again):
        with FeatureFile(each) as file:
            assert (file.shape, file.dtype) == (shape, dtype)
            assert torch.equal(file.read(slice(0, shape[0])), values)
            part = slice(shape[1] // 3, shape[1] - shape[1] // 3)
            assert torch.equal(file.read(slice(0, shape[0] // 2), part), values[: shape[0] // 2, part])


def test_a_tensor_of_several_is_named(tmp_path):
    save_file({"x": torch.ones(3, 2), "y": torch.zeros(3, dtype=torch.int64)}, tmp_path / "two.safetensors")
    assert FeatureFile(tmp_path / "two.safetensors", "x").shape == (3, 2)
    refused(r"tensor: None is none of .*'x', 'y'", FeatureFile, tmp_path / "two.safetensors")
    refused(r"source: .* holds I64", FeatureFile, tmp_path / "two.safetensors", "y")


@pytest.mark.parametrize("suffix", [".npy", ".safetensors"])
def test_a_damaged_file_is_named(tmp_path, suffix):
    path = stored(tmp_path / f"x{suffix}", features(50, 4))
    whole = path.read_bytes()
    for end in (0, 3, 8, 20, 100, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(FileFormatError, match=f"x{suffix}"):
            FeatureFile(path)
    path.write_bytes(whole)
    with FeatureFile(path) as file:
        os.truncate(path, len(whole) - 8)
        with pytest.raises(FileFormatError, match="ends at byte"):
            file.read(slice(0, 50))


@pytest.mark.parametrize(
    "array", [np.ones((3, 2), np.int64), np.ones(3), np.ones((3, 2, 2)), np.ones((3, 2), ">f4"), np.ones((3, 2), bool)]
)
def test_what_is_no_matrix_of_floats_is_refused(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(ArgumentError, match=r"source: .*x\.npy"):
        tg.stream.aggregate(grid(1, 3), tmp_path / "x.npy", tmp_path / "out.npy", memory=ENOUGH)
    assert not (tmp_path / "out.npy").exists()


# ---- aggregate -------------------------------------------------------------------------------------------------------


@pytest.mark.covering(1)
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("directed", [False, True])
def test_aggregates_are_those_in_memory_for_any_number_of_passes(tmp_path, directed, reduce, by_column):
    graph, width = random_graph(60, 300, directed=directed, dtype=torch.float32), 13
    values = features(60, width)
    source = stored(tmp_path / "x.npy", values, by_column)
    for blocks in (7, 64):
        held = streamed(graph, blocks)
        for edge in ("copy", "mul"):
            needed = least(tg.stream.aggregate, held, source, tmp_path / "y.npy", reduce, edge=edge)
            for memory in (needed, needed + 1500):
                found = tg.stream.aggregate(held, source, tmp_path / "y.npy", reduce, edge=edge, memory=memory)
                assert found.by_column
                same(loaded(tmp_path / "y.npy"), tg.aggregate(graph, values, reduce, edge=edge))
    assert {path.name for path in tmp_path.iterdir()} == {"x.npy", "y.npy"}


@given(
    graph=graphs(dtypes=(torch.float32, torch.int32, torch.float64)),
    width=st.integers(0, 5),
    dtype=st.sampled_from(DTYPES),
    reduce=st.sampled_from(REDUCES),
    edge=st.sampled_from(["copy", "mul"]),
    blocks=st.sampled_from([1, 2, 7]),
    slack=st.sampled_from([0, 300, ENOUGH]),
)
def test_aggregates_of_any_graph(tmp_path_factory, graph, width, dtype, reduce, edge, blocks, slack):
    path = tmp_path_factory.mktemp("features") / "y.safetensors"
    values, held = features(graph.num_vertices, width, dtype), streamed(graph, blocks)
    needed = least(tg.stream.aggregate, held, values, path, reduce, edge=edge)
    tg.stream.aggregate(held, values, path, reduce, edge=edge, memory=needed + slack)
    wanted = tg.aggregate(graph, values, reduce, edge=edge)
    same(loaded(path), wanted, 2e-2 if dtype.itemsize == 2 else 1e-5)


def test_hubs_over_many_blocks_and_vertices_without_arcs(tmp_path):
    spokes = torch.arange(10, 400)
    graph = tg.Graph.from_edges(spokes, torch.full_like(spokes, 9), torch.rand(390), num_vertices=450)
    graph = tg.Graph.from_edges(torch.cat([spokes, spokes[:5]]), torch.cat([0 * spokes + 9, spokes[:5] + 20]))
    values = features(graph.num_vertices, 6, torch.float64)
    for held in (graph, graph.transpose()):
        for reduce in REDUCES:
            tg.stream.aggregate(streamed(held, 64), values, tmp_path / "y.npy", reduce, memory=ENOUGH)
            same(loaded(tmp_path / "y.npy"), tg.aggregate(held, values, reduce), 1e-12)


@pytest.mark.parametrize("vertices", [0, 1, 5])
def test_graphs_without_arcs(tmp_path, vertices):
    held = streamed(tg.Graph.from_edges([], [], num_vertices=vertices), 7)
    for reduce, number in (("sum", 0), ("mean", 0), ("min", torch.inf), ("max", -torch.inf)):
        tg.stream.aggregate(held, torch.ones(vertices, 3), tmp_path / "y.npy", reduce, memory=ENOUGH)
        assert torch.equal(loaded(tmp_path / "y.npy"), torch.full((vertices, 3), float(number)))


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_opened_transposed_and_in_memory(tmp_path, directed):
    graph = random_graph(80, 500, directed=directed, dtype=torch.float64)
    write_partitioned(graph, tmp_path / "graph.tg", tg.stream.partition(graph, 6, method="wcp"))
    held = tg.open(tmp_path / "graph.tg", memory="60kB")
    values, path = features(80, 9), tmp_path / "y.npy"
    moved = tg.stream.permute(values, held.order, tmp_path / "moved.npy")
    wanted = tg.aggregate(graph, values, edge="mul")
    tg.stream.permute(tg.stream.aggregate(held, moved, path, edge="mul"), held.order, path, inverse=True)
    same(loaded(path), wanted)
    tg.stream.aggregate(held.transpose(), moved, path, edge="mul")
    same(held.restore(loaded(path)), tg.aggregate(graph.transpose(), values, edge="mul"))
    for each in (graph, graph.to_format("sell")):
        tg.stream.aggregate(each, values, path, edge="mul", memory="60kB")
        same(loaded(path), wanted)
    with pytest.raises(ArgumentError, match="memory: a graph in memory"):
        tg.stream.aggregate(graph, values, path)


@pytest.mark.parametrize("directed", [False, True])
def test_blocks_that_are_compressed(tmp_path, directed):
    src, dst = torch.arange(60).view(6, 10)[:, :, None].expand(-1, -1, 10), torch.arange(60).view(6, 1, 10)
    cliques = (src.flatten(), dst.expand(-1, 10, -1).flatten())
    graph = tg.Graph.from_edges(*cliques, directed=directed, num_vertices=64)
    write_partitioned(graph, tmp_path / "graph.tg", 3, layout="virtual")
    held, values = tg.open(tmp_path / "graph.tg", memory="200kB"), features(64, 7, torch.bfloat16)
    assert held.layout.source.virtual_rows
    for reduce in REDUCES:
        needed = least(tg.stream.aggregate, held, values, tmp_path / "y.safetensors", reduce)
        for memory in (needed, needed + 1000):
            tg.stream.aggregate(held, values, tmp_path / "y.safetensors", reduce, memory=memory)
            same(loaded(tmp_path / "y.safetensors"), tg.aggregate(graph, values, reduce), 1e-2)


def test_files_by_rows_are_turned_once_where_few_columns_fit(tmp_path, monkeypatch):
    graph, values = streamed(grid(9, 9), 3), features(81, 40)
    source, turned = stored(tmp_path / "x.npy", values), []
    apply = aggregation.apply
    monkeypatch.setattr(aggregation, "apply", lambda *given, **named: turned.append(0) or apply(*given, **named))
    needed = least(tg.stream.aggregate, graph, source, tmp_path / "y.npy")
    for memory, times in ((needed, 1), (ENOUGH, 1), (needed, 2)):
        tg.stream.aggregate(graph, source, tmp_path / "y.npy", memory=memory)
        assert len(turned) == times
        same(loaded(tmp_path / "y.npy"), tg.aggregate(grid(9, 9), values))
    stored(tmp_path / "x.npy", values, by_column=True)
    tg.stream.aggregate(graph, source, tmp_path / "y.npy", memory=needed)
    assert len(turned) == 2


def test_progress_counts_columns(tmp_path, capsys):
    tg.stream.aggregate(streamed(grid(3, 3)), features(9, 5), tmp_path / "y.npy", memory=ENOUGH, progress=True)
    assert "5/5" in capsys.readouterr().err


def test_buffers_of_the_graph_are_released_and_allocated_again(tmp_path):
    graph = grid(20, 20)
    held = streamed(graph, 7, 7)
    wanted = tg.algorithms.pagerank(held)
    tg.stream.aggregate(held, features(400, 3), tmp_path / "y.npy")
    assert torch.equal(tg.algorithms.pagerank(held), wanted)


def test_what_does_not_fit_the_graph_is_named(tmp_path):
    graph, path = grid(3, 3), tmp_path / "y.npy"
    held = streamed(graph, 2)
    for source, options, message in (
        (features(8, 2), {}, "source: features of 8 vertices, the graph has 9"),
        (features(9, 2).long(), {}, r"source: expected floating numbers \[n, F\], got torch.int64"),
        (features(9, 2)[:, 0], {}, r"source: .*\[9\]"),
        ([1, 2], {}, "source: expected a path"),
        (features(9, 2), {"edge": "mul"}, "edge: 'mul' needs weights"),
        (features(9, 2), {"edge": "add"}, "edge: 'add' is not one of"),
        (features(9, 2), {"reduce": "prod"}, "reduce: 'prod' is not one of"),
        (features(9, 2), {"memory": "much"}, "memory: 'much'"),
        (features(9, 2).bfloat16(), {}, r"path: .*y\.npy cannot hold torch.bfloat16"),
    ):
        with pytest.raises(ArgumentError, match=message):
            tg.stream.aggregate(held, source, path, **options)
    with pytest.raises(ArgumentError, match=r"path: .*y\.txt is of no known format"):
        tg.stream.aggregate(held, features(9, 2), tmp_path / "y.txt")
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_the_file_of_before(tmp_path):
    graph, values, path = grid(9, 9), features(81, 2), tmp_path / "y.npy"
    tg.stream.aggregate(streamed(graph), values, path, memory=ENOUGH)
    write_partitioned(graph, tmp_path / "graph.tg", 4)
    held = tg.open(tmp_path / "graph.tg", memory="100kB")
    with (tmp_path / "graph.tg").open("r+b") as file:
        file.seek(held.layout.section.index[3].position)
        file.write(b"\xff")
    with pytest.raises(FileFormatError, match="block 3"):
        tg.stream.aggregate(held, 2 * values, path)
    same(loaded(path), tg.aggregate(graph, values))
    assert {each.name for each in tmp_path.iterdir()} == {"y.npy", "graph.tg"}


@pytest.mark.parametrize("call", ["aggregate", "apply", "permute"])
def test_a_full_disk_is_reported_with_what_is_needed(tmp_path, monkeypatch, call):
    def full(file, begin, nbytes):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    values, path = features(9, 4), tmp_path / "y.npy"
    calls = {
        "aggregate": lambda: tg.stream.aggregate(streamed(grid(3, 3)), values, path, memory=ENOUGH),
        "apply": lambda: tg.stream.apply(values, torch.relu, path),
        "permute": lambda: tg.stream.permute(values, torch.arange(9), path),
    }
    with pytest.raises(OSError, match=r"272 bytes are needed.*y\.npy"):
        calls[call]()
    assert not list(tmp_path.iterdir())


MEASURED = """
import pathlib, sys, torch
import tgraph as tg

def peak():  # getrusage would begin with the peak of the process that started this one
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])

def infer(folder, budget):
    graph, x = tg.open(folder + "/graph.tg", memory=budget), folder + "/x.npy"
    heard = tg.stream.aggregate(graph, x, folder + "/heard.npy", "mean")
    layer = torch.nn.Linear(128, 32)
    sent = tg.stream.apply((x, heard), lambda x, y: layer(x + y).relu(), folder + "/sent.npy", memory=budget)
    tg.stream.aggregate(graph, sent, folder + "/heard.npy", "max")

infer(sys.argv[1] + "/small", 10**7)  # what is imported and loaded at the first call
before = peak()
infer(sys.argv[1] + "/large", int(sys.argv[2]))
print(peak() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not tell peaks")
def test_memory_stays_within_a_budget_of_a_quarter(tmp_path):
    """A directed graph with 200 thousand vertices and their 128 features, 130 MB."""
    memory, size = 32_000_000, 0
    for name, n in (("small", 100), ("large", 200_000)):
        folder = tmp_path / name
        folder.mkdir()
        write_partitioned(random_graph(n, 8 * n), folder / "graph.tg", 32)
        np.save(folder / "x.npy", features(n, 128).numpy())
        size = sum(path.stat().st_size for path in folder.iterdir())
    assert size > 3.6 * memory
    command = [sys.executable, "-c", MEASURED, os.fspath(tmp_path), str(memory)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert memory / 2 < grown < 1.25 * memory  # the allocator adds up to a seventh


def test_the_budget_that_an_error_names_is_enough(tmp_path, monkeypatch):
    """Where a budget is large some of it is for the runtime."""
    path, source = tmp_path / "y.npy", stored(tmp_path / "x.npy", features(9, 40))
    held = (streamed(grid(3, 3), 2), grid(3, 3))
    monkeypatch.setattr(budget, "SMALL", 100)
    monkeypatch.setattr(budget, "RUNTIME", 5000)
    for each in held:
        needed = least(tg.stream.aggregate, each, source, path)
        assert needed > 5000
        tg.stream.aggregate(each, source, path, memory=needed)
    for call, argument in ((tg.stream.apply, torch.relu), (tg.stream.permute, torch.arange(9))):
        needed = least(call, source, argument, path)
        assert needed > 5000
        call(source, argument, path, memory=needed)


# ---- apply and permute -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["rows", "columns"])
@pytest.mark.parametrize("n", [0, 1, 300])
def test_functions_of_rows(tmp_path, n, order):
    x, y, scale = features(n, 5), features(n, 3, torch.float16), torch.rand(n)
    sources = (stored(tmp_path / "x.npy", x), stored(tmp_path / "y.safetensors", y, by_column=True), scale)

    def function(x, y, scale):
        return torch.cat([x.relu() * scale[:, None], y], 1)

    least_memory = least(tg.stream.apply, sources, function, tmp_path / "z.npy")
    for memory in (least_memory, 10 * least_memory, ENOUGH):
        found = tg.stream.apply(sources, function, tmp_path / "z.npy", memory=memory, order=order)
        assert found.by_column == (order == "columns")
        assert torch.equal(loaded(tmp_path / "z.npy"), function(x, y, scale))


def test_a_file_may_take_the_place_of_its_source(tmp_path):
    values = features(100, 4)
    path = stored(tmp_path / "x.npy", values)
    tg.stream.apply(path, lambda x: 2 * x, path, memory=1000)
    tg.stream.aggregate(streamed(grid(10, 10)), path, path, memory=ENOUGH)
    same(loaded(path), tg.aggregate(grid(10, 10), 2 * values))


def test_functions_that_are_none_of_rows_are_named(tmp_path):
    x, path = features(10, 4), tmp_path / "y.npy"
    for function, message in (
        (lambda x: x[:, 0], r"function: .* got torch.float32 \[1\]"),
        (lambda x: x.sum(0, keepdim=True), "function: .* for r = 10 rows"),
        (lambda x: x.long(), "function: .* torch.int64"),
        (lambda x: x[:, : len(x)], r"float32 \[r, 1\] as for the first, got torch.float32 \[10, 4\]"),
        (lambda x: None, "function: .* NoneType"),
    ):
        with pytest.raises(ArgumentError, match=message):
            tg.stream.apply(x, function, path)
    refused(r"sources: .*\[10, 4\], \[9, 4\]", tg.stream.apply, (x, x[1:]), torch.add, path)
    refused("sources: expected one at least", tg.stream.apply, (), torch.add, path)
    refused(r"sources\[1\]: expected a path", tg.stream.apply, (x, 3), torch.add, path)
    refused("order: 'F' is not one of", tg.stream.apply, x, torch.relu, path, order="F")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shape", [(0, 2), (3, 0), (50, 7)])
@pytest.mark.parametrize("by_column", [False, True])
def test_rows_in_another_order_and_back(tmp_path, shape, by_column):
    values, order = features(*shape), torch.randperm(shape[0], generator=torch.Generator().manual_seed(1))
    source, path = stored(tmp_path / "x.npy", values, by_column), tmp_path / "y.npy"
    needed = least(tg.stream.permute, source, order, path)
    for memory in (needed, needed + 500, ENOUGH):
        tg.stream.permute(source, order, path, memory=memory)
        assert torch.equal(loaded(path), values[order])
        tg.stream.permute(path, order, tmp_path / "z.npy", memory=memory, inverse=True)
        assert torch.equal(loaded(tmp_path / "z.npy"), values)


def test_an_order_that_is_none_is_refused(tmp_path):
    for order, message in (
        (torch.tensor([0, 1, 1]), "does not name row 2"),
        (torch.tensor([0, 1, 3]), "3 at position 2"),
        (torch.tensor([0, 1]), r"int64 \[3\]"),
        (torch.tensor([0.0, 1, 2]), r"int64 \[3\]"),
        ("y.npy", "got str"),
    ):
        with pytest.raises(ArgumentError, match=f"order: .*{message}"):
            tg.stream.permute(features(3, 2), order, tmp_path / "y.npy")
    with pytest.raises(ArgumentError, match="path: expected that of a file"):
        tg.stream.permute(features(3, 2), torch.arange(3), features(3, 2))


# ---- networks --------------------------------------------------------------------------------------------------------


class Sage(torch.nn.Module):
    """A layer of GraphSAGE (Hamilton et al., 2017) with a mean: own features and those of the neighbours."""

    def __init__(self, wide, narrow):
        super().__init__()
        self.own, self.heard = torch.nn.Linear(wide, narrow), torch.nn.Linear(wide, narrow, bias=False)

    def forward(self, own, heard):
        return torch.relu(self.own(own) + self.heard(heard))


def test_two_layers_of_sage_layer_by_layer(tmp_path):
    graph = random_graph(200, 2000, directed=True)
    held, values = streamed(graph, 7, slack=10_000), features(200, 24)
    torch.manual_seed(0)
    layers = [Sage(24, 16), Sage(16, 5)]
    here = stored(tmp_path / "x.npy", values)
    for number, layer in enumerate(layers):
        heard = tg.stream.aggregate(held, here, tmp_path / "heard.npy", "mean")
        here = tg.stream.apply((here, heard), layer, tmp_path / f"h{number}.npy", memory="20kB")
        with torch.no_grad():
            values = layer(values, tg.aggregate(graph, values, "mean"))
    same(loaded(tmp_path / "h1.npy"), values)


def test_two_layers_of_gcn_layer_by_layer(tmp_path):
    """Kipf and Welling (2017): each vertex receives from itself too, and messages are scaled by both degrees."""
    graph = random_graph(150, 900, directed=False, dtype=torch.float32)
    held, values = streamed(graph, 5, slack=10_000), features(150, 12)
    scale = (tg.aggregate(graph, torch.ones(150), edge="mul") + 1).rsqrt()[:, None]
    torch.manual_seed(0)
    layers = [torch.nn.Linear(12, 8), torch.nn.Linear(8, 3)]
    here = stored(tmp_path / "x.safetensors", values)
    for number, layer in enumerate(layers):
        sent = tg.stream.apply((here, scale), torch.mul, tmp_path / "sent.safetensors")
        heard = tg.stream.aggregate(held, sent, tmp_path / "heard.safetensors", edge="mul")
        here = tg.stream.apply(
            (sent, heard, scale),
            lambda sent, heard, scale, layer=layer: torch.relu(layer(scale * (sent + heard))),
            tmp_path / f"h{number}.safetensors",
        )
        with torch.no_grad():
            sent = scale * values
            values = torch.relu(layer(scale * (sent + tg.aggregate(graph, sent, edge="mul"))))
    same(loaded(tmp_path / "h1.safetensors"), values)
