"""Attention over the arcs of each destination by operators of torch, on any device: the reference for the kernels.

A destination gathers alpha * value from its sources, alpha being the softmax of the scores of its arcs:

    gat     leaky_relu(source + target + edge)                    of numbers [., heads]; values of their own
    gatv2   sum of vector * leaky_relu(source + target + edge)    over the columns of a head; the source is the value
    dot     factor * sum of target * (source + edge)              over the columns of a head; the edge adds to the value

Rows are taken some at a time, and the backward pass computes their scores once more, so that memory grows with the
vertices and not with the arcs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from tgraph.core.csr import Csr
from tgraph.core.dispatch import chosen_operator
from tgraph.core.system import devices
from tgraph.kernels.autograd.segments import add_at, take
from tgraph.kernels.operators.aggregation.segments import segment_of

SCORES = ("gat", "gatv2", "dot")

# So many numbers of arc data are held at a time.
_HELD_AT_ONCE = 1 << 22


class Inputs(NamedTuple):
    """The inputs of attention: [n_src, ...], [n_dst, ...], [n_src, heads, columns], [edges, ...] and [heads, columns].

    `value` is None where the source is the value, `vector` where the score has none.
    """

    source: Tensor
    target: Tensor
    value: Tensor | None
    edge: Tensor | None
    vector: Tensor | None

    @property
    def sent(self) -> Tensor:
        """The values that the sources send, [n_src, heads, columns]."""
        return self.source if self.value is None else self.value


class AttentionSpec(NamedTuple):
    """The function of the inputs.

    score, factor : which score, and its negative slope or scale.
    dropout, seed : the probability that an arc is left out for a head, and int64 [1]; None without dropout.
    """

    score: str
    factor: float
    dropout: float
    seed: Tensor | None


# ---- what is left out -----------------------------------------------------------------------------------------------

_WORD = (1 << 32) - 1


def kept(spec: AttentionSpec, begin: int, end: int, heads: int) -> Tensor | None:
    """Which of the arcs from `begin` to `end` dropout leaves to each head, bool [arcs, heads].

    A hash of the seed and the number of the arc and head, so that it need not be stored (a counter-based generator:
    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). None where nothing is left out.
    """
    if spec.seed is None or spec.dropout <= 0:
        return None
    counter = torch.arange(begin * heads, end * heads, device=spec.seed.device)
    low, high = spec.seed & _WORD, (spec.seed >> 32) & _WORD
    bits = _mixed((counter & _WORD) ^ low)
    bits = _mixed((bits + (counter >> 32) * 0x9E3779B9 + high) & _WORD)
    return bits.view(-1, heads) >= threshold(spec.dropout)


def threshold(dropout: float) -> int:
    """The least 32 bits of an arc that stays."""
    return min(round(dropout * 2**32), _WORD)


def gain(dropout: float) -> float:
    """The factor of an arc that dropout leaves."""
    return 1 / (1 - dropout) if dropout < 1 else 0.0


def _mixed(bits: Tensor) -> Tensor:
    """A bijection of 32 bits, held in int64, with little bias (Wellons, "Prospecting for hash functions", 2018)."""
    bits = bits ^ (bits >> 16)
    bits = (bits * 0x7FEB352D) & _WORD
    bits = bits ^ (bits >> 15)
    bits = (bits * 0x846CA68B) & _WORD
    return bits ^ (bits >> 16)


# ---- the formula, for the arcs of some rows -------------------------------------------------------------------------


def scores(inputs: Inputs, spec: AttentionSpec) -> Tensor:
    """The score of each arc, [arcs, heads]; all inputs have a row for each arc."""
    source, target, _, edge, vector = inputs
    if spec.score == "dot":
        return spec.factor * (target * (source if edge is None else source + edge)).sum(-1)
    total = source + target if edge is None else source + target + edge
    rectified = leaky_relu(total, spec.factor)
    return rectified if vector is None else (vector * rectified).sum(-1)


def weights(inputs: Inputs, spec: AttentionSpec, slot: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """The softmax of the scores of each row, [arcs, heads], and its statistics, [rows, heads, 2].

    These are the greatest score m and 1 / s, s being the sum of e^(score - m): alpha = e^(score - m) / s. Of their one
    number m + log s, the logsumexp, a large m leaves no digits to s.
    inputs : with a row for each arc, but for the target, which has one for each of the `rows`.
    slot : the row of each arc, int64 [arcs].
    """
    score = scores(inputs._replace(target=take(inputs.target, slot)), spec)
    index = slot[:, None].expand_as(score)
    lowest = score.new_full((rows, score.shape[1]), -torch.inf)
    best = lowest.scatter_reduce(0, index, score.detach(), "amax")
    best = torch.where(best == -torch.inf, 0, best)
    power = (score - take(best, slot)).exp()
    total = add_at(power, slot, rows)
    return power / take(total, slot), torch.stack((best, 1 / total), -1)


def gathered(
    inputs: Inputs, spec: AttentionSpec, slot: Tensor, rows: int, mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The sums at rows, [rows, heads, columns], and the statistics of its softmax, [rows, heads, 2]."""
    alpha, statistics = weights(inputs, spec, slot, rows)
    alpha = _thinned(alpha, spec, mask)
    sent = inputs.sent if spec.score != "dot" or inputs.edge is None else inputs.sent + inputs.edge
    return add_at(alpha[..., None] * sent, slot, rows), statistics


