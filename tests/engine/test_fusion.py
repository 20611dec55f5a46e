"""Fused programs: as they are written, to rounding, whatever they do besides."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import random_graph

import tgraph as tg
from tgraph.core.system import native
from tgraph.engine import fusion

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")

N = 40


@pytest.fixture(autouse=True)
def small_graphs_are_fused(monkeypatch):
    monkeypatch.setattr(fusion, "LEAST_ARCS", 0)


def graph_of(directed=True, weighted=False):
    graph = random_graph(N, 200, dtype=torch.float32 if weighted else None, directed=directed)
    return graph


class Plain(tg.Program):
    """A program whose step is given."""

    rounds = 4

    def __init__(self, step, dtype=torch.float32, **attributes):
        self.step, self.dtype = step, dtype
        random = torch.Generator().manual_seed(1)
        self.share, self.bias = torch.rand((2, N), generator=random, dtype=torch.float64).to(dtype)
        self.wide = self.bias.double()
        self.mask = self.share > 0.5
        self.log, self.damping = [], 0.5
        vars(self).update(attributes)

    def init(self, graph):
        random = torch.Generator().manual_seed(2)
        return torch.rand(N, generator=random, dtype=torch.float64).to(self.dtype), graph.everything()

    def compute(self, sub, x, active):
        def received(data, **options):
            return tg.aggregate(sub, data, **options).values

        new = self.step(self, sub, x, received)
        return new if isinstance(new, tuple) else (new.to(self.dtype), active)


def both(step, graph=None, **attributes):
    """(fused, as written): the run and its program, whose values must agree."""
    graph, found = graph_of() if graph is None else graph, []
    for fuse in (True, False):
        program = Plain(step, **attributes)
        found.append((tg.run(program, graph, fuse=fuse, trace=True), program))
    (fused, _), (written, _) = found
    assert fused.iterations == written.iterations
    torch.testing.assert_close(fused.values, written.values, rtol=2e-5, atol=1e-6, equal_nan=True)
    assert not any("affine_step" in choice for choice in written.trace.choices)
    return found


def is_fused(run):
    return [choice.split(":")[0] for choice in run.trace.choices] == ["affine_step"]


def pagerank(self, sub, x, received):
    lost = x[sub.graph.out_degree == 0].sum()
    share = x / sub.graph.out_degree.clamp(min=1)
    return (1 - self.damping) / N + self.damping * (received(share) + lost / N)


LINEAR = {
    "pagerank": pagerank,
    "katz": lambda self, sub, x, received: 0.05 * received(x) + 1,
    "scaled twice": lambda self, sub, x, received: -(0.1 * received(2 * x * self.share / self.bias) - self.bias),
    "two vectors": lambda self, sub, x, received: 0.1 * received(x) + 0.3 * self.bias + self.damping * self.share,
    "heat": lambda self, sub, x, received: x + 0.01 * (received(x) - sub.graph.out_degree * x),
    "reverse": lambda self, sub, x, received: tg.aggregate(sub.reverse(), x).values * 0.1 + x / 2,
    "whole graph": lambda self, sub, x, received: 1 - 0.1 * tg.aggregate(sub.graph, x),
    "normalised": lambda self, sub, x, received: (lambda y: y / y.sum())(received(x)),
    "updated": lambda self, sub, x, received: tg.update(
        x, sub.active, tg.aggregate(sub, x * self.share), lambda old, new: 0.1 * new + 0.5 * old
    ),
    "a new vector each time": lambda self, sub, x, received: received(x * torch.full((N,), 0.1)) + torch.ones(N),
    "spreading": lambda self, sub, x, received: self.share * received(self.share * x) * 0.1 + 0.1 * self.bias,
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_affine_programs_are_fused(name, directed, dtype):
    (fused, _), _ = both(LINEAR[name], graph_of(directed), dtype=dtype)
    assert is_fused(fused), fused.trace.choices


@pytest.mark.parametrize("weights", [None, 0.5, "own"])
def test_weighted_sums_are_fused(weights):
    graph = graph_of(weighted=True)
    given = torch.rand(graph.num_arcs) if weights == "own" else weights
    (fused, _), _ = both(lambda self, sub, x, received: 0.1 * received(x, edge="mul", weights=given), graph)
    assert is_fused(fused)


def test_of_two_sums_each_is_a_step():
    (fused, _), _ = both(lambda self, sub, x, received: 0.1 * received(x) + 0.1 * tg.aggregate(sub.reverse(), x).values)
    assert is_fused(fused)


@pytest.mark.parametrize(
    "step",
    [
        lambda self, sub, x, received: 0.1 * received(x, reduce="max"),
        lambda self, sub, x, received: 0.1 * received(x.double(), dtype=torch.float64),
        lambda self, sub, x, received: 0.1 * received(x[:, None]).squeeze(1),
        lambda self, sub, x, received: 0.1 * received(x * self.wide),
        lambda self, sub, x, received: received(x.round().long()).float() * 0.1,
        lambda self, sub, x, received: self.log.append(1) or received(x) * (0.1 / len(self.log)),
        lambda self, sub, x, received: (0.1 * received(x * self.share) + self.bias).index_fill_(0, self.mask.long(), 1),
    ],
)
def test_others_run_as_written(step):
    both(step)


# ---- random programs ------------------------------------------------------------------------------------------------

leaves = st.sampled_from(["x", "received(x)", "received(x * self.share)", "self.share", "self.bias", "0.5", "-2", "1"])
leaves |= st.sampled_from(["sub.graph.out_degree", "x.sum() / N", "x[self.mask].mean()", "self.damping", "self.wide"])


def composed(inner):
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda each: f"({each[0]} {each[1]} {each[2]})"),
        inner.map(lambda each: f"(-{each})"),
        inner.map(lambda each: f"({each} / 4)"),
        inner.map(lambda each: f"({each} / (self.share + 1))"),
        inner.map(lambda each: f"abs({each})"),
        inner.map(lambda each: f"torch.clamp(torch.as_tensor({each}), -3, 3)"),
        inner.map(lambda each: f"received(0.1 * x + {each} * self.share)"),
    )


@given(st.lists(st.recursive(leaves, composed, max_leaves=6), min_size=1, max_size=3), st.booleans())
@settings(max_examples=5 * settings().max_examples, deadline=None)
def test_random_programs(expressions, in_place):
    lines = [f"y{i} = {text}" for i, text in enumerate(expressions)]
    total = " + ".join(f"y{i}" for i in range(len(expressions)))
    lines.append(f"y = 0.05 * ({total}) + 0.1 * x")
    if in_place:
        lines += ["self.log.append(1)", "z = y + self.bias", "y *= 0.5", "x -= 1", "y = y + 0.1 * z"]
    lines.append(
        "return torch.tanh(y) if len(self.log) % 2 else y / (1 + abs(y))" if in_place else "return y / (1 + abs(y))"
    )
    source = "def step(self, sub, x, received):\n    " + "\n    ".join(lines)
    scope = {"torch": torch, "N": N, "abs": abs, "len": len}
    exec(source, scope)
    (fused, _), _ = both(scope["step"], dtype=torch.float64)
    is_pure = not in_place and "received(" in "".join(expressions)
    assert (fused.trace.conditions.computed == "by affine steps") == is_pure


# ---- side effects ---------------------------------------------------------------------------------------------------


def test_attributes_that_compute_changes():
    def step(self, sub, x, received):
        self.damping *= 0.9
        self.share.mul_(0.5)
        y = self.damping * received(x * self.share) + self.bias
        self.bias += 1
        return y

    (_, program), (_, other) = both(step)
    assert program.damping == other.damping and torch.equal(program.share, other.share)


def test_what_is_kept_is_not_overwritten():
    def step(self, sub, x, received):
        y = 0.1 * received(x * self.share)
        self.log += [x, y, y + self.bias, y[:3], 1 / self.share]
        return y + self.bias

    (_, program), (_, other) = both(step, rounds=8)
    for one, another in zip(program.log, other.log, strict=True):
        torch.testing.assert_close(one + 0, another)


def test_what_is_written_to_after_it_was_used():
    def step(self, sub, x, received):
        inverse, twice = 1 / self.share, 1 / self.share
        y = received(x * inverse) * 0.01
        inverse += 1
        x *= 3
        z = y + 0.01 * received(x) + twice
        y[:5] = 0
        return z + y + 0.001 * inverse

    both(step)


def test_branches_on_values():
    def step(self, sub, x, received):
        y = 0.1 * received(x)
        if y.sum() > 2:
            y = y + self.bias
        self.log.append(float(y.max()))
        return y if self.log[-1] < 5 else y / y.max()

    (_, program), (_, other) = both(step)
    assert program.log == pytest.approx(other.log)


def test_tensors_that_outlive_compute_are_tensors():
    def step(self, sub, x, received):
        self.kept = 0.1 * received(x)
        self.inverse = 1 / self.share
        return self.kept + self.inverse

    (_, program), (_, other) = both(step)
    for name in ("kept", "inverse"):
        found, expected = getattr(program, name), getattr(other, name)
        assert found.shape == (N,) and found.dtype == torch.float32
        torch.testing.assert_close(torch.stack([found, found])[0], expected)
        torch.testing.assert_close(found.clone().numpy(), expected.numpy())
        found[0] = 7.0
        assert found.tolist()[0] == 7.0


def test_constants_of_other_dtypes_are_others():
    """Kept with the graph, for programs that differ in the type of a number only."""
    graph = graph_of()
    for least in (1, 1.0, 1):

        def by_degree(self, sub, x, received, least=least):
            return received(x * sub.graph.out_degree.clamp(min=least).pow(-1.0))

        both(by_degree, graph)
    for zero in (0.0, -0.0):

        def signed(self, sub, x, received, zero=zero):
            return received(x) + (self.share * zero).reciprocal().clamp(max=1, min=-1)

        both(signed, graph)


def test_constants_are_not_shared_with_what_the_program_writes_to():
    def step(self, sub, x, received):
        one, other = (1 / self.share).float(), (1 / self.share).float()
        other *= 0
        first, second = 1 / self.share, 1 / self.share
        first[torch.tensor(0)].mul_(100)
        return received(x) + one + second

    both(step)
    graph = graph_of()

    def constant(self, sub, x, received):
        received(x)
        return (1 / (1 + sub.graph.out_degree)).float()

    runs = [tg.run(Plain(constant), graph) for _ in range(2)]
    expected = runs[1].values.clone()
    runs[0].values.zero_()
    assert torch.equal(runs[1].values, expected)


def test_distances_from_data_that_was_written_to():
    class Zeroed(Walk):
        tolerance, rounds = None, 3

        def compute(self, sub, rank, active):
            result = super().compute(sub, rank, active)
            rank.zero_()
            return result

    runs = [tg.run(Zeroed(), graph_of(), fuse=fuse) for fuse in (True, False)]
    assert runs[0].residual == pytest.approx(runs[1].residual, rel=1e-5)


@pytest.mark.parametrize("function", [torch.add, torch.sub])
def test_functions_of_three_operands(function):
    both(lambda self, sub, x, received: 0.1 * function(received(x), 2, self.bias))


def test_weights_of_a_wider_dtype():
    graph = graph_of()
    weights = torch.rand(graph.num_arcs, dtype=torch.float64)
    for data in (weights, None):
        own = graph if data is not None else tg.Graph(graph.offset, graph.neighbors, weights)
        dtypes = []

        def step(self, sub, x, received, data=data, dtypes=dtypes):
            y = received(x, edge="mul", weights=data)
            dtypes.append(y.dtype)
            return y

        both(step, own)
        assert set(dtypes) == {torch.float64}


def test_errors_are_raised_where_they_are_made():
    def step(self, sub, x, received):
        try:
            return received(x, edge="mul")  # the graph has no weights
        except tg.errors.ArgumentError:
            return received(x)

    both(step)


def test_scripts_that_write():
    write = torch.jit.script(_double)

    def step(self, sub, x, received):
        y = received(x)
        write(x)
        return y

    both(step)


def _double(x: torch.Tensor) -> None:
    x.mul_(2)


def test_nothing_is_recorded_beside_access_to_memory():
    def by_numpy(self, sub, x, received):
        array = x.numpy()
        y = received(x)
        array *= 2
        return y

    def by_data(self, sub, x, received):
        data = x.data
        y = received(x)
        data.mul_(2)
        return y

    for step in (by_numpy, by_data):
        both(step)


# ---- when -----------------------------------------------------------------------------------------------------------


class Walk(tg.Program):
    """The first program of the guide to power iterations, which ends at a tolerance."""

    tolerance = 1e-5

    def init(self, graph):
        return torch.full((N,), 1 / N), graph.everything()

    def compute(self, sub, rank, active):
        share = rank / sub.graph.out_degree.clamp(min=1)
        return tg.update(rank, active, tg.aggregate(sub, share), lambda old, new: 0.15 / N + 0.85 * new)

    def residual(self, before, after):
        return (after - before).abs().sum()


def test_a_tolerance_is_met_in_the_same_iteration():
    runs = [tg.run(Walk(), graph_of(), fuse=fuse) for fuse in (True, False)]
    assert runs[0].iterations == runs[1].iterations
    assert runs[0].residual == pytest.approx(runs[1].residual, rel=1e-2)
    assert torch.allclose(runs[0].values, runs[1].values, rtol=1e-5)
    assert type(runs[0].values) is torch.Tensor


def test_nothing_changes_at_a_fixpoint():
    class Still(Walk):
        tolerance = None

        def compute(self, sub, rank, active):
            return tg.update(rank, active, tg.aggregate(sub, rank * 0), lambda old, new: new + 1)

    assert tg.run(Still(), graph_of()).iterations == tg.run(Still(), graph_of(), fuse=False).iterations == 2


def test_gradients_are_recorded_as_written():
    start = torch.rand(N, requires_grad=True)

    class From(Walk):
        rounds, tolerance = 2, None

        def init(self, graph):
            return start, graph.everything()

    run = tg.run(From(), graph_of(), trace=True)
    assert not is_fused(run)
    run.values.sum().backward()
    assert start.grad is not None


@pytest.mark.parametrize("options", [{"mode": "push"}, {"backend": "portable"}, {"fuse": False}])
def test_what_is_asked_for_is_not_fused(options):
    run = tg.run(Walk(), graph_of(), trace=True, **options)
    assert not any("affine_step" in choice for choice in run.trace.choices)


def test_a_program_that_chooses_its_arcs_is_not_fused():
    class Other(Walk):
        tolerance, rounds = None, 3

        def tensorize(self, graph, active, mode):
            self.other = tg.Graph.from_edges(*graph.to_edge_index().roll(1, 1), num_vertices=N)
            return super().tensorize(self.other, self.other.everything(), "pull")

    runs = [tg.run(Other(), graph_of(), fuse=fuse, trace=True) for fuse in (True, False)]
    assert not is_fused(runs[0]) and torch.equal(runs[0].values, runs[1].values)


def test_small_graphs_are_not_fused(monkeypatch):
    monkeypatch.setattr(fusion, "LEAST_ARCS", 1 << 18)
    assert not is_fused(tg.run(Walk(), graph_of(), trace=True))


@pytest.mark.parametrize("layout", ["sell", "virtual"])
def test_layouts(layout):
    graph = graph_of()
    found, expected = tg.run(Walk(), graph.to_format(layout)), tg.run(Walk(), graph, fuse=False)
    assert torch.allclose(found.values, expected.values, rtol=1e-5)


def test_a_checkpoint_goes_on_with_the_same_bits(tmp_path):
    class Brief(Walk):
        max_iterations = 3

    graph = graph_of()
    with pytest.raises(tg.errors.NotConvergedError):
        tg.run(Brief(), graph, checkpoint=tmp_path / "state")
    resumed = tg.run(Brief(), graph, checkpoint=tmp_path / "state", max_iterations=100)
    assert torch.equal(resumed.values, tg.run(Walk(), graph, fuse=False).values)


def test_dicts_of_vertex_data():
    class HITS(Walk):
        def init(self, graph):
            return {"hub": torch.full((N,), 1 / N), "authority": torch.zeros(N)}, graph.everything()

        def compute(self, sub, score, active):
            authority = tg.aggregate(sub, score["hub"]).values
            authority = authority / authority.sum()
            hub = tg.aggregate(sub.reverse(), authority).values
            return {"hub": hub / hub.sum(), "authority": authority}, active

        def residual(self, before, after):
            return (after["hub"] - before["hub"]).abs().sum()

    run = tg.run(HITS(), graph_of(), trace=True)
    hubs, authorities = tg.algorithms.hits(graph_of(), tol=1e-5)
    assert is_fused(run)
    assert torch.allclose(run.values["hub"], hubs, atol=1e-6)
    assert torch.allclose(run.values["authority"], authorities, atol=1e-6)


def test_graphs_that_stream_run_as_written(tmp_path):
    graph = graph_of()
    tg.write(graph, tmp_path / "graph.tg")
    run = tg.run(Walk(), tg.open(tmp_path / "graph.tg", memory="1MB"), trace=True)
    assert not is_fused(run) and torch.allclose(run.values, tg.run(Walk(), graph).values, rtol=1e-4)


def test_inference_mode():
    def step(self, sub, x, received):
        y = 0.1 * received(x * self.share)
        with torch.inference_mode():
            z = y * 0.5 + (1 / self.share) * received(x)
            y = y + z
        return y

    both(step)
    graph = graph_of()
    with torch.inference_mode():
        run = tg.run(Walk(), graph)
    assert torch.allclose(run.values, tg.run(Walk(), graph).values, rtol=1e-4)


def test_transforms_in_a_program():
    def step(self, sub, x, received):
        rows = torch.stack([self.share, self.bias])
        y = torch.vmap(lambda row: row * x + (1 / self.share) * row)(rows).sum(0)
        slope = torch.func.grad(lambda z: (z * z * self.share).sum())(x)
        return 0.1 * received(x) + 0.01 * y + 0.1 * slope

    both(step)
