"""What a run found of paths, in lines that a person can check, and the tables that it writes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import tgraph as tg

SHOWN = 12  # vertices of a path in a line


def path(graph: tg.Graph, vertices: Tensor) -> str:
    """The vertices of a path, those in the middle of a long one left out."""
    if not len(vertices):
        return "there is no path"
    return f"{len(vertices) - 1:,} arcs: {_listed(graph, vertices)}"


def cycle(graph: tg.Graph, vertices: Tensor) -> str:
    """The vertices of a cycle of negative weight."""
    if not len(vertices):
        return "no cycle has a negative weight"
    return f"a cycle of {len(vertices):,} vertices has a negative weight: {_listed(graph, vertices)}"


def path_frame(graph: tg.Graph, vertices: Tensor) -> Any:
    """A table with a row for each vertex of a path, in its order: the original id."""
    return graph.frame(vertex_index=torch.arange(graph.num_vertices)).iloc[vertices.tolist()][["vertex"]]


def tree(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    """How many vertices are reached, and the range of their distances."""
    distance, parent = found
    reached = distance[parent >= 0].tolist()
    return f"reached {len(reached):,} of {graph.num_vertices:,} vertices, distances {min(reached)} to {max(reached)}"


def tree_frame(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> Any:
    """A table with a row for each vertex that is reached: its original id, its distance, and the id before it."""
    distance, parent = found
    table = graph.frame(distance=distance, parent=parent)
    table = table[table["parent"] >= 0].copy()
    table["parent"] = graph.frame(distance=distance)["vertex"].to_numpy()[table["parent"].to_numpy()]
    return table


def arcs(graph: tg.Graph, found: tg.Graph) -> str:
    """How many arcs were found."""
    return f"{found.num_arcs:,} of {graph.num_arcs:,} arcs"


def arc_frame(graph: tg.Graph, found: tg.Graph) -> Any:
    """A table with a row for each arc that was found."""
    return found.to_pandas()


def widths(graph: tg.Graph, width: Tensor) -> str:
    """How many vertices are reached, and the width of the narrowest path to one of them."""
    reached = width[width > (-torch.inf if width.is_floating_point() else torch.iinfo(width.dtype).min)]
    return f"reached {len(reached):,} of {graph.num_vertices:,} vertices, the narrowest path {reached.min().item():,}"


def _listed(graph: tg.Graph, vertices: Tensor) -> str:
    half = SHOWN // 2
    ids = graph.ids(vertices)
    names = [str(name) for name in (ids.tolist() if isinstance(ids, Tensor) else ids)]
    shown = names if len(names) <= SHOWN else [*names[:half], "...", *names[-half:]]
    return " -> ".join(shown)
