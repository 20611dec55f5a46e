"""What files of these formats hold that a graph does not, and what is odd in them and read."""

import numpy as np
import pyarrow as pa
import pytest
from io_samples import arcs, assert_fault

import tgraph as tg
from tgraph.errors import ArgumentError, FileFormatError

HEAD = '<graphml><key id="d" for="edge" attr.name="w" attr.type="int"/><graph edgedefault="directed">\n'
BOMB = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
REFUSED = {  # name: (name of the file, content, line, words)
    "hyperedge": ("a.graphml", f"{HEAD}<hyperedge/>", 2, ["hyperedge"]),
    "nested graph": ("a.graphml", f'{HEAD}<node id="n5"><graph/></node>', 2, ["'n5'", "graph of its own"]),
    "two graphs": ("a.graphml", f"{HEAD}</graph><graph/></graphml>", 2, ["second graph"]),
    "unknown key": ("a.graphml", f'{HEAD}<node id="n5"><data key="x">1</data></node>', 2, ["'x'", "n5"]),
    "no integer": ("a.graphml", f'{HEAD}<edge source="a" target="b"><data key="d">x</data></edge>', 2, ["'x'", "int"]),
    "no vertex": ("a.graphml", f'{HEAD}<edge source="a" target="b"/></graph></graphml>', None, ["'a'", "declare"]),
    "bomb": ("a.graphml", f"{BOMB}{HEAD}<node id='&b;'/></graph></graphml>", 1, ["entities"]),
    "external": ("a.graphml", f'<!DOCTYPE a SYSTEM "file:///etc/passwd">{HEAD}<data>&x;</data>', 2, ["entities"]),
    "truncated": ("a.graphml", HEAD, 2, ["well-formed"]),
    "another": ("a.graphml", "graph [ ]", None, ['format="gml"']),
    "no double": ("a.gexf", '<gexf><graph><attributes><attribute id="0" type="double"/></attributes><node id="a">'
                  '<attvalue for="0" value="x"/></node></graph></gexf>', 1, ["'x'", "double"]),
    "graphml of one id": ("a.graphml", f'{HEAD}<node id="a"/>\n<node id="a"/>', 3, [": two vertices are called 'a'"]),
    "gexf of one id": ("a.gexf", '<gexf><graph><node id="a"/>\n<node id="a"/>', 2, [": two vertices are called 'a'"]),
    "gml without id": ("a.gml", "graph [\n node [ label 3 ]\n]", 2, ["node without id"]),
    "gml without end": ("a.gml", "graph [\n node [ id 3", 2, ["not closed"]),
    "gml deep": ("a.gml", "graph [" + "a [ " * 10**5, 1, ["nested"]),
    "gml twice": ("a.gml", "graph [ ]\ngraph [ ]", None, ["2 graphs"]),
    "gml of one id": ("a.gml", "graph [\nnode [ id 3 ]\nnode [ id 3 ] ]", 3, ["two vertices", "3"]),
    "pajek beyond": ("a.net", "*Vertices 2\n*Arcs\n1 3", 3, ["'3'", "1..2"]),
    "pajek weight": ("a.net", "*Vertices 2\n*Arcs\n1 2 x y z", 3, ["weight 'x'"]),
    "pajek section": ("a.net", "*Vertices 2\n*Partition x", 2, ["*partition"]),
    "json deep": ("a.json", "[" * 10**5, None, ["JSON"]),
    "json of else": ("a.json", '{"a": 1}', None, ["nodes"]),
    "json of counts": ("a.json", '{"nodes": 3, "edges": 4}', None, ["nodes"]),
    "json of a bool": ("a.json", "[[true, 1]]", None, ["true"]),
    "two of graph6": ("a.g6", "A_\nA_\n", None, ["2 graphs", "split"]),
    "short graph6": ("a.g6", "D?", 1, ["truncated"]),
    "dot in HTML": ("a.dot", "graph {\n a [label=<b>] }", 2, ["HTML"]),
    "dot arrows": ("a.dot", "graph {\n a -> b }", 2, ["--", "->"]),
    "dot deep": ("a.dot", "graph " + "{" * 10**4, 1, ["subgraph"]),
    "lgl": ("a.lgl", "a 1\n", 1, ["above"]),
    "dl": ("a.dl", "dl n=2 nm=3 format=fullmatrix data:\n1 2 3 4", 1, ["nm=3"]),
    "gapbs": ("a.sg", b"\0" * 30, None, ["truncated"]),
    "latin-1": ("a.gml", b'graph [\nnode [ id 1 label "\xe9" ] ]', 2, ["encoding="]),
}  # fmt: skip


