"""What a run found of components, orders and colours, in lines that a person can check, and the tables that it
writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tgraph as tg
from tgraph.cli import report
from tgraph.cli.routes import path_frame

if TYPE_CHECKING:
    from torch import Tensor

SHOWN = 10  # of a list, in a line


def attracting(graph: tg.Graph, label: Tensor) -> str:
    """How many components attract, and their vertices."""
    inside = label >= 0
    return f"{len(label[inside].unique()):,} attracting components of {int(inside.sum()):,} vertices in all"


def attracting_frame(graph: tg.Graph, label: Tensor) -> Any:
    """A table with a row for each vertex of such a component: its id, and that of the component."""
    table = report.group_column("component")(graph, label)
    return table[(label >= 0).cpu().numpy()]


def condensed(graph: tg.Graph, found: tuple[tg.Graph, Tensor]) -> str:
    """The size of the condensation."""
    return f"{found[0].num_vertices:,} strongly connected components, {found[0].num_arcs:,} arcs between them"


def condensed_frame(graph: tg.Graph, found: tuple[tg.Graph, Tensor]) -> Any:
    """A table with a row for each vertex: its id, and the number of its component."""
    return graph.frame(component=found[1])


def sets(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    """How many biconnected components there are, and the size of the largest."""
    size = found[0].diff()
    largest = int(size.max()) if len(size) else 0
    return f"{len(size):,} biconnected components, the largest of {largest:,} of {graph.num_vertices:,} vertices"


def sets_frame(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> Any:
    """A table with a row for each vertex of each component: the number of the component and the id."""

    import pandas
    import torch

    offset, vertices = found
    number = torch.arange(len(offset) - 1, device=offset.device).repeat_interleave(offset.diff())
    return pandas.DataFrame(
        {"component": number.cpu().numpy(), "vertex": path_frame(graph, vertices)["vertex"].to_numpy()}
    )


def vertices(graph: tg.Graph, found: Tensor) -> str:
    """How many vertices were found, and the first of them."""
    more = ", ..." if len(found) > SHOWN else ""
    return f"{len(found):,} of {graph.num_vertices:,} vertices: " + ", ".join(report.names(graph, found[:SHOWN])) + more


def pairs(graph: tg.Graph, found: Tensor) -> str:
    """How many edges were found, and the first of them."""
    shown = zip(*(report.names(graph, end[:SHOWN]) for end in found), strict=True)
    more = ", ..." if found.shape[1] > SHOWN else ""
    return f"{found.shape[1]:,} of {graph.num_edges:,} edges: " + ", ".join(f"{u} - {v}" for u, v in shown) + more


def pairs_frame(graph: tg.Graph, found: Tensor) -> Any:
    """A table with a row for each edge that was found: the ids of its ends."""

    import pandas

    frames = (path_frame(graph, end)["vertex"].to_numpy() for end in found)
    return pandas.DataFrame(dict(zip(("source", "target"), frames, strict=True)))


def generations(graph: tg.Graph, generation: Tensor) -> str:
    """How many generations there are, and the size of the largest."""
    size = generation.bincount()
    largest = int(size.max()) if len(size) else 0
    return f"{len(size):,} generations, the largest of {largest:,} of {graph.num_vertices:,} vertices"


def cycle(graph: tg.Graph, found: Tensor) -> str:
    """The vertices of a cycle, or that there is none."""
    return f"a cycle of {vertices(graph, found)}" if len(found) else "there is no such cycle"


def colors(graph: tg.Graph, color: Tensor) -> str:
    """How many colours there are, and the vertices of the most frequent one."""
    size = color.bincount()
    largest = int(size.max()) if len(size) else 0
    return f"{len(size):,} colours, one of them for {largest:,} of {graph.num_vertices:,} vertices"
