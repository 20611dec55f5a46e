"""Which weights an algorithm takes. Each that reads weights says it by a name of `KINDS`; the first weight that is not
of the kind is named with its arc, and with what to do about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError

# By name, the weights in words, and whether all between two ends are such: of NaN every comparison is false.
KINDS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "ranks": ("not NaN", lambda low, high: low <= high),
    "numbers": ("finite", lambda low, high: (low > -math.inf) & (high < math.inf)),
    "measures": ("finite and not negative", lambda low, high: (low >= 0) & (high < math.inf)),
    "conductances": ("finite and above zero", lambda low, high: (low > 0) & (high < math.inf)),
    "lengths": ("not negative", lambda low, high: low >= 0),
    "positive lengths": ("above zero", lambda low, high: low > 0),
    "signed lengths": ("above -inf", lambda low, high: low > -math.inf),
    "gains": ("below inf", lambda low, high: (low <= high) & (high < math.inf)),
}
REMEDY = "drop such arcs, or replace their weights"


def check(graph: Graph, kind: str, use: str, remedy: str = REMEDY) -> None:
    """Raise ArgumentError for the first weight of the graph that is not of the `kind`, a name of `KINDS`.

    `use` says what needs such weights, and `remedy` what to do. The range of the weights, which is kept with the graph,
    tells whether there is one. Sums of "measures" must be finite, too.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 2], [1.0, -2.0])
    >>> tg.primitives.weights.check(graph, "measures", "walks")
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: weights: -2.0 at position 1, arc 1 -> 2; walks need weights that are finite and not ...
    """
    if graph.weight_dtype is None or not graph.num_arcs:
        return
    low, high = graph.weight_range
    if not KINDS[kind][1](low, high):
        weights = graph.decoded().weights
        assert weights is not None
        _refuse(graph, weights, kind, use, remedy)
    if kind == "measures" and isinstance(high, float) and 4 * high * graph.num_arcs == math.inf:
        raise ArgumentError(
            f"weights: sums of {graph.num_arcs:,} weights as large as {high} exceed float64; divide all by the largest"
        )


def check_values(graph: Graph, weights: Tensor, kind: str, use: str, remedy: str = REMEDY) -> None:
    """The same for `weights` [m] that are not the graph's own; `kind`, `use` and `remedy` are those of `check`. Raises
    ArgumentError for another shape, too.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 2])
    >>> tg.primitives.weights.check_values(graph, torch.tensor([1.0, torch.nan]), "ranks", "matchings")
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: weights: nan at position 1, arc 1 -> 2; matchings need weights that are not NaN: ...
    """
    if weights.shape != (graph.num_arcs,):
        raise ArgumentError(f"weights: expected one for each arc, [{graph.num_arcs}], got {list(weights.shape)}")
    if not weights.is_floating_point() or not len(weights):
        return
    if not KINDS[kind][1](*(end.item() for end in torch.aminmax(weights.detach()))):
        _refuse(graph, weights, kind, use, remedy)


def check_numbers(name: str, values: Tensor, kind: str) -> None:
    """Raise ArgumentError for the first of some `values`, numbers of vertices for example, that is not of the `kind`;
    `name` is that of the argument.

    >>> tg.primitives.weights.check_numbers("states", torch.tensor([1.0, torch.nan]), "measures")
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: states: nan at position 1; expected numbers that are finite and not negative
    """
    words, fits = KINDS[kind]
    good = fits(values.detach(), values.detach())
    if not bool(good.all()):
        place = (~good).nonzero()[0].tolist()
        position = place[0] if len(place) == 1 else place
        raise ArgumentError(
            f"{name}: {values[tuple(place)].item()} at position {position}; expected numbers that are {words}"
        )


def reweighted(graph: Graph, function: Callable[[Tensor], Tensor]) -> Graph:
    """The same arcs with a `function` of their weights, or of ones (float64 [m]) where there are none, as weights.

    Each weight follows from that of its own arc: a graph that is spread over ranks stays so.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 2], [1.0, -2.0])
    >>> tg.primitives.weights.reweighted(graph, torch.abs).weights
    tensor([1., 2.], dtype=torch.float64)
    """
    if graph.storage.is_distributed:
        layout: Any = graph.layout
        return Graph.of_storage(layout.reweighted(function), graph._ids, graph.directed)
    arcs = graph.decoded()
    given = arcs.weights
    if given is None:
        given = torch.ones(arcs.num_arcs, dtype=torch.float64, device=arcs.device)
    return Graph(arcs.offset, arcs.neighbors, function(given), graph.vertices, graph.directed)


def unit(graph: Graph) -> float:
    """A power of two near the largest magnitude of the weights, which they can be divided by without rounding where
    squares of them might be 0 or inf; 1 where all are 0.

    >>> tg.primitives.weights.unit(tg.Graph.from_edges([0, 1], [1, 2], [1.0, -5.0]))
    4.0
    """
    largest = float(max(map(abs, graph.weight_range)))
    return 2.0 ** (math.frexp(largest)[1] - 1) if largest else 1.0


def refuse(graph: Graph, weight: float, position: int, reason: str) -> NoReturn:
    """Raise the ArgumentError that names a `weight`, the `position` of its arc and the ends of this, and the `reason`.

    >>> tg.primitives.weights.refuse(tg.Graph.from_edges([0], [1]), 0.0, 0, "it is the largest")
    Traceback (most recent call last):
        ...
    tgraph.errors.ArgumentError: weights: 0.0 at position 0, arc 0 -> 1; it is the largest
    """
    u, v = graph.arc(position)
    raise ArgumentError(f"weights: {weight} at position {position}, arc {u!r} -> {v!r}; {reason}")


def _refuse(graph: Graph, weights: Tensor, kind: str, use: str, remedy: str) -> NoReturn:
    words, fits = KINDS[kind]
    position = int((~fits(weights.detach(), weights.detach())).nonzero()[0])
    refuse(graph, weights[position].item(), position, f"{use} need weights that are {words}: {remedy}")
