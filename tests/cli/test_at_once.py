"""Help, completion and mistakes answer at once: nothing is imported that they do not need."""

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import tgraph as tg
from tgraph import formats, io
from tgraph.cli import choices
from tgraph.cli.chains import options_of
from tgraph.cli.command import VERTICES, steps
from tgraph.cli.declared import program_of, summary
from tgraph.cli.graphs import MODELS, generator
from tgraph.cli.topics import TOPICS
from tgraph.core.dispatch import BACKENDS
from tgraph.formats import reordering
from tgraph.stream.partitioning import cuts

ALGORITHMS = {name: algorithm for commands in TOPICS.values() for name, algorithm in commands.items()}

# What may be imported beside the standard library, torch and the rest of what computes not being among it.
ALLOWED = {"tgraph", "typer", "click", "shellingham", "annotated_doc", "typing_extensions"}

# Runs the command for each line of arguments and environment in a fork of a process that has imported nothing else, and
# says what it printed, its exit code, and the packages that are imported then.
RUNS = """
import contextlib, io, json, os, sys
from tgraph.cli import main
for arguments, environment in json.loads(sys.argv[1]):
    read, write = os.pipe()
    if not os.fork():
        os.environ.update(environment)
        sys.argv = ["tgraph", *arguments]
        shown, code = io.StringIO(), None
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            try:
                main()
            except SystemExit as done:
                code = done.code
        packages = {name.partition(".")[0] for name, module in sys.modules.items() if module is not None}
        packages -= {*sys.stdlib_module_names, "__main__"}
        with os.fdopen(write, "w") as file:
            json.dump([shown.getvalue(), code, sorted(packages)], file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        print(file.read())
    os.wait()
"""


def run(*calls):
    """(printed, exit code, packages) of each call, a line of arguments and an environment."""
    asked = json.dumps([(line.split(), environment) for line, environment in calls])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV_")}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{RUNS}", asked],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def completing(shell: str, line: str) -> tuple[str, dict[str, str]]:
    """The request of a shell to complete the last word of a line."""
    request = {"_TGRAPH_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        return "", request | {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    return "", request | {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_nothing_is_imported_before_a_command_runs():
    calls = {
        "--help": "Searches and paths:",
        "bfs --help": "--max-depth",
        "generate lfr --help": "--mu",
        "--version": tg.__version__,
        "bsf": "tgraph: No such command 'bsf'. Did you mean 'bfs'?",
        "bfs graph.el --sorce 3": "tgraph: No such option: --sorce",
        "generate rmta": "Did you mean 'rmat'",
    }
    for (line, expected), (printed, code, packages) in zip(
        calls.items(), run(*((line, {}) for line in calls)), strict=True
    ):
        assert expected in printed and set(packages) <= ALLOWED, (line, printed, packages)
        mistaken = printed.startswith("tgraph: No such")
        assert code == (2 if mistaken else 0) and (printed.count("\n") == 1 or not mistaken)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_in_each_shell(shell):
    lines = {
        "tgraph page": {"pagerank"},
        "tgraph generate ": {"rmat", "uniform", *MODELS},
        "tgraph bfs graph.el --max": {"--max-depth"},
        "tgraph convert a.el b.tg --layout s": {"sell"},
        "tgraph bfs out --format ": set(choices.FORMATS),
        "tgraph advise a --device c": {"cpu", "cuda"},
        "tgraph color a --strategy s": {"smallest_last"},
        "tgraph partition a --method ": set(choices.METHODS),
        "tgraph store verify --pro": {"--progress"},
        "tgraph bfs ": set(),  # a file, whose names the shell completes
        "tgraph bfs a.el --output ": set(),
    }
    for (line, expected), (printed, code, packages) in zip(
        lines.items(), run(*(completing(shell, line) for line in lines)), strict=True
    ):
        assert code == 0 and set(packages) <= ALLOWED, (line, packages)
        if shell == "zsh":
            found = {word.split('"')[1] for word in printed.split("\n") if '"' in word}
            assert expected or printed == "_files\n"
        else:
            found = {word.partition("\t")[0] for word in printed.split("\n")} - {""}
        assert found == expected, (line, printed)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_is_installed_in_bash(tmp_path):
    """By one command, after which a new shell completes commands, and file names where there is nothing else."""
    command = tmp_path / "bin" / "tgraph"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m tgraph "$@"\n')
    command.chmod(0o755)
    home, root = tmp_path / "home", Path(__file__).parents[2]
    home.mkdir()
    paths = {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(root)}

    def bash(script, **environment):
        done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, env=paths | environment)
        return done.stdout.split(), done.stderr

    bash("tgraph --install-completion; true", HOME=str(home))  # `true`, so that the shell is there to be found
    asked = "COMP_WORDS=(tgraph pagera); COMP_CWORD=1; _tgraph_completion tgraph; echo ${COMPREPLY[@]}"
    found, _ = bash(f"source ~/.bashrc; {asked}; complete -p tgraph", HOME=str(home))
    assert found == ["pagerank", *["complete", "-o", "default", "-F", "_tgraph_completion", "tgraph"]]
    found, _ = bash(f'eval "$(tgraph --show-completion)"; {asked}', HOME="/proc/nohome")
    assert found == ["pagerank"]
    found, complaint = bash("tgraph --install-completion; echo $?", HOME="/proc/nohome")
    assert found == ["2"] and "/proc/nohome" in complaint and "eval" in complaint and complaint.count("\n") == 1


