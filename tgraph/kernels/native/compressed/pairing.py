"""`replace_pairs` compiled: see `pairs.hpp`."""

from __future__ import annotations

from types import ModuleType
from typing import cast

import torch
from torch import Tensor

from tgraph.core.dispatch import Implementation
from tgraph.core.system import native
from tgraph.kernels.native.base.support import refuses_data


def replace_pairs(offset: Tensor, tokens: Tensor, num_tokens: int, max_depth: int) -> tuple[Tensor, Tensor, Tensor]:
    """See `tgraph.kernels.operators.compressed.pairing.replace_pairs`; the results are identical."""
    kernels = cast(ModuleType, native.load())
    offset = offset.contiguous()
    replaced = kernels.replace_pairs(offset, tokens.contiguous(), num_tokens, max_depth)
    new_offset = torch.empty_like(offset)
    symbols = torch.empty(replaced.num_symbols, dtype=torch.int32, device="cpu")
    pairs = torch.empty(2 * replaced.num_rules, dtype=torch.int32, device="cpu")
    replaced.write(offset, new_offset, symbols, pairs)
    return new_offset, symbols, pairs.view(-1, 2)


OPERATORS = {"replace_pairs": Implementation(replace_pairs, lambda offset, *others: refuses_data(offset))}
