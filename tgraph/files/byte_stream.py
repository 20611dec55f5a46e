"""Files as byte streams: reading with decompression and line splitting, writing with compression, atomically."""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.archives import FAULTS, is_archive, open_member
from tgraph.files.atomic_write import replacing
from tgraph.progress import bar, is_wanted

CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_LINE = 1 << 26  # bytes; a compressed file of zeros would fill the memory
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "bz2": re.compile(rb"BZh\d(1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
}


class LineTooLong(Exception):
    """A line longer than LONGEST_LINE; in `open_bytes`, a FileFormatError."""


@contextmanager
def open_bytes(path: PathLike, progress: bool = False, encoding: str | None = None) -> Iterator[Any]:
    """The decompressed content, as a stream with `read(size)`; `progress` shows a bar over compressed bytes. Text in
    another `encoding` becomes UTF-8.

    The compression is detected from the first bytes, not the extension; of an archive, known by its extension, the one
    file in it is opened. Errors of the compressed data inside the `with`
    block become a FileFormatError.
    """
    with open(path, "rb") as file:
        head = file.read(16)
        if not file.seekable():
            raise FileFormatError(path, "a pipe or terminal, not a seekable file", "save it to a file first, read that")
    codec = next((name for name, magic in _MAGIC.items() if magic.match(head)), None)
    try:
        with ExitStack() as stack:
            if is_archive(path):
                found = stack.enter_context(open_member(path))[1]
            else:
                found = _decompressed(path, codec, progress, stack)
            yield _Recoded(path, found, encoding) if encoding else found
    except LineTooLong as fault:
        problem = f"a line has more than {LONGEST_LINE >> 20} MiB"
        raise FileFormatError(path, problem, "the file is damaged, or no text: fetch it again") from fault
    except (OSError, lzma.LZMAError, *FAULTS) as fault:
        if getattr(fault, "errno", None) is not None:  # of the operating system, such as a failing disk
            raise
        problem = f"the {codec} data cannot be decompressed ({fault})" if codec else f"cannot be read ({fault})"
        raise FileFormatError(path, problem, "the file is truncated or damaged, fetch it again") from fault


class _Recoded(io.RawIOBase):
    """Text in another encoding as UTF-8."""

    def __init__(self, path: PathLike, stream: Any, encoding: str):
        self._path, self._stream, self._line = path, stream, 1
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while True:
            piece = bytes(self._stream.read(size))
            try:
                text = self._decoder.decode(piece, final=size < 0 or not piece)
            except UnicodeDecodeError as fault:
                before = fault.object[: fault.start].decode(fault.encoding, "replace")
                problem = f"the text is not {fault.encoding}: {fault.reason}"
                remedy = "name its encoding, or fetch the file again"
                raise FileFormatError(self._path, problem, remedy, self._line + before.count("\n")) from fault
            self._line += text.count("\n")
            if text or not piece:
                return text.encode()


def _decompressed(path: PathLike, codec: str | None, progress: bool, stack: ExitStack) -> Any:
    import pyarrow

    raw = stack.enter_context(pyarrow.OSFile(os.fspath(path), "rb"))
    watched = is_wanted(progress)
    if watched:
        from tqdm.utils import CallbackIOWrapper

        total, name = os.path.getsize(path), os.path.basename(path)
        options: dict[str, Any] = {"unit": "B", "unit_scale": True, "unit_divisor": 1024}
        found = stack.enter_context(bar(name, total=total, asked=progress, **options))
        raw = CallbackIOWrapper(found.update, raw, "read")
    if codec == "xz":
        return stack.enter_context(lzma.LZMAFile(raw))
    if codec is not None:
        return stack.enter_context(pyarrow.CompressedInputStream(raw, codec))
    return stack.enter_context(pyarrow.PythonFile(raw, "r")) if watched else raw


def encoding_of(path: PathLike, encoding: str | None) -> str | None:
    """The encoding for `open_bytes`: the one given, or UTF-16 where a byte order mark tells; None for UTF-8.

    Raises ArgumentError for an encoding that Python does not have.
    """
    if encoding is None:
        with open_bytes(path) as stream:
            return "utf-16" if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else None
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)
    except LookupError as fault:
        raise ArgumentError(f"encoding: Python has no {encoding!r}; 'latin-1' for instance is one") from fault
    return None if name == "utf-8" else name


def blocks(stream: Any, size: int = 1 << 22) -> Iterator[bytes]:
    """The stream in chunks of about `size` bytes, each ending at a line end, with \\n for every kind of line end."""
    rest: list[bytes] = []
    while piece := stream.read(size):
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r", 0, len(piece) - 1)) + 1  # a last \r may be half of a \r\n
        if end:
            yield _with_line_feeds(b"".join((*rest, piece[:end])))
            rest = []
        rest.append(piece[end:])
        if len(rest) * size > LONGEST_LINE and sum(map(len, rest)) > LONGEST_LINE:
            raise LineTooLong
    if last := b"".join(rest):
        yield _with_line_feeds(last)


def _with_line_feeds(block: bytes) -> bytes:
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block


def lines(stream: Any, size: int = 1 << 16, blank: bool = True) -> Iterator[tuple[int, bytes]]:
    """(1-based number, line without its end) for every line, without a leading byte order mark.

    Slow: only for headers and for explaining errors. Without `blank`, long runs of blank lines are skipped.
    """
    number = 0
    for block in blocks(stream, size):
        if not blank and block.isspace():
            number += block.count(b"\n")
            continue
        for line in block.removesuffix(b"\n").split(b"\n"):
            number += 1
            yield number, line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def stem(path: PathLike) -> Path:
    """The path without the suffix of compression."""
    path = Path(path)
    return path.with_suffix("") if path.suffix.lower() in CODECS else path


@contextmanager
def create_bytes(path: PathLike) -> Iterator[Any]:
    """A stream with `write(bytes)` to a new file, compressed by the suffix of `path`, written atomically."""
    import pyarrow

    codec = CODECS.get(Path(path).suffix.lower())
    with replacing(path) as temporary, ExitStack() as stack:
        name = os.fspath(temporary)
        if codec == "gzip":  # arrow uses level 9: several times slower for a few percent
            yield stack.enter_context(gzip.open(name, "wb", compresslevel=6))
        elif codec == "xz":
            yield stack.enter_context(lzma.open(name, "wb"))
        elif codec is not None:
            yield stack.enter_context(pyarrow.CompressedOutputStream(name, codec))
        else:
            yield stack.enter_context(pyarrow.OSFile(name, "wb"))
