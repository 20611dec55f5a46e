"""Runs of elements that look alike come to the same as these elements one by one, faults included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tgraph as tg
from tgraph.errors import TGraphError
from tgraph.io.described import dl, pajek, runs

BLANK, NUMBER = (
    ["", "\n", "<!-- <edge -->", "# 7 [\n", "%\n", "\u00a0"],
    ["1", "-2", "0.5", "1e3", "07", "+3", "x", "1_0", "9" * 20],
)
TEXT = ["a", "", "é b", "&amp;", "&#65;", "0", " 1 ", "<![CDATA[<edge ]]>", "\ufffe"]


@st.composite
def graphml(draw):
    tag = draw(st.sampled_from(["edge", "edge", "edge", "node"]))
    own = f'source="{vertex(draw)}" target="{vertex(draw)}"' if tag == "edge" else f'id="{vertex(draw)}x"'
    own += draw(st.sampled_from(["", "", ' label="é"', " label='&lt;'", ' directed="false"']))
    keys = draw(st.lists(st.sampled_from(["w", "t"]), unique=draw(st.integers(0, 9)) > 0, max_size=3))
    data = "".join(
        f'\n<data key="{key}">{draw(st.sampled_from(NUMBER if key == "w" else TEXT))}</data>' for key in keys
    )
    return f"<{tag} {own}>{data}</{tag}>" if data or draw(st.booleans()) else f"<{tag} {own}/>"


@st.composite
def gexf(draw):
    tag = draw(st.sampled_from(["edge", "edge", "edge", "node"]))
    own = f'source="{vertex(draw)}" target="{vertex(draw)}"' if tag == "edge" else f'id="{vertex(draw)}x"'
    own += draw(st.sampled_from(["", "", ' label="é"', ' weight="2"', ' type="mutual"']))
    keys = draw(st.lists(st.sampled_from(["w", "t"]), unique=True, max_size=2))
    data = "".join(f'<attvalue for="{key}" value="{draw(st.sampled_from(NUMBER[:5]))}"/> ' for key in keys)
    return draw(st.sampled_from([f"<{tag} {own}><attvalues>{data}</attvalues></{tag}>", f"<{tag} {own} />"]))


@st.composite
def gml(draw):
    tag = draw(st.sampled_from(["edge", "edge", "edge", "node"]))
    own = f"source {vertex(draw)} target {vertex(draw)}" if tag == "edge" else f"id {vertex(draw)}{vertex(draw)}"
    for key in draw(st.lists(st.sampled_from(["w", "t", "g", "id"]), max_size=2)):
        value = draw(st.sampled_from([*NUMBER[:6], "NAN", '"a"', '"&lt;"', '""', "[ x 1 ]", '[ x "b" y .5 ]', "[ ]"]))
        own += f"\n  {key} {value}"
    return f"{tag} [ {own}\n]"


def vertex(draw):
    return draw(st.sampled_from("0123"))


@st.composite
def numbers(draw):
    fields = [
        vertex(draw),
        vertex(draw),
        *draw(st.sampled_from([[], ["2"], ["2"], ["0.5"], ["-1"], ["0x1"], ["w", "3"]])),
    ]
    return draw(st.sampled_from([" ", " ", "  ", "\t", " , "])).join(fields)


GRAPHML = """<?xml version="1.0"?><!DOCTYPE graphml><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="w" for="edge" attr.name="weight" attr.type="{}"/><key id="t" attr.name="t"><default>d</default></key>
<graph edgedefault="directed">{}"""
GEXF = """<gexf xmlns="http://www.gexf.net/1.2draft"><graph defaultedgetype="directed">
<attributes class="{1}"><attribute id="w" title="w" type="float"/><attribute id="t" title="t" type="{0}"/></attributes>
"""
VERTICES = "".join(f'<node id="{i}"/>' for i in "0123")


@st.composite
def files(draw, name):
    """The text of a file in which most edges look alike."""
    element = {"a.graphml": graphml, "a.gexf": gexf, "a.gml": gml}.get(name, numbers)()
    items = [draw(element)] * draw(st.integers(0, 30))
    for place in draw(st.lists(st.integers(0, 20), max_size=3)):
        items.insert(place, draw(element))
    for place in draw(st.lists(st.integers(0, 20), max_size=1)):
        items.insert(place, draw(st.sampled_from(BLANK)))
    if name == "a.graphml":
        body = f"{VERTICES}{''.join(items)}</graph></graphml>"
        text = GRAPHML.format(draw(st.sampled_from(["int", "double"])), body)
    elif name == "a.gexf":
        parts = ["".join(item for item in items if tag not in item) for tag in ("<edge", "<node")]
        body = f"<nodes>{VERTICES}{parts[0]}</nodes><edges>{parts[1]}</edges></graph></gexf>"
        text = GEXF.format(draw(st.sampled_from(["integer", "string"])), draw(st.sampled_from(["node", "edge"]))) + body
    elif name == "a.gml":
        text = "\n".join(["graph [ directed 1", *(f"node [ id {i} ]" for i in range(4)), *items, "]"])
    elif name == "a.net":
        numbered, quote = draw(st.sampled_from(["123", "", "31", "14"])), st.sampled_from(["", '""', '"'])
        rest = st.sampled_from(["", "0.5 0.5", "box", "1.2.3"])
        lines = [f'{i} "v{draw(quote)}{i}" {draw(rest)}' for i in numbered]
        text = "\n".join(["*Vertices 3", *lines, "*Arcs", *items, "*Edges", "1 2"])
    else:
        text = "\n".join(["dl n=3 format=edgelist1", "data:", *items])
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(text) - 1))
        text = text[:at] + draw(st.sampled_from(["", "<", '"', "\n", "]"])) + text[at + 1 :]
    return text


def outcome(path):
    """The graph that a file is read as, or the fault in it."""
    try:
        graph = tg.read(path)
    except TGraphError as fault:
        return str(fault)
    columns = [
        (name, str(getattr(each, "dtype", None) or each.type), each.tolist())
        for held in (graph.arc_columns, graph.vertex_columns)
        for name, each in held.items()
    ]
    ids = None if graph.vertices is None else graph.vertices.tolist()
    weights = None if graph.weights is None else (graph.weights.dtype, graph.weights.tolist())
    return repr((graph.directed, ids, graph.to_edge_index()[0].tolist(), graph.neighbors.tolist(), weights, columns))


@pytest.mark.parametrize("name", ["a.graphml", "a.gexf", "a.gml", "a.net", "a.dl"])
@given(data=st.data())
def test_the_same_as_one_by_one(tmp_path_factory, name, data):
    text = data.draw(files(name))
    path = tmp_path_factory.getbasetemp() / name
    path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pajek, "number_rows", lambda text: None)
        patch.setattr(dl, "number_rows", lambda text: None)
        patch.setattr(pajek._Parser, "_describe_many", lambda *_: 0)
        patch.setattr(runs.Runs, "are_tried", lambda self: False)
        one_by_one = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tgraph.io.described.number_rows._FEWEST", 0)
        patch.setattr("tgraph.io.described.graph._MANY", 1)
        patch.setattr(runs, "_FEW", 1)
        assert outcome(path) == one_by_one
