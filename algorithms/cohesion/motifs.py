"""Motifs: how many sets of three or four vertices induce each kind of subgraph.

Vertices that are joined in a certain way, possibly with further edges among them, are counted by formulas from degrees,
triangles, squares and cliques; those with exactly these edges follow by subtraction (Ahmed et al., "Efficient graphlet
counting for large networks", ICDM 2015; Pinar, Seshadhri and Vishal, "ESCAPE", WWW 2017). The census of directed triads
counts paths of two arcs by the degrees of their middle, and takes away those that a triangle closes, in the time of
listing triangles, O(m^1.5), where looking at all pairs of neighbours takes more (Batagelj and Mrvar, Social Networks
2001).
"""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

import tgraph as tg

TRIADS = (
    *("003", "012", "102", "021D", "021U", "021C", "111D", "111U"),
    *("030T", "030C", "201", "120D", "120U", "120C", "210", "300"),
)


def motif_counts(graph: tg.Graph, size: int = 4) -> dict[str, int]:
    """Number of connected induced subgraphs of each kind: of `size` vertices, 3 or 4.

    Of 3: "path", "triangle". Of 4: "star", "path", "paw" (a triangle with a tail), "cycle", "diamond" (a cycle with a
    chord), "clique". Undirected graphs only; parallel edges count once, self-loops not at all.
    Raises ArgumentError for a directed graph or another size.

    >>> tg.algorithms.motif_counts(tg.generators.wheel(5), 3)
    {'path': 6, 'triangle': 4}
    """
    if size not in (3, 4):
        raise tg.errors.ArgumentError(f"size: expected 3 or 4 vertices, got {size}")
    graph = tg.primitives.simple_graph.simple(graph)
    degree = graph.out_degree
    triangles = int(tg.primitives.intersect.triangles(graph))
    if size == 3:
        return {"path": _pairs(degree) - 3 * triangles, "triangle": triangles}
    closing = tg.primitives.triangle_edges.edge_triangles(graph)
    at = tg.primitives.intersect.triangles(graph, per_vertex=True)
    around = tg.aggregate(graph, degree - 1, "sum")
    cliques = tg.primitives.cliques.count(graph, 4)
    diamond = _pairs(closing) // 2 - 6 * cliques
    cycle = int(tg.primitives.triangle_edges.squares(graph).sum()) // 4 - diamond - 3 * cliques
    paw = int((at * (degree - 2)).sum()) - 4 * diamond - 12 * cliques
    path = int(((degree - 1) * around).sum()) // 2 - 3 * triangles - 4 * cycle - 2 * paw - 6 * diamond - 12 * cliques
    star = _triples(degree) - paw - 2 * diamond - 4 * cliques
    return {"star": star, "path": path, "paw": paw, "cycle": cycle, "diamond": diamond, "clique": cliques}


def triadic_census(graph: tg.Graph) -> dict[str, int]:
    """Number of sets of three vertices of each of the 16 directed kinds: by their names of mutual, asymmetric and null
    pairs (Holland and Leinhardt 1970), as networkx.triadic_census.

    An edge of an undirected graph is an arc both ways. Parallel arcs count once, self-loops not at all.

    >>> census = tg.algorithms.triadic_census(tg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3]))
    >>> {kind: count for kind, count in census.items() if count}
    {'012': 1, '021D': 1, '021C': 1, '030C': 1}
    """
    n = graph.num_vertices
    arcs = tg.primitives.simple_graph.merged(graph).without_self_loops()
    pairs, code = _coded(arcs)
    closed = tg.primitives.triangle_edges.triangle_codes(pairs, code)
    mutual, forward = code.eq(3), code.eq(1)
    source = torch.arange(n, device=graph.device).repeat_interleave(pairs.out_degree, output_size=pairs.num_arcs)
    both = torch.bincount(source[mutual], minlength=n)
    out = torch.bincount(source[forward], minlength=n)
    into = pairs.out_degree - both - out
    census = dict.fromkeys(TRIADS, 0)
    census |= {"021D": _pairs(out), "021U": _pairs(into), "021C": int((out * into).sum()), "201": _pairs(both)}
    census |= {"111D": int((into * both).sum()), "111U": int((out * both).sum())}
    for codes in itertools.product((1, 2, 3), (1, 2, 3), (1, 2, 3)):
        count = int(closed[codes[2], codes[1], codes[0]])  # codes of u - v, v - w and u - w
        census[_closed_kind(codes)] += count
        for path in _paths(codes):
            census[path] -= count
    mutuals, asymmetric = int(mutual.sum()) // 2, int(forward.sum())
    census["012"] = asymmetric * (n - 2) - sum(int(name[1]) * census[name] for name in TRIADS if name != "012")
    census["102"] = mutuals * (n - 2) - sum(int(name[0]) * census[name] for name in TRIADS if name != "102")
    census["003"] = n * (n - 1) * (n - 2) // 6 - sum(census[name] for name in TRIADS[1:])
    return census


