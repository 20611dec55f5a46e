"""Columns of partitioned and plain files that are opened within a memory budget, and of graphs that are streamed."""

import struct
import sys
from pathlib import Path

import pytest
import torch
from strategies import random_graph, refused_naming

import tgraph as tg
from tgraph.stream.file import blocks
from tgraph.stream.run import plain as plain_files


def sample(directed):
    graph = random_graph(40, 200, directed=directed, dtype=torch.float64)
    source, target = graph.to_edge_index()
    number = (source * target + source + target).to(torch.float64)
    arcs = {"x": number, "text": [str(int(each)) for each in number], "even": number % 2 == 0}
    return graph.with_columns(arcs=arcs, vertices={"v": torch.arange(40)})


def plain(graph):
    return {name: each.tolist() for name, each in {**graph.arc_columns, **graph.vertex_columns}.items()}


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("parts", [None, 3, "ebp"])
def test_opened_files_have_columns(tmp_path, directed, parts, mapped, monkeypatch):
    if mapped:
        for module in (blocks, plain_files):
            monkeypatch.setattr(module, "MAPPED", 1)
    graph, path = sample(directed), tmp_path / "a.tg"
    if parts is None:
        tg.write(graph, path)
    else:
        made = tg.stream.partition(graph, 3, parts) if isinstance(parts, str) else parts
        tg.stream.write_partitioned(graph, path, made)
        graph = made.apply(graph) if isinstance(parts, str) else graph
        assert tg.verify(path) == path.stat().st_size
    opened, read = tg.open(path, memory="4MB"), tg.read(path)
    assert plain(opened) == plain(read) == plain(graph)
    assert tg.read(path, weights=False).arc_columns["x"].tolist() == graph.arc_columns["x"].tolist()
    x = torch.arange(40.0, dtype=torch.float64)
    for edge in ("mul", lambda u, v, arc: u * arc):
        expected = tg.aggregate(graph, x, edge=edge, weights="x")
        torch.testing.assert_close(tg.aggregate(opened, x, edge=edge, weights="x"), expected)


@pytest.mark.parametrize("parts", [None, 2])
def test_columns_of_open_files_take_no_memory_of_the_process(tmp_path, parts):
    """They are mapped once their checksums are verified, with what is written into them kept apart."""
    graph, path = tg.Graph.from_edges(torch.arange(40_000), torch.arange(40_000) + 1), tmp_path / "a.tg"
    graph = graph.with_columns(arcs={"x": torch.arange(float(graph.num_arcs)).repeat(8, 1).T.contiguous()})
    tg.write(graph, path) if parts is None else tg.stream.write_partitioned(graph, path, parts)
    column = tg.open(path, memory="4MB").arc_columns["x"]
    assert torch.equal(column, graph.arc_columns["x"])
    assert sys.platform != "linux" or Path("/proc/self/maps").read_text().count(str(path)) == 1
    column[0] = -1
    assert torch.equal(tg.read(path).arc_columns["x"], graph.arc_columns["x"])
    where = path.read_bytes().find(struct.pack("<8f", *[777.0] * 8))
    with path.open("r+b") as file:
        file.seek(where)
        file.write(b"\1")
    with pytest.raises(tg.errors.FileFormatError, match="checksum of the tensor 'arc_column"):
        tg.open(path, memory="4MB").arc_columns["x"]


class Shortest(tg.Relaxation):
    weight = "x"

    def init(self, graph):
        distance = torch.full((graph.num_vertices,), torch.inf, dtype=torch.float64)
        return distance.index_fill(0, torch.tensor(0), 0), graph.select(0)


@pytest.mark.parametrize("directed", [False, True])
def test_runs_that_stream_have_columns(directed):
    graph = random_graph(3000, 20_000, directed=directed)
    source, target = graph.to_edge_index()
    graph = graph.with_columns(arcs={"x": ((source + target) % 7).to(torch.float64)})
    expected = tg.algorithms.sssp(graph.weighted_by("x"), 0)
    assert torch.equal(tg.run(Shortest(), graph, memory=graph.nbytes - 1).values, expected)


def test_columns_have_to_fit_the_header(tmp_path):
    graph = tg.generators.path(3).with_columns(vertices={f"column {i}": [1, 2, 3] for i in range(60)})
    refused_naming(("columns", "4096"), tg.stream.write_partitioned, graph, tmp_path / "a.tg", 1)
    assert not list(tmp_path.iterdir())
