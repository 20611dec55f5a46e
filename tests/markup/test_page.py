"""A page asks for nothing, escapes what it is given, and is well-formed."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from tgraph.errors import ArgumentError
from tgraph.markup.charts import Chart, keys
from tgraph.markup.labels import label
from tgraph.markup.page import Fact, Figure, Page, Section, Table, cell, data_image, number
from tgraph.markup.scales import Scale

EVIL = "<script>alert(1)</script>\"'&"
VOID = {"meta", "input", "img", "br"}


class Balanced(HTMLParser):
    """Raises where an element is closed that is not the last one open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.names, self.attributes = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def chart():
    made = Chart(EVIL, EVIL, Scale(1, 10, True), Scale(0, 1), "x" + EVIL, "y")
    made.points([(1, 0.5)], "a", [EVIL])
    made.line([(1, 0), (10, 1)], "b", EVIL)
    made.bars([(1, 2, 0.5)], "push", [EVIL])
    made.words(2, 0.5, EVIL)
    return made.svg()


def page():
    table = Table("Numbers", ("name", "value"), [(EVIL, 1.5), (label(EVIL), float("nan")), ("c", 10_000)], bars=1)
    views = {"one": chart(), "two": chart()}
    section = Section(
        "part",
        "A part" + EVIL,
        EVIL,
        facts=[Fact(EVIL, EVIL, EVIL)],
        remarks=[EVIL],
        figures=[Figure(EVIL, views, EVIL), Figure("wide", {"": chart()}, keys({"a": EVIL}), wide=True)],
        tables=[table],
        more=[table],
        notes=[EVIL],
    )
    return Page(EVIL, EVIL, [section])


def test_what_is_given_is_text():
    text = page().html
    seen = Balanced(text)
    assert seen.names.count("script") == 1 and text.count("alert(1)") > 10
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name == "style"]
    assert not [value for name, value in seen.attributes if name in ("src", "href") and (value or "#")[0] != "#"]


def test_the_policy_allows_the_own_style_and_script_alone():
    text = page().html
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1].replace("&#39;", "'")
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for element, rule in (("style", "style-src"), ("script", "script-src")):
        content = re.search(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in policy


def test_a_notebook_gets_a_frame(tmp_path):
    frame = page()._repr_html_()
    assert Balanced(frame).names == ["iframe"] and 'sandbox="allow-scripts"' in frame
    page().save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page().html
    with pytest.raises(ArgumentError, match=r"page\.txt does not have the extension"):
        page().save(tmp_path / "page.txt")


def test_numbers_and_cells():
    assert [number(n) for n in (1234567, 0.123456, 12345.6, float("inf"), float("nan"))] == [
        *("1,234,567", "0.1235", "12,346", "∞", "-")
    ]
    assert cell("x") == "x" and cell(2) == "2"
    assert data_image(b"png", "a <picture>", 3, 4) == (
        '<img src="data:image/png;base64,cG5n" alt="a &lt;picture&gt;" width="3" height="4">'
    )


def test_bars_are_in_proportion():
    table = Table("", ("x",), [(2.0,), (1.0,), (0.0,)], bars=0)
    assert [table.share(row) for row in table.rows] == [100, 50, 0]
    assert Table("", ("x",), [(0,)], bars=0).share((0,)) == 0


def test_a_half_without_another_is_whole():
    halves = [Section(name, name, half=name != "c") for name in "abcd"]
    assert [section.half for section in Page("", "", halves).sections] == [True, True, False, False]
