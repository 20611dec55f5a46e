"""Results that are some of the vertices: subsets, paths, cycles, cliques, walks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tgraph as tg
from tgraph.cli.results.result import SHOWN, Result, frame, ids, listed, names, numbered, share, sizes
from tgraph.cli.results.vertices import top
from tgraph.cli.saying import grouped

if TYPE_CHECKING:
    import pandas
    from torch import Tensor


def _table(graph: tg.Graph, vertices: Tensor) -> pandas.DataFrame:
    return frame(vertex=ids(graph, vertices))


def subset(what: str) -> Result:
    """Vertices [k] that are one of its kind."""
    return Result(lambda graph, chosen: f"{what} of {share(graph, len(chosen))}", _table)


def _members(graph: tg.Graph, vertices: Tensor) -> str:
    return f"{share(graph, len(vertices))}: {listed(names(graph, vertices[:SHOWN]), len(vertices))}"


def _densest(graph: tg.Graph, found: tuple[float, Tensor]) -> str:
    return f"{found[0]:.4g} edges for each vertex, among {share(graph, len(found[1]))}"


VERTICES = Result(_members, _table)
DENSEST = Result(_densest, lambda graph, found: _table(graph, found[1]))

# ---- paths, cycles and walks --------------------------------------------------------------------------------------


def _path(graph: tg.Graph, vertices: Tensor) -> str:
    return f"{grouped(len(vertices) - 1)} arcs: {_chain(graph, vertices)}" if len(vertices) else "there is no path"


def _chain(graph: tg.Graph, vertices: Tensor) -> str:
    """The vertices of a path, those in the middle of a long one left out."""
    shown, half = names(graph, vertices), SHOWN // 2
    return " -> ".join(shown if len(shown) <= SHOWN else [*shown[:half], "...", *shown[-half:]])


def _paths(graph: tg.Graph, found: list[tuple[Tensor, float]]) -> str:
    return (
        "\n".join(f"length {grouped(length)}, {_path(graph, vertices)}" for vertices, length in found)
        or "there is no path"
    )


def _paths_table(graph: tg.Graph, found: list[tuple[Tensor, float]]) -> pandas.DataFrame:
    path = numbered([len(vertices) for vertices, _ in found])
    vertex = [vertex for vertices, _ in found for vertex in ids(graph, vertices)]
    return frame(vertex=vertex, path=path, length=[found[number][1] for number in path])


def _cycle(graph: tg.Graph, vertices: Tensor) -> str:
    return f"a cycle of {_members(graph, vertices)}" if len(vertices) else "there is no such cycle"


def _negative_cycle(graph: tg.Graph, vertices: Tensor) -> str:
    if not len(vertices):
        return "no cycle has a negative weight"
    return f"a cycle of {grouped(len(vertices))} vertices has a negative weight: {_chain(graph, vertices)}"


def _walks(graph: tg.Graph, found: Tensor) -> str:
    visits = found.flatten().bincount(minlength=graph.num_vertices)
    return f"{grouped(len(found))} walks of {grouped(found.shape[1] - 1)} steps; visits, {top(graph, visits)}"


def _walks_table(graph: tg.Graph, found: Tensor) -> pandas.DataFrame:
    walks, steps = found.shape
    walk = [number for number in range(walks) for _ in range(steps)]
    return frame(walk=walk, step=[*range(steps)] * walks, vertex=ids(graph, found.flatten()))


PATH = Result(_path, _table)
PATHS = Result(_paths, _paths_table)
CYCLE = Result(_cycle, _table)
NEGATIVE_CYCLE = Result(_negative_cycle, _table)
WALKS = Result(_walks, _walks_table)

# ---- many subsets -------------------------------------------------------------------------------------------------


def parts(column: str, one: str) -> Result:
    """(offset, vertices) of several subsets, whose numbers are in a column of this name."""

    def line(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
        return sizes(graph, found[0].diff(), one)

    def table(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> pandas.DataFrame:
        return frame(**{column: numbered(found[0].diff().tolist())}, vertex=ids(graph, found[1]))

    return Result(line, table)