def _thinned(alpha: Tensor, spec: AttentionSpec, mask: Tensor | None) -> Tensor:
    """The weights after dropout."""
    return alpha if mask is None else alpha * mask * gain(spec.dropout)


def by_arc(inputs: Inputs, arcs: Csr, some: slice = slice(None)) -> Inputs:
    """The inputs with a row for each of these arcs, but for the target. Differentiable."""
    neighbors = arcs.neighbors[some]
    edge = inputs.edge
    if edge is not None:
        edge = edge[some] if arcs.permutation is None else take(edge, arcs.permutation[some])
    value = None if inputs.value is None else take(inputs.value, neighbors)
    return Inputs(take(inputs.source, neighbors), inputs.target, value, edge, inputs.vector)


def attend_recorded(inputs: Inputs, arcs: Csr, spec: AttentionSpec) -> Tensor:
    """The result of each row, with messages for all arcs at once: differentiable any number of times."""
    slot, mask = arcs.row_of_arc(), kept(spec, 0, arcs.num_arcs, inputs.sent.shape[1])
    return gathered(by_arc(inputs, arcs), spec, slot, arcs.num_rows, mask)[0]


# ---- some rows at a time --------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """Some rows, their arcs, and the row of each arc among them."""

    rows: slice
    arcs: slice
    slot: Tensor

    @property
    def size(self) -> int:
        return self.rows.stop - self.rows.start