@pytest.fixture
def file(tmp_path):
    def create(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return create


@pytest.mark.parametrize("case", REFUSED)
def test_refused(file, case):
    name, content, line, words = REFUSED[case]
    assert_fault(file(name, content), line, *words)


READ = {  # name: (name of the file, content, ends and weights of the arcs)
    "mixed": ("a.net", "*Vertices 3\n*Arcs\n1 2 5\n*Edges\n2 3 7", [(1, 2, 5), (2, 3, 7), (3, 2, 7)]),
    "matrix": ("a.net", '*vertices 2\n1 "a b"\n2 c\n*matrix\n0 1\n.5 0', [("a b", "c", 1.0), ("c", "a b", 0.5)]),
    "lists": ("a.net", "*Network x\n% note\n*Vertices 3\n*Arcslist\n1 2 3", [(1, 2, None), (1, 3, None)]),
    "quotes": ("a.net", '*Vertices 2\n1 "Bo""b" 0.3 0.2\n2 """" .1 .2\n*Arcs\n1 2 4', [('Bo"b', '"', 4)]),
    "one label twice": ("a.net", '*Vertices 2\n1 "a"\n2 "a"\n*Arcs\n1 2', [(1, 2, None)]),
    "Newman": ("a.gml", 'Creator "x"\ngraph\n[\n directed 1\n node\n [\n id 5\n ]\n node [ id 7 ]\n'
               "edge [ source 5 target 7 value 3 ] ]", [(5, 7, 3)]),
    "d3": ("a.json", '{"nodes": [{"name": "x"}, {"name": "y"}], "links": [{"source": 0, "target": 1, "value": 2}]}',
           [("x", "y", 2), ("y", "x", 2)]),
    "neighbours": ("a.json", '{"a": ["b", "c"], "b": []}', [("a", "b", None), ("a", "c", None)]),
    "pairs": ("a.json", "[[4, 2], [2, 9]]", [(2, 9, None), (4, 2, None)]),
    "JGF": ("a.json", '{"graph": {"directed": true, "nodes": {"a": {}, "b": {}}, "edges": '
            '[{"source": "a", "target": "b"}]}}', [("a", "b", None)]),
    "colons": ("a.adjlist", "0: 1 2\n1: 2\n2:\n", [(0, 1, None), (0, 2, None), (1, 2, None)]),
    "Gephi": ("a.gml", "graph [ directed 1 node [ id A ] node [ id B ] edge [ source A target B weight -Inf ] ]",
              [("A", "B", float("-inf"))]),
    "inner nodes": ("a.gexf", '<gexf><graph><attributes><attribute id="0" title="weight" type="double"/></attributes>'
                    '<node id="a"><nodes><node id="b"/></nodes><attvalues><attvalue for="0" value="null"/></attvalues>'
                    '</node><edge source="b" target="a" type="directed"><attvalue for="weight" value="2"/></edge>'
                    '</graph></gexf>', [("b", "a", 2)]),
    "Cytoscape": ("a.json", '{"nodes": [{"data": {"id": "a"}}], "edges": [{"data": {"source": "a", "target": "a"}}]}',
                  [("a", "a", None)]),
    "chains": ("a.dot", 'strict digraph x { edge [weight=2]; a:p -> {"b"; c} -> d /* x */ a -> b; rank=same }',
               [("a", "b", 2), ("a", "c", 2), ("b", "d", 2), ("c", "d", 2)]),
    "an edge twice": ("a.dot", "strict graph { edge [weight=2] a -- b -- c; edge [weight=7] b -- a [weight=5] c -- b }",
                      [("a", "b", 5), ("b", "a", 5), ("b", "c", 2), ("c", "b", 2)]),
    "an arc twice": ("a.dot", "strict digraph { a->b->c; a->b [w=3]; b->a }",
                     [("a", "b", 3), ("b", "a", 1), ("b", "c", 1)]),
    "matrix of DL": ("a.dl", "DL n=2\nformat = fullmatrix\nlabels embedded\ndata:\na b\na 0 1\nb 2 0\n",
                     [("a", "b", 1), ("b", "a", 2)]),
    "defaults": ("a.graphml", HEAD.replace('w" attr.type="int"/>', 'weight" attr.type="int"><default>4</default></key>')
                 + '<node id="b"/><edge source="a" target="b"/><node id="a"/></graph></graphml>', [("a", "b", 4)]),
    "prefixed": ("a.some", '<n:graphml xmlns:n="http://graphml.graphdrawing.org/xmlns"><n:graph><n:node id="a"/>'
                 '<n:edge source="a" target="a"/></n:graph></n:graphml>', [("a", "a", None)]),
    "prefixed GEXF": ("a.some", '<?xml version="1.0"?><g:gexf xmlns:g="http://www.gexf.net/1.2draft"><g:graph><g:nodes>'
                      '<g:node id="a"/></g:nodes><g:edges><g:edge source="a" target="a" type="directed" weight="2"/>'
                      '</g:edges></g:graph></g:gexf>', [("a", "a", 2)]),
    "UTF-16": ("a.gml", 'graph [ node [ id 1 label "é" ] edge [ source 1 target 1 ] ]'.encode("utf-16"),
               [("é", "é", None)] ),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_read(file, case):
    name, content, expected = READ[case]
    assert arcs(tg.read(file(name, content))) == sorted(expected, key=repr)


@pytest.mark.parametrize("rest", ["", " odd 1"])  # read at once, and line by line
def test_relations_of_pajek(file, monkeypatch, rest):
    monkeypatch.setattr("tgraph.io.described.number_rows._FEWEST", 0)
    text = f'*Vertices 3\n*Arcs :1 "likes"\n1 2 5{rest}\n*Arcs :2\n2 3 6\n*Arcslist :3 x\n3 1\n*Arcs 1\n1 3 7\n'
    graph = tg.read(file("a.net", text))
    assert [ends[:2] for ends in arcs(graph)] == [(1, 2), (1, 3), (2, 3), (3, 1)]
    assert graph.arc_columns["relation"].tolist() == ["likes", None, "2", "x"]
    graph = tg.read(file("b.net", "*Vertices 2\n*Edges :4\n1 2\n*Matrix :5\n0 0\n3 0\n"))
    assert graph.arc_columns["relation"].tolist() == [4, 5, 4]


def test_options(file):
    path = file("a.graphml", HEAD + '<node id="07"/><node id="7"/><edge source="07" target="7" id="x">'
                '<data key="d">3</data></edge></graph></graphml>')  # fmt: skip
    assert list(tg.read(path).arc_columns) == ["id"] and tg.read(path, columns=False).weights.tolist() == [3]
    assert arcs(tg.read(path, weight="w")) == [("07", "7", 3)] and tg.read(path, weights=False).weights is None
    with pytest.raises(ArgumentError, match=r"columns: .*'y'.*'id'"):
        tg.read(path, columns=["y"])
    with pytest.raises(ArgumentError, match=r"weight: .*'z'"):
        tg.read(path, weight="z")
    with pytest.raises(ArgumentError, match=r"ids: .*'07'"):
        tg.read(path, ids="compact")
    latin = file("b.gml", 'graph [ node [ id 1 label "é" ] ]'.encode("latin-1"))
    assert tg.read(latin, encoding="latin-1").vertices.tolist() == ["é"]


def test_files_of_arrow(tmp_path):
    table = pa.table({"src": ["a", "b"], "dst": ["b", "c"], "x": [1, 2]})
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as stream:
        stream.write_table(table)
    assert arcs(tg.read(tmp_path / "a.arrow", weight="x")) == [("a", "b", 1), ("b", "c", 2)]
    (tmp_path / "b.arrow").write_bytes((tmp_path / "a.arrow").read_bytes()[:-40])
    with pytest.raises(FileFormatError, match="Feather"):
        tg.read(tmp_path / "b.arrow")


def test_arrays_of_gapbs(tmp_path):
    """As src/writer.h writes them: a bool, arcs, vertices; offsets and neighbours of both directions."""
    numbers = (np.array([2, 3], "<i8"), np.array([0, 1, 2, 2], "<i8"), np.array([1, 2], "<i4"))
    back = (np.array([0, 0, 1, 2], "<i8"), np.array([0, 1], "<i4"))
    (tmp_path / "a.sg").write_bytes(b"\1" + b"".join(each.tobytes() for each in (*numbers, *back)))
    graph = tg.read(tmp_path / "a.sg")
    assert graph.directed and arcs(graph) == [(0, 1, None), (1, 2, None)]
    tg.write(graph, tmp_path / "b.sg")
    assert (tmp_path / "b.sg").read_bytes() == (tmp_path / "a.sg").read_bytes()
