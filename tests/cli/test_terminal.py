"""Nothing of a graph, a path or a message steers the terminal."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from typer.testing import CliRunner

import tgraph as tg
from tgraph.cli import app
from tgraph.cli.saying import grouped
from tgraph.terminal import harmless

ROOT = Path(__file__).parents[2]
HOSTILE = ["\x1b]0;pwn\x07", "a\x9b31m", "\u202egnp.exe", "x\ny", "\u2066z", "\b\b\b", "plain", "ü\u200dé"]
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.fixture
def hostile(tmp_path):
    n = len(HOSTILE)
    graph = tg.Graph.from_edges(range(n), [(i + 1) % n for i in range(n)], vertices=HOSTILE)
    tg.write(graph, tmp_path / "in.tg")
    return tmp_path / "in.tg"


@pytest.mark.parametrize(
    "command",
    ["info", "pagerank", "bfs", "hits", "mis", "scc", "wcc", "diameter", "triangles", "closeness", "bridges"],
)
def test_labels(hostile, tmp_path, command):
    undirected = ["--undirected"] if command in ("bridges", "triangles", "mis") else []
    found = CliRunner().invoke(app, [command, str(hostile), *undirected], catch_exceptions=False)
    said = found.output
    assert not UNSEEN.search(said), said
    assert command not in ("pagerank", "hits") or (r"\x1b" in said or r"\u202e" in said)


def test_messages_and_paths(tmp_path):
    path = tmp_path / "\x1b[31m\u202e.el"
    path.write_text("1 2\n\x1b 3\n")
    for arguments in (["info", str(path)], ["info", "\x1b.xyz"], ["info\x1b"], ["bfs", str(path), "--source", "\x1b"]):
        found = CliRunner().invoke(app, arguments)
        assert found.exit_code in (2, 3) and not UNSEEN.search(found.output), found.output
        assert found.output.count("\n") == 1


def test_data_stays_as_it_is(hostile, tmp_path):
    CliRunner().invoke(app, ["pagerank", str(hostile), "--output", str(tmp_path / "r.csv")], catch_exceptions=False)
    assert HOSTILE[0] in (tmp_path / "r.csv").read_text()


def test_all_text_goes_through_one_function():
    """Which keeps line ends and tabs, and nothing else that is not printed."""
    for path in (ROOT / "tgraph/cli").rglob("*.py"):
        said = len(re.findall(r"typer\.(secho|echo)\(|\bprint\(|std(out|err)\.write\(", path.read_text()))
        assert said == (path.name == "saying.py"), path
    assert harmless("a\tb\n", kept="\n\t") == "a\tb\n" and harmless("a\tb\n") == r"a\tb\n"
    assert harmless("\ud800") == r"\ud800" and harmless("日本 ü\u200d") == "日本 ü\u200d"


@pytest.mark.parametrize("terminal", [False, True])
def test_numbers_are_grouped_for_people(monkeypatch, terminal):
    """Not for programs at the other end of a pipe."""
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: terminal))
    found = [grouped(number) for number in (999, -1234567, 1234.5, torch.tensor(10000))]
    assert found == (["999", "-1,234,567", "1,234.5", "10,000"] if terminal else ["999", "-1234567", "1234.5", "10000"])


def test_vertices_are_named_by_their_ids(tmp_path):
    """Not by their indices, which users of the command never see."""
    path = tmp_path / "x.mtx"
    path.write_text("%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 1\n2 3 1\n3 1 1\n")
    for arguments, words in (
        (["bipartite", path], "an odd cycle, of vertices 2, 1, 3; leave one"),
        (["flow", path, "--source", 1, "--target", 1], "--target: 1 is the source as well"),
        (["convert", path, tmp_path / "x.xyz"], "known are .txt, .csv"),
        (["convert", path, "."], "a folder"),
    ):
        found = CliRunner().invoke(app, list(map(str, arguments)))
        assert found.exit_code in (2, 3) and words in found.output and "format=" not in found.output, found.output
