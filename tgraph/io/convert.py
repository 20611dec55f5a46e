"""Conversion from and to networkx, scipy, edge_index and pandas; vertex order, ids and weights are preserved."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.building import inputs, sorting
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.io import adjacency
from tgraph.io.adjacency import Adjacency
from tgraph.io.columns import Column
from tgraph.io.edges import Rules, columns_of_edges, edges_of, widened
from tgraph.io.text.names import SOURCES, TARGETS, WEIGHTS, customary, further_columns, has_customary
from tgraph.kernels.operators.dicts import MISSING, objects

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse


def from_networkx(
    G: networkx.Graph, weight: str | None = "weight", *, columns: bool | Sequence[str] | None = None
) -> Graph:
    """The graph of `G`, a networkx Graph, DiGraph, MultiGraph or MultiDiGraph; a graph of `tgraph.networkx` shares its
    tensors, without a copy.

    Vertices are in the order of G's nodes, isolated ones included; node names become ids unless they are 0..n-1 in
    order. `weight` names the edge attribute of `weights`: int64 where all values are integers, else float64, 1 for
    edges without it, None where no edge has it (or `weight=None`). `columns` : the attributes of edges and nodes that
    become `arc_columns` and `vertex_columns`, by name, or True for all; with all, keys of parallel edges other than
    0, 1, ... are the column "key".
    Raises ArgumentError for a weight that is not a number, attributes that neither torch nor Arrow holds, and for
    anything but a networkx graph.

    >>> import networkx
    >>> G = networkx.Graph([("ann", "bob"), ("bob", "eve")])
    >>> graph = tg.from_networkx(G)
    >>> graph.top(tg.algorithms.pagerank(graph), 1)[0][0], graph.index("eve")
    ('bob', 2)
    """
    if isinstance(G, type) or not (hasattr(G, "_tensors") or hasattr(G, "_adj")):
        kind = G.__name__ if isinstance(G, type) else type(G).__name__
        raise ArgumentError(f"G: expected a graph of networkx, got {kind}; networkx.Graph(...) makes one")
    named = () if weight is None else (weight,)
    wanted: Any = None if columns is True else tuple(columns or ())
    tensors = adjacency.read(G, None if wanted is None else dict.fromkeys((*named, *wanted)), wanted)
    column = None if weight is None else tensors.edge_columns.get(weight)
    weights = None if column is None else _networkx_weights(tensors, column, weight)
    arcs = tensors.graph
    graph = Graph(arcs.offset, arcs.neighbors, weights, _networkx_ids(tensors.nodes), arcs.directed)
    if not columns:
        return graph
    chosen = None if wanted is None else set(wanted)
    of_arcs = {name: each for name, each in tensors.edge_columns.items() if name != weight or weights is None}
    if tensors.keys is not None:
        of_arcs.setdefault("key", Column(tensors.keys))
    unknown = (chosen or set()) - of_arcs.keys() - tensors.node_columns.keys() - set(named)
    if unknown:
        raise ArgumentError(f"columns: no edge and no node has the attribute {min(map(repr, unknown))}")
    return graph.with_columns(
        *(
            {name: each.given() for name, each in held.items() if chosen is None or name in chosen}
            for held in (of_arcs, tensors.node_columns)
        )
    )


def _networkx_column(column: Any) -> Column:
    if isinstance(column, Tensor) and column.dim() == 1:
        return Column(column.detach().cpu())
    return Column(objects([MISSING if each is None else each for each in column.tolist()]))


def _networkx_ids(nodes: Sequence[Any]) -> list[Any] | None:
    if isinstance(nodes, range):
        return None
    if all(isinstance(node, numbers.Integral) and not isinstance(node, bool) for node in nodes):
        nodes = [int(node) for node in nodes]  # of numpy's integers too
    plain = all(type(node) is int and node == i for i, node in enumerate(nodes))
    return None if plain else list(nodes)


def _networkx_weights(tensors: Adjacency, column: Column, weight: Any) -> Tensor | None:
    if isinstance(column.values, Tensor):
        weights = column.numbers(1)
        return weights.long() if weights.dtype == torch.bool else weights
    values = [None if value is MISSING else value for value in column.tolist()]
    if all(value is None for value in values):
        return None
    for arc, value in enumerate(values):
        if value is not None and (isinstance(value, (str, bytes)) or not np.isscalar(value) or np.iscomplexobj(value)):
            u, v = (tensors.nodes[end] for end in tensors.graph.arc(arc))
            raise ArgumentError(f"weight={weight!r}: the edge {u!r} - {v!r} has {value!r}, which is not a number")
    filled = [1 if value is None else value for value in values]
    whole = all(isinstance(value, (int, np.integer)) for value in filled)
    try:
        return torch.from_numpy(np.array(filled, dtype=np.int64 if whole else np.float64))
    except OverflowError as fault:
        raise ArgumentError(f"weight={weight!r}: a value does not fit int64; convert the weights to float") from fault


def to_networkx(graph: Graph) -> networkx.Graph:
    """A networkx Graph or DiGraph, or the Multi version where there are parallel edges.

    Nodes are the original ids in the order of the vertices; `weights` become the edge attribute "weight", columns the
    attributes of their names, but for a column "key", which has the keys of the edges of a Multi version. Raises
    ArgumentError where there are weights and a column "weight".

    >>> graph = tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0])
    >>> list(graph.to_networkx().edges(data="weight"))
    [(0, 1, 0.5), (1, 2, 2.0)]
    """
    import networkx as nx

    arcs = graph.decoded().to("cpu")
    bare = Graph(arcs.offset, arcs.neighbors, directed=graph.directed)  # its caches are freed with it
    kinds = {(False, 0): nx.Graph, (True, 0): nx.DiGraph, (False, 1): nx.MultiGraph, (True, 1): nx.MultiDiGraph}
    keys = arcs.arc_columns.get("key")
    kind = kinds[graph.directed, keys is not None or sorting.has_parallel_arcs(bare.offset, bare.neighbors)]
    columns = {name: _networkx_column(each) for name, each in arcs.arc_columns.items() if name != "key"}
    if arcs.weights is not None:
        if "weight" in columns:
            raise ArgumentError("graph.arc_columns: 'weight' is the attribute of the weights too; rename the column")
        columns["weight"] = Column(arcs.weights.detach())
    names = range(graph.num_vertices) if graph.vertices is None else graph.vertices.tolist()
    of_nodes = {name: _networkx_column(each) for name, each in arcs.vertex_columns.items()}
    held = None if keys is None else objects(keys.tolist())
    return adjacency.write(Adjacency(bare, names, edge_columns=columns, node_columns=of_nodes, keys=held), kind, {})


def from_scipy(matrix: scipy.sparse.sparray, *, directed: bool = True, weighted: bool = True) -> Graph:
    """The graph of a square sparse `matrix` or array: entry (i, j) is the arc i -> j, its value the weight.

    Explicit zeros are arcs. A boolean matrix gives no weights, nor does any with `weighted=False`. `directed=False`
    states that the matrix is symmetric. The arrays of the matrix are copied.
    Raises ArgumentError for a dense matrix or another shape, and for an asymmetric matrix with `directed=False`.

    >>> import scipy.sparse
    >>> matrix = scipy.sparse.csr_array([[0, 2, 0], [0, 0, 3], [0, 0, 0]])
    >>> graph = tg.from_scipy(matrix)
    >>> graph.to_edge_index(), graph.weights
    (tensor([[0, 1],
            [1, 2]]), tensor([2, 3]))
    """
    if not hasattr(matrix, "tocsr"):
        kind = type(matrix).__name__
        raise ArgumentError(f"matrix: expected a scipy sparse matrix, got {kind}; pass scipy.sparse.csr_array(matrix)")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError(f"matrix: a graph needs a square matrix, got shape {list(matrix.shape)}")
    rows = matrix.tocsr()
    weights = rows.data if weighted and rows.data.dtype.kind != "b" else None
    weights = None if weights is None else weights.copy()
    return Graph.from_csr(rows.indptr.copy(), rows.indices.copy(), weights, directed=directed)


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """The adjacency matrix as a csr_array [n, n] of the weights, or of True where there are none.

    Its arrays are copies, as scipy's functions may write into them. Call `.astype(float)` before multiplying boolean
    matrices: their sums saturate at True.

    >>> tg.Graph.from_edges([0, 1], [1, 2], [2, 3]).to_scipy().todense()
    array([[0, 2, 0],
           [0, 0, 3],
           [0, 0, 0]])
    """
    import scipy.sparse

    graph = graph.decoded()
    neighbors, weights = graph.neighbors.cpu().numpy(), graph.weights
    offset = graph.offset.cpu().numpy()
    data = np.ones(len(neighbors), dtype=bool) if weights is None else widened(weights.detach().cpu()).numpy()
    matrix = scipy.sparse.csr_array((data, neighbors, offset), shape=(graph.num_vertices,) * 2, copy=True)
    matrix.has_sorted_indices = True
    return matrix


def from_edge_index(
    edge_index: Any, edge_weight: Any = None, num_nodes: int | None = None, *, directed: bool = True
) -> Graph:
    """The graph of a PyG `edge_index`, integer [2, m], and its `edge_weight`, [m] or None, as tensors or numpy arrays.

    `num_nodes` includes isolated vertices; without it n is one more than the largest index. `directed=False` states
    that both arcs of every edge are in edge_index, as PyG stores undirected graphs.
    Raises ArgumentError for another shape, and where an undirected edge lacks its reverse.

    >>> edge_index = torch.tensor([[0, 0, 1], [1, 2, 2]])
    >>> graph = tg.from_edge_index(edge_index, num_nodes=5)
    >>> graph.num_vertices, graph.out_degree
    (5, tensor([2, 1, 0, 0, 0]))
    """
    edge_index = inputs.as_tensor(edge_index, "edge_index")
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise ArgumentError(f"edge_index: expected shape [2, m], got {list(edge_index.shape)}; transpose it if [m, 2]")
    arcs = Graph.from_edges(edge_index[0], edge_index[1], edge_weight, num_vertices=num_nodes)
    if directed:
        return arcs
    return Graph(arcs.offset, arcs.neighbors, arcs.weights, directed=False).validate()


def to_edge_index(graph: Graph) -> Tensor:
    """The arcs as PyG's edge_index, int64 [2, m], in the order of `graph.weights`, its edge_weight.

    >>> tg.Graph.from_edges([1, 0, 0], [2, 2, 1]).to_edge_index()
    tensor([[0, 0, 1],
            [1, 2, 2]])
    """
    graph = graph.decoded()
    return torch.stack((sorting.expand_rows(graph.offset), graph.neighbors.to(torch.int64)))


def from_pandas(
    frame: pandas.DataFrame,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    *,
    directed: bool = True,
    weights: bool | None = None,
    multi: inputs.Multi = "keep",
    self_loops: inputs.SelfLoops = "keep",
    columns: bool | Sequence[str] | None = None,
) -> Graph:
    """The graph of a `frame` with one row per edge, of the same arguments as `from_table`, with ids of any kind.

    Integer ids are relabelled 0..n-1 in ascending order, other ids (text) in order of appearance, with the ids in
    `vertices`. `source`, `target`, `weight` name columns; by default conventional names are recognised, without weights
    for `weights=False`. `directed=False`: every row is one undirected edge, or all have their reverse among them.
    `multi`, `self_loops` : as of `tgraph.read`. `columns` : names of further columns that become `arc_columns`, or True
    for all.
    Raises ArgumentError for columns that are missing, duplicate or not numeric, and for missing values.

    >>> import pandas
    >>> frame = pandas.DataFrame({"source": ["ann", "bob"], "target": ["bob", "eve"], "years": [3, 7]})
    >>> graph = tg.from_pandas(frame, weight="years")
    >>> graph.vertices.tolist(), graph.weights.tolist()
    (['ann', 'bob', 'eve'], [3, 7])
    """
    if not (hasattr(frame, "columns") and hasattr(frame, "isna")):
        raise ArgumentError(f"frame: expected a pandas one, got {type(frame).__name__}; from_table takes other tables")
    found = _named(list(frame.columns), source, target, weight, weights is not False)
    source, target, weight = found
    for argument, name in zip(("source", "target", "weight"), found, strict=True):
        if name is None:
            continue
        if (times := list(frame.columns).count(name)) != 1:
            listed = ", ".join(map(repr, frame.columns))
            count = "no column" if times == 0 else f"{times} columns"
            raise ArgumentError(f"{argument}: the frame has {count} {name!r}; its columns are {listed}")
        if frame[name].isna().any():
            row = frame.index[frame[name].isna()][0]
            raise ArgumentError(f"{argument}: the row {row!r} of column {name!r} has no value; fill or drop such rows")
    values = None if weight is None else _numbers(frame[weight])
    further: Any = {name: frame[name] for name in further_columns("the frame", list(frame.columns), found, columns)}
    ends, rules = (frame[source], frame[target]), Rules(directed, multi, self_loops, "compact")
    if all(column.dtype.kind in "iu" for column in ends):
        src, dst = (column.to_numpy(dtype=np.uint64 if column.dtype.kind == "u" else np.int64) for column in ends)
        return rules.build(src, dst, values, further)
    import pandas

    numbers, labels = pandas.factorize(pandas.concat(ends, ignore_index=True))
    rules = replace(rules, vertices=np.asarray(labels, dtype=object))
    return rules.build(numbers[: len(frame)], numbers[len(frame) :], values, further)


def _named(names: list[Any], source: Any, target: Any, weight: Any, weighted: bool) -> tuple[Any, Any, Any]:
    """The columns of sources, targets and weights: as given, by default those of conventional names."""
    text = [name for name in names if isinstance(name, str)]
    ends = customary(text, SOURCES) or "source", customary(text, TARGETS) or "target"
    if source is None and target is None and len(names) == 2 and not has_customary(text):
        ends = names[0], names[1]
    weight = customary(text, WEIGHTS) if weight is None else weight
    return ends[0] if source is None else source, ends[1] if target is None else target, weight if weighted else None


def _numbers(column: pandas.Series) -> np.ndarray:
    """The weights of a column of Python's numbers, or of a dtype of pandas or Arrow."""
    column = column.infer_objects()
    if column.dtype.kind not in "iuf":
        raise ArgumentError(f"weight: column {column.name!r} is of type {column.dtype}; use pandas.to_numeric")
    return column.to_numpy(dtype=f"{column.dtype.kind}{column.dtype.itemsize}")


def to_pandas(graph: Graph) -> pandas.DataFrame:
    """A frame with one row per edge (an undirected one once): source, target and, where there are weights, weight, then
    the columns of arcs.

    >>> tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0], directed=False).to_pandas()
       source  target  weight
    0       0       1     0.5
    1       1       2     2.0
    """
    import pandas

    src, dst, weights = edges_of(graph)
    if graph.vertices is not None:
        names = graph.vertices.cpu().numpy() if isinstance(graph.vertices, Tensor) else graph.vertices
        src, dst = names[src], names[dst]
    columns = {"source": src, "target": dst} | ({} if weights is None else {"weight": weights})
    return pandas.DataFrame(columns | columns_of_edges(graph, columns))


Graph.from_networkx, Graph.to_networkx = staticmethod(from_networkx), to_networkx
Graph.from_scipy, Graph.to_scipy = staticmethod(from_scipy), to_scipy
Graph.from_edge_index, Graph.to_edge_index = staticmethod(from_edge_index), to_edge_index
Graph.from_pandas, Graph.to_pandas = staticmethod(from_pandas), to_pandas
