"""The edges of files, chunk by chunk."""

import numpy as np
import pytest
import torch

import tgraph as tg
from tgraph.io import parquet
from tgraph.io.chunks import open_edges


def joined(path, **options):
    """All chunks of a file, as lists, and how many there are."""
    file = open_edges(path, **options)

    def all_of(chunks):
        chunks = list(chunks)
        columns = [[value for chunk in chunks if chunk[i] is not None for value in chunk[i]] for i in range(3)]
        return file.directed, *columns, len(chunks)

    return file.fold(all_of)


@pytest.fixture(params=["wel", "csv", "parquet", "mtx", "tg", "npz"])
def written(request, tmp_path):
    """A graph in a file."""
    src, dst = torch.randint(0, 50, (2, 40), generator=torch.Generator().manual_seed(1)) + 1
    graph = tg.Graph.from_edges(src, dst, torch.arange(40.0) + 0.5, ids="compact", multi="first")
    path = tmp_path / f"edges.{request.param}"
    tg.write(graph, path)
    return path


def test_chunks_have_the_edges_that_read_gives(written):
    graph = tg.read(written)
    directed, src, dst, weights, _ = joined(written)
    ids = np.arange(graph.num_vertices) if graph.vertices is None else graph.vertices.numpy()
    rows = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.offset.diff())
    expected = zip(ids[rows].tolist(), ids[graph.neighbors].tolist(), graph.weights.tolist(), strict=True)
    assert directed == graph.directed
    assert sorted(zip(src, dst, weights, strict=True)) == sorted(expected)


def test_large_files_are_read_in_several_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("tgraph.io.chunks._ROWS", 100)
    graph = tg.generators.uniform(10, 4, seed=1)
    tg.write(graph, tmp_path / "e.parquet")
    directed, src, _, weights, chunks = joined(tmp_path / "e.parquet")
    assert (directed, chunks) == (False, -(-len(src) // 100)) and not weights
    assert parquet.is_directed(tmp_path / "e.parquet") is False
    (tmp_path / "e.el").write_text("".join(f"{i} {i + 1}\n" for i in range(200_000)))
    _, src, dst, _, chunks = joined(tmp_path / "e.el")
    assert chunks > 1 and src == list(range(200_000)) and dst == list(range(1, 200_001))


def test_labels_and_options(tmp_path):
    (tmp_path / "e.txt").write_text("# undirected graph\na b 1\nb é 2\n")
    assert joined(tmp_path / "e.txt") == (False, ["a", "b"], ["b", "é"], [1, 2], 1)
    assert joined(tmp_path / "e.txt", directed=True, weights=False)[:4] == (True, ["a", "b"], ["b", "é"], [])
