"""Whether every arc has its reverse, checked by a hash without sorting or transposing the arcs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import sorting, validate
from tgraph.core.dispatch import setup_operator
from tgraph.core.system import devices
from tgraph.errors import ArgumentError

# Arcs that are hashed at a time: their words take 8 bytes each.
CHUNK = 1 << 20


class Mirror:
    """A sum over arcs that is zero if every arc (u, v, weight) has its reverse, and otherwise with a probability of
    about 2**-63.

    An arc adds t(weight) * (r(u) * s(v) - s(u) * r(v)) for random functions r, s and t into integers modulo 2**64, as
    in Freivalds' check of matrix products (IFIP 1977): the terms of an arc and its reverse cancel. The order of the
    arcs does not matter, self-loops add nothing, and parallel arcs count with their multiplicity.

    total : the sum so far; that of arcs in several places is the sum of theirs.
    """

    total: int

    def __init__(self) -> None:
        self.total = 0

    def note(self, src: Any, dst: Any, weights: Any = None) -> None:
        """Add arcs: integers [k] and [k], tensors or arrays, and their weights [k] or None."""
        words = None if weights is None else _words(torch.as_tensor(weights))
        self.total += _hash(torch.as_tensor(src).to(torch.int64), torch.as_tensor(dst).to(torch.int64), words)

    def note_rows(self, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
        """Add the arcs of a sound CSR; takes no memory that grows with them."""
        for begin in range(0, len(neighbors), CHUNK):
            end = min(begin + CHUNK, len(neighbors))
            words = None if weights is None else _words(weights[begin:end])
            self.total += symmetry_hash(offset, neighbors, words, begin, end)

    @property
    def complete(self) -> bool:
        """True where every arc has its reverse of equal weight. NaN equals NaN here, and 0.0 equals -0.0."""
        return self.total % 2**64 == 0


@setup_operator
def symmetry_hash(offset: Tensor, neighbors: Tensor, words: Tensor | None, begin: int, end: int) -> int:
    """The sum of the terms of the arcs `begin` to `end` of a CSR, of weights [end - begin] as int64 words."""
    position = torch.arange(begin, end, device=offset.device)
    src = torch.searchsorted(offset, position, right=True) - 1
    return _hash(src, neighbors[begin:end].to(torch.int64), words)


def _hash(src: Tensor, dst: Tensor, words: Tensor | None) -> int:
    terms = _mixed(src) * _mixed(~dst) - _mixed(~src) * _mixed(dst)
    if words is not None:
        terms *= _mixed(words)
    return int(terms.sum())


def check_mirrored(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
    """Raise ArgumentError, with the first arc at fault, unless all arcs of a CSR whose rows ascend are mirrored."""
    mirror = Mirror()
    mirror.note_rows(offset, neighbors, None if weights is None else weights.detach())
    if mirror.complete:
        return
    u, v, position = _unmirrored(offset, neighbors, weights)
    weight = "" if weights is None else f" of weight {weights[position].item()}"
    raise ArgumentError(
        f"directed=False: the arc {u} -> {v}{weight} at position {position} lacks its reverse"
        f"{'' if weights is None else ' of equal weight'}; pass directed=True, or give each edge once to "
        "Graph.from_edges(..., directed=False)"
    )


def _unmirrored(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> tuple[int, int, int]:
    """(source, target, position) of an arc without its reverse; there is one. Transposes the arcs."""
    there, back, order = sorting.transpose(offset, neighbors, permutation=weights is not None)
    differs = (offset != there).nonzero()
    alike = int(differs[0]) - 1 if len(differs) else len(offset) - 1  # rows before this one have as many arcs both ways
    same = int(offset[alike])
    apart = neighbors[:same] != back[:same]
    if not len(differs) and not bool(apart.any()):
        assert weights is not None and order is not None
        ways = (weights.detach(), weights.detach().index_select(0, order))
        left, right = (_words(validate.ordered_in_runs(offset, neighbors, way)) for way in ways)
        apart = left != right
    places = apart.nonzero()
    vertex = int(torch.searchsorted(offset, places[0], right=True)) - 1 if len(places) else alike
    return _unmirrored_in(vertex, offset, neighbors, weights, there, back, order)


def _unmirrored_in(
    vertex: int,
    offset: Tensor,
    neighbors: Tensor,
    weights: Tensor | None,
    there: Tensor,
    back: Tensor,
    order: Tensor | None,
) -> tuple[int, int, int]:
    """The same for a vertex whose arcs out of it are not those into it: one of either."""
    begin, end = int(offset[vertex]), int(offset[vertex + 1])
    into = slice(int(there[vertex]), int(there[vertex + 1]))
    out = _listed(neighbors[begin:end], None if weights is None else weights[begin:end])
    came = _listed(back[into], None if weights is None or order is None else weights[order[into]])
    if lacking := Counter(out) - Counter(came):
        arc = next(arc for arc in out if arc in lacking)
        return vertex, int(arc[0]), begin + out.index(arc)
    arc = next(iter(Counter(came) - Counter(out)))
    source = int(arc[0])
    begin, end = int(offset[source]), int(offset[source + 1])
    row = _listed(neighbors[begin:end], None if weights is None else weights[begin:end])
    return source, vertex, begin + row.index((vertex, arc[1]))


def _listed(neighbors: Tensor, weights: Tensor | None) -> list[tuple[int, int]]:
    words = [0] * len(neighbors) if weights is None else _words(weights.detach()).tolist()
    return list(zip(neighbors.tolist(), words, strict=True))


def _words(weights: Tensor) -> Tensor:
    """int64 words, equal for equal weights."""
    if not weights.is_floating_point():
        return weights.to(torch.int64)
    wide = weights.to(devices.widest_float(weights)) + 0.0  # so that -0.0 is 0.0
    wide = wide.masked_fill_(wide.isnan(), torch.nan)
    return wide.view(torch.int64 if wide.dtype == torch.float64 else torch.int32).to(torch.int64)


def _signed(word: int) -> int:
    return int(np.uint64(word).astype(np.int64))


def _mixed(words: Tensor) -> Tensor:
    """A permutation of 64-bit words after which every bit depends on all: the finaliser of SplitMix64 (Steele, Lea,
    Flood, OOPSLA 2014), as `mirror.cpp` has it."""
    words = words + _signed(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ ((words >> shift) & (2 ** (64 - shift) - 1))) * _signed(factor)
    return words ^ ((words >> 31) & (2**33 - 1))
