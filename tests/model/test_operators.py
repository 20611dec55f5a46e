"""The five operators against a reference in plain Python: every reduction, edge operation, direction and frontier."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import FLOATS, INTEGERS, arcs, exact_weights, graphs, random_graph

import tgraph as tg
from tgraph.core.subgraph import arc_weights
from tgraph.errors import ArgumentError
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

IDENTITY = {"sum": 0, "mean": 0, "prod": 1, "any": False, "all": True}
EDGE = {"copy": lambda x, w: x, "add": torch.add, "mul": torch.mul, "min": torch.minimum, "max": torch.maximum}
REDUCE = {
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(0),
    "min": lambda x: x.amin(0),
    "max": lambda x: x.amax(0),
    "prod": lambda x: x.prod(0),
    "any": lambda x: (x != 0).any(0),
    "all": lambda x: (x != 0).all(0),
}
MODES = ("push", "pull")
PAIRS = list(itertools.product(REDUCE, EDGE))


def identity(reduce, dtype):
    if reduce in IDENTITY:
        return IDENTITY[reduce]
    if dtype.is_floating_point:
        return torch.inf if reduce == "min" else -torch.inf
    return torch.iinfo(dtype).max if reduce == "min" else torch.iinfo(dtype).min


def messages(graph, data, edge="copy", weights=None):
    """One arc after the other: (sender, receiver, message)."""
    sent = []
    for position, (u, v, weight) in enumerate(arcs(graph)):
        if isinstance(weights, torch.Tensor) and weights.dim():
            weight = weights[position]
            weight = weight.reshape(weight.shape + (1,) * (data.dim() - 1 - weight.dim()))
        elif weights is not None:
            weight = weights
        sent.append((u, v, data[u] if edge == "copy" else EDGE[edge](data[u], torch.as_tensor(weight))))
    return sent


def collected(sent, reduce, senders=None):
    """{receiver: what it receives}; those without a message are left out."""
    found = {}
    for u, v, message in sent:
        if senders is None or u in senders:
            found.setdefault(v, []).append(message)
    return {v: REDUCE[reduce](torch.stack(each)) for v, each in found.items()}


def reference(graph, data, reduce, edge="copy", weights=None, senders=None):
    """What each receiver of a message receives."""
    return collected(messages(graph, data, edge, weights), reduce, senders)


def subgraph(graph, active, mode, backend="auto"):
    """TENSORIZE by the operators alone."""
    if mode == "pull":
        reverse = graph.transpose()
        sub = tg.reconstruct(graph, active, None, tg.neighbor_select(reverse, None), "pull")
    else:
        vertices = tg.vertex_select(graph, active)
        sub = tg.reconstruct(graph, active, vertices, tg.neighbor_select(graph, vertices))
    sub.backend = backend
    return sub


def check(graph, received, expected, reduce, dtype, shape, exact=True):
    """Every vertex holds the value of the reference, or the identity of the reduction."""
    values, vertices = received.values, received.vertices
    assert values.dtype == dtype
    where = list(range(graph.num_vertices)) if vertices is None else vertices.tolist()
    assert values.shape == (len(where), *shape)
    assert len(set(where)) == len(where) and set(expected) <= set(where)
    wanted = torch.full(values.shape, identity(reduce, dtype), dtype=dtype)
    if places := [place for place, vertex in enumerate(where) if vertex in expected]:
        wanted[places] = torch.stack([expected[where[place]] for place in places]).to(dtype)
    assert torch.equal(values, wanted) if exact else torch.allclose(values, wanted), (where, values, wanted)


def frontiers(graph):
    """(frontier, senders): everything, nothing, by ids, by mask."""
    n = graph.num_vertices
    some = [v for v in range(n) if v % 3 != 1]
    mask = torch.tensor([v % 2 == 0 for v in range(n)], dtype=torch.bool)
    return [
        (graph.everything(), set(range(n))),
        (graph.nothing(), set()),
        (graph.select(some), set(some)),
        (graph.select(mask), set(range(0, n, 2))),
        (graph.select(torch.ones(n, dtype=torch.bool)), set(range(n))),
    ]


def numbers(shape, dtype, seed=0):
    """Small whole numbers, so that every sum and product of a few of them is exact in every dtype."""
    if dtype == torch.bool:
        return torch.randint(2, shape, generator=torch.Generator().manual_seed(seed)).bool()
    return torch.randint(0, 3, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


# ---- aggregate against the reference --------------------------------------------------------------------------------


@pytest.mark.covering(2)
@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("edge", EDGE)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_every_reduction_edge_operation_and_dtype(reduce, edge, dtype, backend):
    """On a graph of few arcs per vertex, with a hub, loops and parallel arcs; whole and partial frontiers."""
    for directed in (True, False):
        graph = random_graph(9, 14, directed=directed, dtype=dtype)
        for shape in ((), (2,), (2, 3)):
            data = numbers((9, *shape), dtype)
            result, sent = _result_dtype(reduce, dtype), messages(graph, data.double(), edge)
            for active, senders in frontiers(graph):
                expected = collected(sent, reduce, senders)
                if dtype.is_floating_point and any(float(x.max()) > 200 for x in expected.values()):
                    continue  # more than the narrow dtypes hold; the wider ones are compared below
                for mode in MODES:
                    received = tg.aggregate(subgraph(graph, active, mode, backend), data, reduce, edge=edge)
                    check(
                        graph,
                        received,
                        expected,
                        reduce,
                        result,
                        shape,
                        exact=reduce != "mean" or dtype == torch.float64,
                    )


def _result_dtype(reduce, dtype):
    if reduce in ("any", "all"):
        return torch.bool
    if dtype.is_floating_point or reduce in ("min", "max"):
        return dtype
    return torch.float32 if reduce == "mean" else torch.int64


def test_the_cases_above_reach_sums_and_products():
    graph = random_graph(9, 14, dtype=torch.float64)
    data = numbers((9,), torch.float64)
    for reduce in ("sum", "prod"):
        largest = [float(x.max()) for x in reference(graph, data, reduce, "mul").values()]
        assert max(largest) > 1


@pytest.mark.parametrize("reduce", REDUCE)
def test_bool_data(reduce, backend):
    graph = random_graph(9, 20)
    data = numbers((9,), torch.bool)
    dtype = torch.int64 if reduce in ("sum", "prod") else torch.float32 if reduce == "mean" else torch.bool
    empty = {**IDENTITY, "min": True, "max": False}[reduce]
    for active, senders in frontiers(graph):
        numeric = reference(graph, data.double(), reduce, senders=senders)
        expected = [float(numeric[v]) if v in numeric else float(empty) for v in range(9)]
        for mode in MODES:
            received = tg.aggregate(subgraph(graph, active, mode, backend), data, reduce)
            where = range(9) if received.vertices is None else received.vertices.tolist()
            assert received.values.dtype == dtype
            assert received.values.double().tolist() == pytest.approx([expected[v] for v in where])


@given(
    graphs(dtypes=(torch.float64,)),
    st.sampled_from(PAIRS),
    st.sampled_from(["none", "m", "m,1", "m,2", "number"]),
    st.data(),
)
def test_weights_of_every_form(graph, pair, form, data):
    """The graph's own, others per arc that need not be symmetric on an undirected graph, and numbers."""
    reduce, edge = pair
    m, n = graph.num_arcs, graph.num_vertices
    values = exact_weights(data.draw, 2 * n, torch.float64, -4, 8).view(n, 2)
    weights = {
        "none": lambda: None,
        "m": lambda: exact_weights(data.draw, m, torch.float64, -4, 8),
        "m,1": lambda: exact_weights(data.draw, m, torch.float64, -4, 8).view(m, 1),
        "m,2": lambda: exact_weights(data.draw, 2 * m, torch.float64, -4, 8).view(m, 2),
        "number": lambda: data.draw(st.sampled_from([0.75, 2, -1, torch.tensor(0.25)])),
    }[form]()
    senders = set(data.draw(st.lists(st.integers(0, max(n - 1, 0)), max_size=n)))
    partial = graph.select(sorted(senders)) if senders else graph.nothing()
    for active, sending in ((partial, senders), (graph.everything(), set(range(n)))):
        expected = reference(graph, values, reduce, edge, weights, sending)
        dtype = torch.bool if reduce in ("any", "all") else torch.float64
        for mode in MODES:
            received = tg.aggregate(subgraph(graph, active, mode), values, reduce, edge=edge, weights=weights)
            check(graph, received, expected, reduce, dtype, (2,), exact=reduce not in ("mean", "prod"))
    whole = tg.aggregate(graph, values, reduce, edge=edge, weights=weights)
    check(graph, tg.Received(whole), expected, reduce, dtype, (2,), exact=reduce not in ("mean", "prod"))


