"""Layouts of an adjacency: one graph, many ways to store its arcs, the same answers."""

from __future__ import annotations

from typing import Any

from tgraph.errors import ArgumentError
from tgraph.formats.coo import COO
from tgraph.formats.csc import CSC
from tgraph.formats.csr import CSR
from tgraph.formats.dcsc import DCSC
from tgraph.formats.dcsr import DCSR
from tgraph.formats.ell import ELL
from tgraph.formats.layout import Layout
from tgraph.formats.sell import SELL
from tgraph.graph import Graph

LAYOUTS: dict[str, type[Layout]] = {layout.name: layout for layout in (COO, CSR, CSC, DCSR, DCSC, ELL, SELL)}


def make(name: str, graph: Graph, **options: Any) -> Layout:
    """The layout of that name, of the arcs of a graph in CSR; the options are those of its `from_graph`.

    Raises ArgumentError for an unknown name or option, and for a graph that the layout cannot hold.
    """
    if name not in LAYOUTS:
        raise ArgumentError(f"layout: {name!r} is not one of {', '.join(map(repr, LAYOUTS))}")
    return LAYOUTS[name].from_graph(graph, **options)
