"""Building CSR tensors: sort edges into rows, transpose, merge parallel arcs, relabel ids.

Pure functions on tensors, made of operators with a portable implementation here, and one in compiled kernels in
`tgraph.kernels.native.csr.sorting`. Both give identical tensors.

A graph of n vertices and m arcs is `offset`, int64 [n + 1], and `neighbors`, [m] of `index_dtype(n)`: the arcs of
vertex v are `neighbors[offset[v]:offset[v + 1]]`, ascending.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from tgraph.core import sums
from tgraph.core.building import validate
from tgraph.core.dispatch import setup_operator
from tgraph.core.system.devices import sort
from tgraph.errors import ArgumentError

Merge = Literal["first", "sum", "min", "max", "error"]
MERGES: tuple[Merge, ...] = get_args(Merge)

# Ids are relabelled through a table of all values from the least to the largest while that has at most this many
# entries per edge end; a hash table takes less memory and time where the ids are sparser.
TABLE_ENTRIES_PER_END = 4


def index_dtype(num_vertices: int) -> torch.dtype:
    """The dtype of vertex indices: int32 while `num_vertices` < 2**31, else int64."""
    return torch.int32 if num_vertices < 2**31 else torch.int64


def sort_edges(
    src: Tensor,
    dst: Tensor,
    num_vertices: int,
    *,
    permutation: bool = False,
    both_ways: bool = False,
    _wide: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Sort the arcs src[i] -> dst[i] into CSR, by (src, dst, i).

    `src` and `dst` are int32 or int64 [m]. `both_ways` adds dst[i] -> src[i] for all but self-loops, which makes the
    CSR of undirected edges. Returns (offset, neighbors, perm): perm, int64, is the position i in the input of every
    stored arc, None unless `permutation`; edge data follows with `take(weights, perm)`.

    O(m) work for each 11 bits of the ids, on all threads, and at most twice the memory of the arcs as an int64 edge
    list, results included. (`_wide` forces the records that 2**31 vertices or 2**32 arcs need, for tests.)

    Raises ArgumentError for an id < 0 or >= num_vertices, naming the first and its position.
    """
    src, dst = _check_ends(src, dst)
    if num_vertices < 0:
        raise ArgumentError(f"num_vertices: {num_vertices} is negative; give the number of vertices, 0 or more")
    return _sort_arcs(src, dst, num_vertices, permutation, both_ways, _wide)


