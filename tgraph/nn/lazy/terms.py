"""The algebra of messages: sums of products of data of the two ends and of the edge, followed by a linear map.

Operations apply to these factors, data of vertices or narrow data of edges; functions return None if impossible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor

from tgraph.nn.adjacency import Adjacency
from tgraph.nn.conv.layer import linear_map
from tgraph.nn.edge_index import adjacency_of


class Edges:
    """The edges of a call of `propagate`: edge_index [2, E], and the flow."""

    source: Tensor
    target: Tensor

    def __init__(self, edge_index: Tensor, flow: str):
        self.edge_index: Tensor = edge_index
        self.flow: str = flow
        self.num_edges: int = edge_index.shape[1]
        first, second = edge_index
        self.source, self.target = (first, second) if flow == "source_to_target" else (second, first)  # each [E]
        self.num_sources: int | None = None  # known once features of sources are read
        self.made_for: list[str] = []  # the functions that materialised messages

    def end_of(self, index: Tensor) -> str | None:
        """ "source" or "target" where `index` [E] is that row of edge_index, otherwise None."""
        if index.shape != self.source.shape or self.source.data_ptr() == self.target.data_ptr():
            return None
        address = index.data_ptr()
        return {self.source.data_ptr(): "source", self.target.data_ptr(): "target"}.get(address)

    def adjacency(self, num_targets: int) -> Adjacency:
        """The adjacency, cached on the edge_index."""
        sizes = self.num_sources, num_targets
        return adjacency_of(self.edge_index, sizes if self.flow == "source_to_target" else sizes[::-1], self.flow)


@dataclass(frozen=True)
class Term:
    """(source[j] * target[i] * edge[e]) weight^T at each edge e from j to i, without the factors that are None.

    source : [num_sources, ...]. target : [num_targets, ...], or [1, ...] for a constant. edge : [E, ...]. All have
    equally many dimensions. weight : [columns', columns], for source or edge; other factors then have one column.
    """

    source: Tensor | None = None
    target: Tensor | None = None
    edge: Tensor | None = None
    weight: Tensor | None = None

    @property
    def shape(self) -> torch.Size:
        """The shape at an edge."""
        given = [each.shape[1:] for each in (self.source, self.target, self.edge) if each is not None]
        shape = torch.broadcast_shapes(*given)
        return shape if self.weight is None else torch.Size((*shape[:-1], self.weight.shape[0]))

    @property
    def requires_grad(self) -> bool:
        """Whether a factor does."""
        return any(each is not None and each.requires_grad for each in (self.source, self.target, self.edge))

    @property
    def is_narrow(self) -> bool:
        """Whether the term is a scalar at each edge."""
        return self.shape.numel() == 1 and self.weight is None

    def made(self, edges: Edges) -> Tensor:
        """The values at all edges, [E, ...] or [1, ...]."""
        found = None if self.source is None else self.source.index_select(0, edges.source)
        if self.target is not None:
            constant = self.target.shape[0] == 1
            found = _times(found, self.target if constant else self.target.index_select(0, edges.target))
        found = _times(found, self.edge)
        assert found is not None
        return found if self.weight is None else torch.nn.functional.linear(found, self.weight)


def affordable(values: Tensor, edges: Edges) -> bool:
    """Whether computing at these vertices costs no more than at the edges."""
    return values.shape[0] <= max(edges.num_edges, 1)


def mapped(term: Term, edges: Edges) -> Term | None:
    """The same without a weight, which is applied to the source."""
    if term.weight is None:
        return term
    if term.source is None or not affordable(term.source, edges):
        return None
    return replace(term, source=linear_map(term.source, term.weight), weight=None)


def alone(term: Term, edges: Edges) -> tuple[str, Tensor] | None:
    """(the name of the only factor, its values), with a constant multiplied into it."""
    found = mapped(term, edges)
    if found is None:
        return None
    given = {name: each for name, each in (("source", found.source), ("edge", found.edge)) if each is not None}
    if not given and found.target is not None:
        return "target", found.target
    if len(given) != 1 or (found.target is not None and len(found.target) != 1):
        return None
    ((name, values),) = given.items()
    if name == "source" and not affordable(values, edges):
        return None
    return name, values if found.target is None else values * found.target


def product(first: Term, second: Term, edges: Edges) -> Term | None:
    """The product of two terms."""
    parts = []
    for term, other in ((first, second), (second, first)):
        parts.append(term if other.is_narrow else mapped(term, edges))
    one, two = parts
    if one is None or two is None or (one.weight is not None and two.weight is not None):
        return None
    if not all(affordable(each, edges) for each in (one.source, one.target) if each is not None):
        return None
    return Term(
        _times(one.source, two.source),
        _times(one.target, two.target),
        _times(one.edge, two.edge),
        two.weight if one.weight is None else one.weight,
    )


def total(first: tuple[Term, ...], second: tuple[Term, ...]) -> tuple[Term, ...]:
    """The sum of two sums, with terms of the same end alone merged."""
    terms = list(first)
    for term in second:
        place = next((number for number, each in enumerate(terms) if _are_alike(each, term)), None)
        if place is None:
            terms.append(term)
        elif term.source is not None:
            terms[place] = Term(source=cast(Tensor, terms[place].source) + term.source)
        else:
            terms[place] = Term(target=cast(Tensor, terms[place].target) + cast(Tensor, term.target))
    return tuple(terms)


def linear(terms: tuple[Term, ...], weight: Tensor, edges: Edges) -> tuple[Term, ...] | None:
    """The terms times weight^T; the map of a term remains to be applied where that is cheapest."""
    found = []
    for term in terms:
        if term.shape[-1:] != weight.shape[1:]:
            return None
        plain = mapped(term, edges)
        if plain is None:
            return None
        main, *others = (plain.source, plain.target, plain.edge)
        if main is None:
            main, others = plain.edge, [plain.target]
        if main is None:
            assert plain.target is not None
            found.append(Term(target=linear_map(plain.target, weight)))
        elif any(each is not None and each.shape[-1] != 1 for each in others):
            only = alone(plain, edges)
            if only is None or only[0] != "source":
                return None
            found.append(Term(source=only[1], weight=weight))
        elif main.shape[-1] != weight.shape[1]:
            return None
        else:
            found.append(replace(plain, weight=weight))
    return tuple(found)


def combined(terms: tuple[Term, ...], edges: Edges) -> Term | None:
    """The sum of terms of one end, or of edges alone, and constants, as one term."""
    name, values = "target", None
    for term in terms:
        found = alone(term, edges)
        if found is None:
            return None
        constant = found[0] == "target" and found[1].shape[0] == 1
        if not constant and values is not None and values.shape[0] != 1 and found[0] != name:
            return None
        name = name if constant else found[0]
        values = found[1] if values is None else values + found[1]
    return Term(**{name: values})


def changed(terms: tuple[Term, ...], edges: Edges, function: Callable[[Tensor], Tensor]) -> tuple[Term, ...] | None:
    """A function of each row, applied to the only factor of the terms."""
    term = combined(terms, edges)
    if term is None:
        return None
    name, values = next(
        (name, each) for name in ("source", "target", "edge") if (each := getattr(term, name)) is not None
    )
    result = function(values)
    return (Term(**{name: result}),) if result.dim() and result.shape[0] == values.shape[0] else None


def viewed(term: Term, edges: Edges, before: torch.Size, after: torch.Size) -> Term | None:
    """A term of shape `before` at an edge reshaped to `after`; factors of one column fit any shape."""
    found = mapped(term, edges)
    if found is None:
        return None
    shaped = {}
    for name in ("source", "target", "edge"):
        values = getattr(found, name)
        if values is not None and values.shape[1:].numel() == 1:
            shaped[name] = values.reshape(-1, *(1,) * len(after))
        elif values is not None:
            if values.shape[1:] != before:
                return None
            shaped[name] = values.reshape(-1, *after)
    return Term(**shaped)


def _are_alike(first: Term, second: Term) -> bool:
    if first.edge is not None or second.edge is not None or first.weight is not None or second.weight is not None:
        return False
    ends = [(term.source is None, term.target is None) for term in (first, second)]
    return ends[0] == ends[1] and ends[0] in ((True, False), (False, True))


def _times(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    if first is None or second is None:
        return second if first is None else first
    return first * second
