"""A store of a graph that changes: batches in, snapshots out."""

from __future__ import annotations

import operator
import threading
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from tgraph.core import sums
from tgraph.core.building import inputs, sorting
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.dynamic import compaction
from tgraph.dynamic.batches import columns_of_batch, ends_of_batch, length_of, of_chunk
from tgraph.dynamic.ids import GrowingIds
from tgraph.dynamic.moments import moment
from tgraph.dynamic.runs import WEIGHTS, Arcs, Run, Schema, deleting_run, merged, no_arcs, sorted_run
from tgraph.dynamic.snapshots import SnapshotCsr, StreamedSnapshot
from tgraph.dynamic.times import between
from tgraph.dynamic.version import Version
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.changes import Parallel, are_vertices, columns_of, inserts, rows_of
from tgraph.stream.memory import trim_heap

TIMES = "times"
Ids = Literal["index", "any"]

_PACE = 6  # times its usual duration, an insert waits at most for the compaction that it is ahead of


class Store:
    """A graph in memory that changes by batches of arcs, while programs run on snapshots of it.

    weights : the dtype of the weights of arcs, None for none.
    times : the dtype of the time of each arc, for snapshots at a time, None for none.
    arc_data : {name: dtype} of other columns of arc data.
    directed : False stores each edge both ways, a self-loop once.
    multi : of parallel arcs, "last" keeps the one inserted last, "sum" one of all their weights and the other data of
        the last, "keep" all.
    ids : "index" where vertices are numbers 0..n-1, "any" where they are integers or labels of any kind, numbered in
        the order in which they come.
    num_vertices : how many vertices there are at least, with ids="index".

    Batches are committed one after the other, from any thread; a snapshot is the graph after some batch. Readers take
    no locks. Changes lie in sorted runs over one CSR and are merged into it in the background: a log-structured
    merge-tree (O'Neil et al., 1996) whose last level is a CSR, as in LSMGraph (Yu et al., SIGMOD 2024); deletions are
    tombstones, and inserting looks nothing up.

    >>> store = tg.dynamic.Store(weights=torch.float32)
    >>> store.insert([0, 1], [1, 2], [0.5, 2.0])
    1
    >>> graph = store.snapshot()
    >>> store.delete([0], [1])
    2
    >>> graph.num_arcs, store.snapshot().num_arcs
    (2, 1)
    >>> tg.algorithms.bfs(store.snapshot(), 1)
    tensor([-1,  0,  1], dtype=torch.int32)
    """

    def __init__(
        self,
        weights: torch.dtype | None = None,
        *,
        times: torch.dtype | None = None,
        arc_data: Mapping[str, torch.dtype] | None = None,
        directed: bool = True,
        multi: Parallel = "last",
        ids: Ids = "index",
        num_vertices: int = 0,
    ):
        inputs.check_choice(multi, "multi", get_args(Parallel))
        inputs.check_choice(ids, "ids", get_args(Ids))
        named = {WEIGHTS: weights, TIMES: times}
        schema = Schema(
            multi, {name: dtype for name, dtype in named.items() if dtype is not None} | dict(arc_data or {})
        )
        _check_schema(schema, arc_data or {})
        num_vertices = inputs.as_count(num_vertices, "num_vertices")
        if num_vertices and ids == "any":
            raise ArgumentError("num_vertices: with ids='any' vertices come with their ids; leave it out")
        self.directed: bool = bool(directed)
        self._schema, self._ids = schema, GrowingIds() if ids == "any" else None
        self._version = Version(schema, 0, num_vertices, no_arcs(schema))
        self._writing, self._publishing = threading.RLock(), threading.Lock()
        self._compactor = compaction.Compactor(self._compact_step)
        self._written = {"inserted": 0, "merged": 0, "compacted": 0}  # changes and arcs, for `info`
        self._usual = float("inf")  # seconds of an arc, see `_usual_of`
        self._largest_sum: int | None = None  # no integer weight is larger, see `_check_sums`; None for unknown
        self._closed = False
        self._followers: weakref.WeakSet[Any] = weakref.WeakSet()  # see `tgraph.dynamic.follow`
        self._kept: tuple[Version, Graph] | None = None  # the last snapshot, of the present version

    # ---- what is there ---------------------------------------------------------------------------------------------

    @property
    def multi(self) -> Parallel:
        """The rule for parallel arcs.

        >>> tg.dynamic.Store(multi="sum", weights=torch.float32).multi
        'sum'
        """
        return self._schema.parallel

    @property
    def columns(self) -> dict[str, torch.dtype]:
        """The dtype of each column of arc data by name, `weights` and `times` among them.

        >>> tg.dynamic.Store(weights=torch.float32, times=torch.int64).columns
        {'weights': torch.float32, 'times': torch.int64}
        """
        return dict(self._schema.columns)

    @property
    def version(self) -> int:
        """The number of batches committed.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> store.version
        1
        """
        return self._version.number

    @property
    def num_vertices(self) -> int:
        """n: one more than the largest vertex that an arc came with.

        >>> store = tg.dynamic.Store(num_vertices=2)
        >>> store.insert([0], [6])
        1
        >>> store.num_vertices
        7
        """
        return self._version.num_vertices

    def snapshot(self, at: Any = None, since: Any = None) -> Graph:
        """The graph after all batches committed so far, as a Graph that stays as it is; in microseconds.

        at, since : numbers; only arcs of times since <= time <= at, in a store that keeps `times`; that copies them.
            Dates and times mean nanoseconds since 1970, as in `insert`.

        The first that reads its arcs as CSR merges the runs into it, for all snapshots of this version, and for the
        store.

        >>> store = tg.dynamic.Store(times=torch.int64, multi="keep")
        >>> store.insert([0, 1, 0], [1, 2, 1], times=[10, 20, 30])
        1
        >>> store.snapshot().num_arcs, store.snapshot(since=15, at=30).to_edge_index()
        (3, tensor([[0, 1],
                [1, 2]]))
        """
        graph = self._snapshot_of(self._version)
        at, since = moment(at, "at"), moment(since, "since")
        return graph if at is None and since is None else self._between(graph, since, at)

    def _snapshot_of(self, version: Version) -> Graph:
        """The graph of a version: the same one until the next batch, since what is derived from it is kept with it."""
        if (kept := self._kept) is not None and kept[0] is version:
            return _with_own_weights(kept[1])
        ids = None if self._ids is None else self._ids.first(version.num_vertices)
        graph = Graph.of_storage(self._storage_of(version, ids), ids, self.directed)
        if version is self._version:
            self._kept = version, graph
        return _with_own_weights(graph)

    def _storage_of(self, version: Version, ids: Any) -> SnapshotCsr | StreamedSnapshot:
        """What a snapshot of a version has its arcs in. ids : of its vertices."""
        return SnapshotCsr(version)

    def _between(self, graph: Graph, since: Any, at: Any) -> Graph:
        if TIMES not in self._schema.columns:
            raise ArgumentError("at, since: the store keeps no times; make it with times=torch.int64")
        chosen = between(self.arc_data(graph)[TIMES], since, at).nonzero().view(-1)
        degree = torch.bincount(sorting.expand_rows(graph.offset)[chosen], minlength=graph.num_vertices)
        offset = torch.cat((degree.new_zeros(1), torch.cumsum(degree, 0)))
        weights = None if graph.weights is None else graph.weights[chosen]
        arcs = Csr.unchecked(offset, graph.neighbors[chosen], None, graph.num_vertices, weights)
        return Graph.of_storage(arcs, graph._ids, self.directed)

    def arc_data(self, graph: Graph) -> dict[str, Tensor]:
        """The columns of arc data of a snapshot, {name: [m]} in the order of its arcs: copies, unless the
        snapshot is streamed. Raises ArgumentError for another graph.

        >>> store = tg.dynamic.Store(times=torch.int64)
        >>> store.insert([1, 0], [2, 1], times=[10, 20])
        1
        >>> store.arc_data(store.snapshot())
        {'times': tensor([20, 10])}
        """
        version = _version_of(graph)
        columns = version.settled().data if graph.layout is not None else map(torch.clone, version.settled().data)
        return dict(zip(version.schema.columns, columns, strict=True))

    def neighbors(self, vertices: Any) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """The arcs of `vertices` [k] now: (offset int64 [k + 1], neighbors int32 [e], {column: [e]}), all as vertex
        numbers. Costs what the rows are long, and a search in each run. Raises UnknownVertexError or ArgumentError for
        what is no vertex.

        >>> store = tg.dynamic.Store(weights=torch.float32)
        >>> store.insert([0, 0, 1], [1, 2, 2], [0.5, 2.0, 1.0])
        1
        >>> store.neighbors([0])
        (tensor([0, 2]), tensor([1, 2], dtype=torch.int32), {'weights': tensor([0.5000, 2.0000])})
        """
        version = self._version
        wanted = self._vertices(vertices, version)
        offset, neighbors, data = version.rows(wanted)
        return offset, neighbors, dict(zip(self._schema.columns, data, strict=True))

    def info(self) -> dict[str, Any]:
        """Facts for a person: version, sizes, bytes by level, and what was written how often.

        `write amplification` is the changes and arcs written for each change inserted.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> store.info()["version"]
        1
        """
        version, written = self._version, self._written
        total = sum(written.values())
        return {
            "version": version.number,
            "vertices": version.num_vertices,
            "arcs in CSR": len(version.base.neighbors),
            "changes in runs": version.pending,
            "runs": [run.size for run in version.runs],
            "bytes of CSR": version.base.nbytes,
            "bytes of runs": sum(run.nbytes for run in version.runs),
            "write amplification": total / max(written["inserted"], 1),
        }

    # ---- changes ---------------------------------------------------------------------------------------------------

    def insert(
        self, src: Any, dst: Any, weights: Any = None, times: Any = None, data: Mapping[str, Any] | None = None
    ) -> int:
        """Insert the arcs `src[i]` -> `dst[i]`, vertices [k] each, as one batch; returns the version that has them.

        weights, times : [k] in a store that keeps them. data : {name: [k]} of its other columns. Dates and times, as
        of numpy, pandas or Arrow, become nanoseconds since 1970 in UTC, for which a column has to be torch.int64.

        New vertices come with their arcs. Of parallel arcs, in the batch or not, `multi` says what becomes. Raises
        ArgumentError, and changes nothing, for vertices or data that the store cannot take.

        >>> store = tg.dynamic.Store(weights=torch.float32, ids="any")
        >>> store.insert(["ann", "bob"], ["bob", "eve"], [1.0, 2.0])
        1
        >>> store.insert(["ann"], ["bob"], [5.0])
        2
        >>> store.snapshot().to_pandas()
          source target  weight
        0    ann    bob     5.0
        1    bob    eve     2.0
        """
        return self._insert(src, dst, {WEIGHTS: weights, TIMES: times, **(data or {})}, replaces=False)

    def upsert(
        self, src: Any, dst: Any, weights: Any = None, times: Any = None, data: Mapping[str, Any] | None = None
    ) -> int:
        """As `insert`, but arcs of the same ends that were there before are deleted, whatever `multi` says. The
        arguments are those of `Store.insert`.

        >>> store = tg.dynamic.Store(weights=torch.float32, multi="sum")
        >>> store.insert([0, 0], [1, 1], [1.0, 2.0])
        1
        >>> store.upsert([0], [1], [5.0])
        2
        >>> store.snapshot().weights
        tensor([5.])
        """
        return self._insert(src, dst, {WEIGHTS: weights, TIMES: times, **(data or {})}, replaces=True)

    def insert_from(self, chunks: Iterable[Any]) -> int:
        """Insert chunks of arcs, each as one batch; returns the version that has them all.

        chunks : of them the next is asked for once the one before is committed, so that a source never gets far ahead.
        Each is a tuple of arguments of `insert`, (src, dst), (src, dst, weights) and so on, or a table of columns: a
        mapping, a frame of pandas or polars, a table or record batch of Arrow, with columns src and dst, or other names
        that `tgraph.read` knows, and the arc data of the store by their names.

        Raises as `insert`, with the chunks before in the store; ArgumentError, whose message has the number of the
        chunk, for one that the store cannot take.

        >>> store = tg.dynamic.Store(weights=torch.float32)
        >>> store.insert_from([([0], [1], [1.5]), {"src": [1], "dst": [2], "weight": [2.5]}])
        2
        """
        number = self.version
        for place, chunk in enumerate(chunks):
            try:
                number = self.insert(**of_chunk(self._schema, chunk))
            except ArgumentError as fault:
                raise ArgumentError(f"{fault}; in chunk {place}, and those before it are in the store") from fault
        return number

    def _insert(self, src: Any, dst: Any, given: dict[str, Any], replaces: bool) -> int:
        with self._writing:
            begun = time.perf_counter()
            self._check_open()
            columns = columns_of_batch(self._schema, given, length_of(src, dst))
            try:
                src, dst = ends_of_batch(src, dst, self._ids, known=None)
                run = sorted_run(self._schema, src, dst, columns, self.directed)
                if replaces and self.multi != "last":
                    run = merged(self._schema, [deleting_run(self._schema, src, dst, self.directed), run])
                self._check_sums(run)
                number = self._commit(run)
            except BaseException:
                if self._ids is not None:  # those of a batch that is not in the store
                    self._ids.forget(self._vertices_before())
                raise
        self._await(number)
        self._keep_pace(begun, len(src))
        return number

    def _check_sums(self, run: Run) -> None:
        """Raise ArgumentError for the first integer weight of a run that its dtype cannot hold together with that which
        it is added to. Held: `_writing`.

        Where the largest weights of all batches together fit nothing is looked up. What is wrapped within a merge of
        runs alone comes right when the runs before are added."""
        if (place := self._schema.summed) is None or not run.size or run.data[place].is_floating_point():
            return
        added = run.data[place]
        limits = torch.iinfo(added.dtype)
        if self._largest_sum is None:
            held = [self._version.base.data, *(other.data for other in self._version.runs)]
            self._largest_sum = sum(sums.largest(data[place]) for data in held)
        self._largest_sum += sums.largest(added)
        if self._largest_sum <= limits.max:
            return
        self._publish_all()
        self._largest_sum = limits.max
        there = _weights_there(self._version, place, run)
        if len(wrong := sums.leaves(there, added.to(torch.int64), "add", limits.min, limits.max).nonzero()):
            first = int(wrong[0])
            pair = int(rows_of(run.changes[first])), int(columns_of(run.changes[first]))
            raise ArgumentError(
                f"weights: those of the arc {pair[0]} -> {pair[1]} add up to {int(there[first]) + int(added[first])}, "
                f"which {added.dtype} cannot hold; make the store with a wider dtype"
            )

    def _publish_all(self) -> None:
        """Have the present version be that of the newest batch. Held: `_writing`."""

    def delete(self, src: Any, dst: Any) -> int:
        """Delete all arcs `src[i]` -> `dst[i]`, vertices [k] each, and of undirected edges their reverses, as one
        batch; returns the version without them. Arcs that are not there are passed over. Raises UnknownVertexError for
        an unknown id, ArgumentError for a number that is no vertex.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> store.delete([0], [1])
        2
        >>> store.snapshot().to_edge_index()
        tensor([[1],
                [2]])
        """
        with self._writing:
            begun = time.perf_counter()
            self._check_open()
            src, dst = ends_of_batch(src, dst, self._ids, self._vertices_before())
            number = self._commit(deleting_run(self._schema, src, dst, self.directed), grows=False)
        self._await(number)
        self._keep_pace(begun, len(src))
        return number

    def delete_arcs(self, arcs: Any, graph: Graph) -> int:
        """Delete `arcs` of a snapshot by their numbers, int64 [k]; returns the version without them.

        Of parallel arcs the others stay; of an undirected edge both arcs go. The snapshot has to be of the present
        version. Takes a pass over the arcs of the graph. Raises ArgumentError for numbers out of range and for a graph
        that is no such snapshot.

        >>> store = tg.dynamic.Store(multi="keep", weights=torch.float32)
        >>> store.insert([0, 0], [1, 1], [1.0, 2.0])
        1
        >>> store.delete_arcs([0], store.snapshot())
        2
        >>> store.snapshot().weights
        tensor([2.])
        """
        with self._writing:
            self._check_open()
            version = _version_of(graph)
            if version.schema is not self._schema:
                raise ArgumentError("graph: a snapshot of another store; take one of this")
            if version.number != self.version:
                raise ArgumentError(
                    f"graph: a snapshot of version {version.number}, the store is at {self.version}; take a new one"
                )
            settled, arcs = version.settled(), inputs.as_index(arcs, "arcs").to(torch.int64)
            if len(wrong := ((arcs < 0) | (arcs >= len(settled.neighbors))).nonzero()):
                place = int(wrong[0])
                raise ArgumentError(
                    f"arcs: {int(arcs[place])} at position {place} is no arc "
                    f"{inputs.below(len(settled.neighbors))} of graph"
                )
            gone = torch.zeros(len(settled.neighbors), dtype=torch.bool)
            gone[arcs] = True
            source = sorting.expand_rows(settled.offset)
            pair = source << 32 | settled.neighbors
            if not self.directed:  # parallel arcs lie in the order of time both ways
                back = settled.neighbors[arcs].to(torch.int64) << 32 | source[arcs]
                gone[torch.searchsorted(pair, back) + arcs - torch.searchsorted(pair, pair[arcs])] = True
            run = deleting_run(self._schema, source[gone], settled.neighbors[gone].to(torch.int64), directed=True)
            if self.multi == "keep":
                back = torch.isin(pair, pair[gone]) & ~gone
                others = sorted_run(
                    self._schema,
                    source[back],
                    settled.neighbors[back].to(torch.int64),
                    [column[back] for column in settled.data],
                    directed=True,
                )
                run = merged(self._schema, [run, others])
            return self._commit(run)

    def delete_vertices(self, vertices: Any) -> int:
        """Delete all arcs from and to these `vertices`, [k]; returns the version without them. The vertices stay,
        without arcs, as do the numbers of others. Takes a pass over the arcs of the graph.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1, 2], [1, 2, 0])
        1
        >>> store.delete_vertices([1])
        2
        >>> store.snapshot().to_edge_index()
        tensor([[2],
                [0]])
        """
        with self._writing:
            self._check_open()
            version = self._version
            wanted = self._vertices(vertices, version)
            settled = version.settled()
            is_gone = torch.zeros(version.num_vertices, dtype=torch.bool)
            is_gone[wanted] = True
            source = sorting.expand_rows(settled.offset)
            chosen = (is_gone[source] | is_gone[settled.neighbors]).nonzero().view(-1)
            src, dst = source[chosen], settled.neighbors[chosen].to(torch.int64)
            return self._commit(deleting_run(self._schema, src, dst, directed=True))

    def _vertices(self, vertices: Any, version: Version) -> Tensor:
        if self._ids is not None:
            return self._ids.find(vertices, "vertices", version.num_vertices)
        tensor, n = inputs.as_tensor(vertices, "vertices"), version.num_vertices
        if tensor.dtype == torch.int64 and tensor.dim() == 1 and tensor.is_cpu and are_vertices(tensor, n):
            return tensor
        return Graph.of_storage(SnapshotCsr(version)).as_vertices(vertices)

    def _commit(self, run: Run, grows: bool = True) -> int:
        """Make a run the next version; returns its number. Held: `_writing`."""
        num_vertices = self._vertices_before()
        if self._ids is not None:
            num_vertices = len(self._ids)
        elif grows:
            num_vertices = max(num_vertices, run.num_vertices)
        return self._publish(run if grows else _without_unknown(run, num_vertices), num_vertices)

    def _vertices_before(self) -> int:
        """The number of vertices that the next batch finds. Held: `_writing`."""
        return self._version.num_vertices

    def _publish(self, run: Run, num_vertices: int) -> int:
        """Let readers see a run, as the next version; returns its number. Held: `_writing`."""
        with self._publishing:
            following = self._version.after(run, num_vertices)
            runs = compaction.merged_tail(self._schema, following.runs)
            self._count_written(following.base, runs[-1].size if runs[-1] is not run else 0)
            self._written["inserted"] += run.size
            for follower in self._followers:
                follower._committed(run)
            self._show(following.with_runs(following.base, runs))
            return self._version.number

    def _show(self, version: Version) -> None:
        """Have the next snapshots be of a version. Held: `_publishing`."""
        self._version, self._kept = version, None

    def _await(self, number: int) -> None:
        """Return once the version is published. Not held: `_writing`."""

    def _count_written(self, base: Arcs, merged: int) -> None:
        """Count the changes of a merged run, and the arcs of a CSR that is not that of the present version. Held:
        `_publishing`."""
        self._written["merged"] += merged
        self._written["compacted"] += 0 if base is self._version.base else len(base.neighbors)

    # ---- compaction ------------------------------------------------------------------------------------------------

    def compact(self) -> None:
        """Merge all runs into the CSR now, in this thread, and have the system get back what memory that leaves.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> store.compact()
        >>> store.snapshot().num_arcs
        2
        """
        with self._writing:
            self._version.settled()
            with self._publishing:
                settled = self._version.settled()
                if self._version.runs:
                    self._count_written(settled, 0)
                    self._show(self._version.with_runs(settled, ()))
        trim_heap()

    def close(self) -> None:
        """End the thread that merges runs. Snapshots stay; changes are refused from then on.

        >>> store = tg.dynamic.Store()
        >>> store.close()
        >>> store.snapshot().num_arcs
        0
        """
        self._closed = True
        self._compactor.stop()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise ArgumentError("the store is closed; make or open a new one")
        if self._compactor.fault is not None:
            fault = self._compactor.fault
            raise RuntimeError(
                f"merging runs in the background failed ({fault}); make or open the store anew"
            ) from fault

    def _keep_pace(self, begun: float, size: int) -> None:
        """Wake the compaction where there is work, and wait where writers are far ahead of it: space is bounded. After
        a batch that is much of what may be pending, all threads merge at once instead."""
        usual, version = self._usual_of(begun, size), self._version
        most, pending = self._threshold(version.base), version.pending
        if 4 * size > most or pending > 4 * most:
            version.settled()
        elif pending > most or (version.runs and version.runs[-1].size > compaction.LARGE):
            del version  # which, if it is replaced meanwhile, the other thread frees
            self._compactor.wake()
            self._slow_down(pending / (2 * most) - 1, usual)

    def _usual_of(self, begun: float, size: int) -> float:
        """Seconds that a batch usually takes. One that something held up must not wait the longer for it."""
        of_arc = (time.perf_counter() - begun) / max(size, 1)
        self._usual = min(of_arc, 1.1 * self._usual)
        return self._usual * size

    def _slow_down(self, excess: float, usual: float) -> None:
        """Wait as far as a writer is ahead, from 0 on. usual : as of `_usual_of`."""
        if excess > 0:
            time.sleep(_PACE * usual * min(excess, 1))

    def _compact_step(self) -> bool:
        """Merge some runs, or all that the writer leaves alone into the CSR; False where there is nothing to do."""
        if (work := self._next_work()) is None:
            return False
        version, (first, last), into_arcs = work
        if not into_arcs:
            return self._replace(version, (first, last), self._merged(version.runs[first:last]))
        made = version.base.changed(self._schema, version.runs[:last], version.num_vertices)
        return self._replace(version, (0, last), made)

    def _next_work(self) -> tuple[Version, tuple[int, int], bool] | None:
        """The runs of a version that are merged next, as (the first, the one behind the last), and whether into the
        CSR; None where there is nothing to do."""
        version = self._version
        runs = version.runs[: self._left_alone(version)]
        if sum([run.size for run in runs]) > self._threshold(version.base):
            return version, (0, len(runs)), True
        chosen = compaction.mergeable(runs)
        return None if chosen is None else (version, chosen, False)

    def _left_alone(self, version: Version) -> int:
        """How many runs of a version, from the oldest on, nobody else merges."""
        return compaction.stable(version.runs)

    def _threshold(self, base: Arcs) -> int:
        """How many changes there are at most before they are merged into the CSR."""
        return compaction.threshold(len(base.neighbors))

    def _merged(self, runs: Sequence[Run]) -> Run:
        """Runs that are merged in the background, as one."""
        return merged(self._schema, runs)

    def _replace(self, version: Version, chosen: tuple[int, int], made: Run | Arcs) -> bool:
        """Put what was made of some runs of a version in their place, unless they are gone meanwhile."""
        first, last = chosen
        with self._publishing:
            now = self._version
            if now.base is version.base and all(map(operator.is_, now.runs[:last], version.runs[:last])):
                if isinstance(made, Run):
                    self._count_written(now.base, made.size)
                    self._show(now.with_runs(now.base, (*now.runs[:first], made, *now.runs[last:])))
                else:
                    self._count_written(made, 0)
                    self._show(now.with_runs(made, now.runs[last:]))
        return True