@given(graphs(dtypes=(torch.int64,)), st.sampled_from(list(REDUCE)), st.data())
def test_push_and_pull_agree_on_partial_frontiers(graph, reduce, data):
    """A pull reads rows that contain inactive vertices, whose messages must not count."""
    n = graph.num_vertices
    values = exact_weights(data.draw, n, torch.int64, -3, 5)
    mask = torch.tensor(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=torch.bool)
    active = graph.select(mask)
    pulled = tg.aggregate(subgraph(graph, active, "pull"), values, reduce)
    pushed = tg.aggregate(subgraph(graph, active, "push"), values, reduce)
    assert pulled.vertices is None
    spread = torch.full_like(pulled.values, identity(reduce, pulled.values.dtype))
    spread[pushed.vertices] = pushed.values
    assert torch.equal(spread, pulled.values)


@pytest.mark.parametrize("weight", [0.1, 1 / 3])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_number_as_weight_keeps_the_precision_of_the_data(weight, dtype):
    graph = tg.Graph.from_edges([0], [1])
    data = torch.tensor([3.0, 0], dtype=dtype)
    found = tg.aggregate(graph, data, "sum", edge="mul", weights=weight)
    assert found.dtype == dtype and found[1] == data[0] * torch.tensor(weight, dtype=dtype)


