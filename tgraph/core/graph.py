"""Graph: a storage of arcs (CSR or a layout), original vertex ids, and cached derived data."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, get_args

import torch
from torch import Tensor

from tgraph.core import columns as named
from tgraph.core.building import inputs, memory, sorting, soundness, symmetry, validate
from tgraph.core.columns import Columns
from tgraph.core.csr import Csr
from tgraph.core.derived import AtFirstUse, Cache, derived, derived_tensor, detached_cache_scope
from tgraph.core.ids import VertexIds
from tgraph.core.rows import DeferredSelection, LayoutSelection, Selection
from tgraph.core.storage import Layout, Storage
from tgraph.core.system import devices
from tgraph.core.system.text import counted
from tgraph.core.vertices import GraphVertices, OriginalIds
from tgraph.deferred import Attached
from tgraph.errors import ArgumentError
from tgraph.markup.labels import definitions

if TYPE_CHECKING:
    import igraph
    import networkx
    import pandas
    import scipy.sparse
    import torch_geometric.data

T = TypeVar("T")


class Graph(GraphVertices):
    """A graph as tensors: the arcs of vertex v are `neighbors[offset[v]:offset[v + 1]]`.

    Parameters
    ----------
    offset : int64 tensor [n + 1]; offset[0] = 0, offset[n] = m.
    neighbors : int32 tensor [m] (int64 where n >= 2^31), ascending within a row.
    weights : tensor [m] of any integer or floating dtype, or None.
    vertices : original ids (an int64 tensor [n], or n hashable labels such as strings), or None for 0..n-1.
    directed : False says that every edge is stored both ways, a self-loop once.

    The constructor takes the tensors as they are, but for int64 neighbours that int32 holds, which are converted, and
    strided tensors, which are copied, and makes O(1) checks; `validate()` checks every entry.
    Use `from_edges`, `from_csr`, `tgraph.read` or `tgraph.generators` to build one.

    A Graph is immutable: one whose tensors were written into by torch is checked again, so that no kernel leaves its
    memory, but results are undefined where derived data was used before; writes through numpy, and files that are cut
    while they are mapped, are undefined behaviour. Derived data (`transpose()`, degrees) is computed at first use,
    listed by `caches` and freed by `drop_caches`. Vertices are identified by their index 0..n-1; `ids`, `index`, `top`
    and `frame` translate to and from original ids. A self-loop adds one to the degree of its vertex, in
    `out_degree` and in `in_degree` alike.

    The arcs are in a `storage`: the tensors above as a `Csr`, or a layout (`to_format`, `tgraph.open`). A graph in a
    `layout` has no `offset`, `neighbors`, `weights` and `transpose_permutation`: they raise LayoutError. `to_csr()` is
    the same graph in CSR, and `decoded()` keeps that as a cache.

    >>> offset = torch.tensor([0, 2, 3, 3])
    >>> graph = tg.Graph(offset, torch.tensor([1, 2, 2]), vertices=["ann", "bob", "eve"])
    >>> graph
    Graph(3 vertices, 3 edges, directed, labels, 68 B, cpu)
    >>> graph.num_vertices, graph.num_arcs, graph.out_degree.tolist()
    (3, 3, [2, 1, 0])
    """

    storage: Storage
    num_arcs: int = cast(int, AtFirstUse())
    offset: Tensor = cast(Tensor, AtFirstUse())
    neighbors: Tensor = cast(Tensor, AtFirstUse())
    weights: Tensor | None = cast("Tensor | None", AtFirstUse())
    order: Tensor | None = cast("Tensor | None", AtFirstUse())
    directed: bool
    layout: Layout | None  # the storage, None where that is CSR
    _cache: Cache
    _found: soundness.Sound | None = None
    _arc_columns: Columns = named.NONE
    _read_order: Callable[[], Tensor | None]

    def __init__(
        self,
        offset: Tensor,
        neighbors: Tensor,
        weights: Tensor | None = None,
        vertices: OriginalIds | None = None,
        directed: bool = True,
    ):
        offset, neighbors = soundness.owned(offset, "offset"), soundness.owned(neighbors, "neighbors")
        weights = None if weights is None else memory.readable(weights, "weights")
        validate.check_tensors(offset, neighbors, weights)
        num_vertices = len(offset) - 1
        ids = None if vertices is None else VertexIds(vertices)
        if ids is not None and len(ids) != num_vertices:
            raise ArgumentError(f"vertices: expected one id per vertex, {num_vertices}, got {len(ids)}")
        neighbors = neighbors.to(sorting.index_dtype(num_vertices)).contiguous()
        weights = None if weights is None else weights.contiguous()
        self._hold(Csr.unchecked(offset.contiguous(), neighbors, None, num_vertices, weights), ids, bool(directed))

    @classmethod
    def of_storage(
        cls,
        storage: Storage,
        vertices: OriginalIds | VertexIds | None = None,
        directed: bool = True,
        order: Tensor | Callable[[], Tensor | None] | None = None,
    ) -> Graph:
        """The graph whose arcs are in a storage, not copied.

        vertices, directed : as for a Graph. order : the permutation of a reordered graph, as `permute` keeps it, or
        what gives it at first use.

        >>> graph = tg.generators.cycle(4)
        >>> tg.Graph.of_storage(graph.storage, vertices=[10, 20, 30, 40], directed=False).vertices
        tensor([10, 20, 30, 40])
        """
        graph = object.__new__(Graph)
        ids = vertices if vertices is None or isinstance(vertices, VertexIds) else VertexIds(vertices)
        graph._hold(storage, ids, directed, order)
        return graph

    def _hold(self, storage: Storage, ids: VertexIds | None, directed: bool, order: Any = None) -> None:
        tensors = storage.csr_tensors
        sizes = {"num_vertices": storage.num_vertices, "device": storage.device}
        sizes |= {"num_arcs": storage.num_arcs} if tensors else {}
        fields = {"storage": storage, "layout": storage.layout, "directed": directed, "_ids": ids}
        fields |= {"_read_order": order} if callable(order) else {"order": order}
        self.__dict__.update(sizes | fields, _cache=Cache(), **tensors)

    def _at_first_use(self, name: str) -> Any:
        if name == "order":
            return self._read_order()
        return self.storage.num_arcs if name == "num_arcs" else cast(Csr, self.storage.csr).given(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph is immutable: build a new one instead of setting {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": Cache(), "_found": None}

    # ---- builders ----------------------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any,
        weights: Any = None,
        *,
        num_vertices: int | None = None,
        directed: bool = True,
        multi: inputs.Multi = "keep",
        self_loops: inputs.SelfLoops = "keep",
        ids: inputs.IdPolicy = "keep",
        vertices: OriginalIds | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> Graph:
        """The graph with edges src[i] -> dst[i].

        `src`, `dst`: integers [m], as tensors, numpy arrays or lists. `weights`: numbers [m] or None.
        `num_vertices`: n, so that isolated vertices survive; without it one more than the largest number.
        `directed=False`: every edge is given once and stored both ways; (u, v) and (v, u) name the same edge.
        `multi`: what becomes of parallel edges: "keep" all, keep the "first", combine their weights by "sum", "min"
        or "max" (without weights each of these keeps one), or raise an "error".
        `self_loops`: "keep" or "drop" them.
        `ids="keep"`: numbers are indices. `ids="compact"`: they are arbitrary int64 ids; those that occur are
        relabelled 0..n-1 in ascending order and kept in `vertices`.
        `vertices`: original ids for numbers that are indices already.
        `columns`: further data of the edges by name, [m] or [m, ...], as `with_columns` takes them, which become
        `arc_columns`: both arcs of an undirected edge have those of the edge, and parallel edges that `multi` merges
        those of the first.

        Rows come sorted by neighbour, parallel edges in the order given. Native parallel counting sort on the CPU.
        Raises ArgumentError for a negative or too large number, wrong shapes, dtypes or devices.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], weights=[0.5, 1.0, 2.0])
        >>> graph.offset.tolist(), graph.neighbors.tolist(), graph.weights.tolist()
        ([0, 2, 3, 3], [1, 2, 2], [0.5, 1.0, 2.0])
        >>> tg.Graph.from_edges([100, 7], [7, 300], ids="compact").vertices
        tensor([  7, 100, 300])
        >>> tg.Graph.from_edges([0, 0, 1], [1, 1, 0], [1, 2, 4], directed=False, multi="sum").weights
        tensor([7, 7])
        """
        inputs.check_choice(multi, "multi", get_args(inputs.Multi))
        inputs.check_choice(self_loops, "self_loops", get_args(inputs.SelfLoops))
        inputs.check_choice(ids, "ids", get_args(inputs.IdPolicy))
        src, dst = inputs.as_index(src, "src"), inputs.as_index(dst, "dst")
        if len(src) != len(dst):
            raise ArgumentError(f"src and dst: expected equal lengths, got {len(src)} and {len(dst)}")
        weights = inputs.as_weights(weights, len(src))
        build_device = {tensor.device for tensor in (src, dst, weights) if tensor is not None}
        if len(build_device) > 1:
            raise ArgumentError(f"src, dst, weights: on different devices {sorted(map(str, build_device))}; use .to()")
        if ids == "compact":
            if num_vertices is not None or vertices is not None:
                raise ArgumentError("ids='compact' finds num_vertices and vertices itself; leave both out")
            vertices, src, dst = sorting.compact(src, dst)
            num_vertices = len(vertices)
            vertices = _unless_identity(vertices)
        elif num_vertices is not None:
            num_vertices = inputs.as_count(num_vertices, "num_vertices")
        else:
            num_vertices = len(vertices) if vertices is not None else inputs.count_vertices(src, dst)
        edges = named.NONE.changed(columns, len(src), src.device, "columns")
        options: Any = (num_vertices, directed, multi, self_loops, bool(edges))
        tensors, edge = inputs.numbered_csr(src, dst, weights, *options)
        vertices = vertices.clone() if isinstance(vertices, Tensor) and ids == "keep" else vertices
        graph = cls(*tensors, vertices=vertices, directed=directed)
        if edge is not None:
            graph.__dict__["_arc_columns"] = Columns({name: named.taken(each, edge) for name, each in edges.items()})
        if graph._ids is not None and ids == "keep":
            graph._ids.check_unique()
        return graph

    @classmethod
    def from_csr(
        cls,
        offset: Any,
        neighbors: Any,
        weights: Any = None,
        *,
        directed: bool = True,
        vertices: OriginalIds | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> Graph:
        """The graph whose row v is neighbors[offset[v]:offset[v + 1]]; nothing is copied where dtypes and order fit.

        `offset`: integers [n + 1]; `neighbors`: integers [m]; `weights`: numbers [m] or None. Rows that are not
        ascending are sorted. `directed=False` says that both arcs of every edge are there already.
        `columns`: further data of the arcs by name, [m] or [m, ...], as of `from_edges`; those of an undirected edge
        are those of its arc from the lesser vertex.
        Raises ArgumentError where offsets decrease, a neighbour is out of range, or the arcs of an undirected graph
        (weights included) do not mirror each other.

        >>> graph = tg.Graph.from_csr([0, 2, 3, 3], [2, 1, 2], columns={"year": [1997, 2001, 2016]})
        >>> graph.neighbors, graph.arc_columns["year"]
        (tensor([1, 2, 2], dtype=torch.int32), tensor([2001, 1997, 2016]))
        """
        offset, neighbors = inputs.as_index(offset, "offset").to(torch.int64), inputs.as_index(neighbors, "neighbors")
        weights = inputs.as_weights(weights, len(neighbors))
        validate.check_tensors(offset, neighbors, weights)
        validate.check_entries(offset, neighbors)  # before they are narrowed to int32, which would wrap them round
        columns = named.NONE.changed(columns, len(neighbors), neighbors.device, "columns") or named.NONE
        graph = cls(offset, neighbors, weights, vertices=vertices, directed=directed)
        if not validate.rows_ascend(offset, graph.neighbors):
            rows = sorting.expand_rows(offset)
            offset, neighbors, order = sorting.sort_edges(rows, neighbors, graph.num_vertices, permutation=True)
            weights = None if weights is None else sorting.take(weights, cast(Tensor, order))
            graph, columns = cls(offset, neighbors, weights, vertices=vertices, directed=directed), columns.take(order)
        graph.__dict__["_arc_columns"] = columns
        if graph._ids is not None:
            graph._ids.check_unique()
        return graph if directed else graph.as_undirected()

    # Defined, documented and attached by modules of higher layers, which are imported when a method is first accessed
    # (`tgraph/__init__.py` names them): `tgraph.core.derived_graphs`, ...
    to_undirected: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    as_undirected: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    without_self_loops: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    subgraph: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    permute: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    with_columns: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    weighted_by: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    # ... `tgraph.io.convert` ...
    from_networkx: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    to_networkx: ClassVar[Callable[..., networkx.Graph]] = cast(Any, Attached())
    from_scipy: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    to_scipy: ClassVar[Callable[..., scipy.sparse.csr_array]] = cast(Any, Attached())
    from_edge_index: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    to_edge_index: ClassVar[Callable[..., Tensor]] = cast(Any, Attached())
    from_pandas: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    to_pandas: ClassVar[Callable[..., pandas.DataFrame]] = cast(Any, Attached())
    # ... `tgraph.io.libraries` ...
    from_igraph: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    to_igraph: ClassVar[Callable[..., igraph.Graph]] = cast(Any, Attached())
    from_pyg: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    to_pyg: ClassVar[Callable[..., torch_geometric.data.Data | torch_geometric.data.HeteroData]] = cast(Any, Attached())
    from_dgl: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    # ... `tgraph.io.arrow` ...
    from_table: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    # ... and `tgraph.formats`.
    to_format: ClassVar[Callable[..., Graph]] = cast(Any, Attached())
    reorder: ClassVar[Callable[..., Graph]] = cast(Any, Attached())

    # ---- size and shape ----------------------------------------------------------------------------------------

    @property
    def num_edges(self) -> int:
        """Edges as a reader counts them: an undirected edge counts once.

        >>> tg.generators.cycle(5).num_edges, tg.Graph.from_edges([0, 1], [1, 0]).num_edges
        (5, 2)
        """
        return self.num_arcs if self.directed else (self.num_arcs + self.num_self_loops) // 2

    @property
    def _has_arcs(self) -> bool:
        """Whether there are arcs, told without those that are not made yet."""
        if self.layout is not None or "num_arcs" in self.__dict__:
            return self.num_arcs > 0
        return any(piece.num_arcs for piece in cast(Csr, self.storage).pieces())

    @property
    def weight_dtype(self) -> torch.dtype | None:
        """The dtype of the weights, None without.

        >>> tg.Graph.from_edges([0], [1], [0.5]).weight_dtype, tg.generators.path(3).weight_dtype
        (torch.float64, None)
        """
        return self.storage.weight_dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the storage, the ids and the columns in memory; `caches` lists the derived tensors.

        >>> tg.generators.cycle(1000).nbytes
        16008
        """
        columns = self._arc_columns.nbytes + self._vertex_columns.nbytes
        return self.storage.nbytes + columns + (0 if self._ids is None else self._ids.nbytes)

    @property
    def arc_columns(self) -> Columns:
        """Named data of the arcs, in the order of `to_edge_index`: {name: tensor [m, ...], or array of Arrow [m]}.
        Those of an undirected graph are the same for both arcs of an edge. See `with_columns`.

        >>> graph = tg.Graph.from_edges([1, 0], [2, 1], columns={"year": [1997, 2001], "kind": ["road", "rail"]})
        >>> graph.arc_columns["year"], graph.arc_columns["kind"].to_pylist()
        (tensor([2001, 1997]), ['rail', 'road'])
        """
        return self._arc_columns

    # ---- derived tensors ---------------------------------------------------------------------------------------

    @derived_tensor
    def out_degree(self) -> Tensor:
        """Arcs that leave each vertex, int64 [n]. Raises ArgumentError for invalid offsets or neighbours (a damaged
        file).

        >>> tg.Graph.from_edges([0, 0, 1], [1, 2, 2]).out_degree
        tensor([2, 1, 0])
        """
        return self.storage.out_degree()

    def ensure_valid(self) -> None:
        """Check that offsets ascend and neighbours are vertices, so that kernels can follow them: once, and again where
        the tensors have been written into since, by which all derived data is dropped. Operators do so themselves.
        Raises ArgumentError where they are not.

        >>> graph = tg.Graph(torch.tensor([0, 3, 1, 2]), torch.tensor([1, 2]))
        >>> graph.ensure_valid()
        Traceback (most recent call last):
            ...
        tgraph.errors.ArgumentError: offset: decreases after position 1; offsets never decrease
        """
        if self.layout is not None or torch.compiler.is_compiling():  # a layout was checked when it was made
            return
        before, offset, neighbors = self._found, self.offset, self.neighbors
        # As `ensure_sound`, in half the time: each operator asks.
        if (
            before is not None
            and before.state is not None
            and not torch._C._len_torch_function_stack()
            and before.state == (offset._version, neighbors._version, offset.data_ptr(), neighbors.data_ptr())
        ):
            return
        found = soundness.ensure_sound(self.offset, self.neighbors, self.num_vertices)
        if found is not before:
            if before is not None and found.state != before.state:  # what was derived is that of other arcs
                self._cache.drop()
            self.__dict__["_found"] = found

    @derived_tensor
    def in_degree(self) -> Tensor:
        """Arcs that reach each vertex, int64 [n].

        >>> tg.Graph.from_edges([0, 0, 1], [1, 2, 2]).in_degree
        tensor([0, 1, 2])
        """
        if not self.directed:
            return self.out_degree
        return self.storage.in_degree() if self._kept_transpose() is None else self.transpose_detached().out_degree

    @derived
    def num_self_loops(self) -> int:
        """The number of arcs from a vertex to itself.

        >>> tg.Graph.from_edges([0, 1, 2], [0, 2, 2]).num_self_loops
        2
        """
        return self.storage.num_self_loops()

    @derived
    def num_parallel_edges(self) -> int:
        """The number of edges in excess of one for each pair of vertices.

        >>> tg.Graph.from_edges([0, 0, 0, 1], [1, 1, 1, 2]).num_parallel_edges
        2
        """
        return self.storage.num_parallel_edges(self.directed)

    @derived_tensor
    def transpose_permutation(self) -> Tensor:
        """int64 [m]: arc i of `transpose()` is the reverse of stored arc transpose_permutation[i]. Each rank has it.

        Edge data x in the order of this graph's arcs is x[transpose_permutation] in the order of the transpose's.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 0])
        >>> length = torch.tensor([5.0, 6.0, 7.0])
        >>> graph.transpose().neighbors, length[graph.transpose_permutation]
        (tensor([1, 0, 0], dtype=torch.int32), tensor([7., 5., 6.]))
        """
        self.ensure_valid()
        if self.storage.is_distributed:
            return cast(Any, self.storage).transpose_permutation
        return cast(Tensor, sorting.transpose(self.offset, self.neighbors, permutation=True)[2])

    @derived
    def weight_statistics(self) -> tuple[float, float, float]:
        """(smallest, largest, mean) weight, the first two NaN where one is NaN; (1, 1, 1) without weights or arcs.

        >>> tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 6.0]).weight_statistics
        (1.0, 6.0, 3.0)
        """
        return self.storage.weight_statistics() or (1, 1, 1.0)

    @property
    def weight_range(self) -> tuple[float, float]:
        """(smallest, largest) weight; both NaN where one is NaN; (1, 1) without weights or arcs.

        >>> tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 6.0]).weight_range
        (1.0, 6.0)
        """
        return self.weight_statistics[:2]

    @property
    def mean_weight(self) -> float:
        """The mean weight; 1 without weights or arcs.

        >>> tg.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 6.0]).mean_weight
        3.0
        """
        return self.weight_statistics[2]

    @derived
    def mean_degree_met(self) -> float:
        """The mean over the arcs of the out-degree of their source; 0 without arcs.

        >>> graph = tg.generators.star(4)
        >>> graph.num_arcs / graph.num_vertices, graph.mean_degree_met
        (1.6, 2.5)
        """
        degree = self.out_degree
        degree = degree.to(devices.widest_float(degree))
        return float(degree.square().sum()) / max(self.num_arcs, 1)

    @derived
    def is_symmetric(self) -> bool:
        """True where every arc has its reverse of equal weight; always so for an undirected graph.

        >>> tg.Graph.from_edges([0, 1], [1, 0]).is_symmetric, tg.Graph.from_edges([0, 1], [1, 2]).is_symmetric
        (True, False)
        """
        return not self.directed or self._kept_transpose() is self or self.storage.is_symmetric()

    def transpose(self) -> Graph:
        """The graph with every arc reversed, weights and columns following, in the transposed layout where it is in
        one; cached, and the graph itself where it is symmetric and has no columns of arcs.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
        >>> graph.transpose().to_edge_index()
        tensor([[1, 2, 2],
                [0, 0, 1]])
        """
        reverse = self.transpose_detached()
        weights = None if not self.directed or self.layout is not None else self.weights
        recorded = weights is not None and weights.requires_grad
        held = self._arc_columns is not named.NONE and self._arc_columns.requires_grad
        if self.directed and (recorded or held):  # the cached transpose is detached
            place, same = self.decoded().transpose_permutation, reverse
            if weights is not None and recorded:
                weights = weights.index_select(0, place)
                same = Graph(reverse.offset, reverse.neighbors, weights, vertices=self.vertices)
            elif self._arc_columns:
                same = reverse.sharing_derived()
            return same.with_columns_of(self, place)
        return reverse

    def transpose_detached(self) -> Graph:
        """The transpose, whose weights record no gradient; cached. The way back is a weak reference: a cycle would
        keep both graphs alive until a garbage collection.

        >>> weights = torch.ones(2, requires_grad=True)
        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], weights)
        >>> graph.transpose().weights.requires_grad, graph.transpose_detached().weights.requires_grad
        (True, False)
        """
        if not self.directed:
            return self
        self.ensure_valid()
        if (reverse := self._kept_transpose()) is None:
            with detached_cache_scope():
                if (reverse := self._kept_transpose()) is None:
                    reverse = self._reversed()
                    self._cache.values["transpose"] = weakref.ref(self) if reverse is self else reverse
        elif reverse is not self:
            reverse.ensure_valid()
        return reverse

    def transpose_unchecked(self) -> Graph:
        """As `transpose_detached`, for a caller whose operator checks the arcs of both.

        >>> tg.Graph.from_edges([0, 1], [1, 2]).transpose_unchecked().neighbors
        tensor([0, 1], dtype=torch.int32)
        """
        if not self.directed:
            return self
        kept = self._kept_transpose()
        return self.transpose_detached() if kept is None else kept

    def _kept_transpose(self) -> Graph | None:
        kept = self._cache.values.get("transpose")
        return kept() if isinstance(kept, weakref.ref) else kept

    def _reversed(self) -> Graph:
        storage, permutation = self.storage.transpose_with_permutation()
        if permutation is not None:
            self._cache.values["transpose_permutation"] = permutation
        if storage is self.storage and not self._arc_columns:
            return self
        reverse = Graph.of_storage(storage, self._ids).with_columns_of(self, self._place_in_transpose())
        reverse._cache.values["transpose"] = weakref.ref(self)
        return reverse

    def _place_in_transpose(self) -> Callable[[], Tensor]:
        """A function that gives `transpose_permutation`, without a cycle of references through the cached transpose."""
        held, storage = weakref.ref(self), self.storage
        return lambda: (held() or Graph.of_storage(storage)).decoded().transpose_permutation

    def decoded(self) -> Graph:
        """The same graph in CSR; itself where it is. `caches` lists it as "arcs", and `drop_caches` frees it. A graph
        that is spread over ranks stays as it is, for operators that these serve; its `offset` raises LayoutError.

        >>> graph = tg.generators.cycle(4).to_format("sell")
        >>> graph.decoded().neighbors
        tensor([1, 3, 0, 2, 1, 3, 0, 2], dtype=torch.int32)
        >>> graph.caches
        {'arcs': 72}
        """
        return self if self.layout is None or self.layout.is_distributed else self.kept("arcs", self._decode)

    def _decode(self) -> Graph:
        offset, neighbors, weights = self.storage.to_csr()
        storage = Csr.unchecked(offset, neighbors, None, self.num_vertices, weights)
        return Graph.of_storage(storage, self._ids, self.directed, self.order).with_columns_of(self)

    def to_csr(self) -> Graph:
        """The same graph in CSR; itself where it is. Not cached.

        >>> graph = tg.generators.cycle(4).to_format("elias_fano")
        >>> graph.to_csr().offset
        tensor([0, 2, 4, 6, 8])
        """
        return self if self.layout is None else self._decode()

    def row_offset(self) -> Tensor:
        """`offset` of the graph in CSR; of a layout computed from the degrees, and cached.

        >>> tg.generators.star(3).to_format("sell").row_offset()
        tensor([0, 3, 4, 5, 6])
        """
        return self.offset if self.layout is None else self.kept("offset", self.storage.row_offset)

    def kept(self, name: str, compute: Callable[[], T]) -> T:
        """The result of `compute`, which derives something from this graph, cached under `name` at first use.

        >>> graph = tg.generators.star(3)
        >>> graph.kept("hubs", lambda: graph.out_degree > 2)
        tensor([ True, False, False, False])
        >>> graph.caches
        {'out_degree': 32, 'hubs': 4}
        """
        values = self._cache.values
        return values[name] if name in values else self._cache.get(name, compute)

    @property
    def caches(self) -> dict[str, int]:
        """The derived data cached now: {name: bytes}.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
        >>> degree = graph.in_degree
        >>> graph.caches
        {'in_degree': 24}
        """
        shared = {name: 0 for name, value in self._cache.values.items() if isinstance(value, Csr)}  # with the transpose
        return self._cache.sizes() | shared

    def drop_caches(self, *names: str) -> None:
        """Free the derived data of these `names`, or all of it; it is computed again when needed.

        Raises ArgumentError for a name that is not among the `caches`.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2])
        >>> degree = graph.in_degree
        >>> graph.drop_caches("in_degree")
        >>> graph.caches
        {}
        """
        self._cache.drop(*names)

    def selection(
        self, rows: Tensor | None = None, *, width: int | None = None, num_arcs: int | None = None
    ) -> Selection:
        """The arcs of the vertices `rows`, int64 [k], or of all; at most the first `width` of each.

        `num_arcs`, their number where it is known, saves a device-to-host read. See `tgraph.core.rows.Selection`.

        >>> graph = tg.Graph.from_edges([0, 0, 0, 1, 2], [1, 2, 3, 2, 3])
        >>> rows = graph.selection(torch.tensor([0, 2]), width=2)
        >>> rows.offset, rows.neighbors
        (tensor([0, 2, 3]), tensor([1, 2, 3], dtype=torch.int32))
        """
        if self.layout is not None:
            return LayoutSelection(self, rows, width, num_arcs)
        if rows is None and width is None and "offset" not in self.__dict__:
            return DeferredSelection(self)
        return Selection(self.offset, self.neighbors, rows, width=width, num_arcs=num_arcs)

    # ---- derived graphs ----------------------------------------------------------------------------------------

    def to(self, device: torch.device | str) -> Graph:
        """The same graph on another `device`, in the same storage. Raises ArgumentError for an unavailable device.

        >>> tg.generators.cycle(4).to("cpu").device
        device(type='cpu')
        """
        if (device := devices.available(device)) == self.device:
            return self
        order = None if self.order is None else self.order.to(device)
        return Graph.of_storage(self.storage.to(device), self._ids, self.directed, order).with_columns_of(self)

    def sharing_derived(self) -> Graph:
        """The same graph as another object, which shares the derived data and gets its tensors from the storage.

        >>> graph = tg.generators.star(3)
        >>> other = graph.sharing_derived()
        >>> other is graph, other.out_degree is graph.out_degree
        (False, True)
        """
        graph = Graph.of_storage(self.storage, self._ids, self.directed, self.order)
        graph.__dict__["_cache"] = self._cache
        return graph.with_columns_of(self)

    def with_columns_of(self, graph: Graph, arcs: named.Positions = None, vertices: named.Positions = None) -> Graph:
        """This graph with the columns of another `graph`, moved to the device of this one, at these of its `arcs`,
        int64 [m], and `vertices`, int64 [n], by default all in order, or what gives them at first use. Changes this
        graph in place, so only for one that was just built.

        >>> graph = tg.Graph.from_edges([0, 1], [1, 2], columns={"year": [1997, 2001]})
        >>> built = tg.Graph(graph.offset, graph.neighbors).with_columns_of(graph)
        >>> built.arc_columns["year"]
        tensor([1997, 2001])
        """
        for name, positions in (("_arc_columns", arcs), ("_vertex_columns", vertices)):
            columns: Columns = getattr(graph, name)
            if columns is not named.NONE:
                columns = columns.take(positions)
                self.__dict__[name] = columns if graph.device == self.device else columns.to(self.device)
        return self

    def with_order(self, order: Tensor | None) -> Graph:
        """This graph, for `restore`: its vertex i is vertex `order[i]`, int64 [n], of another one. Changes the graph in
        place, so only for one that was just built. Raises ArgumentError for an order that is none.

        >>> graph = tg.generators.path(3)
        >>> order = torch.tensor([2, 0, 1])
        >>> built = tg.Graph(graph.offset, graph.neighbors).with_order(order)
        >>> built.restore(torch.tensor([20, 0, 10]))
        tensor([ 0, 10, 20])
        """
        if order is not None:
            validate.check_order(order, self.num_vertices)
        object.__setattr__(self, "order", order)
        return self

    # ---- checks ------------------------------------------------------------------------------------------------

    def validate(self) -> Graph:
        """Check every entry and return the graph: offsets, neighbours, row order, mirrored arcs, distinct ids.

        Raises ArgumentError that names the first fault and its position.

        >>> tg.Graph(torch.tensor([0, 1, 2]), torch.tensor([1, 0]), directed=False).validate().num_edges
        1
        >>> tg.Graph(torch.tensor([0, 2, 2]), torch.tensor([1, 0])).validate()
        Traceback (most recent call last):
            ...
        tgraph.errors.ArgumentError: neighbors: a row is not ascending; build the graph with Graph.from_csr, ...
        """
        offset, neighbors, weights = self.storage.to_csr()
        validate.check_entries(offset, neighbors)
        if not validate.rows_ascend(offset, neighbors):
            raise ArgumentError("neighbors: a row is not ascending; build the graph with Graph.from_csr, which sorts")
        if not self.directed:
            symmetry.check_mirrored(offset, neighbors, weights)
            if self._arc_columns:
                named.check_mirrored(self._arc_columns, self.decoded().transpose_permutation)
        if self._ids is not None:
            self._ids.check_unique()
        return self

    def arc(self, position: int) -> tuple[Any, Any]:
        """Original ids (source, target) of the stored arc at `position` 0..m-1, for messages a user can act on.

        >>> graph = tg.Graph.from_edges([0, 0, 1], [1, 2, 2], vertices=["ann", "bob", "eve"])
        >>> graph.arc(2)
        ('bob', 'eve')
        """
        arcs = self.decoded()
        source = int(torch.searchsorted(arcs.offset, position, right=True)) - 1
        return self.ids(source), self.ids(int(arcs.neighbors[position]))

    def __repr__(self) -> str:
        parts = [counted(self.num_vertices, "vertex"), self._counted(), "directed" if self.directed else "undirected"]
        if self.weight_dtype is not None:
            parts.append(f"weights {str(self.weight_dtype).removeprefix('torch.')}")
        if self._ids is not None:
            parts.append("integer ids" if self._ids.are_integers else "labels")
        names = [*self._arc_columns, *self._vertex_columns]
        parts += [f"column{'s' * (len(names) > 1)} {', '.join(names)}"] if names else []
        parts += [_readable(self.nbytes), str(self.device)]
        parts += [] if self.layout is None else [f"layout {self.layout.name}"]
        return f"Graph({', '.join(parts)})"

    def _repr_html_(self) -> str:
        weights = "none" if self.weight_dtype is None else str(self.weight_dtype).removeprefix("torch.")
        ids = "0 to n - 1" if self._ids is None else "integers" if self._ids.are_integers else "labels"
        facts = {
            "vertices": f"{self.num_vertices:,}, ids are {ids}",
            "edges": f"{self._counted()}, {'directed' if self.directed else 'undirected'}",
            "weights": weights,
            "storage": f"{'CSR' if self.layout is None else self.layout.name}, {_readable(self.nbytes)}, {self.device}",
        }
        return definitions("Graph", facts)

    def _counted(self) -> str:
        """Edges where their number is known, else arcs."""
        known = self.directed or "num_self_loops" in self._cache.values
        return counted(self.num_edges, "edge") if known else counted(self.num_arcs, "arc")


def _unless_identity(ids: Tensor) -> Tensor | None:
    """None where ascending ids are exactly 0..n-1, so that none need to be kept."""
    return None if not len(ids) or (int(ids[0]) == 0 and int(ids[-1]) == len(ids) - 1) else ids


def _readable(nbytes: int) -> str:
    size = float(nbytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError
