"""The compiled kernels of operations on edges: against the portable ones, on several threads, of arrays that lie."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from native_samples import on_threads

from tgraph.core import native
from tgraph.core.building import sorting
from tgraph.kernels.autograd import edges
from tgraph.kernels.native.attention import edges as compiled
from tgraph.kernels.portable import edges as portable
from tgraph.kernels.portable.edges import Sides
from tgraph.primitives.attention import Csr
from tgraph.primitives.edges import edge_softmax, u_op_v

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")


def arcs(num_sources, num_targets, num_arcs, positions=False, index=torch.int32, seed=0):
    """Csr from all sources, a third of them to target 0; the last target is isolated."""
    random = torch.Generator().manual_seed(seed)
    source = torch.randint(0, num_sources, (num_arcs,), generator=random)
    target = torch.randint(0, max(num_targets - 1, 1), (num_arcs,), generator=random)
    target[: num_arcs // 3] = 0
    size = max(num_sources, num_targets)
    offset, neighbors, position = sorting.sort_edges(target, source, size, permutation=True)
    return Csr(offset[: num_targets + 1], neighbors.to(index), position if positions else None, num_sources)


def sides(made):
    return Sides(made.offset, made.neighbors, made.permutation, *made.transposed()[:2], made.transposed_permutation())


def data(*shape, dtype=torch.float64, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype) + 3


samples = given(
    st.integers(1, 9), st.integers(1, 9), st.integers(0, 60), st.booleans(),
    st.sampled_from([torch.int32, torch.int64]), st.sampled_from([torch.float32, torch.float64]),
    st.integers(1, 17), st.integers(1, 9), st.integers(0, 99),
)  # fmt: skip


@samples
@settings(max_examples=60)
def test_both_backends_agree(num_sources, num_targets, num_arcs, positions, index, dtype, heads, span, seed):
    made = arcs(num_sources, num_targets, num_arcs, positions, index, seed)
    for held, n, k in ((sides(made), num_sources, num_targets), (sides(made).opposite(), num_targets, num_sources)):
        u, v = data(n, heads * span, dtype=dtype), data(k, heads * span, dtype=dtype, seed=2)
        for operation in ("add", "sub", "mul", "div", "dot"):
            given = (u, v, held, operation, heads)
            torch.testing.assert_close(compiled.apply_at_ends(*given), portable.apply_at_ends(*given))
        weight, wide = data(num_arcs, heads, dtype=dtype, seed=3), data(num_arcs, heads * span, dtype=dtype)
        for given in ((weight, u, held), (wide, u, held), (weight, None, held)):
            torch.testing.assert_close(compiled.sum_edges(*given), portable.sum_edges(*given))
        alpha = compiled.edge_softmax(10 * weight, held)
        torch.testing.assert_close(alpha, portable.edge_softmax(10 * weight, held))
        given = (weight, alpha, held)
        torch.testing.assert_close(compiled.edge_softmax_gradient(*given), portable.edge_softmax_gradient(*given))


@pytest.mark.parametrize("heads", [1, 3, 4, 8, 20])
def test_softmax_of_what_is_no_number(heads):
    made = arcs(9, 7, 80)
    held, score = sides(made), data(80, heads) * 100
    score[::7], score[3], score[-1] = -torch.inf, torch.inf, torch.nan
    score[made.offset[2] : made.offset[3]] = -torch.inf
    expected = portable.edge_softmax(score, held)
    torch.testing.assert_close(compiled.edge_softmax(score, held), expected, equal_nan=True)
    assert expected.isnan().any() and (expected == 0).any()


def test_products_are_summed_piece_by_piece(monkeypatch):
    made = arcs(9, 7, 80, positions=True)
    given = (data(9, 12), data(7, 12), sides(made), "dot", 3)
    whole = portable.apply_at_ends(*given)
    monkeypatch.setattr(portable, "MOST_AT_ONCE", 100)
    assert torch.equal(portable.apply_at_ends(*given), whole)


def test_results_do_not_depend_on_threads():
    made = arcs(3000, 2000, 150_000, positions=True)

    def computed():
        u, v = (data(n, 4, 8, dtype=torch.float32, seed=n).requires_grad_() for n in (3000, 2000))
        alpha = edge_softmax(made, u_op_v(made, "dot", u, v))
        quotient = u_op_v(made, "div", u[:, :, 0], v[:, :, 0])
        return alpha, quotient, *torch.autograd.grad((alpha * quotient).square().sum(), (u, v))

    alone, *others = on_threads(computed)
    for other in others:
        assert all(torch.equal(*pair) for pair in zip(alone, other, strict=True))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_numbers(dtype):
    made = arcs(9, 7, 80, positions=True)
    u, v = data(9, 2, 5, dtype=dtype), data(7, 2, 5, dtype=dtype)
    found, expected = u_op_v(made, "dot", u, v), u_op_v(made, "dot", u.double(), v.double())
    assert found.dtype == dtype
    torch.testing.assert_close(found, expected.to(dtype))
    torch.testing.assert_close(edge_softmax(made, found), edge_softmax(made, found.double()).to(dtype))


def test_operators_are_registered_rightly():
    made = arcs(9, 7, 40, positions=True)
    held = sides(made)
    u, v = (data(n, 4).requires_grad_() for n in (9, 7))
    weight = data(40, 2).requires_grad_()
    for operation in ("sub", "div", "dot"):
        torch.library.opcheck(edges.apply_at_ends, (u, v, *held, operation, 2, "auto"))
    torch.library.opcheck(edges.sum_edges, (weight, u, *held, "auto"))
    torch.library.opcheck(edges.sum_edges, (weight, None, *held, "auto"))
    torch.library.opcheck(edges.edge_softmax, (weight, *held[:3], "auto"))
    torch.library.opcheck(edges.edge_softmax_gradient, (weight, weight.detach().requires_grad_(), *held[:3], "auto"))


def test_arrays_that_do_not_fit_are_refused():
    made = arcs(9, 7, 40, positions=True)
    held, u, v, weight = sides(made), data(9, 4), data(7, 4), data(40, 2)
    wrong = [
        held._replace(offset=held.offset + 1),
        held._replace(offset=held.offset.flip(0)),
        held._replace(number=held.number + 1),
        held._replace(number=held.number[:-1]),
    ]
    for lying in wrong:
        for call in (
            lambda lying=lying: compiled.apply_at_ends(u, v, lying, "dot", 2),
            lambda lying=lying: compiled.sum_edges(weight, u, lying),
            lambda lying=lying: compiled.edge_softmax(weight, lying),
            lambda lying=lying: compiled.edge_softmax_gradient(weight, weight, lying),
        ):
            with pytest.raises((ValueError, IndexError)):
                call()
    beyond = held._replace(neighbors=held.neighbors + 9)
    with pytest.raises(IndexError, match="neighbors"):
        compiled.apply_at_ends(u, v, beyond, "add", 4)
    with pytest.raises(ValueError, match="target"):
        compiled.apply_at_ends(u, v[:-1], held, "add", 4)
    with pytest.raises(ValueError, match="weight"):
        compiled.sum_edges(weight[:-1], u, held)
