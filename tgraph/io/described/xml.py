"""The elements of an XML file: by expat, and where many look alike by a regular expression."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol
from xml.parsers import expat

from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import open_bytes
from tgraph.io.described.runs import Runs
from tgraph.io.described.source import Refused

Texts = Sequence[str | None]  # of an attribute, or an entry of data, of many elements; None where it is missing
_CHUNK = 1 << 20
_UTF8 = re.compile(
    rb"(?!\xff\xfe|\xfe\xff|.\0|\0)(?!<\?xml[^>]*\bencoding\s*=\s*[\"'](?!(?i:utf-?8|us-ascii)[\"']))", re.DOTALL
)
_S = r"[ \t\r\n]"
_NAME = r"[A-Za-z_][\w.-]*"
_PLAIN = {  # what a value holds, after the mark that begins it, where nothing in it stands for something else
    '"': r"[^\"<&\x00-\x1f\ufffe\uffff]*",
    ">": r"[^<>&\x00-\x08\x0b-\x1f\ufffe\uffff]*",
}


class Reader(Protocol):
    """Methods that take the elements, whose namespaces are left out.

    parents : of each element that comes in numbers, the one around it. child : the regular expression of an entry of
    data in it, with `{key}` and `{value}`, where the value begins with the `mark` before it. wrap : the element around
    all entries, or nothing.
    """

    parents: Mapping[str, str]
    child: str
    mark: str
    wrap: str

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        """The start of an element."""

    def end(self, tag: str, text: str, line: int) -> None:
        """Its end, and the text in it."""

    def many(self, tag: str, own: dict[str, Texts], data: dict[str, Texts]) -> bool:
        """Many elements, with attributes of their `own` and entries of `data`, or False: then each comes by itself."""


def read_xml(path: PathLike, encoding: str | None, reader: Reader) -> None:
    """Read an XML file. Nothing but the file is read, and no entity is expanded. Raises FileFormatError."""
    parser = _Parser(encoding, reader)
    try:
        with open_bytes(path) as stream:
            parser.read(stream)
    except expat.ExpatError as fault:
        problem = f"not well-formed XML ({expat.ErrorString(fault.code)})"
        remedy = "correct it there, or fetch or write the file again"
        raise FileFormatError(path, problem, remedy, line=fault.lineno) from fault
    except Refused as fault:
        problem, remedy = fault.args
        raise FileFormatError(path, problem, remedy, line=parser.line) from fault
    except FileFormatError:  # a ValueError too
        raise
    except (LookupError, ValueError) as fault:
        raise FileFormatError(path, f"XML in an unknown encoding ({fault})", "convert it to UTF-8") from fault


class _Parser:
    """Expat, and runs, of which it gets the line ends alone."""

    def __init__(self, encoding: str | None, reader: Reader):
        self._expat = expat.ParserCreate(encoding, namespace_separator=" ")
        self._reader = reader
        self._texts: list[list[str]] = []  # of the open elements
        self._open: list[str] = []
        self._marks = self._closed = 0  # <! and <? so far, and those that have come to their end
        self._runs = {tag: Runs(partial(_spelled, reader, tag), lambda name: not name[0]) for tag in reader.parents}
        self._begin = re.compile(rf"<({'|'.join(reader.parents)})(?=[ \t\r\n/>])")
        self._is_known = encoding is None
        self._expat.buffer_text = True
        self._expat.StartElementHandler, self._expat.EndElementHandler = self._start, self._end
        self._expat.CharacterDataHandler = lambda text: self._texts[-1].append(text)
        for handler in ("Comment", "ProcessingInstruction", "XmlDecl", "EndCdataSection", "EndDoctypeDecl"):
            setattr(self._expat, f"{handler}Handler", self._close)
        for handler in ("EntityDecl", "SkippedEntity", "ExternalEntityRef"):
            setattr(self._expat, f"{handler}Handler", _refuse)

    @property
    def line(self) -> int:
        return self._expat.CurrentLineNumber

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._texts.append([])
        self._open.append(tag.rpartition(" ")[2])
        plain = {name.rpartition(" ")[2]: value for name, value in attributes.items()}
        self._reader.start(self._open[-1], plain, self.line)

    def _end(self, _: str) -> None:
        self._reader.end(self._open.pop(), "".join(self._texts.pop()), self.line)

    def _close(self, *_: Any) -> None:
        self._closed += 1

    def read(self, stream: Any) -> None:
        piece = bytes(stream.read(_CHUNK))
        decoder, text = codecs.getincrementaldecoder("utf-8")(), ""
        runs = self._is_known and _UTF8.match(piece) is not None
        while piece:
            try:
                text += decoder.decode(piece) if runs else ""
            except UnicodeDecodeError:  # expat tells where
                self._feed(text)
                piece, text, runs = decoder.getstate()[0] + piece, "", False
            if runs:
                text = text[self._taken(text) :]
            else:
                self._expat.Parse(piece, False)
            piece = bytes(stream.read(_CHUNK))
        self._feed(text)
        self._expat.Parse(decoder.getstate()[0] if runs else b"", True)

    def _taken(self, text: str) -> int:
        """Parse the text but for an element at its end that may go on; where that begins."""
        done = odd = 0  # up to here it was parsed; and from there on runs are looked for
        begin = self._begin.search(text)
        while begin is not None:
            tag, at = begin[1], begin.start()
            following = self._begin.search(text, begin.end())
            if following is None and len(text) - at < 4 * _CHUNK:
                self._feed(text[done:at])
                return at
            runs = self._runs[tag]
            if at >= odd and runs.are_tried():
                self._feed(text[done:at])
                done = at
                if self._is_among(tag):
                    columns, count, odd = runs.find(text, at)
                    if count and self._reader.many(tag, *_parted(runs.fields, columns)):
                        self._expat.Parse("\n" * text.count("\n", at, odd), False)
                        done, following = odd, self._begin.search(text, odd)
                    elif not count and (names := _names(self._reader, tag, text, at)) is not None:
                        runs.learn(names)
            begin = following
        end = max(done, len(text) - 10)  # the rest may be the begin of a tag
        self._feed(text[done:end])
        return end

    def _is_among(self, tag: str) -> bool:
        """Whether expat is right within the element that has many of these, not in a comment or the like."""
        if self._marks != self._closed or not self._open or self._open[-1] != self._reader.parents[tag]:
            return False
        self._feed("<?run?>")
        return self._marks == self._closed

    def _feed(self, text: str) -> None:
        if text:
            self._marks += text.count("<!") + text.count("<?")
            self._expat.Parse(text, False)


def _refuse(*_: Any) -> None:
    raise Refused("XML with entities of its own, which can stand for anything", "write it without them")


def _spelled(reader: Reader, tag: str, fields: dict[tuple[bool, str], bool]) -> str:
    """The regular expression of an element with fields (whether it is an attribute, name)."""
    own = data = ""
    for (is_own, name), needed in fields.items():
        mark = '"' if is_own else reader.mark
        value = f"{mark}({_PLAIN[mark]})" if needed else f"({mark}{_PLAIN[mark]})"
        if is_own:
            each = rf"{_S}+{name}={value}\""
            own += each if needed else f"(?:{each})?"
        else:
            each = reader.child.format(key=re.escape(name), value=value) + f"{_S}*"
            data += each if needed else f"(?:{each})?"
    needed = any(needed for (is_own, _), needed in fields.items() if not is_own)
    return _element(reader, tag, own, data, needed)


def _element(reader: Reader, tag: str, own: str, data: str, needed: bool) -> str:
    if reader.wrap:
        data = rf"<{reader.wrap}{_S}*(?:>{_S}*{data}</{reader.wrap}{'' if needed else '>|/'}>){_S}*"
        data = data if needed else f"(?:{data})?"
    return rf"<{tag}{own}{_S}*(?:{'' if needed else '/>|'}>{_S}*{data}</{tag}>)"


def _names(reader: Reader, tag: str, text: str, at: int) -> list[tuple[bool, str]] | None:
    """The fields of an element; None for one that holds anything else."""
    child = reader.child.format(key=_PLAIN['"'], value=reader.mark + _PLAIN[reader.mark])
    own, data = rf"((?:{_S}+{_NAME}=\"{_PLAIN[chr(34)]}\")*)", rf"((?:{child}{_S}*)*)"
    found = re.compile(_element(reader, tag, own, data, False)).match(text, at)
    if found is None:
        return None
    key = re.compile(reader.child.format(key=f"({_PLAIN[chr(34)]})", value=reader.mark + _PLAIN[reader.mark]))
    names = [(True, name) for name in re.findall(rf"({_NAME})=\"{_PLAIN[chr(34)]}\"", found[1])]
    return None if (True, "xmlns") in names else names + [(False, name) for name in key.findall(found[2] or "")]


def _parted(
    fields: dict[tuple[bool, str], bool], columns: dict[tuple[bool, str], Sequence[str]]
) -> tuple[dict[str, Texts], dict[str, Texts]]:
    """(the attributes, the data) of a run."""
    parts: tuple[dict[str, Texts], dict[str, Texts]] = {}, {}
    for (is_own, name), needed in fields.items():
        texts = columns[is_own, name]
        parts[not is_own][name] = texts if needed else [text[1:] if text else None for text in texts]
    return parts
