"""Checks of the arguments of loaders before PyTorch Geometric sees them: it would write past the end of a tensor for
edges out of range, and read a numpy mask as indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, FeatureStore, GraphStore, HeteroData
from torch_geometric.sampler.base import NumNeighbors

from tgraph.errors import ArgumentError

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_edges(data: Any) -> None:
    """Raise ArgumentError for data without a graph, and an edge_index out of the range of its vertices."""
    if isinstance(data, tuple) and len(data) == 2:
        features, graph = data
        if not isinstance(features, FeatureStore) or not isinstance(graph, GraphStore):
            given = ", ".join(type(store).__name__ for store in data)
            raise ArgumentError(f"data: expected (FeatureStore, GraphStore), in this order, got ({given})")
        if not graph.get_all_edge_attrs():
            raise ArgumentError("data: the GraphStore has no edges; put_edge_index gives it some")
        return
    if not isinstance(data, Data | HeteroData):
        raise ArgumentError(
            f"data: expected Data, HeteroData or (FeatureStore, GraphStore), got {type(data).__name__}; pass an "
            "element of a data set, such as dataset[0], and Data(edge_index=graph.to_edge_index()) for a tg.Graph"
        )
    for store in data.edge_stores:
        edge_index = store.get("edge_index")
        if edge_index is None:
            continue
        name = "edge_index" if store._key is None else f"edge_index of {store._key}"
        check_pairs(name, edge_index, sizes_of(data, store._key), ", or give a larger num_nodes or more features")


def check_not_sparse(data: Any) -> None:
    """Raise ArgumentError for an adj_t as a sparse tensor of torch, unsupported by PyTorch Geometric's loaders."""
    for store in data.edge_stores if isinstance(data, Data | HeteroData) else ():
        if isinstance(store.get("adj_t"), Tensor):
            raise ArgumentError(
                "adj_t: loaders support no sparse tensor of torch; set data.edge_index = "
                "torch_geometric.utils.to_edge_index(data.adj_t.t())[0] and delete adj_t"
            )


def sizes_of(data: Any, kind: Any) -> tuple[int, int]:
    """The numbers of vertices at both ends of a type of edges, None for homogeneous data."""
    ends = (data, data) if kind is None else (data[kind[0]], data[kind[-1]])
    return tuple(int(end.num_nodes or 0) for end in ends)  # type: ignore[return-value]


def check_pairs(name: str, pairs: Any, sizes: Sequence[int], otherwise: str = "") -> None:
    """Raise ArgumentError for anything but integers [2, k] below the `sizes`."""
    if not isinstance(pairs, Tensor):
        raise ArgumentError(f"{name}: expected a tensor [2, k], got {type(pairs).__name__}; use torch.as_tensor")
    if pairs.dtype not in INTEGERS:
        raise ArgumentError(f"{name}: expected integers, got {pairs.dtype}; use .long()")
    if pairs.dim() != 2 or pairs.shape[0] != 2:
        turn = "use .t().contiguous()" if pairs.dim() == 2 and pairs.shape[1] == 2 else "stack the two ends"
        raise ArgumentError(f"{name}: expected shape [2, k], got {list(pairs.shape)}; {turn}")
    for end, size in enumerate(sizes):
        _check_range(lambda place, end=end: f"{name}[{end}, {place}]", pairs[end], size, f"remove it{otherwise}")


def check_hops(name: str, given: Any) -> None:
    """Raise ArgumentError for anything but integers by hop, or a dictionary of these by type."""
    if isinstance(given, NumNeighbors):
        return
    for hops in given.values() if isinstance(given, Mapping) else [given]:
        values = hops.tolist() if isinstance(hops, Tensor) else hops
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise ArgumentError(f"{name}: expected integers by hop, got {values!r}; [{values}, {values}] are two hops")
        for hop, count in enumerate(values):
            if isinstance(count, bool) or not isinstance(count, Integral):
                raise ArgumentError(f"{name}[{hop}] is {count!r}; expected an integer")


def check_count(name: str, given: Any, least: int = 1, most: int | None = None) -> None:
    """Raise ArgumentError for anything but an integer from `least` to `most`."""
    is_whole = isinstance(given, Integral) and not isinstance(given, bool)
    if not is_whole or given < least or (most is not None and given > most):
        known = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise ArgumentError(f"{name}: expected an integer {known}, got {given!r}")


def check_length(name: str, given: Any, count: int, of: str) -> None:
    """Raise ArgumentError for anything but a tensor of `count` rows, or None."""
    if given is not None and len(given) != count:
        raise ArgumentError(f"{name}: {len(given)} entries for {count} {of}; it needs one for each")


def check_weights(name: str, weights: Any, count: int) -> None:
    """Raise ArgumentError unless each edge has a finite weight >= 0."""
    check_length(name, weights, count, "edges")
    if weights.dim() != 1:
        raise ArgumentError(f"{name}: expected shape [{count}], got {list(weights.shape)}; use .view(-1)")
    wrong = ~((weights >= 0) & weights.isfinite())
    if wrong.any():
        place = int(wrong.nonzero()[0])
        raise ArgumentError(f"{name}[{place}] is {weights[place].item()}; weights are finite and not negative")


