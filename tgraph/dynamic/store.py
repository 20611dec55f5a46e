"""A store of a graph that changes: batches in, snapshots out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.columns import NONE, Columns
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import offset_of
from tgraph.dynamic.batches import of_chunk
from tgraph.dynamic.compaction import Compaction, Merging
from tgraph.dynamic.guarded import Guarded
from tgraph.dynamic.head import Head, Ids, empty_head
from tgraph.dynamic.levels import Levels, MemoryLevels
from tgraph.dynamic.moments import moment
from tgraph.dynamic.runs import TIMES, WEIGHTS
from tgraph.dynamic.snapshots import version_of
from tgraph.dynamic.times import between
from tgraph.dynamic.version import Version
from tgraph.dynamic.writing import Log, MemoryLog, Writer, vertex_numbers
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.changes import Parallel


class Store:
    """A graph in memory that changes by batches of arcs, while programs run on snapshots of it.

    weights : the dtype of the weights of arcs, None for none.
    times : the dtype of the time of each arc, for snapshots at a time, None for none.
    arc_data : {name: dtype} of other columns of arc data.
    directed : False stores each edge both ways, a self-loop once.
    multi : of parallel arcs, "last" keeps the one inserted last, "sum" one with the sum of their weights and the other
        data of the last, "keep" all.
    ids : "index" where vertices are numbers 0..n-1, "any" where they are integers or labels of any kind, numbered in
        their order of arrival.
    num_vertices : the least number of vertices, with ids="index".

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
        head = empty_head(weights, times, arc_data, directed, multi, ids, num_vertices)
        levels = MemoryLevels(head.version.schema)
        self._compose(head, MemoryLog(head), levels, Merging(head, levels))

    def _compose(self, head: Head, log: Log, levels: Levels, compaction: Compaction) -> None:
        """Make the store of its parts. log : takes the batches. levels : where arcs and runs lie. compaction : merges
        them."""
        self.directed: bool = head.directed
        self._head, self._log, self._levels, self._compaction = head, log, levels, compaction
        self._writing = Guarded(Writer(head, log), reentrant=True)

    # ---- state -----------------------------------------------------------------------------------------------------

    @property
    def multi(self) -> Parallel:
        """The rule for parallel arcs.

        >>> tg.dynamic.Store(multi="sum", weights=torch.float32).multi
        'sum'
        """
        return self._head.version.schema.parallel

    @property
    def columns(self) -> dict[str, torch.dtype]:
        """The dtype of each column of arc data by name, `weights` and `times` among them.

        >>> tg.dynamic.Store(weights=torch.float32, times=torch.int64).columns
        {'weights': torch.float32, 'times': torch.int64}
        """
        return dict(self._head.version.schema.columns)

    @property
    def version(self) -> int:
        """The number of batches committed.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> store.version
        1
        """
        return self._head.version.number

    @property
    def num_vertices(self) -> int:
        """n, which never falls: vertices stay without their arcs.

        >>> store = tg.dynamic.Store(num_vertices=2)
        >>> store.insert([0], [6])
        1
        >>> store.num_vertices
        7
        """
        return self._head.version.num_vertices

    def snapshot(self, at: Any = None, since: Any = None) -> Graph:
        """The graph after all batches committed so far, as an immutable Graph; in microseconds. Its `arc_columns` are
        the times and the other data of arcs.

        at, since : numbers; only arcs of times since <= time <= at, in a store that keeps `times`; that copies them.
            Dates and times mean nanoseconds since 1970, as in `insert`.

        The first access to its arcs as CSR merges the runs, for all snapshots of this version, and for the store.

        >>> store = tg.dynamic.Store(times=torch.int64, multi="keep")
        >>> store.insert([0, 1, 0], [1, 2, 1], times=[10, 20, 30])
        1
        >>> store.snapshot().num_arcs, store.snapshot(since=15, at=30).to_edge_index()
        (3, tensor([[0, 1],
                [1, 2]]))
        """
        graph = self._snapshot_of(self._head.version)
        at, since = moment(at, "at"), moment(since, "since")
        return graph if at is None and since is None else self._between(graph, since, at)

    def _snapshot_of(self, version: Version) -> Graph:
        """The graph of a version: one object until the next batch, so that its derived tensors are cached."""
        head = self._head
        if (graph := head.snapshot(version)) is None:
            ids = None if head.ids is None else head.ids.first(version.num_vertices)
            graph = Graph.of_storage(self._levels.storage(version, head.directed, ids), ids, head.directed)
            graph.__dict__["_arc_columns"] = _columns(version, graph.layout is None)
            head.cache(version, graph)
        if not version.schema.columns:
            return graph
        graph = graph.sharing_derived()  # with weights and columns of the caller's own
        graph.__dict__["_arc_columns"] = _columns(version, graph.layout is None)
        return graph

    def _between(self, graph: Graph, since: Any, at: Any) -> Graph:
        if TIMES not in self._head.version.schema.columns:
            raise ArgumentError("at, since: the store keeps no times; make it with times=torch.int64")
        chosen = between(self.arc_data(graph)[TIMES], since, at).nonzero().view(-1)
        degree = torch.bincount(sorting.expand_rows(graph.offset)[chosen], minlength=graph.num_vertices)
        weights = None if graph.weights is None else graph.weights[chosen]
        arcs = Csr.unchecked(offset_of(degree), graph.neighbors[chosen], None, graph.num_vertices, weights)
        return Graph.of_storage(arcs, graph._ids, self.directed).with_columns_of(graph, chosen)

    def arc_data(self, graph: Graph) -> dict[str, Tensor]:
        """The columns of arc data of a snapshot, {name: [m]} in the order of its arcs: copies, unless the
        snapshot is streamed. Raises ArgumentError for another graph.

        >>> store = tg.dynamic.Store(times=torch.int64)
        >>> store.insert([1, 0], [2, 1], times=[10, 20])
        1
        >>> store.arc_data(store.snapshot())
        {'times': tensor([20, 10])}
        """
        version = version_of(graph)
        columns = version.arcs().data if graph.layout is not None else map(torch.clone, version.arcs().data)
        return dict(zip(version.schema.columns, columns, strict=True))

    def neighbors(self, vertices: Any) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """The arcs of `vertices` [k] now: (offset int64 [k + 1], neighbors int32 [e], {column: [e]}), all as vertex
        numbers. Costs the length of the rows, and a search in each run. Raises UnknownVertexError or ArgumentError for
        unknown vertices.

        >>> store = tg.dynamic.Store(weights=torch.float32)
        >>> store.insert([0, 0, 1], [1, 2, 2], [0.5, 2.0, 1.0])
        1
        >>> store.neighbors([0])
        (tensor([0, 2]), tensor([1, 2], dtype=torch.int32), {'weights': tensor([0.5000, 2.0000])})
        """
        version = self._head.version
        offset, neighbors, data = version.rows(vertex_numbers(vertices, version, self._head.ids))
        return offset, neighbors, dict(zip(version.schema.columns, data, strict=True))

    def info(self) -> dict[str, Any]:
        """Facts for a person: version, sizes, bytes by level, and the amount written.

        `write amplification` is the changes and arcs written for each change inserted.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> store.info()["version"]
        1
        """
        version = self._head.version
        facts = {
            "version": version.number,
            "vertices": version.num_vertices,
            "arcs in CSR": len(version.base.neighbors),
            "changes in runs": version.pending,
            "runs": [run.size for run in version.runs],
            "bytes of CSR": version.base.nbytes,
            "bytes of runs": sum(run.nbytes for run in version.runs),
            "write amplification": self._head.write_amplification(),
        }
        return facts | self._compaction.info()

    # ---- changes ---------------------------------------------------------------------------------------------------

    def insert(
        self, src: Any, dst: Any, weights: Any = None, times: Any = None, data: Mapping[str, Any] | None = None
    ) -> int:
        """Insert the arcs `src[i]` -> `dst[i]`, vertices [k] each, as one batch; returns its version.

        weights, times : [k] in a store that keeps them. data : {name: [k]} of its other columns. Dates and times, as
        of numpy, pandas or Arrow, become nanoseconds since 1970 in UTC, for which a column has to be torch.int64.

        New vertices come with their arcs. `multi` applies to parallel arcs in the batch and in the store. Raises
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
        """Insert arcs and delete all earlier arcs between the same ends, with any `multi`. The arguments are those of
        `Store.insert`.

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
                number = self.insert(**of_chunk(self._head.version.schema, chunk))
            except ArgumentError as fault:
                raise ArgumentError(f"{fault}; in chunk {place}, and those before it are in the store") from fault
        return number

    def _insert(self, src: Any, dst: Any, given: dict[str, Any], replaces: bool) -> int:
        return self._committed(lambda writer: writer.insert(src, dst, given, replaces), src)

    def _committed(self, change: Callable[[Writer], int], src: Any = None) -> int:
        """Commit a batch; returns its version. src : of its arcs, for the pace of writers."""
        with self._writing as writer:
            begun = time.perf_counter()
            self._compaction.check()
            number = change(writer)
        self._log.wait(number)
        if src is not None:
            self._compaction.keep_pace(begun, len(src))
        return number

    def delete(self, src: Any, dst: Any) -> int:
        """Delete all arcs `src[i]` -> `dst[i]`, vertices [k] each, and of undirected edges their reverses, as one
        batch; returns its version. Missing arcs are ignored. Raises UnknownVertexError for an unknown id, ArgumentError
        for a number that is no vertex.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> store.delete([0], [1])
        2
        >>> store.snapshot().to_edge_index()
        tensor([[1],
                [2]])
        """
        return self._committed(lambda writer: writer.delete(src, dst), src)

    def delete_arcs(self, arcs: Any, graph: Graph) -> int:
        """Delete `arcs` of a snapshot by their numbers, int64 [k]; returns the version of the batch.

        Other parallel arcs stay; of an undirected edge both arcs go. The snapshot has to be of the newest version.
        Takes a pass over the arcs of the graph. Raises ArgumentError for numbers out of range and for another graph.

        >>> store = tg.dynamic.Store(multi="keep", weights=torch.float32)
        >>> store.insert([0, 0], [1, 1], [1.0, 2.0])
        1
        >>> store.delete_arcs([0], store.snapshot())
        2
        >>> store.snapshot().weights
        tensor([2.])
        """
        return self._committed(lambda writer: writer.delete_arcs(arcs, graph))

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
        return self._committed(lambda writer: writer.delete_vertices(vertices))

    # ---- upkeep ----------------------------------------------------------------------------------------------------

    def compact(self) -> None:
        """Merge all runs into the CSR now, in this thread, and return freed memory to the system.

        >>> store = tg.dynamic.Store()
        >>> store.insert([0, 1], [1, 2])
        1
        >>> store.compact()
        >>> store.snapshot().num_arcs
        2
        """
        self._compaction.compact(self._writing)

    def close(self) -> None:
        """End the background threads. Snapshots stay; later changes raise ArgumentError.

        >>> store = tg.dynamic.Store()
        >>> store.close()
        >>> store.snapshot().num_arcs
        0
        """
        self._compaction.close(self._writing)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()


def _columns(version: Version, copied: bool) -> Columns:
    """The arc data of a version but the weights, `copied` or not, each at its first use."""

    def column(place: int) -> Tensor:
        found = version.arcs().data[place]
        return found.clone() if copied else found

    names = enumerate(version.schema.columns)
    return Columns({name: partial(column, place) for place, name in names if name != WEIGHTS}) or NONE
