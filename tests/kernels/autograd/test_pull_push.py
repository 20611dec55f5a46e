"""The registered operators: what torch asks of an operator, derivatives of any order, and aggregates under
torch.compile. That they compute the right values is held in `test_operators`."""

import itertools

import pytest
import torch
from backends import native, portable
from native_samples import pull, push, subgraphs
from strategies import random_graph

import tgraph as tg
from tgraph.core.csr import Csr
from tgraph.core.rows import Selection
from tgraph.core.system import native as compiled
from tgraph.errors import ArgumentError
from tgraph.kernels import BACKENDS, Backend, Implementation, cuda
from tgraph.kernels.autograd import pull_push
from tgraph.kernels.autograd.structured import StructuredOperator

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
GENERAL = [name for name, each in BACKENDS.items() if "push_rows" in each.operators and name != cuda.name]


@pytest.fixture(params=GENERAL)
def kernels(request):
    """The backends that compute every operator on the CPU; those of CUDA are tested with their kernels."""
    if request.param == native.name and tg.core.system.native.load() is None:
        pytest.skip("the native kernels are not installed")
    return request.param


def random(*shape, dtype=torch.float64, seed=0):
    values = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return (values * 4).round().to(dtype) if not dtype.is_floating_point else values.to(dtype)


def arcs_of(graph, whole=True):
    """(arcs, active_mask, transpose, inverse_permutation) of a pull to the vertices of a graph: over all arcs, or the
    first two of some rows, from some neighbours."""
    reverse = graph.transpose()
    if whole:
        transpose = Csr.unchecked(graph.offset, graph.neighbors, None, graph.num_vertices)
        return Selection(reverse.offset, reverse.neighbors), None, transpose, graph.transpose_permutation
    active_mask = torch.arange(graph.num_vertices) % 3 != 1
    return Selection(reverse.offset, reverse.neighbors, torch.tensor([4, 0, 3, 3]), width=2), active_mask, None, None


def opcheck(operator, arguments, dynamic=True):
    if isinstance(operator, StructuredOperator):
        operator, arguments = operator.operator, operator.flat(*arguments)
    tests = ["test_schema", "test_autograd_registration", "test_faketensor"]
    torch.library.opcheck(operator, arguments, test_utils=[*tests, "test_aot_dispatch_dynamic"] if dynamic else tests)


# ---- what torch asks of an operator ---------------------------------------------------------------------------------


REDUCTIONS, EDGES = ("sum", "mean", "min", "max", "prod", "any", "all"), ("copy", "add", "mul", "min", "max")
# Of each kind: torch asks the same of all.
OFTEN = {("sum", "mul"), ("max", "copy"), ("any", "min")}


