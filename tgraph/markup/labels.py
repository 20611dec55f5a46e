"""Labels of a graph as safe, visible text for a page."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import Any

LONGEST = 60  # characters shown of a label
JOINERS = "\u200c\u200d"  # parts of words and of emoji
STACKED = 4  # marks on one letter; more would cover the lines around it
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, format, surrogates, private, unassigned, separators
ISOLATE, END = "\u2068", "\u2069"  # as <bdi>, in text without elements


class Markup(str):
    """HTML text, not to be escaped again."""

    def __html__(self) -> str:
        return self


def readable(value: Any, lines: bool = False, longest: int = LONGEST) -> str:
    """A label in visible characters: others, such as marks of text direction, are escaped, and so are line ends unless
    `lines`; one of more than `longest` characters is abridged, with its length."""
    text, marks, shown = str(value), 0, ""
    for character in text[:longest]:
        marks = marks + 1 if unicodedata.category(character).startswith("M") else 0
        plain = lines and character == "\n"
        shown += character if plain else _visible(character) if marks <= STACKED else _escaped(character)
    shown = shown or '""'
    return shown if len(text) <= longest else f"{shown}… ({len(text):,} characters)"


def label(value: Any) -> Markup:
    """A label as HTML: escaped, and with an isolated text direction (`bdi`)."""
    return Markup(f"<bdi>{escape(readable(value))}</bdi>")


def isolated(value: Any) -> str:
    """A label in text without elements, such as the title of a mark in a picture."""
    return f"{ISOLATE}{readable(value)}{END}"


def definitions(title: str, facts: dict[str, Any]) -> Markup:
    """A small table of facts, in the style of the notebook."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{fact if isinstance(fact, Markup) else escape(readable(fact))}</td></tr>'
        for name, fact in facts.items()
    )
    return Markup(f'<table><caption style="text-align:left">{escape(title)}</caption><tbody>{rows}</tbody></table>')


def preformatted(text: Any) -> Markup:
    """Text as a preformatted element."""
    return Markup(f"<pre>{escape(str(text))}</pre>")


def _visible(character: str) -> str:
    if character in JOINERS or unicodedata.category(character) not in UNSEEN:
        return character
    return _escaped(character)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
