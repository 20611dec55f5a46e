"""Input streams of pyarrow's CSV reader: observed for text that it would misread, or normalised."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tgraph.files.byte_stream import BYTE_ORDER_MARK, blocks
from tgraph.io.text.line_layout import BLANKS, NUMERIC, LineLayout

_HEXADECIMAL = re.compile(rb"(?<![\w.])0[xX]")


class Odd(ValueError):
    """Text to be read line by line."""


class Watched(io.RawIOBase):
    """The bytes of a stream. `hexadecimal` : whether 0x occurred, the prefix of an integer for pyarrow. `open_quotes` :
    whether the number of quotes is odd, counted where the layout has quoted fields to skip, which would swallow lines.
    `infinite` : whether the reader found an infinite number."""

    def __init__(self, stream: Any, layout: LineLayout):
        self._stream, self._last, self._quotes = stream, b"", 0
        self._counts = layout.quoted and "skip" in layout.fields
        self._has_numbers = any(kind in NUMERIC for kind in layout.fields)
        self.hexadecimal = self.infinite = False

    @property
    def open_quotes(self) -> bool:
        return self._quotes % 2 == 1

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        if self._has_numbers and not self.hexadecimal and (b"x" in data or b"X" in data):
            parts = (self._last + data[:2], data) if b"0x" in data or b"0X" in data else (self._last + data[:2],)
            self.hexadecimal = any(map(_HEXADECIMAL.search, parts))
        self._last = data[-2:]
        if self._counts:
            self._quotes += int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord('"')))
        return data


class Pieces(io.RawIOBase):
    """A stream of pieces of bytes, possibly empty."""

    def __init__(self, pieces: Iterator[bytes]):
        self._pieces, self._ready = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._ready:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._ready = memoryview(piece)
        taken = min(len(target), len(self._ready))
        target[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken


def straightened(stream: Any, layout: LineLayout) -> Iterator[bytes]:
    """The data lines of a stream without comments, with single delimiters and no blanks around them. Raises Odd for
    quotes, since quoted text must not change."""
    skip = layout.skip
    changes = _changes(layout.delimiter.encode())
    marks = re.escape(layout.comments.encode())
    comment = re.compile(rb"\n[" + marks + rb"][^\n]*" if marks else rb"(?!)")
    for number, block in enumerate(blocks(stream)):
        block = block.removeprefix(BYTE_ORDER_MARK) if number == 0 else block
        if layout.quoted and b'"' in block:
            raise Odd
        while skip and block:
            skip -= 1
            block = block.partition(b"\n")[2]
        block = b"\n" + layout.without_comments(
            block
        )  # so that every line follows a line end; pyarrow ignores empty lines
        for old, new in changes:
            while old in block:
                block = block.replace(old, new)
        yield comment.sub(b"", block)


def _changes(mark: bytes) -> list[tuple[bytes, bytes]]:
    """Replacements to repeat until none applies, leaving single delimiters. Far faster than a regular expression."""
    if mark == BLANKS.encode():
        return [(b"\t", b" "), (b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n")]
    blanks = [blank for blank in (b" ", b"\t") if blank != mark]
    return [(side, edge) for blank in blanks for edge in (mark, b"\n") for side in (blank + edge, edge + blank)]