def _blocks(arcs: Csr, sent: Tensor) -> Iterator[Block]:
    """The rows, in blocks of about as much arc data as is held at once; a row is never cut."""
    step = max(_HELD_AT_ONCE // max(sent[:1].numel(), 1), 1)
    wanted = torch.arange(0, arcs.num_arcs, step, device=arcs.offset.device)[1:]
    cuts = torch.searchsorted(arcs.offset, wanted, right=True).sub_(1)
    rows = torch.cat((cuts.new_zeros(1), cuts, cuts.new_full((1,), arcs.num_rows))).unique()
    begun = arcs.offset[rows].tolist()
    rows_list = rows.tolist()
    for k in range(len(rows_list) - 1):
        chosen = slice(rows_list[k], rows_list[k + 1])
        offset = arcs.offset[chosen.start : chosen.stop + 1] - begun[k]
        yield Block(chosen, slice(begun[k], begun[k + 1]), segment_of(offset, begun[k + 1] - begun[k]))


@chosen_operator
def attend(inputs: Inputs, arcs: Csr, spec: AttentionSpec) -> tuple[Tensor, Tensor]:
    """The sums at destinations, [n_dst, heads, columns], and the statistics of its softmax, [n_dst, heads, 2]."""
    return attend_part(inputs, arcs, spec, 0)


def attend_part(inputs: Inputs, arcs: Csr, spec: AttentionSpec, first: int) -> tuple[Tensor, Tensor]:
    """As `attend`, of arcs that are numbered from `first` on for dropout."""
    rows, heads = arcs.num_rows, inputs.sent.shape[1]
    out = inputs.sent.new_empty((rows, *inputs.sent.shape[1:]))
    statistics = inputs.sent.new_empty((rows, heads, 2))
    for block in _blocks(arcs, inputs.sent):
        local = by_arc(inputs, arcs, block.arcs)._replace(target=inputs.target[block.rows])
        mask = kept(spec, first + block.arcs.start, first + block.arcs.stop, heads)
        out[block.rows], statistics[block.rows] = gathered(local, spec, block.slot, block.size, mask)
    return out, statistics


@chosen_operator
def attend_backward(
    grad: Tensor,
    out: Tensor,
    statistics: Tensor,
    inputs: Inputs,
    arcs: Csr,
    spec: AttentionSpec,
    transpose: Csr,
    wanted: list[bool],
) -> list[Tensor | None]:
    """The gradients of `attend`, of those inputs that are `wanted`.

    out, statistics : as `attend` gave them; transpose : `arcs.transpose()`, which this reference does not need.
    """
    return part_backward(grad, out, statistics, inputs, arcs, spec, wanted, 0)


def part_backward(
    grad: Tensor,
    out: Tensor,
    statistics: Tensor,
    inputs: Inputs,
    arcs: Csr,
    spec: AttentionSpec,
    wanted: list[bool],
    first: int,
) -> list[Tensor | None]:
    """The gradients of `attend_part`, as those of `attend`."""
    totals = [torch.zeros_like(x) if x is not None and w else None for x, w in zip(inputs, wanted, strict=True)]
    heads = inputs.sent.shape[1]
    for block in _blocks(arcs, inputs.sent):
        local = by_arc(inputs, arcs, block.arcs)
        local = local._replace(target=take(inputs.target[block.rows], block.slot))
        mask = kept(spec, first + block.arcs.start, first + block.arcs.stop, heads)
        delta = (grad[block.rows] * out[block.rows]).sum(-1)
        per_arc = (take(x, block.slot) for x in (grad[block.rows], delta, statistics[block.rows]))
        parts = gradients(local, spec, mask, *per_arc)
        for name, part, total in zip(Inputs._fields, parts, totals, strict=True):
            if total is not None and part is not None:
                _add(total, name, part, arcs, block)
    return totals


def gradients(
    inputs: Inputs, spec: AttentionSpec, mask: Tensor | None, grad: Tensor, delta: Tensor, statistics: Tensor
) -> Inputs:
    """The gradients of all inputs for each arc, that of the vector summed over them; all arguments have a row for each
    arc.

    delta : the products of grad and result, summed over the columns: the sum of alpha times its gradient.
    statistics : as of `weights`.
    """
    source, target, _, edge, vector = inputs
    greatest, scale = statistics.unbind(-1)
    alpha = (scores(inputs, spec) - greatest).exp() * scale
    sent = inputs.sent if spec.score != "dot" or edge is None else inputs.sent + edge
    to_alpha = _thinned((grad * sent).sum(-1), spec, mask)
    to_score, to_sent = alpha * (to_alpha - delta), _thinned(alpha, spec, mask)[..., None] * grad
    if spec.score == "dot":
        to_source, held = spec.factor * to_score[..., None] * target, source if edge is None else source + edge
        to_target = spec.factor * to_score[..., None] * held
        return Inputs(to_source, to_target, to_sent, to_source + to_sent, None)
    total = source + target if edge is None else source + target + edge
    if vector is None:
        to_total = torch.where(total > 0, to_score, spec.factor * to_score)
        return Inputs(to_total, to_total, to_sent, to_total, None)
    to_vector = (to_score[..., None] * leaky_relu(total, spec.factor)).sum(0)
    to_rectified = to_score[..., None] * vector
    to_total = torch.where(total > 0, to_rectified, spec.factor * to_rectified)
    return Inputs(to_total + to_sent, to_total, None, to_total, to_vector)


def _add(total: Tensor, name: str, part: Tensor, arcs: Csr, block: Block) -> None:
    """Add the gradient that a block gives for the input of that name."""
    if name == "target":
        total[block.rows] = add_at(part, block.slot, block.size)
    elif name == "vector":
        total += part
    elif name == "edge":
        where = block.arcs if arcs.permutation is None else arcs.permutation[block.arcs]
        total[where] = part
    elif devices.is_sequential(total):
        total.index_add_(0, arcs.neighbors[block.arcs], part)
    else:  # sorts, so that the order is fixed
        total.index_put_((arcs.neighbors[block.arcs].long(),), part, accumulate=True)


@chosen_operator
def attention_weights(inputs: Inputs, arcs: Csr, spec: AttentionSpec, statistics: Tensor | None = None) -> Tensor:
    """The weight of each arc after dropout, [edges, heads], in the order of the edges. Differentiable."""
    alpha = weights(by_arc(inputs, arcs), spec, arcs.row_of_arc(), arcs.num_rows)[0]
    alpha = _thinned(alpha, spec, kept(spec, 0, arcs.num_arcs, alpha.shape[1]))
    if arcs.permutation is None:
        return alpha
    return torch.zeros_like(alpha).index_copy(0, arcs.permutation, alpha)
