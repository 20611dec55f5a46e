"""Three ways to cut a graph into parts of equally many arcs, so that one can be computed on while the next is loaded.

ebp     edge-balanced: the arcs as they stand, in equal stretches
wcp     well-connected: vertices that are near each other come into one part, and few arcs lead out of it
metis   the same by METIS, which cuts fewer arcs and takes longer
"""

from __future__ import annotations

from tgraph.core import build
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats import reordering
from tgraph.stream.partition.parts import Parts, both_ways, by_label, equal_shares, round_to_rows
from tgraph.stream.partition.well_connected import well_connect

METHODS = ("ebp", "wcp", "metis")


def partition(graph: Graph, parts: int, method: str = "ebp", seed: int = 0) -> Parts:
    """The graph in `parts` parts by a method of METHODS; `seed` is for "wcp".

    Raises ArgumentError for parts < 1 or an unknown method, MissingDependencyError for "metis" without pymetis.
    """
    build.check_choice(method, "method", METHODS)
    if method == "wcp":
        return well_connected(graph, parts, seed)
    return edge_balanced(graph, parts) if method == "ebp" else by_metis(graph, parts)


def edge_balanced(graph: Graph, parts: int) -> Parts:
    """Contiguous stretches of nearly equally many arcs, in the given order of vertices.

    Equal stretches would end within rows: such a row goes whole to the part that would hold more of it, unless it is
    larger than a part, the row of a hub, which is split there. So no part has more than twice the mean (and 1), nor
    more than the mean and one row. O(n + p log n). Algorithm 6 of the paper, whose stretches of len / p + 1 arcs can
    leave the last ones empty.

    Raises ArgumentError for parts < 1.
    """
    parts = _count(parts)
    graph.out_degree  # noqa: B018  checks the offsets
    share = equal_shares(graph.num_arcs, parts, graph.device)
    return Parts(None, round_to_rows(graph.offset, share, -(-graph.num_arcs // parts)))


def well_connected(graph: Graph, parts: int, seed: int = 0) -> Parts:
    """Parts inside which many arcs stay, the vertices renumbered part by part; see `partition.well_connected`.

    The result depends on the graph, `parts` and `seed` alone. Raises ArgumentError for parts < 1.
    """
    parts = _count(parts)
    if parts == 1 or not graph.num_arcs:
        return edge_balanced(graph, parts)
    return well_connect(graph, parts, seed)


def by_metis(graph: Graph, parts: int) -> Parts:
    """Parts of whole rows that METIS finds (Karypis, Kumar 1998), the arcs of a vertex as its weight.

    Raises ArgumentError for parts < 1, MissingDependencyError without pymetis.
    """
    parts = _count(parts)
    if parts == 1 or not graph.num_arcs:
        return edge_balanced(graph, parts)
    label = reordering.metis_parts(both_ways(graph), parts, "by_metis", graph.out_degree)
    return by_label(graph, label.to(graph.device), parts)


def _count(parts: int) -> int:
    parts = build.as_count(parts, "parts")
    if parts < 1:
        raise ArgumentError("parts: expected 1 or more, got 0")
    return parts