@pytest.mark.parametrize(
    ("reduce", "edge"),
    [
        pytest.param(*pair, marks=() if pair in OFTEN else pytest.mark.thorough)
        for pair in itertools.product(REDUCTIONS, EDGES)
    ],
)
def test_opcheck_of_pulls_and_pushes(reduce, edge):
    graph = random_graph(6, 14)
    differentiable = reduce in ("sum", "mean", "min", "max") and edge in ("copy", "add", "mul")
    for whole, columns, heads in ((True, 4, 2), (False, 1, 1)):
        structure, how = arcs_of(graph, whole), (reduce, edge, "auto")
        arcs = structure[0]
        weights = None if edge == "copy" else random(arcs.num_arcs, heads).requires_grad_(differentiable)
        data = random(6, columns).requires_grad_(differentiable)
        opcheck(pull_push.pull, (data, weights, None, *structure, *how), dynamic=differentiable)
        data = random(arcs.num_rows, columns).requires_grad_(differentiable)
        opcheck(pull_push.push, (data, weights, arcs, *how), dynamic=differentiable)


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [*FLOATS, torch.int32, torch.int64, torch.uint8, torch.int8, torch.bool])
def test_opcheck_of_dtypes(dtype, kernels):
    graph = random_graph(6, 14)
    structure = arcs_of(graph)
    arcs, active_mask, *_ = structure
    data = random(6, 4, dtype=dtype)
    reduces = ["min", "max", "any"] if dtype in (torch.int8, torch.bool) else ["sum", "max", "any"]
    for reduce in reduces:
        choice = "auto" if kernels == native.name else kernels
        opcheck(pull_push.pull, (data, None, None, *structure, reduce, "copy", choice), dynamic=False)
    if dtype.is_floating_point:
        dynamic = dtype in (torch.float32, torch.bfloat16)  # torch follows shapes in the same way whatever their dtype
        data = data.requires_grad_()
        weights = random(graph.num_arcs, 2, dtype=dtype).requires_grad_()
        opcheck(pull_push.pull, (data, weights, None, *structure, "sum", "mul", kernels), dynamic)
        opcheck(pull_push.push, (data, weights, arcs, "sum", "mul", kernels), dynamic)
        opcheck(pull_push.products, (data, data, graph.num_arcs, 2, *structure, kernels), dynamic)
        best, rest = pull_push.pull(data.detach(), None, None, *structure, "max", "copy", kernels), ("max", "copy")
        opcheck(pull_push.argreduce, (data.detach(), None, best, arcs, active_mask, "pull", *rest, kernels), dynamic)


@pytest.mark.skipif(compiled.load() is None, reason="the native kernels are not installed")
@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(torch.float64, marks=pytest.mark.thorough)])
def test_opcheck_of_argreduce(dtype):
    graph = random_graph(6, 14)
    for rows in (None, torch.tensor([3, 0])):
        data, reverse = random(6, 4, dtype=dtype).requires_grad_(), graph.transpose()
        arcs = Selection(reverse.offset, reverse.neighbors, rows)
        best, index = pull_push.segment_argreduce(data.detach(), arcs, None, "max", "native")
        structure = (arcs, None, None, None)
        assert torch.equal(best, pull_push.pull(data.detach(), None, None, *structure, "max", "copy", "portable"))
        opcheck(pull_push.segment_argreduce, (data, arcs, None, "max", "native"))
        opcheck(pull_push.scatter_argreduce, (torch.ones_like(best).requires_grad_(), index, arcs, "native"))


def test_opcheck_of_segments():
    offset, index = torch.tensor([0, 3, 3, 4, 9]), torch.tensor([0, 2, 2, 1, 0, 3, 3, 3, 1])
    for dtype, shape in ((torch.float32, (9,)), (torch.float64, (9, 2, 3)), (torch.int64, (9, 2))):
        values, dynamic = random(*shape, dtype=dtype).requires_grad_(dtype.is_floating_point), shape == (9,)
        opcheck(torch.ops.tgraph.take.default, (values, index), dynamic=dynamic)
        opcheck(torch.ops.tgraph.add_at.default, (values, index, 5), dynamic=dynamic)
        for reduce in ("sum", "min", "max", "prod"):
            opcheck(torch.ops.tgraph.segment_reduce.default, (values, offset, reduce), dynamic=dynamic)


def test_fake_tensors_have_the_shapes_and_dtypes_of_real_ones():
    graph = random_graph(6, 14)
    for whole, reduce, dtype in itertools.product((True, False), ("sum", "max", "any"), (torch.float32, torch.int64)):
        structure, data = arcs_of(graph, whole), random(6, 3, dtype=dtype)
        arcs = structure[0]
        given = pull_push.pull.flat(data, None, None, *structure, reduce, "copy", "auto")
        real, fake = pull_push.pull.operator(*given), pull_push.pull.operator(*_on_meta(given))
        assert (fake.shape, fake.dtype, fake.stride()) == (real.shape, real.dtype, real.stride())
        given = pull_push.push.flat(data[: arcs.num_rows], None, arcs, reduce, "copy", "auto")
        real, fake = pull_push.push.operator(*given), pull_push.push.operator(*_on_meta(given))
        assert (fake.shape, fake.dtype, fake.stride()) == (real.shape, real.dtype, real.stride())


