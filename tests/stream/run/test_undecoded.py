"""Attributes and prints of a graph do not decode its layout."""

import pytest
import torch
from strategies import random_graph
from streams import streamed

import tgraph as tg
from tgraph.cli.graphs import info, size
from tgraph.errors import LayoutError
from tgraph.formats import LAYOUTS, layout

# What hands out the arcs, or is made of all of them.
ARCS = ("offset", "neighbors", "weights", "transpose_permutation")


def attributes():
    """The public attributes of a graph in a layout that are no methods."""
    held = random_graph(4, 4).to_format("sell")
    names = [name for name in dir(held) if not name.startswith("_") and name not in ARCS]
    return sorted(name for name in names if not callable(getattr(held, name)))


def in_layout(name, graph):
    if name == "streamed":
        return streamed(graph, 5, slack=1 << 20)
    return graph.to_format(name, **({"limit": 1e9} if name == "ell" else {"min_density": 0} if name == "wsb" else {}))


@pytest.fixture(params=[*(name for name in LAYOUTS if name != "csr"), "streamed"])
def name(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["directed", "undirected"])
def graph(request, name):
    dtype = None if name == "cbm" else torch.float32  # which holds no weights
    graph = random_graph(60, 500, directed=request.param, dtype=dtype)
    if name == "cbm":
        graph = tg.Graph.from_edges(*graph.to_edge_index(), num_vertices=60, multi="first")
        graph = graph if request.param else graph.to_undirected()
    return tg.Graph(graph.offset, graph.neighbors, graph.weights, torch.arange(60) * 3, request.param)


def held_by(graph, name):
    held = in_layout(name, graph)
    assert held.layout is not None and not held.caches
    return held


def assert_undecoded(graph):
    """Nothing is kept that grows with the arcs."""
    large = {name: nbytes for name, nbytes in graph.caches.items() if nbytes > 8 * (graph.num_vertices + 1)}
    assert not large and not {"arcs", "transpose"} & graph.caches.keys()


@pytest.mark.covering(1)
@pytest.mark.parametrize("attribute", attributes())
def test_attributes_do_not_decode(name, graph, attribute, monkeypatch):
    held = held_by(graph, name)
    monkeypatch.setattr(layout, "STRETCH", 64)
    found, expected = getattr(held, attribute), getattr(graph, attribute, None)
    assert_undecoded(held)
    if attribute not in ("layout", "nbytes", "caches", "order", "storage", "weight_statistics"):
        same = torch.equal(found, expected) if isinstance(expected, torch.Tensor) else found == expected
        assert same or found == pytest.approx(expected), (found, expected)


@pytest.mark.parametrize("attribute", ARCS)
def test_tensors_of_csr_are_decoded_by_name_only(name, graph, attribute):
    held = held_by(graph, name)
    layout = "streamed" if name == "streamed" else held.layout.name
    with pytest.raises(LayoutError, match=rf"layout '{layout}'.*graph\.to_csr\(\).*graph\.decoded\(\)"):
        getattr(held, attribute)
    assert not hasattr(held, attribute)
    assert_undecoded(held)
    decoded = held.decoded()
    assert decoded is held.decoded() and decoded.decoded() is decoded and decoded.to_csr() is decoded
    assert held.caches["arcs"] == decoded.nbytes
    assert torch.equal(decoded.neighbors, graph.neighbors) and torch.equal(decoded.offset, graph.offset)
    held.drop_caches("arcs")
    assert not held.caches


@pytest.mark.parametrize("tell", [repr, str, size, info, lambda graph: graph.top(graph.out_degree, 3)])
def test_prints_do_not_decode(name, graph, tell, capsys):
    held = held_by(graph, name)
    told = tell(held)
    assert_undecoded(held)
    if tell is repr:
        assert ("weights float32" in told) == (name != "cbm") and "60 vertices" in told
    if tell is info:
        tell(graph)
        lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(("layout", "memory"))]
        assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]


@pytest.mark.parametrize("directed", [True, False])
def test_parallel_edges(directed):
    graph = random_graph(60, 500, directed=directed)
    pairs = [tuple(pair) for pair in graph.to_edge_index().T.tolist() if graph.directed or pair[0] <= pair[1]]
    assert graph.num_parallel_edges == len(pairs) - len(set(pairs)) > 0


def test_no_symmetric_graph_is_missed(name):
    graph = random_graph(60, 500, directed=False, dtype=None if name == "cbm" else torch.float32)
    graph = graph.to_undirected("first")
    held = held_by(tg.Graph(graph.offset, graph.neighbors, graph.weights), name)
    assert held.is_symmetric
    assert_undecoded(held)
