"""`tune` with a fake clock: what is measured, chosen, stored and followed."""

import json
import math

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph import kernels
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels import tuned
from tgraph.kernels.call import Call

pytestmark = pytest.mark.skipif(
    native.load() is None or not torch.backends.mkl.is_available(), reason="there is nothing to choose from"
)


@pytest.fixture(autouse=True)
def folder(untuned):
    """A separate cache for each test, and no choices in memory."""
    untuned.mkdir()
    return untuned


class Clock:
    """Runs a step once, and returns the time set for the backend that served it."""

    def __init__(self, **seconds):
        self.seconds, self.served = seconds, []

    def __call__(self, step):
        with kernels.watched() as choices:
            step()
        self.served.append(choices[-1].backend.name)
        return self.seconds.get(self.served[-1], 9.0)


def graph():
    return random_graph(30, 200, dtype=torch.float32)


def test_the_fastest_is_chosen_and_auto_follows():
    first = graph()
    assert tg.explain(first, torch.ones(30, 8)) == "aggregate: native serves it"
    found = tg.tune(first, 8, timer=Clock(native=2.0, sparse=1.0))
    assert found.choices == {"sum": "sparse", "max": "native"}
    assert found.milliseconds["sum"]["sparse"] == 1000 and "sparse" not in found.milliseconds["max"]
    for like in (first, graph()):
        for columns in (5, 8):
            assert tg.explain(like, torch.ones(30, columns)) == "aggregate: sparse serves it (tgraph.tune chose it)"
            assert "sparse" in tg.explain(like, torch.ones(30, columns), "mean", edge="mul")
        assert "native" in tg.explain(like, torch.ones(30, 8), "max")


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (torch.ones(30), {}),
        (torch.ones(30, 9), {}),
        (torch.ones(30, 8, dtype=torch.float64), {}),
        (torch.ones(30, 8), {"dtype": torch.float64}),
        (torch.ones(30, 8, dtype=torch.int64), {}),
        (torch.ones(30, 8), {"reduce": "prod"}),
    ],
)
def test_what_was_not_measured_goes_by_the_rule(data, options):
    known = graph()
    tg.tune(known, 8, timer=Clock(sparse=1.0))
    assert tg.explain(known, data, **options) == "aggregate: native serves it"


def test_only_aggregates_over_all_arcs_follow():
    known = graph()
    tg.tune(known, 1, timer=Clock(sparse=1.0))
    program = tg.Program()
    for active, mode in ((known.select([0]), "push"), (known.select([0]), "pull"), (known.everything(), "push")):
        assert "native" in tg.explain(program.tensorize(known, active, mode), torch.ones(30))
    assert "sparse" in tg.explain(program.tensorize(known, known.everything(), "pull"), torch.ones(30))
    assert "native" in tg.explain(random_graph(300, 2000), torch.ones(300))
    assert tuned.choice(Call("relax", torch.ones(30))) is None


def test_nothing_is_measured_twice():
    clock = Clock(native=2.0, sparse=1.0)
    known = graph()
    first = tg.tune(known, 3, timer=clock)
    measured = len(clock.served)
    assert {"native", "sparse", "portable"} <= set(clock.served)
    assert tg.tune(known, 4, timer=clock) == first and len(clock.served) == measured
    tuned.forget()  # as another process does
    assert tg.tune(graph(), 4, timer=clock) == first and len(clock.served) == measured
    slower = Clock(native=1.0, sparse=2.0)
    assert tg.tune(known, 3, timer=slower, again=True).choices["sum"] == "native" and len(slower.served) == measured


def test_a_small_gain_changes_nothing():
    assert tg.tune(graph(), 1, timer=Clock(native=1.05, sparse=1.0)).choices["sum"] == "native"


def test_the_file_records_what_it_depends_on(folder):
    tg.tune(graph(), 8, timer=Clock(sparse=1.0))
    entries = json.loads((folder / "tuned.json").read_text())
    assert len(entries) == 2
    name = next(name for name, entry in entries.items() if entry["choice"] == "sparse")
    for part in (torch.__version__, "threads", "vertices 2^5", "arcs 2^8", "sum of torch.float32", "columns 8"):
        assert part in name
    tg.tune(graph(), 64, timer=Clock())
    assert len(json.loads((folder / "tuned.json").read_text())) == 4
    assert [path.name for path in folder.iterdir()] == ["tuned.json"]


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"x": 1}', '{"x": {"choice": "native"}}'])
def test_an_invalid_file_is_ignored(folder, text):
    (folder / "tuned.json").write_text(text)
    assert "native" in tg.explain(graph(), torch.ones(30))
    assert tg.tune(graph(), timer=Clock(sparse=1.0)).choices["sum"] == "sparse"


