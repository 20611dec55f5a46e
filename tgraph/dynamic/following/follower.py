"""The common part of followers: pending runs, values, and a report of the last update."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tgraph.core.graph import Graph
from tgraph.dynamic.following.graph import FollowedGraph
from tgraph.dynamic.runs import Run
from tgraph.dynamic.store import Store
from tgraph.dynamic.version import Version

SHARE = 8  # changes of this fraction of the arcs are more expensive to follow than a computation from nothing
LEAST = 1 << 14  # arcs that are followed in any case


@dataclass(frozen=True)
class Update:
    """Report of the last update of a follower.

    version : the version reached. batches, changes : the counts worked in. touched : the number of vertices looked at.
    recomputed : why all values were computed from nothing; None where they were not.

    >>> store = tg.dynamic.Store()
    >>> store.insert([0, 1], [1, 2])
    1
    >>> tg.dynamic.follow(tg.algorithms.BFS(0), store).update().batches
    1
    """

    version: int
    batches: int
    changes: int
    touched: int
    recomputed: str | None = None


def _worth_following(version: Version) -> int:
    """The largest number of pending changes that a follower stores."""
    return max(len(version.base.neighbors) // SHARE, LEAST)


class FromNothing(Exception):
    """Request to compute the values from nothing; its message says why."""


class Follower:
    """The values of a program on a store that changes; made by `tgraph.dynamic.follow`.

    `values` works in the batches committed since the last access. Threads may share a follower.

    >>> store = tg.dynamic.Store()
    >>> store.insert([0, 1], [1, 2])
    1
    >>> follow = tg.dynamic.follow(tg.algorithms.BFS(0), store)
    >>> follow.values
    tensor([0, 1, 2], dtype=torch.int32)
    >>> store.insert([0], [2])
    2
    >>> follow.values
    tensor([0, 1, 1], dtype=torch.int32)
    """

    def __init__(self, store: Store):
        self._store = store
        self._updating = threading.Lock()
        self._runs: list[Run] = []
        self._number: int | None = None  # of the version of the values; None before the first, or after a fault
        self._arcs: FollowedGraph | None = None  # of that version
        self._n = 0  # and its vertices
        self._last: Update | None = None
        self._changes = 0  # in `_runs`, or more than `_most`
        self._most = _worth_following(store._head.version)
        with store._head.publishing as publication:
            publication.followers.add(self)

    @property
    def values(self) -> Any:
        """The values at the store's newest version, as the program gives them. The tensor belongs to the follower, and
        the next update writes into it: clone values that are needed later.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> depth = tg.dynamic.follow(tg.algorithms.BFS(0), store).values.clone()
        >>> depth
        tensor([0, 1, 2], dtype=torch.int32)
        """
        with self._updating:
            self._update()
            return self._finished()

    @property
    def version(self) -> int | None:
        """The version that the values were last brought to, None before they were first asked for.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> follow = tg.dynamic.follow(tg.algorithms.BFS(0), store)
        >>> depth = follow.values
        >>> follow.version
        1
        """
        return self._number

    @property
    def statistics(self) -> Update | None:
        """Report of the last update that had changes to work in; None before the first.

        >>> store = tg.dynamic.Store()
        >>> store.insert(torch.arange(99), torch.arange(1, 100))
        1
        >>> follow = tg.dynamic.follow(tg.algorithms.BFS(0), store)
        >>> depth = follow.values
        >>> follow.statistics.recomputed
        'there were no values'
        """
        return self._last

    @property
    def nbytes(self) -> int:
        """Bytes of the follower beside the store, without shared tensors.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> follow = tg.dynamic.follow(tg.algorithms.BFS(0), store)
        >>> depth = follow.values
        >>> follow.nbytes < 1000
        True
        """
        arcs = 0 if self._arcs is None else self._arcs.nbytes
        return arcs + self._nbytes() + sum(run.nbytes for run in tuple(self._runs))

    def update(self) -> Update:
        """Bring the values to the store's newest version; returns the report of the last update that had changes to
        work in. Raises as a computation from nothing does.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> follow = tg.dynamic.follow(tg.algorithms.BFS(0), store)
        >>> follow.update().version
        1
        """
        with self._updating:
            self._update()
            assert self._last is not None
            return self._last

    def _committed(self, run: Run) -> None:
        """Called by the store for each batch, in order, before its version is there."""
        self._changes += run.size
        if self._changes <= self._most:
            self._runs.append(run)
        else:
            self._runs.clear()

    def _update(self) -> None:
        with self._store._head.publishing as publication:
            runs, changes, version = self._runs, self._changes, publication.version
            self._runs, self._changes = [], 0
        if self._number == version.number:
            return
        before, self._number = self._number, None  # after a fault the values are computed from nothing
        most, self._most = self._most, _worth_following(version)
        try:
            if before is None:
                raise FromNothing("there were no values")
            if len(runs) != version.number - before or changes > most:
                raise FromNothing("many arcs changed")
            touched, reason = self._advance(version, [run for run in runs if run.size] or runs[:1]), None
        except FromNothing as why:
            reason = str(why)
            self._compute(version, self._store._snapshot_of(version))
            touched = version.num_vertices
        self._number, batches = version.number, version.number - (before or 0)
        self._last = Update(version.number, batches, changes, touched, reason)

    # ---- implementation of a kind of follower ----------------------------------------------------------------------

    def _compute(self, version: Version, graph: Graph) -> None:
        """Compute the values from nothing."""
        raise NotImplementedError

    def _advance(self, version: Version, runs: Sequence[Run]) -> int:
        """Work in the runs committed since the last `_compute` or `_advance`; returns the number of vertices looked at.
        Raises FromNothing where that is cheaper."""
        raise NotImplementedError

    def _finished(self) -> Any:
        """The values as the user sees them."""
        raise NotImplementedError

    def _nbytes(self) -> int:
        """Bytes of the tensors of this kind of follower."""
        return 0


def with_room(values: Tensor, n: int) -> Tensor:
    """Values [k] as they are where they suffice for n vertices, else with zeros behind them for more."""
    return values if n <= len(values) else torch.cat((values, values.new_zeros(n + n // 2 - len(values))))


class Recomputing(Follower):
    """Values that are computed from nothing for each version that they are asked for."""

    def __init__(self, store: Store, compute: Any, why: str):
        super().__init__(store)
        self._compute_values, self._why, self._result = compute, why, None

    def _compute(self, version: Version, graph: Graph) -> None:
        self._result = self._compute_values(graph)

    def _advance(self, version: Version, runs: Sequence[Run]) -> int:
        raise FromNothing(self._why)

    def _finished(self) -> Any:
        return self._result
