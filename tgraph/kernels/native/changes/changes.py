"""Changes of the arcs of a graph, by the kernels in `sort_changes.cpp`, `splice.cpp` and `read_rows.cpp`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.pages import fresh
from tgraph.kernels.native.base.support import refuses_data
from tgraph.kernels.portable.changes import PARALLEL, Located, Parallel, refuse_vertex


def sort_changes(
    rows: Tensor, columns: Tensor, there: bool, parallel: Parallel, numbered: bool
) -> tuple[Tensor, Tensor | None, int]:
    """As the portable one, `tgraph.kernels.portable.changes.sort_changes`."""
    changes, items = _empty(len(rows), numbered)
    rule = PARALLEL.index(parallel)
    count, largest = _module().sort_changes(rows.contiguous(), columns.contiguous(), there, rule, changes, items)
    if count < 0:
        refuse_vertex(rows, columns)
    return _shortened(changes, count), None if items is None else _shortened(items, count), largest + 1


def merge_changes(runs: Sequence[Tensor], parallel: Parallel, numbered: bool) -> tuple[Tensor, Tensor | None]:
    """As the portable one, `tgraph.kernels.portable.changes.merge_changes`."""
    changes, items = _empty(sum([run.shape[0] for run in runs]), numbered)
    count = _module().merge_changes(runs, PARALLEL.index(parallel), changes, items)
    return _shortened(changes, count), None if items is None else _shortened(items, count)


def locate_changes(
    offset: Tensor, neighbors: Tensor, changes: Tensor, parallel: Parallel, num_rows: int
) -> tuple[Tensor, Located]:
    """As the portable one, `tgraph.kernels.portable.changes.locate_changes`."""
    changed = fresh((num_rows + 1,), torch.int64)
    place, target = (fresh((len(changes),), torch.int64) for _ in range(2))
    skip = fresh((len(changes),), torch.int32)
    rule = PARALLEL.index(parallel)
    size = _module().locate_changes(offset, neighbors, changes, rule, changed, place, skip, target)
    return changed, Located(changes, place, skip, target, size)


def splice(base: Tensor, items: Tensor | None, located: Located, out: Tensor | None = None) -> Tensor:
    """As the portable one, `tgraph.kernels.portable.changes.splice`."""
    out = fresh((located.size,), base.dtype) if out is None else out
    bits = None if items is None else _as_bits(items)
    _module().splice(_as_bits(base), bits, located.changes, located.place, located.skip, located.target, _as_bits(out))
    return out


def read_rows(
    arcs: tuple[Tensor, ...], runs: Sequence[tuple[Tensor, ...]], rows: Tensor, parallel: Parallel
) -> tuple[Tensor, ...]:
    """As the portable one, `tgraph.kernels.portable.changes.read_rows`."""
    module = _module()
    offset, neighbors, *base = arcs
    changes, *data = zip(*runs, strict=True) if runs else [(), *[()] * len(base)]
    first, last = (fresh((len(runs) * len(rows),), torch.int64) for _ in range(2))
    most = module.find_rows(changes, rows, first, last) + module.count_arcs(offset, rows)
    found = fresh((len(rows) + 1,), torch.int64), *(fresh((most,), each.dtype) for each in (neighbors, *base))
    bits = [[_as_bits(tensor) for tensor in tensors] for tensors in (base, found[2:], *data)]
    size = module.read_rows(
        *(offset, neighbors, bits[0], changes, bits[2:], rows, PARALLEL.index(parallel), first, last),
        *(found[0], found[1], bits[1]),
    )
    return found[0], *(_shortened(tensor, size) for tensor in found[1:])


def _module() -> Any:
    return cast(Any, native.load())


def _empty(count: int, numbered: bool) -> tuple[Tensor, Tensor | None]:
    return fresh((count,), torch.int64), fresh((count,), torch.int32) if numbered else None


def _as_bits(tensor: Tensor) -> Tensor:
    """Numbers of two bytes as integers: kernels are passed no narrow floats."""
    return tensor.view(torch.int16) if tensor.dtype.itemsize == 2 else tensor


def _shortened(tensor: Tensor, size: int) -> Tensor:
    """The first entries, in memory of their own where much of the rest would be kept with them."""
    return tensor[:size] if 8 * size >= 7 * len(tensor) else tensor[:size].clone()


def _refuses_batch(rows: Tensor, columns: Tensor, *others: object) -> str | None:
    if rows.dtype != columns.dtype or rows.dtype not in (torch.int32, torch.int64):
        return "it needs int32 or int64 vertices"
    if len(rows) >= 2**31:
        return "it numbers fewer than 2^31 changes"
    return refuses_data(rows) or refuses_data(columns)


def _refuses_merging(runs: Sequence[Tensor], *others: object) -> str | None:
    if sum([run.shape[0] for run in runs]) >= 2**31:
        return "it numbers fewer than 2^31 changes"
    return refuses_data(runs[0])


def _refuses_rows(offset: Tensor, neighbors: Tensor, *others: object) -> str | None:
    return "it needs int32 neighbors" if neighbors.dtype != torch.int32 else refuses_data(offset)


def _refuses_splicing(base: Tensor, items: Tensor | None, *others: object) -> str | None:
    if base.dtype not in _COPIED or (items is None and base.dtype != torch.int32):
        return f"it copies no {base.dtype}"
    return refuses_data(base)


def _refuses_reading(
    arcs: tuple[Tensor, ...], runs: Sequence[tuple[Tensor, ...]], rows: Tensor, parallel: Parallel
) -> str | None:
    for column in arcs[1:]:
        if column.dtype not in _COPIED:
            return f"it copies no {column.dtype}"
    if arcs[1].dtype != torch.int32:
        return "it needs int32 neighbors"
    return "it adds nothing up" if parallel == "sum" else refuses_data(rows)


_COPIED = (
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
)

OPERATORS = {
    "sort_changes": Implementation(sort_changes, _refuses_batch),
    "merge_changes": Implementation(merge_changes, _refuses_merging),
    "locate_changes": Implementation(locate_changes, _refuses_rows),
    "splice": Implementation(splice, _refuses_splicing),
    "read_rows": Implementation(read_rows, _refuses_reading),
}