def _on_meta(arguments):
    return [x.to("meta") if isinstance(x, torch.Tensor) else x for x in arguments]


# ---- derivatives ----------------------------------------------------------------------------------------------------


def aggregated(sub, reduce, edge, backend):
    """Of data, weights: what is received, 0 where nothing was."""
    if not isinstance(sub, tg.Graph):
        sub.backend = backend

    def function(data, weights):
        received = tg.aggregate(sub, data, reduce, edge=edge, weights=weights)
        values = received if isinstance(received, torch.Tensor) else received.values
        return torch.where(values.isinf(), 0, values)

    return function


@pytest.mark.thorough
@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max", "prod"])
@pytest.mark.parametrize("edge", ["copy", "add", "mul", "min", "max"])
@pytest.mark.parametrize("backend", ["auto", "portable"])
def test_first_and_second_derivatives(reduce, edge, backend):
    """Of the fused operators and message by message; the random numbers hold no ties and no zeros."""
    for directed, shape, wide in ((True, (), ()), (False, (2,), (2,)), (True, (2, 2), (2,))):
        graph = random_graph(5, 7, directed=directed)
        data = random(5, *shape, seed=3).requires_grad_()
        weights = random(graph.num_arcs, *wide, seed=4).requires_grad_()
        partial = pull(graph, graph.select([0, 2, 3]), torch.tensor([4, 1]))
        for sub in (graph, partial, push(graph), push(graph, torch.tensor([3, 0]))):
            function = aggregated(sub, reduce, edge, backend)
            assert torch.autograd.gradcheck(function, (data, weights))
            assert torch.autograd.gradgradcheck(function, (data, weights))


@pytest.mark.parametrize(("reduce", "edge"), [("sum", "mul"), ("mean", "add"), ("max", "mul"), ("min", "copy")])
def test_backends_agree_on_gradients(reduce, edge, kernels):
    graph = random_graph(20, 90)
    data, weights = random(20, 6).requires_grad_(), random(graph.num_arcs, 3, seed=1).requires_grad_()
    wanted = (data, weights)[: 1 + (edge != "copy")]
    for sub in subgraphs(graph):
        found = []
        for backend in (kernels if edge in ("copy", "mul") else "auto", "portable"):
            values = aggregated(sub, reduce, edge, backend)(data.view(20, 3, 2), weights)
            found.append(torch.autograd.grad(values, wanted, values.detach().cos(), allow_unused=True))
        torch.testing.assert_close(*found)


def test_the_first_of_equal_messages_and_of_nans_is_chosen(kernels):
    """Along a row, on every backend, whichever way the gradient is taken."""
    graph = tg.Graph.from_edges([0, 1, 2, 0, 1], [3, 3, 3, 4, 4])
    data = torch.tensor([1.0, torch.nan, torch.nan, 0, 0], requires_grad=True)
    even = torch.tensor([1.0, 1, 1, 0, 0], requires_grad=True)
    for edge in ("copy", "min"):  # fused, and message by message
        weights = None if edge == "copy" else torch.full((5,), 9.0)
        for sub, reduce in itertools.product((pull(graph, graph.everything()), push(graph)), ("min", "max")):
            function = aggregated(sub, reduce, edge, kernels if edge == "copy" else "portable")
            assert torch.autograd.grad(function(data, weights)[3], data)[0].tolist() == [0, 1, 0, 0, 0]
            assert torch.autograd.grad(function(even, weights)[3:].sum(), even)[0].tolist() == [2, 0, 0, 0, 0]


