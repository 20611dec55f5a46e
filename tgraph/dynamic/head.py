"""The newest version of a store, and the right to replace it."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Mapping
from typing import Any, Literal, get_args

import torch

from tgraph.core.building import inputs
from tgraph.core.graph import Graph
from tgraph.dynamic import tiers
from tgraph.dynamic.guarded import Guarded
from tgraph.dynamic.ids import GrowingIds
from tgraph.dynamic.runs import TIMES, WEIGHTS, Arcs, Run, Schema, no_arcs
from tgraph.dynamic.version import Version
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.changes import Parallel

Ids = Literal["index", "any"]


class Publication:
    """The newest version of a store as the one thread has it that holds `Head.publishing`, and so may replace it.

    followers : take each committed run. snapshot : the last one made, of the newest version. inserted, merged,
    compacted : changes committed, changes of merged runs, and arcs of new CSRs, for `Store.info`.
    """

    def __init__(self, version: Version):
        self.version = version
        self.followers: weakref.WeakSet[Any] = weakref.WeakSet()  # see `tgraph.dynamic.follow`
        self.snapshot: tuple[Version, Graph] | None = None
        self.inserted = self.merged = self.compacted = 0

    def show(self, version: Version) -> None:
        """Make a version the newest one."""
        self.version, self.snapshot = version, None

    def commit(self, run: Run, num_vertices: int) -> int:
        """Make the version after a batch the newest one; returns its number."""
        following = self.version.after(run, num_vertices)
        runs = tiers.merged_tail(following.schema, following.runs)
        self._count(following.base, runs[-1].size if runs[-1] is not run else 0)
        self.inserted += run.size
        for follower in self.followers:
            follower._committed(run)
        self.show(following.with_runs(following.base, runs))
        return following.number

    def replace(self, version: Version, chosen: tuple[int, int], made: Run | Arcs) -> None:
        """Put a run in the place of the runs [first, last) of a version, or arcs in the place of its CSR and its runs
        up to `last`, unless others have replaced these meanwhile."""
        (first, last), now = chosen, self.version
        if now.base is not version.base or not all(map(operator.is_, now.runs[:last], version.runs[:last])):
            return
        if isinstance(made, Run):
            self._count(now.base, made.size)
            self.show(now.with_runs(now.base, (*now.runs[:first], made, *now.runs[last:])))
        else:
            self._count(made, 0)
            self.show(now.with_runs(made, now.runs[last:]))

    def compact(self) -> None:
        """Merge all runs into the CSR."""
        arcs = self.version.merge()
        if self.version.runs:
            self._count(arcs, 0)
            self.show(self.version.with_runs(arcs, ()))

    def _count(self, base: Arcs, merged: int) -> None:
        self.merged += merged
        self.compacted += 0 if base is self.version.base else len(base.neighbors)


class Head:
    """The newest version of a store, which readers see without a lock.

    directed : of the store. ids : of the vertices, None where they are numbers. publishing : the right to replace the
    version, for one thread at a time.
    """

    def __init__(self, directed: bool, ids: GrowingIds | None, version: Version):
        self.directed, self.ids = directed, ids
        self._newest = Publication(version)
        self.publishing = Guarded(self._newest)

    @property
    def version(self) -> Version:
        """The newest version."""
        return self._newest.version

    def snapshot(self, version: Version) -> Graph | None:
        """The last snapshot, None where it is of another version."""
        found = self._newest.snapshot
        return found[1] if found is not None and found[0] is version else None

    def cache(self, version: Version, graph: Graph) -> None:
        """Cache the snapshot of a version while that is the newest one."""
        if version is self._newest.version:
            self._newest.snapshot = version, graph

    def write_amplification(self) -> float:
        """Changes and arcs written for each change inserted."""
        newest = self._newest
        return (newest.inserted + newest.merged + newest.compacted) / max(newest.inserted, 1)


def empty_head(
    weights: torch.dtype | None,
    times: torch.dtype | None,
    arc_data: Mapping[str, torch.dtype] | None,
    directed: bool,
    multi: Parallel,
    ids: Ids,
    num_vertices: int,
) -> Head:
    """The head of a new store. The arguments are those of `Store`, and checked."""
    inputs.check_choice(multi, "multi", get_args(Parallel))
    inputs.check_choice(ids, "ids", get_args(Ids))
    named = {WEIGHTS: weights, TIMES: times}
    schema = Schema(multi, {name: dtype for name, dtype in named.items() if dtype is not None} | dict(arc_data or {}))
    for name, dtype in schema.columns.items():
        if not isinstance(dtype, torch.dtype) or dtype.is_complex or dtype == torch.bool:
            raise ArgumentError(f"{name}: expected an integer or floating dtype such as torch.float32, got {dtype!r}")
    if taken := named.keys() & (arc_data or {}).keys():
        raise ArgumentError(f"arc_data: {min(taken)!r} has an argument of its own; use that")
    num_vertices = inputs.as_count(num_vertices, "num_vertices")
    if num_vertices and ids == "any":
        raise ArgumentError("num_vertices: with ids='any' vertices come with their ids; leave it out")
    version = Version(schema, 0, num_vertices, no_arcs(schema))
    return Head(bool(directed), GrowingIds() if ids == "any" else None, version)