# ---- what the command says of the library without importing it -----------------------------------------------------


def test_names_are_those_of_the_library():
    assert tuple(io.FORMATS) == choices.FORMATS and tuple(formats.LAYOUTS) == choices.LAYOUTS
    assert tuple(reordering.ORDERS) == choices.ORDERS and cuts.METHODS == choices.METHODS
    assert ("auto", *BACKENDS) == choices.BACKENDS


@pytest.mark.parametrize("name", ALGORITHMS)
def test_options_are_those_of_the_algorithm(name):
    algorithm = ALGORITHMS[name]
    run = getattr(tg.algorithms, program_of(algorithm.run) or algorithm.run)
    parameters = inspect.signature(run).parameters
    assert {*algorithm.given, *algorithm.values} <= set(parameters)
    for option, shown in options_of(steps(algorithm)[0]).items():
        assert shown.default == (None if option in VERTICES else parameters[option].default), option


@pytest.mark.parametrize("name", ALGORITHMS)
def test_help_is_the_beginning_of_the_docstring(name):
    run, said = ALGORITHMS[name].run, summary(ALGORITHMS[name].run)
    text = " ".join((inspect.getdoc(getattr(tg.algorithms, run)) or "").split()).replace("`", "")
    assert text.startswith(said.removesuffix(".")) and said[0].isupper() and 10 < len(said) < 100
    assert not said.startswith(("What ", "How ", "Those ", "Whether "))


CHOICES = [(name, option) for name, row in ALGORITHMS.items() for option in row.values]


@pytest.mark.parametrize(("name", "option"), CHOICES)
def test_values_are_those_of_the_algorithm(name, option):
    algorithm, graph = ALGORITHMS[name], tg.generators.complete(4)
    graph = graph if option != "direction" else tg.Graph.from_edges([0, 1], [1, 2])
    run = getattr(tg.algorithms, algorithm.run)
    for value in algorithm.values[option]:
        run(graph, **{option: value})
    with pytest.raises(tg.errors.ArgumentError):
        run(graph, **{option: "none of these"})


@pytest.mark.parametrize("name", MODELS)
def test_options_are_those_of_the_generator(name):
    model = MODELS[name]
    known = inspect.signature(getattr(tg.generators, model.run), eval_str=True).parameters
    options = options_of(generator(model))
    assert {option: shown.default for option, shown in options.items()} == {
        option: model.defaults.get(option, each.default) for option, each in known.items()
    }
    assert [get_args(shown.annotation)[0] for shown in options.values()] == [each.annotation for each in known.values()]
