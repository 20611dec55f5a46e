"""Block Gauss-Seidel: an affine iteration whose later rows use the new values of the earlier ones (Arasu et al.
2002)."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tgraph.core.building.inputs import as_count
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.errors import ArgumentError
from tgraph.primitives.linear import AffineMap


class GaussSeidel(AffineMap):
    """An `AffineMap` whose step cuts the rows into `blocks` of equal work, the last of which comes first: the rows of a
    block use the new values of the blocks before it.

    The compiled kernels cut large blocks into stripes, by their size alone, and let a row use the new values of the
    rows before it in its stripe as well, unless neighbours are scattered. All have the fixpoints of an AffineMap, and
    often get there in fewer steps.

    Raises ArgumentError for fewer than one block.
    """

    _operation = "gauss_seidel_step"

    def __init__(self, *, blocks: int, **options: Any):
        super().__init__(**options)
        if as_count(blocks, "blocks") < 1:
            raise ArgumentError(f"blocks: expected at least one, got {blocks}")
        self._blocks = blocks

    def step(
        self,
        sub: Subgraph | Graph,
        x: Tensor,
        *,
        alpha: Tensor | float = 1.0,
        beta: Tensor | float = 1.0,
        rescale: Tensor | float = 1.0,
        before: Tensor | None = None,
        overwrite: bool = False,
    ) -> Tensor:
        """The values after a step from `rescale * x`; the other parameters are those of `AffineMap.step`.

        rescale : a number or tensor []. A step does not conserve the sum of the values: where that of the fixpoint is
            known, start from a vector of that sum.
        """
        return self._step(sub, x, alpha, beta, x if before is None else before, overwrite, self._blocks, rescale)

    def _sent_of(self, x: Tensor) -> Tensor:
        """In memory of its own, which a step overwrites."""
        sent = super()._sent_of(x)
        return sent.clone() if sent is x else sent