def test_a_choice_that_does_not_serve_is_skipped(monkeypatch):
    known = graph()
    tg.tune(known, timer=Clock(sparse=1.0))
    with torch.no_grad():
        assert "sparse" in tg.explain(known, torch.ones(30))
    monkeypatch.setattr(kernels, "BACKENDS", {"native": kernels.BACKENDS["native"]})
    assert tg.explain(known, torch.ones(30)) == "aggregate: native serves it"


def test_a_folder_that_cannot_be_written(folder, monkeypatch):
    (folder / "file").write_text("")
    monkeypatch.setenv("TGRAPH_CACHE", str(folder / "file" / "below"))
    with pytest.warns(UserWarning, match="TGRAPH_CACHE"):
        tg.tune(graph(), timer=Clock(sparse=1.0))
    assert "sparse" in tg.explain(graph(), torch.ones(30))


def test_backends_that_change_from_run_to_run_are_left_out(monkeypatch):
    monkeypatch.setattr(kernels.BACKENDS["sparse"], "is_ordered", lambda call: False)
    assert tg.tune(graph(), timer=Clock(sparse=1.0)).choices["sum"] == "native"


def test_the_clock_that_is_used_by_default():
    found = tg.tune(graph(), 2)
    assert all(0 < time < math.inf for times in found.milliseconds.values() for time in times.values())


def test_graphs_without_vertices_or_arcs():
    for empty in (tg.Graph.from_edges([], []), tg.Graph.from_edges([], [], num_vertices=3)):
        found = tg.tune(empty, timer=Clock(), layouts="sell")
        assert found.choices.keys() == {"sum", "max"} and found.graph is empty


def test_orders_and_layouts_for_an_operation(folder, tmp_path):
    """A graph in `sell` with slices of 8 takes half the time; the file keeps it, and the choice of a backend."""
    seen = []

    def operation(held):
        sliced = held.layout is not None and held.layout.options().get("C") == 8
        seen.append(0.5 if sliced else 1.0 if held.order is None else 0.8)
        return tg.algorithms.pagerank(held)

    def timer(step):
        step()
        return seen[-1] if seen else clock(step)

    known, clock = graph(), Clock(native=2.0, sparse=1.0)
    tg.tune(known, 8, timer=clock)
    given = {"orders": ["degree"], "layouts": ["sell", "cbm"], "operation": operation}
    found = tg.tune(known, 8, timer=timer, **given)
    chosen = found.settings.chosen
    assert (chosen.order, chosen.name, found.gain) == ("degree", "sell(C=8)", 2) and "cbm" in found.settings.refused
    assert len(found.settings.measured) == 6 and "chosen: degree, sell(C=8), 2.00 times as fast" in str(found)
    tg.write(found.graph, tmp_path / "fast.tg")
    tg.write(known, tmp_path / "plain.tg")
    (folder / "tuned.json").unlink()
    tuned.forget()  # as on another machine
    plain, fast = tg.read(tmp_path / "plain.tg"), tg.read(tmp_path / "fast.tg")
    assert fast.layout.options() == found.graph.layout.options() and torch.equal(fast.order, found.graph.order)
    assert "sparse serves it (tgraph.tune" in tg.explain(plain, torch.ones(30, 8))
    assert tg.tune(known, 8, timer=lambda step: 1.0, layouts=["coo"]).graph is known
    with pytest.raises(ArgumentError, match="no order or layout"):
        _ = tg.tune(known, 8).graph


@pytest.mark.parametrize(
    ("taken", "gain"),
    [
        ([9, 1, 9, 1, 9, 1, 1, 1, 1, 1], 1),
        ([9, 1, 9, 1, 2, 1, 2, 1, 1, 2], 2),
    ],
)
def test_a_gain_is_one_of_most_turns(taken, gain):
    """And of the milliseconds beside it in the table."""
    known = graph()
    tg.tune(known, timer=Clock())
    clock = iter([1, *taken])
    found = tg.tune(known, timer=lambda step: next(clock) / 1000, orders="degree")
    assert found.gain == gain and (found.graph is known) == (gain == 1)
    row = str(found.settings).splitlines()[2].split()
    assert float(row[-2]) / float(row[-3]) == float(row[-1]) == found.settings.measured[1].gain


@pytest.mark.parametrize("text", ["{", "[1]", '{"x": 3}'])
def test_a_damaged_note_in_a_file_is_ignored(text):
    tuned.learn(text)
    assert "native" in tg.explain(graph(), torch.ones(30))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": 0}, "columns"),
        ({"dtype": torch.int32}, "dtype"),
        ({"layouts": ["x"]}, "layouts: 'x' is not"),
        ({"orders": "x"}, "orders: 'x' is not"),
        ({"orders": 3}, "orders: 3 is not"),
    ],
)
def test_errors(options, words):
    with pytest.raises(ArgumentError, match=words):
        tg.tune(graph(), **options)
    with pytest.raises(ArgumentError, match=r"graph: expected a tgraph\.Graph, got int"):
        tg.tune(3)
