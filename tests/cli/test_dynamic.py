"""`tgraph dynamic`: what it prints, and how it ends."""

import pytest
import torch
from typer.testing import CliRunner

import tgraph as tg
from tgraph.cli import app

EDGES = "10 20 3\n10 30 1\n30 20 1\n20 40 5\n50 60 2\n"


def tgraph(*arguments, code=0):
    """Run `tgraph dynamic` and return what it printed."""
    result = CliRunner().invoke(app, ["dynamic", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stderr if code == 2 else result.stdout


@pytest.fixture
def store(tmp_path):
    (tmp_path / "edges.wel").write_text(EDGES)
    assert "version 1, 6 vertices, 5 arcs" in tgraph("import", tmp_path / "s", tmp_path / "edges.wel")
    return tmp_path / "s"


def test_a_store_is_made_changed_examined_and_exported(store, tmp_path):
    (tmp_path / "more.wel").write_text("10 20 7\n99 20 8\n")
    (tmp_path / "gone.el").write_text("50 60\n")
    assert "more.wel inserted in" in tgraph("insert", store, tmp_path / "more.wel", "--progress")
    assert "gone.el deleted in" in tgraph("delete", store, tmp_path / "gone.el")
    shown = tgraph("info", store)
    for said in ("directed, weights int64; of parallel ones last", "changes in runs            3", "2, 1"):
        assert said in shown
    assert "version 3, 7 vertices, 5 arcs" in tgraph("compact", store)
    assert "nothing damaged, verified in" in tgraph("verify", store)
    assert "7 vertices, 5 edges" in tgraph("export", store, tmp_path / "out.tg")
    graph = tg.read(tmp_path / "out.tg")
    assert graph.vertices.tolist() == [10, 20, 30, 40, 50, 60, 99] and sorted(graph.weights.tolist()) == [1, 1, 5, 7, 8]


@pytest.mark.parametrize("format", ["csv", "parquet", "mtx", "tg", "npz"])
def test_every_format_is_imported(store, tmp_path, format):
    tgraph("export", store, tmp_path / f"out.{format}")
    assert "6 vertices, 5 arcs" in tgraph("import", tmp_path / "again", tmp_path / f"out.{format}")
    with tg.dynamic.open(tmp_path / "again", mode="r") as again:
        assert sorted(again.snapshot().weights.tolist()) == [1, 1, 2, 3, 5]


def test_how_edges_are_taken(tmp_path):
    (tmp_path / "edges.wel").write_text(EDGES + "10 20 4\n")
    options = ["--undirected", "--weights", "none", "--multi", "keep", "--ids", "index"]
    assert "version 1, 61 vertices, 12 arcs" in tgraph("import", tmp_path / "s", tmp_path / "edges.wel", *options)
    with tg.dynamic.open(tmp_path / "s", mode="r") as store:
        assert store.multi == "keep" and not store.directed and store.columns == {}


def test_a_fraction_that_comes_late_makes_all_weights_fractions(tmp_path):
    """After several chunks of integers; insertion does not repeat those that it had."""
    lines = [f"{i} {i + 1} 1\n" for i in range(120_000)]
    (tmp_path / "edges.wel").write_text("".join([*lines, "0 5 0.5\n"]))
    assert "120001 vertices, 120001 arcs" in tgraph("import", tmp_path / "s", tmp_path / "edges.wel")
    with tg.dynamic.open(tmp_path / "s", mode="r") as store:
        assert store.columns == {"weights": torch.float64}
    with tg.dynamic.open(tmp_path / "keep", torch.float64, multi="keep", ids="any"):
        pass
    assert "120001 arcs" in tgraph("insert", tmp_path / "keep", tmp_path / "edges.wel")


def test_mistakes_are_said_in_one_line(store, tmp_path):
    edges = tmp_path / "edges.wel"
    assert tgraph("import", store, edges, code=2).startswith(f"tgraph: {store} is there already; tgraph dynamic insert")
    for step in (["insert", tmp_path / "none", edges], ["compact", tmp_path / "none"], ["info", tmp_path / "none"]):
        assert "none is no store; tgraph dynamic import makes one" in tgraph(*step, code=2)
    with tg.dynamic.open(store):
        assert "has it open to change it" in tgraph("insert", store, edges, code=2)


def test_damage_gives_exit_code_1(store):
    path = next(store.glob("*-neighbors.safetensors"))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert "the checksum of the tensor 'neighbors' differs" in tgraph("verify", store, code=1)
