"""Attention by CUDA kernels against the portable twin in float64."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tgraph.kernels.bipartite import Arcs
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import attention, bins, pull, runtime
from tgraph.kernels.cuda.attention import FLOATS, SCORES
from tgraph.kernels.portable import attention as portable
from tgraph.kernels.portable.attention import Inputs, Way

CLOSE = {torch.float32: 2e-4, torch.float64: 1e-10, torch.bfloat16: 3e-2, torch.float16: 5e-3}
SHAPES = [(1, 1), (3, 1), (2, 3), (1, 7), (8, 8), (4, 32), (2, 64), (1, 100), (2, 160), (1, 300)]


@pytest.fixture
def prepared(device, host):
    """The device, with all kernels compiled at once where it is the shim."""
    if device.type == "cpu":
        prepare(host)
    return device


def prepare(host):
    host.prepare([*attention.instantiations(), *joins()])


def joins():
    wanted = [*attention.instantiations()]
    types = {kernel.types[0] for kernel in wanted}
    return [k for k in pull.instantiations() if k.name == "join_tiles" and k.types[0] in types and "Sum" in k.types[1]]


@pytest.fixture
def small_tiles(monkeypatch):
    """Bins and tiles whose borders small rows pass: a long row has more than 20 arcs, tiles of 8, and 5 at most."""
    monkeypatch.setattr(bins, "BINS", ((2, 1), (6, 8), (20, 32)))
    monkeypatch.setattr(attention, "TILE", 8)
    monkeypatch.setattr(attention, "MAX_TILES", 5)


def arcs_of(src, dst, num_sources, num_targets, dtype=torch.int32, positions=True):
    order = torch.argsort(dst, stable=True)
    offset = torch.zeros(num_targets + 1, dtype=torch.int64)
    offset[1:] = torch.bincount(dst, minlength=num_targets).cumsum(0)
    return Arcs(offset, src[order].to(dtype), order if positions else None, num_sources)


def random_arcs(num_sources=9, num_targets=7, arcs=150, seed=0, **options):
    """A third of the arcs lead to the first target and a third come from the first source; the last of both have
    none. Some arcs are there twice."""
    random = torch.Generator().manual_seed(seed)
    src = torch.randint(max(num_sources - 1, 1), (arcs,), generator=random)
    dst = torch.randint(max(num_targets - 1, 1), (arcs,), generator=random)
    dst[: arcs // 3] = 0
    src[arcs // 4 : arcs // 2] = 0
    return arcs_of(src, dst, num_sources, num_targets, **options)


def inputs_of(score, arcs, heads, columns, edges, dtype, seed=0):
    random = torch.Generator().manual_seed(seed)

    def drawn(*shape):
        return torch.randn(shape, generator=random, dtype=torch.float64).mul_(0.5).to(dtype)

    inner = (heads,) if score == "gat" else (heads, columns)
    source, target = drawn(arcs.num_sources, *inner), drawn(arcs.num_destinations, *inner)
    value = None if score == "gatv2" else drawn(arcs.num_sources, heads, columns)
    edge = drawn(arcs.num_arcs, *inner) if edges else None
    return Inputs(source, target, value, edge, drawn(*inner) if score == "gatv2" else None)


def way_of(arcs, score, dropout=0.0, seed=5):
    held = (arcs.offset, arcs.neighbors, arcs.position)
    return Way(*held, score, 0.3, dropout, torch.tensor([seed]) if dropout else None)


def moved(parts, device):
    return [part.to(device) if isinstance(part, torch.Tensor) else part for part in parts]


def close(found, expected, dtype):
    assert found.shape == expected.shape
    torch.testing.assert_close(found.cpu().double(), expected, rtol=CLOSE[dtype], atol=CLOSE[dtype], equal_nan=True)


def compare(arcs, inputs, way, device, wanted=None):
    """Result, logsumexp, weights and gradients. What they are computed from is rounded in the same way."""
    dtype = inputs.sent.dtype
    exact = Inputs(*(None if x is None else x.double() for x in inputs))
    here, along = Inputs(*moved(inputs, device)), Way(*moved(way, device))
    expected = portable.attend(exact, way)
    out, logsumexp = attention.attend(here, along)
    assert out.dtype == dtype and logsumexp.dtype == attention.number_of(dtype)
    close(out, expected[0], dtype)
    close(logsumexp, expected[1], torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype)
    weights = portable.attention_weights(exact, way, expected[1])
    close(attention.attention_weights(here, along, logsumexp), weights, dtype)
    grad = torch.randn(out.shape, generator=torch.Generator().manual_seed(9)).to(dtype)
    wanted = [x is not None for x in inputs] if wanted is None else wanted
    back = arcs.transposed(numbered=True)
    found = attention.attend_backward(
        grad.to(device), out, logsumexp, here, along, moved(back, device), wanted
    )
    # The rounded result is what the kernels are given, and 16-bit gradients inherit its error.
    told = (out.cpu().double(), logsumexp.cpu().double())
    expected = portable.attend_backward(grad.double(), *told, exact, way, back, wanted)
    for part, other, x in zip(found, expected, inputs, strict=True):
        assert (part is None) == (other is None)
        if part is not None:
            assert part.dtype == dtype and part.shape == x.shape
            scale = max(float(other.abs().max()), 1.0) if other.numel() else 1.0
            close(part / scale, other / scale, dtype)
    return out, logsumexp, *found


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("heads", "columns"), SHAPES)
def test_agrees_with_the_portable_twin(prepared, small_tiles, score, dtype, heads, columns):
    for edges, dropout, index in ((False, 0.0, torch.int32), (True, 0.4, torch.int64)):
        arcs = random_arcs(dtype=index, positions=edges)
        compare(arcs, inputs_of(score, arcs, heads, columns, edges, dtype), way_of(arcs, score, dropout), prepared)
