"""Block Gauss-Seidel: an affine iteration whose later rows use the new values of the earlier ones (Arasu et al.
2002)."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tgraph.core.building.inputs import as_count
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Subgraph
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.linear.gauss_seidel import gauss_seidel_columns
from tgraph.primitives.linear import AffineMap


class GaussSeidel(AffineMap):
    """An `AffineMap` whose step cuts the rows into `blocks` of equal work, the last of which comes first: the rows of a
    block use the new values of the blocks before it.

    The compiled kernels cut large blocks into stripes, by their size alone, and let a row use the new values of the
    rows before it in its stripe as well, unless neighbours are scattered. All have the fixpoints of an AffineMap, and
    often get there in fewer steps.

    Raises ArgumentError for fewer than one block.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> affine = tg.primitives.gauss_seidel.GaussSeidel(blocks=3, bias=1.0)
    >>> affine.step(graph, torch.zeros(3), alpha=0.5)
    tensor([1.5000, 1.0000, 1.0000])
    """

    _operation = "gauss_seidel_step"

    def __init__(self, *, blocks: int, **options: Any):
        super().__init__(**options)
        if as_count(blocks, "blocks") < 1:
            raise ArgumentError(f"blocks: expected at least one, got {blocks}")
        self._arguments = blocks, 1.0

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

        >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0])
        >>> affine = tg.primitives.gauss_seidel.GaussSeidel(blocks=1, bias=1.0)
        >>> x = torch.zeros(3)
        >>> for _ in range(50):
        ...     x = affine.step(graph, x, alpha=0.5)
        >>> x.round(decimals=3)
        tensor([2., 2., 2.])
        """
        return self._step(sub, x, alpha, beta, x if before is None else before, overwrite, self._arguments[0], rescale)

    def _sent_of(self, x: Tensor) -> Tensor:
        """In memory of its own, which a step overwrites."""
        sent = super()._sent_of(x)
        return sent.clone() if sent is x else sent


def sweep_columns(
    graph: Graph, x: Tensor, *, scale: Tensor, bias: Tensor, alpha: float = 1.0, weighted: bool = False
) -> tuple[Tensor, Tensor]:
    """One sweep for g groups of w right-hand sides at once, and how far it moved each: x' [g, n, w] and its L1 distance
    from x, [g, w].

    x'[v] = alpha * (sum of scale[u] * x[u] over the arcs u -> v) + bias[v], the rows in their order: a row uses the new
    values of the rows before it (portable kernels: of the blocks of rows before it). The arcs are read once for each
    group, by one thread; w of 1, 2, 4 and 8 are compiled. Sums are taken in float64; differentiable in scale, bias, x
    and weights.

    x : [g, n, w], any floating dtype; it may be overwritten.
    scale : [n], the share of its value that a vertex sends.
    bias : [g, n, w], of the dtype of x.
    alpha : a number that multiplies what is received.
    weighted : arcs count by the weights of the graph.

    Raises ArgumentError for tensors that do not fit the graph, and missing weights.

    >>> graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> x, moved = torch.zeros(1, 3, 1), torch.ones(1, 1)
    >>> while moved > 1e-6:
    ...     x, moved = tg.primitives.gauss_seidel.sweep_columns(
    ...         graph, x, scale=torch.ones(3), bias=torch.ones(1, 3, 1), alpha=0.5
    ...     )
    >>> x.flatten().round(decimals=3)
    tensor([2., 2., 2.])
    """
    n = graph.num_vertices
    if x.dim() != 3 or x.shape[1] != n or not x.is_floating_point():
        raise ArgumentError(f"x: expected [g, {n}, w] of a floating dtype, got {list(x.shape)} of {x.dtype}")
    if bias.shape != x.shape or bias.dtype != x.dtype:
        raise ArgumentError(f"bias: expected {list(x.shape)} of {x.dtype}, got {list(bias.shape)} of {bias.dtype}")
    if scale.shape != (n,):
        raise ArgumentError(f"scale: expected [{n}], got {list(scale.shape)}")
    if weighted and graph.weight_dtype is None:
        raise ArgumentError("weighted: the graph has no weights; leave weighted=False")
    if x.numel() == 0:
        return x, x.new_zeros(len(x), x.shape[2])
    graph.ensure_valid()
    arcs = graph.transpose().decoded()
    return gauss_seidel_columns(arcs.offset, arcs.neighbors, arcs.weights if weighted else None, scale, x, bias, alpha)
