"""Graph: a handful of tensors (CSR), the ids of the caller, and derived tensors that are computed once."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, get_args

import numpy as np
import torch
from torch import Tensor

from tgraph.core import devices
from tgraph.core.building import inputs, sorting, symmetry, validate
from tgraph.core.csr import Csr
from tgraph.core.derived import Cache, derived, detached_cache_scope
from tgraph.core.frontier import Frontier
from tgraph.core.ids import VertexIds
from tgraph.core.rows import LayoutSelection, Selection
from tgraph.core.storage import Layout, Storage
from tgraph.errors import ArgumentError

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse

T = TypeVar("T")
Vertices = Tensor | np.ndarray | Sequence[Hashable]


class _OfCsr:
    """A descriptor of a tensor of the CSR that stores a graph: read from the storage once, then an attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, graph: Any, owner: type) -> Any:
        if graph is None:
            return self
        value = graph.__dict__[self._name] = getattr(graph.storage.csr, self._name)
        return value


class Graph:
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
    Use `from_edges`, `from_csr`, `tgraph.read` or `tgraph.core.building.generators` to build one.

    A Graph is immutable. What is derived from it (`transpose()`, degrees) is computed once, is listed by `caches` and
    freed by `drop_caches`. Everywhere vertices are named by their index 0..n-1; `ids`, `index`, `top` and `frame`
    translate to and from original ids. A self-loop adds one to the degree of its vertex, in `out_degree` and in
    `in_degree` alike.

    The arcs are in a `storage`: the tensors above as a `Csr`, or a layout (`to_format`, `tgraph.open`). A graph in a
    `layout` has no `offset`, `neighbors`, `weights` and `transpose_permutation`: they raise LayoutError. `to_csr()` is
    the same graph in CSR, and `decoded()` keeps that as a cache.
    """

    storage: Storage
    num_vertices: int  # n, isolated vertices included
    num_arcs: int  # m, the arcs stored: an undirected edge counts twice, an undirected self-loop once
    offset = cast(Tensor, _OfCsr())
    neighbors = cast(Tensor, _OfCsr())
    weights = cast("Tensor | None", _OfCsr())
    directed: bool
    layout: Layout | None  # the storage, None where that is CSR
    order: Tensor | None  # int64 [n], which vertex of the graph that was permuted each vertex is; see `permute`
    _ids: VertexIds | None
    _cache: Cache

    def __init__(
        self,
        offset: Tensor,
        neighbors: Tensor,
        weights: Tensor | None = None,
        vertices: Vertices | None = None,
        directed: bool = True,
    ):
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
        vertices: Vertices | VertexIds | None = None,
        directed: bool = True,
        order: Tensor | None = None,
    ) -> Graph:
        """The graph whose arcs are in a storage, not copied.

        vertices, directed : as for a Graph. order : the permutation of a reordered graph, as `permute` keeps it.
        """
        graph = object.__new__(Graph)
        ids = vertices if vertices is None or isinstance(vertices, VertexIds) else VertexIds(vertices)
        graph._hold(storage, ids, directed, order)
        return graph

    def _hold(self, storage: Storage, ids: VertexIds | None, directed: bool, order: Tensor | None = None) -> None:
        sizes = {"num_vertices": storage.num_vertices, "num_arcs": storage.num_arcs}
        fields = {"storage": storage, "layout": storage.layout, "directed": directed, "order": order, "_ids": ids}
        self.__dict__.update(sizes | fields, _cache=Cache(), **storage.csr_tensors)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph is immutable: build a new one instead of setting {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": Cache()}

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
        vertices: Vertices | None = None,
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

        Rows come sorted by neighbour, parallel edges in the order given. Native parallel counting sort on the CPU.
        Raises ArgumentError for a negative or too large number, wrong shapes, dtypes or devices.
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
        tensors = inputs.edges_to_csr(src, dst, weights, num_vertices, directed, multi, self_loops)
        graph = cls(*tensors, vertices=vertices, directed=directed)
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
        vertices: Vertices | None = None,
    ) -> Graph:
        """The graph whose row v is neighbors[offset[v]:offset[v + 1]]; nothing is copied where dtypes and order fit.

        `offset`: integers [n + 1]; `neighbors`: integers [m]; `weights`: numbers [m] or None. Rows that are not
        ascending are sorted. `directed=False` says that both arcs of every edge are there already.
        Raises ArgumentError where offsets decrease, a neighbour is out of range, or the arcs of an undirected graph
        (weights included) do not mirror each other.
        """
        offset, neighbors = inputs.as_index(offset, "offset").to(torch.int64), inputs.as_index(neighbors, "neighbors")
        weights = inputs.as_weights(weights, len(neighbors))
        validate.check_tensors(offset, neighbors, weights)
        validate.check_entries(offset, neighbors)  # before they are narrowed to int32, which would wrap them round
        graph = cls(offset, neighbors, weights, vertices=vertices, directed=directed)
        if not validate.rows_ascend(offset, graph.neighbors):
            rows = sorting.expand_rows(offset)
            offset, neighbors, order = sorting.sort_edges(rows, neighbors, graph.num_vertices, permutation=True)
            weights = None if weights is None else sorting.take(weights, cast(Tensor, order))
            graph = cls(offset, neighbors, weights, vertices=vertices, directed=directed)
        if graph._ids is not None:
            graph._ids.check_unique()
        return graph if directed else graph.as_undirected()

    # Defined, documented and attached by modules that stand above this one: `tgraph.io.convert` ...
    from_networkx: ClassVar[Callable[..., Graph]]
    to_networkx: ClassVar[Callable[..., networkx.Graph]]
    from_scipy: ClassVar[Callable[..., Graph]]
    to_scipy: ClassVar[Callable[..., scipy.sparse.csr_array]]
    from_edge_index: ClassVar[Callable[..., Graph]]
    to_edge_index: ClassVar[Callable[..., Tensor]]
    from_pandas: ClassVar[Callable[..., Graph]]
    to_pandas: ClassVar[Callable[..., pandas.DataFrame]]
    # ... and `tgraph.formats`.
    to_format: ClassVar[Callable[..., Graph]]
    reorder: ClassVar[Callable[..., Graph]]

    # ---- size and shape ----------------------------------------------------------------------------------------

    @property
    def num_edges(self) -> int:
        """Edges as a reader counts them: an undirected edge counts once."""
        return self.num_arcs if self.directed else (self.num_arcs + self.num_self_loops) // 2

    @property
    def weight_dtype(self) -> torch.dtype | None:
        """The dtype of the weights, None without."""
        return self.storage.weight_dtype

    @property
    def vertices(self) -> Tensor | np.ndarray | None:
        """Original ids: an int64 tensor [n] or an object array [n] of labels; None where they are 0..n-1."""
        return None if self._ids is None else self._ids.values

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""
        return self.storage.device

    @property
    def nbytes(self) -> int:
        """Bytes of the storage and the ids; `caches` lists the derived tensors."""
        return self.storage.nbytes + (0 if self._ids is None else self._ids.nbytes)

    # ---- derived tensors ---------------------------------------------------------------------------------------

    @derived
    def out_degree(self) -> Tensor:
        """Arcs that leave each vertex, int64 [n]. Raises ArgumentError for invalid offsets or neighbours (a damaged
        file)."""
        return self.storage.out_degree()

    def ensure_valid(self) -> None:
        """Check, once, that offsets ascend and neighbours are vertices, so that kernels can follow them. Raises
        ArgumentError where they are not."""
        if "out_degree" not in self._cache.values:
            self.kept("out_degree", self.storage.out_degree)

    @derived
    def in_degree(self) -> Tensor:
        """Arcs that reach each vertex, int64 [n]."""
        if not self.directed:
            return self.out_degree
        return self.storage.in_degree() if self._kept_transpose() is None else self.transpose_detached().out_degree

    @derived
    def num_self_loops(self) -> int:
        """The number of arcs from a vertex to itself."""
        return self.storage.num_self_loops()

    @derived
    def num_parallel_edges(self) -> int:
        """How many edges repeat another: those that would go if each were stored once."""
        return self.storage.num_parallel_edges(self.directed)

    @derived
    def transpose_permutation(self) -> Tensor:
        """int64 [m]: arc i of `transpose()` is the reverse of stored arc transpose_permutation[i].

        Edge data x in the order of this graph's arcs is x[transpose_permutation] in the order of the transpose's.
        """
        return cast(Tensor, sorting.transpose(self.offset, self.neighbors, permutation=True)[2])

    @derived
    def weight_statistics(self) -> tuple[float, float, float]:
        """(smallest, largest, mean) weight, the first two NaN where one is NaN; (1, 1, 1) without weights or arcs."""
        return self.storage.weight_statistics() or (1, 1, 1.0)

    @property
    def weight_range(self) -> tuple[float, float]:
        """(smallest, largest) weight; both NaN where one is NaN; (1, 1) without weights or arcs."""
        return self.weight_statistics[:2]

    @property
    def mean_weight(self) -> float:
        """The mean weight; 1 without weights or arcs."""
        return self.weight_statistics[2]

    @derived
    def mean_degree_met(self) -> float:
        """The mean out-degree of the vertices that arcs leave, an arc drawn at random: hubs weigh in as often as they
        are met. 0 without arcs."""
        degree = self.out_degree
        degree = degree.to(devices.widest_float(degree))
        return float(degree.square().sum()) / max(self.num_arcs, 1)

    @derived
    def is_symmetric(self) -> bool:
        """True where every arc has its reverse of equal weight; always so for an undirected graph."""
        return not self.directed or self._kept_transpose() is self or self.storage.is_symmetric()

    def transpose(self) -> Graph:
        """The graph with every arc reversed, weights following, in the transposed layout where it is in one; cached,
        and the graph itself where it is symmetric."""
        reverse = self.transpose_detached()
        weights = None if not self.directed or self.layout is not None else self.weights
        if weights is not None and weights.requires_grad:  # a gradient passes once: what is kept has none
            weights = weights.index_select(0, self.transpose_permutation)
            return Graph(reverse.offset, reverse.neighbors, weights, vertices=self.vertices)
        return reverse

    def transpose_detached(self) -> Graph:
        """The transpose, whose weights record no gradient; cached. The way back is a weak reference: a cycle would
        keep both graphs alive until the garbage collector comes round."""
        if not self.directed:
            return self
        if (reverse := self._kept_transpose()) is None:
            with detached_cache_scope():
                if (reverse := self._kept_transpose()) is None:
                    reverse = self._reversed()
                    self._cache.values["transpose"] = weakref.ref(self) if reverse is self else reverse
        return reverse

    def _kept_transpose(self) -> Graph | None:
        kept = self._cache.values.get("transpose")
        return kept() if isinstance(kept, weakref.ref) else kept

    def _reversed(self) -> Graph:
        storage, permutation = self.storage.transpose_with_permutation()
        if permutation is not None:
            self._cache.values["transpose_permutation"] = permutation
        if storage is self.storage:
            return self
        reverse = Graph.of_storage(storage, self._ids)
        reverse._cache.values["transpose"] = weakref.ref(self)
        return reverse

    def decoded(self) -> Graph:
        """The same graph in CSR; itself where it is. `caches` lists it as "arcs", and `drop_caches` frees it."""
        return self if self.layout is None else self.kept("arcs", self._decode)

    def _decode(self) -> Graph:
        offset, neighbors, weights = self.storage.to_csr()
        storage = Csr.unchecked(offset, neighbors, None, self.num_vertices, weights)
        return Graph.of_storage(storage, self._ids, self.directed, self.order)

    def to_csr(self) -> Graph:
        """The same graph in CSR; itself where it is. Not cached."""
        return self if self.layout is None else self._decode()

    def row_offset(self) -> Tensor:
        """`offset` of the graph in CSR; of a layout computed from the degrees, and cached."""
        return self.offset if self.layout is None else self.kept("offset", self.storage.row_offset)

    def kept(self, name: str, compute: Callable[[], T]) -> T:
        """The result of `compute`, which derives something from this graph, cached under `name` at first use."""
        return self._cache.get(name, compute)

    @property
    def caches(self) -> dict[str, int]:
        """The derived data cached now: {name: bytes}."""
        shared = {name: 0 for name, value in self._cache.values.items() if isinstance(value, Csr)}  # with the transpose
        return self._cache.sizes() | shared

    def drop_caches(self, *names: str) -> None:
        """Free the derived data of these `names`, or all of it; it is computed again when needed.

        Raises ArgumentError for a name that is not among the `caches`.
        """
        self._cache.drop(*names)

    # ---- vertices by original id -------------------------------------------------------------------------------

    def ids(self, index: Any) -> Any:
        """Original ids of vertex indices: one for an int, a tensor (or list of labels) for several."""
        one = _is_one(index)
        wanted = self.as_vertices(index, "index")
        found = wanted if self._ids is None else self._ids.take(wanted)
        return _item(found) if one else found

    def index(self, ids: Any) -> Any:
        """Indices 0..n-1 of original ids: an int for one id, int64 [k] for several.

        Raises UnknownVertexError for an id that names no vertex.
        """
        one = isinstance(ids, str) or _is_one(ids)
        if isinstance(ids, tuple) and self._ids is not None and not self._ids.are_integers:
            one = ids in self._ids._table  # a tuple can itself be a label
        wanted = [ids.item() if isinstance(ids, (Tensor, np.ndarray)) else ids] if one else ids
        known = self._ids or VertexIds(torch.arange(self.num_vertices, device=self.device))
        found = known.find(wanted).to(self.device)
        return int(found) if one else found

    def top(self, values: Tensor, k: int = 10) -> list[tuple[Any, Any]]:
        """The `k` vertices of largest value as (original id, value), largest first, ties by smallest index, NaN last.

        `values`: [n]. Raises ArgumentError for another shape.
        """
        self._check_vertex_data(values, "values", dimensions=1)
        k = min(k, self.num_vertices)
        if k <= 0:
            return []
        ranked = values.masked_fill(values.isnan(), -torch.inf) if values.is_floating_point() else values
        ranked = ranked.to(torch.uint8) if ranked.dtype == torch.bool else ranked
        threshold = torch.topk(ranked, k).values[-1]
        candidates = (ranked >= threshold).nonzero().flatten()
        order = torch.sort(ranked[candidates], descending=True, stable=True).indices[:k]
        best = candidates[order]
        found = self.ids(best)
        return list(zip(found.tolist() if isinstance(found, Tensor) else found, values[best].tolist(), strict=True))

    def frame(self, **columns: Tensor) -> pandas.DataFrame:
        """A pandas frame with one row per vertex: its original id, then the named vertex data.

        Each of the `columns` is [n], or [n, k] which becomes k columns name_0 .. name_{k-1}. Raises ArgumentError for
        another length, or the name "vertex".
        """
        import pandas

        table: dict[str, Any] = {"vertex": _numpy(self.ids(torch.arange(self.num_vertices, device=self.device)))}
        if "vertex" in columns:
            raise ArgumentError("columns: 'vertex' names the column of original ids; give yours another name")
        for name, values in columns.items():
            self._check_vertex_data(values, name)
            if values.dim() == 1:
                table[name] = _numpy(values)
            else:
                table |= {f"{name}_{i}": _numpy(column) for i, column in enumerate(values.flatten(1).unbind(1))}
        return pandas.DataFrame(table)

    # ---- sets of vertices, and their arcs ----------------------------------------------------------------------

    def selection(
        self, rows: Tensor | None = None, *, width: int | None = None, num_arcs: int | None = None
    ) -> Selection:
        """The arcs of the vertices `rows`, int64 [k], or of all; at most the first `width` of each.

        `num_arcs`, how many they are, spares a host read where it is known. See `tgraph.core.rows.Selection`.
        """
        if self.layout is not None:
            return LayoutSelection(self, rows, width, num_arcs)
        return Selection(self.offset, self.neighbors, rows, width=width, num_arcs=num_arcs)

    def select(self, vertices: Any, name: str = "vertices") -> Frontier:
        """The frontier that holds the given vertices: an index, several, or a bool mask [n].

        `name` is what an error calls them. Raises ArgumentError for an index outside 0..n-1.
        """
        if _is_one(vertices):
            return Frontier(self, ids=self.as_vertices(vertices, name))
        if isinstance(vertices, np.ndarray) and vertices.dtype == np.bool_:
            vertices = torch.from_numpy(vertices)
        if isinstance(vertices, Tensor) and vertices.dtype == torch.bool:
            self._check_vertex_data(vertices, name, dimensions=1)
            return Frontier(self, mask=vertices.to(self.device))
        return Frontier(self, ids=self.as_vertices(vertices, name).unique())

    def as_vertices(self, vertices: Any, name: str = "vertices") -> Tensor:
        """Vertex indices int64 [k] on the graph's device, from an index or several, as whatever holds integers.

        `name` is what an error calls them. Raises ArgumentError for an index outside 0..n-1, and for anything that is
        no index, such as a mask.
        """
        if _is_one(vertices):
            vertices = vertices.item() if isinstance(vertices, (Tensor, np.ndarray)) else vertices
            if type(vertices) is int and 0 <= vertices < self.num_vertices:  # at a tenth of what tensors take
                return torch.tensor([vertices], device=self.device)
            vertices = [vertices]
        elif isinstance(vertices, range):
            vertices = list(vertices)
        index = inputs.as_index(vertices, name).to(self.device, torch.int64)
        bad = ((index < 0) | (index >= self.num_vertices)).nonzero()
        if len(bad):
            position = int(bad[0])
            raise ArgumentError(
                f"{name}: {int(index[position])} at position {position} is no vertex index 0..{self.num_vertices - 1}; "
                "graph.index(id) gives the index of an original id"
            )
        return index

    def everything(self) -> Frontier:
        """The frontier of all vertices; costs nothing."""
        return Frontier(self)

    def nothing(self) -> Frontier:
        """The empty frontier."""
        return Frontier(self, ids=torch.empty(0, dtype=torch.int64, device=self.device))

    # ---- derived graphs ----------------------------------------------------------------------------------------

    def to(self, device: torch.device | str) -> Graph:
        """The same graph on another `device`, in the same storage. Raises ArgumentError for an unavailable device."""
        if (device := devices.available(device)) == self.device:
            return self
        order = None if self.order is None else self.order.to(device)
        return Graph.of_storage(self.storage.to(device), self._ids, self.directed, order)

    def to_undirected(self, multi: inputs.Multi = "first") -> Graph:
        """The undirected graph of the same edges, in CSR; arcs u -> v and v -> u become one edge.

        `multi` says what becomes of parallel edges, as in `from_edges`; "keep" keeps u -> v and v -> u apart.
        """
        if not self.directed:
            if multi == "keep":
                return self
            arcs = self.decoded()
            tensors = sorting.merge_parallel(arcs.offset, arcs.neighbors, arcs.weights, multi)
            return self if tensors[1] is arcs.neighbors else Graph(*tensors, vertices=self.vertices, directed=False)
        arcs = self.decoded()
        rows = sorting.expand_rows(arcs.offset, arcs.neighbors.dtype)
        tensors = inputs.edges_to_csr(rows, arcs.neighbors, arcs.weights, self.num_vertices, False, multi, "keep")
        return Graph(*tensors, vertices=self.vertices, directed=False)

    def as_undirected(self) -> Graph:
        """The undirected graph, in CSR, of edges that are stored in both directions already; no arc is added.

        Parallel edges are brought into one order, so that the two arcs of an edge carry the same weight. Raises
        ArgumentError, with the first at fault, where an arc lacks its reverse of equal weight; a fingerprint of 64 bits
        tells, which errs about once in 2^63 graphs.
        """
        offset, neighbors, weights = self.decoded().storage.to_csr()
        symmetry.check_mirrored(offset, neighbors, weights)
        if weights is not None and sorting.has_parallel_arcs(offset, neighbors):
            order = Graph(offset, neighbors).transpose_permutation
            if not torch.equal(weights, weights.index_select(0, order)):
                weights = validate.ordered_in_runs(offset, neighbors, weights)
        return Graph(offset, neighbors, weights, self.vertices, directed=False)

    def without_self_loops(self) -> Graph:
        """The graph without the arcs that lead from a vertex to itself; in CSR where there are any."""
        if not self.num_self_loops:
            return self
        tensors = sorting.drop_self_loops(*self.decoded().storage.to_csr())
        return Graph(*tensors, vertices=self.vertices, directed=self.directed)

    def subgraph(self, vertices: Any) -> Graph:
        """The graph induced by the given vertices (indices, or a bool mask [n]), renumbered in the order given; in CSR.

        Original ids stay: vertex i of the result is `self.ids(vertices[i])`. Raises ArgumentError for a vertex that
        stands twice or is none.
        """
        mask = isinstance(vertices, (Tensor, np.ndarray)) and vertices.dtype in (torch.bool, np.bool_)
        chosen = self.select(vertices).ids if mask else self.as_vertices(vertices)
        self.ensure_valid()
        renumbered = torch.full((self.num_vertices,), -1, dtype=torch.int64, device=self.device)
        renumbered[chosen] = torch.arange(len(chosen), device=self.device)
        if int((renumbered >= 0).sum()) != len(chosen):
            raise ArgumentError("vertices: a vertex stands twice; pass each one once, for example vertices.unique()")
        offset, neighbors, weights = self.storage.rows(chosen)
        src = sorting.expand_rows(offset)
        dst = renumbered[neighbors]
        inside = dst >= 0
        weights = None if weights is None else weights[inside]
        tensors = inputs.edges_to_csr(src[inside], dst[inside], weights, len(chosen), True, "keep", "keep")
        return Graph(*tensors, vertices=self.ids(chosen), directed=self.directed)

    def permute(self, order: Any) -> Graph:
        """The same graph with its vertices renumbered: vertex i of the result is vertex order[i] of this one.

        order : every vertex index once, [n]. The result keeps it as `order`, original ids stay with their vertices, and
        `restore` brings results back. Raises ArgumentError for an order that is none.
        """
        order = self.as_vertices(order, "order")
        if len(order) != self.num_vertices:
            raise ArgumentError(f"order: expected every vertex once, {self.num_vertices} in all, got {len(order)}")
        return self.subgraph(order).with_order(order)

    def with_order(self, order: Tensor | None) -> Graph:
        """This graph, for `restore`: its vertex i is vertex `order[i]`, int64 [n], of another one. Changes the graph in
        place, so only for one that was just built."""
        object.__setattr__(self, "order", order)
        return self

    def restore(self, values: Tensor) -> Tensor:
        """The `values` [n, ...] at the vertices of a permuted graph, in the order of the graph that it was made from; a
        graph that was not permuted returns them as they are. Vertex indices among the data are not translated."""
        self._check_vertex_data(values, "values")
        if self.order is None:
            return values
        return torch.empty_like(values).index_copy_(0, self.order.to(values.device), values)

    # ---- checks ------------------------------------------------------------------------------------------------

    def validate(self) -> Graph:
        """Check every entry and return the graph: offsets, neighbours, row order, mirrored arcs, distinct ids.

        Raises ArgumentError that names the first fault and its position.
        """
        offset, neighbors, weights = self.storage.to_csr()
        validate.check_entries(offset, neighbors)
        if not validate.rows_ascend(offset, neighbors):
            raise ArgumentError("neighbors: a row is not ascending; build the graph with Graph.from_csr, which sorts")
        if not self.directed:
            symmetry.check_mirrored(offset, neighbors, weights)
        if self._ids is not None:
            self._ids.check_unique()
        return self

    def arc(self, position: int) -> tuple[Any, Any]:
        """Original ids (source, target) of the stored arc at `position` 0..m-1, for messages a user can act on."""
        arcs = self.decoded()
        source = int(torch.searchsorted(arcs.offset, position, right=True)) - 1
        return self.ids(source), self.ids(int(arcs.neighbors[position]))

    def __repr__(self) -> str:
        counted = self.directed or "num_self_loops" in self._cache.values
        edges = f"{self.num_edges:,} edges" if counted else f"{self.num_arcs:,} arcs"
        parts = [f"{self.num_vertices:,} vertices", edges, "directed" if self.directed else "undirected"]
        if self.weight_dtype is not None:
            parts.append(f"weights {str(self.weight_dtype).removeprefix('torch.')}")
        if self._ids is not None:
            parts.append("integer ids" if self._ids.are_integers else "labels")
        parts += [_readable(self.nbytes), str(self.device)]
        parts += [] if self.layout is None else [f"layout {self.layout.name}"]
        return f"Graph({', '.join(parts)})"

    def _check_vertex_data(self, values: Tensor, name: str, dimensions: int | None = None) -> None:
        if not isinstance(values, Tensor) or values.shape[:1] != (self.num_vertices,):
            got = list(values.shape) if isinstance(values, Tensor) else type(values).__name__
            raise ArgumentError(f"{name}: expected a tensor with one row per vertex, [{self.num_vertices}], got {got}")
        if dimensions is not None and values.dim() != dimensions:
            raise ArgumentError(f"{name}: expected {dimensions} dimension, got shape {list(values.shape)}")


def _unless_identity(ids: Tensor) -> Tensor | None:
    """None where ascending ids are exactly 0..n-1, so that none need to be kept."""
    return None if not len(ids) or (int(ids[0]) == 0 and int(ids[-1]) == len(ids) - 1) else ids


def _is_one(vertices: Any) -> bool:
    """True for a single index or id, 0-dimensional tensors and arrays included."""
    if isinstance(vertices, (Tensor, np.ndarray)):
        return vertices.ndim == 0
    return not isinstance(vertices, Sequence)


def _item(found: Tensor | list[Any]) -> Any:
    return found[0].item() if isinstance(found, Tensor) else found[0]


def _numpy(values: Any) -> Any:
    if not isinstance(values, Tensor):
        return values
    values = values.detach().cpu()
    return (values.float() if values.dtype == torch.bfloat16 else values).numpy()  # numpy has no bfloat16


def _readable(nbytes: int) -> str:
    size = float(nbytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError
