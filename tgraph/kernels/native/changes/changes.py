"""Changes of the arcs of a graph, by the kernels in `sort_changes.cpp`, `splice.cpp` and `read_rows.cpp`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tgraph.core.system.pages import fresh, mapped
from tgraph.kernels.native.base.support import compiled, implements, refuses_data
from tgraph.kernels.operators import changes as declared
from tgraph.kernels.operators.changes import PARALLEL, Located, Parallel, Readable, refuse_vertex


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


def _refuses_vertices(vertices: Tensor, num_vertices: int) -> str | None:
    return "it needs int64 vertices" if vertices.dtype != torch.int64 else refuses_data(vertices)


def _refuses_reading(
    arcs: tuple[Tensor, ...], runs: Sequence[Readable], rows: Tensor, parallel: Parallel
) -> str | None:
    for column in arcs[1:]:
        if column.dtype not in _COPIED:
            return f"it copies no {column.dtype}"
    if arcs[1].dtype != torch.int32:
        return "it needs int32 neighbors"
    return "it adds nothing up" if parallel == "sum" else refuses_data(rows)


@implements(declared.sort_changes, _refuses_batch)
def sort_changes(
    rows: Tensor, columns: Tensor, there: bool, parallel: Parallel, numbered: bool
) -> tuple[Tensor, Tensor | None, int]:
    changes, items = _empty(fresh, len(rows), numbered)
    ends = (each.to(torch.int64) for each in (rows, columns))
    count, largest = compiled().sort_changes(*ends, there, PARALLEL.index(parallel), changes, items)
    if count < 0:
        refuse_vertex(rows, columns)
    return _shortened(changes, count), None if items is None else _shortened(items, count), largest + 1


@implements(declared.merge_changes, _refuses_merging)
def merge_changes(runs: Sequence[Tensor], parallel: Parallel, numbered: bool) -> tuple[Tensor, Tensor | None]:
    changes, items = _empty(mapped, sum([run.shape[0] for run in runs]), numbered)
    count = compiled().merge_changes(runs, PARALLEL.index(parallel), changes, items)
    return _shortened(changes, count), None if items is None else _shortened(items, count)


@implements(declared.inserted_rows, _refuses_merging)
def inserted_rows(runs: Sequence[Tensor], num_rows: int) -> tuple[Tensor, Tensor] | None:
    offset, neighbors = fresh((num_rows + 1,), torch.int64), fresh((sum(map(len, runs)),), torch.int32)
    return (offset, neighbors) if compiled().inserted_rows(runs, offset, neighbors) else None


@implements(declared.locate_changes, _refuses_rows)
def locate_changes(
    offset: Tensor, neighbors: Tensor, changes: Tensor, parallel: Parallel, num_rows: int
) -> tuple[Tensor, Located]:
    changed = mapped((num_rows + 1,), torch.int64)
    place, target = (mapped((len(changes),), torch.int64) for _ in range(2))
    skip = mapped((len(changes),), torch.int32)
    rule = PARALLEL.index(parallel)
    size = compiled().locate_changes(offset, neighbors, changes, rule, changed, place, skip, target)
    return changed, Located(changes, place, skip, target, size)


@implements(declared.splice, _refuses_splicing)
def splice(base: Tensor, items: Tensor | None, located: Located, out: Tensor | None = None) -> Tensor:
    out = mapped((located.size,), base.dtype) if out is None else out
    bits = None if items is None else _as_bits(items)
    compiled().splice(_as_bits(base), bits, located.changes, located.place, located.skip, located.target, _as_bits(out))
    return out


@implements(declared.are_vertices, _refuses_vertices)
def are_vertices(vertices: Tensor, num_vertices: int) -> bool:
    """As the portable one, `tgraph.kernels.operators.changes.are_vertices`; other threads do not get the lock of the
    interpreter meanwhile, as in operators of torch."""
    return bool(compiled().are_vertices(vertices, num_vertices))


@implements(declared.read_rows, _refuses_reading)
def read_rows(
    arcs: tuple[Tensor, ...], runs: Sequence[Readable], rows: Tensor, parallel: Parallel
) -> tuple[Tensor, ...]:
    module, (offset, neighbors, *base) = compiled(), arcs
    kept = [run.kept or _kept(module, run) for run in runs]
    bits, rule = [_as_bits(column) for column in base], PARALLEL.index(parallel)
    found = module.read_rows(offset, neighbors, bits, kept, rows, rule)
    read_offset, read_neighbors, *columns = map(torch.from_numpy, found)
    return (
        read_offset,
        read_neighbors,
        *(
            column if column.dtype == like.dtype else column.view(like.dtype)
            for column, like in zip(columns, base, strict=True)
        ),
    )


def _kept(module: Any, run: Readable) -> Any:
    """The addresses of a run, which to ask for takes as long as to search it."""
    run.kept = module.ReadableRun(run.changes, [_as_bits(column) for column in run.columns])
    return run.kept


def _empty(memory: Any, count: int, numbered: bool) -> tuple[Tensor, Tensor | None]:
    return memory((count,), torch.int64), memory((count,), torch.int32) if numbered else None


def _as_bits(tensor: Tensor) -> Tensor:
    """Numbers of two bytes as integers: kernels are passed no narrow floats."""
    return tensor.view(torch.int16) if tensor.dtype.itemsize == 2 else tensor


def _shortened(tensor: Tensor, size: int) -> Tensor:
    """The first entries, in memory of their own where much of the rest would be kept with them."""
    if size == tensor.shape[0]:
        return tensor  # a view would keep it as an object beside itself, for the garbage collector to look at
    return tensor[:size] if 8 * size >= 7 * len(tensor) else tensor[:size].clone()


_COPIED = (
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
)
