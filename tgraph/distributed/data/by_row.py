"""Operators that each rank applies to its own rows of sharded data."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map

from tgraph.distributed.data.sharded import NotByRowError, Sharded, common_ownership, implements, of_torch
from tgraph.distributed.ranks.ownership import Ownership, is_own
from tgraph.errors import ArgumentError

aten = torch.ops.aten


@implements(
    torch.Tag.pointwise,
    aten.floor_divide.default,
    aten.floor_divide.Scalar,
    aten.masked_fill.Scalar,
    aten.masked_fill.Tensor,
    aten.masked_fill_.Scalar,
    aten.masked_fill_.Tensor,
    aten.where.ScalarSelf,
    aten.where.ScalarOther,
    aten.copy_.default,
    aten.fill_.Scalar,
    aten.fill_.Tensor,
    aten.zero_.default,
    aten._to_copy.default,
    aten.detach.default,
    aten.alias.default,
    aten.lift_fresh.default,
    aten.clone.default,
    aten.empty_like.default,
    aten.zeros_like.default,
    aten.ones_like.default,
    aten.full_like.default,
)
def elementwise(function: Any, ownership: Ownership, *args: Any, **kwargs: Any) -> Any:
    """The operator on the rows of this rank. A plain tensor with a row for each vertex contributes the rows of this
    rank."""
    tensors = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, Tensor)]
    dimensions = max(each.dim() for each in tensors)
    written = args[0] if function._schema.is_mutable else None
    if written is not None and not isinstance(written, Sharded):
        raise NotByRowError(
            function,
            "would write data that is spread over ranks into a tensor that every rank has; make that by "
            "torch.empty_like, or gather the data with full_tensor()",
        )

    def of_rank(each: Any) -> Any:
        if not isinstance(each, Tensor):
            return each
        if isinstance(each, Sharded):
            if each.dim() < dimensions:
                raise NotByRowError(
                    function,
                    f"data [{ownership.num_rows}] that is spread over ranks does not stretch over the "
                    f"columns of {dimensions} dimensions; write data[:, None]",
                )
            return each.local
        has_rows = each.dim() == dimensions and each.shape[0] == ownership.num_rows
        return ownership.own(each) if has_rows else each

    result = function(*tree_map(of_rank, args), **tree_map(of_rank, kwargs))
    return written if written is not None else _spread(result, ownership)


def _spread(result: Any, ownership: Ownership) -> Any:
    return tree_map(lambda each: Sharded(each, ownership) if isinstance(each, Tensor) else each, result)


def _column(dimension: int, of: Tensor, function: Any) -> int:
    """The dimension, which must not be that of the rows."""
    dimension = dimension + of.dim() if dimension < 0 else dimension
    if dimension == 0:
        raise NotByRowError(function, "along the rows of data that is spread over ranks; gather it: full_tensor()")
    return dimension


@implements(aten.view.default, aten._unsafe_view.default, aten.reshape.default, aten.expand.default)
def reshape(function: Any, ownership: Ownership, data: Sharded, size: Any, **kwargs: Any) -> Sharded:
    """Another shape of as many rows."""
    size = list(size)
    if size[:1] == [-1] and function is not aten.expand.default:
        others = 1
        for each in size[1:]:
            others *= each
        size[0] = data.numel() // max(others, 1)
    if (
        not size
        or size[0] not in (ownership.num_rows, -1)
        or len(size) < data.dim() * (function is aten.expand.default)
    ):
        raise NotByRowError(
            function,
            f"{size} has not the {ownership.num_rows} rows of data that is spread over ranks; gather it "
            "with full_tensor()",
        )
    return Sharded(function(data.local, [ownership.num_own, *size[1:]], **kwargs), ownership)


@implements(aten.view.dtype)
def view(function: Any, ownership: Ownership, data: Sharded, dtype: torch.dtype) -> Sharded:
    """The bytes as another dtype of the same size."""
    if dtype.itemsize != data.element_size():
        raise NotByRowError(function, f"would make other rows of data that is spread over ranks; use .to({dtype})")
    return Sharded(function(data.local, dtype), ownership)


@implements(aten.unsqueeze.default)
def unsqueeze(function: Any, ownership: Ownership, data: Sharded, dimension: int) -> Sharded:
    """A further column dimension."""
    dimension = dimension + data.dim() + 1 if dimension < 0 else dimension
    return Sharded(function(data.local, _column(dimension, data, function)), ownership)


@implements(
    aten.squeeze.dim, aten.select.int, aten.cumsum.default, aten.softmax.int, aten._softmax.default, aten.sort.default
)
def along_column(function: Any, ownership: Ownership, data: Sharded, dimension: int = -1, *rest: Any) -> Any:
    """An operator along the columns."""
    if function is aten.select.int and dimension % data.dim() == 0:
        return row(function, ownership, data, *rest)
    return _spread(function(data.local, _column(dimension, data, function), *rest), ownership)


def row(function: Any, ownership: Ownership, data: Sharded, number: int) -> Tensor:
    """A single row, on every rank."""
    number = number + ownership.num_rows if number < 0 else number
    return rows(function, ownership, data, torch.tensor([number], device=data.device))[0]


@implements(aten.slice.Tensor)
def take_slice(
    function: Any,
    ownership: Ownership,
    data: Sharded,
    dimension: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Sharded:
    """A slice of the columns, or of adjacent rows, which stay where they are."""
    if dimension % data.dim() == 0 and step == 1:
        begin, stop, _ = slice(start, end).indices(ownership.num_rows)
        held = Ownership(tuple(min(max(each, begin), stop) - begin for each in ownership.starts), ownership.group)
        first = max(begin - ownership.first, 0)
        return Sharded(data.local[first : first + held.num_own], held)
    return Sharded(function(data.local, _column(dimension, data, function), start, end, step), ownership)


@implements(aten.unbind.int)
def unbind(function: Any, ownership: Ownership, data: Sharded, dimension: int = 0) -> Any:
    """The columns."""
    return _spread(function(data.local, _column(dimension, data, function)), ownership)


@implements(aten.cat.default, aten.stack.default)
def join_columns(function: Any, ownership: Ownership, parts: Any, dimension: int = 0) -> Sharded:
    """Columns side by side."""
    dimension = dimension + parts[0].dim() + (function is aten.stack.default) if dimension < 0 else dimension
    held = [each.local if isinstance(each, Sharded) else ownership.own(each) for each in parts]
    return Sharded(function(held, _column(dimension, parts[0], function)), ownership)


@implements(aten.new_empty.default, aten.new_full.default, aten.new_zeros.default, aten.new_ones.default)
def new(function: Any, ownership: Ownership, data: Sharded, size: Any, *rest: Any, **kwargs: Any) -> Tensor:
    """A fresh tensor, sharded if it has a row for each vertex."""
    if list(size[:1]) != [ownership.num_rows]:
        return function(data.local, size, *rest, **kwargs)
    return Sharded(function(data.local, [ownership.num_own, *size[1:]], *rest, **kwargs), ownership)


@implements(aten.mm.default, aten.matmul.default, aten.mv.default)
def multiply(function: Any, ownership: Ownership, first: Tensor, second: Tensor) -> Sharded:
    """Rows times a matrix that every rank has."""
    if not isinstance(first, Sharded) or isinstance(second, Sharded):
        raise NotByRowError(function, "sums over the rows of data that is spread over ranks; multiply by its t()")
    return Sharded(function(first.local, second), ownership)


@implements(aten.addmm.default)
def multiply_and_add(function: Any, ownership: Ownership, added: Tensor, first: Any, second: Any, **scale: Any) -> Any:
    """The same, and something in addition."""
    return scale.get("beta", 1) * added + scale.get("alpha", 1) * (first @ second)


# ---- rows by number and by mask -------------------------------------------------------------------------------------


@implements(aten.index_select.default)
def index_select(function: Any, ownership: Ownership, data: Tensor, dimension: int, index: Tensor) -> Tensor:
    """Rows by number, the same on every rank; or columns."""
    if isinstance(data, Sharded) and dimension % data.dim() == 0 and not isinstance(index, Sharded):
        return rows(function, ownership, data, index)
    if isinstance(index, Sharded):  # of data that every rank has, or whose rows are fetched from where they are
        whole = data.full_tensor() if isinstance(data, Sharded) else data
        return Sharded(function(whole, dimension, index.local), ownership)
    return Sharded(function(data.local, _column(dimension, data, function), index), ownership)  # type: ignore


def rows(function: Any, ownership: Ownership, data: Sharded, index: Tensor) -> Tensor:
    """The rows of these numbers, int64 [k], the same on every rank: [k, ...] on every rank."""
    index = index.to(data.device)
    bad = (index < 0) | (index >= ownership.num_rows)
    if bool(bad.any()):
        raise ArgumentError(f"{of_torch(function)}: {int(index[bad][0])} is none of the {ownership.num_rows} rows")
    here = is_own(index, ownership)
    found = data.local.new_zeros((len(index), *data.shape[1:]))
    found[here] = data.local.index_select(0, index[here] - ownership.first)
    if found.dtype == torch.bool:
        return ownership.gather(found).any(0)
    return ownership.sum(found)


@implements(aten.index.Tensor)
def index(function: Any, ownership: Ownership, data: Tensor, indices: Any) -> Tensor:
    """Rows by a mask sharded likewise, or of data that every rank has by numbers that are sharded: sharded; or rows by
    numbers that every rank has, on every rank."""
    first, *others = indices
    if isinstance(first, Sharded) and not isinstance(data, Sharded) and not others:
        if first.dtype != torch.bool:
            return Sharded(function(data, [first.local]), ownership)
        data = Sharded(ownership.own(data), ownership)
    if any(each is not None for each in others) or not isinstance(data, Sharded):
        raise NotByRowError(function, "of data that is spread over ranks rows are taken by one mask or one index")
    if isinstance(first, Sharded) and first.dtype == torch.bool:
        chosen = function(data.local, [first.local])
        counts = ownership.gather(torch.tensor(len(chosen), device=chosen.device)).tolist()
        return Sharded(chosen, Ownership.of_counts(counts, ownership.group))
    whole = first.full_tensor() if isinstance(first, Sharded) else first
    if whole.dtype == torch.bool:
        whole = whole.nonzero().flatten()
    whole = torch.where(whole < 0, whole + ownership.num_rows, whole)
    return rows(function, ownership, data, whole.flatten()).reshape(*whole.shape, *data.shape[1:])


@implements(aten.index_put_.default, aten.index_put.default)
def index_put(
    function: Any, ownership: Ownership, data: Tensor, indices: Any, values: Tensor, accumulate: bool = False
) -> Tensor:
    """Write rows by number, which every rank gives alike, or by mask; with columns by number beside."""
    if not isinstance(data, Sharded):
        raise NotByRowError(function, "data that every rank has is not written at places that are spread over them")
    if function is aten.index_put.default:
        data = Sharded(data.local.clone(), ownership)
    first, *others = indices
    if isinstance(first, Sharded) and first.dtype == torch.bool:
        common_ownership((data, first))
        given = values.local if isinstance(values, Sharded) else values
        data.local.index_put_([first.local], given, accumulate)
        return data
    first, *others = [each.full_tensor() if isinstance(each, Sharded) else each for each in indices]
    if first.dtype == torch.bool:
        first = first.nonzero().flatten()
    first = torch.where(first < 0, first + ownership.num_rows, first)
    here = is_own(first, ownership)
    columns = [each if each is None or each.dim() == 0 else each[here] for each in others]
    values = values.full_tensor() if isinstance(values, Sharded) else values
    dimensions = data.dim() - sum(each is not None for each in others)  # of the written values; fewer are stretched
    has_rows = values.dim() == dimensions and values.shape[0] == len(first)
    given = values[here] if has_rows else values
    data.local.index_put_([first[here] - ownership.first, *columns], given, accumulate)
    return data


@implements(aten.nonzero.default)
def nonzero(function: Any, ownership: Ownership, data: Sharded) -> Tensor:
    """Positions of non-zero values, [k, dimensions], on every rank."""
    found = function(data.local)
    found[:, 0] += ownership.first
    return ownership.concatenate(found)[0]
