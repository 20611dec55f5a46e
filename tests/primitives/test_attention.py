"""Attention against a formula written out for each destination, on every backend: values, gradients, dropout."""

import math

import pytest
import torch
from attention_samples import arcs_of, random_arcs, rectangular
from hypothesis import given
from hypothesis import strategies as st
from strategies import on_threads, refused

import tgraph as tg
from tgraph.core import csr
from tgraph.errors import ArgumentError
from tgraph.kernels.autograd import attention as operators
from tgraph.kernels.operators import attention as portable
from tgraph.primitives import attention
from tgraph.primitives.attention import Csr

KINDS = ("gat", "gatv2", "dot")
FUNCTIONS = {kind: (getattr(attention, kind), getattr(attention, f"{kind}_weights")) for kind in KINDS}


@pytest.fixture(params=["native", "portable"])
def backend(request):
    """The backends that compute attention on the CPU."""
    if request.param == "native" and tg.core.system.native.load() is None:
        pytest.skip("the native kernels are not installed")
    return request.param


def operands(kind, arcs, heads, columns, edges, dtype=torch.float64, seed=0):
    """What the function of that kind takes."""
    ends = {
        "gat": [(arcs.num_columns, heads, columns), (arcs.num_columns, heads), (arcs.num_rows, heads)],
        "gatv2": [(arcs.num_columns, heads, columns), (arcs.num_rows, heads, columns), (heads, columns)],
        "dot": [(arcs.num_rows, heads, columns), *[(arcs.num_columns, heads, columns)] * 2],
    }[kind]
    edge = [(arcs.num_arcs, heads, columns)[: 2 if kind == "gat" else 3]] if edges else []
    random = torch.Generator().manual_seed(seed)
    drawn = [torch.randn(shape, generator=random, dtype=torch.float64).to(dtype) for shape in (*ends, *edge)]
    return [tensor.requires_grad_() for tensor in drawn]


def plain(kind, arcs, given, kept=None):
    """The result and the alpha of each arc in the order of the rows, one destination after the other."""
    edge = given[3] if len(given) > 3 else None
    rows, alphas = [], []
    for i in range(arcs.num_rows):
        own = slice(int(arcs.offset[i]), int(arcs.offset[i + 1]))
        source = arcs.neighbors[own].long()
        place = torch.arange(own.start, own.stop) if arcs.permutation is None else arcs.permutation[own]
        extra = 0 if edge is None else edge[place]
        score, value = score_and_value(kind, given, i, source, extra)
        alpha = torch.softmax(score, 0)
        alpha = alpha if kept is None else alpha * kept[own]
        rows.append((alpha[..., None] * value).sum(0))
        alphas.append(alpha)
    empty = given[0].new_empty((0, *given[0].shape[1:]))
    return torch.stack(rows) if rows else empty, torch.cat(alphas) if alphas else empty[..., 0]


