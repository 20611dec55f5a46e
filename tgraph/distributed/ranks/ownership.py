"""The assignment of vertices to ranks, and collective operations on data that follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.distributed.ranks.transport import carried, exchange

# Bytes of a value which each rank sends to each other straight; larger ones are passed on from rank to rank. That takes
# fewer bytes, and for small values several times as long.
SMALL = 1 << 12


class Active(NamedTuple):
    """The active vertices of all ranks: how many, how many arcs these have, and whether the time of rank 0 is over."""

    size: int
    arcs: int
    late: bool

    @classmethod
    def of_ranks(cls, counts: Tensor) -> Active:
        """The sum over the ranks, from their numbers int64 [p, 3]."""
        size, arcs, late = counts.sum(0).tolist()
        return cls(size, arcs, bool(late))


@dataclass(frozen=True, eq=False)
class Ownership:
    """Rank r of the process group holds the rows starts[r] to starts[r + 1] - 1 of every tensor of vertices.

    starts : p + 1 ascending numbers, from 0 to n. group : the process group; None is the default one.

    Every method that communicates is to be called by all ranks of the group, in the same order.

    >>> held = tg.distributed.Ownership((0, 4, 6, 9))
    >>> held.num_ranks, held.num_rows, held.owner(torch.tensor([0, 5, 8]))
    (3, 9, tensor([0, 1, 2]))
    """

    starts: tuple[int, ...]
    group: Any = None

    @classmethod
    def of_counts(cls, counts: Sequence[int], group: Any = None) -> Ownership:
        """Consecutive rows, `counts`[r] of them for rank r.

        >>> tg.distributed.Ownership.of_counts([4, 2, 3]).starts
        (0, 4, 6, 9)
        """
        return cls(tuple(accumulate(counts, initial=0)), group)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ownership) and (self.starts, self.group) == (other.starts, other.group)

    def __hash__(self) -> int:
        return hash(self.starts)

    @property
    def num_ranks(self) -> int:
        """p.

        >>> tg.distributed.Ownership((0, 4, 6, 9)).num_ranks
        3
        """
        return len(self.starts) - 1

    @property
    def rank(self) -> int:
        """The number of this process in the group.

        >>> tg.distributed.Ownership((0, 4)).rank  # on the first rank of a process group
        0
        """
        return dist.get_rank(self.group)

    @property
    def num_rows(self) -> int:
        """n, the rows of all ranks.

        >>> tg.distributed.Ownership((0, 4, 6, 9)).num_rows
        9
        """
        return self.starts[-1]

    @property
    def first(self) -> int:
        """The first row of this rank.

        >>> tg.distributed.Ownership((0, 4, 6, 9)).first  # on rank 0
        0
        """
        return self.starts[self.rank]

    @property
    def end(self) -> int:
        """One past the last row of this rank.

        >>> tg.distributed.Ownership((0, 4, 6, 9)).end  # on rank 0
        4
        """
        return self.starts[self.rank + 1]

    @property
    def num_own(self) -> int:
        """Number of rows of this rank.

        >>> tg.distributed.Ownership((0, 4, 6, 9)).num_own  # on rank 0
        4
        """
        return self.end - self.first

    def owner(self, rows: Tensor) -> Tensor:
        """The rank that holds each of the `rows` [k], int64 [k].

        >>> tg.distributed.Ownership((0, 4, 6, 9)).owner(torch.tensor([3, 4, 8]))
        tensor([0, 1, 2])
        """
        ends = torch.tensor(self.starts[1:], dtype=rows.dtype, device=rows.device)
        return torch.searchsorted(ends, rows, right=True)

    def counts(self, rows: Tensor) -> Tensor:
        """Number of the `rows` int64 [k], ascending, at each rank, int64 [p].

        >>> tg.distributed.Ownership((0, 4, 6, 9)).counts(torch.tensor([0, 5, 8]))
        tensor([1, 1, 1])
        """
        ends = torch.tensor(self.starts[1:], dtype=rows.dtype, device=rows.device)
        return torch.searchsorted(rows, ends).diff(prepend=ends.new_zeros(1, dtype=torch.int64))

    def own(self, whole: Tensor) -> Tensor:
        """The rows of this rank, of a tensor `whole` [n, ...] that every rank has; a view.

        >>> tg.distributed.Ownership((0, 4, 6, 9)).own(torch.arange(9))  # on rank 0
        tensor([0, 1, 2, 3])
        """
        return whole[self.first : self.end]

    # ---- communication -----------------------------------------------------------------------------------------------

    def gather(self, value: Tensor) -> Tensor:
        """The `value` of all ranks, of the same shape everywhere, stacked in their order: [p, ...].

        >>> tg.distributed.Ownership((0, 4)).gather(torch.tensor(7))  # with a group of one rank
        tensor([7])
        """
        return gather(value, self.num_ranks, self.group)

    def sum(self, value: Tensor) -> Tensor:
        """The sum of `value` over all ranks, in their order, so that it has the same bits each time and everywhere.

        >>> tg.distributed.Ownership((0, 4)).sum(torch.tensor(7))  # with a group of one rank
        tensor(7)
        """
        parts = self.gather(value)
        total = parts[0].clone()
        for part in parts[1:]:
            total += part
        return total

    def concatenate(self, rows: Tensor) -> tuple[Tensor, tuple[int, ...]]:
        """The `rows` [k, ...] of all ranks, one after the other, and how many each has.

        >>> tg.distributed.Ownership((0, 4)).concatenate(torch.tensor([1, 2]))  # with a group of one rank
        (tensor([1, 2]), (2,))
        """
        counts = tuple(self.gather(torch.tensor(len(rows), device=rows.device)).tolist())
        most = max(counts)
        padded = rows.new_zeros((most, *rows.shape[1:]))
        padded[: len(rows)] = rows
        parts = self.gather(padded)
        return torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)]), counts


def is_own(rows: Tensor, ownership: Ownership) -> Tensor:
    """The mask of those of the `rows` that this rank holds."""
    return (rows >= ownership.first) & (rows < ownership.end)


def gather(value: Tensor, ranks: int, group: Any = None) -> Tensor:
    """The values of all ranks of a group, of the same shape everywhere, stacked in their order: [ranks, ...]."""
    sent = carried(value.contiguous())
    whole = sent.new_empty((ranks, *sent.shape))
    others = (ranks - 1) * sent.nbytes
    if sent.nbytes > SMALL:
        exchange(dist.all_gather, list(whole), sent, group=group, sent=others, received=others)
    else:
        copies = sent.expand_as(whole).contiguous()
        exchange(dist.all_to_all_single, whole, copies, group=group, sent=others, received=others)
    return whole.view(value.dtype)