def _coded(arcs: tg.Graph) -> tuple[tg.Graph, Tensor]:
    """The undirected graph of the same pairs, and the code of each arc: 1 where it is there, 2 where its reverse is, 3
    where both are."""
    one = torch.ones(arcs.num_arcs, dtype=torch.int64, device=arcs.device)
    if not arcs.directed:
        return arcs, 3 * one
    source = torch.arange(arcs.num_vertices, device=arcs.device).repeat_interleave(arcs.out_degree)
    ends = torch.cat((source, arcs.neighbors)), torch.cat((arcs.neighbors, source))
    graph = tg.Graph.from_edges(*ends, torch.cat((one, 2 * one)), num_vertices=arcs.num_vertices, multi="sum")
    code = one if graph.weights is None else graph.weights
    return tg.Graph(graph.offset, graph.neighbors, directed=False), code


def _closed_kind(codes: tuple[int, int, int]) -> str:
    """The kind of a triangle u, v, w by the codes of u - v, v - w and u - w."""
    mutual = codes.count(3)
    if mutual != 1:
        if mutual == 0:
            turns = codes[0] == codes[1] != codes[2]  # u -> v -> w -> u, or all the other way
            return "030C" if turns else "030T"
        return "210" if mutual == 2 else "300"
    uv, vw, uw = codes
    # Who is opposite of the mutual pair, and whether its arcs lead out.
    outwards = {0: (_back(vw) == 1, _back(uw) == 1), 1: (uv == 1, uw == 1), 2: (_back(uv) == 1, vw == 1)}
    first, second = outwards[codes.index(3)]
    return "120C" if first != second else ("120D" if first else "120U")


def _paths(codes: tuple[int, int, int]) -> list[str]:
    """The kinds of the three paths of two pairs in a triangle, by the codes seen from their middle."""
    uv, vw, uw = codes
    return [_open_kind(uv, uw), _open_kind(_back(uv), vw), _open_kind(_back(vw), _back(uw))]


def _open_kind(first: int, second: int) -> str:
    """The kind of a path by the codes of its pairs from the middle: 1 outwards, 2 inwards, 3 both."""
    kinds = {(1, 1): "021D", (2, 2): "021U", (1, 2): "021C", (2, 3): "111D", (1, 3): "111U", (3, 3): "201"}
    return kinds[min(first, second), max(first, second)]


def _back(code: int) -> int:
    """The code of a pair from its other end."""
    return {1: 2, 2: 1}.get(code, code)


def _triples(values: Tensor) -> int:
    """Of each number of things the triples, in all: more than int64 holds for 4 million."""
    different, count = values.unique(return_counts=True)
    return sum(math.comb(k, 3) * times for k, times in zip(different.tolist(), count.tolist(), strict=True))


def _pairs(values: Tensor) -> int:
    return int((values * (values - 1) // 2).sum())