def score_and_value(kind, given, i, source, extra):
    if kind == "gat":
        value, at_source, at_target = given[:3]
        return torch.nn.functional.leaky_relu(at_source[source] + at_target[i] + extra, 0.2), value[source]
    if kind == "gatv2":
        at_source, at_target, vector = given[:3]
        rectified = torch.nn.functional.leaky_relu(at_source[source] + at_target[i] + extra, 0.2)
        return (vector * rectified).sum(-1), at_source[source]
    query, key, value = given[:3]
    return (query[i] * (key[source] + extra)).sum(-1) / math.sqrt(query.shape[-1]), value[source] + extra


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_weights_of_the_backward_sum_to_1(backend, kind, dtype):
    """At any size of the scores: those that a gradient of 1 takes back to the values. One by one is how torch adds up a
    row on the CPU, and the error of that grows with the row."""
    many = 3000 if backend == "native" else 300
    arcs = arcs_of(*torch.tensor([[i, 0] for i in range(many)] + [[i, 1] for i in range(7)] + [[5, 2]]).T, many, 3)
    most = torch.finfo(dtype).max
    for large in (1.0, 1e4, 1e8, 1e15):
        given = operands(kind, arcs, 2, 19, True, dtype)
        scaled = {"gat": (1, 2, 3), "gatv2": (0, 1, 3), "dot": (1, 3)}[kind]
        for i in scaled:
            given[i] = (given[i].detach().double() * large).clamp(-most, most).to(dtype).requires_grad_()
        value = {"gat": 0, "gatv2": 0, "dot": 2}[kind]
        if kind == "gatv2":  # the last column, which the scores do not read
            given[2] = (given[2] * (torch.arange(19) < 18)).detach().requires_grad_()
        FUNCTIONS[kind][0](arcs, *given, backend=backend)[..., -1].sum().backward()
        total = given[value].grad[..., -1].double().sum(0)
        exact = 1e-6 if dtype in (torch.float32, torch.float64) else 3 * torch.finfo(dtype).eps
        torch.testing.assert_close(total, torch.full_like(total, 3), rtol=exact, atol=0)
        read = [x.detach() for i, x in enumerate(given) if kind == "gatv2" or i != value]
        alpha = FUNCTIONS[kind][1](arcs, *read, backend=backend).double()
        torch.testing.assert_close(alpha.sum(0), torch.full((2,), 3.0).double(), rtol=exact, atol=0)


def weighed(out, seed=5):
    """A number that depends on all of the result, each in its own way."""
    return (out * torch.randn(out.shape, generator=torch.Generator().manual_seed(seed)).to(out.dtype)).sum()


def weights_operands(kind, given):
    return {"gat": given[1:], "gatv2": given, "dot": [*given[:2], *given[3:]]}[kind]


def check(kind, arcs, given, backend, **options):
    """Values, weights and gradients against the plain formula."""
    function, weights = FUNCTIONS[kind]
    kept = None
    if options.get("seed") is not None:
        spec = portable.AttentionSpec(kind, 0.0, options["dropout"], options["seed"])
        kept = portable.kept(spec, 0, arcs.num_arcs, given[0].shape[1]).double() / (1 - options["dropout"])
    expected, alpha = plain(kind, arcs, given, kept)
    out = function(arcs, *given, backend=backend, **options)
    torch.testing.assert_close(out, expected, rtol=1e-10, atol=1e-10)
    gradients = torch.autograd.grad(weighed(out), given)
    expected = torch.autograd.grad(weighed(expected) + 0 * sum(x.sum() for x in given), given)
    torch.testing.assert_close(gradients, expected, rtol=1e-9, atol=1e-10)
    with torch.no_grad():
        found = weights(arcs, *weights_operands(kind, given), backend=backend, **options)
    ordered = alpha if arcs.permutation is None else torch.zeros_like(alpha).index_copy(0, arcs.permutation, alpha)
    torch.testing.assert_close(found, ordered, rtol=1e-10, atol=1e-10)


# ---- values and gradients -------------------------------------------------------------------------------------------


