"""Pipes, JSON, exit codes, options of the readers and programs of one's own."""

import inspect
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
from typer.testing import CliRunner

import tgraph as tg
from tgraph.cli import app, choices
from tgraph.cli.reading import READING, arguments
from tgraph.io import FORMATS, format_module

EDGES = "10 20 3\n10 30 1\n30 20 1\n20 40 5\n50 60 2\n"
WIDEST = Path(__file__).parents[2] / "examples/widest_path.py"


def said(*given, code=0, stdin=None):
    found = CliRunner().invoke(app, [*map(str, given)], input=stdin, catch_exceptions=False)
    assert found.exit_code == code, found.output
    return found.stderr if code > 1 else found.stdout


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.wel"
    path.write_text(EDGES)
    return path


def test_every_option_of_the_readers_is_one_of_the_command():
    modules = [format_module("-", name) for name in FORMATS]
    taken = {
        each
        for module in modules
        for part in (module.read, getattr(module, "plan", module.read))
        for each in inspect.signature(part).parameters
    }
    assert taken - {"path", "progress", "options", "weight"} <= {name.removesuffix("_column") for name in READING}
    assert arguments(weights="none", columns="4,a", delimiter="tab", skip=None, comments="none") == {
        "weights": False,
        "columns": [4, "a"],
        "delimiter": "\t",
        "comments": None,
    }


def test_columns_lines_and_ids_are_named_by_options(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a note\nid_1|id_2\n007|7\n")
    options = ["--skip", 1, "--delimiter", "|", "--source-column", "id_1", "--target-column", "id_2", "--ids", "text"]
    found = json.loads(said("wcc", table, *options, "--json"))
    assert found["graph"]["vertices"] == 2 and found["rows"][0] == {"vertex": "007", "component": "007"}
    message = said("wcc", table, *options[:7], "id_3", code=2)
    assert message.startswith("tgraph: --target-column: ") and "no column 'id_3'" in message
    table.write_text("left|right|when\n7|8|9\n")
    assert "--source-column and --target-column" in said("wcc", table, "--delimiter", "|", code=3)


@pytest.mark.parametrize(
    "to, read",
    [
        ("csv", pandas.read_csv),
        ("jsonl", lambda file: pandas.read_json(file, lines=True)),
        ("tsv", lambda file: pandas.read_csv(file, sep="\t")),
    ],
)
def test_standard_input_and_output(to, read):
    table = read(
        io.StringIO(said("bfs", "-", "--format", "edgelist", "--source", 30, "-o", "-", "--to", to, stdin=EDGES))
    )
    assert dict(zip(table["vertex"], table["depth"], strict=True)) == {10: -1, 20: 1, 30: 0, 40: 2, 50: -1, 60: -1}
    assert said("wcc", "-", stdin=EDGES, code=2).endswith("by --format\n")
    assert "tgraph: standard input, line 2" in said("wcc", "-", "--format", "edgelist", stdin="1 2\n3\n", code=3)
    assert said("convert", "-", "-", "--format", "edgelist", "--to", "csv", stdin="1 2\n").endswith("1,2\n")
    assert said("convert", "-", "-", "--format", "edgelist", stdin="1 2\n", code=2).endswith("by --to\n")


def test_process_substitution(file):
    script = f"{sys.executable} -m tgraph wcc <(cat {file}) --format edgelist -o >(cat >&2) --json"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    assert json.loads(done.stdout)["summary"] == "2 components, the largest of 4 of 6 vertices"


@pytest.mark.parametrize(
    "command",
    [
        ("info", "F"),
        ("partition", "F", "--parts", 2),
        ("pagerank", "F"),
        ("advise", "F"),
        ("convert", "F", "O.tg"),
        ("generate", "grid", "O.tg", "--rows", 2, "--columns", 2),
        ("doctor",),
        ("draw", "F", "O.png"),
        ("dynamic", "import", "O", "F"),
        ("flow", "F", "--source", 10, "--target", 40),
        ("bellman-ford", "F"),
        ("hits", "F"),
    ],
)
def test_each_command_answers_in_one_object(command, file, tmp_path):
    given = [str(each).replace("O", str(tmp_path / "o")) if each != "F" else file for each in command]
    found = json.loads(said(*given, "--json"))
    assert found["command"] in command and (
        "F" not in command or command[0] == "dynamic" or found["graph"]["edges"] == 5
    )


@pytest.mark.parametrize(
    "given, code",
    [
        (("wcc", "F"), 1),
        (("bipartite", "F"), 1),
        (("topological", "F"), 0),
        (("cycle", "F"), 1),
        (("path", "F", "--source", 10, "--target", 40), 0),
        (("path", "F", "--source", 40, "--target", 10), 1),
    ],
)
def test_a_negative_answer_has_a_code(given, code, file):
    given = [file if each == "F" else each for each in given]
    assert said(*given, "--check", code=code)
    if given[0] == "bipartite":
        assert "odd cycle" in said(*given, code=3)


@pytest.mark.parametrize(
    "given, words",
    [
        (("pagerank", "--backend", "x"), "--backend: 'x'"),
        (("triangles", "--backend", "x"), "--backend: 'x'"),
        (("similar", "--measure", "x"), "--measure: 'x'"),
        (("degree", "--direction", "x"), "--direction: 'x'"),
        (("convert", "O.tg", "--layout", "x"), "--layout: 'x'"),
        (("convert", "O.tg", "--reorder", "x"), "--reorder: 'x'"),
        (("convert", "O.el", "--layout", "csr"), "only .tg files"),
        (("draw", "O.gif"), "of a drawing"),
        (("draw", "none/o.png"), "no folder none"),
        (("path", "--source", 1), "--target: name a vertex"),
        (("densest", "--method", "x"), "--method: 'x'"),
        (("wcc", "-o", "none/o.csv"), "no folder none"),
    ],
)
def test_options_are_checked_before_the_file_is_read(given, words):
    assert words in said(given[0], "missing.el", *given[1:], code=2)


def test_a_program_of_ones_own(file, tmp_path):
    found = json.loads(said("run", WIDEST, file, "--set", "source=10", "--no-fuse", "--mode", "pull", "--json"))
    assert {row["vertex"]: row["value"] for row in found["rows"]} == {10: None, 20: 3, 30: 1, 40: 3, 50: 0, 60: 0}
    assert "no vertex is called 11" in said("run", f"{WIDEST}:WidestPath", file, "--set", "source=11", code=2)
    for options, words in (
        (["--set", "sorce=1"], "takes no argument 'sorce'"),
        (["--set", "source"], "not of the form name=value"),
    ):
        assert words in said("run", WIDEST, "missing.wel", *options, code=2)
    assert "has no program Widest" in said("run", f"{WIDEST}:Widest", file, code=2)
    (tmp_path / "bad.py").write_text("1 +")
    assert "SyntaxError" in said("run", tmp_path / "bad.py", file, code=2)


def test_names_of_options_are_those_of_the_library():
    graph = tg.generators.complete(4)
    assert all(len(tg.algorithms.most_similar(graph, measure=name)) == 2 for name in choices.MEASURES)
