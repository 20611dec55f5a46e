"""Results with a value for each edge, or that are some of the edges, or pairs of vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tgraph as tg
from tgraph.cli.results.result import SHOWN, Result, frame, ids, listed, names, shown
from tgraph.cli.saying import grouped

if TYPE_CHECKING:
    import pandas
    from torch import Tensor


def _arcs(graph: tg.Graph) -> tuple[Tensor, Tensor]:
    """(source, target) of every stored arc."""
    import torch

    held = graph.decoded()
    source = torch.arange(graph.num_vertices, device=graph.device).repeat_interleave(held.out_degree)
    return source, held.neighbors.to(torch.int64)


def _once(graph: tg.Graph) -> Tensor:
    """The position of one arc of each edge."""
    source, target = _arcs(graph)
    return ((source <= target) | graph.directed).nonzero().flatten()


def _ends(graph: tg.Graph, position: Tensor) -> dict[str, list]:
    """The columns of both ends of the arcs at these positions."""
    return {name: ids(graph, end[position]) for name, end in zip(("source", "target"), _arcs(graph), strict=True)}


def by_edge(name: str) -> Result:
    """Values [m] of the arcs, in a column of this name; an undirected edge is listed once."""

    def line(graph: tg.Graph, value: Tensor) -> str:
        best = _once(graph)
        best = best[value[best].argsort(descending=True, stable=True)[:5]]
        named = zip(*_ends(graph, best).values(), value[best].tolist(), strict=True)
        return "top 5: " + ", ".join(f"{shown(u)} - {shown(v)} ({number:.3g})" for u, v, number in named)

    def table(graph: tg.Graph, value: Tensor) -> pandas.DataFrame:
        position = _once(graph)
        return frame(**_ends(graph, position), **{name: value[position]})

    return Result(line, table)


def _trusses(graph: tg.Graph, truss: Tensor) -> str:
    largest = int(truss.max()) if len(truss) else 0
    return f"truss numbers up to {largest}, that of {grouped(int((truss == largest).sum()) // 2)} edges"


def _trusses_table(graph: tg.Graph, truss: Tensor) -> pandas.DataFrame:
    return frame(**_ends(graph, (truss >= 0).nonzero().flatten()), truss=truss)


def _flow(graph: tg.Graph, found: tuple[float, Tensor]) -> str:
    return f"a flow of {grouped(found[0])} along {grouped(int((found[1] > 0).sum()))} arcs"


def _flow_table(graph: tg.Graph, found: tuple[float, Tensor]) -> pandas.DataFrame:
    carrying = (found[1] > 0).nonzero().flatten()
    return frame(**_ends(graph, carrying), flow=found[1][carrying])


TRUSSES = Result(_trusses, _trusses_table)
FLOW = Result(_flow, _flow_table)

# ---- edges that were chosen ---------------------------------------------------------------------------------------


def _pairs(graph: tg.Graph, found: Tensor) -> str:
    named = zip(*(names(graph, end[:SHOWN]) for end in found), strict=True)
    chosen = listed([f"{u} - {v}" for u, v in named], found.shape[1])
    return f"{grouped(found.shape[1])} of {grouped(graph.num_edges)} edges: {chosen}"


def _pairs_table(graph: tg.Graph, found: Tensor) -> pandas.DataFrame:
    return frame(source=ids(graph, found[0]), target=ids(graph, found[1]))


def _matching(graph: tg.Graph, mate: Tensor) -> str:
    matched = int((mate >= 0).sum())
    return f"{grouped(matched // 2)} edges, {grouped(graph.num_vertices - matched)} vertices are left alone"


def _matching_table(graph: tg.Graph, mate: Tensor) -> pandas.DataFrame:
    import torch

    first = (mate > torch.arange(len(mate), device=mate.device)).nonzero().flatten()
    return frame(vertex=ids(graph, first), mate=ids(graph, mate[first]))


PAIRS = Result(_pairs, _pairs_table)
MATCHING = Result(_matching, _matching_table)

# ---- all pairs of vertices ----------------------------------------------------------------------------------------


def _distances(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    distance = found[0]
    reached = distance[distance < float("inf")]
    farthest = f", the farthest at distance {reached.max().item():g}" if len(reached) else ""
    return f"paths between {grouped(len(reached))} of {grouped(distance.numel())} pairs{farthest}"


def _distances_table(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> pandas.DataFrame:
    """A row for each pair that a path joins; the vertex before the last is the only one of a path without arcs."""
    distance, before = found
    source, target = (distance < float("inf")).nonzero().unbind(1)
    before = before[source, target].where(source != target, source)
    ends = {name: ids(graph, end) for name, end in (("source", source), ("target", target), ("before", before))}
    return frame(**ends, distance=distance[source, target])


def _similar(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> str:
    table = _similar_table(graph, found)
    if not len(table):
        return "no two vertices have a neighbour in common"
    best = table.iloc[table["similarity"].to_numpy().argsort(kind="stable")[::-1][:5]].itertuples(index=False)
    return "top 5: " + ", ".join(f"{shown(vertex)} - {shown(other)} ({score:.3g})" for vertex, other, score in best)


def _similar_table(graph: tg.Graph, found: tuple[Tensor, Tensor]) -> pandas.DataFrame:
    others, scores = found
    vertex, rank = (others >= 0).nonzero().unbind(1)
    return frame(vertex=ids(graph, vertex), other=ids(graph, others[vertex, rank]), similarity=scores[vertex, rank])


def _best(similarity: Tensor, count: int = 10) -> tuple[Tensor, Tensor]:
    """The others of the highest scores above 0 for each vertex, and these, as `most_similar` has them."""
    scores = similarity.clone().fill_diagonal_(0)
    best, others = (part[:, :count] for part in scores.sort(stable=True, dim=1, descending=True))
    return others.masked_fill(best <= 0, -1), best


ALL_DISTANCES = Result(_distances, _distances_table)
SIMILAR = Result(_similar, _similar_table)
MATRIX = Result(
    lambda graph, found: _similar(graph, _best(found)), lambda graph, found: _similar_table(graph, _best(found))
)