@pytest.mark.covering(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize(("heads", "columns"), [(1, 1), (4, 32), (8, 8), (3, 7), (2, 41), (1, 16)])
def test_agrees_with_the_formula(kind, edges, heads, columns, backend):
    for positions in (False, True):
        arcs = random_arcs(positions=positions, dtype=torch.int64 if positions else torch.int32)
        check(kind, arcs, operands(kind, arcs, heads, columns, edges), backend)


@given(rectangular(), st.sampled_from(KINDS), st.booleans(), st.integers(1, 3), st.integers(1, 18), st.booleans())
def test_any_graph(arcs, kind, edges, heads, columns, drops):
    given = operands(kind, arcs, heads, columns, edges)
    options = {"dropout": 0.4, "training": True, "seed": torch.tensor([columns])} if drops else {}
    for backend in ("portable", "native") if tg.core.system.native.load() else ("portable",):
        check(kind, arcs, given, backend, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_many_pieces(kind, backend, monkeypatch):
    """A row longer than what is computed at a time, on either side."""
    monkeypatch.setattr(portable, "_HELD_AT_ONCE", 500)
    arcs = random_arcs(40, 30, 9000)
    for edges in (False, True):
        given = operands(kind, arcs, 2, 5, edges)
        check(kind, arcs, given, backend, dropout=0.3, training=True, seed=torch.tensor([2**62 + 5]))


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_derivatives(kind, backend):
    arcs = random_arcs(4, 4, 9)
    given, function = operands(kind, arcs, 2, 3, True), FUNCTIONS[kind][0]
    options = {"dropout": 0.3, "training": True, "seed": torch.tensor([3]), "backend": backend}
    assert torch.autograd.gradcheck(lambda *x: function(arcs, *x, **options), given)
    assert torch.autograd.gradgradcheck(lambda *x: function(arcs, *x, **options), given)


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_asked_for_has_a_gradient(kind, backend):
    arcs = random_arcs()
    given, function = operands(kind, arcs, 2, 3, True), FUNCTIONS[kind][0]
    whole = torch.autograd.grad(weighed(function(arcs, *given, backend=backend)), given)
    for i in range(len(given)):
        some = [x.detach().requires_grad_(i == k) for k, x in enumerate(given)]
        weighed(function(arcs, *some, backend=backend)).backward()
        torch.testing.assert_close(some[i].grad, whole[i])
        assert all(x.grad is None for k, x in enumerate(some) if k != i)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_have_a_gradient(kind):
    arcs = random_arcs(4, 4, 9)
    given = weights_operands(kind, operands(kind, arcs, 2, 3, True))
    assert torch.autograd.gradcheck(lambda *x: FUNCTIONS[kind][1](arcs, *x), given)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("sources", "targets", "arcs"), [(3, 2, 0), (0, 2, 0), (3, 0, 0), (0, 0, 0), (1, 1, 1)])
def test_empty_and_tiny(kind, sources, targets, arcs, backend):
    made = arcs_of(torch.zeros(arcs, dtype=torch.int64), torch.zeros(arcs, dtype=torch.int64), sources, targets)
    check(kind, made, operands(kind, made, 2, 3, True), backend)


def test_large_scores_and_edges_of_no_weight(backend):
    arcs = random_arcs()
    value, at_source, at_target = operands("gat", arcs, 2, 3, False)
    with torch.no_grad():
        at_source.mul_(1e4)
    score = torch.zeros(arcs.num_arcs, 2, dtype=torch.float64)
    score[::3] = -torch.inf
    for dtype, close in ((torch.float64, 1e-10), (torch.float32, 1e-3)):
        inputs = [x.detach().to(dtype) for x in (value, at_source, at_target, score)]
        out = attention.gat(arcs, *inputs, backend=backend)
        expected = plain("gat", arcs, [x.double() for x in inputs])[0]
        rows = ~expected.isnan()  # all arcs of a row may lead nowhere
        torch.testing.assert_close(out[rows].double(), expected[rows], rtol=close, atol=close)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_narrow_numbers(kind, dtype, backend):
    arcs = random_arcs()
    given = operands(kind, arcs, 2, 24, True, dtype)
    exact = [x.detach().double().requires_grad_() for x in given]
    function = FUNCTIONS[kind][0]
    out, expected = function(arcs, *given, backend=backend), plain(kind, arcs, exact)[0]
    close = 8 * torch.finfo(dtype).eps
    torch.testing.assert_close(out.double(), expected, rtol=close, atol=close)
    found = torch.autograd.grad(weighed(out.double()), given)
    for x, y in zip(found, torch.autograd.grad(weighed(expected), exact), strict=True):
        torch.testing.assert_close(x.double(), y, rtol=4 * close, atol=16 * close)


# ---- the compiled kernels -------------------------------------------------------------------------------------------


@pytest.mark.skipif(tg.core.system.native.load() is None, reason="the native kernels are not installed")
@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_no_bit(kind):
    arcs = random_arcs(400, 300, 30000)
    given = operands(kind, arcs, 4, 16, True, torch.float32)

    def computed():
        seed = torch.tensor([11])
        out = FUNCTIONS[kind][0](arcs, *given, dropout=0.2, training=True, seed=seed, backend="native")
        return out.detach(), *torch.autograd.grad(weighed(out), given)

    one, *others = on_threads(computed)
    assert all(torch.equal(*pair) for other in others for pair in zip(one, other, strict=True))


@pytest.mark.skipif(tg.core.system.native.load() is None, reason="the native kernels are not installed")
def test_damaged_arcs_are_refused():
    arcs = random_arcs()
    given = [x.detach() for x in operands("gatv2", arcs, 2, 3, False)]
    arcs.neighbors[5] = 1000
    with pytest.raises(IndexError, match="neighbors"):
        attention.gatv2(arcs, *given, backend="native")
    arcs.neighbors[5] = 0
    arcs.offset[2] = 1000
    with pytest.raises(ValueError, match="offset"):
        attention.gatv2(arcs, *given, backend="native")


# ---- dropout --------------------------------------------------------------------------------------------------------


def test_dropout_keeps_as_many_as_it_should():
    arcs = random_arcs(50, 40, 20000, positions=False)
    score = torch.zeros(50, 4), torch.zeros(40, 4)
    plainly = attention.gat_weights(arcs, *score)
    for p in (0.1, 0.5, 0.9):
        torch.manual_seed(int(p * 10))
        dropped = attention.gat_weights(arcs, *score, dropout=p, training=True)
        stays = dropped > 0
        assert abs(stays.double().mean() - (1 - p)) < 5 * math.sqrt(p * (1 - p) / stays.numel())
        torch.testing.assert_close(dropped[stays], (plainly / (1 - p))[stays])
        both = (stays[:, 0] & stays[:, 1]).double().mean()  # heads do not depend on each other, nor arcs in a row
        next_to = (stays[1:, 0] & stays[:-1, 0]).double().mean()
        for found in (both, next_to):
            assert abs(found - (1 - p) ** 2) < 5 * math.sqrt(0.25 / len(stays))


def test_dropout_of_nothing_and_of_everything(backend):
    arcs = random_arcs()
    given = operands("dot", arcs, 2, 3, True)
    whole = attention.dot(arcs, *given, backend=backend)
    assert torch.equal(whole, attention.dot(arcs, *given, dropout=0.5, training=False, backend=backend))
    assert torch.equal(whole, attention.dot(arcs, *given, dropout=0.0, training=True, backend=backend))
    nothing = attention.dot(arcs, *given, dropout=1.0, training=True, backend=backend)
    assert not nothing.any()
    assert all(not part.any() for part in torch.autograd.grad(weighed(nothing), given))


def test_dropout_follows_the_generator():
    arcs, given = random_arcs(), operands("gatv2", random_arcs(), 2, 3, False)
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(attention.gatv2(arcs, *given, dropout=0.5, training=True))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])


