import re

import pytest
from hypothesis import given
from io_samples import DATA, arcs, assert_fault, assert_same, graphs, needs_data, round_trip

import tgraph
from tgraph.errors import ArgumentError, FileFormatError

LDBC = DATA / "conformance" / "ldbc-graphalytics"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "some.v").write_text("7\n3\n5\n")
    (tmp_path / "some.e").write_text("3 7 0.5\n7 3 1\n")
    (tmp_path / "some.properties").write_text("# some\ngraph.some.directed = true\n")
    return tmp_path


@given(graph=graphs(vertices=("none", "integers")))
def test_round_trip(tmp_path_factory, graph):
    path = tmp_path_factory.mktemp("graphalytics") / "some.e.gz"
    found = round_trip(graph, path)
    if graph.weights is not None and graph.num_arcs == 0:
        assert found.weights is None  # an empty edge file has no third column
        graph = tgraph.Graph(graph.offset, graph.neighbors, None, graph.vertices, graph.directed)
    plain = graph.vertices is not None and graph.vertices.tolist() == list(range(graph.num_vertices))
    assert_same(found, graph, ids=not plain)


@pytest.mark.parametrize("name", ["some.v", "some.e", "some.properties", "some"])
def test_every_name_of_the_graph(folder, name):
    graph = tgraph.read(folder / name, format="graphalytics")
    assert graph.directed and graph.num_vertices == 3 and graph.vertices.tolist() == [3, 5, 7]
    assert arcs(graph) == [(3, 7, 0.5), (7, 3, 1.0)]


def test_direction(folder):
    assert not tgraph.read(folder / "some.e", directed=False).directed
    (folder / "some.properties").write_text("graph.some.directed = false\n")
    assert not tgraph.read(folder / "some.e").directed
    (folder / "some.properties").write_text("graph.some.meta.edges = 2\n")
    with pytest.raises(FileFormatError, match=r"no line 'graph.NAME.directed = true\|false'"):
        tgraph.read(folder / "some.e")
    (folder / "some.properties").unlink()
    assert tgraph.read(folder / "some.e").directed


def test_faults(folder):
    edges, vertices = folder / "some.e", folder / "some.v"
    edges.write_text("3 7\n# x\n3 4\n")
    assert_fault(edges, 3, "names the vertex 4", "list every vertex")
    edges.write_text("3 7\n3 x\n")
    assert_fault(edges, 2, "'x' is not an integer")
    edges.write_text("3 7\n3\n")
    assert_fault(edges, 2, "short line")
    vertices.write_text("3\n7\n3\n")
    with pytest.raises(FileFormatError, match=r"some\.v: the vertex 3 is listed twice"):
        tgraph.read(edges)
    vertices.unlink()
    with pytest.raises(FileFormatError, match=r"some\.v: there is no such file"):
        tgraph.read(edges)


@pytest.mark.parametrize("label", ["a", 1.5, (1, 2)])
def test_labels_are_refused(tmp_path, label):
    with pytest.raises(ArgumentError, match=re.escape(f"ids are integers, not {label!r}")):
        tgraph.write(tgraph.Graph.from_edges([0], [1], vertices=[label, "b"]), tmp_path / "some.e")


def test_byte_order_marks(folder):
    for path in folder.iterdir():
        path.write_text("\ufeff" + path.read_text().removeprefix("# some\n"))
    assert tgraph.read(folder / "some.e").num_edges == 2
    (folder / "some.properties").write_text("\ufeffgraph.some.directed = false\n")
    assert not tgraph.read(folder / "some.e").directed


@needs_data
@pytest.mark.parametrize("path", sorted(LDBC.glob("*.properties")), ids=lambda path: path.stem)
def test_ldbc(path):
    graph = tgraph.read(path)
    notes = path.read_text()
    declared = [int(re.search(rf"meta\.{what} = (\d+)", notes)[1]) for what in ("vertices", "edges")]
    edges = [line.split() for line in path.with_suffix(".e").read_text().splitlines()]
    assert graph.num_vertices == declared[0] == len(path.with_suffix(".v").read_text().split())
    assert graph.num_edges == len(edges)
    assert graph.directed == ("directed = true" in notes) and (graph.weights is not None) == (len(edges[0]) == 3)


@needs_data
def test_p2p():
    graph = tgraph.read(DATA / "conformance" / "p2p-31" / "p2p-31.e.gz", directed=False)
    assert (graph.num_vertices, graph.num_edges) == (62586, 147892)
