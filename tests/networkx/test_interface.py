"""What networkx is told about the backend, and what it may ask."""

import functools
import inspect
import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import _tgraph_networkx
from tgraph.networkx import history, listing
from tgraph.networkx.interface import backend
from tgraph.networkx.registry import FUNCTIONS

ALGORITHMS = nx.utils.backends._registered_algorithms


def test_networkx_is_told_of_every_function():
    """An older networkx has fewer functions."""
    assert set(FUNCTIONS) == set(_tgraph_networkx.get_info()["functions"]) & set(ALGORITHMS)


NEWEST = set(_tgraph_networkx.get_info()["functions"]) <= set(ALGORITHMS)


@pytest.mark.skipif(not NEWEST, reason="made with a later networkx")
@pytest.mark.parametrize("path", listing.FILES)
def test_listings_are_up_to_date(path):
    """`make networkx-listing` brings them up to date."""
    assert (listing.ROOT / path).read_text() == listing.FILES[path]()


def test_the_info_loads_next_to_nothing():
    """Beside modules of Python's own, two small ones of names and texts."""
    code = """
import sys
before = set(sys.modules)
import _tgraph_networkx
_tgraph_networkx.get_info()
for name in sorted(set(sys.modules) - before):
    if name.partition(".")[0] not in sys.stdlib_module_names:
        print(name, sys.modules[name].__file__)
"""
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert set(loaded) == {"_tgraph_networkx", "_tgraph_networkx.functions"}
    assert sum(Path(file).stat().st_size for file in loaded.values()) < 40_000


def test_importing_networkx_with_the_backend_imports_nothing_more():
    code = "import sys, networkx; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = functools.partial(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run(env={**os.environ, "NETWORKX_BACKEND_PRIORITY": "tgraph"}).stdout.split())
    assert not loaded & {"torch", "numpy", "scipy", "pandas", "tgraph"}


def test_signatures_are_those_of_networkx():
    """What only some releases have is given by name alone."""
    named = inspect.Parameter.KEYWORD_ONLY
    for name in FUNCTIONS:
        ours, theirs = (inspect.signature(f).parameters for f in (FUNCTIONS[name].run, ALGORITHMS[name].orig_func))
        first, expected = ([str(p) for p in each.values() if p.kind is not named] for each in (ours, theirs))
        assert first == expected, name
        others, expected = ({(p.name, p.default) for p in each.values() if p.kind is named} for each in (ours, theirs))
        assert expected <= others, name


def test_what_runs_is_code_of_ours_or_says_what_it_is_made_of():
    for name, function in FUNCTIONS.items():
        file = Path(function.run.__wrapped__.__code__.co_filename)
        assert bool(function.made_of) == (file.parts[-5:-2] != ("tgraph", "networkx", "functions")), name


def test_what_is_made_of_parts_names_functions_that_run_here():
    for entry in FUNCTIONS.values():
        assert set(entry.made_of) <= set(FUNCTIONS), entry.name


def test_a_function_as_weight_is_left_to_networkx():
    history.forget()
    G = nx.path_graph(3)
    assert backend.can_run("pagerank", (G,), {"weight": lambda u, v, d: 1}) == "weight is a function"
    assert "pagerank: 1 left to networkx: weight is a function" in history.explain()


@pytest.mark.parametrize(
    ("name", "kind", "options", "reason"),
    [
        ("diameter", nx.Graph, {"usebounds": True}, "usebounds"),
        ("diameter", nx.Graph, {"usebounds": False}, None),
        ("greedy_color", nx.Graph, {"strategy": "DSATUR"}, "strategy but largest_first, random_sequential"),
        ("greedy_color", nx.DiGraph, {}, "directed graphs"),
        ("reciprocity", nx.MultiDiGraph, {}, "multigraphs"),
        ("local_node_connectivity", nx.Graph, {"s": 0, "t": 2, "flow_func": print}, "flow_func but solver of networkx"),
        ("local_node_connectivity", nx.Graph, {"s": 0, "t": 2, "flow_func": nx.flow.dinitz}, None),
        ("dfs_successors", nx.Graph, {"depth_limit": 0}, "depth_limit but positive"),
        ("current_flow_closeness_centrality", nx.Graph, {"dtype": int}, "dtype but float"),
    ],
)
def test_what_is_declared_is_left_to_networkx(name, kind, options, reason):
    answer = backend.can_run(name, (nx.path_graph(3, create_using=kind),), options)
    assert answer is True if reason is None else answer == reason
    assert reason is None or reason in FUNCTIONS[name].gaps


def converted(G, **attributes):
    """The graph, with what networkx keeps of a conversion."""
    key = frozenset(attributes.items()), False
    G.__networkx_cache__["backends"] = {"tgraph": {key: backend.convert_from_nx(G, edge_attrs=attributes)}}
    return G


@pytest.mark.parametrize(
    ("nodes", "name", "options", "reason"),
    [
        (1_000, "pagerank", {}, "less than 20,000 nodes and arcs: converting it takes longer than the call"),
        (1_000, "triangles", {}, "less than 6,000 nodes and arcs: converting it takes longer than the call"),
        (7_000, "pagerank", {}, None),
        (7_000, "triangles", {}, None),
        (7_000, "connected_components", {}, "converting the graph takes longer than the call"),
        (7_000, "triangles", {"nodes": [1]}, "networkx looks at a few nodes only"),
        (7_000, "closeness_centrality", {"u": 1}, "converting the graph takes longer than the call"),
    ],
)
def test_small_graphs_are_left_to_networkx(nodes, name, options, reason):
    history.forget()
    answer = backend.should_run(name, (nx.path_graph(nodes),), options)
    assert answer is True if reason is None else reason in answer
    assert (reason is None) == ("left to networkx" not in history.explain())


@pytest.mark.parametrize(
    ("nodes", "name", "options", "reason"),
    [
        (300, "pagerank", {}, "less than 2,000 nodes and arcs: a call is as quick in networkx"),
        (700, "pagerank", {}, None),
        (700, "connected_components", {}, "less than 6,000 nodes and arcs: a call is as quick in networkx"),
        (7_000, "connected_components", {}, None),
        (7_000, "has_path", {"source": 0, "target": 9}, "networkx looks at a few nodes only"),
        (7_000, "triangles", {"nodes": [1]}, "networkx looks at a few nodes only"),
        (7_000, "triangles", {"nodes": range(1_000)}, None),
        (1_000, "single_source_dijkstra", {"source": 0}, None),
        (
            1_000,
            "single_source_dijkstra",
            {"source": 0, "weight": "length"},
            "converting it takes longer than the call",
        ),
    ],
)
def test_what_is_converted_already_runs_from_smaller_sizes_on(nodes, name, options, reason):
    answer = backend.should_run(name, (converted(nx.path_graph(nodes), weight=1),), options)
    assert answer is True if reason is None else reason in answer


def test_what_is_missing_is_noted():
    history.forget()
    assert not hasattr(backend, "greedy_tsp")
    assert not hasattr(backend, "no_function_of_networkx")
    assert history.explain() == "greedy_tsp: 1 left to networkx: it is not among the functions of tgraph"