@setup_operator
def _sort_arcs(
    src: Tensor, dst: Tensor, num_vertices: int, permutation: bool, both_ways: bool, wide: bool | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    check_ids(num_vertices, src=src, dst=dst)
    src, dst, edge = _add_reverses(src, dst) if both_ways else (src, dst, None)
    order = lexical_order(src, dst, num_vertices)
    offset, neighbors, perm = _gather_arcs(src, dst, order, num_vertices, permutation)
    return offset, neighbors, perm if perm is None or edge is None else edge.index_select(0, perm)


def transpose(
    offset: Tensor, neighbors: Tensor, *, permutation: bool = False, _wide: bool | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The CSR of the reversed arcs, as (offset, neighbors, perm); arcs of equal ends keep their order.

    `perm`, int64 [m], is the position in the given CSR of every arc of the result, None unless `permutation`: edge
    data follows with `take(weights, perm)`. Rows come out ascending whatever the given order within rows.

    Raises ArgumentError for a neighbor that is no vertex, naming the first and its position, and for offsets that
    decrease.
    """
    _check_offset(offset, neighbors)
    return _transpose_rows(offset, neighbors, permutation, _wide)


@setup_operator
def _transpose_rows(
    offset: Tensor, neighbors: Tensor, permutation: bool, wide: bool | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    num_vertices = offset.numel() - 1
    check_ids(num_vertices, neighbors=neighbors)
    order = sort(neighbors)[1]
    return _gather_arcs(neighbors, expand_rows(offset), order, num_vertices, permutation)


class SortedRows(NamedTuple):
    """Rows in ascending order, as `sort_rows` gives them.

    neighbors : [m], ascending in each row. order : int64 [m], where each given arc is among them; None where the rows
    ascended already. edge : int64 [m], the number of the edge of each arc of the result, by the order of the given
    arcs: of an undirected graph those in the mask `upper`, bool [m], which lead to no lower vertex, each with its
    reverse, of a directed one all; None for the numbers of the arcs. lonely : the least row with an arc that has no
    reverse, -1 where none has, and for a directed graph.
    """

    neighbors: Tensor
    order: Tensor | None
    edge: Tensor | None
    upper: Tensor | None
    lonely: int


@setup_operator
def sort_rows(offset: Tensor, neighbors: Tensor, directed: bool, edges: bool) -> SortedRows:
    """Rows whose neighbours are in any order, sorted by two transpositions; parallel arcs keep their order. `edge` and
    `upper` are left out unless `edges`. Every neighbour is a vertex: a fault is found, but not named."""
    back_offset, back_neighbors, back_place = transpose(offset, neighbors, permutation=True)
    assert back_place is not None
    ascending, place = neighbors, None
    if not validate.rows_ascend(offset, neighbors):
        _, ascending, turned = transpose(back_offset, back_neighbors, permutation=True)
        assert turned is not None
        place = take(back_place, turned)
    order = None if place is None else torch.empty_like(place)
    if order is not None:
        order[place] = torch.arange(len(order), device=order.device)
    if directed:
        return SortedRows(ascending, order, place if edges else None, None, -1)
    if not (torch.equal(offset, back_offset) and torch.equal(ascending, back_neighbors)):
        mine, theirs = expand_rows(offset), expand_rows(back_offset)
        differ = (mine != theirs) | (ascending != back_neighbors)
        return SortedRows(ascending, order, None, None, int(torch.minimum(mine, theirs)[differ][0]))
    if not edges:
        return SortedRows(ascending, order, None, None, -1)
    row = expand_rows(offset, neighbors.dtype)
    upper = neighbors >= row
    number = upper.cumsum(0).sub_(1)
    own = number if place is None else take(number, place)
    return SortedRows(ascending, order, torch.where(ascending < row, take(number, back_place), own), upper, -1)


def merge_parallel(
    offset: Tensor, neighbors: Tensor, weights: Tensor | None, how: Merge
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Merge the arcs of equal ends into one; rows must be ascending.

    `how` says what becomes of their weights, [m]: "first" keeps that of the arc stored first (which came first in the
    input of `sort_edges`), "sum", "min" and "max" combine them in their own dtype. Without weights these four agree.
    The input tensors themselves come back where there is nothing to merge.

    Raises ArgumentError for an unknown `how`, for the first parallel arcs (u, v) where `how` is "error", and for a
    sum that its dtype cannot hold.
    """
    if how not in MERGES:
        raise ArgumentError(f"multi: {how!r} is not one of {', '.join(map(repr, MERGES))}")
    _check_offset(offset, neighbors)
    selected = _select_arcs(offset, neighbors, "distinct")
    if selected is None:
        return offset, neighbors, weights
    new_offset, kept = selected
    repeated = _select_arcs(offset, neighbors, "repeated") if how != "first" else None
    if repeated is not None and how == "error":
        raise _parallel_arcs(offset, neighbors, repeated[1][:1])
    merged = None if weights is None else take(weights, kept)
    if weights is not None and merged is not None and repeated is not None:
        # Only the repeated arcs are combined: they are few, and those that stand alone are right already.
        target = torch.searchsorted(kept, repeated[1], right=True) - 1
        merged = _combine(merged, target, weights.index_select(0, repeated[1]), how)
    return new_offset, take(neighbors, kept), merged


def drop_self_loops(offset: Tensor, neighbors: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """The CSR without arcs v -> v. The input tensors themselves come back where there are none."""
    _check_offset(offset, neighbors)
    selected = _select_arcs(offset, neighbors, "no_loop")
    if selected is None:
        return offset, neighbors, weights
    new_offset, kept = selected
    return new_offset, take(neighbors, kept), None if weights is None else take(weights, kept)


@setup_operator
def has_parallel_arcs(offset: Tensor, neighbors: Tensor) -> bool:
    """True where an arc follows another with the same neighbor in its row; rows ascend."""
    return not bool(_selection_mask(offset, neighbors, "distinct").all())


def expand_rows(offset: Tensor, dtype: torch.dtype = torch.int64) -> Tensor:
    """The row (source) of every arc, `dtype` [m]: the inverse of counting arcs per row."""
    num_arcs = int(offset[-1])
    _check_ascent(offset)
    return _row_of_arcs(offset, num_arcs, dtype)


@setup_operator
def _row_of_arcs(offset: Tensor, num_arcs: int, dtype: torch.dtype) -> Tensor:
    rows = torch.arange(offset.numel() - 1, dtype=dtype, device=offset.device)
    return torch.repeat_interleave(rows, offset.diff(), output_size=num_arcs)


@setup_operator
def take(data: Tensor, positions: Tensor) -> Tensor:
    """Edge data at the given stored positions: `data.index_select(0, positions)`, on all threads of the CPU.

    `data` is [m, ...] of any dtype, `positions` int32 or int64 [k], such as the perm of `sort_edges` and `transpose`,
    each of them below m: this is not checked again for every one.
    """
    return data.index_select(0, positions)


def compact(src: Tensor, dst: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Relabel arbitrary int32 or int64 ids, [m] each, to 0..n-1 in ascending order of id.

    Returns (ids, src, dst): `ids`, int64 [n] ascending, are the different ids of both ends, and the new ends, int32 or
    int64, satisfy `ids[new_src] == src`; they are the given ones where those are 0..n-1 already.

    O(m) through a table of all values from the least to the largest where the ids are dense enough, else through a
    hash table of those that occur. On devices other than the CPU sparse ids are sorted.
    """
    src, dst = _check_ends(src, dst)
    if not src.numel():
        return src.new_empty(0, dtype=torch.int64), src.int(), dst.int()
    least, largest = zip(src.aminmax(), dst.aminmax(), strict=True)
    low = min(map(int, least))
    span = max(map(int, largest)) - low + 1
    if span <= TABLE_ENTRIES_PER_END * 2 * src.numel():
        return _compact_dense(src, dst, low, span)
    return _compact_sparse(src, dst, low)


@setup_operator
def _compact_sparse(src: Tensor, dst: Tensor, low: int) -> tuple[Tensor, Tensor, Tensor]:
    """The same through those ids alone that occur, of which `low` is the least."""
    ids, position = torch.unique(torch.cat((src, dst)), return_inverse=True)
    position = position.to(index_dtype(ids.numel()))
    return ids.long(), position[: src.numel()], position[src.numel() :]


@setup_operator
def _compact_dense(src: Tensor, dst: Tensor, low: int, span: int) -> tuple[Tensor, Tensor, Tensor]:
    """The same through a table of the `span` values from `low` on."""
    table = torch.zeros(span, dtype=index_dtype(span), device=src.device)
    for ids in (src, dst):
        table.index_fill_(0, ids.long() - low, 1)
    vertices = table.nonzero().squeeze(1) + low
    if low == 0 and vertices.numel() == span:  # they are 0..n-1 already
        return vertices, src, dst
    rank = table.cumsum_(0, dtype=table.dtype).sub_(1).to(index_dtype(vertices.numel()))
    return vertices, rank.index_select(0, src.long() - low), rank.index_select(0, dst.long() - low)


def _add_reverses(src: Tensor, dst: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Every edge as two arcs side by side, a self-loop as one: (src, dst, edge of each arc)."""
    edge = torch.arange(src.numel(), device=src.device).repeat_interleave(2)
    arcs_src, arcs_dst = torch.stack((src, dst), 1).flatten(), torch.stack((dst, src), 1).flatten()
    keep = arcs_src != arcs_dst
    keep[0::2] = True
    return arcs_src[keep], arcs_dst[keep], edge[keep]


def lexical_order(src: Tensor, dst: Tensor, num_vertices: int) -> Tensor:
    """The stable order by (src, dst), int64 [m]; both are below `num_vertices`, and nothing of that size is made."""
    if num_vertices < 2**31:  # both fit one integer
        return sort(src.long() * num_vertices + dst)[1]
    by_dst = sort(dst)[1]
    return by_dst[sort(src[by_dst])[1]]


def _gather_arcs(
    src: Tensor, dst: Tensor, order: Tensor, num_vertices: int, permutation: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The CSR of the arcs src -> dst, given the order that sorts them."""
    offset = torch.zeros(num_vertices + 1, dtype=torch.int64, device=src.device)
    torch.cumsum(torch.bincount(src, minlength=num_vertices), 0, out=offset[1:])
    neighbors = dst.index_select(0, order).to(index_dtype(num_vertices))
    return offset, neighbors, order if permutation else None


@setup_operator
def _select_arcs(offset: Tensor, neighbors: Tensor, selection: str) -> tuple[Tensor, Tensor] | None:
    """The arcs that are "distinct" (first of a run of parallel ones), "repeated" (the others) or "no_loop".

    Returns the offsets of the rows that they form and their positions, or None where these are all arcs.
    """
    mask = _selection_mask(offset, neighbors, selection)
    if bool(mask.all()):
        return None
    positions = mask.nonzero().squeeze(1)
    return torch.searchsorted(positions, offset), positions  # how many selected arcs lie before each row


def _selection_mask(offset: Tensor, neighbors: Tensor, selection: str) -> Tensor:
    if selection == "no_loop":
        return expand_rows(offset, neighbors.dtype) != neighbors
    is_distinct = torch.ones_like(neighbors, dtype=torch.bool)
    torch.ne(neighbors[1:], neighbors[:-1], out=is_distinct[1:])
    row_starts = offset[:-1]
    is_distinct[row_starts[row_starts < neighbors.numel()]] = True
    return is_distinct if selection == "distinct" else ~is_distinct


def _combine(merged: Tensor, target: Tensor, extra: Tensor, how: str) -> Tensor:
    """Reduce every extra weight into merged[target]."""
    if how != "sum":
        return merged.scatter_reduce(0, target, extra, {"min": "amin", "max": "amax"}[how])
    if merged.is_floating_point():
        return merged.index_add(0, target, extra)
    touched, slot = torch.unique_consecutive(target, return_inverse=True)
    first = torch.arange(len(touched), device=slot.device)
    values, group = torch.cat((merged[touched], extra)), torch.cat((first, slot))
    total = sums.by_group(values, group, len(touched), merged.dtype, "weights: those of parallel arcs")
    return merged.index_copy(0, touched, total)


def _parallel_arcs(offset: Tensor, neighbors: Tensor, position: Tensor) -> ArgumentError:
    u = int(torch.searchsorted(offset, position, right=True)) - 1
    v = int(neighbors[position])
    return ArgumentError(
        f"multi: the arc ({u}, {v}) occurs more than once; merge parallel arcs with multi='first', 'sum', 'min' or "
        "'max', or keep them with multi='keep'"
    )


def _check_ends(src: Tensor, dst: Tensor) -> tuple[Tensor, Tensor]:
    """Both ends, contiguous and of one dtype."""
    for name, ends in (("src", src), ("dst", dst)):
        if ends.dim() != 1:
            raise ArgumentError(f"{name}: expected one dimension, got shape {list(ends.shape)}; pass {name}.flatten()")
        if ends.dtype not in (torch.int32, torch.int64):
            raise ArgumentError(f"{name}: expected int32 or int64, got {ends.dtype}; convert with {name}.long()")
    if src.numel() != dst.numel():
        raise ArgumentError(f"dst: expected one for each of the {src.numel()} entries of src, got {dst.numel()}")
    if src.device != dst.device:
        raise ArgumentError(f"dst: on {dst.device} while src is on {src.device}; move both to one device")
    dtype = torch.promote_types(src.dtype, dst.dtype)
    return src.to(dtype).contiguous(), dst.to(dtype).contiguous()


def _check_offset(offset: Tensor, neighbors: Tensor) -> None:
    """Raise ArgumentError unless the offsets rise from 0 to the number of neighbors: the kernels trust them."""
    if int(offset[-1]) != neighbors.numel():
        raise ArgumentError(f"offset: ends at {int(offset[-1])}, but there are {neighbors.numel()} neighbors")
    _check_ascent(offset)


def _check_ascent(offset: Tensor) -> None:
    if int(offset[0]) != 0:
        raise ArgumentError(f"offset: begins with {int(offset[0])}, not 0")
    falls = (offset[1:] < offset[:-1]).nonzero()  # compared, as the difference of damaged offsets may wrap round
    if len(falls):
        raise ArgumentError(f"offset: decreases after position {int(falls[0])}; offsets never decrease")


def check_ids(num_vertices: int, **ends: Tensor) -> None:
    """Raise ArgumentError for the first id that is no vertex, of the arrays given by name."""
    faults = []
    for name, ids in ends.items():
        wrong = ((ids < 0) | (ids >= num_vertices)).nonzero()
        if wrong.numel():
            position = int(wrong[0])
            faults.append((position, name, int(ids[position])))
    if faults:
        position, name, value = min(faults, key=lambda fault: fault[0])
        raise ArgumentError(
            f"{name}[{position}]: {value} is no vertex of a graph with num_vertices={num_vertices}; ids run from 0 to "
            "num_vertices - 1: give a larger num_vertices, or relabel the ids with ids='compact'"
        )
