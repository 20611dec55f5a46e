"""Repeated pairs of adjacent symbols become symbols of their own, in torch operators."""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import setup_operator

# A round takes the most frequent of the pairs, until they make up one in SHARE of those that repeat; more rounds of
# fewer pairs come closer to Re-Pair. One in which fewer than one symbol in WORTH repeats is the last.
SHARE, WORTH = 4, 512
LARGEST_COUNT = (1 << 16) - 1  # what the threshold starts from


@setup_operator
def replace_pairs(offset: Tensor, tokens: Tensor, num_tokens: int, max_depth: int) -> tuple[Tensor, Tensor, Tensor]:
    """A grammar of rows, by rounds that replace pairs of adjacent symbols that repeat, within a row or across rows.

    offset : int64 [n + 1], ascending from 0 to the number of tokens. tokens : int32 [m], from 0 to num_tokens - 1, and
        num_tokens + m / 2 < 2**31. max_depth : rules nest no deeper, at most 255.

    Returns (offset int64 [n + 1], symbols int32 [k], pairs int32 [R, 2]): the rows over tokens and rules, where symbol
    num_tokens + r stands for the two symbols pairs[r], each of them a token or an earlier rule.

    Re-Pair (Larsson and Moffat, "Offline dictionary-based compression", DCC 1999) replaces the most frequent pair, one
    at a time; here all that are frequent enough go at once, as in the rounds of Jez, "Recompression" (J. ACM 63, 2016).
    Each round costs a few passes over what is left.
    """
    symbols = tokens.long()
    row = sorting.expand_rows(offset)
    pairs = torch.empty((0, 2), dtype=torch.int64, device=tokens.device)
    depth = torch.zeros(num_tokens, dtype=torch.int64, device=tokens.device)
    threshold = LARGEST_COUNT
    while len(symbols) > 1:
        begins = (row[1:] == row[:-1]) & (torch.maximum(depth[symbols[1:]], depth[symbols[:-1]]) < max_depth)
        position = begins.nonzero().squeeze(1)
        keys, slot, count = torch.unique(
            symbols[position] << 32 | symbols[position + 1], return_inverse=True, return_counts=True
        )
        if int(count[count > 1].sum()) * WORTH <= len(symbols):
            break
        threshold = _lower(threshold, count)
        slot_at = torch.full((len(symbols) + 1,), -1, dtype=torch.int64, device=tokens.device)
        slot_at[position] = slot
        taken = _choose(symbols, slot_at, count, threshold)
        named = torch.bincount(slot_at[taken], minlength=len(keys)) > 1
        if not bool(named.any()):
            if (threshold := threshold // 2) < 2:
                break
            continue
        name = torch.where(named, named.cumsum(0) - 1 + num_tokens + len(pairs), -1)
        made = torch.stack((keys >> 32, keys & (2**32 - 1)), 1)[named]
        pairs, depth = torch.cat((pairs, made)), torch.cat((depth, depth[made].amax(1) + 1))
        taken = taken[name[slot_at[taken]] >= 0]
        symbols = symbols.index_copy(0, taken, name[slot_at[taken]])
        kept = torch.ones_like(symbols, dtype=torch.bool).index_fill_(0, taken + 1, False)
        symbols, row = symbols[kept], row[kept]
    rows = torch.arange(len(offset), device=offset.device)
    return torch.searchsorted(row, rows), symbols.int(), pairs.int()


def _lower(threshold: int, count: Tensor) -> int:
    """The least count of a pair that a round replaces, never above that of the round before."""
    repeated = count[count > 1]
    occurrences = torch.bincount(repeated.clamp(max=LARGEST_COUNT), repeated.double(), minlength=LARGEST_COUNT + 1)
    above = occurrences.flip(0).cumsum(0).flip(0)  # those of pairs at least so frequent
    enough = (above * SHARE >= occurrences.sum()).nonzero()
    return max(2, min(threshold, int(enough[-1])))


def _choose(symbols: Tensor, slot: Tensor, count: Tensor, threshold: int) -> Tensor:
    """The positions of the pairs to replace: whenever two overlap, the one that takes precedence. These are the more
    frequent, then those that begin with an even symbol, a smaller one, or further to the left.

    slot : int64 [k + 1], the number of the pair that begins at each position, or -1."""
    frequency = torch.cat((count, count.new_zeros(1)))[slot]
    left = torch.cat((symbols, symbols.new_zeros(1)))
    tie = (~left & 1) << 31 | (2**31 - 1 - left) >> 1
    rank = torch.where(frequency >= threshold, frequency << 32 | tie, 0)
    # Down from each peak every other pair is taken; one in a valley only if it is from both sides.
    here = torch.arange(len(rank), device=rank.device)
    falls = torch.zeros_like(rank, dtype=torch.bool)
    falls[1:] = rank[:-1] >= rank[1:]
    rises = torch.zeros_like(falls)
    rises[:-1] = rank[1:] > rank[:-1]
    peak_before = torch.where(falls, -1, here).cummax(0).values
    peak_after = torch.where(rises, len(rank), here).flip(0).cummin(0).values.flip(0)
    return ((rank > 0) & ((here - peak_before) % 2 == 0) & ((peak_after - here) % 2 == 0)).nonzero().squeeze(1)