def test_operators_refuse_gradients_that_they_do_not_have():
    graph = random_graph(6, 14)
    data = random(6, 2).requires_grad_()
    with pytest.raises(NotImplementedError, match="reduce='prod'"):
        pull_push.pull(data, None, None, *arcs_of(graph), "prod", "copy", "auto").sum().backward()
    weights = random(graph.num_arcs, 1)
    with pytest.raises(NotImplementedError, match="edge='min'"):
        pull_push.push(data, weights, arcs_of(graph)[0], "sum", "min", "auto").sum().backward()


def test_a_backend_without_gradients_gets_them(monkeypatch):
    """All that it offers is an `aggregate` that records nothing."""
    served = []

    def aggregate(sub, data, *others):
        assert not data.requires_grad and sub.mode == "pull"
        served.append(data)
        return portable.aggregate(sub, data, *others)

    def refuses(call):
        return "it records no gradients" if call.needs_gradient else None

    monkeypatch.setitem(BACKENDS, "plain", Backend("plain", {"aggregate": Implementation(aggregate, refuses)}))
    graph = random_graph(5, 9, dtype=torch.float64)
    for reduce in ("sum", "mean", "max"):
        function = aggregated(tg.Program().tensorize(graph, graph.everything(), "pull"), reduce, "mul", "plain")
        inputs = (random(5, 2).requires_grad_(), graph.weights.clone().requires_grad_())
        assert torch.autograd.gradcheck(function, inputs) and torch.autograd.gradgradcheck(function, inputs)
    assert served


def test_derived_data_stays_with_the_graph(monkeypatch):
    """Operators are given tensors, yet find the graph with what backends keep there."""
    graph = random_graph(6, 14, dtype=torch.float64)
    data = random(6, 2).requires_grad_()
    made = []
    monkeypatch.setattr(pull_push, "Graph", lambda *tensors: made.append(tensors) or tg.Graph(*tensors))
    for function in (lambda x: tg.aggregate(graph, x, "sum", edge="mul"), lambda x: tg.aggregate(graph, x, "max")):
        (grad,) = torch.autograd.grad(function(data).square().sum(), data, create_graph=True)
        grad.sum().backward()
        torch.compile(function, fullgraph=True, backend="aot_eager")(data).sum().backward()
    assert not made
    copied = Selection(graph.offset.clone(), graph.neighbors.clone())
    pull_push.pull(data, None, None, copied, None, None, None, "sum", "copy", "auto")
    assert made


def test_operators_check_arcs_that_belong_to_no_graph():
    offset, neighbors = torch.tensor([0, 1, 2]), torch.tensor([1, 7], dtype=torch.int32)
    with pytest.raises(ArgumentError, match="7 at position 1 is no vertex"):
        pull_push.pull(random(2, 1), None, None, Selection(offset, neighbors), None, None, None, "sum", "copy", "auto")


# ---- torch.compile --------------------------------------------------------------------------------------------------


def compiled(function, backend="aot_eager"):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend=backend)


@pytest.mark.thorough
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "prod", "any"])
@pytest.mark.parametrize("edge", ["copy", "mul", "min"])
def test_compiled_aggregates_equal_eager_ones(reduce, edge):
    for directed, grad in itertools.product((True, False), (True, False)):
        graph = random_graph(9, 30, directed=directed, dtype=torch.float64)
        data = random(9, 4).requires_grad_(grad)
        weights = None if edge == "copy" else random(graph.num_arcs, seed=1).requires_grad_(grad)

        def function(data, weights, graph=graph):
            return tg.aggregate(graph, data, reduce, edge=edge, weights=weights)

        found, expected = compiled(function)(data, weights), function(data, weights)
        assert torch.equal(found, expected)
        if grad and reduce != "any":
            inputs = [x for x in (data, weights) if x is not None]
            grads = [torch.autograd.grad(x.clamp(-9, 9).square().sum(), inputs) for x in (found, expected)]
            torch.testing.assert_close(*grads)


