"""Progress is shown on a terminal, of what takes long, where it is asked for; and nowhere else."""

import fcntl
import io
import os
import pty
import re
import select
import struct
import termios
from types import SimpleNamespace

import pytest
import torch
from typer.testing import CliRunner

import tgraph as tg
from tgraph import progress
from tgraph.cli import app
from tgraph.stores.disk import DiskStore
from tgraph.stores.maintenance import copy
from tgraph.stream.partitioning.cuts import partition


@pytest.fixture
def terminal(monkeypatch):
    """Standard error is a terminal; returns what it has shown since it was last asked."""
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    controller, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    stream = os.fdopen(end, "w", encoding="utf-8")
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))

    def shown():
        stream.flush()
        seen = b""
        while select.select([controller], [], [], 0.1)[0]:  # the system passes on what was written in its own time
            seen += os.read(controller, 1 << 16)
        return seen.decode("utf-8", "replace")

    yield shown
    stream.close()
    os.close(controller)


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)


def slow(name="slow"):
    return sum(progress.track(range(3), name))


def test_nothing_is_shown_unless_asked_for(terminal, at_once):
    assert slow() == 3 and terminal() == ""


def test_what_takes_long_is_shown_on_a_terminal(terminal, at_once):
    with progress.shown():
        slow()
    assert "slow" in (text := terminal()) and "3/3" in text
    with progress.shown(), progress.shown(False):
        slow()
    assert terminal() == ""


def test_what_is_short_is_not(terminal):
    with progress.shown(), progress.busy("work"):
        slow()
    assert terminal() == "" and progress.DELAY == 2


def test_nobody_looks_at_a_file(at_once, monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=file))
    monkeypatch.setenv(progress.VARIABLE, "1")
    with progress.shown(), progress.busy("work"):
        slow()
    assert file.getvalue() == ""
    with progress.bar("asked", total=1, asked=True) as bar:  # for one that is read later
        bar.update()
    assert "asked" in file.getvalue()


def test_the_environment_turns_bars_on_and_off(terminal, at_once, monkeypatch):
    monkeypatch.setenv(progress.VARIABLE, "1")
    slow()
    assert "slow" in terminal()
    monkeypatch.setenv(progress.VARIABLE, "0")
    with progress.shown(), progress.busy("work"), progress.bar("asked", asked=True) as bar:
        bar.update()
    assert terminal() == ""


def test_one_bar_at_a_time(terminal, at_once):
    with progress.shown():
        for _ in progress.track(range(2), "outer"):
            slow("inner")
    assert "outer" in (text := terminal()) and "inner" not in text
    with progress.shown(), pytest.raises(ValueError, match="stopped"):
        for _ in progress.track(range(2), "outer"):
            raise ValueError("stopped")
    with progress.shown():
        slow("after")
    assert "after" in terminal()


def test_what_cannot_be_counted_shows_its_time(terminal, at_once, monkeypatch):
    monkeypatch.setattr(progress, "TICK", 0.3)
    seen = ""
    with progress.shown(), progress.busy("work"):
        while not re.search(r"work: \d\d:\d\d", seen):
            seen += terminal()
        with progress.bar("counted", total=2) as bar:
            bar.update()
    assert "counted" in terminal() and not progress._open_bars


def test_what_is_done_within_is_shown_with_it(terminal, at_once, monkeypatch):
    monkeypatch.setattr(progress, "TICK", 0.3)
    monkeypatch.setattr(progress, "_is_visible", lambda bar: False)  # one whose delay is not over takes no place
    with progress.shown(), progress.busy("demo"), progress.busy("BFS"), progress.bar("hidden"):
        seen = ""
        while "demo: BFS: 00:0" not in seen:
            seen += terminal()
    assert not progress._busy_with


def counted(tmp_path):
    """What counts its steps: {name shown: call}."""
    graph = tg.generators.rmat(5)
    tg.write(graph, tmp_path / "graph.el")
    source, target = DiskStore(tmp_path / "source"), DiskStore(tmp_path / "target")
    source.put("x", torch.ones(3))
    algorithms = tg.algorithms
    return {
        "graph.el": lambda: tg.read(tmp_path / "graph.el"),
        "graph.el: blocks": lambda: tg.stream.convert(tmp_path / "graph.el", tmp_path / "blocks.tg", memory="100MB"),
        "PageRank": lambda: algorithms.pagerank(graph),
        "betweenness": lambda: algorithms.betweenness(graph),
        "closeness": lambda: algorithms.closeness(graph),
        "searches": lambda: algorithms.edge_betweenness(graph),
        "current flow": lambda: algorithms.current_flow_closeness(tg.generators.cycle(9), method="cg"),
        "subgraph centrality": lambda: algorithms.subgraph_centrality(graph, method="lanczos"),
        "ECG": lambda: algorithms.ecg(graph),
        "node2vec": lambda: algorithms.node2vec(graph, dimensions=2, length=5, walks=1, epochs=1),
        "ForceAtlas2": lambda: tg.drawing.forceatlas2(graph, iterations=2),
        "spring": lambda: tg.drawing.spring(graph, iterations=2),
        "layouts": lambda: tg.advise(graph, layouts=("coo", "csc"), timer=lambda call: 1.0),
        "tensors": lambda: copy(source, target),
    }


NAMES = (
    *("graph.el", "graph.el: blocks", "PageRank", "betweenness", "closeness", "searches", "current flow"),
    *("subgraph centrality", "ECG", "node2vec", "ForceAtlas2", "spring", "layouts", "tensors"),
)


@pytest.mark.parametrize("name", NAMES)
def test_long_work_counts_its_steps(name, tmp_path, terminal, at_once):
    call = counted(tmp_path)[name]
    terminal()
    call()
    assert terminal() == ""
    with progress.shown():
        call()
    assert name.partition(":")[0] in terminal()


def named(monkeypatch):
    """A list of what `busy` is called with from now on."""
    names = []

    class Busy(list):
        def append(self, what):
            names.append(what)
            super().append(what)

    monkeypatch.setattr(progress, "_busy_with", Busy())
    return names


def test_other_long_work_has_a_name(tmp_path, terminal, monkeypatch):
    names = named(monkeypatch)
    graph = tg.generators.rmat(5)
    with progress.shown():
        tg.write(graph, tmp_path / "graph.tg")
        tg.read(tmp_path / "graph.tg")
        tg.verify(tmp_path / "graph.tg")
        graph.to_format("sell")
        graph.reorder("degree")
        partition(graph, 2, "wcp")
    work = ["write graph.tg", "read graph.tg", "verify graph.tg", "layout sell", "order by degree", "partition by wcp"]
    assert names == work
    graph.to_format("sell")
    assert names == work


def test_the_command_shows_progress(tmp_path, terminal, monkeypatch):
    tg.write(tg.generators.rmat(5), tmp_path / "graph.el")
    names = named(monkeypatch)
    monkeypatch.setattr(progress, "is_wanted", lambda asked=False: progress._is_shown.get())
    assert CliRunner().invoke(app, ["leiden", str(tmp_path / "graph.el")]).exit_code == 0
    assert names[0] == "leiden" and "read graph.el" in names
    names.clear()
    demo = ["demo", str(tmp_path / "graph.el"), "--picture", str(tmp_path / "demo.png")]
    assert CliRunner().invoke(app, demo).exit_code == 0
    assert names == ["demo", "read graph.el", "transpose", "BFS", "SSSP", "WCC", "PageRank", "HITS", "draw"]