def check_labels(data: Any, of_edges: Any, labels: Mapping[str, Any]) -> None:
    """Raise ArgumentError unless labels and times are as many as the edges of a checked `edge_label_index`."""
    if isinstance(data, tuple):
        return
    kind, pairs = None, of_edges
    if not isinstance(data, Data):
        kind, pairs = (of_edges, None) if isinstance(of_edges[0], str) else of_edges
    count = (data if kind is None else data[kind]).num_edges if pairs is None else pairs.shape[1]
    for name, given in labels.items():
        check_length(name, given, count, "edges of edge_label_index")


def checked_seeds(name: str, seeds: Any, size: int | None) -> Tensor:
    """Seeds, a tensor, an array or a list of indices or a mask, as a tensor of indices or a mask.

    size : the number of vertices, None if unknown. Raises ArgumentError for other types, and indices out of range.
    """
    if not hasattr(seeds, "__getitem__"):
        raise ArgumentError(f"{name}: expected a tensor, array or list, got {type(seeds).__name__}; use torch.tensor")
    found = seeds if isinstance(seeds, Tensor) else torch.as_tensor(seeds if len(seeds) else [], dtype=_dtype(seeds))
    if found.dim() != 1:
        raise ArgumentError(f"{name}: expected shape [k], got {list(found.shape)}; use .view(-1)")
    if found.dtype == torch.bool:
        if size is not None and len(found) != size:
            raise ArgumentError(f"{name}: a mask of {len(found)} entries for {size} vertices; it needs one for each")
        return found
    if found.dtype == torch.uint8 and len(found) == size and size > 1:
        raise ArgumentError(f"{name}: uint8 for each vertex is a mask or indices; use .bool() or .long()")
    if found.dtype not in INTEGERS:
        raise ArgumentError(f"{name}: expected integers or a mask, got {found.dtype}; use .long() or .bool()")
    if size is not None:
        _check_range(lambda place: f"{name}[{place}]", found, size, "remove it")
    return found


def _dtype(seeds: Any) -> torch.dtype | None:
    return torch.int64 if not len(seeds) or isinstance(seeds, range) else None


def _check_range(name: Any, values: Tensor, size: int, remedy: str) -> None:
    if not len(values):
        return
    least, greatest = values.aminmax()
    if int(least) < 0 or int(greatest) >= size:
        place = int(((values < 0) | (values >= size)).nonzero()[0])
        known = f"vertices are 0 to {size - 1}" if size else "there are no vertices"
        raise ArgumentError(f"{name(place)} is {int(values[place])}; {known}: {remedy}")


def checked_input_nodes(data: Any, given: Any) -> Any:
    """`input_nodes` in PyTorch Geometric's form: for heterogeneous data (type, indices or a mask).

    Raises ArgumentError for a missing or unknown type, and as `checked_seeds`.
    """
    if isinstance(data, Data):
        return None if given is None else checked_seeds("input_nodes", given, data.num_nodes)
    kinds = data.node_types if isinstance(data, HeteroData) else None
    if given is None:
        like = "torch.arange(num_nodes)" if kinds is None else f"{kinds[0]!r}, or ({kinds[0]!r}, mask)"
        raise ArgumentError(f"input_nodes: expected vertices, got None; give {like}")
    if kinds is None and isinstance(given, Tensor):
        return checked_seeds("input_nodes", given, None)
    kind, seeds = given if isinstance(given, tuple | list) and len(given) == 2 else (given, None)
    if not isinstance(kind, str) or (kinds is not None and kind not in kinds):
        known = "" if kinds is None else f" of {', '.join(map(repr, kinds))}"
        raise ArgumentError(f"input_nodes: expected a type of vertices{known}, or (type, vertices), got {kind!r}")
    if seeds is None:
        return given
    return kind, checked_seeds("input_nodes", seeds, None if kinds is None else data[kind].num_nodes)


def checked_input_edges(data: Any, given: Any) -> Any:
    """`edge_label_index` in PyTorch Geometric's form: for heterogeneous data (type, tensor [2, k]).

    Raises ArgumentError for a missing or unknown type, and as `check_pairs`.
    """
    if isinstance(data, Data):
        if given is not None:
            check_pairs("edge_label_index", given, sizes_of(data, None))
        return given
    if not isinstance(data, HeteroData):
        return given
    kinds = ", ".join(map(str, data.edge_types))
    if given is None or not isinstance(given, tuple | list) or isinstance(given, Tensor):
        raise ArgumentError(f"edge_label_index: expected a type of edges of {kinds}, or (type, tensor [2, k])")
    kind, pairs = (given, None) if isinstance(given[0], str) else given
    try:
        known = data._to_canonical(*kind)
    except ValueError:
        known = None
    if known not in data.edge_types and (pairs is None or not {kind[0], kind[-1]} <= set(data.node_types)):
        raise ArgumentError(f"edge_label_index: {kind} is not a type of edges; there are {kinds}")
    if pairs is not None:
        check_pairs("edge_label_index", pairs, sizes_of(data, kind))
    return given
