import lzma

import pytest
import torch
from hypothesis import assume, given
from io_samples import DATA, arcs, assert_fault, assert_same, graphs, needs_data, round_trip
from strategies import refused

import tgraph
from tgraph.core.graph import Graph

NAME = "road.gr"  # of files


@given(graph=graphs(weights=("none", "integer")))
def test_round_trip(tmp_path_factory, graph):
    assume(graph.weights is not None or not graph.directed)
    path = tmp_path_factory.mktemp("dimacs") / "road.gr"
    found = round_trip(graph, path, directed=graph.directed)
    assert_same(found, graph, ids=False)


def test_kinds(file):
    arc = tgraph.read(file("c road\np sp 4 2\nc\na 1 2 5\nc between\na  2 1 7\n"))
    assert arc.directed and arc.num_vertices == 4 and arcs(arc) == [(1, 2, 5), (2, 1, 7)]
    assert tgraph.read(file("p sp 2 1\na 1 2 0.5\n")).weights.tolist() == [0.5]
    assert tgraph.read(file("p sp 2 1\na 1 2 5\n"), weights=False).weights is None
    for text in ("p tw 3 2\n1 2\n2 3\n", "p edge 3 2\ne 1 2\ne 2 3\n", "p col 3 2\ne 1 2\ne 2 3\n"):
        graph = tgraph.read(file(text))
        assert not graph.directed and graph.num_edges == 2 and graph.weights is None


def test_vertex_lines_of_colourings_are_skipped(file):
    graph = tgraph.read(file("c x\np edge 3 2\nn 1 5\nn 3 -2\ne 1 2\ne 2 3\nn 2 0\n", "some.col"))
    assert arcs(graph) == [(1, 2, None), (2, 1, None), (2, 3, None), (3, 2, None)]


def test_no_edges(file):
    assert tgraph.read(file("p tw 3 0\n")).num_vertices == 3


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("c nothing\n", None, ["empty", "p sp"]),
        ("c x\na 1 2 3\n", 2, ["expected the problem line", "before the first edge"]),
        ("p aux sp co 5\n", 1, ["'p aux sp co 5' is not a graph", "expected 'p sp|"]),
        ("p sp 2\n", 1, ["is not a graph"]),
        (b"p sp \xb2 0\n", 1, ["is not a graph"]),
        ("p sp 99999999999 0\n", 1, ["declares 99999999999 vertices for 0 edges", "correct the header"]),
        (f"p sp {10**30} 0\n", 1, ["vertices for 0 edges"]),
        ("p sp 2 3\na 1 2 3\n", 1, ["declares 3 edges, the file has 1", "truncated"]),
        ("p sp 2 1\nc\na 1 3 3\n", 3, ["the id 3 is above the declared number of vertices 2"]),
        ("p sp 2 1\na 0 2 3\n", 2, ["the id 0 is below 1"]),
        ("p sp 2 1\na 1 2\n", 2, ["short line", "3 columns where 4"]),
        ("p sp 2 1\na 1 2 x\n", 2, ["'x' is not a number"]),
        ("p sp 2 2\na 1 2 1\nb 1 2 3\n", 3, ["begins with 'b' where 'a' is expected"]),
        ("p tw 2 1\n1 2 3\n", 2, ["too many columns"]),
    ],
)
def test_faults(file, text, line, words):
    assert_fault(file(text), line, *words)


def test_truncated_archive(tmp_path):
    path = tmp_path / "road.gr.xz"
    path.write_bytes(lzma.compress(b"p tw 90000 1\n" + b"1 2\n" * 90000)[:-20])
    assert_fault(path, None, "xz data cannot be decompressed", "truncated")


def test_graphs_that_no_kind_holds(tmp_path):
    refused("directed DIMACS file needs weights", tgraph.write, Graph.from_edges([0], [1]), tmp_path / "road.gr")
    refused("DIMACS takes integer weights", tgraph.write, Graph.from_edges([0], [1], [0.5]), tmp_path / "road.gr")


@needs_data
def test_new_york():
    path = DATA / "USA-road-d.NY" / "USA-road-d.NY.gr.gz"
    directed, undirected = tgraph.read(path), tgraph.read(path, directed=False)
    assert directed.num_edges == 733846 and undirected.num_edges == 733846 // 2
    assert torch.equal(directed.neighbors, undirected.neighbors)
    assert_fault(DATA / "USA-road-d.NY" / "USA-road-d.NY.co.gz", 5, "is not a graph", format="dimacs")


@needs_data
def test_gapbs_graphs_in_all_formats_agree():
    folder = DATA / "conformance" / "gapbs"
    weighted = tgraph.read(folder / "graphs-4.gr")
    assert (weighted.num_vertices, weighted.num_edges) == (14, 256)
    from_zero = sorted(((u - 1, v - 1, w) for u, v, w in arcs(weighted)), key=repr)  # .gr counts from 1
    assert arcs(tgraph.read(folder / "graphs-4.wel", ids="keep")) == from_zero
    plain = arcs(tgraph.read(folder / "graphs-4.el", ids="keep"))
    assert plain == [(u, v, None) for u, v, _ in from_zero]
    for name in ("graphs-4.mtx", "graphs-4w.mtx"):
        assert tgraph.read(folder / name).num_edges == 256
    # GAPBS writes METIS files with arcs for edges, and without the vertex sizes that fmt 100 announces
    assert_fault(folder / "graphs-4w.graph", 1, "53 edges", "directed=True")
    metis = tgraph.read(folder / "graphs-4w.graph", directed=True)
    assert (metis.num_vertices, metis.num_edges) == (14, 53)
    assert_fault(folder / "graphs-4.graph", 3, "sizes and weights")
