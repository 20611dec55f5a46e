"""Operators that reduce the rows of sharded data: each rank reduces its own rows, and then the results of all ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tgraph.distributed.data.by_row import _column, _spread
from tgraph.distributed.data.sharded import NotByRowError, Sharded, implements, of_torch
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.errors import ArgumentError

aten = torch.ops.aten


def _least(dtype: torch.dtype) -> Any:
    if dtype == torch.bool:
        return False
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _greatest(dtype: torch.dtype) -> Any:
    if dtype == torch.bool:
        return True
    return torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max


# By the name of the operator: the function that combines the results of ranks, and the value of a rank without rows,
# None where the operator itself gives it.
COMBINED: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[torch.dtype], Any] | None]] = {
    "sum": (lambda parts: parts.sum(0, dtype=parts.dtype), None),
    "prod": (lambda parts: parts.prod(0, dtype=parts.dtype), None),
    "any": (lambda parts: parts.any(0), None),
    "all": (lambda parts: parts.all(0), None),
    "count_nonzero": (lambda parts: parts.sum(0), None),
    "max": (lambda parts: parts.amax(0), _least),
    "amax": (lambda parts: parts.amax(0), _least),
    "min": (lambda parts: parts.amin(0), _greatest),
    "amin": (lambda parts: parts.amin(0), _greatest),
}


@implements(
    aten.sum.default,
    aten.sum.dim_IntList,
    aten.prod.default,
    aten.prod.dim_int,
    aten.any.default,
    aten.any.dim,
    aten.all.default,
    aten.all.dim,
    aten.count_nonzero.default,
    aten.count_nonzero.dim_IntList,
    aten.max.default,
    aten.amax.default,
    aten.min.default,
    aten.amin.default,
)
def reduce(function: Any, ownership: Ownership, data: Sharded, dim: Any = None, *rest: Any, **kwargs: Any) -> Tensor:
    """A reduction over rows, over columns, or over both."""
    dims = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if dims and all(each % data.dim() for each in dims):
        return _spread(function(data.local, dim, *rest, **kwargs), ownership)
    combine, empty = COMBINED[function._schema.name.partition("::")[2]]
    held, given = data.local, ([dim] if dim is not None else [])
    if not ownership.num_rows and empty is not None:
        raise ArgumentError(f"{of_torch(function)}: the data has no rows, which have no largest and no smallest")
    if empty is not None and not len(held):
        held = held.new_full((1, *held.shape[1:]), empty(held.dtype))
    return combine(ownership.gather(function(held, *given, *rest, **kwargs)))


@implements(aten.mean.default, aten.mean.dim)
def mean(
    function: Any, ownership: Ownership, data: Sharded, dim: Any = None, keepdim: bool = False, **kwargs: Any
) -> Any:
    """The mean over rows, over columns, or over both."""
    if dim is not None and all(each % data.dim() for each in ([dim] if isinstance(dim, int) else dim)):
        return Sharded(function(data.local, dim, keepdim, **kwargs), ownership)
    total = data.sum(**kwargs) if dim is None else data.sum(dim, keepdim, **kwargs)
    return total * (total.numel() / data.numel())


@implements(aten.max.dim, aten.min.dim)
def best_of_columns(function: Any, ownership: Ownership, data: Sharded, dim: int, keepdim: bool = False) -> Any:
    """(values, places) along the columns."""
    return _spread(function(data.local, _column(dim, data, function), keepdim), ownership)


@implements(aten.aminmax.default)
def aminmax(
    function: Any, ownership: Ownership, data: Sharded, *, dim: int | None = None, keepdim: bool = False
) -> Any:
    """(smallest, largest)"""
    if dim is not None:
        return _spread(function(data.local, dim=_column(dim, data, function), keepdim=keepdim), ownership)
    return data.amin(), data.amax()


@implements(aten.argmax.default, aten.argmin.default)
def argbest(
    function: Any, ownership: Ownership, data: Sharded, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    """The place of the largest or smallest value; ties go to the lowest rank."""
    if dim is not None and dim % data.dim():
        return Sharded(function(data.local, dim, keepdim), ownership)
    if data.dim() != 1:
        raise NotByRowError(function, "over the rows of several columns; take one column at a time")
    best = data.amax() if function is aten.argmax.default else data.amin()
    hit = (data.local == best) | (data.local.isnan() if data.is_floating_point() else False)
    first = int(hit.nonzero()[0]) + ownership.first if bool(hit.any()) else ownership.num_rows
    return ownership.gather(torch.tensor(first, device=data.device)).amin()


@implements(aten.linalg_vector_norm.default)
def norm(
    function: Any,
    ownership: Ownership,
    data: Sharded,
    ord: float = 2,
    dim: Any = None,
    keepdim: bool = False,
    **kw: Any,
) -> Tensor:
    """The norm over all elements, or of each row."""
    if dim is not None and all(each % data.dim() for each in ([dim] if isinstance(dim, int) else dim)):
        return Sharded(function(data.local, ord, dim, keepdim, **kw), ownership)
    if dim is not None and data.dim() > 1:
        raise NotByRowError(function, "along the rows of data that is spread over ranks; square and sum it")
    return function(ownership.gather(function(data.local, ord, **kw)), ord)


@implements(aten.dot.default)
def dot(function: Any, ownership: Ownership, first: Tensor, second: Tensor) -> Tensor:
    """The sum of products."""
    held = [each.local if isinstance(each, Sharded) else ownership.own(each) for each in (first, second)]
    return ownership.sum(function(*held))


@implements(aten.equal.default)
def equal(function: Any, ownership: Ownership, first: Tensor, second: Tensor) -> bool:
    """Whether all elements are."""
    if first.shape != second.shape:
        return False
    held = [each.local if isinstance(each, Sharded) else ownership.own(each) for each in (first, second)]
    return bool(ownership.gather(torch.tensor(function(*held), device=first.device)).all())


@implements(aten.topk.default)
def topk(
    function: Any, ownership: Ownership, data: Sharded, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """The k largest or smallest values of [n] and their places, on every rank; or along the columns."""
    if dim % data.dim():
        return _spread(function(data.local, k, dim, largest, sorted), ownership)
    if data.dim() != 1:
        raise NotByRowError(function, "over the rows of several columns; take one column at a time")
    values, places = function(data.local, min(k, len(data.local)), 0, largest, sorted)
    candidates, where = ownership.concatenate(values)[0], ownership.concatenate(places + ownership.first)[0]
    best, chosen = function(candidates, k, 0, largest, sorted)
    return best, where.index_select(0, chosen)


@implements(aten.bincount.default)
def bincount(
    function: Any, ownership: Ownership, data: Tensor, weights: Tensor | None = None, minlength: int = 0
) -> Tensor:
    """Number of occurrences of each value, on every rank."""
    length = max(minlength, int(data.amax()) + 1 if ownership.num_rows else 0)
    own, held = (
        each.local if isinstance(each, Sharded) else each if each is None else ownership.own(each)
        for each in (data, weights)
    )
    counts = function(own, held, length)
    if held is not None:  # of no rows torch gives integers
        counts = counts.to(torch.float32 if held.dtype == torch.float32 else torch.float64)
    return ownership.sum(counts)


@implements(aten._unique2.default)
def unique(function: Any, ownership: Ownership, data: Sharded, *options: Any, **named: Any) -> Any:
    """The distinct values, ascending, and how often each occurs, on every rank; without inverse."""
    named |= dict(zip(("sorted", "return_inverse", "return_counts"), options, strict=False))
    if named.get("return_inverse"):
        raise NotByRowError(function, "return_inverse needs all rows; gather the data first, with full_tensor()")
    found, none, counts = function(data.local, return_counts=True)
    distinct, place, _ = function(ownership.concatenate(found)[0], return_inverse=True)
    total = counts.new_zeros(len(distinct)).index_add_(0, place, ownership.concatenate(counts)[0])
    return distinct, none, total