def test_a_fraction_on_integers_is_floating():
    found = tg.aggregate(tg.Graph.from_edges([0], [1]), torch.tensor([3, 0]), "sum", edge="mul", weights=0.5)
    assert found.dtype == torch.float32 and found.tolist() == [0, 1.5]


def test_data_of_no_width_and_graphs_without_vertices():
    graph = random_graph(5, 8)
    for reduce in REDUCE:
        for mode in MODES:
            for active in (graph.everything(), graph.select([0, 2])):
                received = tg.aggregate(subgraph(graph, active, mode), torch.ones(5, 0), reduce)
                assert received.values.shape[1:] == (0,)
            empty = tg.Graph.from_edges([], [])
            received = tg.aggregate(subgraph(empty, empty.everything(), mode), torch.ones(0, 2), reduce)
            assert received.values.shape == (0, 2)


def test_nan_reaches_its_neighbours_and_no_others():
    graph = tg.Graph.from_edges([0, 1, 1], [2, 2, 3], num_vertices=5)
    data = torch.tensor([torch.nan, 1, 1, 1, 1])
    for reduce in ("sum", "mean", "min", "max", "prod"):
        for mode in MODES:
            heard = tg.aggregate(subgraph(graph, graph.everything(), mode), data, reduce).values
            assert heard.isnan().tolist() == [False, False, True, False, False], (reduce, mode)
            silent = tg.aggregate(subgraph(graph, graph.select([1]), mode), data, reduce)
            assert not silent.values.isnan().any(), (reduce, mode)


