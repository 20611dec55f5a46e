"""Valid text in odd dress, and graphs written and read again, for `bench.fuzz`: what is read is what was meant."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import torch

import tgraph as tg
from tgraph.io import BINARY, FORMATS

Edge = tuple[Any, Any, float | int | None]
LABELS = [
    *("ann", "bob", "New York", "Doe, Jane", 'say "hi"', "#metoo", "%x", "ü", "日本", "a;b", "a|b", "a\tb", " a", "a "),
    *("", "007", "7", "-1", "1.5", "nan", "NaN", "inf", "true", "None", "null", "0x10", "1_000", "1e3", "+1", "'q'"),
    *('"', '""', "a\nb", "a\rb", "a\0b", "\ufeffa", "\x1b[31m", "\u202ea", "//", "->", "source", "target", "p", "c"),
    *("\u00a0", "\u2028", "\ud800", "e" * 300, "version", "<html>", "{", "[1", "graph", "0:", "(0,"),
]
BEGINNINGS = ("//", "->", "<html>", "{", "[1", "0:", "(0,")  # of files of other formats
DTYPES = ["int64", "int32", "int16", "int8", "uint8", "float64", "float32", "float16", "bfloat16"]


# ---- text in odd dress ----------------------------------------------------------------------------------------------


def dressed(chance: random.Random) -> tuple[str, bytes, dict[str, Any], list[Edge]]:
    """(name, content, options, the edges that are meant) of a valid file."""
    name = chance.choice(("x.csv", "x.csv", "x.el", "x.el", *KINDS))
    content, options, edges = KINDS[name](chance)
    data = _ended(content, chance).encode()
    if chance.random() < 0.2:
        data = b"\xef\xbb\xbf" + data
    return name, gzip.compress(data) if chance.random() < 0.1 else data, options, edges


def _ended(lines: list[str], chance: random.Random) -> str:
    """The lines with one kind of line end, or several, and at times none at the end."""
    ends = chance.choice((["\n"], ["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\r", "\r\n"]))
    text = "".join(line + chance.choice(ends) for line in lines)
    return text.rstrip("\r\n") if chance.random() < 0.2 and lines[-1].strip() else text


def _weight(kind: str, chance: random.Random) -> tuple[str, float | int | None]:
    """(text, value)"""
    if kind == "none":
        return "", None
    if kind == "integer":
        value = chance.choice((0, 1, -7, 2**53 + 1, 2**63 - 1, -(2**63), chance.randrange(1000)))
        return str(value), value
    text = chance.choice(
        ("1.5", ".5", "5.", "-0.25", "1e3", "1E-3", "+2.5", "inf", "-inf", "nan", "1e300", "0.1", "3.0")
    )
    return text, float(text)


def _ends(chance: random.Random, labels: list[str] | None) -> tuple[list[tuple[Any, Any]], bool]:
    if labels is not None:
        return [(chance.choice(labels), chance.choice(labels)) for _ in range(chance.randrange(1, 9))], True
    ids = chance.choice((range(5), (10, 20, 2**40), (-5, 0, 5), (2**63 - 1, -(2**63), 3)))
    return [(chance.choice(ids), chance.choice(ids)) for _ in range(chance.randrange(1, 9))], False


def _blanks(chance: random.Random, dense: bool) -> str:
    return "" if dense else chance.choice(("", " ", "  ", "\t"))


def _csv(chance: random.Random) -> tuple[list[str], dict[str, Any], list[Edge]]:
    mark = chance.choice(",,;\t")
    plain = [label for label in LABELS if not set("\0\r\ufeff\ud800") & set(label)]
    ends, are_labels = _ends(chance, plain if chance.random() < 0.6 else None)
    weights = chance.choice(("none", "integer", "real"))
    style, dense, notes = chance.choice(("all", "needed", "some")), chance.random() < 0.6, chance.random() < 0.4
    extra = chance.choice((None, None, "note", "2019"))

    def field(value: str, text: bool) -> str:
        needed = text and (value != value.strip() or value in ("",) or set(value) & set('\n"' + mark))
        quoted = needed or style == "all" or (style == "some" and chance.random() < 0.5)
        around = [_blanks(chance, dense).replace(mark, "") for _ in range(2)]
        return around[0] + ('"' + value.replace('"', '""') + '"' if quoted else value) + around[1]

    rows, edges = [], []
    for source, target in ends:
        text, value = _weight(weights, chance)
        row = [field(str(source), are_labels), field(str(target), are_labels)]
        row += [] if value is None else [field(text, False)]
        row += [] if extra is None else [field(chance.choice(("x", "", 'a "b"', "0x1", "# c", "é, y", "7")), True)]
        rows.append(mark.join(row))
        edges.append((source, target, value))
    names = chance.choice((("source", "target"), ("Source", "Target"), ("from", "to"), ("u", "v"), ("src", "dst")))
    header = [*names, *(["weight"] if weights != "none" else []), *([] if extra is None else [extra])]
    lines = [mark.join(field(name, False) for name in header)]
    if notes:
        lines.insert(0, chance.choice(("# made by hand", "", "   ", "% note")))
    for row in rows:
        if notes and not are_labels and chance.random() < 0.3:
            lines.append(chance.choice(("# between", "", "%", "# a, b")))
        lines.append(row)
    options: dict[str, Any] = {"ids": "text"} if are_labels else {}
    return lines, options, edges


def _list(chance: random.Random) -> tuple[list[str], dict[str, Any], list[Edge]]:
    mark = chance.choice(("", "", ",", ";", "\t"))
    plain = [label for label in LABELS if not set(' \0\r\n\t,;"\ufeff\ud800\u2028') & set(label) and label.strip()]
    plain = [label for label in plain if label[0] not in "#%" and label not in BEGINNINGS]
    ends, are_labels = _ends(chance, plain if chance.random() < 0.5 else None)
    weights, dense, notes = chance.choice(("none", "integer", "real")), chance.random() < 0.5, chance.random() < 0.5
    lines, edges = [], []
    for source, target in ends:
        text, value = _weight(weights, chance)
        fields = [str(source), str(target)] + ([] if value is None else [text])
        row = fields[0]
        for each in fields[1:]:
            between = mark or (" " if dense else chance.choice((" ", "\t", "  ", " \t")))
            row += _blanks(chance, dense or not mark).replace(mark or "x", "") + between
            row += _blanks(chance, dense or not mark).replace(mark or "x", "") + each
        if notes and chance.random() < 0.4:
            lines.append(chance.choice(("# note", "% 1 2", "", "  ", "#", "# 3 4 5")))
        blank = "" if dense else _blanks(chance, False).replace(mark or "x", "")
        lines.append(blank + row + blank)
        edges.append((source, target, value))
    return lines, {"ids": "text", **({"delimiter": mark} if mark else {"delimiter": " "})} if are_labels else {}, edges


def _numbered(chance: random.Random, weights: str) -> tuple[int, list[Edge], list[list[str]]]:
    n = chance.randrange(1, 6)
    edges, rows = [], []
    for _ in range(chance.randrange(0, 7)):
        u, v = chance.randrange(1, n + 1), chance.randrange(1, n + 1)
        text, value = _weight(weights, chance)
        edges.append((u, v, value))
        rows.append([str(u), str(v)] + ([] if value is None else [text]))
    return n, edges, rows


def _spaced(fields: list[str], chance: random.Random) -> str:
    blank = chance.choice(("", "", " ", "\t"))
    return blank + chance.choice((" ", " ", "  ", "\t")).join(fields) + blank


def _mtx(chance: random.Random) -> tuple[list[str], dict[str, Any], list[Edge]]:
    weights = chance.choice(("none", "integer", "real"))
    n, edges, rows = _numbered(chance, weights)
    field = {"none": "pattern", "integer": "integer", "real": chance.choice(("real", "double"))}[weights]
    banner = f"%%MatrixMarket matrix coordinate {field} general"
    lines = [chance.choice((banner, banner.lower(), banner.replace(" ", "  ")))]
    lines += [chance.choice(("% note", "%", "", " % x"))] * chance.randrange(3)
    lines.append(_spaced([str(n), str(n), str(len(rows))], chance))
    for row in rows:
        lines += [chance.choice(("% 1 2", "", "%"))] * (chance.random() < 0.2)
        lines.append(_spaced(row, chance))
    return lines, {}, edges


def _gr(chance: random.Random) -> tuple[list[str], dict[str, Any], list[Edge]]:
    n, edges, rows = _numbered(chance, "integer")
    lines = [chance.choice(("c", "c note", "c p sp 3 3"))] * chance.randrange(3)
    lines.append(_spaced(["p", "sp", str(n), str(len(rows))], chance))
    for row in rows:
        lines += [chance.choice(("c a 1 2 3", "", "c"))] * (chance.random() < 0.2)
        lines.append(_spaced(["a", *row], chance))
    return lines, {}, edges


def _metis(chance: random.Random) -> tuple[list[str], dict[str, Any], list[Edge]]:
    n = chance.randrange(1, 6)
    pairs = {(chance.randrange(1, n + 1), chance.randrange(1, n + 1)) for _ in range(chance.randrange(6))}
    pairs = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    around = {v: [u for pair in pairs for u in pair if v in pair and u != v] for v in range(1, n + 1)}
    lines = ["% note"] * chance.randrange(2) + [_spaced([str(n), str(len(pairs))], chance)]
    for v in range(1, n + 1):
        lines += ["% 1 2"] * (chance.random() < 0.2)
        lines.append(_spaced(list(map(str, around[v])), chance))
    return lines, {}, [(u, v, None) for v in around for u in around[v]]


def _net(chance: random.Random) -> tuple[list[str], dict[str, Any], list[Edge]]:
    n, edges, rows = _numbered(chance, chance.choice(("none", "integer", "real")))
    lines = [chance.choice(("% note", "*Network x", ""))] * chance.randrange(2) + [
        _spaced(["*Vertices", str(n)], chance)
    ]
    labels = chance.random() < 0.5
    lines += [_spaced([str(i), chance.choice((str(i), f'"{i}"'))], chance) for i in range(1, n + 1) if labels]
    lines.append(chance.choice(("*Arcs", "*arcs", " *ARCS")))
    for row in rows:
        lines += [chance.choice(("% 1 2", "", "%"))] * (chance.random() < 0.2)
        lines.append(_spaced(row, chance))
    return lines, {"directed": True}, edges


def _gml(chance: random.Random) -> tuple[list[str], dict[str, Any], list[Edge]]:
    n, edges, rows = _numbered(chance, chance.choice(("none", "integer", "real")))
    words = ["graph", "[", "directed", "1"]
    for i in range(1, n + 1):
        words += ["node", "[", "id", str(i), *chance.choice(([], ["graphics", "[", "x", ".5", "]"])), "]"]
    spelled = {"inf": "+INF", "-inf": chance.choice(("-INF", "-Inf")), "nan": "NAN"}
    for u, v, *weight in rows:
        words += ["edge", "[", "source", u, "target", v]
        words += [word for text in weight for word in ("weight", spelled.get(text, text))] + ["]"]
    between = (" ", "\n") if chance.random() < 0.5 else (" ", "\n", "  ", "\t", "\n# a [ \n", "\n\n")
    return "".join(word + chance.choice(between) for word in [*words, "]"]).split("\n"), {}, edges


def _graphml(chance: random.Random) -> tuple[list[str], dict[str, Any], list[Edge]]:
    weights = chance.choice(("none", "integer", "real"))
    n, edges, rows = _numbered(chance, weights)
    kind, dense = {"none": "string", "integer": "long", "real": "double"}[weights], chance.random() < 0.5
    text = f'<graphml><key id="w" for="edge" attr.name="weight" attr.type="{kind}"/><graph edgedefault="directed">'

    def own(name: str, value: str) -> str:
        mark = '"' if dense else chance.choice(('"', "'"))
        blank = " " if dense else chance.choice((" ", "\n", "  "))
        return f"{blank}{name}={mark}{value if dense or chance.random() < 0.8 else f'&#{ord(value)};'}{mark}"

    elements = [f"<node{own('id', str(i))}/>" for i in range(1, n + 1)]
    for u, v, *weight in rows:
        data = "".join(f"<data{own('key', 'w')}>{each}</data>" for each in weight)
        plain = dense or chance.random() < 0.8
        elements.append(
            f"<edge{own('source', u)}{own('target', v)}>{data if plain else f'{data}<!-- <edge -->'}</edge>"
        )
    blank = "\n" if dense else chance.choice(("", " ", "\n", "\n<!-- <edge > -->\n"))
    return f"{text}{blank.join(elements)}</graph></graphml>".split("\n"), {}, edges


def _json(chance: random.Random) -> tuple[list[str], dict[str, Any], list[Edge]]:
    n, edges, _ = _numbered(chance, chance.choice(("none", "integer")))
    source, target = chance.choice((("source", "target"), ("from", "to"), ("u", "v")))
    links = [{source: u, target: v} | ({} if value is None else {"weight": value}) for u, v, value in edges]
    nodes, name = [{"id": i} for i in range(1, n + 1)], chance.choice(("links", "edges"))
    value = {"directed": True, "nodes": chance.choice((nodes, list(range(1, n + 1)))), name: links}
    return json.dumps(value, indent=chance.choice((None, 1))).split("\n"), {}, edges


KINDS = {
    "x.csv": _csv, "x.el": _list, "x.mtx": _mtx, "x.gr": _gr, "x.graph": _metis,
    "x.net": _net, "x.gml": _gml, "x.graphml": _graphml, "x.json": _json,
}  # fmt: skip


def dress_fault(seed: int, number: int, folder: Path) -> str | None:
    """The fault in reading a valid file, None where nothing is."""
    name, content, options, edges = dressed(random.Random(f"dress {seed} {number}"))
    path = folder / name
    path.write_bytes(content)
    meant = _sorted(edges)
    try:
        found = _sorted(arcs(tg.read(path, **options)))
    except Exception as fault:
        found = [f"{type(fault).__name__}: {fault}"]
    return None if found == meant else f"{content!r} {options}: {found}, and meant is {meant}"


# ---- graphs written and read ----------------------------------------------------------------------------------------


def random_graph(chance: random.Random) -> tg.Graph:
    """A graph of a few vertices, with any ids and weights."""
    n = chance.choice((0, 1, 2, 3, 5, 8))
    m = chance.randrange(12) if n else 0
    src, dst = ([chance.randrange(n) for _ in range(m)] for _ in range(2))
    weights = None
    if chance.random() < 0.7:
        dtype = getattr(torch, chance.choice(DTYPES))
        if dtype.is_floating_point:
            some = [0.0, -0.0, 1.0, 0.1, -2.5, 3.0, float("inf"), float("-inf"), float("nan"), 1e-5, 60000.0]
            weights = torch.tensor([chance.choice(some[: chance.choice((3, 11))]) for _ in range(m)], dtype=dtype)
        else:
            some = [0, 1, 7, torch.iinfo(dtype).max, torch.iinfo(dtype).min]
            weights = torch.tensor([chance.choice(some) for _ in range(m)], dtype=dtype)
    vertices: Any = None
    kind = chance.choice(("none", "integers", "labels", "digits", "plain"))
    if kind == "integers":
        some = [0, 1, 5, -3, 7, 2**40, -(2**63), 2**63 - 1, 100, 42]
        vertices = torch.tensor(chance.sample(some, n), dtype=torch.int64)
    elif kind != "none":
        pool = {
            "labels": LABELS,
            "digits": ["1", "2", "3", "007", "-4", "50", "6", "77"],
            "plain": LABELS[:3] + LABELS[7:9],
        }
        vertices = chance.sample(pool[kind] + [f"v{i}" for i in range(5)], n)
    return tg.Graph.from_edges(
        torch.tensor(src, dtype=torch.int64), torch.tensor(dst, dtype=torch.int64), weights,
        num_vertices=n, vertices=vertices, directed=chance.random() < 0.5,
    )  # fmt: skip


def trip_fault(seed: int, number: int, folder: Path) -> str | None:
    """The fault in writing a graph and reading it again, None where nothing is."""
    chance = random.Random(f"trip {seed} {number}")
    graph = random_graph(chance)
    format = chance.choice(tuple(FORMATS))
    codec = "" if format in BINARY else chance.choice(("", "", "", ".gz", ".zst", ".bz2", ".xz"))
    path = folder / f"t{number}{chance.choice(FORMATS[format])}{codec}"
    try:
        tg.write(graph, path)
    except tg.errors.ArgumentError:
        left = [each.name for each in folder.iterdir() if f"t{number}." in each.name]
        return f"refused, and {left} are there" if left else None
    except Exception as fault:
        return f"{graph}, {format}, written: {type(fault).__name__}: {fault}"
    try:
        found = tg.read(path, **({"directed": False} if format == "csv" and not graph.directed else {}))
    except Exception as fault:
        return f"{graph}, {format}, {_shown(graph)}, read: {type(fault).__name__}: {fault}"
    by_number = format in ("matrixmarket", "metis", "dimacs", "graph6", "gapbs")
    same = _sorted(arcs(found, by_number, graph)) == _sorted(arcs(graph, by_number, graph))
    kept = format not in ("edgelist", "csv", "parquet", "feather")
    if same and found.directed == graph.directed and (not kept or found.num_vertices == graph.num_vertices):
        return None
    return f"{graph}, {format}: {_shown(found)} for {_shown(graph)}"


def arcs(graph: tg.Graph, by_number: bool = False, like: tg.Graph | None = None) -> list[Edge]:
    """All arcs under their ids, or numbers, with their weights in the dtype of those of `like`."""
    ends = graph.to_edge_index()
    sides = [side.tolist() if by_number or not len(side) else graph.ids(side) for side in ends]
    names = [side.tolist() if isinstance(side, torch.Tensor) else list(side) for side in sides]
    weights = graph.weights
    if weights is not None and like is not None and like.weights is not None:
        weights = weights.to(like.weights.dtype)
    return list(zip(*names, [None] * len(names[0]) if weights is None else weights.tolist(), strict=True))


def _sorted(edges: list[Any]) -> list[str]:
    return sorted(map(repr, edges))


def _shown(graph: tg.Graph) -> str:
    return f"{arcs(graph)}, {'directed' if graph.directed else 'undirected'}"
