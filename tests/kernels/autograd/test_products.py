"""The gradient of a product by segments: with zeros, of any order, in operators of torch and compiled."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import same_on_threads

from tgraph.core.system import native
from tgraph.kernels.autograd import segments
from tgraph.kernels.operators.aggregation.segments import multiply_others

LENGTHS = (0, 1, 2, 3, 4, 5, 0, 7, 8, 9, 16, 17, 33, 1, 0)


def segments_of(lengths):
    return torch.tensor([0, *lengths]).cumsum(0)


def expected(grad, messages, offset):
    """By two loops."""
    result = torch.empty_like(messages)
    for s in range(len(offset) - 1):
        inside = messages[offset[s] : offset[s + 1]]
        for i in range(len(inside)):
            result[offset[s] + i] = grad[s] * torch.cat((inside[:i], inside[i + 1 :])).prod(0)
    return result


def drawn(lengths, shape, dtype=torch.float64, zeros=0.2, seed=0):
    """Of whole numbers, so that products are exact, zeros among them."""
    random = torch.Generator().manual_seed(seed)
    messages = torch.randint(1, 3, (sum(lengths), *shape), generator=random)
    messages = messages.masked_fill(torch.rand(messages.shape, generator=random) < zeros, 0)
    return torch.randint(-3, 4, (len(lengths), *shape), generator=random).to(dtype), messages.to(dtype)


@given(st.lists(st.integers(0, 20), max_size=8), st.sampled_from([(), (1,), (3,), (2, 2), (0,)]), st.integers(0, 99))
def test_others_are_multiplied(lengths, shape, seed):
    offset = segments_of(lengths)
    for dtype in (torch.float32, torch.float64):
        grad, messages = drawn(lengths, shape, dtype, 0.05 * (seed % 5), seed)
        exact = expected(grad, messages, offset)
        for compute in (multiply_others.portable, multiply_others):
            assert torch.equal(compute(grad, messages, offset), exact)


def test_what_overflows_or_underflows_is_not_divided_back():
    offset, grad = segments_of((3,)), torch.ones(1)
    for messages, others in (([1e30, 1e30, 1e-5], [1e25, 1e25, torch.inf]), ([1e-30, 1e-30, 1e5], [1e-25, 1e-25, 0])):
        for compute in (multiply_others.portable, multiply_others):
            found = compute(grad, torch.tensor(messages), offset)
            torch.testing.assert_close(found, torch.tensor(others), rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("zeros", [(), (4,), (4, 5), (3, 4, 5), (0, 9)])
def test_derivatives_of_any_order(zeros):
    """Segments of 3, 0, 4, 1 and 2 messages; zeros one, two and three to a segment."""
    offset, random = segments_of((3, 0, 4, 1, 2)), torch.Generator().manual_seed(1)
    messages = torch.randn((10, 2), dtype=torch.float64, generator=random)
    messages[list(zeros)] = 0
    messages.requires_grad_()

    def product(x):
        return segments.segment_reduce(x, offset, "prod")

    def gradient(x):
        return torch.autograd.grad(product(x).sin().sum(), x, create_graph=True)[0]

    assert torch.autograd.gradcheck(product, messages)
    assert torch.autograd.gradgradcheck(product, messages)
    assert torch.autograd.gradgradcheck(gradient, messages)


@pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
def test_the_compiled_gradient_does_not_depend_on_threads():
    lengths = LENGTHS * 400
    grad, messages = drawn(lengths, (20,), torch.float32)
    grad, messages = grad + 0.1, messages + 0.3
    same_on_threads(lambda: multiply_others(grad, messages, segments_of(lengths)))


@pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
@pytest.mark.parametrize("offset", [[0, 2, 1, 3], [1, 2, 3], [0, 2], [0, 5, 3], [], [-1, 3]])
def test_the_kernel_refuses_offsets_that_lead_elsewhere(offset):
    with pytest.raises(ValueError, match="offset"):
        multiply_others(torch.ones(max(0, len(offset) - 1)), torch.ones(3), torch.tensor(offset, dtype=torch.int64))