def test_the_mean_of_many_in_a_narrow_dtype():
    """A hub with more neighbours than bfloat16 can count to."""
    graph = tg.Graph.from_edges(torch.arange(1, 3001), torch.zeros(3000, dtype=torch.int64))
    data = torch.ones(3001, dtype=torch.bfloat16)
    data[1:1501] = 3
    for mode in MODES:
        mean = tg.aggregate(subgraph(graph, graph.everything(), mode), data, "mean").values[0]
        assert abs(float(mean) - 2) < 0.05, mode


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_sum_of_many_in_a_narrow_dtype(dtype):
    """To add in the narrow dtype would get stuck at 256 (bfloat16) or 2048 (float16)."""
    graph = tg.Graph.from_edges(torch.arange(1, 3001), torch.zeros(3000, dtype=torch.int64))
    for mode in MODES:
        for active in (graph.everything(), graph.select(torch.arange(1, 3001))):
            received = tg.aggregate(subgraph(graph, active, mode), torch.ones(3001, dtype=dtype), "sum")
            assert received.values.dtype == dtype
            assert abs(float(received.values.max()) - 3000) < 20, mode


# ---- gradients ------------------------------------------------------------------------------------------------------


@pytest.mark.covering(1)
@pytest.mark.parametrize(("reduce", "edge"), [(r, e) for r, e in PAIRS if r not in ("any", "all")])
def test_gradients(reduce, edge, backend):
    """In the data and in the weights, against finite differences; the random numbers hold no ties."""
    random = torch.Generator().manual_seed(7)
    for directed in (True, False):
        graph = random_graph(6, 9, directed=directed)
        data = torch.randn(6, 2, dtype=torch.float64, generator=random)
        for shape in ((graph.num_arcs,), (graph.num_arcs, 2)):
            weights = torch.randn(shape, dtype=torch.float64, generator=random)
            for mode in MODES:
                for active in (graph.everything(), graph.select([0, 2, 3])):
                    sub = subgraph(graph, active, mode, backend)

                    def function(data, weights, sub=sub):
                        received = tg.aggregate(sub, data, reduce, edge=edge, weights=weights)
                        return torch.where(received.values.isinf(), 0, received.values)

                    inputs = (data.clone().requires_grad_(), weights.clone().requires_grad_())
                    assert torch.autograd.gradcheck(function, inputs, fast_mode=True)


def test_gradients_of_products_with_zeros():
    """Of any order: with one zero the gradient of the zero is left, with two its derivative in the other."""
    graph = tg.Graph.from_edges([0, 1, 2, 0], [3, 3, 3, 4], num_vertices=6)
    for zeros in ([0], [0, 1], []):
        data = torch.tensor([2.0, 3, 5, 1, 1, 1], dtype=torch.float64)
        data[zeros] = 0
        for mode in MODES:
            sub = subgraph(graph, graph.everything(), mode)
            leaf = data.clone().requires_grad_()

            def product(x, sub=sub):
                return tg.aggregate(sub, x, "prod").values

            assert torch.autograd.gradcheck(product, leaf), (zeros, mode)
            assert torch.autograd.gradgradcheck(product, leaf), (zeros, mode)


