"""Files of another format than their extension says, recognised by their first bytes."""

from __future__ import annotations

import re

from tgraph.errors import FileFormatError
from tgraph.files import PathLike
from tgraph.files.byte_stream import BYTE_ORDER_MARK, open_bytes

_FETCH = "fetch the file itself: its address gave another page"
_NETWORKX = "read it with networkx, and convert by tgraph.from_networkx"
# (pattern of the first bytes, name in FORMATS or None, description, remedy)
_BANNERS: tuple[tuple[str, str | None, str, str], ...] = (
    (r"version https://git-lfs", None, "a pointer of Git LFS, not the file itself", "fetch it by: git lfs pull"),
    (r"\s*<(!doctype html|html|head|body)", None, "a page of HTML", _FETCH),
    (r"(404: )?not found\s*$|(403: |)(forbidden|access denied)\s*$", None, "the message of a server", _FETCH),
    (r"(%%|%)?matrixmarket\b", "matrixmarket", "a MatrixMarket file", 'read it with format="matrixmarket"'),
    (r"(c\b.*\n)*p\s+(sp|edge|col|tw|td|max|min)\s+\d", "dimacs", "a DIMACS file", 'read it with format="dimacs"'),
    (r"\s*<(\?xml|\w+[\s>])", None, "XML, such as GraphML or GEXF", _NETWORKX),
    (r'(\s*#.*\n)*(\s*graph\s*\[|creator\s+")', None, "a GML file", _NETWORKX),
    (r"\*(vertices|network|arcs|edges)\b", None, "a Pajek file", _NETWORKX),
    (r"(\s*//.*\n)*\s*(strict\s+)?(di)?graph\b[^{\n]*\{", None, "a file of Graphviz", _NETWORKX),
    (r"leda\.graph", None, "a LEDA file", _NETWORKX),
    (r"@nodes\b", None, "a LEMON graph file", "write it as an edge list"),
    (r"dl\s+n\s*=", None, "a file of UCINET", "write it as an edge list"),
    (r">>(graph6|sparse6|digraph6)<<", None, "a graph6 file", _NETWORKX),
    (r"#.*\n# GMT .*\n", None, "an adjacency list of networkx, not of edges", "use networkx.write_edgelist instead"),
    (r"\S+:(\s+\d+)+\s*$", None, "an adjacency list: a vertex, a colon, its neighbours", "write an edge in each line"),
    (r"\(.*,.*\)\s*,?\s*$", None, "tuples of Python", "write the ends of each edge without the brackets"),
    (r"[\[{]\s*[\[{\"'\d\]}]", None, "JSON", "load it in Python, and take tgraph.Graph.from_edges"),
    (r"\S+\s+(->|--)\s+\S+", None, "edges with arrows", "write the ends of each edge without the arrow"),
    (r"//\s", None, "a comment that begins with //", "skip=1 ignores the first line; comments begin with # or %"),
    (r"\x93NUMPY", None, "an array of numpy", "load it, and take tgraph.Graph.from_edges"),
    (r"PAR1", "parquet", "a Parquet file", 'read it with format="parquet"'),
    (r"PK\x03\x04", "npz", "an archive, zip or npz", "unpack it, or call it .npz"),
    (r"%PDF-|\x89HDF|\x7fELF|7z\xbc\xaf|SQLite format 3|ARROW1|\x80\x04\x95", None, "a binary file", "convert it"),
)
_NO_TEXT: tuple[tuple[str, None, str, str], ...] = (
    (r"\xff\xfe|\xfe\xff", None, "text in UTF-16", "convert it to UTF-8, by: iconv -f UTF-16 -t UTF-8"),
    (r"[^\n]{0,500}\x00", None, "no text: it has a byte 0", "it is binary or UTF-16; convert it to UTF-8"),
)
_BINARY = ("parquet", "npz")
_HEAD = 1 << 12  # bytes that are matched


def refuse_others(path: PathLike, format: str) -> None:
    """Raise FileFormatError for a file recognised as another format than `format`, of `tgraph.io.FORMATS`."""
    with open_bytes(path) as stream:
        head = stream.read(_HEAD).removeprefix(BYTE_ORDER_MARK).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    refuse_head(path, head.lstrip(b"\n"), format)


def refuse_head(path: PathLike, head: bytes, format: str) -> None:
    """As `refuse_others`, for the first bytes of a file."""
    for begin, name, kind, remedy in _BANNERS if format in _BINARY else _BANNERS + _NO_TEXT:
        if name != format and re.match(begin.encode("latin-1"), head, re.IGNORECASE | re.MULTILINE):
            raise FileFormatError(path, f"the file is {kind}", remedy)
