"""Steps of a linear iteration by CUDA kernels, on the host and on a GPU where there is one."""

import pytest
import torch
from strategies import random_graph

from tgraph.core.subgraph import whole
from tgraph.kernels import portable
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import linear
from tgraph.kernels.portable.linear import Coefficients


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("blocks", [1, 3])
def test_steps_are_those_of_the_portable_backend(device, dtype, weighted, blocks):
    graph = random_graph(40, 900).to(device)
    random = torch.Generator().manual_seed(1)
    heard, before, scale, bias, measure = torch.rand((5, 40), generator=random, dtype=dtype).to(device)
    weights = torch.rand(graph.num_arcs, generator=random, dtype=dtype).to(device) if weighted else None
    sub = whole(graph, graph.everything(), "pull")
    for coefficients in (Coefficients(blocks=blocks), Coefficients(scale * (scale > 0.3), bias, measure, blocks)):
        found, expected = (
            step(sub, coefficients, heard.clone(), before, weights, 0.5, 2.0)
            for step in (linear.affine_step, portable.affine_step)
        )
        for one, other in zip(
            (found.values, found.sent, found.change, found.total, found.unsent),
            (expected.values, expected.sent, expected.change, expected.total, expected.unsent),
            strict=True,
        ):
            torch.testing.assert_close(one, other)


def test_refusals():
    values = torch.ones(3)
    assert linear.refuses(Call("affine_step", values)) is None
    assert "float16" in linear.refuses(Call("affine_step", values.half()))
    assert "gradients" in linear.refuses(Call("affine_step", values.requires_grad_()))
