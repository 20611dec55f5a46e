"""Rows of a graph that changes, and what is followed along them, by the kernels in `rows.cpp`, `settle.cpp` and
`push.cpp`.

These kernels have no portable twins: they save work, and where they are missing a computation from nothing gives the
same.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from tgraph.core.system import native
from tgraph.kernels.operators.changes import PARALLEL, Parallel, columns_of, rows_of

EDGES = ("copy", "add", "mul", "min", "max")
VALUES = (torch.int32, torch.int64, torch.float32, torch.float64)
WEIGHTS = (*VALUES, torch.int8, torch.uint8, torch.int16)

DONE, TOO_MUCH, OVERFLOW = range(3)  # what `settle` comes to
FOR_MIN, FOR_MAX, FOR_ANY = 1, 2, 4  # bits of `Report.worse`


def refuses() -> str | None:
    """Why nothing is followed in this process at present, None where something is."""
    return "the compiled kernels are not installed, or turned off" if native.load() is None else None


class Report(NamedTuple):
    """Effects of changes on the arcs of p pairs.

    pair : int64 [p], as a change that deletes them, ascending. worse : uint8 [p], for whom the best arc is gone or got
    worse. before, after : int64 [p], how many arcs there were and are. sum_before, sum_after : float64 [p], of their
    weights, or of ones. Of rows that do not count, the last four mean nothing.
    """

    pair: Tensor
    worse: Tensor
    before: Tensor
    after: Tensor
    sum_before: Tensor
    sum_after: Tensor

    @property
    def sources(self) -> Tensor:
        """int64 [p]."""
        return rows_of(self.pair)

    @property
    def targets(self) -> Tensor:
        """int64 [p]."""
        return columns_of(self.pair)


class FollowedRows:
    """The rows of a CSR with the changes that came after it.

    counts : whether the arcs of pairs and of rows are to be counted, which has each change look up its pair in the CSR.
    """

    def __init__(self, parallel: Parallel, counts: bool):
        self.kernel: Any = _module().FollowedRows(PARALLEL.index(parallel), counts)
        self._counts = counts
        self._held: tuple[Tensor | None, ...] = ()

    def rebase(self, offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> None:
        """Begin with a CSR, int64 [rows + 1] and int32 [m], and the weights [m] of its arcs."""
        self._held = (offset, neighbors, weights)  # the kernel reads their memory
        self.kernel.rebase(offset, neighbors, weights)

    def apply(self, changes: Tensor, weights: Tensor | None, num_vertices: int, swapped: bool = False) -> None:
        """Apply sorted changes, of the reversed arcs if `swapped`."""
        self.kernel.apply(changes, weights, swapped, num_vertices, False, *[None] * 6)

    def report(self, changes: Tensor, weights: Tensor | None, num_vertices: int, compares: bool) -> Report:
        """The same, with what they did. compares : whether arcs that are replaced are of interest to `worse`; in rows
        that count, all are."""
        k = len(changes)
        pair, worse = torch.empty(k, dtype=torch.int64), torch.empty(k, dtype=torch.uint8)
        counts: list[Tensor | None] = [None] * 4
        if self._counts:
            counts = [torch.empty(k, dtype=dtype) for dtype in (torch.int64,) * 2 + (torch.float64,) * 2]
        size = self.kernel.apply(changes, weights, False, num_vertices, compares, pair, *counts, worse)
        return Report(*(column[:size] for column in (pair, worse, *(pair if c is None else c for c in counts))))

    def gather(self, vertices: Tensor) -> tuple[Tensor, Tensor]:
        """(offset int64 [k + 1], columns int64 [e]) of the rows of some vertices int64 [k]."""
        offset = torch.empty(len(vertices) + 1, dtype=torch.int64)
        self.kernel.gather(vertices, offset, None)
        columns = torch.empty(int(offset[-1]), dtype=torch.int64)
        self.kernel.gather(vertices, offset, columns)
        return offset, columns

    def num_arcs(self, vertices: Tensor) -> int:
        """The arcs of the rows of some vertices int64 [k], in all."""
        offset = torch.empty(len(vertices) + 1, dtype=torch.int64)
        self.kernel.gather(vertices, offset, None)
        return int(offset[-1])

    @property
    def num_changes(self) -> int:
        """How many changes there are beside the CSR."""
        return self.kernel.num_changes

    @property
    def nbytes(self) -> int:
        """Bytes beside the CSR."""
        return self.kernel.nbytes


def settle(
    scratch: Any,
    rows: FollowedRows,
    reversed_rows: FollowedRows | None,
    pairs: Tensor,
    value: Tensor,
    first: Tensor,
    forest: tuple[Tensor, Tensor] | None,
    semiring: tuple[str, str, float | None],
    *,
    num_vertices: int,
    both_ways: bool,
    limit: int,
    plants: bool,
) -> tuple[int, Tensor]:
    """Bring the `value` [n] of a relaxation up to date after its arcs of some `pairs` int64 [p] changed, in place.

    first : [n], the values it began with. forest : (parent int32 [n], level int32 [n]), on whom each vertex depends,
    kept up to date; with `plants` it is found first, over all arcs; None where no arc got worse. semiring : reduction,
    edge operation, and the weight of all arcs, None for their own. limit : arcs to read at most.

    Returns DONE, TOO_MUCH or OVERFLOW, of which the last two leave values that mean nothing, and vertices int64 [t]
    among which are all that changed.
    """
    reduce, edge, weight = semiring
    parent, level = (None, None) if forest is None else forest
    whole = int(weight) if weight is not None and not value.is_floating_point() else 0
    status, count = _module().settle(
        scratch,
        rows.kernel,
        None if reversed_rows is None else reversed_rows.kernel,
        both_ways,
        pairs,
        value,
        first,
        parent,
        level,
        reduce == "min",
        EDGES.index(edge),
        weight is not None,
        whole,
        float(weight or 0),
        limit,
        plants,
        num_vertices,
    )
    touched = torch.empty(count, dtype=torch.int64)
    scratch.touched(touched)
    return status, touched


def settle_scratch() -> Any:
    """Scratch memory that calls of `settle` on one graph share."""
    return _module().SettleScratch()


class Residuals:
    """The residuals of a linear system that is followed, float64, in buckets by size."""

    kernel: Any

    def __init__(self, rows: FollowedRows):
        self._rows, self.kernel = rows, _module().Residuals()

    def load(self, residual: Tensor) -> None:
        """Begin with float64 [n], which are pushed when they have grown."""
        self.kernel.load(residual)

    def add(self, vertices: Tensor, amounts: Tensor, num_vertices: int) -> None:
        """Add amounts float64 [k] at vertices int64 [k]."""
        self.kernel.add(self._rows.kernel, vertices, amounts, num_vertices)

    def push(
        self,
        x: Tensor,
        strength: Tensor | None,
        alpha: float,
        total: float,
        bound: tuple[float, float],
        centered: bool,
        limit: int,
    ) -> tuple[bool, float, int, int]:
        """Push the largest ones into x float64 [n] until their L1 norm, with that of their sum where `centered`, is at
        most bound[0] + bound[1] * the sum of x, or more than `limit` arcs were read, or none is left that has grown.
        total : the sum of x. Returns (whether the bound is met, the sum of x, pushes, arcs read)."""
        return self.kernel.push(self._rows.kernel, x, strength, alpha, total, *bound, centered, limit)

    def read(self, num_vertices: int) -> Tensor:
        """All of them, float64 [n]."""
        out = torch.empty(num_vertices, dtype=torch.float64)
        self.kernel.read(out)
        return out

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        return self.kernel.nbytes


def _module() -> Any:
    return cast(Any, native.load())
