"""Graphs out of graphs: reverse, complement, union, intersection and their like."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from tgraph.networkx.functions._building import build, compact, first_of_each, listed_edges, merged
from tgraph.networkx.graph import Graph
from tgraph.networkx.registry import implements


def _refuses_attributes(G):
    """networkx's dispatch does not pass attributes on."""
    if isinstance(G, Graph):
        return None
    has_some = G.graph or any(G._node.values()) or any(data for _, _, data in G.edges(data=True))
    return "the graph has attributes" if has_some else None


@implements(refuses=_refuses_attributes, gaps="graphs of networkx's with attributes")
def reverse(G, copy=True):
    if not G.is_directed():
        raise nx.NetworkXError("Cannot reverse an undirected graph.")
    return G.reverse(copy)


def _refuses_large(G):
    return "a complement of more than 20,000 nodes" if len(G) > 20_000 else None


@implements(refuses=_refuses_large, gaps="graphs of more than 20,000 nodes")
def complement(G):
    n = len(G)
    absent = ~torch.eye(n, dtype=torch.bool)
    source, target = G.structure.to_edge_index()
    absent[source, target] = False
    u, v = absent.nonzero().T
    if not G.is_directed() and not G.is_multigraph():  # networkx adds each edge of a multigraph from both ends
        u, v = u[u < v], v[u < v]
    return build(G.is_directed(), G._tensors.nodes, u, v, multigraph=G.is_multigraph())


def _check_kinds(graphs: Sequence[Graph]) -> None:
    for G in graphs[1:]:
        if G.is_directed() != graphs[0].is_directed():
            raise nx.NetworkXError("All graphs must be directed or undirected.")
        if G.is_multigraph() != graphs[0].is_multigraph():
            raise nx.NetworkXError("All graphs must be graphs or multigraphs.")


def _together(graphs: Sequence[Graph], labels: Sequence[Sequence[Any]]) -> Graph:
    """The nodes and edges of all graphs, the nodes by these labels; attributes of later graphs prevail."""
    _check_kinds(graphs)
    directed, multigraph = graphs[0].is_directed(), graphs[0].is_multigraph()
    index: dict[Any, int] = {}
    places = [[index.setdefault(label, len(index)) for label in each] for each in labels]
    vertices = [torch.tensor(each, dtype=torch.int64) for each in places]
    listed = [listed_edges(G) for G in graphs]
    source = torch.cat([number[u] for number, (u, _, _) in zip(vertices, listed, strict=True)])
    target = torch.cat([number[v] for number, (_, v, _) in zip(vertices, listed, strict=True)])
    if multigraph and sum(map(len, labels)) != len(index):
        raise NotImplementedError("multigraphs that share nodes")
    first, group = torch.arange(len(source)), torch.arange(len(source))
    if not multigraph:
        first, group = first_of_each(source, target, len(index), directed)
    columns, begin = [], 0
    for G, (_, _, arc) in zip(graphs, listed, strict=True):
        columns.append((G._tensors.edge_columns, arc, group[begin : begin + len(arc)].tolist()))
        begin += len(arc)
    attributes: dict[Any, Any] = {}
    for G in graphs:
        attributes.update(G.graph)
    return build(
        directed,
        compact(list(index)),
        source[first],
        target[first],
        multigraph=multigraph,
        edge_columns=merged(columns, len(first)),
        node_columns=merged(
            ((G._tensors.node_columns, None, place) for G, place in zip(graphs, places, strict=True)), len(index)
        ),
        keys=_keys(graphs, [arc for _, _, arc in listed]) if multigraph else None,
        attributes=attributes,
    )


def _keys(graphs: Sequence[Graph], arcs: Sequence[Tensor]) -> Any:
    keys = [G._tensors.keys for G in graphs]
    if all(each is None for each in keys):
        return None
    if any(each is None for each in keys):
        raise NotImplementedError("multigraphs with keys and without")
    return np.concatenate([each[arc.numpy()] for each, arc in zip(keys, arcs, strict=True) if each is not None])


@implements()
def union_all(graphs, rename=()):
    pairs = list(zip(graphs, chain(rename, repeat(None)), strict=False))
    if not pairs:
        raise ValueError("cannot apply union_all to an empty list")
    labels = [list(G) if prefix is None else [f"{prefix}{node}" for node in G] for G, prefix in pairs]
    graphs = [G for G, _ in pairs]
    _check_kinds(graphs)
    if any(len(set(each)) < len(each) for each in labels):
        raise NotImplementedError("nodes that a prefix makes equal")
    if len(set(chain.from_iterable(labels))) < sum(map(len, labels)):
        raise nx.NetworkXError(
            "The node sets of the graphs are not disjoint.\n"
            "Use `rename` to specify prefixes for the graphs or use\n"
            "disjoint_union(G1, G2, ..., GN)."
        )
    return _together(graphs, labels)


