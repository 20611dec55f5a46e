"""Mixing: which degrees or attributes the edges join."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from tgraph import algorithms
from tgraph.kernels.operators.dicts import MISSING
from tgraph.networkx.functions._arcs import degrees, ends_of_rows, structure
from tgraph.networkx.functions._building import arcs_of
from tgraph.networkx.functions._nodes import bunch, marked, mask, node_values
from tgraph.networkx.functions._weights import refuse_cancelled, refuse_extreme, refuse_rounding, require_one_kind
from tgraph.networkx.functions.centrality.centrality import received
from tgraph.networkx.nodes import NoNode
from tgraph.networkx.registry import implements

DIRECTIONS = {"x": ("in", "out"), "y": ("in", "out")}
LEAST = 1e-20  # the share of squares that is rounding


def _joined(G: Any, x: str, y: str, weight: Any, nodes: Any) -> tuple[Tensor, Tensor]:
    """The degrees at both ends of each arc among some nodes, in networkx's order: that of a set of the nodes."""
    try:
        chosen = set(G if nodes is None else nodes)
    except TypeError as fault:
        raise NoNode(str(fault)) from fault
    vertices = torch.tensor(G.labels.indices(node for node in chosen if node in G), dtype=torch.int64)
    source, target = ends_of_rows(G, vertices)
    inside = marked(G, vertices)[target]
    if not G.is_directed():
        x = y = "both"
    refuse_rounding(refuse_extreme(structure(G, weight), weight), weight, 2)
    return degrees(G, weight, x)[source[inside]], degrees(G, weight, y)[target[inside]]


def _correlation(x: Tensor, y: Tensor) -> float:
    """Raises NotImplementedError where one of both hardly varies, so that rounding decides."""
    if bool((x == x[:1]).all() & (y == y[:1]).all()):
        return math.nan
    ends = torch.stack((x.double(), y.double()))
    apart = ends - ends.mean(1, keepdim=True)
    squares, spread = (ends * ends).sum(1), (apart * apart).sum(1)
    if bool((spread <= LEAST * squares).any()):
        raise NotImplementedError("values that hardly vary")
    return float(apart.prod(0).sum() / spread.sqrt().prod())


@implements(only=DIRECTIONS)
def degree_assortativity_coefficient(G, x="out", y="in", weight=None, nodes=None):
    first, second = _joined(G, x, y, weight, nodes)
    if not len(first):
        raise NotImplementedError("a graph without edges")
    return _correlation(first, second)


@implements(only=DIRECTIONS)
def degree_pearson_correlation_coefficient(G, x="out", y="in", weight=None, nodes=None):
    first, second = _joined(G, x, y, weight, nodes)
    if len(first) < 2:
        raise NotImplementedError("a graph of fewer than two arcs")
    return _correlation(first, second)


