import bz2
import gzip
import lzma
import re

import networkx as nx
import pyarrow as pa
import pytest
import torch
from hypothesis import assume, given
from io_samples import arcs, assert_fault, graphs, round_trip
from strategies import refused

import tgraph
from tgraph.errors import ArgumentError

NAME = "graph.txt"  # of files


@given(graph=graphs())
def test_round_trip(tmp_path_factory, graph):
    unsafe = re.compile(r"[\s,;\"]")
    assume(not any(isinstance(name, str) and unsafe.search(name) for name in graph.ids(range(graph.num_vertices))))
    path = tmp_path_factory.mktemp("edgelist") / "graph.txt"
    found = round_trip(graph, path)
    assert found.directed == graph.directed
    assert arcs(found) == arcs(graph)


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n2 3\n",
        "1\t2\n2\t3\n",
        "1,2\n2,3",
        "1, 2\n2 ,3\n",
        "1;2\n2;3\n",
        "1 2\r\n2 3\r\n",
        "# SNAP\n#\n1 2\n2 3\n",
        "% KONECT\n1 2\n# between\n2 3\n# after 3\n",
        "1 2\n\n  \n2 3\n\n",
        "  1   2\n2\t 3  \n",
        "1\t2 \n2 3\n",
        "\ufeff1 2\n2 3\n",
        "\ufeff1  2\n2 3\n",
        "\ufeff# SNAP\n1  2\n2 3\n",
    ],
)
def test_layouts(file, text):
    graph = tgraph.read(file(text))
    assert arcs(graph) == [(1, 2, None), (2, 3, None)]
    assert graph.directed and graph.vertices.tolist() == [1, 2, 3]


def test_comment_of_two_fields_between_labels_is_no_edge(file):
    assert arcs(tgraph.read(file("a b\n# c\nb c\n"))) == [("a", "b", None), ("b", "c", None)]


def test_byte_order_mark_is_no_part_of_a_label(file):
    assert arcs(tgraph.read(file("\ufeffa b\nb c\n"))) == [("a", "b", None), ("b", "c", None)]
    assert arcs(tgraph.read(file("\ufefffrom to\na b\n"), skip=1)) == [("a", "b", None)]
    assert_fault(file("\ufeff1 x\n"), 1, "'x' is not an integer", ids="keep")


def test_labels_with_blanks_between_tabs(file):
    graph = tgraph.read(file("New York\tBoston\nBoston\tLos Angeles\n"))
    assert arcs(graph) == [("Boston", "Los Angeles", None), ("New York", "Boston", None)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, [5, 6]), ({"weights": False}, None), ({"weights": 3}, [5, 6]), ({"weights": 4}, [0.5, 7.0])],
)
def test_weight_columns(file, options, expected):
    graph = tgraph.read(file("1 2 5 .5\n2 1 6 7\n"), **options)
    assert (None if graph.weights is None else graph.weights.tolist()) == expected


def test_integral_floats_stay_floats(tmp_path):
    graph = tgraph.Graph.from_edges([0, 1], [1, 2], [2.0, -1e300])
    assert arcs(round_trip(graph, tmp_path / "a.wel")) == arcs(graph)
    whole = round_trip(tgraph.Graph.from_edges([0, 1], [1, 2], [2.0, -0.0]), tmp_path / "a.wel")
    assert whole.weights.dtype == torch.float64 and whole.weights.tolist() == [2.0, 0.0]


def test_weights_are_int64_or_float64(file):
    assert tgraph.read(file("1 2 5\n")).weights.dtype == torch.int64
    late = tgraph.read(file("1 2 5\n" * 1000 + "1 3 -2.5e-3\n"))
    assert late.weights.dtype == torch.float64 and late.weights[-1] == -2.5e-3


def test_ids(file):
    path = file("7 9\n9 3\n")
    compact = tgraph.read(path)
    assert compact.num_vertices == 3 and compact.vertices.tolist() == [3, 7, 9]
    kept = tgraph.read(path, ids="keep")
    assert kept.num_vertices == 10 and kept.vertices is None
    text = tgraph.read(path, ids="text")
    assert arcs(text) == [("7", "9", None), ("9", "3", None)]


def test_wide_ids(file):
    assert arcs(tgraph.read(file(f"1 2\n{2**40} {2**62}\n"))) == [(1, 2, None), (2**40, 2**62, None)]


