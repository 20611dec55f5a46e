"""Layouts of an adjacency: one graph, many ways to store its arcs, the same answers."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats.coo import COO
from tgraph.formats.csr import CSC, CSR
from tgraph.formats.dag.cbm import CBM
from tgraph.formats.dag.virtual import Virtual
from tgraph.formats.dcsr import DCSC, DCSR
from tgraph.formats.ell import ELL
from tgraph.formats.graph import FormattedGraph
from tgraph.formats.layout import Layout
from tgraph.formats.sell import SELL
from tgraph.formats.wsb import WSB

__all__ = ["LAYOUTS", "FormattedGraph", "Layout", "convert", "known", "load", "make"]

_LAYOUTS: tuple[type[Layout], ...] = (COO, CSR, CSC, DCSR, DCSC, ELL, SELL, WSB, Virtual, CBM)
LAYOUTS = {layout.name: layout for layout in _LAYOUTS}


def known(name: str) -> type[Layout]:
    """The layout of that name. Raises ArgumentError for an unknown one."""
    if name not in LAYOUTS:
        raise ArgumentError(f"layout: {name!r} is not one of {', '.join(map(repr, LAYOUTS))}")
    return LAYOUTS[name]


def make(name: str, graph: Graph, **options: Any) -> Layout:
    """The layout of that name, of the arcs of a graph in CSR; the options are those of its `from_graph`.

    Raises ArgumentError for an unknown name or option, and for a graph that the layout cannot hold.
    """
    return known(name).from_graph(graph, **options)


def convert(graph: Graph, name: str, **options: Any) -> Graph:
    """The same graph with its arcs in another layout; see `Graph.to_format`."""
    plain = graph.to_csr() if isinstance(graph, FormattedGraph) else graph
    if name == "csr" and not options:
        return plain
    return FormattedGraph(make(name, plain, **options), plain._ids, plain.directed, plain.order)


def load(
    name: str, tensors: dict[str, Tensor], options: dict[str, Any], vertices: Any, directed: bool, order: Tensor | None
) -> Graph:
    """The graph of a layout whose tensors and options were stored. Raises ArgumentError where they do not fit."""
    return FormattedGraph(known(name).from_tensors(tensors, options), vertices, directed, order)