@implements()
def union(G, H, rename=()):
    return union_all([G, H], rename)


@implements()
def disjoint_union_all(graphs):
    graphs, labels, begin = list(graphs), [], 0
    if not graphs:
        raise ValueError("cannot apply union_all to an empty list")
    for G in graphs:
        labels.append(range(begin, begin + len(G)))
        begin += len(G)
    return _together(graphs, labels)


@implements()
def disjoint_union(G, H):
    return disjoint_union_all([G, H])


@implements(gaps="multigraphs that share nodes")
def compose_all(graphs):
    graphs = list(graphs)
    if not graphs:
        raise ValueError("cannot apply compose_all to an empty list")
    return _together(graphs, [list(G) for G in graphs])


@implements(gaps="multigraphs that share nodes")
def compose(G, H):
    return compose_all([G, H])


def _missing(G: Graph, H: Graph) -> tuple[Tensor, Tensor]:
    """(source, target) of the edges of G that are none of H, as numbers of G's vertices."""
    source, target, _ = listed_edges(G)
    u, v = torch.tensor(G.labels.indices(H), dtype=torch.int64)[H.structure.to_edge_index()]
    kept = ~torch.isin(source * len(G) + target, u * len(G) + v)
    return source[kept], target[kept]


def _same_nodes(G: Graph, H: Graph) -> None:
    if set(G) != set(H):
        raise nx.NetworkXError("Node sets of graphs not equal")


@implements(multigraphs=False)
def difference(G, H):
    _same_nodes(G, H)
    return build(G.is_directed(), G._tensors.nodes, *_missing(G, H))


@implements(multigraphs=False)
def symmetric_difference(G, H):
    if G.is_directed() != H.is_directed():
        raise NotImplementedError("a directed and an undirected graph")
    _same_nodes(G, H)
    number = torch.tensor(G.labels.indices(H), dtype=torch.int64)
    ends = zip(_missing(G, H), (number[end] for end in _missing(H, G)), strict=True)
    return build(G.is_directed(), G._tensors.nodes, *map(torch.cat, ends))


@implements(gaps="multigraphs")
def intersection_all(graphs):
    graphs = list(graphs)
    if not graphs:
        raise ValueError("cannot apply intersection_all to an empty list")
    _check_kinds(graphs)
    if graphs[0].is_multigraph():
        raise NotImplementedError("multigraphs")
    nodes = set(graphs[0])
    for G in graphs[1:]:
        nodes &= set(G)
    labels = list(nodes)
    codes: Tensor | None = None
    for G in graphs:
        number = torch.full((len(G),), -1)
        number[G.labels.indices(labels)] = torch.arange(len(labels))
        source, target = (number[end] for end in G.structure.to_edge_index())
        inside = (source >= 0) & (target >= 0)
        code = source[inside] * len(labels) + target[inside]
        codes = code if codes is None else codes[torch.isin(codes, code)]
    assert codes is not None
    source, target = codes // max(len(labels), 1), codes % max(len(labels), 1)
    if not graphs[0].is_directed():
        source, target = source[source <= target], target[source <= target]
    return build(graphs[0].is_directed(), compact(labels), source, target)


@implements(gaps="multigraphs")
def intersection(G, H):
    return intersection_all([G, H])


@implements(multigraphs=False)
def full_join(G, H, rename=(None, None)):
    both = union_all([G, H], rename)
    rename[0], rename[1]  # IndexError, as networkx raises, where there are no two
    n, m = len(G), len(H)
    source, target, arc = listed_edges(both)
    u, v = torch.arange(n).repeat_interleave(m), n + torch.arange(m).repeat(n)
    sources, targets = [source, u], [target, v]
    if both.is_directed():
        sources.append(n + torch.arange(m).repeat_interleave(n))
        targets.append(torch.arange(n).repeat(m))
    count = sum(map(len, sources))
    return build(
        both.is_directed(),
        both._tensors.nodes,
        torch.cat(sources),
        torch.cat(targets),
        edge_columns=merged([(both._tensors.edge_columns, arc, range(len(arc)))], count),
        node_columns=both._tensors.node_columns,
        attributes=both.graph,
    )
