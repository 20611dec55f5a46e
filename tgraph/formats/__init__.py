"""Storage layouts of the adjacency: the same graph and the same results, with the arcs stored in different formats."""

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
from tgraph.formats.elias_fano import EliasFano
from tgraph.formats.ell import ELL
from tgraph.formats.layout import Layout
from tgraph.formats.sell import SELL
from tgraph.formats.wsb import WSB
from tgraph.progress import busy

__all__ = ["LAYOUTS", "Layout", "convert", "known", "load", "make"]

_LAYOUTS: tuple[type[Layout], ...] = (COO, CSR, CSC, DCSR, DCSC, ELL, SELL, WSB, EliasFano, Virtual, CBM)
LAYOUTS = {layout.name: layout for layout in _LAYOUTS}


def known(name: str) -> type[Layout]:
    """The layout called `name`. Raises ArgumentError for an unknown one.

    >>> from tgraph import formats
    >>> formats.known("sell").__name__
    'SELL'
    """
    if name not in LAYOUTS:
        raise ArgumentError(f"layout: {name!r} is not one of {', '.join(map(repr, LAYOUTS))}")
    return LAYOUTS[name]


def make(name: str, graph: Graph, **options: Any) -> Layout:
    """The layout `name` with the arcs of a graph in CSR; `options` are those of its `from_graph`.

    Raises ArgumentError for an unknown name or option, and for a graph that the layout cannot hold.

    >>> from tgraph import formats
    >>> graph = tg.generators.complete(100)
    >>> formats.make("elias_fano", graph).nbytes, graph.nbytes
    (3316, 40408)
    """
    return known(name).from_graph(graph, **options)


def convert(graph: Graph, name: str, **options: Any) -> Graph:
    """The same graph with its arcs in another layout, which every program accepts.

    name : one of `tgraph.formats.LAYOUTS`, such as "sell" or "virtual", or "csr" for the way back. The `options`
    are those of the layout's `from_graph`. `tgraph.advise` measures which of them suits a graph.
    Raises ArgumentError for an unknown name or option, and for a graph that the layout cannot hold.

    >>> graph = tg.generators.grid2d(30, 30)
    >>> sliced = graph.to_format("sell", C=8)
    >>> sliced.layout.name, bool((tg.algorithms.bfs(sliced, 0) == tg.algorithms.bfs(graph, 0)).all())
    ('sell', True)
    """
    plain = graph.to_csr()
    if name == "csr" and not options:
        return plain
    with busy(f"layout {name}"):
        same = Graph.of_storage(make(name, plain, **options), plain._ids, plain.directed, plain.order)
        return same.with_columns_of(graph)


def load(
    name: str, tensors: dict[str, Tensor], options: dict[str, Any], vertices: Any, directed: bool, order: Tensor | None
) -> Graph:
    """The graph in the layout `name` of stored `tensors` and `options`, with its original ids `vertices`, whether it is
    `directed`, and the `order` of a permuted one. Raises ArgumentError where they are inconsistent.

    >>> from tgraph import formats
    >>> layout = tg.generators.cycle(4).to_format("sell").layout
    >>> formats.load("sell", layout.tensors(), layout.options(), None, False, None).num_edges
    4
    """
    return Graph.of_storage(known(name).from_tensors(tensors, options), vertices, directed, order)


Graph.to_format = convert