@pytest.mark.parametrize(
    "dtype",
    [
        torch.int64,
        torch.bfloat16,
        *(pytest.param(dtype, marks=pytest.mark.thorough) for dtype in (torch.int8, torch.bool)),
    ],
)
def test_compiled_integers_and_other_dtypes(dtype):
    graph, data = random_graph(9, 30, dtype=torch.int64), random(9, 2, dtype=dtype)

    def function(data):
        calls = itertools.product(("sum", "mean", "max"), ({}, {"edge": "add", "weights": 2}))
        return [tg.aggregate(graph, data, reduce, **how) for reduce, how in calls]

    for one, other in zip(compiled(function)(data), function(data), strict=True):
        assert one.dtype == other.dtype and torch.equal(one, other)


def test_compiled_sums_in_another_dtype():
    graph = random_graph(9, 30, dtype=torch.int64)
    wide = compiled(lambda data: tg.aggregate(graph, data, "sum", dtype=torch.float64))(torch.ones(9))
    assert wide.dtype == torch.float64


class Layers(torch.nn.Module):
    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.first, self.last = torch.nn.Linear(3, 8), torch.nn.Linear(8, 2)
        self.gates = torch.nn.Parameter(torch.rand(graph.num_arcs, 8))

    def forward(self, x):
        x = tg.aggregate(self.graph, self.first(x), "mean").relu()
        x = x + tg.aggregate(self.graph, x, "sum", edge="mul", weights=self.gates)
        x = x + tg.aggregate(self.graph, x, "max").relu()
        return tg.aggregate(self.graph, self.last(x), "sum", edge="mul")


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.thorough)])
def test_a_compiled_module(backend):
    torch.manual_seed(0)  # which the layers are drawn with
    model = Layers(random_graph(9, 30, dtype=torch.float32))
    data, fast = random(9, 3, dtype=torch.float32), compiled(model, backend)
    grads = []
    for found in (fast(data), model(data)):
        grads.append((found, *torch.autograd.grad(found.sum(), list(model.parameters()))))
    torch.testing.assert_close(*grads)


@pytest.mark.thorough
def test_a_compiled_module_on_another_graph():
    model = Layers(random_graph(9, 30, dtype=torch.float32, seed=0))
    fast, data = compiled(model), random(9, 3, dtype=torch.float32)
    fast(data)
    model.graph = random_graph(9, 30, dtype=torch.float32, seed=1)
    torch.testing.assert_close(fast(data), model(data))
    model.graph.drop_caches()
    torch.testing.assert_close(fast(data), model(data))


def test_the_trace_shows_one_operator_for_an_aggregate():
    graph, seen = random_graph(9, 30), []

    def record(module, inputs):
        seen.extend(str(node.target) for node in module.graph.nodes if node.op == "call_function")
        return module.forward

    compiled(lambda x: tg.aggregate(graph, x, "sum"), record)(random(9, 4))
    assert [name for name in seen if "tgraph" in name] == ["tgraph.pull.default"]


def test_compiled_weights_of_the_graph_record_gradients():
    shape = random_graph(9, 30, dtype=torch.float64)
    weights = shape.weights.clone().requires_grad_()
    graph, data = tg.Graph(shape.offset, shape.neighbors, weights), random(9, 2)

    def function(data):
        return tg.aggregate(graph, data, "sum", edge="mul").square().sum()

    grads = [torch.autograd.grad(call(data), weights)[0] for call in (compiled(function), function)]
    torch.testing.assert_close(*grads)


# ---- transforms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_forward_mode_of_a_pull(reduce):
    graph = random_graph(6, 20)
    data, tangent = random(6), random(6, seed=1)

    def function(x):
        return tg.aggregate(graph, x, reduce).clamp(-99, 99)

    found = torch.func.jvp(function, (data,), (tangent,))[1]
    torch.testing.assert_close(found, torch.autograd.functional.jacobian(function, data) @ tangent)
