"""What a run found of paths, in lines that a person can check, and the tables that it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tgraph as tg
from tgraph.cli import report

if TYPE_CHECKING:
    from torch import Tensor

SHOWN = 12  # vertices of a path in a line


def path(graph: tg.Graph, vertices: Tensor) -> str:
    """The vertices of a path, those in the middle of a long one left out."""
    if not len(vertices):
        return "there is no path"
    return f"{len(vertices) - 1:,} arcs: {_listed(graph, vertices)}"


def paths(graph: tg.Graph, found: list[tuple[Tensor, float]]) -> str:
    """A line for each path: its length and its vertices."""
    return "\n".join(f"length {length:,}, {path(graph, vertices)}" for vertices, length in found) or "there is no path"


def paths_frame(graph: tg.Graph, found: list[tuple[Tensor, float]]) -> Any:
    """A table with a row for each vertex of each path, in its order: the number of the path, its length, the original
    id."""

    import pandas
    import torch

    tables = [path_frame(graph, vertices).assign(path=i, length=length) for i, (vertices, length) in enumerate(found)]
    return pandas.concat(tables) if tables else path_frame(graph, torch.empty(0))


def flow(graph: tg.Graph, found: tuple[float, Tensor]) -> str:
    """The value of a flow, and how many arcs carry it."""
    value, carried = found
    return f"a flow of {value:,} along {int((carried > 0).sum()):,} arcs"


def flow_frame(graph: tg.Graph, found: tuple[float, Tensor]) -> Any:
    """A table with a row for each arc that carries a flow: the original ids of its ends, and the flow."""
    graph = graph.decoded()
    arcs = tg.Graph(graph.offset, graph.neighbors, found[1], vertices=graph.vertices).to_pandas()
    return arcs[arcs["weight"] > 0].rename(columns={"weight": "flow"})


def cut(graph: tg.Graph, found: tuple[float, Tensor]) -> str:
    """The capacity of a cut, and how many vertices are on the source's side."""
    value, side = found
    return f"a cut of capacity {value:,}, {int(side.sum()):,} of {graph.num_vertices:,} vertices on the source's side"


def cut_frame(graph: tg.Graph, found: tuple[float, Tensor]) -> Any:
    """A table with a row for each vertex: its original id, and whether it is on the source's side."""
    return graph.frame(source_side=found[1])


def global_cut(graph: tg.Graph, found: tuple[float, Tensor]) -> str:
    """The weight of a cut of the whole graph, and the size of its smaller side."""
    value, side = found
    return f"a cut of weight {value:,}, {int(side.sum()):,} of {graph.num_vertices:,} vertices on the one side"


def global_cut_frame(graph: tg.Graph, found: tuple[float, Tensor]) -> Any:
    """A table with a row for each vertex: its original id, and whether it is on that side."""
    return graph.frame(side=found[1])


def pairs(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    """How many pairs of vertices have a path between them, and the longest of the shortest."""

    import torch

    distance = found[0]
    reached = distance[distance < torch.inf]
    farthest = f", the farthest at distance {reached.max().item():g}" if len(reached) else ""
    return f"paths between {len(reached):,} of {distance.numel():,} pairs{farthest}"


def pairs_frame(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> Any:
    """A table with a row for each pair that has a path: the original ids of its ends, its distance, and the id of the
    vertex before the last, its own for a vertex and itself."""

    import pandas
    import torch

    distance, before = (part.cpu() for part in found)
    source, target = (distance < torch.inf).nonzero().unbind(1)
    last = torch.where(source == target, source, before[source, target])
    ids = graph.frame(distance=torch.zeros(graph.num_vertices))["vertex"].to_numpy()
    ends = {name: ids[index.numpy()] for name, index in (("source", source), ("target", target), ("before", last))}
    return pandas.DataFrame({**ends, "distance": distance[source, target].numpy()})


def cycle(graph: tg.Graph, vertices: Tensor) -> str:
    """The vertices of a cycle of negative weight."""
    if not len(vertices):
        return "no cycle has a negative weight"
    return f"a cycle of {len(vertices):,} vertices has a negative weight: {_listed(graph, vertices)}"


def path_frame(graph: tg.Graph, vertices: Tensor) -> Any:
    """A table with a row for each vertex of a path, in its order: the original id."""

    import torch

    return graph.frame(vertex_index=torch.arange(graph.num_vertices)).iloc[vertices.tolist()][["vertex"]]


def members(graph: tg.Graph, vertices: Tensor) -> str:
    """How many vertices there are, and the first of them."""
    names = ", ".join(report.names(graph, vertices[:SHOWN]))
    return f"{len(vertices):,} of {graph.num_vertices:,} vertices: {names}{', ...' if len(vertices) > SHOWN else ''}"


def span(graph: tg.Graph, eccentricity: Tensor) -> str:
    """The least and the largest eccentricity."""
    return f"radius {eccentricity.min().item():,}, diameter {eccentricity.max().item():,}"


def number(name: str) -> Callable[[tg.Graph, float], str]:
    """A number found for the whole graph."""
    return lambda graph, value: f"{name} {value:,}"


def number_frame(name: str) -> Callable[[tg.Graph, float], Any]:
    """A table with that number."""

    def frame(graph: tg.Graph, value: float) -> Any:
        import pandas

        return pandas.DataFrame({name: [value]})

    return frame


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

    import torch

    reached = width[width > (-torch.inf if width.is_floating_point() else torch.iinfo(width.dtype).min)]
    return f"reached {len(reached):,} of {graph.num_vertices:,} vertices, the narrowest path {reached.min().item():,}"


def _listed(graph: tg.Graph, vertices: Tensor) -> str:
    half = SHOWN // 2
    names = report.names(graph, vertices)
    shown = names if len(names) <= SHOWN else [*names[:half], "...", *names[-half:]]
    return " -> ".join(shown)
