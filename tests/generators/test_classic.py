"""Well-known graphs are those of networkx, vertex by vertex."""

import networkx as nx
import pytest
from test_models import edges

import tgraph as tg
from tgraph.errors import ArgumentError
from tgraph.generators.famous import NAMES

make = tg.generators

SAME = {
    "path": (make.path, nx.path_graph, [(0,), (1,), (5,)]),
    "cycle": (make.cycle, nx.cycle_graph, [(3,), (6,)]),
    "star": (make.star, nx.star_graph, [(0,), (1,), (4,)]),
    "wheel": (make.wheel, nx.wheel_graph, [(4,), (7,)]),
    "complete": (make.complete, nx.complete_graph, [(0,), (1,), (5,)]),
    "complete_bipartite": (make.complete_bipartite, nx.complete_bipartite_graph, [(0, 2), (3, 2)]),
    "complete_multipartite": (lambda *s: make.complete_multipartite(s), nx.complete_multipartite_graph, [(1, 2, 3)]),
    "ladder": (make.ladder, nx.ladder_graph, [(1,), (4,)]),
    "circular_ladder": (lambda n: make.ladder(n, circular=True), nx.circular_ladder_graph, [(3,), (5,)]),
    "lollipop": (make.lollipop, nx.lollipop_graph, [(4, 0), (4, 3)]),
    "barbell": (make.barbell, nx.barbell_graph, [(3, 0), (4, 2)]),
    "balanced_tree": (make.balanced_tree, nx.balanced_tree, [(1, 3), (2, 0), (3, 2)]),
} | {name: (lambda name=name: make.famous(name), getattr(nx, f"{name}_graph"), [()]) for name in NAMES}


@pytest.mark.parametrize("name", SAME)
def test_the_same_as_networkx(name):
    ours, theirs, arguments = SAME[name]
    for given in arguments:
        graph, expected = ours(*given), theirs(*given)
        assert graph.num_vertices == len(expected)
        assert edges(graph) == {(min(edge), max(edge)) for edge in expected.edges()}


def test_small_ones_and_directions():
    assert make.cycle(2).num_edges == 1 and make.cycle(1).num_edges == 0 and make.ladder(0).num_vertices == 0
    assert edges(make.complete(3, directed=True)) == {(u, v) for u in range(3) for v in range(3) if u != v}
    assert edges(make.hypercube(3)) == {(u, u | 1 << b) for u in range(8) for b in range(3) if not u >> b & 1}


@pytest.mark.parametrize("call", [lambda: make.path(-1), lambda: make.lollipop(1, 2), lambda: make.hypercube(40)])
def test_wrong_arguments(call):
    with pytest.raises(ArgumentError):
        call()