@pytest.mark.parametrize("directed", [True, False])
def test_gradients_in_the_weights_of_the_graph(directed):
    """Repeatedly, and per arc: on an undirected graph each of the two arcs has its own gradient."""
    shape = random_graph(6, 9, directed=directed, dtype=torch.float64)
    weights = shape.weights.clone().requires_grad_()
    graph = tg.Graph(shape.offset, shape.neighbors, weights, directed=directed)
    data = torch.randn(6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    scale = torch.arange(1.0, 7, dtype=torch.float64)
    expected = [float(data[u] * scale[v]) for u, v, _ in arcs(graph)]
    subs = [graph, *(subgraph(graph, graph.everything(), mode) for mode in MODES)]
    for sub in subs * 2:
        weights.grad = None
        received = tg.aggregate(sub, data, "sum", edge="mul")
        values = received if isinstance(received, torch.Tensor) else received.values
        (values * scale).sum().backward()
        assert weights.grad.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("directed", [True, False])
def test_weights_follow_the_arcs_when_they_change(directed):
    """A training step writes into the weights in place; a transpose must not go on with the old ones."""
    shape = random_graph(6, 9, directed=directed, dtype=torch.float64)
    weights = shape.weights.clone().requires_grad_()
    graph = tg.Graph(shape.offset, shape.neighbors, weights, directed=directed)
    data = torch.arange(1.0, 7, dtype=torch.float64)
    tg.aggregate(graph, data, "sum", edge="mul")
    with torch.no_grad():
        weights += torch.rand(len(weights), dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    for mode in MODES:
        received = tg.aggregate(subgraph(graph, graph.everything(), mode), data, "sum", edge="mul").values
        expected = reference(graph, data, "sum", "mul")
        assert received.tolist() == pytest.approx([float(expected.get(v, 0)) for v in range(6)])


# ---- selection ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [True, False])
def test_whole_selections_share_the_stored_tensors(directed):
    graph = random_graph(8, 20, directed=directed, dtype=torch.float32)
    assert tg.vertex_select(graph, graph.everything()) is None
    offset, neighbors, positions = tg.neighbor_select(graph, None)
    assert offset is graph.offset and neighbors is graph.neighbors and positions is None
    for mode, stored in (("push", graph), ("pull", graph.transpose())):
        sub = subgraph(graph, graph.everything(), mode)
        for held in (sub, tg.Program().tensorize(graph, graph.everything(), mode)):
            assert held.offset.data_ptr() == stored.offset.data_ptr()
            assert held.neighbors.data_ptr() == stored.neighbors.data_ptr()
            assert held.weights().data_ptr() == stored.weights.data_ptr()
            assert held.positions is None and held.is_whole and held.num_arcs == graph.num_arcs


@given(graphs(dtypes=(torch.int32,)), st.data())
def test_neighbor_select(graph, data):
    n = graph.num_vertices
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=n) if n else st.just([]))
    width = data.draw(st.none() | st.integers(0, 3))
    starts = graph.offset.tolist()
    expected = [list(range(starts[v], starts[v + 1]))[:width] for v in rows]
    flat = [position for row in expected for position in row]
    for num_arcs in (None, len(flat)):
        selection = tg.neighbor_select(graph, torch.tensor(rows, dtype=torch.int64), num_arcs=num_arcs, width=width)
        offset, neighbors, positions = selection
        assert offset.diff().tolist() == [len(row) for row in expected] and int(offset[0]) == 0
        assert positions.tolist() == flat
        assert neighbors.tolist() == [int(graph.neighbors[position]) for position in flat]
    sub = tg.reconstruct(graph, graph.select(rows) if rows else graph.nothing(), torch.tensor(rows), selection)
    assert sub.weights().tolist() == [int(graph.weights[position]) for position in flat]
    assert sub.row_of_arc.tolist() == [i for i, row in enumerate(expected) for _ in row]


@pytest.mark.thorough
def test_neighbor_select_compiles_whole():
    graph = random_graph(6, 20)
    compiled = torch.compile(lambda rows: tuple(tg.neighbor_select(graph, rows)), fullgraph=True, backend="eager")
    for rows in ([4, 0, 5], [1, 1, 3]):
        for found, wanted in zip(
            compiled(torch.tensor(rows)), tg.neighbor_select(graph, torch.tensor(rows)), strict=True
        ):
            assert torch.equal(found, wanted)


def test_a_width_on_all_rows():
    graph = random_graph(6, 20)
    offset, neighbors, positions = tg.neighbor_select(graph, None, width=2)
    assert offset.diff().tolist() == graph.out_degree.clamp(max=2).tolist()
    assert torch.equal(neighbors, graph.neighbors[positions])


def test_vertex_select_takes_every_form_of_frontier():
    graph = random_graph(6, 20)
    assert tg.vertex_select(graph, graph.select([4, 1])).tolist() == [1, 4]
    assert tg.vertex_select(graph, graph.select(torch.tensor([0, 1, 0, 0, 1, 0]).bool())).tolist() == [1, 4]
    assert tg.vertex_select(graph, graph.nothing()).tolist() == []


# ---- the other way --------------------------------------------------------------------------------------------------


