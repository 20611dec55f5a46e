"""The fuzzer of the readers finds nothing in a few inputs, and finds what is put there."""

import os
import warnings
from pathlib import Path

import pytest

import tgraph as tg
from bench import fuzz


def test_a_few_inputs_of_every_format(tmp_path):
    """`make fuzz` tries more; `--first` repeats a failing input."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(12 * len(fuzz.samples()[0])):
            name, content = fuzz.make(7, number)
            found[number] = fuzz.fault(name, content, tmp_path)
    assert {number: what for number, what in found.items() if what} == {}


@pytest.mark.parametrize("name", sorted(fuzz.samples()[0]))
def test_what_is_whole_is_read(name, tmp_path):
    content, graph = fuzz.samples()[0][name], fuzz.samples()[1].get(name, fuzz.samples()[1]["g.e"]).to_format("csr")
    assert fuzz.fault(name, content, tmp_path) is None
    found = tg.read(tmp_path / name, **({"directed": graph.directed} if name.endswith("csv") else {}))
    assert found.num_arcs == graph.num_arcs or name == "m.graph"
    assert fuzz.equal(found, graph) or name not in fuzz.CHECKED


def test_the_fuzzer_finds_faults(tmp_path, monkeypatch):
    name, content = "checked.tg", fuzz.samples()[0]["checked.tg"]
    other = fuzz.samples()[1][name]
    tg.write(tg.Graph(other.offset, other.neighbors, other.weights + 1, other.vertices), tmp_path / "x.tg")
    assert fuzz.fault(name, (tmp_path / "x.tg").read_bytes(), tmp_path) == "another graph than was written"

    def fail(*arguments, **options):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(tg, "read", fail)
    assert "ZeroDivisionError: a bug" in fuzz.fault(name, content, tmp_path)


@pytest.mark.thorough
def test_the_same_inputs_in_other_processes():
    assert fuzz.fuzz(0, 0, 30, 0, processes=1) == []
    assert fuzz.make(3, 5) == fuzz.make(3, 5) != fuzz.make(4, 5)


def test_a_process_that_dies_is_named():
    found = fuzz.fuzz(0, 5, 1, 0, processes=1, work=die)
    assert found == [(5, "the process died, or one beside it")]


def die(seed, first, count, running):
    """As a reader that crashes on the first input."""
    Path(running).write_text(str(first))
    os.abort()
