"""Results with a value for each vertex: scores, distances, groups, points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tgraph as tg
from tgraph.cli.results.result import Line, Result, Table, largest, names, share, shown, sizes
from tgraph.cli.saying import grouped

if TYPE_CHECKING:
    import pandas
    from torch import Tensor


def by_vertex(name: str, line: Line) -> Result:
    """Values [n], in a column of this name."""
    return Result(line, lambda graph, values: graph.frame(**{name: values}))


def scores(name: str) -> Result:
    """Scores [n]; the line has the highest."""
    return by_vertex(name, top)


def top(graph: tg.Graph, score: Tensor) -> str:
    """The five vertices of the highest scores."""
    form = ".3g" if score.is_floating_point() else ","
    return "top 5: " + ", ".join(f"{shown(name)} ({value:{form}})" for name, value in graph.top(score, 5))


def _hubs(graph: tg.Graph, score: dict[str, Tensor]) -> str:
    best = {name: ", ".join(shown(vertex) for vertex, _ in graph.top(score[name], 5)) for name in ("hub", "authority")}
    return f"top 5 hubs: {best['hub']}; authorities: {best['authority']}"


def _triangles(graph: tg.Graph, triangles: Tensor) -> str:
    counted = int(triangles.sum()) // 3
    return f"{grouped(counted)} {'triangle' if counted == 1 else 'triangles'}; {top(graph, triangles)}"


def _clustering(graph: tg.Graph, coefficient: Tensor) -> str:
    average = float(coefficient.mean()) if len(coefficient) else 0.0
    return f"{average:.4g} on average; {top(graph, coefficient)}"


def _cores(graph: tg.Graph, core: Tensor) -> str:
    deepest = largest(core)
    return f"core numbers up to {deepest}, that of {share(graph, int((core == deepest).sum()))}"


HUBS = Result(_hubs, lambda graph, score: graph.frame(**score))
TRIANGLES = by_vertex("triangles", _triangles)
CLUSTERING = by_vertex("clustering", _clustering)
CORES = by_vertex("core", _cores)

# ---- distances ----------------------------------------------------------------------------------------------------


def _depths(graph: tg.Graph, depth: Tensor) -> str:
    return f"reached {share(graph, int((depth >= 0).sum()))}, depth {largest(depth)}"


def _distances(graph: tg.Graph, distance: Tensor) -> str:
    reached = (distance >= 0) & (distance != float("inf"))
    hops = ", counting hops: the graph has no weights" if graph.weight_dtype is None else ""
    farthest = largest(distance[reached])
    return f"reached {share(graph, int(reached.sum()))}, the farthest at distance {farthest}{hops}"


def _widths(graph: tg.Graph, width: Tensor) -> str:
    import torch

    reached = width[width > (-torch.inf if width.is_floating_point() else torch.iinfo(width.dtype).min)]
    return f"reached {share(graph, len(reached))}, the narrowest path {grouped(reached.min().item())}"


def _span(graph: tg.Graph, eccentricity: Tensor) -> str:
    return f"radius {grouped(eccentricity.min().item())}, diameter {grouped(eccentricity.max().item())}"


def _tree(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    distance, parent = found
    reached = distance[parent >= 0].tolist()
    return f"reached {share(graph, len(reached))}, distances {min(reached)} to {max(reached)}"


def _tree_table(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> pandas.DataFrame:
    table = graph.frame(distance=found[0], parent=found[1])
    reached = table["parent"].to_numpy() >= 0
    return _named("parent", table)[reached]


DEPTHS = by_vertex("depth", _depths)
DISTANCES = by_vertex("distance", _distances)
WIDTHS = by_vertex("width", _widths)
SPAN = by_vertex("eccentricity", _span)
TREE = Result(_tree, _tree_table)

# ---- groups -------------------------------------------------------------------------------------------------------


def groups(one: str, several: str) -> Result:
    """Groups [n], each named by the index of one of its vertices; the table has its original id."""
    return Result(lambda graph, group: sizes(graph, group.unique(return_counts=True)[1], one, several), _by_group(one))


def _by_group(name: str) -> Table:
    return lambda graph, group: _named(name, graph.frame(**{name: group}))


def _named(name: str, table: pandas.DataFrame) -> pandas.DataFrame:
    """The table with original ids in place of the vertices in one of its columns."""
    table[name] = table["vertex"].to_numpy()[table[name].to_numpy()]
    return table


def _communities(graph: tg.Graph, community: Tensor) -> str:
    modularity = tg.algorithms.modularity(graph, community)
    return f"{COMMUNITIES.line(graph, community)}, modularity {modularity:.4f} of edges without weights"


def _attracting(graph: tg.Graph, label: Tensor) -> str:
    inside = label >= 0
    return (
        f"{grouped(len(label[inside].unique()))} attracting components of {grouped(int(inside.sum()))} vertices in all"
    )


def _condensed(graph: tg.Graph, found: tuple[tg.Graph, Tensor]) -> str:
    components, arcs = grouped(found[0].num_vertices), grouped(found[0].num_arcs)
    return f"{components} strongly connected components, {arcs} arcs between them"


def colors(name: str) -> Result:
    """Colours [n], from 0 on."""
    return by_vertex(name, lambda graph, color: sizes(graph, color.bincount(), "colour", of_largest="one of them for"))


COMPONENTS = groups("component", "components")
COMMUNITIES = groups("community", "communities")
PARTITION = Result(_communities, _by_group("community"))
ATTRACTING = Result(_attracting, lambda graph, label: COMPONENTS.table(graph, label)[(label >= 0).cpu().numpy()])
CONDENSED = Result(_condensed, lambda graph, found: graph.frame(component=found[1]))
GENERATIONS = by_vertex("generation", lambda graph, found: sizes(graph, found.bincount(), "generation"))

# ---- sides of a cut -----------------------------------------------------------------------------------------------


def cut(name: str, measure: str, side: str) -> Result:
    """(value, mask) of a cut, in a column of this name."""

    def line(graph: tg.Graph, found: tuple[float, Tensor]) -> str:
        return f"a cut of {measure} {grouped(found[0])}, {share(graph, int(found[1].sum()))} on the {side}"

    return Result(line, lambda graph, found: graph.frame(**{name: found[1]}))


# ---- points -------------------------------------------------------------------------------------------------------


def _points(graph: tg.Graph, found: Tensor) -> str:
    """The numbers of points and of their dimensions, and the two of the first thousand points whose directions are the
    nearest."""
    import torch

    counted = f"{grouped(len(found))} points of {grouped(found.shape[1])} dimensions"
    if min(found.shape) < 1 or len(found) < 2:
        return counted
    directions = torch.nn.functional.normalize(found[:1000], dim=1)
    alike = (directions @ directions.T).fill_diagonal_(-torch.inf)
    best = int(alike.argmax())
    first, second = names(graph, torch.tensor([best // len(alike), best % len(alike)]))
    return f"{counted}; {first} and {second} are near each other"


def _coordinates(graph: tg.Graph, found: Tensor) -> pandas.DataFrame:
    return graph.frame(**{f"x{i}": column for i, column in enumerate(found.unbind(1))})


def _spectrum(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    return f"eigenvalues {', '.join(f'{value:.4g}' for value in found[1].tolist())}; {_points(graph, found[0])}"


POINTS = Result(_points, _coordinates)
SPECTRUM = Result(_spectrum, lambda graph, found: _coordinates(graph, found[0]))