# ---- operators ------------------------------------------------------------------------------------------------------


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", KINDS)
def test_opcheck(kind, backend):
    arcs, seed = random_arcs(), torch.tensor([1])
    given = operands(kind, arcs, 2, 3, True)
    source, target, value, vector = {
        "gat": (given[1], given[2], given[0], None),
        "gatv2": (given[0], given[1], None, given[2]),
        "dot": (given[1], given[0], given[2], None),
    }[kind]
    inputs, spec = (
        portable.Inputs(source, target, value, given[3], vector),
        portable.AttentionSpec(kind, 0.2, 0.5, seed),
    )
    transpose = arcs.transpose(numbered=True)
    dynamic = backend == "portable"  # torch follows shapes through the operator, whoever computes it
    opcheck(operators.attend, inputs, arcs, spec, transpose, backend, dynamic=dynamic)
    with torch.no_grad():
        out, statistics = operators.attend(inputs, arcs, spec, transpose, backend)
        plainly = portable.Inputs(*(None if x is None else x.detach() for x in inputs))
        opcheck(operators.attention_weights, statistics, plainly, arcs, spec, backend, dynamic=dynamic)
        for wanted in ([True] * 5, [False, True, False, False, False]):
            given = (torch.ones_like(out), out, statistics, plainly, arcs, spec, transpose, wanted, backend)
            opcheck(operators.attend_backward, *given, dynamic=dynamic)


