"""`replace_pairs` compiled: see `pairs.hpp`."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.kernels.native.base.support import compiled, implements, refuses_first
from tgraph.kernels.operators.compressed import pairing as declared


@implements(declared.replace_pairs, refuses_first)
def replace_pairs(offset: Tensor, tokens: Tensor, num_tokens: int, max_depth: int) -> tuple[Tensor, Tensor, Tensor]:
    """See `tgraph.kernels.operators.compressed.pairing.replace_pairs`; the results are identical."""
    kernels = compiled()
    offset = offset.contiguous()
    replaced = kernels.replace_pairs(offset, tokens.contiguous(), num_tokens, max_depth)
    new_offset = torch.empty_like(offset)
    symbols = torch.empty(replaced.num_symbols, dtype=torch.int32, device="cpu")
    pairs = torch.empty(2 * replaced.num_rules, dtype=torch.int32, device="cpu")
    replaced.write(offset, new_offset, symbols, pairs)
    return new_offset, symbols, pairs.view(-1, 2)
