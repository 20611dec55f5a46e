"""What decodes the whole graph where its arcs are in a layout, as docs/limits.md lists it:
python tests/formats/decoding.py writes the list anew.

An algorithm, a program or a layer decodes where `Graph.decoded` or `Graph.to_csr` is called meanwhile of any graph in a
layout: of the one given, of its transpose, or of one derived from these.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

TESTS = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), str(TESTS / "own"), str(TESTS.parent)]

from programs import PROGRAMS  # noqa: E402
from test_smoke import ALGORITHMS, LAYERS, arguments, graphs  # noqa: E402

import tgraph as tg  # noqa: E402
from tgraph.core.graph import Graph  # noqa: E402
from tgraph.errors import ArgumentError, TGraphError  # noqa: E402
from tgraph.formats import LAYOUTS  # noqa: E402

PAGE = TESTS.parent / "docs" / "limits.md"
BLOCK = re.compile(r"(?s)(<!-- what decodes -->\n)(.*)(<!-- end -->)")
LINE = re.compile(r"- (Algorithms|Programs|Layers) in ([^:]*): ([^.]*)\.")
KINDS = (*(name for name in LAYOUTS if name != "csr"), "streamed")
EVERY = "every layout"
QUICK = {"node2vec": {"walks": 1}, "approximate_simrank": {"epsilon": 0.2}}
VARIANTS = ("SAGEConv max", *(f"{name} edge_attr" for name in ("GATConv", "GATv2Conv", "TransformerConv")))
VARIANTS += (*(f"{name} edge_weight" for name in ("GCNConv", "GraphConv")), "ResGatedGraphConv edge_attr")
OPTIONS = {"wsb": {"min_density": 0.0}, "ell": {"limit": 1e9}}


def held(graph: Graph, kind: str, folder: Path) -> Graph:
    """The graph in a layout, or streamed from a file of three blocks. Raises ArgumentError where it cannot hold it."""
    if kind != "streamed":
        return graph.to_format(kind, **OPTIONS.get(kind, {}))
    path = folder / f"{id(graph)}.tg"
    tg.stream.write_partitioned(graph, path, parts=3)
    return tg.open(path, memory="2MB")


@contextmanager
def watched() -> Iterator[list[Graph]]:
    """The graphs that are decoded within the context."""
    found: list[Graph] = []
    decode = Graph._decode
    Graph._decode = lambda graph: found.append(graph) or decode(graph)  # type: ignore[method-assign,func-returns-value]
    try:
        yield found
    finally:
        Graph._decode = decode  # type: ignore[method-assign]


def finished(result: Any) -> None:
    """Run a generator to its end."""
    for _ in result if inspect.isgenerator(result) else ():
        pass


def layer(name: str, option: str = "") -> Callable[[Graph], None]:
    """Forward and backward of a layer, with another reduction, or with data of the arcs."""

    def run(graph: Graph) -> None:
        options = {"edge_attr": {"edge_dim": 4}, "max": {"aggr": "max"}}.get(option, {})
        made = getattr(tg.nn, name)(*LAYERS[name], **options)
        x, m = torch.rand(graph.num_vertices, 4, requires_grad=True), graph.num_arcs
        kind = {"GINEConv": "edge_attr", "RGCNConv": "edge_type"}.get(name, option)
        of_arcs = {"edge_attr": torch.rand(m, 4), "edge_weight": torch.rand(m), "edge_type": torch.arange(m) % 2}
        made(x, graph, *([of_arcs[kind]] if kind in of_arcs else [])).square().sum().backward()

    return run


def calls() -> dict[str, dict[str, Callable[[Graph], Any]]]:
    """By topic and name, the functions of a graph."""
    algorithms = {
        name: lambda graph, name=name, call=call: finished(call(graph, **arguments(call, graph), **QUICK.get(name, {})))
        for name, call in ALGORITHMS.items()
    }
    programs = {name: lambda graph, make=make: tg.run(make(0), graph) for name, make in PROGRAMS.items()}
    layers = {name: layer(*name.split()) for name in (*LAYERS, *VARIANTS)}
    return {"Algorithms": algorithms, "Programs": programs, "Layers": layers}


def samples() -> list[Graph]:
    """Undirected and directed graphs with weights and without, one of them with self-loops."""
    undirected, directed, acyclic, path, chain = graphs()
    loops = tg.Graph.from_edges([0, 0, 1, 2, 2, 3], [0, 1, 2, 2, 3, 0], [1.0, 2, 3, 4, 5, 6], num_vertices=12)
    return [undirected, directed, chain, loops, path, acyclic]


def decoding(kind: str, folder: Path) -> dict[str, set[str]]:
    """By topic, what decodes graphs in a layout: of those that it takes, the first undirected and the first directed
    one, or for layers all."""
    given = []
    for graph in samples():
        with suppress(ArgumentError):
            given.append(held(graph, kind, folder))
    found: dict[str, set[str]] = {}
    for topic, functions in calls().items():
        found[topic] = set()
        for name, call in functions.items():
            seen: set[bool] = set()
            for graph in given:
                if graph.directed in seen and topic != "Layers":
                    continue
                graph.drop_caches()
                try:
                    with watched() as decoded:
                        call(graph)
                except (TGraphError, TypeError):  # it takes other graphs, or such with weights
                    continue
                seen.add(graph.directed)
                found[topic] |= {name} if decoded else set()
    return found


def block(measured: dict[str, dict[str, set[str]]]) -> str:
    """A line for each set of layouts in which something decodes."""
    lines = []
    for topic in calls():
        of_name: dict[str, list[str]] = {}
        for kind in KINDS:
            for name in measured[kind][topic]:
                of_name.setdefault(name, []).append(kind)
        by_kinds: dict[str, list[str]] = {}
        for name in sorted(of_name):
            kinds = EVERY if len(of_name[name]) == len(KINDS) else ", ".join(of_name[name])
            by_kinds.setdefault(kinds, []).append(f"`{name}`")
        lines += [f"- {topic} in {kinds}: {', '.join(by_kinds[kinds])}." for kinds in sorted(by_kinds)]
    return "".join(textwrap.fill(line, 120, subsequent_indent="  ") + "\n" for line in lines)


def listed(kind: str) -> dict[str, set[str]]:
    """As `decoding`, from the page."""
    found: dict[str, set[str]] = {topic: set() for topic in calls()}
    for topic, kinds, names in LINE.findall(BLOCK.search(PAGE.read_text(encoding="utf-8"))[2]):  # type: ignore[index]
        if kinds == EVERY or kind in re.split(r",\s+", kinds):
            found[topic] |= {" ".join(name.split()).strip("`") for name in names.split(",")}
    return found


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        measured = {kind: decoding(kind, Path(temporary)) for kind in KINDS}
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda match: match[1] + block(measured) + match[3], text), encoding="utf-8")
