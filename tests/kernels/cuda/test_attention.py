"""Attention by CUDA kernels against the portable twin in float64."""

import pytest
import torch
from attention_samples import arcs_of, random_arcs, rectangular
from hypothesis import given, settings
from hypothesis import strategies as st

from tgraph import kernels
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import attention, bins, pull, runtime
from tgraph.kernels.cuda.attention import FLOATS, SCORES
from tgraph.kernels.operators import attention as portable
from tgraph.kernels.operators.attention import AttentionSpec, Inputs
from tgraph.primitives import attention as primitives

CLOSE = {torch.float32: 2e-4, torch.float64: 1e-10, torch.bfloat16: 3e-2, torch.float16: 5e-3}
SHAPES = {
    torch.float32: [(1, 1), (3, 1), (2, 3), (1, 7), (8, 8), (4, 32), (2, 64), (1, 100), (2, 160), (1, 270)],
    torch.float64: [(2, 3), (4, 32), (1, 100)],
    torch.float16: [(2, 7), (2, 64), (1, 100), (1, 264)],
    torch.bfloat16: [(2, 1), (8, 8), (1, 100), (1, 257)],
}


@pytest.fixture
def prepared(device, host):
    """The device, with all kernels compiled at once where it is the shim."""
    if device.type == "cpu":
        prepare(host)
    return device


def prepare(host):
    host.prepare([*attention.instantiations(), *joins()])


def joins():
    """Those of pulls that join tiles."""
    floats = {pull.TYPES[dtype] for dtype in FLOATS}
    sums = (kernel for kernel in pull.instantiations() if kernel.types[1] == "tgraph::Sum")
    return [kernel for kernel in sums if kernel.name == "join_tiles" and kernel.types[0] in floats]


@pytest.fixture
def small_tiles(monkeypatch):
    """Bins and tiles whose borders small rows pass: a long row has more than 20 arcs, tiles of 8, and 5 at most."""
    monkeypatch.setattr(bins, "BINS", ((2, 1), (6, 8), (20, 32)))
    monkeypatch.setattr(attention, "TILE", 8)
    monkeypatch.setattr(attention, "MAX_TILES", 5)


def inputs_of(score, arcs, heads, columns, edges, dtype, seed=0):
    random = torch.Generator().manual_seed(seed)

    def drawn(*shape):
        return torch.randn(shape, generator=random, dtype=torch.float64).mul_(0.5).to(dtype)

    inner = (heads,) if score == "gat" else (heads, columns)
    source, target = drawn(arcs.num_columns, *inner), drawn(arcs.num_rows, *inner)
    value = None if score == "gatv2" else drawn(arcs.num_columns, heads, columns)
    edge = drawn(arcs.num_arcs, *inner) if edges else None
    return Inputs(source, target, value, edge, drawn(*inner) if score == "gatv2" else None)


def spec_of(score, dropout=0.0, seed=5):
    return AttentionSpec(score, 0.3, dropout, torch.tensor([seed]) if dropout else None)


def moved(parts, device):
    return [part.to(device) if isinstance(part, torch.Tensor) else part for part in parts]


def close(found, expected, dtype):
    assert found.shape == expected.shape
    torch.testing.assert_close(found.cpu().double(), expected, rtol=CLOSE[dtype], atol=CLOSE[dtype], equal_nan=True)


def compare(arcs, inputs, spec, device, wanted=None):
    """Result, statistics, weights and gradients. What they are computed from is rounded in the same way."""
    dtype = inputs.sent.dtype
    exact = Inputs(*(None if x is None else x.double() for x in inputs))
    here = (Inputs(*moved(inputs, device)), arcs.to(device), AttentionSpec(*moved(spec, device)))
    expected = portable.attend(exact, arcs, spec)
    out, statistics = attention.attend(*here)
    assert out.dtype == dtype and statistics.dtype == attention.number_of(dtype)
    close(out, expected[0], dtype)
    close(statistics, expected[1], torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype)
    weights = portable.attention_weights(exact, arcs, spec, expected[1])
    close(attention.attention_weights(*here, statistics), weights, dtype)
    grad = torch.randn(out.shape, generator=torch.Generator().manual_seed(9)).to(dtype)
    wanted = [x is not None for x in inputs] if wanted is None else wanted
    back = arcs.transpose(numbered=True)
    found = attention.attend_backward(grad.to(device), out, statistics, *here, back.to(device), wanted)
    # The rounded result is what the kernels are given, and 16-bit gradients inherit its error.
    told = (out.cpu().double(), statistics.cpu().double())
    expected = portable.attend_backward(grad.double(), *told, exact, arcs, spec, back, wanted)
    for part, other, x in zip(found, expected, inputs, strict=True):
        assert (part is None) == (other is None)
        if part is not None:
            assert part.dtype == dtype and part.shape == x.shape
            scale = max(float(other.abs().max()), 1.0) if other.numel() else 1.0
            close(part / scale, other / scale, dtype)
    return out, statistics, *found


@pytest.mark.thorough
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("dtype", "heads", "columns"), [(dtype, *each) for dtype in FLOATS for each in SHAPES[dtype]])
def test_agrees_with_the_portable_twin(prepared, small_tiles, score, dtype, heads, columns):
    for edges, dropout, index in ((False, 0.0, torch.int32), (True, 0.4, torch.int64)):
        arcs = random_arcs(9, 7, 100, dtype=index, positions=edges)
        compare(arcs, inputs_of(score, arcs, heads, columns, edges, dtype), spec_of(score, dropout), prepared)


@pytest.mark.parametrize("score", SCORES)
def test_rows_that_are_not_cut(prepared, score):
    arcs = random_arcs(40, 30, 900)
    compare(arcs, inputs_of(score, arcs, 2, 8, True, torch.float32), spec_of(score, 0.2, 2**62 + 5), prepared)


@pytest.fixture(scope="module")
def on_host(host):
    """The shim alone, for all examples of a property."""
    prepare(host)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "launch", host.launch)
        patch.setattr(bins, "BINS", ((2, 1), (6, 8), (10, 32)))
        patch.setattr(attention, "TILE", 4)
        yield


@settings(max_examples=30)
@given(
    rectangular(), st.sampled_from(list(SCORES)), st.booleans(), st.integers(1, 3), st.integers(1, 18), st.booleans()
)
def test_any_graph(on_host, arcs, score, edges, heads, columns, drops):
    inputs = inputs_of(score, arcs, heads, columns, edges, torch.float64)
    compare(arcs, inputs, spec_of(score, 0.5 if drops else 0.0), torch.device("cpu"))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("sources", "targets", "arcs"), [(3, 2, 0), (0, 2, 0), (3, 0, 0), (0, 0, 0), (1, 1, 1)])
def test_empty_and_tiny(prepared, score, sources, targets, arcs):
    made = arcs_of(torch.zeros(arcs, dtype=torch.int64), torch.zeros(arcs, dtype=torch.int64), sources, targets)
    compare(made, inputs_of(score, made, 2, 3, True, torch.float32), spec_of(score), prepared)


@pytest.mark.parametrize("score", SCORES)
def test_data_that_is_not_aligned(prepared, score):
    """Rows that begin between multiples of 16 bytes, and tensors that are not contiguous."""
    arcs = random_arcs(9, 7, 100)
    inputs = inputs_of(score, arcs, 2, 8, True, torch.float32)
    shifted = [None if x is None else torch.empty(x.numel() + 1)[1:].view(x.shape).copy_(x) for x in inputs]
    strided = [None if x is None else x.transpose(0, 1).contiguous().transpose(0, 1) for x in inputs]
    for parts in (shifted, strided):
        compare(arcs, Inputs(*parts), spec_of(score), prepared)


@pytest.mark.parametrize("score", SCORES)
def test_the_order_of_threads_changes_no_bit(device, host, small_tiles, monkeypatch, score):
    arcs, found = random_arcs(9, 7, 100), []
    inputs = inputs_of(score, arcs, 2, 12, True, torch.float32)
    for seed in range(3):
        monkeypatch.setattr(host, "seed", seed)
        found.append(compare(arcs, inputs, spec_of(score, 0.3), device))
    for others in found[1:]:
        assert all(x is None or torch.equal(x, y) for x, y in zip(found[0], others, strict=True))


@pytest.mark.parametrize("score", SCORES)
def test_only_what_is_wanted_is_computed(prepared, small_tiles, score):
    arcs = random_arcs(9, 7, 100)
    inputs, spec = inputs_of(score, arcs, 2, 8, True, torch.float64), spec_of(score)
    for i, x in enumerate(inputs):
        if x is not None:
            compare(arcs, inputs, spec, prepared, [i == k for k in range(5)])


def test_teams_that_have_many_rows_give_the_gradient_of_the_vector(prepared, small_tiles, monkeypatch):
    """And grids that one launch does not take."""
    arcs = random_arcs(40, 60, 900)
    for heads, columns in ((2, 12), (3, 5)):
        inputs = inputs_of("gatv2", arcs, heads, columns, False, torch.float64)
        for threads in (1, 256):
            monkeypatch.setattr(attention, "VECTOR_THREADS", threads)
            compare(arcs, inputs, spec_of("gatv2"), prepared)
    monkeypatch.setattr(attention, "MAX_GRID", (2, 2))
    for score in SCORES:
        compare(arcs, inputs_of(score, arcs, 2, 12, True, torch.float64), spec_of(score), prepared)