def opcheck(operator, *arguments, dynamic):
    tests = ["test_schema", "test_autograd_registration", "test_faketensor"]
    tests += ["test_aot_dispatch_dynamic"] if dynamic else []
    torch.library.opcheck(operator.operator, operator.flat(*arguments), test_utils=tests)


def test_opcheck_of_the_transpose():
    arcs = random_arcs()
    for numbered in (False, True):
        torch.library.opcheck(csr.transpose_arcs, (arcs.offset, arcs.neighbors, arcs.num_columns, numbered))


@pytest.mark.parametrize("kind", KINDS)
def test_compiles_as_one_graph(kind):
    arcs = random_arcs()
    given, function = operands(kind, arcs, 2, 3, True), FUNCTIONS[kind][0]

    def step(*x):
        return function(arcs, *x, dropout=0.5, training=True, seed=torch.tensor([9])) * 2

    expected = step(*given)
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")(*given)
    torch.testing.assert_close(compiled, expected)
    found = torch.autograd.grad(weighed(compiled), given)
    for x, y in zip(found, torch.autograd.grad(weighed(expected), given), strict=True):
        torch.testing.assert_close(x, y)


# ---- arcs and arguments ---------------------------------------------------------------------------------------------


def test_transposed_arcs():
    for sources, targets in ((7, 6), (3, 9), (9, 3)):
        arcs = random_arcs(sources, targets)
        offset, destinations, number = arcs.by_column(numbered=True)
        assert offset.shape == (sources + 1,) and destinations.dtype == arcs.neighbors.dtype
        assert torch.equal(destinations.long(), arcs.row_of_arc()[number])
        row = torch.arange(sources).repeat_interleave(offset.diff())
        assert torch.equal(row, arcs.neighbors[number].long())


def test_arcs_both_ways_are_their_own_transpose():
    graph = tg.Graph.from_edges(torch.tensor([0, 1, 2, 2]), torch.tensor([1, 2, 2, 0]), directed=False)
    arcs = Csr(graph.offset, graph.neighbors, None, graph.num_vertices)
    offset, neighbors, _ = arcs.by_column()
    assert offset is arcs.offset and neighbors is arcs.neighbors
    given = operands("gatv2", arcs, 2, 3, True)
    check("gatv2", arcs, given, "auto", dropout=0.5, training=True, seed=torch.tensor([4]))


def test_what_does_not_fit_is_named():
    arcs = random_arcs()
    value, source, target = operands("gat", arcs, 2, 3, False)
    refused(r"source_score: expected a tensor \[7, 2\], got \[6, 2\]", attention.gat, arcs, value, target, target)
    refused("value: expected a floating tensor", attention.gat, arcs, value[0], source, target)
    refused(r"target_score: is torch\.float32", attention.gat, arcs, value, source, target.float())
    with pytest.raises(ArgumentError, match=r"dropout: expected a probability from 0 to 1, got 1\.5"):
        attention.gat(arcs, value, source, target, dropout=1.5)
    with pytest.raises(ArgumentError, match=r"seed: expected int64 \[1\]"):
        attention.gat(arcs, value, source, target, dropout=0.5, training=True, seed=torch.tensor(3))
    refused("backend", attention.gat, arcs, value.half(), source.half(), target.half(), backend="cusparse")
    offset, neighbors = arcs.offset, arcs.neighbors
    for message, wrong in (
        ("neighbors: 9 at position 3", (offset, neighbors.index_fill(0, torch.tensor([3]), 9), None, 7)),
        ("offset: expected values that ascend", (offset + 1, neighbors, None, 7)),
        ("offset: expected a one-dimensional int64", (offset.int(), neighbors, None, 7)),
        (r"permutation: expected \[40\]", (offset, neighbors, torch.arange(3), 7)),
        ("permutation: 40 at position 39", (offset, neighbors, torch.arange(1, 41), 7)),
        ("num_columns: -1 is negative", (offset, neighbors, None, -1)),
    ):
        with pytest.raises(ArgumentError, match=message):
            Csr(*wrong)
