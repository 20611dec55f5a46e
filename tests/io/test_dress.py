"""One graph in the many dresses of its format: comments, encodings, numbers from 0, sections left out."""

import pytest
from io_samples import arcs

import tgraph as tg
from tgraph.errors import TGraphError

PATH = [(0, 1, None), (1, 2, None)]
NAMED = [("é", "b", 2), ("x #y", "c", 3)]
LATIN = 'source,target,weight\né,b,2\n"x #y",c,3'
MTX = "%%MatrixMarket matrix coordinate "
READ = {
    "inline comments": ("a.el", "0 1 # x\n# y\n\t#z\n1\t2 #\n", {"comments": "#"}, PATH),
    "comments of one's own": ("a.el", "// x\n0 1 // #\n1 2\n", {"comments": "/"}, PATH),
    "inline comments after labels": ("a.el", "a b 2 #x\nb c 5\n", {"comments": "#"}, 2),
    "no comments": ("a.el", "#a b\nb #c\n", {"comments": None}, [("#a", "b", None), ("b", "#c", None)]),
    "no comments in a table": ("a.csv", "source,target\n#1,2\n%,#4\n", {"comments": None}, 2),
    "comments in a table": ("a.csv", f"{LATIN} # 4\n#5,6,7\n", {"comments": "#"}, NAMED),
    "latin-1": ("a.csv", LATIN.encode("latin-1"), {"encoding": "latin-1"}, NAMED),
    "utf-16": ("a.csv", LATIN.encode("utf-16"), {}, NAMED),
    "utf-16 without a mark": ("a.csv", LATIN.encode("utf-16-le"), {"encoding": "utf-16-le"}, NAMED),
    "utf-16 edge list": ("a.el", "0 1\r\n1 2\r\n".encode("utf-16"), {}, PATH),
    "dicts": ("a.el", "!\n0 1 {}\n1 2 {}\n".encode("utf-16"), {"comments": "!"}, PATH),
    "DIMACS from 0": ("a.gr", "p sp 3 2\na 0 1 5\na 1 2 6\n", {}, [(0, 1, 5), (1, 2, 6)]),
    "DIMACS in .dat": ("a.dat", "p max 3 2\na 1 2 5\na 2 3 6\n", {}, [(1, 2, 5), (2, 3, 6)]),
    "an edge list in .dat": ("a.dat", "0\t1\n1\t2\n", {}, PATH),
    "links in .net": ("a.net", "# Infomap\n0 1\n1 2\n", {}, PATH),
    "NCOL, some weighted": ("a.ncol", "a b\nb c 12.3e5\n", {}, [("a", "b", 1.0), ("b", "c", 12.3e5)]),
    "names without a header": ("a.tsv", "ann\tbob\nbob\teve\n", {}, [("ann", "bob", None), ("bob", "eve", None)]),
    "names and weights": ("a.csv", "ann,bob,2\neve,ann,3\n", {}, [("ann", "bob", 2), ("eve", "ann", 3)]),
    "directed or not": (
        "a.csv",
        "source,target,type,weight\n1,2,Directed,5\n2,3,undirected,6\n3,3,Undirected,7\n",
        {},
        [(1, 2, 5), (2, 3, 6), (3, 2, 6), (3, 3, 7)],
    ),
    "names, directed or not": (
        "a.csv",
        "source,target,type\na,b,undirected\na,c,directed\n",
        {},
        [("a", "b", None), ("b", "a", None), ("a", "c", None)],
    ),
    "decimal commas": (
        "a.csv",
        'source;target;weight\n1;2;0,5\n2;3;"-,25"\n3;4;2\n',
        {},
        [(1, 2, 0.5), (2, 3, -0.25), (3, 4, 2.0)],
    ),
    "a column of text": ("a.edges", "0 1 reply\n1 2 retweet\n", {}, PATH),
    "columns by number": ("a.el", "9 0 1 x\n9 1 2 y\n", {"source": 2, "target": 3}, PATH),
    "columns by number, weighted": (
        "a.csv",
        '2B,"ann",3,bob\nXY,"bob",4,eve\n',
        {"source": 2, "target": 4, "weights": 3},
        [("ann", "bob", 3), ("bob", "eve", 4)],
    ),
    "complex": ("a.mtx", MTX + "complex general\n2 2 1\n1 2 0.5 1\n", {"weights": False}, [(1, 2, None)]),
    "sections without vertices": ("a.net", "*Arcs\n0 1\n1 2\n", {}, PATH),
    "vertices without number": ("a.net", '*Vertices\n0 "0"\n1 "1"\n2 "2"\n*Arcs\n0 1\n1 2\n', {}, PATH),
    "a preamble": ("a.net", "From a book\n*Vertices 3\n*Arcs\n1 2 4\n", {}, [(1, 2, 4)]),
}


