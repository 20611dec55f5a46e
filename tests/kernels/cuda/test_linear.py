"""Steps of an affine iteration by CUDA kernels, on the host and on a GPU where there is one."""

import pytest
import torch
from backends import portable
from strategies import random_graph

from tgraph.core.subgraph import whole
from tgraph.kernels import choose
from tgraph.kernels.affine import AffineStep
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import linear


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_steps_are_those_of_the_portable_backend(device, dtype, weighted):
    graph = random_graph(40, 900).to(device)
    random = torch.Generator().manual_seed(1)
    x, before, scale, bias, measure = torch.rand((5, 40), generator=random, dtype=dtype).to(device)
    weights = torch.rand(graph.num_arcs, generator=random, dtype=dtype).to(device) if weighted else None
    sub = whole(graph, graph.everything(), "pull")
    for coefficients in ({}, {"scale": scale * (scale > 0.3), "bias": bias, "measure": measure}):
        step = AffineStep(x, before, **coefficients, weighted=weighted, weights=weights, alpha=0.5, beta=2.0)
        found, expected = linear.affine_step(sub, step), portable.affine_step(sub, step)
        for name in ("values", "next_x", "change", "total", "dangling_mass"):
            torch.testing.assert_close(getattr(found, name), getattr(expected, name))


def test_blocks_are_left_to_the_portable_backend(device):
    graph = random_graph(40, 900).to(device)
    sub = whole(graph, graph.everything(), "pull", "portable")
    x = torch.ones(40, device=device)
    call = Call("gauss_seidel_step", x, sub=sub)
    assert device.type == "cpu" or choose("auto", call).backend.name == "portable"
    found = portable.gauss_seidel_step(sub, AffineStep(x, x, alpha=0.5), 3, 1.0)
    cpu = whole(graph.to("cpu"), graph.to("cpu").everything(), "pull", "portable")
    expected = portable.gauss_seidel_step(cpu, AffineStep(x.cpu(), x.cpu(), alpha=0.5), 3, 1.0)
    torch.testing.assert_close(found.values.cpu(), expected.values)


def test_refusals():
    values = torch.ones(3)
    assert linear.refuses(Call("affine_step", values)) is None
    assert "float16" in linear.refuses(Call("affine_step", values.half()))
    assert "gradients" in linear.refuses(Call("affine_step", values.requires_grad_()))
