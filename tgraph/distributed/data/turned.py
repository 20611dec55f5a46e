"""Transposes of sharded data, for products that sum over its rows: those of a matrix and its gradient."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tgraph.distributed.data.sharded import NotByRowError, Sharded, implements
from tgraph.distributed.ranks.ownership import Ownership

aten = torch.ops.aten


class Turned(Tensor):
    """The transpose [c, n] of sharded data [n, c], of which a rank has the columns of its rows, `local` [k, c].
    Products that sum over all rows, or give columns again, are all that it is for."""

    local: Tensor
    ownership: Ownership

    @staticmethod
    def __new__(cls, local: Tensor, ownership: Ownership) -> Turned:
        size = (local.shape[1], ownership.num_rows)
        made = Tensor._make_wrapper_subclass(cls, size, dtype=local.dtype, device=local.device)
        made.local, made.ownership = local.detach(), ownership
        return made

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return f"Turned({list(self.shape)}, {self.dtype}, columns here: {self.local})"

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore
        first, second = (*args, None)[:2]
        if function in (aten.t.default, aten.transpose.int):
            return Sharded(first.local, first.ownership)
        if function in (aten.detach.default, aten.alias.default):
            return Turned(first.local, first.ownership)
        if function in (aten.mm.default, aten.mv.default):
            if isinstance(first, Turned) and isinstance(second, Sharded):
                return first.ownership.sum(function(first.local.t(), second.local))
            if isinstance(second, Turned) and not isinstance(first, (Turned, Sharded)):
                return Turned(second.local @ first.t(), second.ownership)
        if function is aten.add.Tensor and isinstance(first, Turned) and isinstance(second, Turned):
            return Turned(first.local + second.local, first.ownership)  # of gradients
        raise NotByRowError(
            function,
            "of the transpose of data that is spread over ranks; multiply such data by it, or turn it back: t()",
        )


@implements(aten.t.default, aten.transpose.int)
def transpose(function: Any, ownership: Ownership, data: Sharded, *dimensions: int) -> Tensor:
    """Rows as columns, for products; other dimensions stay with their rows."""
    if dimensions and 0 not in [each % data.dim() for each in dimensions]:
        return Sharded(function(data.local, *dimensions), ownership)
    if data.dim() != 2:
        raise NotByRowError(function, "would turn the rows of data that is spread over ranks; gather it: full_tensor()")
    return Turned(data.local, ownership)
