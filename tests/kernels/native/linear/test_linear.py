"""Linear steps: the portable one against dense matrices, the native one against the portable."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
import torch
from backends import native as native_backend
from hypothesis import given
from hypothesis import strategies as st
from strategies import close, dense, graphs, on_threads, random_graph, same_on_threads, thread_count

import tgraph as tg
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Subgraph, whole
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels import choose
from tgraph.kernels.call import Call
from tgraph.kernels.operators.linear import gauss_seidel
from tgraph.primitives.gauss_seidel import GaussSeidel
from tgraph.primitives.linear import AffineMap

needs_native = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
WEIGHTS = (None, torch.int32, torch.int64, torch.float32, torch.float64)


def vectors(n, seed=0, dtype=torch.float64):
    """x, scale (with zeros), bias and measure."""
    random = torch.Generator().manual_seed(seed)
    x, scale, bias, measure = torch.rand((4, n), generator=random, dtype=torch.float64).to(dtype)
    return x, scale * (scale > 0.3), bias, measure


def affine(blocks=1, **options):
    """A power iteration, or block Gauss-Seidel."""
    return AffineMap(**options) if blocks == 1 else GaussSeidel(blocks=blocks, **options)


def subgraph(graph, backend, mode="pull"):
    return whole(graph, graph.everything(), mode, backend)


def sequential(dense, x, scale, bias, alpha, beta, cuts):
    """The step by a loop over blocks of rows, with dense matrices."""
    sent, new = scale * x, np.zeros(len(x))
    for first, last in reversed(cuts):
        new[first:last] = alpha * (dense.T @ sent)[first:last] + beta * bias[first:last]
        sent[first:last] = scale[first:last] * new[first:last]
    return new


def in_stripes(graph, x, scale, bias, alpha, beta, blocks):
    """The native step in several blocks, row by row: those of a stripe, one of each of its four strips in turn, use new
    values at once."""
    rows = graph.transpose()
    offset, neighbors = rows.offset.numpy(), rows.neighbors.numpy()
    weights = np.ones(len(neighbors)) if rows.weights is None else rows.weights.double().numpy()
    before = offset + np.arange(len(offset))  # the work before each row
    count = min(1 << max(int(before[-1]) // blocks // (1 << 14) - 1, 0).bit_length(), 64)
    sent, new = (scale * x).astype(x.dtype), np.zeros_like(x)
    for first, last in reversed(gauss_seidel.row_blocks(rows.offset, blocks)):
        size, rest = divmod(int(before[last] - before[first]), 4 * count)
        ends = [size * (i + 1) + min(i + 1, rest) + before[first] for i in range(4 * count)]
        cuts = [first, *(min(max(int(np.searchsorted(before, end)), first), last) for end in ends)]
        old = sent.copy()
        for stripe in range(0, 4 * count, 4):
            begin, end, heard = cuts[stripe], cuts[stripe + 4], old.copy()
            strips = [range(*cuts[i : i + 2]) for i in range(stripe, stripe + 4)]
            shortest = min(map(len, strips))
            rows_in_turn = [
                *itertools.chain(*zip(*strips, strict=False)),
                *itertools.chain(*(each[shortest:] for each in strips)),
            ]
            for row in rows_in_turn:
                arcs = slice(offset[row], offset[row + 1])
                received = (heard[neighbors[arcs]].astype(np.float64) * weights[arcs]).sum()
                new[row] = alpha * received + beta * bias[row]
                heard[row] = scale[row] * new[row]
            sent[begin:end] = heard[begin:end]
    return new


# ---- what a step is -------------------------------------------------------------------------------------------------


@given(graphs(dtypes=(None, torch.int32, torch.float64)), st.sampled_from([1, 2, 5, 40]), st.booleans())
def test_steps_equal_a_dense_matrix(graph, blocks, vectorial):
    n, weighted = graph.num_vertices, graph.weights is not None
    x, scale, bias, measure = vectors(n)
    stored, unweighted = dense(graph, weighted), tg.Graph(graph.offset, graph.neighbors, directed=graph.directed)
    cuts = gauss_seidel.row_blocks(graph.transpose().offset, blocks)
    assert cuts[0][0] == 0 and cuts[-1][1] == n and all(a[1] == b[0] for a, b in itertools.pairwise(cuts))
    if not vectorial:
        scale, bias, measure = torch.ones_like(x), torch.full_like(x, 0.25), torch.ones_like(x)
    given_vectors = {"scale": scale, "bias": bias, "measure": measure} if vectorial else {"bias": 0.25}
    for mode, backend in itertools.product(("pull", "push"), ("auto", "portable")):
        walk = affine(edge="mul" if weighted else "copy", blocks=blocks, **given_vectors)
        sub, values, expected = subgraph(graph, backend, mode), x, x.numpy()
        for _ in range(3):
            after = walk.step(sub, values, alpha=0.5, beta=2.0)
            before = expected
            vectors_of = (expected, scale.numpy(), bias.numpy(), 0.5, 2.0)
            if backend == "auto" and blocks > 1 and native.load() is not None:
                expected = in_stripes(graph if weighted else unweighted, *vectors_of, blocks)
            else:
                expected = sequential(stored, *vectors_of, cuts)
            assert close(after.tolist(), expected)
            assert close([float(walk.change(values, after))], [np.abs(expected - before).sum()])
            assert close([float(walk.total(after))], [(expected * measure.numpy()).sum()])
            assert close([float(walk.dangling_mass(after))], [expected[scale.numpy() == 0].sum()])
            values = after


def test_totals_of_other_values_are_computed():
    graph = random_graph(20, 60)
    x, scale, bias, measure = vectors(20)
    walk = AffineMap(scale=scale, bias=bias, measure=measure)
    walk.step(graph, x)
    y = torch.rand(20, dtype=torch.float64)
    assert close([float(walk.total(y))], [float((y * measure).sum())])
    assert close([float(walk.dangling_mass(y))], [float(y[scale == 0].sum())])
    assert close([float(walk.change(x, y))], [float((x - y).abs().sum())])
    doubled = walk.step(graph, 2 * y)  # not the result of the last step: the cached next x does not fit
    assert close(doubled.tolist(), AffineMap(scale=scale, bias=bias).step(graph, 2 * y).tolist())


def test_rescaling_is_a_step_from_a_multiple(backend):
    graph = random_graph(30, 200)
    x, scale, bias, _ = vectors(30)
    sub = subgraph(graph, backend)
    for blocks in (1, 4):
        walk, other = (GaussSeidel(scale=scale, bias=bias, blocks=blocks) for _ in range(2))
        assert close(walk.step(sub, x, rescale=3.0).tolist(), other.step(sub, 3 * x).tolist())


def test_the_change_is_measured_from_the_values_of_the_caller(backend):
    graph = random_graph(30, 200)
    x, _, _, before = vectors(30)
    walk = AffineMap()
    after = walk.step(subgraph(graph, backend), x, before=before)
    assert close([float(walk.change(before, after))], [float((after - before).abs().sum())])
    assert close([float(walk.change(x, after))], [float((after - x).abs().sum())])


def test_katz_and_eigenvector_centrality():
    graph = random_graph(25, 120, directed=False)
    katz = AffineMap(bias=1.0)
    x = torch.zeros(25, dtype=torch.float64)
    for _ in range(200):
        x = katz.step(graph, x, alpha=0.01)
    expected = nx.katz_centrality_numpy(nx.Graph(dense(graph, False)), alpha=0.01, weight="weight")
    assert close((x / x.norm()).tolist(), expected.values(), 1e-8)

    eigenvector = AffineMap(measure=graph.out_degree.double())
    x = torch.full((25,), 1 / 25, dtype=torch.float64)
    for _ in range(300):
        x = eigenvector.step(graph, x, alpha=1 / eigenvector.total(x))
    expected = np.linalg.eigh(dense(graph, False))[1][:, -1]
    assert close((x / x.norm()).tolist(), np.abs(expected), 1e-8)


def test_gradients_of_a_step():
    graph = random_graph(9, 30, dtype=torch.float64)
    x, scale, bias, _ = (tensor.requires_grad_() for tensor in vectors(9))

    def two_steps(x, scale, bias, weights, blocks):
        walk = GaussSeidel(scale=scale, bias=bias, edge="mul", weights=weights, blocks=blocks)
        return walk.step(graph, walk.step(graph, x, alpha=0.5), rescale=0.9)

    for blocks in (1, 3):
        assert torch.autograd.gradcheck(two_steps, (x, scale, bias, graph.weights.clone().requires_grad_(), blocks))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_values_keep_their_dtype(dtype):
    graph = random_graph(20, 60)
    x, scale, bias, _ = vectors(20, dtype=dtype)
    exact = AffineMap(scale=scale.double(), bias=bias.double()).step(graph, x.double())
    assert AffineMap(scale=scale, bias=bias).step(graph, x).dtype == dtype
    found = AffineMap(scale=scale.double(), bias=bias).step(graph, x)
    assert found.dtype == dtype and torch.allclose(found.double(), exact, rtol=4 * torch.finfo(dtype).eps)


# ---- memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("scaled", [True, False])
def test_only_values_of_two_steps_ago_are_overwritten(blocks, scaled):
    graph = random_graph(40, 200)
    x, scale, *_ = vectors(40)
    first = x.clone()
    walk = affine(scale=scale if scaled else None, blocks=blocks)
    values = x
    for _ in range(6):
        before = values.clone()
        after = walk.step(graph, values, alpha=0.1)
        assert torch.equal(values, before) and after is not values
        values = after
    assert torch.equal(x, first), "what the caller gave is written into"


@needs_native
def test_memory_is_used_again():
    graph, (x, scale, *_) = random_graph(40, 200), vectors(40)
    walk = AffineMap(scale=scale)
    places = []
    for _ in range(8):
        x = walk.step(graph, x, alpha=0.1)
        places.append(x.data_ptr())
    assert len(set(places)) == 2


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_that_are_not_needed_are_written_over(backend, blocks, dtype):
    graph = hub_graph() if backend == "native" else random_graph(40, 200)
    x, scale, bias, measure = vectors(graph.num_vertices, dtype=dtype)
    walk, other = (affine(scale=scale, bias=bias, measure=measure, blocks=blocks) for _ in range(2))
    sub, values, places = subgraph(graph, backend), x.clone(), set()
    for _ in range(4):
        x, before = other.step(sub, x, alpha=0.01), x
        values, start = walk.step(sub, values, alpha=0.01, overwrite=True), values
        places.add(values.data_ptr())
        assert torch.equal(values, x) and walk.change(start, values) == other.change(before, x)
        assert walk.total(values) == other.total(x) and walk.dangling_mass(values) == other.dangling_mass(x)
    assert backend != "native" or len(places) == 1


@pytest.mark.parametrize("blocks", [1, 3])
def test_values_are_not_written_over_what_is_still_read(blocks):
    graph = random_graph(40, 200)
    x, scale, _, before = vectors(40)
    for options, changed in (({"scale": scale}, before), ({}, None)):  # measured from others; sent as they are
        kept = x.clone()
        found = affine(blocks=blocks, **options).step(graph, kept, alpha=0.1, before=changed, overwrite=True)
        assert torch.equal(found, affine(blocks=blocks, **options).step(graph, x, alpha=0.1))
        assert blocks > 1 or torch.equal(kept, x)


@needs_native
def test_autograd_notices_values_that_are_overwritten():
    graph, (x, *_) = random_graph(10, 30), vectors(10)
    weight, walk = torch.ones(10, dtype=torch.float64, requires_grad=True), AffineMap()
    x = walk.step(graph, x)
    loss = (x * weight).sum()
    for _ in range(3):
        x = walk.step(graph, x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


# ---- several steps in a call ----------------------------------------------------------------------------------------


@given(graphs(dtypes=(None, torch.int32, torch.float64)), st.integers(1, 7), st.data())
def test_steps_in_one_call_are_those_one_by_one(graph, most, data):
    """To the bit, with the same numbers afterwards, and further steps from there."""
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    backend = data.draw(st.sampled_from(["auto", "portable"]))
    x, scale, bias, measure = vectors(graph.num_vertices, dtype=dtype)
    named = {"scale": scale, "bias": bias, "measure": measure}
    options = {name: named[name] for name in data.draw(st.sets(st.sampled_from(sorted(named))))}
    options = {"bias": 0.25, "edge": "copy" if graph.weights is None else "mul", **options}
    rate, sub = data.draw(st.sampled_from([0.0, 0.125])), subgraph(graph, backend)
    tolerance = data.draw(st.sampled_from([None, 0.5, math.inf]))
    one, other = AffineMap(**options), AffineMap(**options)
    values, expected, taken, left = x.clone(), x.clone(), 0, most
    while left:
        values, count = other.steps(sub, values, left, alpha=0.1, beta=0.5, rate=rate, tolerance=tolerance)
        taken, left = taken + count, left - count
        if tolerance is not None and other._last.change <= tolerance:
            break
    for step in range(1, most + 1):  # noqa: B007  compared below
        before, beta = expected, 0.5 if rate == 0 else 0.5 + rate * one.dangling_mass(expected)
        expected = one.step(sub, expected, alpha=0.1, beta=beta)
        if tolerance is not None and one.change(before, expected) <= tolerance:
            break
    assert taken == step and torch.equal(values, expected)
    assert float(other._last.change) == float(one.change(before, expected))
    assert float(other.dangling_mass(values)) == float(one.dangling_mass(expected))
    assert torch.equal(other.step(sub, values, alpha=0.1), one.step(sub, expected, alpha=0.1))


@needs_native
def test_steps_in_one_call_do_not_depend_on_threads_and_write_over_nothing_else():
    graph, kept = hub_graph(), vectors(hub_graph().num_vertices)
    x, scale, bias, measure = (each.clone() for each in kept)

    def stepped():
        walk = AffineMap(scale=scale, bias=bias, measure=measure)
        values, count = walk.steps(graph, x.clone(), 5, alpha=0.1, rate=0.1)
        assert count == 5
        return values

    same_on_threads(stepped)
    assert all(torch.equal(each, before) for each, before in zip((x, scale, bias, measure), kept, strict=True))
    walk = AffineMap(bias=x)  # read in each step
    values, count = walk.steps(graph, x, 5, alpha=0.1)
    assert count == 1 and torch.equal(x, kept[0]) and values is not x


def test_steps_that_record_gradients_are_taken_one_by_one():
    graph = random_graph(9, 30)
    x, scale, bias, _ = vectors(9)
    weight = torch.ones(9, dtype=torch.float64, requires_grad=True)
    values, count = AffineMap(scale=scale * weight, bias=bias).steps(graph, x.clone(), 3, alpha=0.5, rate=0.5)
    assert count == 1 and values.requires_grad
    with pytest.raises(ArgumentError, match="most"):
        AffineMap().steps(graph, x, 0)


@needs_native
def test_steps_in_one_call_are_noticed_by_autograd():
    graph, (x, *_) = random_graph(10, 30), vectors(10)
    weight = torch.ones(10, dtype=torch.float64, requires_grad=True)
    loss = (x * weight).sum()
    AffineMap().steps(graph, x, 4, alpha=0.1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


# ---- the native kernel ----------------------------------------------------------------------------------------------


def stepped(graph, backend, dtype, blocks, weighted=False, rounds=3, *, scaled=True):
    """What some steps give on a backend: the values and the numbers of each."""
    x, scale, bias, measure = vectors(graph.num_vertices, dtype=dtype)
    given_vectors = {"scale": scale, "bias": bias, "measure": measure} if scaled else {}
    walk = affine(edge="mul" if weighted else "copy", blocks=blocks, **given_vectors)
    sub, found = subgraph(graph, backend), []
    for _ in range(rounds):
        before, x = x, walk.step(sub, x, alpha=0.01)
        numbers = (walk.change(before, x), walk.total(x), walk.dangling_mass(x))
        found.append((x.clone(), torch.tensor([float(number) for number in numbers], dtype=torch.float64)))
    return found


def hub_graph(directed=True):
    """A vertex that a third of the arcs lead to, others of a thousand, and many of few or none."""
    random = torch.Generator().manual_seed(1)
    src, dst = torch.randint(20_000, (2, 300_000), generator=random).unbind()
    dst[:100_000] = 7
    dst[100_000:130_000] = 20_000 - 1 - dst[100_000:130_000] % 30
    dst[130_000:] = dst[130_000:] // 3
    weights = torch.randint(1, 10, (300_000,), generator=random).to(torch.float32)
    return tg.Graph.from_edges(src, dst, weights, num_vertices=20_001, directed=directed)


def local_graph():
    """Rows of some ten arcs to vertices close by, so many that blocks have several stripes, and two hubs."""
    random = torch.Generator().manual_seed(2)
    src = torch.randint(20_000, (200_000,), generator=random)
    dst = (src + torch.randint(-7, 8, (200_000,), generator=random)).clamp(0, 19_999)
    dst[:3000], dst[3000:5000] = 9, 12_345
    weights = torch.randint(1, 10, (200_000,), generator=random).to(torch.float32)
    return tg.Graph.from_edges(src, dst, weights, num_vertices=20_001)


@needs_native
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scaled", [True, False])
def test_native_equals_portable(dtype, weights, scaled):
    for graph in (random_graph(300, 5000, dtype=weights), random_graph(50, 3, dtype=weights), random_graph(1, 0)):
        weighted = graph.weights is not None
        found, expected = (stepped(graph, name, dtype, 1, weighted, scaled=scaled) for name in ("native", "portable"))
        for (values, numbers), (reference, sums) in zip(found, expected, strict=True):
            assert values.dtype == dtype and torch.allclose(values, reference, rtol=TOLERANCE[dtype])
            assert torch.allclose(numbers, sums, rtol=TOLERANCE[dtype])


@needs_native
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("blocks", [1, 16])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_number_of_threads_changes_no_bit(dtype, blocks, weighted):
    graph = hub_graph()
    runs = on_threads(lambda: stepped(graph, "native", dtype, blocks, weighted))
    for other in runs[1:]:
        for (values, numbers), (same, sums) in zip(runs[0], other, strict=True):
            assert torch.equal(values, same) and torch.equal(numbers, sums)
    if blocks > 1:  # the order of the rows differs from all other backends
        return
    expected = stepped(graph, "portable", dtype, blocks, weighted)
    for (values, numbers), (reference, sums) in zip(runs[0], expected, strict=True):
        assert torch.allclose(values, reference, rtol=TOLERANCE[dtype])
        assert torch.allclose(numbers, sums, rtol=TOLERANCE[dtype])


@pytest.mark.covering(1)
@needs_native
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("blocks", [2, 5, 16])
def test_rows_of_a_stripe_use_new_values(dtype, weights, blocks):
    for graph in (local_graph(), random_graph(300, 5000, dtype=weights), random_graph(1, 0), random_graph(0, 0)):
        if graph.num_vertices > 300:
            converted = None if weights is None else graph.weights.to(weights)
            graph = tg.Graph(graph.offset, graph.neighbors, converted)
        x, scale, bias, measure = vectors(graph.num_vertices, dtype=dtype)
        edge = "copy" if graph.weights is None else "mul"
        expected = in_stripes(graph, x.numpy(), scale.numpy(), bias.numpy(), 0.01, 2.0, blocks)
        for count in (1, 3):
            with thread_count(count):
                walk = affine(scale=scale, bias=bias, measure=measure, edge=edge, blocks=blocks)
                walk.total(x), walk.dangling_mass(x)
                found = walk.step(subgraph(graph, "native"), x, alpha=0.01, beta=2.0)
                assert torch.allclose(found, torch.from_numpy(expected), rtol=TOLERANCE[dtype])
                last = found.double()
                assert close([float(walk.change(x, found))], [float((last - x.double()).abs().sum())])
                assert close([float(walk.total(found))], [float((last * measure).sum())])
                assert close([float(walk.dangling_mass(found))], [float(last[scale == 0].sum())])
                again = walk.step(subgraph(graph, "native"), found, alpha=0.01)  # from the cached next x
                other = affine(scale=scale, bias=bias, edge=edge, blocks=blocks)
                assert torch.equal(again, other.step(subgraph(graph, "native"), found.clone(), alpha=0.01))


@pytest.mark.covering(1)
@needs_native
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_whose_neighbours_are_scattered_use_new_values_of_other_blocks_only(dtype, weighted):
    graph = tg.generators.rmat(14, 16)
    graph = tg.Graph(graph.offset, graph.neighbors, 1 / (1 + graph.neighbors % 7))
    runs = on_threads(lambda: stepped(graph, "native", dtype, 16, weighted))
    for other in (*runs[1:], stepped(graph, "portable", dtype, 16, weighted)):
        for (values, numbers), (same, sums) in zip(runs[0], other, strict=True):
            assert torch.allclose(values, same, rtol=TOLERANCE[dtype])
            assert torch.allclose(numbers, sums, rtol=TOLERANCE[dtype])
    assert all(torch.equal(found[0], same[0]) for run in runs[1:] for found, same in zip(run, runs[0], strict=True))


@needs_native
def test_wide_neighbors_use_new_values_block_by_block_elsewhere():
    graph = hub_graph()
    pull = subgraph(graph, "auto")
    selection = Selection(pull.offset, pull.neighbors.long())
    wide = Subgraph(graph, pull.active, "pull", None, selection, mirrored=True, backend="auto")
    x, scale, *_ = vectors(graph.num_vertices)
    found = affine(scale=scale, blocks=5).step(wide, x)
    assert torch.equal(found, affine(scale=scale, blocks=5).step(subgraph(graph, "portable"), x))


@needs_native
def test_wide_neighbors():
    graph = hub_graph()
    pull = subgraph(graph, "native")
    wide = Subgraph(
        graph, pull.active, "pull", None, Selection(pull.offset, pull.neighbors.long()), mirrored=True, backend="native"
    )
    for dtype in (torch.float32, torch.float64):
        x, scale, bias, _ = vectors(graph.num_vertices, dtype=dtype)
        found, expected = (AffineMap(scale=scale, bias=bias).step(sub, x) for sub in (wide, pull))
        assert torch.allclose(found, expected, rtol=8 * torch.finfo(dtype).eps)


@needs_native
def test_strided_vectors():
    graph = random_graph(30, 100)
    x, scale, *_ = vectors(60)
    for blocks in (1, 4):
        found = affine(scale=scale[::2], blocks=blocks).step(graph, x[::2])
        assert torch.equal(found, affine(scale=scale[::2].clone(), blocks=blocks).step(graph, x[::2].clone()))


@needs_native
@pytest.mark.parametrize(
    ("call", "word"),
    [
        ({"data": torch.ones(2, dtype=torch.float16)}, "float16"),
        ({"data": torch.ones(2), "weights": torch.ones(2, dtype=torch.int8)}, "int8"),
        ({"data": torch.ones(2), "others": (torch.ones(2, dtype=torch.float64),)}, "dtype of the values"),
        ({"data": torch.ones(2), "others": (torch.ones(2, requires_grad=True),)}, "gradients"),
        ({"data": torch.ones(2), "weights": torch.ones(2, requires_grad=True)}, "gradients"),
    ],
)
def test_what_the_kernel_does_not_serve(call, word):
    assert word in native_backend.refuses(Call("affine_step", **call))
    assert choose("auto", Call("affine_step", **call)).backend.name == "portable"
    with torch.no_grad():
        assert (native_backend.refuses(Call("affine_step", **call)) is None) == (word == "gradients")


# ---- arguments ------------------------------------------------------------------------------------------------------


def test_what_a_map_does_not_take():
    graph = random_graph(5, 9)
    x = torch.ones(5)
    for options, word in (({"edge": "min"}, "'min'"), ({"blocks": 0}, "blocks"), ({"blocks": -1}, "blocks")):
        with pytest.raises(ArgumentError, match=word):
            affine(**options)
    for options, values, word in (
        ({}, torch.ones(4), "x: "),
        ({}, torch.ones(5, 2), "x: "),
        ({}, torch.ones(5, dtype=torch.int64), "int64"),
        ({"scale": torch.ones(4)}, x, "scale: "),
        ({"bias": torch.ones(6)}, x, "bias: "),
        ({"measure": torch.ones(5, dtype=torch.bool)}, x, "measure: "),
        ({"edge": "mul"}, x, "weights"),
        ({"edge": "mul", "weights": torch.ones(3)}, x, "weights"),
    ):
        with pytest.raises(ArgumentError, match=word):
            AffineMap(**options).step(graph, values)
    with pytest.raises(ArgumentError, match="before"):
        AffineMap().step(graph, x, before=x.double())


def test_a_step_is_taken_by_all_vertices():
    graph = random_graph(5, 9)
    for sub in (
        whole(graph, graph.select([0]), "pull"),
        tg.Program().tensorize(graph, graph.select([0, 1]), "push"),
    ):
        with pytest.raises(ArgumentError, match="every vertex"):
            AffineMap().step(sub, torch.ones(5))


def test_a_number_weighs_all_arcs():
    graph = random_graph(9, 30)
    x, *_ = vectors(9)
    found = AffineMap(edge="mul", weights=2.5).step(graph, x)
    assert close(found.tolist(), (2.5 * AffineMap().step(graph, x)).tolist())


def test_without_native_kernels_the_portable_ones_serve(monkeypatch):
    monkeypatch.setattr(native, "load", lambda: None)
    graph = random_graph(9, 30)
    assert close([float(AffineMap().step(graph, torch.ones(9)).sum())], [graph.num_arcs])