def test_undirected_lists(file):
    once = tgraph.read(file("0 1\n1 2\n2 2\n"), directed=False)
    twice = tgraph.read(file("0 1\n1 2\n2 2\n2 1\n1 0\n"), directed=False)
    assert once.num_edges == twice.num_edges == 3
    assert arcs(once) == arcs(twice) and not once.directed and not twice.directed


def test_undirected_list_that_only_looks_mirrored(file):
    # as many rising as falling edges and equal sums, but (0, 3) has no reverse
    graph = tgraph.read(file("0 3\n3 1\n1 2\n2 0\n"), directed=False)
    assert graph.num_edges == 4


def test_mirrored_list_drops_and_merges(file):
    path = file("0 1 5\n0 1 7\n1 0 5\n1 0 7\n2 2 1\n")
    assert tgraph.read(path, directed=False).num_edges == 3
    assert tgraph.read(path, directed=False, self_loops="drop").num_edges == 2
    crossed = tgraph.read(file("0 1 5\n0 1 7\n1 0 7\n1 0 5\n", "crossed.txt"), directed=False)
    assert arcs(crossed) == [(0, 1, 5), (0, 1, 7), (1, 0, 5), (1, 0, 7)]
    merged = tgraph.read(path, directed=False, multi="sum", self_loops="drop")
    assert arcs(merged) == [(0, 1, 12), (1, 0, 12)] and merged.num_vertices == 3


@pytest.mark.parametrize(("word", "directed"), [("sym", False), ("asym", True)])
def test_konect_header(file, word, directed):
    graph = tgraph.read(file(f"% {word} unweighted\n% 2 3 3\n1 2\n2 3\n", "out.moreno"))
    assert graph.directed is directed and graph.num_edges == 2


def test_snap_header(file):
    path = file("# Undirected graph: com-some.ungraph.txt\n# Nodes: 3 Edges: 2\n1\t2\n2\t3\n")
    assert not tgraph.read(path).directed and tgraph.read(path, directed=True).directed
    assert tgraph.read(file("# Directed graph (each unordered pair of nodes is saved once)\n1 2\n")).directed


@pytest.mark.parametrize("directed", [True, False])
def test_no_edges(tmp_path, directed):
    with pytest.warns(UserWarning, match="3 isolated"):
        tgraph.write(tgraph.Graph.from_edges([], [], num_vertices=3, directed=directed), tmp_path / "graph.txt")
    found = tgraph.read(tmp_path / "graph.txt")
    assert (found.num_vertices, found.num_arcs, found.directed) == (0, 0, directed)


def test_konect_bipartite(file):
    path = file("% bip unweighted\n1 1\n2 1\n", "out.people")
    assert_fault(path, None, "bipartite", "directed=")
    assert tgraph.read(path, directed=True).num_edges == 2


PACKERS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed(file, suffix):
    packed = PACKERS[suffix](b"".join(b"%d %d\n" % (i, i * i % 9973) for i in range(50_000)))
    path = file(packed, f"graph.txt{suffix}")
    assert tgraph.read(path, progress=True).num_edges == 50_000
    assert_fault(file(packed[:-1000], f"cut.txt{suffix}"), None, "truncated")


def test_compression_is_detected_by_content(file):
    assert tgraph.read(file(gzip.compress(b"1 2\n"))).num_edges == 1


@pytest.mark.parametrize("suffix", ["", *PACKERS])
def test_written_compressed(tmp_path, suffix):
    graph = tgraph.Graph.from_edges([0, 1], [1, 2], [1.5, 2.5])
    assert arcs(round_trip(graph, tmp_path / f"graph.wel{suffix}")) == arcs(graph)
    assert [path.name for path in tmp_path.iterdir()] == [f"graph.wel{suffix}"], "a temporary file is left"


def test_failed_write_leaves_the_old_file(file):
    path = file("1 2\n")
    graph = tgraph.Graph.from_edges([0], [1], vertices=["a b", "c"])
    with pytest.raises(ArgumentError, match="'a b' cannot stand in an edge list"):
        tgraph.write(graph, path)
    assert path.read_bytes() == b"1 2\n"


def test_isolated_vertices_are_warned_of(tmp_path):
    with pytest.warns(UserWarning, match="2 isolated vertices are left out"):
        tgraph.write(tgraph.Graph.from_edges([0], [1], num_vertices=4), tmp_path / "graph.el")


