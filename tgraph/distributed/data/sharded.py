"""Vertex data sharded over ranks: each process holds the rows of its own vertices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten

from tgraph.core.ranking import largest
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.errors import ArgumentError

_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}  # integers by their bytes
_ODD = 0x9E3779B97F4A7C15 - 2**64  # 2^64 over the golden ratio: its multiples look random

_PUTS = (torch.ops.aten.index_put_.default, torch.ops.aten.index_put.default)

# The implementations of operators of torch: functions of the operator, the ownership and the operator's arguments,
# registered by `by_row` and `reducing`.
OPERATORS: dict[Any, Callable[..., Any]] = {}


def implements(*operators: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that registers the function as the implementation of these operators on sharded data."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        OPERATORS.update(dict.fromkeys(operators, function))
        return function

    return register


def of_torch(operator: Any) -> str:
    """The name of an operator, as callers know it."""
    return f"torch.{operator.__name__.partition('.')[0].removesuffix('_')}"


class NotByRowError(ArgumentError):
    """An operator of torch that is not done row by row."""

    def __init__(self, operator: Any, problem: str):
        super().__init__(f"{of_torch(operator)}: {problem}")


class Sharded(Tensor):
    """A tensor [n, ...] whose rows are distributed over the ranks of a process group, as a DTensor's would be; but a
    rank may hold any number of rows.

    It stands for the whole tensor: `values.sum()` is the sum over all vertices, on every rank. Each rank applies
    operations row by row to its own rows; reductions over the rows, rows by index and masks communicate, and all ranks
    must call them. A plain tensor beside it must be equal on all ranks. Other operations raise ArgumentError, and
    `full_tensor()` is the remedy.

    >>> held = tg.distributed.Ownership((0, 4))  # with a group of one rank
    >>> values = tg.distributed.from_local(torch.arange(4.0), held)
    >>> values.sum(), (values * 2).full_tensor()
    (tensor(6.), tensor([0., 2., 4., 6.]))
    """

    local: Tensor
    ownership: Ownership

    @staticmethod
    def __new__(cls, local: Tensor, ownership: Ownership) -> Sharded:
        if local.shape[:1] != (ownership.num_own,):
            raise ArgumentError(
                f"local: expected the {ownership.num_own} rows of rank {ownership.rank}, got shape {list(local.shape)}"
            )
        made = Tensor._make_wrapper_subclass(
            cls, (ownership.num_rows, *local.shape[1:]), dtype=local.dtype, device=local.device
        )
        made.local, made.ownership = local.detach(), ownership
        return made

    def to_local(self) -> Tensor:
        """The rows of this rank, [n_local, ...], not copied; gradients flow back.

        >>> held = tg.distributed.Ownership((0, 4))
        >>> tg.distributed.from_local(torch.arange(4.0), held).to_local()
        tensor([0., 1., 2., 3.])
        """
        return _ToLocal.apply(self) if self.requires_grad else self.local

    def full_tensor(self) -> Tensor:
        """All rows, [n, ...], on every rank; without gradient.

        >>> held = tg.distributed.Ownership((0, 4))
        >>> tg.distributed.from_local(torch.arange(4.0), held).full_tensor()
        tensor([0., 1., 2., 3.])
        """
        return self.ownership.concatenate(self.local)[0]

    def digest(self) -> int:
        """A hash of all rows, the same on any number of ranks: a sum over its elements, mixed with their places.

        >>> held = tg.distributed.Ownership((0, 4))
        >>> values = tg.distributed.from_local(torch.arange(4.0), held)
        >>> values.digest() == (values + 0).digest(), values.digest() == (values + 1).digest()
        (True, False)
        """
        held, bits = self.ownership, self.local.detach().contiguous()
        bits = bits.view(torch.uint8 if bits.element_size() == 1 else _BITS[bits.element_size()]).to(torch.int64)
        width = bits[:1].numel() or 1
        place = torch.arange(held.first * width, held.first * width + bits.numel(), device=self.device)
        mixed = (bits.flatten() + _ODD * place) * _ODD
        mixed = (mixed ^ (mixed >> 29)) * _ODD
        return int(held.sum((mixed ^ (mixed >> 32)).sum()))

    def largest(self, k: int) -> Tensor:
        """The indices int64 [k] of the `k` largest of values [n], as `tgraph.core.ranking.largest` gives them: of the k
        largest of each rank.

        >>> held = tg.distributed.Ownership((0, 4))
        >>> tg.distributed.from_local(torch.tensor([3, 9, 1, 9]), held).largest(2)
        tensor([1, 3])
        """
        held = self.ownership
        best = largest(self.local, k) if held.num_own else torch.empty(0, dtype=torch.int64, device=self.device)
        candidates = held.concatenate(best + held.first)[0]
        values = held.concatenate(self.local.index_select(0, best))[0]
        return candidates[largest(values, k)]

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        held = self.ownership
        return f"Sharded({list(self.shape)}, {self.dtype}, rows {held.first}..{held.end - 1} here: {self.local})"

    def __setitem__(self, index: Any, value: Any) -> None:
        # torch would write into a view of the one row, which is on one rank.
        first, *others = index if isinstance(index, tuple) else (index,)
        if isinstance(first, int):
            first = torch.tensor([first], device=self.device)
        super().__setitem__((first, *others), value)

    def numpy(self, *, force: bool = False) -> NoReturn:
        """Raises ArgumentError, with `force` as well, as no memory holds all rows.

        >>> held = tg.distributed.Ownership((0, 4))
        >>> tg.distributed.from_local(torch.arange(4.0), held).numpy()
        Traceback (most recent call last):
            ...
        tgraph.errors.ArgumentError: numpy: the rows are spread over ranks; use full_tensor(), or to_local() ...
        """
        raise ArgumentError(_no_memory("numpy"))

    def tolist(self) -> NoReturn:
        """Raises ArgumentError, as no memory holds all rows.

        >>> held = tg.distributed.Ownership((0, 4))
        >>> tg.distributed.from_local(torch.arange(4.0), held).tolist()
        Traceback (most recent call last):
            ...
        tgraph.errors.ArgumentError: tolist: the rows are spread over ranks; use full_tensor(), or to_local() ...
        """
        raise ArgumentError(_no_memory("tolist"))

    def data_ptr(self) -> NoReturn:
        """Raises ArgumentError, as no memory holds all rows.

        >>> held = tg.distributed.Ownership((0, 4))
        >>> tg.distributed.from_local(torch.arange(4.0), held).data_ptr()
        Traceback (most recent call last):
            ...
        tgraph.errors.ArgumentError: data_ptr: the rows are spread over ranks; use full_tensor(), or to_local() ...
        """
        raise ArgumentError(_no_memory("data_ptr"))

    def __array__(self, *_: Any) -> NoReturn:
        raise ArgumentError(_no_memory("numpy"))

    def __dlpack__(self, *_: Any, **__: Any) -> NoReturn:
        raise ArgumentError(_no_memory("dlpack"))

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise ArgumentError(_no_memory("pickle"))

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore
        kwargs = kwargs or {}
        # Rows are written at numbers, of values, that may be spread otherwise than the data.
        spread = args[:1] if function in _PUTS and isinstance(args[0], Sharded) else (args, kwargs)
        ownership = common_ownership(tree_flatten(spread)[0])
        serving = OPERATORS.get(function)
        if serving is None and torch.Tag.pointwise in function.tags:
            serving = OPERATORS[torch.Tag.pointwise]
        if serving is not None:
            return serving(function, ownership, *args, **kwargs)
        raise NotByRowError(
            function,
            "has no meaning row by row for data that is spread over ranks; gather it first, with "
            "full_tensor(), or compute on the rows of this rank, to_local()",
        )


def common_ownership(operands: Iterable[Any]) -> Ownership:
    """The common ownership of the sharded operands. Raises ArgumentError where they differ."""
    found = None
    for operand in operands:
        if isinstance(operand, Sharded):
            if found is not None and found != operand.ownership:
                raise ArgumentError(
                    f"tensors spread over ranks at {found.starts} and at {operand.ownership.starts} do not fit each "
                    "other; gather one with full_tensor()"
                )
            found = operand.ownership
    assert found is not None, "dispatch calls this for a Sharded operand"
    return found


def _no_memory(what: str) -> str:
    return f"{what}: the rows are spread over ranks; use full_tensor(), or to_local() for those of this rank"


class _ToLocal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, spread: Sharded) -> Tensor:
        ctx.ownership = spread.ownership
        return spread.local.view_as(spread.local)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return Sharded(gradients[0], ctx.ownership)


class _FromLocal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, local: Tensor, ownership: Ownership) -> Tensor:
        ctx.ownership = ownership
        return Sharded(local, ownership)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        given = gradients[0]
        return given.local if isinstance(given, Sharded) else ctx.ownership.own(given), None


def from_local(local: Tensor, ownership: Ownership) -> Tensor:
    """The tensor [n, ...] made of the rows of every rank, `local` [k, ...], by the `ownership`; gradients flow back to
    these.

    >>> held = tg.distributed.Ownership((0, 4))  # with a group of one rank
    >>> tg.distributed.from_local(torch.arange(4.0), held).mean()
    tensor(1.5000)
    """
    return _FromLocal.apply(local, ownership) if local.requires_grad else Sharded(local, ownership)
