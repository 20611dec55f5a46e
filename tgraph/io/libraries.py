"""Conversion from and to the graphs of igraph and PyG, and from those of DGL, with the data of vertices and edges.

Graphs are read by their public interface, so that none of these packages is imported but to make a graph of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from tgraph.core.columns import Columns
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.io.convert import to_edge_index
from tgraph.io.edges import columns_once, edges_of

if TYPE_CHECKING:
    import igraph
    import torch_geometric.data

_NODE_TYPE, _EDGE_TYPE = "node_type", "edge_type"


def from_igraph(
    g: igraph.Graph, weight: str | None = "weight", *, columns: bool | Sequence[str] | None = True
) -> Graph:
    """The graph of `g`, an igraph.Graph, with its vertices in their order, isolated ones included.

    The attribute "name" of vertices becomes the original ids, where its values are integers, or text, that differ.
    `weight` names the attribute of edges that becomes `weights`, if there is one. `columns` : the attributes that
    become `arc_columns` and `vertex_columns`, by default all.
    Raises ArgumentError for anything but a graph of igraph, weights that are not numbers, and unknown attributes.

    >>> import igraph
    >>> g = igraph.Graph(edges=[(0, 1), (1, 2)], vertex_attrs={"name": ["ann", "bob", "eve"], "age": [31, 47, 20]})
    >>> graph = tg.from_igraph(g)
    >>> graph.vertices.tolist(), graph.vertex_columns["age"]
    (['ann', 'bob', 'eve'], tensor([31, 47, 20]))
    """
    _check_kind(g, ("vcount", "get_edgelist", "es", "vs"), "g", "an igraph.Graph")
    arcs, vertices = ({name: each[name] for name in each.attributes()} for each in (g.es, g.vs))
    src, dst = np.array(g.get_edgelist(), dtype=np.int64).reshape(-1, 2).T.copy()
    return _built(src, dst, g.vcount(), arcs, vertices, "name", weight, columns, g.is_directed())


def to_igraph(graph: Graph) -> igraph.Graph:
    """An igraph.Graph with the vertices in their order, and each undirected edge once.

    Original ids become the attribute "name" of the vertices, `weights` the attribute "weight" of the edges, and columns
    the attributes of their names, with None for values that are missing. Raises ArgumentError where a column has one of
    the two names.

    >>> tg.Graph.from_edges([0, 1], [1, 2], [0.5, 2.0]).to_igraph().es["weight"]
    [0.5, 2.0]
    """
    import igraph

    src, dst, weights = edges_of(graph)
    return igraph.Graph(
        n=graph.num_vertices,
        edges=np.stack((src, dst), axis=1).tolist(),
        directed=graph.directed,
        edge_attrs=_lists(columns_once(graph), "weight", weights),
        vertex_attrs=_lists(graph.vertex_columns, "name", graph.vertices),
    )


def from_dgl(g: Any, weight: str | None = "w", *, columns: bool | Sequence[str] | None = True) -> Graph:
    """The directed graph of `g`, a DGLGraph with one type of nodes and one of edges, on its device.

    `weight` names the data of edges that becomes `weights`, if there is any. `columns` : the data of edges and nodes
    that become `arc_columns` and `vertex_columns`, by default all; "_ID", the nodes of the graph that a subgraph is of,
    becomes the original ids. Raises ArgumentError for anything else, and for unknown data.

    >>> from types import SimpleNamespace
    >>> ends = torch.tensor([0, 1]), torch.tensor([1, 2])
    >>> of_nodes, of_edges = {"x": torch.ones(3, 2)}, {"w": torch.tensor([5, 7])}
    >>> g = SimpleNamespace(num_nodes=lambda: 3, edges=lambda order: ends, ndata=of_nodes, edata=of_edges)  # as DGL's
    >>> tg.from_dgl(g).weights
    tensor([5, 7])
    """
    _check_kind(g, ("num_nodes", "edges", "ndata", "edata"), "g", "a DGLGraph")
    for kind in ("ntypes", "etypes"):
        if len(types := getattr(g, kind, ())) > 1:
            raise ArgumentError(f"g: has the {kind} {', '.join(types)}; dgl.to_homogeneous(g) makes one of them")
    src, dst = g.edges(order="eid")
    return _built(src, dst, g.num_nodes(), g.edata, g.ndata, "_ID", weight, columns)


def from_pyg(
    data: torch_geometric.data.Data | torch_geometric.data.HeteroData,
    weight: str | None = "edge_weight",
    *,
    directed: bool = True,
    columns: bool | Sequence[str] | None = True,
) -> Graph:
    """The graph of PyG's `data`, a Data or HeteroData, on its device; `directed=False` states that both arcs of every
    edge are in it.

    Attributes with a row for each edge, or node, become `arc_columns` and `vertex_columns`, all or those named by
    `columns`; `weight` names the one that becomes `weights`, and "n_id" becomes the original ids where they differ.
    The nodes of a HeteroData follow each other type by type: the column "node_type" of vertices has their types, and
    "edge_type" the relation of each arc, such as "writes" of ("author", "writes", "paper"); attributes are kept that
    all types have, alike in dtype and shape. Others are left out with a warning.
    Raises ArgumentError for anything else, for adj_t in place of edge_index, and unknown attributes.

    >>> from torch_geometric.data import Data
    >>> data = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]]), edge_attr=torch.tensor([5, 7]))
    >>> graph = tg.from_pyg(data)
    >>> graph.vertex_columns["x"].shape, graph.arc_columns["edge_attr"]
    (torch.Size([3, 3]), tensor([5, 7]))
    """
    _check_kind(data, ("edge_attrs", "num_nodes", "stores"), "data", "a Data or HeteroData of torch_geometric")
    if any("adj_t" in store for store in data.stores):
        raise ArgumentError(
            "data: its arcs are in adj_t; from_pyg takes edge_index, without the transform ToSparseTensor"
        )
    parts = _types_of(data) if hasattr(data, "edge_types") else _one_type(data)
    (src, dst), count, arcs, vertices, left = parts
    if columns is True and left:
        reason = "have no row for each node or edge, or differ between types"
        warnings.warn(f"data: {', '.join(left)} {reason}; they are left out", stacklevel=2)
    graph = _built(src, dst, count, arcs, vertices, "n_id", weight, columns)
    return graph if directed else graph.as_undirected()


def to_pyg(graph: Graph, *, hetero: bool = False) -> torch_geometric.data.Data | torch_geometric.data.HeteroData:
    """A Data of PyG with all arcs in `edge_index`, or a HeteroData, on the graph's device; text is lists.

    `weights` become `edge_weight`, original ids `n_id`, and columns attributes of their names; those of arcs have
    "edge_" in front, unless they have "edge" in their name already, as PyG tells them from those of nodes. With
    `hetero=True` the columns "node_type" and "edge_type" say of which types vertices and arcs are, as in `from_pyg`.
    Raises ArgumentError for two columns that become one attribute, and where one of the two columns is missing.

    >>> graph = tg.Graph.from_edges([0, 1], [1, 2], columns={"kind": [5, 7]})
    >>> graph.to_pyg()
    Data(edge_index=[2, 2], num_nodes=3, edge_kind=[2])
    """
    from torch_geometric.data import Data, HeteroData

    graph, n = graph.decoded(), graph.num_vertices
    nodes = _attributes(graph.vertex_columns, "n_id", graph.vertices)
    edges = _attributes(graph.arc_columns, "edge_weight", graph.weights)
    if hetero:
        return _by_type(graph, nodes, edges, HeteroData())
    if n == graph.num_arcs and (odd := [name for name in nodes if "edge" in name]):
        raise ArgumentError(
            f"graph.vertex_columns: PyG takes {odd[0]!r} as data of the edges, of which there are as many"
        )
    edges = _joined({}, ((name if "edge" in name else f"edge_{name}", each) for name, each in edges.items()))
    taken: dict[str, Any] = {"edge_index": to_edge_index(graph), "num_nodes": n}
    return Data(**_joined(taken, (*nodes.items(), *edges.items())))


def _built(
    src: Any,
    dst: Any,
    count: int,
    arcs: Mapping[str, Any],
    vertices: Mapping[str, Any],
    ids: str,
    weight: str | None,
    columns: bool | Sequence[str] | None,
    directed: bool = True,
) -> Graph:
    """The graph of edges with attributes, of which `ids` names that of original ids."""
    weights = None if weight is None else arcs.get(weight)
    for edge, value in enumerate(weights if isinstance(weights, list) else ()):
        if not isinstance(value, (int, float)):
            problem = f"the edge at position {edge} has {value!r}, which is not a number"
            raise ArgumentError(f"weight={weight!r}: {problem}; weight=None reads no weights")
    labels = _labels(vertices.get(ids))
    if columns is not True:
        columns = tuple(columns or ())
        if unknown := [name for name in columns if name not in arcs and name not in vertices]:
            raise ArgumentError(f"columns: no edge and no vertex has {unknown[0]!r}; there are {[*arcs, *vertices]}")
    of_arcs, of_vertices = (
        {name: each for name, each in held.items() if name != taken and (columns is True or name in columns)}
        for held, taken in ((arcs, weight), (vertices, None if labels is None else ids))
    )
    labels = None if isinstance(labels, range) else labels
    same: dict[str, Any] = {"num_vertices": count, "vertices": labels, "directed": directed}
    return Graph.from_edges(src, dst, weights, columns=of_arcs, **same).with_columns(vertices=of_vertices)


def _labels(values: Any) -> Any:
    """The values that are ids, integers or text that differ: range(n) for 0..n-1 in order; None where they are not."""
    if isinstance(values, Tensor) and (values.dim() != 1 or values.is_floating_point() or values.dtype == torch.bool):
        return None
    labels = values.tolist() if isinstance(values, (Tensor, np.ndarray)) else list(values or ())
    if set(map(type, labels)) not in ({int}, {str}) or len(set(labels)) < len(labels):
        return None
    plain = range(len(labels))
    return plain if labels == list(plain) else labels


def _check_kind(given: Any, names: Iterable[str], argument: str, expected: str) -> None:
    if isinstance(given, type) or not all(hasattr(given, name) for name in names):
        kind = given.__name__ if isinstance(given, type) else type(given).__name__
        raise ArgumentError(f"{argument}: expected {expected}, got {kind}")


def _joined(held: dict[str, Any], more: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """All attributes. Raises ArgumentError for two of one name."""
    for name, each in more:
        if name in held:
            raise ArgumentError(f"graph: two columns become the attribute {name!r}; rename one by with_columns")
        held[name] = each
    return held


def _attributes(columns: Columns, name: str, values: Any) -> dict[str, Any]:
    """The columns, and `values`, None for none, by the `name`: tensors of numbers, lists of others."""
    held = _joined(dict(columns), () if values is None else [(name, values)])
    return {name: each if isinstance(each, Tensor) else each.tolist() for name, each in held.items()}


def _lists(columns: Columns, name: str, values: Any) -> dict[str, list[Any]]:
    return {
        name: each.tolist() if isinstance(each, Tensor) else each
        for name, each in _attributes(columns, name, values).items()
    }


# ---- PyG -------------------------------------------------------------------------------------------------------------

_Parts = tuple[Any, int, dict[str, Any], dict[str, Any], list[str]]  # (ends, nodes, of edges, of nodes, left out)


def _rows(store: Any, name: str, value: Any) -> int | None:
    """The rows of an attribute, None where it has none."""
    if isinstance(value, (list, tuple)):
        return len(value)
    is_table = isinstance(value, (Tensor, np.ndarray)) and value.ndim and store._parent().__cat_dim__(name, value) == 0
    return len(value) if is_table else None


def _one_type(data: Any) -> _Parts:
    ends = _ends(data)
    n, m = data.num_nodes, ends.shape[1]
    arcs, vertices, left = {}, {}, []
    for name, value in data.stores[0].items():
        rows = _rows(data.stores[0], name, value)
        if rows == m and (rows != n or "edge" in name):
            arcs[name] = value
        elif rows == n:
            vertices[name] = value
        elif name not in ("edge_index", "num_nodes"):
            left.append(name)
    return ends, n, arcs, vertices, left


def _ends(store: Any) -> Tensor:
    ends = store.edge_index if "edge_index" in store else None
    return torch.empty(2, 0, dtype=torch.int64) if ends is None else ends


def _types_of(data: Any) -> _Parts:
    nodes = [(kind, data[kind].num_nodes, data[kind]) for kind in data.node_types]
    first = dict(zip(data.node_types, np.cumsum([0, *(count for _, count, _ in nodes)]).tolist(), strict=False))
    ends = [_ends(data[kind]) for kind in data.edge_types]
    moved = [
        torch.stack((each[0] + first[kind[0]], each[1] + first[kind[2]]))
        for kind, each in zip(data.edge_types, ends, strict=True)
    ]
    edges = [(kind[1], each.shape[1], data[kind]) for kind, each in zip(data.edge_types, ends, strict=True)]
    arcs, left_of_arcs = _of_all_types(edges, _EDGE_TYPE)
    vertices, left = _of_all_types(nodes, _NODE_TYPE)
    left += [*left_of_arcs, *(name for name, _ in data.stores[0].items())]
    both = torch.cat(moved, 1) if moved else torch.empty(2, 0, dtype=torch.int64)
    return both, sum(count for _, count, _ in nodes), arcs, vertices, list(dict.fromkeys(left))


def _of_all_types(types: list[tuple[str, int, Any]], name: str) -> tuple[dict[str, Any], list[str]]:
    """(columns that all types have, with the column `name` of their names; the names of others)"""
    import pyarrow as pa

    held: dict[str, Any] = {name: pa.array([kind for kind, count, _ in types for _ in range(count)], pa.string())}
    names = dict.fromkeys(each for *_, store in types for each in store if each not in ("edge_index", "num_nodes"))
    left = []
    for each in names:
        values: list[Any] = [store.get(each, None) for *_, store in types]
        counts = [_rows(store, each, value) for (*_, store), value in zip(types, values, strict=True)]
        alike = {(value.dtype, value.shape[1:]) if hasattr(value, "dtype") else type(value) for value in values}
        if each == name or counts != [count for _, count, _ in types] or len(alike) > 1:
            left.append(each)
        elif isinstance(values[0], (list, tuple)):
            held[each] = [row for value in values for row in value]
        else:
            held[each] = torch.cat([torch.as_tensor(value) for value in values])
    return held, left


def _by_type(graph: Graph, nodes: dict[str, Any], edges: dict[str, Any], data: Any) -> Any:
    """Fill a HeteroData with the vertices and arcs of each type."""
    for argument, held, name in (("vertex", nodes, _NODE_TYPE), ("arc", edges, _EDGE_TYPE)):
        if name not in held or (len(held[name]) and not isinstance(held[name], list)):
            raise ArgumentError(
                f"graph.{argument}_columns: hetero=True needs the column {name!r}, text; with_columns adds it"
            )
    kinds, position = nodes.pop(_NODE_TYPE), torch.empty(graph.num_vertices, dtype=torch.int64, device=graph.device)
    for kind, places in _groups(kinds).items():
        chosen = torch.tensor(places, device=graph.device)
        position[chosen] = torch.arange(len(places), device=graph.device)
        data[kind].num_nodes = len(places)
        _fill(data[kind], nodes, chosen, places)
    ends = to_edge_index(graph)
    relations = zip(ends[0].tolist(), edges.pop(_EDGE_TYPE), ends[1].tolist(), strict=True)
    for key, places in _groups([(kinds[u], relation, kinds[v]) for u, relation, v in relations]).items():
        chosen = torch.tensor(places, device=graph.device)
        data[key].edge_index = position[ends[:, chosen]]
        _fill(data[key], edges, chosen, places)
    return data


def _groups(kinds: list[Any]) -> dict[Any, list[int]]:
    """The places of each kind, in order of first appearance."""
    places: dict[Any, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind, []).append(place)
    return places


def _fill(store: Any, held: dict[str, Any], chosen: Tensor, places: list[int]) -> None:
    for name, each in held.items():
        store[name] = each[chosen] if isinstance(each, Tensor) else [each[place] for place in places]


Graph.from_igraph, Graph.to_igraph = staticmethod(from_igraph), to_igraph
Graph.from_pyg, Graph.to_pyg = staticmethod(from_pyg), to_pyg
Graph.from_dgl = staticmethod(from_dgl)
