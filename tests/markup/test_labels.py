"""Labels are text whatever is in them."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from tgraph.markup.labels import LONGEST, Markup, definitions, isolated, label, readable


class Seen(HTMLParser):
    """The elements of a text, and what it says."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.said = [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)

    def handle_data(self, data):
        self.said += data


@given(st.text())
def test_any_text_is_one_isolated_element_that_says_it(text):
    seen = Seen(label(text))
    assert seen.elements == ["bdi"] and seen.said == readable(text)
    assert seen.said.encode("utf-8")  # also where the label has half a surrogate pair


def test_what_cannot_be_seen_is_shown_as_an_escape():
    assert readable("a\u202eb") == "a\\u202eb" and readable("\x00\x1b\n") == "\\x00\\x1b\\n"
    assert readable("\ud800") == "\\ud800" and readable("") == '""'
    assert readable("नमस्ते 👩\u200d🔬") == "नमस्ते 👩\u200d🔬"  # joiners are parts of what is written
    assert isolated("x") == "\u2068x\u2069"


def test_a_long_label_tells_its_length():
    assert readable("x" * 1_000_000) == "x" * LONGEST + "… (1,000,000 characters)"
    assert readable("x" * LONGEST) == "x" * LONGEST


def test_facts_are_escaped():
    text = definitions("<b>", {"a<i>": "<script>", "raw": Markup("<bdi>x</bdi>")})
    assert Seen(text).elements.count("bdi") == 1
    assert "script" not in Seen(text).elements and "b" not in Seen(text).elements and "<script>" in Seen(text).said


def test_marks_do_not_pile_up():
    assert readable("e" + "\u0301" * 6) == "e" + "\u0301" * 4 + "\\u0301" * 2