@pytest.mark.parametrize("name", READ)
def test_reads(name, tmp_path):
    file, text, options, expected = READ[name]
    (tmp_path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    found = tg.read(tmp_path / file, **options)
    if isinstance(expected, int):
        assert found.num_edges == expected
    else:
        assert found.directed and sorted(arcs(found)) == sorted(expected)


UNDIRECTED = {
    "rectangular": ("a.mtx", MTX + "real general\n2 3 2\n1 3 0.5\n2 1 4\n", 5, [(1, 5, 0.5), (2, 3, 4)]),
    "rectangular array": ("a.mtx", "%%MatrixMarket matrix array real general\n2 3\n0\n4\n0\n0\n.5\n0\n", 5, 2),
    "hermitian": ("a.mtx", MTX + "real hermitian\n2 2 1\n2 1 4\n", 2, [(1, 2, 4)]),
    "both triangles": ("a.mtx", MTX + "integer symmetric\n3 3 3\n1 2 4\n2 1 4\n3 3 7\n", 3, [(1, 2, 4), (3, 3, 7)]),
    "both, of a pattern": ("a.mtx", MTX + "pattern symmetric\n2 2 2\n1 2\n2 1\n", 2, [(1, 2, None)]),
    "METIS, one-sided": ("a.graph", "3 9 1\n2 4 1 6\n\n2 7\n", 3, [(1, 1, 6), (1, 2, 4), (2, 3, 7)]),
    "real weights": ("a.graph", "3 2 1\n2 0.5\n1 0.5 3 4\n2 4\n", 3, [(1, 2, 0.5), (2, 3, 4)]),
}


@pytest.mark.parametrize("name", UNDIRECTED)
def test_reads_undirected(name, tmp_path):
    file, text, n, expected = UNDIRECTED[name]
    (tmp_path / file).write_text(text)
    options = {"strict": False} if "METIS" in name else {}
    found = tg.read(tmp_path / file, **options)
    assert not found.directed and found.num_vertices == n
    assert (
        found.num_edges == expected
        if isinstance(expected, int)
        else {each for each in arcs(found) if each[0] <= each[1]} == set(expected)
    )
    arrows = tg.read(tmp_path / file, directed=True, **options)
    assert arrows.directed and arrows.num_arcs == (
        found.num_edges if "rectangular" in name or options else found.num_arcs
    )


def test_matrix_of_two_modes(tmp_path):
    path = tmp_path / "a.net"
    path.write_text("*vertices 5 3\n*matrix\n1 0\n0 2\n1 1\n")
    found = tg.read(path)
    assert not found.directed and found.num_vertices == 5
    ends = {(u, v, weight) for u, v, weight in arcs(found) if u < v}
    assert ends == {(1, 4, 1), (2, 5, 2), (3, 4, 1), (3, 5, 1)}


@pytest.mark.parametrize(
    ("file", "text", "options", "words"),
    [
        ("a.el", "0 1\n", {"comments": "ab"}, ["comments:", "'ab'"]),
        ("a.el", "0 1\n", {"encoding": "no-such"}, ["encoding:", "no-such"]),
        ("a.el", "1 2\né 1\n", {"encoding": "ascii"}, ["line 2", "not ascii"]),
        ("a.el", "1 2\n3 4\n".encode("utf-16")[:-1], {}, ["line 2", "truncated"]),
        ("a.csv", "source,target\n" * 9**5 + "é,1\n", {"encoding": "ascii"}, [f"line {9**5 + 1}", "not ascii"]),
        ("a.gml", "graph [\n]".encode("utf-16")[:-1], {}, ["line 2", "utf-16"]),
        ("a.el", "# 1\n", {"comments": "#"}, ["no line with an edge"]),
        ("a.net", "*vertices 5 3\n*matrix\n1 0 1\n", {}, ["line 3", "more than 2 numbers"]),
        ("a.net", "*vertices 2\n*matrix\n1 0\n0 1\n1 1\n", {}, ["line 5", "more than 2 rows"]),
        ("a.net", "GNU General Public License\n", {}, ["*Vertices is missing"]),
        ("a.mtx", MTX + "complex general\n2 2 0\n", {}, ["line 1", "weights=False"]),
        ("a.csv", "source;target;weight\n1;2;0,5\n2;3;1.5\n", {}, ["line 3", "'1.5' is not a number"]),
        ("a.el", "0 1\n", {"source": 3}, ["column 3", "has 2"]),
        ("a.el", "0 1\n", {"source": 2}, ["source:", "other"]),
        ("a.el", "0 1 2\n", {"source": 3, "weights": 3}, ["weights:", "none of the ends"]),
        ("a.csv", "a,b\nc,d\n", {}, ["header", 'format="edgelist"']),
        ("a.csv", "source,target,type\n1,2,directed\n2,3,both\n", {}, ["'both'", "directed="]),
        ("a.mtx", MTX + "real general\n2 3 1\n3 1 4\n", {}, ["the row 3", "rows 2"]),
        ("a.mtx", MTX + "real symmetric\n2 3 1\n1 1 4\n", {}, ["a symmetric matrix of 2 x 3"]),
        ("a.mtx", MTX + "real symmetric\n3 3 2\n1 2 4\n2 1 5\n", {}, ["both sides"]),
        ("a.graph", "2 1 1\n2 0.5\n1.5 0.5\n", {}, ["line 3", "1.5"]),
        ("a.graph", "2 1 1\n2 0.5\ninf 0.5\n", {}, ["line 3", "inf"]),
        ("a.graph", "2 1 1\n2 x\n1 0.5\n", {}, ["line 2", "'x' is not a number"]),
        ("a.graph", "2 1\n0.5\n1\n", {}, ["line 2", "'0.5' is not an integer"]),
        ("a.gr", "p sp 3 2\na 0 1 5\na 1 3 6\n", {}, ["line 2", "the id 0 is below 1"]),
    ],
)
def test_refuses(file, text, options, words, tmp_path):
    (tmp_path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TGraphError) as refusal:
        tg.read(tmp_path / file, **options)
    assert all(word in str(refusal.value) for word in words), refusal.value