@given(graphs(dtypes=(torch.int64,)), st.data())
def test_reverse_sends_back_along_the_same_arcs(graph, data):
    n = graph.num_vertices
    values = exact_weights(data.draw, n, torch.int64, -3, 5)
    others = exact_weights(data.draw, graph.num_arcs, torch.int64, 0, 5)
    mask = torch.tensor(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=torch.bool)
    chosen = set(mask.nonzero().flatten().tolist())
    for active, receivers in ((graph.select(mask), chosen), (graph.everything(), set(range(n)))):
        expected = dict.fromkeys(range(n), 0)
        for (u, v, _), weight in zip(arcs(graph), others.tolist(), strict=True):
            if u in receivers:
                expected[u] += int(values[v]) * weight
        forth = reference(graph, values, "sum", "mul", others, receivers)
        for mode in MODES:
            sub = subgraph(graph, active, mode)
            back = sub.reverse()
            received = tg.aggregate(back, values, "sum", edge="mul", weights=others)
            where = range(n) if received.vertices is None else received.vertices.tolist()
            assert set(where) >= receivers
            assert received.values.tolist() == [expected[v] for v in where]
            assert set(back.active.ids.tolist()) == set(range(n)) and back.reverse().mode == "push"
            assert set(back.reverse().active.ids.tolist()) == receivers
            again = tg.aggregate(back.reverse(), values, "sum", edge="mul", weights=others)
            check(graph, again, forth, "sum", torch.int64, ())


def test_reverse_of_a_whole_push_needs_no_transpose():
    graph = random_graph(8, 20)
    back = subgraph(graph, graph.everything(), "push").reverse()
    tg.aggregate(back, torch.ones(8), "sum")
    assert "transpose" not in graph.caches and back.neighbors is graph.neighbors


# ---- update ---------------------------------------------------------------------------------------------------------


def test_update_writes_in_place_where_some_received():
    graph = random_graph(6, 12)
    values = torch.arange(6.0)
    received = tg.Received(torch.tensor([3.0, 9]), torch.tensor([3, 4]))
    found, following = tg.update(values, graph.select([0]), received)
    assert found is values and values.tolist() == [0, 1, 2, 3, 9, 5]
    assert following.ids.tolist() == [4]
    assert following.measure() == (1, int(graph.out_degree[4]))


def test_update_of_all_is_a_new_tensor():
    graph = random_graph(3, 6)
    values = torch.arange(3)
    received = tg.Received(torch.tensor([5, 1, 0]))
    found, following = tg.update(values, graph.select([0]), received, torch.maximum)
    assert values.tolist() == [0, 1, 2] and found.tolist() == [5, 1, 2]
    assert following.ids.tolist() == [0]


def test_while_everything_is_active_it_stays_so_until_nothing_changes():
    graph = random_graph(3, 6)
    _, following = tg.update(torch.arange(3), graph.everything(), tg.Received(torch.tensor([0, 1, 3])))
    assert following.is_everything
    _, following = tg.update(torch.arange(3), graph.everything(), tg.Received(torch.tensor([0, 1, 2])))
    assert len(following) == 0


def test_update_follows_rows_of_any_shape():
    graph = random_graph(3, 6)
    received = tg.Received(torch.tensor([[[0, 1]], [[0, 0]]]), torch.tensor([2, 0]))
    found, following = tg.update(torch.zeros(3, 1, 2, dtype=torch.int64), graph.select([1]), received)
    assert found[:, 0].tolist() == [[0, 0], [0, 0], [0, 1]] and following.ids.tolist() == [2]


def test_nan_equals_nan():
    graph = random_graph(2, 2)
    values = torch.tensor([torch.nan, 1.0])
    _, following = tg.update(values, graph.select([0]), tg.Received(torch.tensor([torch.nan, 1.0])))
    assert len(following) == 0
    _, following = tg.update(values, graph.select([0]), tg.Received(torch.tensor([0.0, torch.nan])))
    assert following.ids.tolist() == [0, 1]
    assert values.isnan().tolist() == [True, False]


def test_update_with_gradients_is_functional():
    graph = random_graph(4, 8)
    values = torch.ones(4, dtype=torch.float64, requires_grad=True)
    new = torch.full((2,), 3.0, dtype=torch.float64, requires_grad=True)
    found, _ = tg.update(values, graph.select([0]), tg.Received(new, torch.tensor([1, 2])), torch.mul)
    assert values.tolist() == [1] * 4 and found.tolist() == [1, 3, 3, 1]
    found.sum().backward()
    assert values.grad.tolist() == [1, 3, 3, 1] and new.grad.tolist() == [1, 1]


