"""One round of a min or max fixpoint in torch operators."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tgraph.core.dispatch import chosen_operator
from tgraph.core.frontier import Frontier
from tgraph.core.rows import gather_rows
from tgraph.core.subgraph import Subgraph
from tgraph.core.system import devices
from tgraph.kernels.operators.aggregation.aggregation import across, column, reduce_rows, scratch_of, sent_data
from tgraph.kernels.reductions import Reduction

# A pull first looks at this many in-neighbours of a row; most rows of a skewed graph have met the bound by then.
PROBE = 4


@chosen_operator
def relax(
    sub: Subgraph,
    values: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    bound: Callable[[], Tensor | None],
) -> Frontier:
    """One round of a min or max fixpoint: messages that improve a vertex are written into `values`, in place.

    `bound` gives, where it is known, a value that no message of this round can beat: a pull skips the vertices that
    have reached it, and ends the scan of a row that does. Returns the frontier of improved vertices.
    """
    if sub.mode == "push":
        return Frontier.compact(sub.graph, *push_marked(sub, values, values, reduction, edge, weights))
    sent = values
    if sub.sends_partly:
        sends = column(sub.active.mask, values)
        sent = torch.where(sends, values, reduction.identity(values.dtype))
    per_arc = isinstance(weights, Tensor) and weights.dim() > 0  # then hardly a row meets the bound
    if not per_arc and devices.waits_are_free(values) and (limit := bound()) is not None:
        return _relax_unsettled(sub, values, sent, reduction, edge, weights, limit)
    best = _best_message(sub, sent, sub.offset, None, reduction, edge, weights)
    better = reduction.better(best, values)
    values.copy_(torch.where(better, best, values))
    return Frontier(sub.graph, mask=_any_column(better))


def _send(sent: Tensor, edge: str, weights: Tensor | float | None, reduction: Reduction) -> Tensor:
    """Messages of a relaxation: a vertex that holds the identity has nothing to send. Its message would overflow, or
    be NaN, or be the weight alone."""
    messages = across(sent, edge, weights)
    if edge != "copy":
        identity = reduction.identity(sent.dtype)
        messages = torch.where(sent == identity, identity, messages)
    return messages.to(sent.dtype)


def _any_column(flags: Tensor) -> Tensor:
    return flags if flags.dim() == 1 else flags.flatten(1).any(1)


def relax_push(
    sub: Subgraph, values: Tensor, sent: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
) -> Tensor:
    """A push whose rows send `sent` [n, ...], which may be the `values` that are improved. Returns the vertices
    improved, int64, distinct."""
    reached, first = push_marked(sub, values, sent, reduction, edge, weights)
    return reached[first]


def push_marked(
    sub: Subgraph, values: Tensor, sent: Tensor, reduction: Reduction, edge: str, weights: Tensor | float | None
) -> tuple[Tensor, Tensor]:
    """The same with its result as (vertices, which of them are the first of equals and improved), both [c]."""
    messages = _send(sent_data(sub, sent), edge, weights, reduction)
    reached = sub.neighbors
    better = _any_column(reduction.better(messages, values.index_select(0, reached)))
    if devices.waits_are_free(values):
        survivors = better.nonzero().flatten()
        messages, reached = messages.index_select(0, survivors), reached.index_select(0, survivors)
        better = better.index_select(0, survivors)
    reached = reached.to(torch.int64)
    index = column(reached, messages).expand_as(messages)
    values.scatter_reduce_(0, index, messages, reduction.scatter)
    return reached, scratch_of(sub).first_marked(reached, better)


def _relax_unsettled(
    sub: Subgraph,
    values: Tensor,
    sent: Tensor,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
    bound: Tensor,
) -> Frontier:
    """Pull only into vertices that the bound could still improve: first from the heads of their rows, then from the
    whole rows of those whose head does not reach the bound. Nothing is written before all messages are read: `sent`
    may be `values`."""
    rows = _any_column(reduction.better(bound, values)).nonzero().flatten()
    offset, positions = gather_rows(sub.offset, rows, width=PROBE)
    best = _best_message(sub, sent, offset, positions, reduction, edge, weights)
    degree = sub.offset.index_select(0, rows + 1) - sub.offset.index_select(0, rows)
    rest = ((degree > PROBE) & _any_column(reduction.better(bound, best))).nonzero().flatten()
    offset, positions = gather_rows(sub.offset, rows.index_select(0, rest))
    best.index_copy_(0, rest, _best_message(sub, sent, offset, positions, reduction, edge, weights))
    old = values.index_select(0, rows)
    better = reduction.better(best, old)
    values.index_copy_(0, rows, torch.where(better, best, old))
    return Frontier(sub.graph, ids=rows[_any_column(better)])


def _best_message(
    sub: Subgraph,
    sent: Tensor,
    offset: Tensor,
    positions: Tensor | None,
    reduction: Reduction,
    edge: str,
    weights: Tensor | float | None,
) -> Tensor:
    """The best message into each segment of the arcs at the given positions (None: all, in order), where vertex v
    sends sent[v]."""
    neighbors = sub.neighbors if positions is None else sub.neighbors.index_select(0, positions)
    messages = _send(sent.index_select(0, neighbors), edge, weights, reduction)

    def row_of_arc() -> Tensor:
        number = torch.arange(len(offset) - 1, device=offset.device)
        return number.repeat_interleave(offset.diff(), output_size=len(neighbors))

    return reduce_rows(messages, offset, row_of_arc, reduction)
