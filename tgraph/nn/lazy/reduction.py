"""The reduction of lazy messages: of each term by an aggregate over the adjacency."""

from __future__ import annotations

import functools
from dataclasses import replace

import torch
from torch import Tensor

from tgraph.nn.adjacency import Adjacency, ArcWeights
from tgraph.nn.conv.aggregation import aggregate
from tgraph.nn.conv.layer import linear_map, transform_first
from tgraph.nn.conv.messages import reduced
from tgraph.nn.lazy.terms import Edges, Term, affordable, mapped


def reduced_terms(terms: tuple[Term, ...], edges: Edges, reduce: str, num_targets: int) -> Tensor | None:
    """The reduction of the messages of each target, [num_targets, ...]; 0 without any. None where messages must be
    materialised: the min or max of a sum of several parts that differ between the edges of a target.

    reduce : "sum", "mean", "min" or "max".
    """
    if edges.num_sources is None:
        return None
    if reduce in ("min", "max"):
        chosen = _separated(terms, edges)
        if chosen is None:
            return None
        terms = chosen
    adjacency = edges.adjacency(num_targets)
    out = None
    for term in terms:
        received = _reduced(term, edges, adjacency, reduce)
        out = received if out is None else out + received
    assert out is not None
    unreached = adjacency.unreached
    if unreached is None or all(term.target is None for term in terms):
        return out
    return out.masked_fill(unreached.reshape(-1, *(1,) * (out.dim() - 1)), 0)


def _separated(terms: tuple[Term, ...], edges: Edges) -> tuple[Term, ...] | None:
    """The terms with at most one that differs between the edges of a target, as a factor of sources or edges alone;
    None if there is no such form."""
    varying, fixed = [], []
    for term in terms:
        if term.source is None and term.edge is None:
            fixed.append(term)
            continue
        found = mapped(term, edges)
        if found is None:
            return None
        if found.target is not None:
            if found.target.shape[0] != 1:
                return None
            name = "source" if found.source is not None else "edge"
            found = replace(found, target=None, **{name: getattr(found, name) * found.target})
        varying.append(found)
    if len(varying) > 1:
        sources = [term.source for term in varying if term.source is not None and term.edge is None]
        if len(sources) < len(varying):
            return None
        varying = [Term(source=functools.reduce(torch.add, sources))]
    return (*varying, *fixed)


def _reduced(term: Term, edges: Edges, adjacency: Adjacency, reduce: str) -> Tensor:
    """The reduction of a term; its target and weight are applied afterwards."""
    source, weight = term.source, term.weight
    if source is not None:
        if weight is not None and affordable(source, edges) and transform_first(weight, source, reduce):
            source, weight = linear_map(source, weight), None
        arc_weights = None
        if (edge := term.edge) is not None:
            edge = edge.reshape(-1) if edge.numel() == edge.shape[0] else edge
            arc_weights = ArcWeights(adjacency.in_row_order(edge))
        out = _aggregated(adjacency, source, reduce, arc_weights)
    elif term.edge is not None:
        out = reduced(adjacency, adjacency.in_row_order(term.edge), reduce)
    else:
        assert term.target is not None
        if reduce != "sum":
            return term.target.expand(adjacency.num_targets, *term.target.shape[1:])
        return term.target * adjacency.degree.to(term.target.dtype).reshape(-1, *(1,) * (term.target.dim() - 1))
    if weight is not None:
        out = linear_map(out, weight)
    return out if term.target is None else out * term.target


def _aggregated(adjacency: Adjacency, source: Tensor, reduce: str, weights: ArcWeights | None) -> Tensor:
    """`aggregate` of data of any dimensions, flattened to two, which is fastest."""
    if source.dim() == 2 or (weights is not None and weights.values.dim() != 1):
        return aggregate(adjacency, source, reduce, weights)
    out = aggregate(adjacency, source.reshape(source.shape[0], -1), reduce, weights)
    return out.reshape(-1, *source.shape[1:])