def test_a_function_that_changes_the_shape():
    graph = random_graph(3, 6)
    with pytest.raises(ArgumentError, match=r"function.*\[3\].*\[\]"):
        tg.update(torch.ones(3), graph.everything(), tg.Received(torch.ones(3)), lambda old, new: new.sum())


# ---- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"data": torch.ones(4)}, ("data", "[3, ...]", "[4]")),
        ({"data": torch.tensor(1.0)}, ("data", "[]")),
        ({"data": torch.ones(3, dtype=torch.complex64)}, ("data", "complex64")),
        ({"data": torch.ones(3, device="meta")}, ("data", "meta", "cpu")),
        ({"reduce": "middle"}, ("reduce", "'middle'", "'sum'")),
        ({"edge": "power"}, ("edge", "'power'", "'copy'")),
        ({"edge": "add"}, ("weights", "'add'", "none")),
        ({"edge": "add", "weights": torch.ones(3)}, ("weights", "[2]", "[3]")),
        ({"edge": "add", "weights": torch.ones(2, 2)}, ("weights", "[2, 2]")),
        ({"edge": "add", "data": torch.ones(3, 4), "weights": torch.ones(2, 3)}, ("weights", "[2, 3]")),
    ],
)
def test_arguments_that_do_not_fit(arguments, words):
    graph = tg.Graph.from_edges([0, 1], [1, 2])
    arguments = {"data": torch.ones(3), **arguments}
    for sub in (graph, subgraph(graph, graph.select([0]), "push"), subgraph(graph, graph.select([0]), "pull")):
        with pytest.raises(ArgumentError) as caught:
            tg.aggregate(sub, **arguments)
        for word in words:
            assert word in str(caught.value), caught.value


def test_a_frontier_of_another_graph():
    with pytest.raises(ArgumentError, match=r"active.*5.*3"):
        tg.vertex_select(tg.Graph.from_edges([0], [2]), tg.Graph.from_edges([0], [4]).everything())


def test_the_reference_covers_all_operations():
    assert set(REDUCE) == set(REDUCTIONS) and set(EDGE) == set(EDGE_OPERATIONS)
    assert (
        arc_weights(subgraph(random_graph(3, 4), random_graph(3, 4).everything(), "push"), torch.ones(3), "copy", 2)
        is None
    )


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
@pytest.mark.parametrize("mode", MODES)
def test_totals_of_narrow_integers_do_not_wrap(dtype, mode, backend):
    largest = torch.iinfo(dtype).max
    graph = tg.Graph.from_edges([0, 1, 2], [3, 3, 3])
    data = torch.full((4,), largest, dtype=dtype)
    for active in (graph.everything(), graph.select([0, 1, 2])):
        for reduce, expected in (("sum", 3 * largest), ("prod", largest**3 if largest < 2**20 else None)):
            sub = subgraph(graph, active, mode, backend)
            if expected is None:
                with pytest.raises(ArgumentError, match=r"a product of about 9.9\d*e\+27 does not fit torch.int64"):
                    tg.aggregate(sub, data, reduce)
                continue
            received = tg.aggregate(sub, data, reduce)
            values = received.values if received.vertices is None else received.values[received.vertices == 3]
            assert values[-1].item() == expected


def test_update_refuses_values_that_the_vertex_data_cannot_hold():
    graph = tg.Graph.from_edges([0], [1])
    received = tg.Received(torch.tensor([0.5, 1.5]))
    with pytest.raises(ArgumentError, match=r"float32.*int64"):
        tg.update(torch.zeros(2, dtype=torch.int64), graph.everything(), received)


def test_a_graph_refuses_int64_neighbors_that_int32_would_wrap():
    with pytest.raises(ArgumentError, match=r"4294967296 at position 0"):
        tg.Graph(torch.tensor([0, 1]), torch.tensor([2**32]))
