"""`adjacency_of`: the adjacency of an edge_index, sparse matrix or graph, cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.nn import tensor_cache
from tgraph.nn.adjacency import Adjacency, GraphAdjacency, SortedAdjacency
from tgraph.nn.spread import SpreadAdjacency
from tgraph.nn.traced import TracedAdjacency

Sizes = tuple[int | None, int | None]

FLOWS = ("source_to_target", "target_to_source")


def adjacency_of(edge_index: Any, sizes: Sizes, flow: str = "source_to_target") -> Adjacency:
    """The adjacency of an edge_index.

    edge_index : integers [2, E], a plain tensor or PyG's EdgeIndex; a torch.sparse COO, CSR or CSC matrix, or a
        torch_sparse.SparseTensor, with destinations as rows (adj_t); a tgraph.Graph, possibly spread over processes,
        for the features of own vertices; or the Csr of a block of `tgraph.sampling.blocks`, with destinations as rows.
    sizes : (number of vertices of edge_index[0], of edge_index[1]); None for one equal to the other.
    flow : "source_to_target", messages go from edge_index[0] to edge_index[1], or "target_to_source".

    The adjacency of a tensor is cached until torch increments the tensor's version counter. Writes through `.data`, or
    through memory shared outside of torch, do not increment it; see `forget`.

    Raises ArgumentError for anything else, and for sizes that do not fit.
    """
    if flow not in FLOWS:
        raise ArgumentError(f"flow: {flow!r} is not one of {', '.join(map(repr, FLOWS))}")
    if type(edge_index) is Tensor and edge_index.layout == torch.strided:
        return _known(edge_index, None, lambda: _of_edges(edge_index, sizes, flow), sizes, flow)
    if isinstance(edge_index, Graph):
        kind = SpreadAdjacency if edge_index.storage.is_distributed else GraphAdjacency
        found: Adjacency = kind(edge_index, flow == "target_to_source")
        _check_sizes(found, sizes)
        return found
    if isinstance(edge_index, Csr):
        return _of_csr(edge_index, sizes, flow)
    if hasattr(edge_index, "csr") and hasattr(edge_index, "sparse_sizes"):
        column, values = edge_index.storage.col(), edge_index.storage.value()
        parts = edge_index.storage.rowptr(), values
        return _known(column, values, lambda: _of_sparse_tensor(edge_index), sizes, flow, sparse=True, parts=parts)
    if not isinstance(edge_index, Tensor):
        raise ArgumentError(
            f"edge_index: expected an integer tensor [2, E], a sparse matrix, a tgraph.Graph or a Csr, got "
            f"{type(edge_index).__name__}"
        )
    if edge_index.layout != torch.strided:
        values = edge_index.values() if edge_index.layout != torch.sparse_coo else edge_index._values()
        return _known(edge_index, values, lambda: _of_sparse(edge_index), sizes, flow, sparse=True)
    if hasattr(edge_index, "as_tensor") and hasattr(edge_index, "sparse_size"):  # PyG's EdgeIndex
        given = edge_index.sparse_size()
        sizes = tuple(own if own is not None else size for own, size in zip(given, sizes, strict=True))  # type: ignore[assignment]
        edge_index = edge_index.as_tensor()
    return _known(edge_index, None, lambda: _of_edges(edge_index, sizes, flow), sizes, flow)


def _known(
    tensor: Tensor,
    values: Tensor | None,
    build: Callable[[], Adjacency],
    sizes: Sizes,
    flow: str,
    sparse: bool = False,
    parts: tuple[Tensor | None, ...] = (),
) -> Adjacency:
    """The adjacency cached on a tensor, or built; for a `sparse` matrix, independent of sizes and flow. `parts` : the
    other tensors of a matrix, as matrices may share this tensor."""
    key = None if sparse else (sizes, flow)
    if torch.compiler.is_compiling():
        found = build()
    elif tensor.is_inference() or tensor.requires_grad or (values is not None and _may_be_trained(values)):
        found = build()  # no version counter, or a tensor of one forward pass
    else:
        found = tensor_cache.cached(tensor, key, build, values, parts)
    if sparse:
        if flow == "target_to_source":
            raise ArgumentError("flow: 'target_to_source' needs an edge_index; transpose the sparse matrix instead")
        _check_sizes(found, sizes)
    return found


def _may_be_trained(values: Tensor) -> bool:
    """Whether an optimizer may change the values; fused optimizers do not increment version counters."""
    return values.requires_grad or values.is_inference() or (values._base is not None and values._base.requires_grad)


def forget(*edge_indices: Any) -> None:
    """Drop the adjacencies and weights that layers have cached for each edge_index. A change of a tensor's version
    counter does so too: call this after a change that does not increment it, through `.data`, through memory shared
    with numpy, dlpack or another process, or by a fused optimizer.

    edge_indices : arguments of layers, in any accepted form; all tensors if none is given.

    Raises ArgumentError for anything else.

    >>> edge_index = torch.tensor([[0, 1], [1, 2]])
    >>> layer = tg.nn.GINConv(torch.nn.Identity())
    >>> before = layer(torch.ones(3, 1), edge_index)
    >>> edge_index.numpy()[1, 1] = 0
    >>> tg.nn.forget(edge_index)
    >>> layer(torch.ones(3, 1), edge_index).flatten()
    tensor([2., 2., 1.])
    """
    if not edge_indices:
        tensor_cache.drop_all()
    for edge_index in edge_indices:
        if isinstance(edge_index, Csr):
            continue  # never cached
        if isinstance(edge_index, Graph):
            for name in [name for name in edge_index.caches if name.startswith("nn ")]:
                edge_index.drop_caches(name)
        elif hasattr(edge_index, "csr") and hasattr(edge_index, "sparse_sizes"):
            tensor_cache.drop(edge_index.storage.col())
        elif isinstance(edge_index, Tensor):
            tensor_cache.drop(edge_index.as_tensor() if hasattr(edge_index, "as_tensor") else edge_index)
        else:
            raise ArgumentError(f"edge_index: layers accept no {type(edge_index).__name__}")


def _check_edge_index(edge_index: Tensor) -> None:
    if edge_index.is_floating_point() or edge_index.is_complex() or edge_index.dtype == torch.bool:
        raise ArgumentError(f"edge_index: expected integers, got {edge_index.dtype}; use edge_index.long()")
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise ArgumentError(f"edge_index: expected [2, E], got {list(edge_index.shape)}; use edge_index.t() if [E, 2]")


def _check_sizes(found: Adjacency, sizes: Sizes) -> None:
    for name, own, given in zip(("sources", "targets"), (found.num_sources, found.num_targets), sizes, strict=True):
        if given is not None and given != own:
            raise ArgumentError(f"edge_index: a matrix or graph of {own} {name} does not fit x with {given}")


def _of_csr(csr: Csr, sizes: Sizes, flow: str) -> Adjacency:
    """The adjacency of a Csr, whose rows are destinations."""
    if flow == "target_to_source" or csr.permutation is not None:
        raise ArgumentError("edge_index: rows of a Csr are destinations in their own order; give the edge_index")
    neighbors = csr.neighbors.to(sorting.index_dtype(csr.num_columns))  # the dtype of kernels
    found = SortedAdjacency(csr.offset, neighbors, csr.num_columns, csr.weights)
    found.csr = Csr.unchecked(csr.offset, neighbors, None, csr.num_columns, csr.weights)
    _check_sizes(found, sizes)
    return found


def _of_edges(edge_index: Tensor, sizes: Sizes, flow: str) -> Adjacency:
    _check_edge_index(edge_index)
    ends = edge_index.detach()  # the tensor holds the cache; without detach, a reference cycle
    ends = ends if ends.dtype in (torch.int32, torch.int64) else ends.to(torch.int64)
    first, second = sizes
    first, second = second if first is None else first, first if second is None else second
    if first is None or second is None:
        raise ArgumentError("size: unknown; give the number of vertices")
    kind = TracedAdjacency if torch.compiler.is_compiling() else Adjacency
    if flow == "source_to_target":
        return kind(ends[0], ends[1], first, second)
    return kind(ends[1], ends[0], second, first)


def _of_sparse(matrix: Tensor) -> Adjacency:
    """The adjacency of a torch.sparse matrix: rows are targets, columns are sources."""
    if matrix.dim() - matrix.dense_dim() != 2:
        raise ArgumentError(f"edge_index: expected a sparse matrix, got shape {list(matrix.shape)}")
    if matrix.layout == torch.sparse_coo:
        matrix = matrix.coalesce()
        row, column = matrix.indices()
        return Adjacency(column, row, matrix.shape[1], matrix.shape[0], matrix.values())
    if matrix.layout == torch.sparse_csr:
        return SortedAdjacency(matrix.crow_indices(), matrix.col_indices(), matrix.shape[1], matrix.values())
    if matrix.layout == torch.sparse_csc:
        column = sorting.expand_rows(matrix.ccol_indices().to(torch.int64))
        return Adjacency(column, matrix.row_indices(), matrix.shape[1], matrix.shape[0], matrix.values())
    raise ArgumentError(f"edge_index: layout {matrix.layout} is not supported; use matrix.to_sparse_csr()")


def _of_sparse_tensor(matrix: Any) -> Adjacency:
    """The adjacency of a torch_sparse.SparseTensor."""
    offset, neighbors, values = matrix.csr()
    neighbors = neighbors.detach()  # the tensor holds the cache; without detach, a reference cycle
    return SortedAdjacency(offset, neighbors, matrix.sparse_sizes()[1], values)
