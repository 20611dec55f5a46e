"""Importing tgraph imports nothing else; a name brings its module, and what higher modules attach is there."""

import ast
import pickle
import subprocess
import sys
from pathlib import Path

import interpreters
import pytest

import tgraph as tg

ROOT = Path(__file__).parents[1]
PACKAGES = ("tgraph", "tgraph.nn", "tgraph.stores")  # whose names are imported at first access
ABOVE = {"algorithms", "Report", "report"}  # what type checkers are not told of: they stand above tgraph


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_see_the_same_names(package):
    tree = ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text())
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in checked.body for alias in node.names}
    (homes,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOMES"
    )
    table = ast.literal_eval(homes)
    assert seen == {name: home for name, home in table.items() if name not in ABOVE}


def test_importing_tgraph_imports_nothing_else():
    code = """if True:
        import sys
        before = set(sys.modules)
        import tgraph as tg
        packages = {name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names
        assert packages == {"tgraph"}, packages
        assert "torch" not in sys.modules and set(tg.__all__) <= set(dir(tg))
        try:
            tg.nothing
        except AttributeError as missing:
            print(missing)
        from tgraph import random
        assert random is tg.random is sys.modules["tgraph.core.random"] and vars(tg)["random"] is random"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "module 'tgraph' has no attribute 'nothing'\n", done.stderr


# What a process does first, and what that prints.
FIRST = {
    "from tgraph.core.graph import Graph; print(Graph.from_edges([0, 1], [1, 2]).to_undirected().num_arcs)": "4",
    "from tgraph.generators import star; print(star(3).reorder('degree').to_format('sell').layout.name)": "sell",
    "from tgraph.core import dispatch; print(dispatch.refusal('portable', 'pull_nothing'))": "it has no pull_nothing",
    "from tgraph.algorithms import bfs; from tgraph import Graph; print(bfs(Graph.from_edges([0], [1]), 0)[1])": (
        "tensor(1, dtype=torch.int32)"
    ),
    "import tgraph as tg; print(tg.run(tg.algorithms.WCC(), tg.generators.path(2), memory='1GB').values)": (
        "tensor([0, 0])"
    ),
    "import tgraph, torch; f = torch.compile(lambda g, x: tgraph.aggregate(g, x, 'sum'), backend='eager'); "
    "print(f(tgraph.generators.path(2), torch.ones(2)).data)": "tensor([1., 1.])",
}


@pytest.mark.parametrize("code", FIRST)
def test_what_is_done_first(code):
    done = interpreters.run(code)
    assert done.stdout == FIRST[code] + "\n", done.stderr


def test_graphs_and_programs_are_read_where_nothing_is_imported(tmp_path):
    file = tmp_path / "blocks.tg"
    tg.stream.write_partitioned(tg.generators.path(5), file, tg.stream.partition(tg.generators.path(5), 2))
    code = """if True:
        import pickle, sys
        graph, program = pickle.loads(bytes.fromhex(sys.argv[1]))
        print(graph.to_edge_index().tolist(), type(program).__name__)
        from tgraph.io import read
        print(read(sys.argv[2]).num_edges)"""
    pickled = pickle.dumps((tg.generators.path(2), tg.algorithms.WCC())).hex()
    done = interpreters.run(code, pickled, file)
    assert done.stdout == "[[0, 1], [1, 0]] WCC\n4\n", done.stderr
