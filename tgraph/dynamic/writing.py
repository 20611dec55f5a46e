"""Changes of a store as runs, committed one batch after the other."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from tgraph.core import sums
from tgraph.core.building import inputs, sorting
from tgraph.core.graph import Graph
from tgraph.dynamic.batches import columns_of_batch, ends_of_batch, length_of
from tgraph.dynamic.head import Head
from tgraph.dynamic.ids import GrowingIds
from tgraph.dynamic.runs import Arcs, Run, Schema, deleting_run, merged, sorted_run
from tgraph.dynamic.snapshots import SnapshotCsr, version_of
from tgraph.dynamic.version import Version
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.changes import are_vertices, columns_of, inserts, rows_of


class Log(Protocol):
    """The way of a batch from its commit to the readers."""

    @property
    def num_vertices(self) -> int:
        """n after the last batch appended."""

    def append(self, writer: Writer, run: Run, num_vertices: int) -> int:
        """Append a batch; returns the number of its version."""

    def wait(self, number: int | None = None) -> None:
        """Return once readers see a version, None for that of the last batch appended."""


class MemoryLog:
    """The `Log` of a store in memory: readers see a batch at once."""

    def __init__(self, head: Head):
        self._head = head

    @property
    def num_vertices(self) -> int:
        return self._head.version.num_vertices

    def append(self, writer: Writer, run: Run, num_vertices: int) -> int:
        with self._head.publishing as publication:
            return publication.commit(run, num_vertices)

    def wait(self, number: int | None = None) -> None:
        """See `Log.wait`."""


class Writer:
    """The right to commit batches, which one thread at a time has.

    Its methods change nothing where they raise, and return the number of the version that they commit.
    """

    def __init__(self, head: Head, log: Log):
        self._head, self._log = head, log
        self._largest_sum: int | None = None  # no integer weight is larger, see `_check_sums`; None for unknown

    @property
    def _schema(self) -> Schema:
        return self._head.version.schema

    @property
    def ids(self) -> GrowingIds | None:
        """The ids of the vertices, with those of the batch being committed."""
        return self._head.ids

    def newest(self) -> Version:
        """The version after all batches committed."""
        self._log.wait()
        return self._head.version

    def insert(self, src: Any, dst: Any, given: dict[str, Any], replaces: bool) -> int:
        """Insert arcs, see `Store.insert`. replaces : as `Store.upsert` does."""
        schema, directed = self._schema, self._head.directed
        columns = columns_of_batch(schema, given, length_of(src, dst))
        try:
            src, dst = ends_of_batch(src, dst, self.ids, known=None)
            run = sorted_run(schema, src, dst, columns, directed)
            if replaces and schema.parallel != "last":
                run = merged(schema, [deleting_run(schema, src, dst, directed), run])
            self._check_sums(run)
            return self._commit(run)
        except BaseException:
            if self.ids is not None:  # undo the numbering of a failed batch
                self.ids.forget(self._log.num_vertices)
            raise

    def delete(self, src: Any, dst: Any) -> int:
        """Delete all arcs between ends, see `Store.delete`."""
        n = self._log.num_vertices
        src, dst = ends_of_batch(src, dst, self.ids, n)
        run = deleting_run(self._schema, src, dst, self._head.directed)
        if run.num_vertices > n:  # no vertices, so that there is nothing to delete
            known = (rows_of(run.changes) < n) & (columns_of(run.changes) < n)
            run = Run(run.changes[known], tuple(column[known] for column in run.data), n)
        return self._commit(run)

    def delete_arcs(self, arcs: Any, graph: Graph) -> int:
        """Delete arcs of a snapshot by their numbers, see `Store.delete_arcs`."""
        newest, version = self.newest(), version_of(graph)
        if version.schema is not self._schema:
            raise ArgumentError("graph: a snapshot of another store; take one of this")
        if version.number != newest.number:
            raise ArgumentError(
                f"graph: a snapshot of version {version.number}, the store is at {newest.number}; take a new one"
            )
        there, arcs = version.arcs(), inputs.as_index(arcs, "arcs").to(torch.int64)
        if len(wrong := ((arcs < 0) | (arcs >= len(there.neighbors))).nonzero()):
            place = int(wrong[0])
            raise ArgumentError(
                f"arcs: {int(arcs[place])} at position {place} is no arc {inputs.below(len(there.neighbors))} of graph"
            )
        return self._commit(_deleting_arcs(self._schema, there, arcs, self._head.directed))

    def delete_vertices(self, vertices: Any) -> int:
        """Delete all arcs of vertices, see `Store.delete_vertices`."""
        version = self.newest()
        is_gone = torch.zeros(version.num_vertices, dtype=torch.bool)
        is_gone[vertex_numbers(vertices, version, self.ids)] = True
        there = version.arcs()
        source = sorting.expand_rows(there.offset)
        chosen = (is_gone[source] | is_gone[there.neighbors]).nonzero().view(-1)
        src, dst = source[chosen], there.neighbors[chosen].to(torch.int64)
        return self._commit(deleting_run(self._schema, src, dst, directed=True))

    def _commit(self, run: Run) -> int:
        n = len(self.ids) if self.ids is not None else max(self._log.num_vertices, run.num_vertices)
        return self._log.append(self, run, n)

    def _check_sums(self, run: Run) -> None:
        """Raise ArgumentError for the first integer weight of a run whose sum with the weight there its dtype cannot
        hold.

        Nothing is looked up while the sum of the largest weights of all batches fits. Weights that wrap round in a
        merge of runs alone come right when the runs before are added.
        """
        if (place := self._schema.summed) is None or not run.size or run.data[place].is_floating_point():
            return
        added = run.data[place]
        limits = torch.iinfo(added.dtype)
        if self._largest_sum is None:
            version = self._head.version
            held = [version.base.data, *(other.data for other in version.runs)]
            self._largest_sum = sum(sums.largest(data[place]) for data in held)
        self._largest_sum += sums.largest(added)
        if self._largest_sum <= limits.max:
            return
        self._largest_sum = limits.max
        there = _weights_there(self.newest(), place, run)
        if len(wrong := sums.leaves(there, added.to(torch.int64), "add", limits.min, limits.max).nonzero()):
            first = int(wrong[0])
            pair = int(rows_of(run.changes[first])), int(columns_of(run.changes[first]))
            raise ArgumentError(
                f"weights: those of the arc {pair[0]} -> {pair[1]} add up to {int(there[first]) + int(added[first])}, "
                f"which {added.dtype} cannot hold; make the store with a wider dtype"
            )


def vertex_numbers(vertices: Any, version: Version, ids: GrowingIds | None) -> Tensor:
    """Vertices of a version [k] as numbers, int64. Raises UnknownVertexError or ArgumentError for others."""
    n = version.num_vertices
    if ids is not None:
        return ids.find(vertices, "vertices", n)
    tensor = inputs.as_tensor(vertices, "vertices")
    if tensor.dtype == torch.int64 and tensor.dim() == 1 and tensor.is_cpu and are_vertices(tensor, n):
        return tensor
    return Graph.of_storage(SnapshotCsr(version)).as_vertices(vertices)


def _deleting_arcs(schema: Schema, there: Arcs, arcs: Tensor, directed: bool) -> Run:
    """The run that deletes arcs by their numbers, int64 [k]: it deletes all arcs between their ends, and inserts the
    other parallel ones again."""
    gone = torch.zeros(len(there.neighbors), dtype=torch.bool)
    gone[arcs] = True
    source = sorting.expand_rows(there.offset)
    pair = source << 32 | there.neighbors
    if not directed:  # parallel arcs lie in the order of time both ways
        back = there.neighbors[arcs].to(torch.int64) << 32 | source[arcs]
        gone[torch.searchsorted(pair, back) + arcs - torch.searchsorted(pair, pair[arcs])] = True
    run = deleting_run(schema, source[gone], there.neighbors[gone].to(torch.int64), directed=True)
    if schema.parallel != "keep":
        return run
    left = torch.isin(pair, pair[gone]) & ~gone
    data = [column[left] for column in there.data]
    again = sorted_run(schema, source[left], there.neighbors[left].to(torch.int64), data, directed=True)
    return merged(schema, [run, again])


def _weights_there(version: Version, place: int, run: Run) -> Tensor:
    """The weight in a version of the arc of each change, int64 [k], 0 for arcs that are not there. place : of the
    weights among the columns."""
    source, target = rows_of(run.changes), columns_of(run.changes)
    known = source.unique_consecutive()
    known = known[known < version.num_vertices]
    offset, neighbors, data = version.rows(known)
    pairs = known[sorting.expand_rows(offset)] << 32 | neighbors.to(torch.int64)
    wanted = source << 32 | target
    at = torch.searchsorted(pairs, wanted).clamp_(max=max(len(pairs) - 1, 0))
    if not len(pairs):
        return torch.zeros_like(wanted)
    return torch.where(inserts(run.changes) & (pairs[at] == wanted), data[place][at].to(torch.int64), 0)
