import gzip
import warnings

import pytest
import torch
from hypothesis import given
from io_samples import DATA, arcs, assert_fault, assert_same, graphs, needs_data, round_trip

import tgraph
from tgraph.errors import ArgumentError

NAME = "some.graph"  # of files


@given(graph=graphs(directed=False, weights=("none", "integer")))
def test_round_trip(tmp_path_factory, graph):
    path = tmp_path_factory.mktemp("metis") / "some.graph.gz"
    assert_same(round_trip(graph, path), graph, ids=False)


def test_all_kinds_of_numbers(file):
    # fmt 111 and ncon 2: a size, two vertex weights, then neighbours with weights
    graph = tgraph.read(file("% top\n3 2 111 2\n7 1 4 2 5\n% between\n 8 2 5\t1 5 3 6\r\n9 3 6 2 6\n\n\n"))
    assert not graph.directed and arcs(graph) == [(1, 2, 5), (2, 1, 5), (2, 3, 6), (3, 2, 6)]
    held = {name: column.tolist() for name, column in graph.vertex_columns.items()}
    assert held == {"size": [7, 8, 9], "weight1": [1, 2, 3], "weight2": [4, 5, 6]}
    mixed = tgraph.read(file("2 1 11\n3 2 .5\n4 1 .5\n")).vertex_columns
    assert list(mixed) == ["weight"] and torch.equal(mixed["weight"], torch.tensor([3, 4]))
    assert tgraph.read(file("2 1 1\n2 5\n1 5\n"), weights=False).weights is None


def test_blank_lines_are_isolated_vertices(file):
    graph = tgraph.read(file("4 1\n\n3\n2\n\n"))
    assert graph.num_vertices == 4 and arcs(graph) == [(2, 3, None), (3, 2, None)]


@pytest.mark.parametrize("loops", ["1", "1 1"])
def test_a_self_loop_is_listed_once_or_twice(file, loops):
    graph = tgraph.read(file(f"2 2\n{loops} 2\n1\n"))
    assert arcs(graph) == [*[(1, 1, None)] * len(loops.split()), (1, 2, None), (2, 1, None)]


def test_blocks_end_anywhere(tmp_path):
    n = 300_000  # several blocks of the reader
    path = tmp_path / "ring.graph.gz"
    with gzip.open(path, "wt", compresslevel=1) as text:
        text.write(f"% ring\n{n} {n}\n")
        text.writelines(f"{(v - 1) % n + 1} {(v + 1) % n + 1}\n" for v in range(n))
    graph = tgraph.read(path)
    assert graph.num_edges == n and bool((graph.out_degree == 2).all())
    assert torch.equal(graph.neighbors[2:4], torch.tensor([0, 2], dtype=torch.int32))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("% nothing\n", None, ["empty"]),
        ("3\n", 1, ["expected the header", "'3'"]),
        ("% x\n3 2 7\n", 2, ["expected the header", "fmt"]),
        ("3 2\n2\n1 3\n", 1, ["declares 3 vertices, the file has 2 lines", "truncated"]),
        ("2 1\n2\n1\n1\n", 1, ["declares 2 vertices, the file has 3 lines"]),
        ("2 2\n2\n1\n", 1, ["declares 2 edges, which are 4 entries; the lines have 2", "directed=True"]),
        ("2 1\n%\n2\n3\n", 4, ["the neighbour 3 is not between 1 and 2"]),
        ("2 1\n2\n0\n", 3, ["the neighbour 0 is not between"]),
        ("2 1\n2\n-1\n", 3, ["the neighbour -1 is not between"]),
        ("2 1\n%\n2\nx\n", 4, ["'x' is not an integer"]),
        ("2 1\n2\n1.5\n", 3, ["'1.5' is not an integer"]),
        ("2 1 1\n2 5\n1\n", 3, ["a neighbour without a weight", "fmt"]),
        ("2 1 10\n7 2\n\n", 3, ["short line", "fmt"]),
        ("3 2\n2 3\n1\n2\n", None, ["are not symmetric", "directed=True"]),
        ("2 1 1\n2 5\n1 6\n", None, ["are not symmetric"]),
    ],
)
def test_faults(file, text, line, words):
    assert_fault(file(text), line, *words)


def test_a_wrong_number_of_arcs(file):
    assert_fault(file("3 2\n2 3\n3\n\n"), 1, ": 2 arcs declared, 3 listed; correct", "strict=False", directed=True)


def test_two_weights_of_one_edge(file):
    path = file("3 2 1\n2 5 3 4\n1 6\n1 7 2 1\n")
    words = "the edge 1 2 has the weights 5 and 6: 5, which comes first, is taken, and so for 1 more"
    with pytest.warns(UserWarning, match=words) as said:
        graph = tgraph.read(path, strict=False)
    assert said[0].filename == __file__ and set(arcs(graph)) >= {(1, 2, 5), (1, 3, 4), (2, 3, 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # each arc has one
        tgraph.read(path, strict=False, directed=True)


def test_directed_and_fractional_graphs_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match=r"METIS file is undirected.*to_undirected"):
        tgraph.write(tgraph.Graph.from_edges([0], [1]), tmp_path / "a.graph")
    with pytest.raises(ArgumentError, match="METIS takes integer weights"):
        tgraph.write(tgraph.Graph.from_edges([0], [1], [0.5], directed=False), tmp_path / "a.graph")


def test_ids_are_warned_of(tmp_path):
    with pytest.warns(UserWarning, match="original ids are left out"):
        tgraph.write(tgraph.Graph.from_edges([0], [1], directed=False, vertices=["a", "b"]), tmp_path / "a.graph")


@needs_data
@pytest.mark.parametrize("path", sorted((DATA / "small-metis").glob("*")), ids=lambda path: path.name)
def test_real_graphs(path):
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    header = next(line for line in text.splitlines() if line.strip() and not line.startswith(b"%")).split()
    graph = tgraph.read(path)
    assert (graph.num_vertices, graph.num_edges) == (int(header[0]), int(header[1]))
    assert (graph.weights is not None) == (header[2:] == [b"1"])


def test_a_byte_order_mark_is_no_number(tmp_path):
    path = tmp_path / "some.graph"
    path.write_bytes(b"2 1\n\xef\xbb\xbf 2\n1\n")
    assert_fault(path, 2, "is not an integer")
