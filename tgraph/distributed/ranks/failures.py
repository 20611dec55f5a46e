"""Failures of one rank, which end the others with its message, without waiting for a time-out.

A rank that fails leaves its message in the store through which the group was made, and breaks its connections. Every
rank that waits for it gets an error at once, finds the message, and breaks its own, and so on. Ranks that fail at the
same step, as all do of a wrong argument, confirm that to each other, and the group lives on.
"""

from __future__ import annotations

import hashlib
import json
import time
import traceback
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import torch
import torch.distributed as dist

from tgraph.distributed.ranks import shared
from tgraph.distributed.ranks.ownership import gather
from tgraph.distributed.ranks.process_group import made
from tgraph.errors import ArgumentError, RankError

# Seconds for which a rank that failed waits for others to fail likewise, and for which one that lost its connection
# looks for a message.
PATIENCE = 3.0

# Why a group is broken, by its name.
_broken: dict[str, str] = {}

# By group, weakly referenced: the step at which this rank has entered its last block, and the number of blocks entered
# at that step.
_entered: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()


@contextmanager
def together(group: Any = None, what: Mapping[str, str] | None = None) -> Iterator[None]:
    """A block, entered by all ranks of a process group, in which the failure of one rank ends the others.

    group : a process group of torch.distributed; None is the default one.
    what : the description of the block, by aspects that all ranks must agree in.

    A rank that raises an exception, KeyboardInterrupt included, ends the group within a few seconds; the others raise
    RankError, which names it and has its message. Where all raise at the same step, the group lives on. Raises
    ArgumentError, on all ranks, where they disagree in `what`, and RankError where the group was broken before.

    Connections break at once where torch.distributed alone references the group, as it does the default one; those of
    another group last until the process ends.

    >>> with tg.distributed.together(what={"step": "training"}):  # on all ranks
    ...     loss = torch.ones(1)
    """
    with reporting(group):
        _agree(group, what or {})
        yield


@contextmanager
def reporting(group: Any = None) -> Iterator[None]:
    """As `together`, without an exchange at the beginning that compares the ranks."""
    watch = _Watch(group)
    try:
        made(group)
        yield
    except BaseException as error:
        if isinstance(error, RankError) or watch.is_broken:
            raise  # by a block within this one
        if not _is_of_transport(error):
            watch.failed(error)
            raise
        raise watch.lost(error) from error


def _agree(group: Any, what: Mapping[str, str]) -> None:
    """Raise ArgumentError, on all ranks, unless all gave the same."""
    digest = hashlib.sha256(json.dumps(sorted(what.items())).encode()).digest()[:8]
    mine = torch.frombuffer(bytearray(digest), dtype=torch.int64)
    parts = gather(mine, dist.get_world_size(group), group)
    if len(set(parts.flatten().tolist())) == 1:
        return
    given: list[Any] = [None] * len(parts)
    dist.all_gather_object(given, dict(what), group=group)
    for rank, other in enumerate(given):
        for name in [*given[0], *other]:
            here, there = given[0].get(name, "missing"), other.get(name, "missing")
            if here != there:
                raise ArgumentError(
                    f"the ranks do different things: {name} is {here} on rank 0 and {there} on rank {rank}; give all "
                    "ranks the same"
                )


