"""Sorting edges into rows, transposing and selecting them by a radix sort: see `tgraph.core.building.sorting`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting as declared
from tgraph.core.building.sorting import SortedRows, check_ids, index_dtype
from tgraph.kernels.native.base.support import compiled, implements, refuses_data, refuses_first

WORDS = {4: torch.int32, 8: torch.int64}

MOST_SORTED = 1 << 18  # arcs that one thread sorts sooner than several transpose


def refuses_expansion(offset: Tensor, num_arcs: int, dtype: torch.dtype) -> str | None:
    """Why `row_of_arcs` does not support a call, None if it does."""
    if dtype not in WORDS.values():
        return f"it has no kernel for {dtype}"
    return refuses_data(offset)


def refuses_taking(data: Tensor, positions: Tensor) -> str | None:
    """Why `take` does not support a call, None if it does."""
    if data.element_size() not in WORDS or data.dim() != 1:
        return f"it takes no {data.dtype} in {data.dim()} dimensions"
    if data.requires_grad or data.is_conj() or data.is_neg():
        return "it records no gradient and resolves no lazy conjugate"
    return refuses_data(data)


@implements(declared._sort_arcs, refuses_first)
def sort_arcs(
    src: Tensor, dst: Tensor, num_vertices: int, permutation: bool, both_ways: bool, wide: bool | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    num_arcs = 2 * src.numel() - int((src == dst).sum()) if both_ways else src.numel()
    offset, neighbors, perm = _allocate(num_vertices, num_arcs, permutation)
    wide = _needs_wide_records(num_vertices, num_arcs) if wide is None else wide
    sort = compiled().sort_edges_both_ways if both_ways else compiled().sort_edges
    if num_arcs and not sort(src, dst, offset, neighbors, perm, wide):
        check_ids(num_vertices, src=src, dst=dst)
    return offset, neighbors, perm


@implements(declared._transpose_rows, refuses_first)
def transpose_rows(
    offset: Tensor, neighbors: Tensor, permutation: bool, wide: bool | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    num_vertices, num_arcs = offset.numel() - 1, neighbors.numel()
    result = _allocate(num_vertices, num_arcs, permutation, neighbors.dtype)
    wide = _needs_wide_records(num_vertices, num_arcs) if wide is None else wide
    if num_arcs and not compiled().transpose(offset, neighbors, *result, wide):
        check_ids(num_vertices, neighbors=neighbors)
    return result


def refuses_rows(offset: Tensor, neighbors: Tensor, directed: bool, edges: bool) -> str | None:
    """Why `sort_rows` does not support a call, None if it does."""
    if neighbors.shape[0] > MOST_SORTED:
        return f"it has one thread; more than {MOST_SORTED:,} arcs are transposed by several"
    return refuses_data(neighbors)


@implements(declared.sort_rows, refuses_rows)
def sort_rows(offset: Tensor, neighbors: Tensor, directed: bool, edges: bool) -> SortedRows:
    ascending, order = torch.empty_like(neighbors), torch.empty_like(neighbors, dtype=torch.int64)
    edge = torch.empty_like(order) if edges else None
    upper = torch.empty_like(neighbors, dtype=torch.bool) if edges and not directed else None
    ascend, lonely = compiled().sort_rows(offset, neighbors, directed, ascending, order, edge, upper)
    if lonely >= 0:
        edge = upper = None
    return SortedRows(ascending, None if ascend else order, None if ascend and directed else edge, upper, lonely)


@implements(declared._select_arcs, refuses_first)
def select_arcs(offset: Tensor, neighbors: Tensor, selection: str) -> tuple[Tensor, Tensor] | None:
    offset, neighbors = offset, neighbors
    count = getattr(compiled(), f"count_{selection}")(offset, neighbors)
    if count == neighbors.numel():
        return None
    new_offset, positions = torch.zeros_like(offset), torch.empty(count, dtype=torch.int64, device="cpu")
    getattr(compiled(), f"list_{selection}")(offset, neighbors, positions, new_offset)
    return new_offset, positions


@implements(declared.has_parallel_arcs, refuses_first)
def has_parallel_arcs(offset: Tensor, neighbors: Tensor) -> bool:
    return compiled().count_distinct(offset, neighbors) < neighbors.numel()


@implements(declared._row_of_arcs, refuses_expansion)
def row_of_arcs(offset: Tensor, num_arcs: int, dtype: torch.dtype) -> Tensor:
    rows = torch.empty(num_arcs, dtype=dtype, device="cpu")
    if num_arcs:
        compiled().expand_rows(offset, rows)
    return rows


@implements(declared.take, refuses_taking)
def take(data: Tensor, positions: Tensor) -> Tensor:
    """As the portable one, on all threads."""
    word, taken = WORDS[data.element_size()], data.new_empty(positions.numel())
    compiled().look_up_ids(positions, 0, data.contiguous().view(word), taken.view(word))
    return taken


@implements(declared._compact_dense, refuses_first)
def compact_dense(src: Tensor, dst: Tensor, low: int, span: int) -> tuple[Tensor, Tensor, Tensor]:
    kernels, table = compiled(), torch.zeros(span, dtype=index_dtype(span), device="cpu")
    for ids in (src, dst):
        kernels.mark_ids(ids, low, table)
    vertices = table.nonzero().squeeze(1) + low
    if low == 0 and vertices.numel() == span:  # they are 0..n-1 already
        return vertices, src, dst
    rank = table.cumsum_(0, dtype=table.dtype).sub_(1).to(index_dtype(vertices.numel()))
    new_src, new_dst = torch.empty_like(src, dtype=rank.dtype), torch.empty_like(dst, dtype=rank.dtype)
    kernels.look_up_ids(src, low, rank, new_src)
    kernels.look_up_ids(dst, low, rank, new_dst)
    return vertices, new_src, new_dst


@implements(declared._compact_sparse, refuses_first)
def compact_sparse(src: Tensor, dst: Tensor, low: int) -> tuple[Tensor, Tensor, Tensor]:
    """As the portable one, by a hash table of the ids that occur."""
    table = compiled().IdTable(low, 2 * src.numel())
    table.insert(src)
    table.insert(dst)
    vertices = torch.empty(table.size, dtype=torch.int64, device="cpu")
    rank = torch.zeros(table.capacity, dtype=index_dtype(table.size), device="cpu")
    table.list(vertices, rank)
    new_src, new_dst = torch.empty_like(src, dtype=rank.dtype), torch.empty_like(dst, dtype=rank.dtype)
    table.look_up(src, rank, new_src)
    table.look_up(dst, rank, new_dst)
    return vertices, new_src, new_dst


def _needs_wide_records(num_vertices: int, num_arcs: int) -> bool:
    return num_vertices >= 2**31 or num_arcs >= 2**32


def _allocate(
    num_vertices: int, num_arcs: int, permutation: bool, dtype: torch.dtype | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Empty results for the kernels to fill; they expect zeros in the offsets."""
    return (
        torch.zeros(num_vertices + 1, dtype=torch.int64, device="cpu"),
        torch.empty(num_arcs, dtype=dtype or index_dtype(num_vertices), device="cpu"),
        torch.empty(num_arcs, dtype=torch.int64, device="cpu") if permutation else None,
    )