def _without_unknown(run: Run, num_vertices: int) -> Run:
    """The run without changes of vertices that the graph does not have: there is nothing to delete."""
    if run.num_vertices <= num_vertices:
        return run
    known = (rows_of(run.changes) < num_vertices) & (columns_of(run.changes) < num_vertices)
    return Run(run.changes[known], tuple(column[known] for column in run.data), num_vertices)


def _weights_there(version: Version, place: int, run: Run) -> Tensor:
    """The weight that the arc of each change of a run has in a version, int64 [k], 0 for what is not there; place : of
    the weights among the columns."""
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


def _with_own_weights(graph: Graph) -> Graph:
    """The graph with what is derived from it, and weights that a user may write into."""
    return graph if graph.weight_dtype is None else graph.sharing_derived()


def _version_of(graph: Graph) -> Version:
    if not isinstance(graph.storage, (SnapshotCsr, StreamedSnapshot)):
        raise ArgumentError("graph: expected a snapshot of a store, without at= and since=")
    return graph.storage.version


def _check_schema(schema: Schema, arc_data: Mapping[str, torch.dtype]) -> None:
    for name, dtype in schema.columns.items():
        if not isinstance(dtype, torch.dtype) or dtype.is_complex or dtype == torch.bool:
            raise ArgumentError(f"{name}: expected an integer or floating dtype such as torch.float32, got {dtype!r}")
    if taken := {WEIGHTS, TIMES} & arc_data.keys():
        raise ArgumentError(f"arc_data: {min(taken)!r} has an argument of its own; use that")