class _Watch:
    """The exchange of failures among the ranks of a group."""

    def __init__(self, group: Any):
        name = "" if group is None else group.group_name
        if name in _broken and (group is not None or not dist.is_initialized()):
            raise RankError(None, None, f"group: it is broken since a failure ({_broken[name]}); start the ranks anew")
        _broken.pop(name, None)
        self._group, self._name = group, name
        self.rank, self.ranks = dist.get_rank(group), range(dist.get_world_size(group))
        self._store = dist.distributed_c10d._get_default_store()
        self._begun = self._enter()

    @property
    def is_broken(self) -> bool:
        """Whether this rank has broken its connections."""
        return self._name in _broken

    def _enter(self) -> tuple[int, int]:
        """The name of this block among all of the group: the step, and the number of blocks that began at it before."""
        world: Any = dist.group.WORLD if self._group is None else self._group
        step, count = _entered.get(world, (-1, 0))
        now = self._step()
        _entered[world] = begun = now, count + 1 if now == step else 0
        return begun

    def _step(self) -> int:
        """Number of exchanges that this rank has begun, by all transports of the group; -1 where one counts none."""
        try:
            group: Any = dist.group.WORLD if self._group is None else self._group
            transports = {group._get_backend(device) for device in group._device_types}
            begun = sum(each._get_sequence_number_for_group() for each in transports)
            return begun + shared.exchanges_of(self._group)
        except RuntimeError:
            return -1

    def failed(self, error: BaseException) -> None:
        """Report a failure of this rank, and end the others unless all fail at the same step."""
        mine = {"said": f"{type(error).__name__}: {error}".strip(": "), "step": self._step()}
        self._report(mine)
        for reports in self._looks():
            alike = [each["step"] == mine["step"] and "said" in each for each in reports.values()]
            if not all(alike):
                break
            if len(alike) == len(self.ranks):
                return
        self._break(error, f"rank {self.rank}: {mine['said']}")
        for reports in self._looks():  # this process may hold the store
            if len(reports) == len(self.ranks):
                break

    def lost(self, error: BaseException) -> RankError:
        """Report a lost connection; returns the error with its cause."""
        self._report({"step": self._step()})
        said = str(error).partition("\n")[0].partition(". This is")[0]  # gloo explains itself at length
        self._break(error, said)
        found = self._reason(said)
        _broken[self._name] = str(found)
        return found

    def _reason(self, said: str) -> RankError:
        """The error of lost connections, for which the transport has given the reason `said`."""
        reports: dict[int, dict[str, Any]] = {}
        for reports in self._looks():
            failures = {rank: each["said"] for rank, each in reports.items() if "said" in each}
            if failures:
                rank = min(failures)
                return RankError(rank, failures[rank], f"rank {rank} failed: {failures[rank]}")
            if len(reports) == len(self.ranks):
                break
        silent = [rank for rank in self.ranks if rank not in reports]
        if not silent:
            return RankError(None, None, f"the ranks lost their connections to each other; {said}")
        names = ", ".join(map(str, silent))
        return RankError(
            silent[0] if len(silent) == 1 else None,
            None,
            f"rank {names} was lost without a message: killed, out of memory or cut off; see its log. {said}",
        )

    def _looks(self) -> Iterator[dict[int, dict[str, Any]]]:
        """The reports of the ranks since the block began, repeatedly until PATIENCE ends."""
        end = time.monotonic() + PATIENCE
        while True:
            reports = {rank: each for rank in self.ranks if (each := self._reported(rank)) is not None}
            yield reports
            if time.monotonic() > end:
                return
            time.sleep(0.02)

    def _key(self, rank: int) -> str:
        return f"tgraph/failure/{self._name}/{self._begun[0]}.{self._begun[1]}/{rank}"

    def _report(self, message: dict[str, Any]) -> None:
        with suppress(RuntimeError):  # the process with the store has ended
            self._store.set(self._key(self.rank), json.dumps(message))

    def _reported(self, rank: int) -> dict[str, Any] | None:
        """The report of a rank, None for none."""
        try:
            key = self._key(rank)
            return json.loads(self._store.get(key)) if self._store.check([key]) else None
        except RuntimeError:
            return None

    def _break(self, error: BaseException | None, why: str) -> None:
        """Close the connections of this rank. The frames of an exception may reference exchanges under way, and these
        the connections."""
        shared.stop(self._group)
        while error is not None:
            traceback.clear_frames(error.__traceback__)
            error = error.__context__
        end = getattr(dist.distributed_c10d, "_abort_process_group", dist.destroy_process_group)
        with suppress(RuntimeError, ValueError, AssertionError):
            end(self._group)
        _broken[self._name] = why


def _is_of_transport(error: BaseException) -> bool:
    """Whether an exception reports a failed exchange, caused elsewhere."""
    known = (dist.DistBackendError, dist.DistNetworkError)
    return isinstance(error, known) or (isinstance(error, RuntimeError) and "gloo" in str(error))
