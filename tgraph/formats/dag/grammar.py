"""A grammar with rules of two symbols over the rows, and the choice of the rules that become virtual vertices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from tgraph.core.building.sorting import index_dtype
from tgraph.core.rows import offset_of

# Passes over the choice of rules: each uses the expansion lengths that follow from the choice before.
SWEEPS = 3


@dataclass(frozen=True)
class Grammar:
    """Rows over tokens 0..T-1 and rules, symbols T..T+R-1, each of which expands to two symbols.

    offset : int64 [n + 1]. symbols : int64 [k], those of the rows. num_tokens : T.
    pairs : int64 [R, 2], sorted by depth: a rule expands to tokens and rules of smaller depth.
    levels : bounds of the rules of each depth from 1, from 0 to R.
    """

    offset: Tensor
    symbols: Tensor
    num_tokens: int
    pairs: Tensor
    levels: tuple[int, ...]

    @classmethod
    def by_depth(cls, offset: Tensor, symbols: Tensor, num_tokens: int, pairs: Tensor) -> Grammar:
        """The grammar with its rules renumbered by depth."""
        symbols, pairs = symbols.long(), pairs.long()
        depth = torch.zeros(num_tokens + len(pairs), dtype=torch.int64, device=pairs.device)
        while True:
            deeper = depth[pairs].amax(1) + 1 if len(pairs) else depth[num_tokens:]
            if torch.equal(deeper, depth[num_tokens:]):
                break
            depth[num_tokens:] = deeper
        order = torch.argsort(deeper, stable=True)
        number = torch.arange(len(depth), device=pairs.device)
        number[num_tokens + order] = number[num_tokens:].clone()
        bounds = torch.bincount(deeper, minlength=1).cumsum(0)
        return cls(offset, number[symbols], num_tokens, number[pairs[order]], tuple(bounds.tolist()))

    @property
    def num_symbols(self) -> int:
        """T + R."""
        return self.num_tokens + len(self.pairs)

    def rules(self, level: tuple[int, int]) -> slice:
        """The symbols of a range of rules."""
        return slice(self.num_tokens + level[0], self.num_tokens + level[1])

    def inlined(self, min_gain: int) -> Tensor:
        """Which symbols do not save memory, and are expanded wherever they are used: bool [T + R].

        A symbol used f times with an expansion of l symbols is inlined where (f - 1) (l - 1) - 1 <= min_gain (Chen et
        al., "CompressGraph", 2023). Rules are decided from the deepest down, since inlining a rule adds uses to its
        symbols.
        """
        inlined = torch.zeros(self.num_symbols, dtype=torch.bool, device=self.pairs.device)
        by_rows = torch.bincount(self.symbols, minlength=self.num_symbols)
        for _ in range(SWEEPS):
            length, uses = self.lengths(inlined), by_rows.clone()
            for level in reversed(list(pairwise(self.levels))):
                rules = self.rules(level)
                inlined[rules] = (uses[rules] - 1) * (length[rules] - 1) - 1 <= min_gain
                passed = torch.where(inlined[rules], uses[rules], 1)
                uses.index_add_(0, self.pairs[slice(*level)].flatten(), passed.repeat_interleave(2))
        return inlined

    def lengths(self, inlined: Tensor) -> Tensor:
        """Length of the expansion of each symbol, 1 for a token, where `inlined` symbols are expanded: int64 [T +
        R]."""
        length = torch.ones(self.num_symbols, dtype=torch.int64, device=self.pairs.device)
        for level in pairwise(self.levels):
            pairs = self.pairs[slice(*level)]
            length[self.rules(level)] = torch.where(inlined[pairs], length[pairs], 1).sum(1)
        return length

    def depths(self, inlined: Tensor) -> Tensor:
        """Nesting depth of each symbol, counting rules that are not inlined, itself included: int64 [T + R]."""
        depth = torch.zeros(self.num_symbols, dtype=torch.int64, device=self.pairs.device)
        for level in pairwise(self.levels):
            rules = self.rules(level)
            depth[rules] = depth[self.pairs[slice(*level)]].amax(1) + ~inlined[rules]
        return depth

    def write(self, inlined: Tensor) -> tuple[Tensor, Tensor, Tensor, tuple[int, ...]]:
        """The K remaining rules, by depth, followed by the rows.

        Returns (offset [K + n + 1], symbols [A], kept, levels): the symbols of all rules and rows with `inlined` ones
        expanded, `kept` int64 [K] the symbols of the rules in the order written, and the bounds of the levels from 0 to
        K.
        """
        depth, width = self.depths(inlined), torch.where(inlined, self.lengths(inlined), 1)
        kept = (~inlined[self.num_tokens :]).nonzero().squeeze(1) + self.num_tokens
        kept = kept[torch.argsort(depth[kept], stable=True)]
        levels = torch.bincount(depth[kept], minlength=1).cumsum(0)
        symbols = torch.cat((self.pairs[kept - self.num_tokens].flatten(), self.symbols))
        begin = offset_of(width[symbols])
        rows = torch.cat((2 * torch.arange(len(kept), device=symbols.device), 2 * len(kept) + self.offset))
        written = symbols.new_empty(int(begin[-1]), dtype=index_dtype(self.num_symbols))
        place = begin[:-1]
        while len(symbols):
            left_out = inlined[symbols]
            written[place[~left_out]] = symbols[~left_out].to(written.dtype)
            pairs, place = self.pairs[symbols[left_out] - self.num_tokens], place[left_out]
            symbols, place = pairs.T.flatten(), torch.cat((place, place + width[pairs[:, 0]]))
        return begin[rows], written, kept, tuple(levels.tolist())
