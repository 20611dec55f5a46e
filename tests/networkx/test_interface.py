"""What networkx is told about the backend, and what it may ask."""

import inspect
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import _tgraph_networkx
from tgraph.networkx import history
from tgraph.networkx.interface import backend
from tgraph.networkx.listing import listing
from tgraph.networkx.registry import FUNCTIONS

ALGORITHMS = nx.utils.backends._registered_algorithms


def test_networkx_is_told_of_every_function():
    """`make networkx-listing` brings the module up to date."""
    assert Path(_tgraph_networkx.__file__).with_name("functions.py").read_text() == listing()
    assert set(_tgraph_networkx.get_info()["functions"]) == set(FUNCTIONS)


def test_importing_the_info_imports_no_torch():
    code = (
        "import sys, time; before = time.perf_counter(); import _tgraph_networkx; _tgraph_networkx.get_info();"
        "print(time.perf_counter() - before, 'torch' in sys.modules, 'tgraph' in sys.modules)"
    )
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    _, torch, tgraph = text.split()
    assert (torch, tgraph) == ("False", "False")


def test_importing_networkx_imports_no_torch():
    code = "import sys, networkx; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["False"]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_signatures_are_those_of_networkx(name):
    ours, theirs = (inspect.signature(f) for f in (FUNCTIONS[name].run, ALGORITHMS[name].orig_func))
    assert [(p.name, p.default, p.kind) for p in ours.parameters.values()] == [
        (p.name, p.default, p.kind) for p in theirs.parameters.values()
    ]


def test_what_is_made_of_parts_names_functions_that_run_here():
    for entry in FUNCTIONS.values():
        assert set(entry.made_of) <= set(FUNCTIONS), entry.name


def test_a_function_as_weight_is_left_to_networkx():
    history.forget()
    G = nx.path_graph(3)
    assert backend.can_run("pagerank", (G,), {"weight": lambda u, v, d: 1}) == "weight is a function"
    assert "pagerank: 1 left to networkx: weight is a function" in history.explain()


def test_small_graphs_are_left_to_networkx():
    history.forget()
    small, large = nx.path_graph(3), nx.path_graph(2_000)
    assert "converting it takes longer than the call" in backend.should_run("pagerank", (small,), {})
    assert backend.should_run("pagerank", (large,), {}) is True
    assert backend.should_run("connected_components", (large,), {}) == "converting the graph takes longer than the call"
    for G in (small, large):
        G.__networkx_cache__["backends"] = {"tgraph": {(True, True): backend.convert_from_nx(G)}}
    assert "as fast in networkx" in backend.should_run("pagerank", (small,), {})
    assert backend.should_run("connected_components", (large,), {}) is True
    assert "left to networkx" in history.explain()


def test_what_is_missing_is_noted():
    history.forget()
    assert not hasattr(backend, "greedy_tsp")
    assert not hasattr(backend, "no_function_of_networkx")
    assert history.explain() == "greedy_tsp: 1 left to networkx: it is not among the functions of tgraph"