def test_large_scores_and_edges_of_no_weight(prepared, small_tiles):
    arcs = random_arcs(9, 7, 100, positions=False)
    inputs = inputs_of("gat", arcs, 2, 4, True, torch.float64)
    inputs.source.mul_(1e4)
    inputs.edge[::3] = -torch.inf
    inputs.edge[int(arcs.offset[2]) : int(arcs.offset[3])] = -torch.inf  # of a whole row
    spec = spec_of("gat")
    expected = portable.attend(inputs, arcs, spec)
    here = AttentionSpec(*moved(spec, prepared))
    found = attention.attend(Inputs(*moved(inputs, prepared)), arcs.to(prepared), here)
    for part, other in zip(found, expected, strict=True):
        close(part, other, torch.float64)
    assert found[0][2].isnan().all()


# ---- as a backend ---------------------------------------------------------------------------------------------------


@pytest.fixture
def served(prepared, monkeypatch):
    """The device, on which the backend serves; that of the shim pretends to be one."""
    if prepared.type == "cpu":
        for name in ("attend", "attend_backward", "attention_weights"):
            offered = kernels.Implementation(getattr(attention, name), attention.refuses)
            monkeypatch.setitem(kernels.BACKENDS["cuda"].operators, name, offered)
    return prepared


def operands(arcs, dtype, device, edges=False):
    random = torch.Generator().manual_seed(3)
    shapes = [(arcs.num_columns, 2, 8), (arcs.num_rows, 2, 8), (2, 8), *[(arcs.num_arcs, 2, 8)] * edges]
    return [torch.randn(shape, generator=random).to(device, dtype).requires_grad_() for shape in shapes]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_primitive_calls_it(served, small_tiles, dtype):
    """16-bit data as it is, with gradients of its dtype."""
    arcs = random_arcs(9, 7, 100).to(served)
    given = operands(arcs, dtype, served)
    with kernels.watched() as choices:
        out = primitives.gatv2(arcs, *given, backend="cuda")
        found = torch.autograd.grad(out.sum(), given)
        alpha = primitives.gatv2_weights(arcs, *(x.detach() for x in given), backend="cuda")
    seen = 4 if served.type == "cpu" else 3  # on a GPU, gradients are computed by a thread that nobody watches
    assert [str(choice.backend.name) for choice in choices] == ["cuda"] * seen
    assert {choice.call.data.dtype for choice in choices} == {dtype} and alpha.dtype == out.dtype == dtype
    exact = [x.detach().double().requires_grad_() for x in given]
    expected = primitives.gatv2(arcs, *exact, backend="portable")
    close(out, expected.cpu(), dtype)
    for part, other in zip(found, torch.autograd.grad(expected.sum(), exact), strict=True):
        close(part / 10, other.cpu() / 10, dtype)


def test_gradients_are_derivatives(served):
    arcs = random_arcs(4, 4, 9).to(served)
    given = operands(arcs, torch.float64, served, edges=True)
    options = {"dropout": 0.3, "training": True, "seed": torch.tensor([3], device=served), "backend": "cuda"}

    def function(*x):
        return primitives.gatv2(arcs, *x, **options)

    assert torch.autograd.gradcheck(function, given, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, given, fast_mode=True)


def test_rows_are_binned_once_and_again_after_a_change(served, monkeypatch):
    """So that later calls, in a CUDA graph too, do not wait for the device."""
    binned = []
    monkeypatch.setattr(attention, "find_bins", lambda *given: binned.append(1) or bins.find_bins(*given))
    arcs = random_arcs(5, 4, 12).to(served)
    given = operands(arcs, torch.float32, served)
    for _ in range(2):
        primitives.gatv2(arcs, *given, backend="cuda").sum().backward()
        assert len(binned) == 2  # the rows of the targets, and those of the sources
    arcs.offset.copy_(torch.tensor([0, 12, 12, 12, 12]))
    out = primitives.gatv2(arcs, *(x.detach() for x in given), backend="cuda")
    assert len(binned) == 3 and out[0].any() and not out[1:].any()


def test_refusals():
    def refusal(dtype, shape=(3, 2, 4)):
        return attention.refuses(Call("attend", torch.ones(shape).to(dtype)))

    assert all(refusal(dtype) is None for dtype in FLOATS)
    assert "int64" in refusal(torch.int64) and "columns" in refusal(torch.float32, (3, 2, 0))
    assert "columns" in refusal(torch.float32, (3, 0, 4)) and refusal(torch.float32, (0, 2, 4)) is None
    assert "CUDA device" in kernels.BACKENDS["cuda"].operators["attend"].refuses(Call("attend", torch.ones(3, 2, 4)))
