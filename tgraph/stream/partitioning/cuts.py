"""Three ways to partition a graph into parts of equally many arcs, so that computing on one overlaps loading the next.

ebp     edge-balanced: contiguous ranges of arcs of equal size, in the given order
wcp     well-connected: neighbouring vertices share a part, and few arcs are cut
metis   by METIS, which cuts fewer arcs and takes longer
"""

from __future__ import annotations

from tgraph.core.building import inputs
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.formats import reordering
from tgraph.progress import busy
from tgraph.stream.partitioning.parts import Parts, both_ways, by_label, equal_shares, round_to_rows
from tgraph.stream.partitioning.well_connected import well_connect

METHODS = ("ebp", "wcp", "metis")


def partition(graph: Graph, parts: int, method: str = "ebp", seed: int = 0) -> Parts:
    """Partition a graph into `parts` parts by a `method` of METHODS; `seed` is for "wcp".

    Raises ArgumentError for parts < 1 or an unknown method, MissingDependencyError for "metis" without pymetis.

    >>> parts = tg.stream.partition(tg.generators.grid2d(16, 16), 4)
    >>> parts.bounds
    tensor([  0, 239, 480, 721, 960])
    """
    inputs.check_choice(method, "method", METHODS)
    with busy(f"partition by {method}"):
        if method == "wcp":
            return well_connected(graph, parts, seed)
        return edge_balanced(graph, parts) if method == "ebp" else by_metis(graph, parts)


def edge_balanced(graph: Graph, parts: int) -> Parts:
    """Contiguous ranges of nearly equally many arcs, in the given order of vertices.

    Where an equal range would end within a row, the whole row goes to the part that would hold more of it, unless it is
    larger than a part (a hub), and then it is split. So no part has more than twice the mean (and 1), nor more than the
    mean and one row. O(n + p log n). This is Algorithm 6 of the paper, except that its ranges of len / p + 1 arcs can
    leave the last parts empty.

    Raises ArgumentError for parts < 1.
    """
    parts = _count(parts)
    graph.ensure_valid()
    share = equal_shares(graph.num_arcs, parts, graph.device)
    return Parts(None, round_to_rows(graph.row_offset(), share, -(-graph.num_arcs // parts)))


def well_connected(graph: Graph, parts: int, seed: int = 0) -> Parts:
    """Parts with few arcs between them, the vertices renumbered part by part; see `partition.well_connected`.

    The result depends on the graph, `parts` and `seed` alone. Raises ArgumentError for parts < 1.
    """
    parts = _count(parts)
    if parts == 1 or not graph.num_arcs:
        return edge_balanced(graph, parts)
    return well_connect(graph, parts, seed)


def by_metis(graph: Graph, parts: int) -> Parts:
    """Parts of whole rows by METIS (Karypis, Kumar 1998), with out-degrees as the weights of vertices.

    Raises ArgumentError for parts < 1, MissingDependencyError without pymetis.
    """
    parts = _count(parts)
    if parts == 1 or not graph.num_arcs:
        return edge_balanced(graph, parts)
    label = reordering.metis_parts(both_ways(graph), parts, "by_metis", graph.out_degree)
    return by_label(graph, label.to(graph.device), parts)


def _count(parts: int) -> int:
    parts = inputs.as_count(parts, "parts")
    if parts < 1:
        raise ArgumentError("parts: expected 1 or more, got 0")
    return parts