def _counted(first: Tensor, second: Tensor, values: list[Any]) -> dict[Any, dict[Any, int]]:
    """The number of occurrences of each pair, as dicts of dicts in the order of first occurrence; `first` and `second`
    are places among `values`."""
    size = max(len(values), 1)
    code, pair, count = (first * size + second).unique(return_inverse=True, return_counts=True)
    seen = torch.full((len(code),), len(pair)).scatter_reduce_(0, pair, torch.arange(len(pair)), "amin")
    order = seen.argsort()
    found: dict[Any, dict[Any, int]] = {}
    for number, times in zip(code[order].tolist(), count[order].tolist(), strict=True):
        x, y = values[number // size], values[number % size]
        row = found.setdefault(x, {})
        found.setdefault(y, {})
        row[y] = row.get(y, 0) + times
    return found


def _normalized(found: dict[Any, dict[Any, Any]]) -> dict[Any, dict[Any, Any]]:
    total = sum(sum(row.values()) for row in found.values())
    return {x: {y: count / total for y, count in row.items()} for x, row in found.items()}


@implements(only=DIRECTIONS, gaps="weights but Python's integers")
def degree_mixing_dict(G, x="out", y="in", weight=None, nodes=None, normalized=False):
    if not G._kinds_of(weight) <= {int, bool}:  # sums are keys: their classes and last bits are networkx's
        raise NotImplementedError(f"the attribute {weight!r} of the edges: weights but Python's integers")
    first, second = _joined(G, x, y, weight, nodes)
    values, place = torch.cat((first, second)).unique(return_inverse=True)
    found = _counted(place[: len(first)], place[len(first) :], values.tolist())
    return _normalized(found) if normalized else found


def _labels(G: Any, attribute: Any, kinds: bool = False) -> tuple[list[Any], Tensor]:
    """The distinct values of an attribute, None where a node has none, and the place of that of each vertex; with
    `kinds`, equal values of several classes, such as 1 and True, are distinct."""
    places: dict[Any, int] = {}
    values = node_values(G, attribute, None)
    label = [places.setdefault((value, type(value)) if kinds else value, len(places)) for value in values]
    return [value for value, _ in places] if kinds else list(places), torch.tensor(label, dtype=torch.int64)


@implements()
def attribute_mixing_dict(G, attribute, nodes=None, normalized=False):
    values, label = _labels(G, attribute, kinds=True)
    source, target, _ = arcs_of(G)
    if nodes is not None:
        inside = mask(G, nodes)[source]
        source, target = source[inside], target[inside]
    found = _counted(label[source], label[target], values)
    return _normalized(found) if normalized else found


@implements(only={"nodes": None})
def attribute_assortativity_coefficient(G, attribute, nodes=None):
    if not structure(G).num_arcs:
        raise NotImplementedError("a graph without edges")
    return algorithms.attribute_assortativity(structure(G), _labels(G, attribute)[1])


@implements(only={"nodes": None}, gaps="graphs without edges")
def numeric_assortativity_coefficient(G, attribute, nodes=None):
    if not len(G):
        return math.nan
    column = G.node_column(attribute)
    if column is None or any(value is MISSING for value in column.tolist()):
        raise KeyError(attribute)
    if not structure(G).num_arcs:
        raise NotImplementedError("a graph without edges")
    try:
        values = column.numbers().double()
    except (TypeError, OverflowError) as fault:
        raise NotImplementedError(str(fault)) from fault
    source, target, _ = arcs_of(G)
    return _correlation(values[source], values[target])


KINDS = {"in": "in", "out": "out", "in+out": "both"}


def parallel_weights(G, weight):
    return "multigraphs with weights" if weight is not None and G.is_multigraph() else None


def kinds_of_degrees(G: Any, source: str, target: str, default: str, wrong: str) -> tuple[str, str]:
    """The degrees of the source and of the target that count, as `degrees` calls them; `wrong` says of a `name` which
    kinds it may be. Raises NetworkXError for others, and in an undirected graph for all but the default."""
    for name, kind in (("source", source), ("target", target)):
        if not G.is_directed() and kind != default:
            raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
        if kind not in KINDS:
            raise nx.NetworkXError(wrong.format(name=name, kind=kind))
    return (KINDS[source], KINDS[target]) if G.is_directed() else ("both", "both")


@implements(refuses=parallel_weights, gaps="multigraphs with weights")
def average_degree_connectivity(G, source="in+out", target="in+out", nodes=None, weight=None):
    own_kind, kind = kinds_of_degrees(G, source, target, "in+out", '{name} must be one of "in", "out", or "in+out"')
    refuse_rounding(structure(G, weight), weight, 2 * G.number_of_edges())
    arcs = G.weighted(None, multi="first") if weight is None else structure(G, weight)
    arcs = arcs if own_kind == "in" else arcs.transpose()
    total = received(arcs, degrees(G, None, kind).double())
    chosen = bunch(G, nodes)
    own, norm = degrees(G, None, own_kind)[chosen], degrees(G, weight, own_kind)
    kinds, group = own.unique(return_inverse=True)
    empty = torch.zeros(len(kinds), dtype=torch.float64)
    sums_of, norms, met = (empty.index_add(0, group, each[chosen].double()) for each in (total, norm, arcs.in_degree))
    refuse_cancelled(structure(G, weight), weight, norms[met > 0])
    whole = weight is None or (not bool(norms.all()) and require_one_kind(G, weight))
    columns = sums_of.tolist(), norms.tolist(), met.tolist()
    average = [x / y if y else x if some and not whole else int(x) for x, y, some in zip(*columns, strict=True)]
    found = dict(zip(kinds.tolist(), average, strict=True))
    return {k: found[k] for k in own.tolist()}
