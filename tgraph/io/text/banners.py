"""Files of another format than their extension says, recognised by their first bytes."""

from __future__ import annotations

import re

from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import BYTE_ORDER_MARK, open_bytes

_FETCH = "fetch the file itself: its address gave another page"
_NETWORKX = "read it with networkx, and convert by tgraph.from_networkx"
_NAMED = 'read it with format="{}"'
# (pattern of the first bytes, name in FORMATS or None, description, remedy)
_BANNERS: tuple[tuple[str, str | None, str, str], ...] = (
    (r"version https://git-lfs", None, "a pointer of Git LFS, not the file itself", "fetch it by: git lfs pull"),
    (r"\s*<(!doctype html|html|head|body)", None, "a page of HTML", _FETCH),
    (r"(404: )?not found\s*$|(403: |)(forbidden|access denied)\s*$", None, "the message of a server", _FETCH),
    (r"(%%|%)?matrixmarket\b", "matrixmarket", "a MatrixMarket file", _NAMED),
    (r"(c\b.*\n)*p\s+(sp|edges?|col|tw|td|max|min)\s+\d", "dimacs", "a DIMACS file", _NAMED),
    (r"\s*<(?=[?!\w])([\s\S]*?<)?([^\s<>:]+:)?graphml\b", "graphml", "GraphML", _NAMED),
    (r"\s*<(?=[?!\w])([\s\S]*?<)?([^\s<>:]+:)?gexf\b", "gexf", "GEXF", _NAMED),
    (r"\s*<(\?xml|\w+[\s>])", None, "XML, and neither GraphML nor GEXF", _NETWORKX),
    (r'(\s*#.*\n)*(\s*graph\s*\[|creator\s+")', "gml", "a GML file", _NAMED),
    (r"\*(vertices|network|arcs|edges)\b", "pajek", "a Pajek file", _NAMED),
    (r"(\s*//.*\n)*\s*(strict\s+)?(di)?graph\b[^{\n]*\{", "dot", "a file of Graphviz", _NAMED),
    (r"leda\.graph", None, "a LEDA file", _NETWORKX),
    (r"@nodes\b", None, "a LEMON graph file", "write it as an edge list"),
    (r"dl\s+n\s*=", "dl", "a file of UCINET", _NAMED),
    (r">>(graph6|sparse6|digraph6)<<", "graph6", "a graph6 file", _NAMED),
    (r"#.*\n# GMT .*\n", "adjlist", "an adjacency list of networkx, not of edges", _NAMED),
    (r"\S+:(\s+\d+)+\s*$", "adjlist", "an adjacency list: a vertex, a colon, its neighbours", _NAMED),
    (r"\(.*,.*\)\s*,?\s*$", None, "tuples of Python", "write the ends of each edge without the brackets"),
    (r"[\[{]\s*[\[{\"'\d\]}]", "json", "JSON", _NAMED),
    (r"\S+[ \t]+(->|--)[ \t]+\S+", None, "edges with arrows", "write the ends of each edge without the arrow"),
    (r"//\s", None, "a comment that begins with //", "skip=1 ignores the first line; comments begin with # or %"),
    (r"\x93NUMPY", None, "an array of numpy", "load it, and take tgraph.Graph.from_edges"),
    (r"PAR1", "parquet", "a Parquet file", _NAMED),
    (r"ARROW1|FEA1", "feather", "a Feather or Arrow file", _NAMED),
    (r"PK\x03\x04", "npz", "an archive, zip or npz", "unpack it, or call it .npz"),
    (r"\x80[\x02-\x05]", None, "a pickle of Python", "load it where you trust it, and convert the graph or dict in it"),
    (r"%PDF-|\x89HDF|\x7fELF|7z\xbc\xaf|SQLite format 3", None, "a binary file", "convert it"),
)
_NO_TEXT: tuple[tuple[str, None, str, str], ...] = (
    (r"\xff\xfe|\xfe\xff", None, "text in UTF-16", "convert it to UTF-8, by: iconv -f UTF-16 -t UTF-8"),
    (r"[^\n]{0,500}\x00", None, "no text: it has a byte 0", "it is binary or UTF-16; convert it to UTF-8"),
)
# Formats that are no text, or in any encoding.
_ANY_BYTES = (
    "parquet",
    "feather",
    "gapbs",
    "npz",
    "graphml",
    "gexf",
    "gml",
    "pajek",
    "json",
    "dot",
    "lgl",
    "adjlist",
    "dl",
)
_HEAD = 1 << 12  # bytes that are matched


def refuse_others(path: PathLike, format: str, encoding: str | None = None) -> None:
    """Raise FileFormatError for a file recognised as another format than `format`, of `tgraph.io.FORMATS`."""
    refuse_head(path, _head(path, encoding), format)


def recognised(path: PathLike) -> str | None:
    """The format, of `tgraph.io.FORMATS`, that the first bytes of a file tell; None where they tell none."""
    head = _head(path)
    return next((name for begin, name, *_ in _BANNERS if _matches(begin, head)), None)


def _head(path: PathLike, encoding: str | None = None) -> bytes:
    with open_bytes(path, encoding=encoding) as stream:
        head: bytes = stream.read(_HEAD)
    return head.removeprefix(BYTE_ORDER_MARK).replace(b"\r\n", b"\n").replace(b"\r", b"\n").lstrip(b"\n")


def _matches(begin: str, head: bytes) -> bool:
    return re.match(begin.encode("latin-1"), head, re.IGNORECASE | re.MULTILINE) is not None


def refuse_head(path: PathLike, head: bytes, format: str) -> None:
    """As `refuse_others`, for the first bytes of a file."""
    for begin, name, kind, remedy in _BANNERS + (() if format in _ANY_BYTES else _NO_TEXT):
        if _matches(begin, head):
            if name == format:
                return
            raise FileFormatError(path, f"the file is {kind}", remedy.format(name))
