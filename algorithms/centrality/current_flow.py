"""Centralities by electric current, which takes all paths, the shorter ones more than the longer (Brandes and
Fleischer, "Centrality measures based on current flow", STACS 2005). Edges are resistors; with C the pseudo-inverse of
the Laplacian, which gives the potentials of currents:

    closeness[v]   = 1 / (sum of C[v, v] + C[w, w] - 2 C[v, w] over w)  = 1 / (n C[v, v] + trace(C)),

the inverse of the resistances between v and all others, known as information centrality (Stephenson and Zelen 1989),
and

    betweenness[v] = the current through v, with one flowing from s to t, over all pairs s, t of other vertices
                   (Newman, "A measure of betweenness centrality based on random walks", 2005).

The current of an edge for the pair s, t is the difference of its currents for s and for t, so that those of one edge
are sorted, and a difference is counted as often as it lies between two. C is computed, O(n^3), or, for larger graphs,
its columns and those of the edges by conjugate gradients, O(n m) and O(m^2) for each of their steps.
"""

from __future__ import annotations

import torch
from torch import Tensor

import tgraph as tg
from tgraph.algorithms.centrality._laplacian import AT_ONCE, network, potentials, pseudo_inverse, use_dense


def current_flow_closeness(
    graph: tg.Graph, *, weighted: bool = False, method: str = "auto", tol: float = 1e-10
) -> Tensor:
    """Information centrality of every vertex: the inverse of the sum of the resistances between it and all others,
    float64 [n].

    For connected undirected graphs. `weighted`, the conductance of an edge is its weight, otherwise 1; those of
    parallel edges add. `method`: "dense" inverts the Laplacian, "cg" solves by conjugate gradients up to the relative
    error `tol`, which takes the memory of some columns, and "auto" is dense up to 3000 vertices. The values are those
    of networkx. Raises ArgumentError for a graph that is directed or not connected, weights that are not above zero,
    and another method; NotConvergedError where "cg" does not reach `tol`.

    >>> tg.algorithms.current_flow_closeness(tg.generators.path(3)).round(decimals=3)
    tensor([0.3330, 0.5000, 0.3330], dtype=torch.float64)
    """
    net, unit = network(graph, weighted)
    n = net.num_vertices
    if n < 2:
        return torch.zeros(n, dtype=torch.float64, device=graph.device)
    if use_dense(net, method):
        own = pseudo_inverse(net).diagonal()
    else:
        found = []
        parts = torch.arange(n, device=graph.device).split(max(1, AT_ONCE // n))
        for group in tg.progress.track(parts, "current flow"):
            column = torch.arange(len(group), device=graph.device)
            current = torch.zeros((n, len(group)), dtype=torch.float64, device=graph.device)
            current[group, column] = 1
            found.append(potentials(net, current, tol)[group, column])
        own = torch.cat(found)
    return unit / (n * own + own.sum())


def information(graph: tg.Graph, *, weighted: bool = False, method: str = "auto", tol: float = 1e-10) -> Tensor:
    """Information centrality of every vertex, float64 [n]: another name of `current_flow_closeness`.

    Parameters are those of `current_flow_closeness`.

    >>> tg.algorithms.information(tg.generators.path(3)).round(decimals=3)
    tensor([0.3330, 0.5000, 0.3330], dtype=torch.float64)
    """
    return current_flow_closeness(graph, weighted=weighted, method=method, tol=tol)


def current_flow_betweenness(
    graph: tg.Graph, *, weighted: bool = False, normalized: bool = True, method: str = "auto", tol: float = 1e-10
) -> Tensor:
    """Current-flow betweenness of every vertex: the part of a current between two others that flows through it, summed
    over all pairs, float64 [n].

    `normalized`, divide by the number of pairs of other vertices. `weighted`, `method`, `tol` and errors are those of
    `current_flow_closeness`. The values are those of networkx.

    >>> tg.algorithms.current_flow_betweenness(tg.generators.path(4)).round(decimals=3)
    tensor([0.0000, 0.6670, 0.6670, 0.0000], dtype=torch.float64)
    """
    net, _ = network(graph, weighted)
    n = net.num_vertices
    if n < 3:
        return torch.zeros(n, dtype=torch.float64, device=graph.device)
    source, target, carried = _carried(net, method, tol)
    ends = torch.zeros(n, dtype=torch.float64, device=graph.device)
    through = ends.index_add(0, source, carried).index_add(0, target, carried)
    # What flows in or out at the ends of a pair, one for each, is not through them.
    total = (through - (n - 1)).clamp_(min=0) / 2
    return total.mul_(2 / ((n - 1) * (n - 2))) if normalized else total


def edge_current_flow_betweenness(
    graph: tg.Graph, *, weighted: bool = False, normalized: bool = True, method: str = "auto", tol: float = 1e-10
) -> Tensor:
    """Current-flow betweenness of every edge: the part of a current between two vertices that flows along it, summed
    over all pairs, float64 [m], the same for both arcs of an edge; parallel edges have the value of all of them.

    `normalized`, divide by (n - 1) * (n - 2), twice the number of pairs of other vertices, as networkx does, or else by
    2. `weighted`, `method`, `tol` and errors are those of `current_flow_closeness`.

    >>> graph = tg.generators.path(4)
    >>> tg.algorithms.edge_current_flow_betweenness(graph, normalized=False).round(decimals=3)
    tensor([1.5000, 1.5000, 2.0000, 2.0000, 1.5000, 1.5000], dtype=torch.float64)
    """
    net, _ = network(graph, weighted)
    n = net.num_vertices
    if n < 2:
        return torch.zeros(graph.num_arcs, dtype=torch.float64, device=graph.device)
    source, target, carried = _carried(net, method, tol)
    row, other = graph.to_edge_index()
    key, wanted = source * n + target, torch.minimum(row, other) * n + torch.maximum(row, other)
    place = torch.searchsorted(key, wanted).clamp(max=max(len(key) - 1, 0))
    found = carried[place] if len(key) else torch.zeros_like(wanted, dtype=torch.float64)
    return found.masked_fill_(row == other, 0) / ((n - 1) * (n - 2) if normalized and n > 2 else 2)


def _carried(net: tg.Graph, method: str, tol: float) -> tuple[Tensor, Tensor, Tensor]:
    """(source, target, what each edge carries in all pairs s < t), [k] for k edges by their smaller and larger end."""
    n = net.num_vertices
    assert net.weights is not None
    source, target = net.to_edge_index()
    once = (source < target).nonzero().flatten()
    source, target, conductance = source[once], target[once], net.weights[once]
    inverse = pseudo_inverse(net) if use_dense(net, method) else None
    between = 2 * torch.arange(n, device=net.device, dtype=torch.float64) - (n - 1)
    parts = []
    pieces = torch.arange(len(once), device=net.device).split(max(1, AT_ONCE // n))
    for some in tg.progress.track(pieces, "current flow"):
        if inverse is not None:
            drop = inverse[source[some]] - inverse[target[some]]
        else:
            column = torch.arange(len(some), device=net.device)
            current = torch.zeros((n, len(some)), dtype=torch.float64, device=net.device)
            current[source[some], column], current[target[some], column] = 1, -1
            drop = potentials(net, current, tol).T
        parts.append(drop.sort(1)[0] @ between * conductance[some])
    return source, target, torch.cat(parts) if parts else conductance
