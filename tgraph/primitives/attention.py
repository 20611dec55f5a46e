"""Attention over arcs: every destination receives the weighted sum of what its sources hold.

    score    of an arc, for each head: from what is at its source, at its target, and on the edge
    alpha    the softmax of the scores over the arcs that lead to a destination, then dropout
    result   the sum of alpha * value, [n_dst, heads, columns]; 0 where no arc leads

`gat` is Velickovic et al., "Graph attention networks" (ICLR 2018), `gatv2` Brody et al., "How attentive are graph
attention networks?" (ICLR 2022), `dot` Shi et al., "Masked label prediction" (IJCAI 2021). Each is one operator that
holds nothing of the size of the arcs: scores, softmax and sum are one pass (Milakov and Gimelshein, "Online normalizer
calculation for softmax", 2018), of which the greatest score and the sum, [n_dst, heads] each, are kept for the backward
pass to compute the weights again, as in "On Efficient Scaling of GNNs via IO-Aware Layers Implementations" (2026).

What is common to all six functions:

arcs : `Csr`, whose rows are the destinations. Features of edges, and the weights that the twins `..._weights` return,
    lie in the order that `arcs.permutation` gives. Or `RowsInParts`, those of a graph in a layout, decoded part by part
    in the forward and in the backward pass; without features of edges and without twins.
dropout, training : the probability that an arc is left out for a head, after the softmax; those that stay are scaled
    by 1 / (1 - dropout). Only in training.
seed : int64 [1], of the random numbers that decide which arcs are left out; None draws it from torch's generator. A
    function and its twin agree for the same seed, from `draw`.
backend : names the kernels. The compiled ones serve float32 and float64 on the CPU, and 16-bit numbers too on a CUDA
    device; float16 and bfloat16 are computed in float32 and rounded at the end.

Differentiable in all floating tensors. First derivatives take memory of the size of the vertices, higher ones and
those of the twins of the size of the arcs. Results do not depend on the number of threads.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.system.library import in_functorch, needs_grad
from tgraph.errors import ArgumentError
from tgraph.kernels.autograd import attention as operators
from tgraph.kernels.autograd import attention_in_parts, eager_attention
from tgraph.kernels.layout.in_parts import RowsInParts
from tgraph.kernels.operators import attention as portable
from tgraph.kernels.operators.attention import AttentionSpec, Inputs

__all__ = ["Csr", "RowsInParts", "dot", "dot_weights", "draw", "gat", "gat_weights", "gatv2", "gatv2_weights"]


def draw(device: torch.device | str = "cpu") -> Tensor:
    """A seed from torch's generator, int64 [1] on the `device`.

    >>> seed = tg.primitives.attention.draw()
    >>> seed.shape, seed.dtype
    (torch.Size([1]), torch.int64)
    """
    return torch.randint(0, 2**63 - 1, (1,), device=device)


def gat(
    arcs: Csr | RowsInParts,
    value: Tensor,
    source_score: Tensor,
    target_score: Tensor,
    edge_score: Tensor | None = None,
    *,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
    training: bool = False,
    seed: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """The sums of alpha * value by the scores leaky_relu(source_score + target_score + edge_score).

    value : [n_src, heads, columns]. source_score : [n_src, heads]. target_score : [n_dst, heads]. edge_score :
    [E, heads] or None. negative_slope : of the leaky_relu. Returns [n_dst, heads, columns].
    Raises ArgumentError for tensors of other shapes, dtypes or devices than these, and dropout outside 0..1.

    >>> from tgraph.primitives import attention
    >>> arcs = attention.Csr(torch.tensor([0, 2]), torch.tensor([0, 1]), None, num_columns=2)
    >>> value = torch.tensor([[[10.0]], [[20.0]]])
    >>> attention.gat(arcs, value, source_score=torch.zeros(2, 1), target_score=torch.zeros(1, 1))
    tensor([[[15.]]])
    """
    inputs = Inputs(source_score, target_score, value, edge_score, None)
    return _attend(arcs, inputs, _spec(arcs, "gat", negative_slope, dropout, training, seed), backend)


def gat_weights(
    arcs: Csr,
    source_score: Tensor,
    target_score: Tensor,
    edge_score: Tensor | None = None,
    *,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
    training: bool = False,
    seed: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """The alpha of `gat`, [E, heads] in the order of the edges. The parameters are those of `gat`.

    >>> from tgraph.primitives import attention
    >>> arcs = attention.Csr(torch.tensor([0, 2]), torch.tensor([0, 1]), None, num_columns=2)
    >>> attention.gat_weights(arcs, torch.tensor([[3.0], [1.0]]), torch.zeros(1, 1)).round(decimals=3)
    tensor([[0.8810],
            [0.1190]])
    """
    value = source_score[..., None].detach()
    inputs = Inputs(source_score, target_score, value, edge_score, None)
    return _weights(arcs, inputs, _spec(arcs, "gat", negative_slope, dropout, training, seed), backend)


def gatv2(
    arcs: Csr | RowsInParts,
    source: Tensor,
    target: Tensor,
    attention: Tensor,
    edge: Tensor | None = None,
    *,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
    training: bool = False,
    seed: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """The sums of alpha * source by the scores sum(attention * leaky_relu(source + target + edge)) over the columns.

    source : [n_src, heads, columns]. target : [n_dst, heads, columns]. attention : [heads, columns]. edge :
    [E, heads, columns] or None. negative_slope : of the leaky_relu. Returns [n_dst, heads, columns].
    Raises ArgumentError for tensors of other shapes, dtypes or devices than these, and dropout outside 0..1.

    >>> from tgraph.primitives import attention
    >>> arcs = attention.Csr(torch.tensor([0, 2]), torch.tensor([0, 1]), None, num_columns=2)
    >>> source = torch.tensor([[[10.0]], [[20.0]]])
    >>> attention.gatv2(arcs, source, torch.zeros(1, 1, 1), attention=torch.zeros(1, 1))
    tensor([[[15.]]])
    """
    inputs = Inputs(source, target, None, edge, attention)
    return _attend(arcs, inputs, _spec(arcs, "gatv2", negative_slope, dropout, training, seed), backend)


def gatv2_weights(
    arcs: Csr,
    source: Tensor,
    target: Tensor,
    attention: Tensor,
    edge: Tensor | None = None,
    *,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
    training: bool = False,
    seed: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """The alpha of `gatv2`, [E, heads] in the order of the edges. The parameters are those of `gatv2`.

    >>> from tgraph.primitives import attention
    >>> arcs = attention.Csr(torch.tensor([0, 2]), torch.tensor([0, 1]), None, num_columns=2)
    >>> source = torch.tensor([[[3.0]], [[1.0]]])
    >>> attention.gatv2_weights(arcs, source, torch.zeros(1, 1, 1), torch.ones(1, 1)).round(decimals=3)
    tensor([[0.8810],
            [0.1190]])
    """
    inputs = Inputs(source, target, None, edge, attention)
    return _weights(arcs, inputs, _spec(arcs, "gatv2", negative_slope, dropout, training, seed), backend)


def dot(
    arcs: Csr | RowsInParts,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    edge: Tensor | None = None,
    *,
    scale: float | None = None,
    dropout: float = 0.0,
    training: bool = False,
    seed: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """The sums of alpha * (value + edge) by the scores scale * sum(query * (key + edge)) over the columns.

    query : [n_dst, heads, columns]. key, value : [n_src, heads, columns]. edge : [E, heads, columns] or None. scale :
    1 / sqrt(columns) where it is None. Returns [n_dst, heads, columns].
    Raises ArgumentError for tensors of other shapes, dtypes or devices than these, and dropout outside 0..1.

    >>> from tgraph.primitives import attention
    >>> arcs = attention.Csr(torch.tensor([0, 2]), torch.tensor([0, 1]), None, num_columns=2)
    >>> key, value = torch.zeros(2, 1, 1), torch.tensor([[[10.0]], [[20.0]]])
    >>> attention.dot(arcs, torch.ones(1, 1, 1), key, value)
    tensor([[[15.]]])
    """
    inputs = Inputs(key, query, value, edge, None)
    return _attend(arcs, inputs, _spec(arcs, "dot", _scale(key, scale), dropout, training, seed), backend)


def dot_weights(
    arcs: Csr,
    query: Tensor,
    key: Tensor,
    edge: Tensor | None = None,
    *,
    scale: float | None = None,
    dropout: float = 0.0,
    training: bool = False,
    seed: Tensor | None = None,
    backend: str = "auto",
) -> Tensor:
    """The alpha of `dot`, [E, heads] in the order of the edges. The parameters are those of `dot`.

    >>> from tgraph.primitives import attention
    >>> arcs = attention.Csr(torch.tensor([0, 2]), torch.tensor([0, 1]), None, num_columns=2)
    >>> key = torch.tensor([[[3.0]], [[1.0]]])
    >>> attention.dot_weights(arcs, torch.ones(1, 1, 1), key).round(decimals=3)
    tensor([[0.8810],
            [0.1190]])
    """
    inputs = Inputs(key, query, key.detach(), edge, None)
    return _weights(arcs, inputs, _spec(arcs, "dot", _scale(key, scale), dropout, training, seed), backend)


def _scale(key: Tensor, scale: float | None) -> float:
    return max(key.shape[-1], 1) ** -0.5 if scale is None else scale


def _spec(
    arcs: Csr | RowsInParts, score: str, factor: float, dropout: float, training: bool, seed: Tensor | None
) -> AttentionSpec:
    if not 0 <= dropout <= 1:
        raise ArgumentError(f"dropout: expected a probability from 0 to 1, got {dropout}")
    drops = training and dropout > 0
    seed = draw(arcs.device) if drops and seed is None else seed
    return AttentionSpec(score, float(factor), float(dropout) if drops else 0.0, seed if drops else None)


def _attend(arcs: Csr | RowsInParts, inputs: Inputs, spec: AttentionSpec, backend: str) -> Tensor:
    _check(arcs, inputs, spec)
    if isinstance(arcs, RowsInParts):
        if not in_functorch():
            wide = operators.widened(inputs, "torch")
            return attention_in_parts.attend(wide, arcs, spec, backend).to(inputs.sent.dtype)
        arcs = arcs.whole()
    if eager_attention.serves(arcs, inputs, backend):
        return eager_attention.attend(arcs, inputs, spec)
    transpose = eager_attention.transpose_of(arcs, inputs, spec) if needs_grad(*inputs) else None
    dtype = inputs.sent.dtype
    if in_functorch():  # torch.func has rules for torch's own operators alone
        return portable.attend_recorded(operators.widened(inputs, "torch"), arcs, spec).to(dtype)
    return operators.attend_directly(operators.widened(inputs, backend), arcs, spec, transpose, backend)[0].to(dtype)


def _weights(arcs: Csr, inputs: Inputs, spec: AttentionSpec, backend: str) -> Tensor:
    _check(arcs, inputs, spec)
    dtype, inputs = inputs.sent.dtype, operators.widened(inputs, backend)
    if needs_grad(*inputs) or in_functorch():
        return portable.attention_weights(inputs, arcs, spec).to(dtype)
    statistics = operators.attend(inputs, arcs, spec, None, backend)[1]
    return operators.attention_weights(statistics, inputs, arcs, spec, backend).to(dtype)


# ---- what must fit --------------------------------------------------------------------------------------------------

_NAMES = {
    "gat": ("source_score", "target_score", "value", "edge_score", ""),
    "gatv2": ("source", "target", "", "edge", "attention"),
    "dot": ("key", "query", "value", "edge", ""),
}


def _check(arcs: Csr | RowsInParts, inputs: Inputs, spec: AttentionSpec) -> None:
    names = _NAMES[spec.score]
    if inputs.edge is not None and isinstance(arcs, RowsInParts):
        raise ArgumentError(f"{names[3]}: rows that are decoded part by part have no order of edges; give a Csr")
    first = inputs.sent
    if not isinstance(first, Tensor) or first.dim() != 3 or not first.is_floating_point():
        got = f"{first.dtype} {list(first.shape)}" if isinstance(first, Tensor) else type(first).__name__
        name = names[2] or names[0]
        raise ArgumentError(f"{name}: expected a floating tensor [n_src, heads, columns], got {got}")
    inner = tuple(first.shape[1:2] if spec.score == "gat" else first.shape[1:])
    shapes = (
        (arcs.num_columns, *inner),
        (arcs.num_rows, *inner),
        (arcs.num_columns, *first.shape[1:]),
        (arcs.num_arcs, *inner),
        inner,
    )
    for name, tensor, shape in zip(names, inputs, shapes, strict=True):
        if tensor is not None:
            _check_tensor(name, tensor, shape, first, arcs)
    if spec.seed is not None and (spec.seed.shape != (1,) or spec.seed.dtype != torch.int64):
        raise ArgumentError(f"seed: expected int64 [1], got {spec.seed.dtype} {list(spec.seed.shape)}; use draw()")


def _check_tensor(name: str, tensor: Tensor, shape: tuple[int, ...], first: Tensor, arcs: Csr | RowsInParts) -> None:
    if not isinstance(tensor, Tensor) or tuple(tensor.shape) != shape:
        got = list(tensor.shape) if isinstance(tensor, Tensor) else type(tensor).__name__
        raise ArgumentError(f"{name}: expected a tensor {list(shape)}, got {got}")
    if tensor.dtype != first.dtype:
        raise ArgumentError(f"{name}: is {tensor.dtype} and the data {first.dtype}; use {name}.to({first.dtype})")
    if tensor.device != arcs.device:
        raise ArgumentError(f"{name}: on {tensor.device} while the arcs are on {arcs.device}; use {name}.to")