MANY = "1 2\n" * 5000
FAULTS = [  # text, line, words, options
    ("", None, ["empty", "right file"], {}),
    ("# nothing\n\n", None, ["empty"], {}),
    (MANY + "7\n" + MANY, 5001, ["short line", "1 column where 2 are expected", "'7'"], {}),
    (MANY + "1 2 3\n", 5001, ["too many columns", "3 columns where 2"], {}),
    (MANY + "1 x\n", 5001, ["'x' is not an integer", 'ids="text"'], {}),
    (MANY + "1 -2\n", 5001, ["the id -2 is negative", 'ids="compact"'], {"ids": "keep"}),
    ("-1 2\n", 1, ["the id -1 is negative", 'ids="compact"'], {"ids": "keep"}),
    (MANY + f"1 {2**63}\n", 5001, ["does not fit a 64-bit integer"], {}),
    ("# a\n1 2 3\n1 2 z\n", 3, ["'z' is not a number", "weights=False"], {}),
    ("1 2 3\n1 2\n", 2, ["short line"], {}),
    ("1 2 3\n1  3\n", 2, ["short line"], {}),
    ("1,2,3\n1,,3\n", 2, ["'' is not an integer"], {}),
    ("1 2\n#\n3 4.5\n", 3, ["'4.5' is not an integer"], {}),
    ("1 2\n3 +4\n", 2, ["'+4' is not an integer"], {}),
    ("from to\n1 2\n", 1, ["'from to'", "skip=1"], {}),
    ("https://example.org\n1 2\n", 1, ["1 column", "skip=1"], {}),
    ("a b\n1 2\n", 1, ["1 column where an edge needs 2", "delimiter="], {"delimiter": ","}),
    ("a b\n", 1, ["'a' is not an integer"], {"ids": "compact"}),
    ("1 2\n", 1, ["asks for column 4"], {"weights": 4}),
]


@pytest.mark.parametrize(("text", "line", "words", "options"), FAULTS)
def test_faults(file, text, line, words, options):
    assert_fault(file(text), line, *words, **options)


@pytest.mark.parametrize(("text", "line", "words", "options"), [fault for fault in FAULTS if fault[0]])
def test_faults_in_compressed_files_with_windows_line_ends(file, text, line, words, options):
    packed = gzip.compress(text.replace("\n", "\r\n").encode())
    assert_fault(file(packed, "graph.txt.gz"), line, *words, **options)


def test_labels_that_are_not_utf8(file):
    assert_fault(file(b"a b\nc \xff\n"), 2, "not UTF-8")


def test_options_are_checked(file):
    path = file("1 2\n")
    refused("weigths: no option of the format edgelist; its options are: directed", tgraph.read, path, weigths=False)
    refused("ids: 'dense' is not one of", tgraph.read, path, ids="dense")
    for delimiter in ("::", "", "\n"):
        with pytest.raises(ArgumentError, match=r"delimiter: .* is not one"):
            tgraph.read(path, delimiter=delimiter)
    with pytest.raises(ArgumentError, match="weights: expected False or the number of a column from 3"):
        tgraph.read(path, weights=1)


def test_networkx_edge_list(tmp_path):
    expected = nx.karate_club_graph()
    nx.write_edgelist(expected, tmp_path / "karate.edgelist", data=False)
    graph = tgraph.read(tmp_path / "karate.edgelist", directed=False)
    assert graph.num_vertices == 34 and graph.num_edges == 78


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        tgraph.read(tmp_path / "none.txt")
    with pytest.raises(ArgumentError, match="is a folder"):
        tgraph.read(tmp_path, format="edgelist")


BANNERS = ["->", "--", "*arcs", "dl", "graph", "p", "c", "{", "[1", "(1", "//", "<a", "PAR1", "leda.graph", "a:"]


@pytest.mark.parametrize("weights", [None, torch.tensor([1, 2])])
@pytest.mark.parametrize("label", BANNERS)
def test_labels_like_banners_come_back_or_are_refused(label, weights, tmp_path):
    path = tmp_path / "labels.el"
    for ends in (([1, 0], [2, 1]), ([0, 1], [0, 2]), ([0, 0], [1, 2]), ([1, 2], [0, 0])):
        graph = tgraph.Graph.from_edges(*ends, weights, vertices=[label, "b", "d"])
        try:
            tgraph.write(graph, path)
        except ArgumentError:
            assert not path.exists()
            continue
        assert_same(tgraph.read(path), graph)
        path.unlink()


def assert_same(read, graph):
    """The same edges between the same labels."""
    one, other = (sorted(zip(*(each.ids(end) for end in each.to_edge_index()), strict=True)) for each in (read, graph))
    assert one == other
