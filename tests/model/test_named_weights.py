"""Programs take columns of the arcs by name: as the tensors that they are, in every direction, layout and run."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import exact_weights, graphs, random_graph, refused_naming

import tgraph as tg


def with_data(graph, data=torch.float64, **others):
    """The graph with a column "x", both arcs of an undirected edge the same, and its values."""
    source, target = graph.to_edge_index()
    number = (source * target + source + target) % 7 + 1  # the same for both arcs of an edge
    return graph.with_columns(arcs={"x": number.to(data), **others})


@given(
    graphs(min_vertices=1, dtypes=(None, torch.float64)),
    st.sampled_from(["csr", "sell", "coo", "elias_fano"]),
    st.sampled_from(["push", "pull"]),
    st.sampled_from(["sum", "max", "var"]),
    st.sampled_from(["mul", "add"]),
    st.data(),
)
def test_a_name_is_the_column(graph, layout, mode, reduce, edge, data):
    graph = with_data(graph).to_format(layout) if layout != "csr" else with_data(graph)
    values = exact_weights(data.draw, graph.num_vertices, torch.float64)
    active = graph.select(data.draw(st.lists(st.integers(0, graph.num_vertices - 1))))
    sub = tg.Program().tensorize(graph, active, mode)
    column = graph.arc_columns["x"].clone()
    expected = tg.aggregate(sub, values, reduce, edge=edge, weights=column)
    assert torch.equal(tg.aggregate(sub, values, reduce, edge=edge, weights="x").values, expected.values)
    assert torch.equal(sub.arc_data("x"), sub.arc_data(column))
    assert torch.equal(
        tg.aggregate(graph, values, reduce, edge=edge, weights="x"),
        tg.aggregate(graph, values, reduce, edge=edge, weights=column),
    )


@pytest.mark.parametrize("layout", ["csr", "sell"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("reduce", ["max", "first", lambda messages, offset: offset.diff()])
def test_functions_are_given_several_columns(layout, directed, reduce):
    graph = random_graph(20, 90, directed=directed)
    graph = with_data(graph, label=torch.ones(graph.num_arcs, dtype=torch.int64)).to_format(layout)
    x = torch.arange(20.0, dtype=torch.float64)

    def edge(source, target, arc):
        return source * arc["x"] + arc["label"]

    number = graph.arc_columns["x"]
    expected = tg.aggregate(graph, x, reduce, edge=lambda source, target, arc: source * arc + 1, weights=number.clone())
    assert torch.equal(tg.aggregate(graph, x, reduce, edge=edge, weights=["x", "label"]), expected)
    sub = tg.Program().tensorize(graph, graph.everything(), "push")
    received = tg.aggregate(sub, x, reduce, edge=edge, weights=("x", "label"))
    assert torch.equal(received.values, expected[slice(None) if received.vertices is None else received.vertices])


@pytest.mark.parametrize("directed", [False, True])
def test_gradients_reach_columns(directed):
    graph, x = random_graph(12, 40, directed=directed), torch.arange(12.0, dtype=torch.float64)
    found = []
    for name in (False, True):
        source, target = graph.to_edge_index()
        column = ((source + target) / 4).requires_grad_()
        held = graph.with_columns(arcs={"x": column})
        total = tg.aggregate(held, x, edge="mul", weights="x" if name else column)
        total.square().sum().backward()
        found.append(column.grad)
    assert torch.equal(*found) and bool(found[0].any())


class Written(tg.Program):
    weights: str = "x"

    def init(self, graph):
        distance = torch.full((graph.num_vertices,), torch.inf, dtype=torch.float64)
        return distance.index_fill(0, torch.tensor(0), 0), graph.select(0)

    def compute(self, sub, distance, active):
        received = tg.aggregate(sub, distance, "min", edge="add", weights=self.weights)
        return tg.update(distance, active, received, torch.minimum)


class Declared(tg.Relaxation):
    reduce, edge, weight = "min", "add", "x"
    init = Written.init


@pytest.mark.parametrize("mode", ["auto", "push", "pull"])
@pytest.mark.parametrize("kind", [Declared, Written])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("layout", ["csr", "sell"])
def test_relaxations_over_a_column(mode, kind, directed, layout):
    graph = with_data(random_graph(60, 150, directed=directed)).to_format(layout)
    expected = tg.algorithms.sssp(graph.weighted_by("x"), 0)
    for fuse in (False, True):
        assert torch.equal(tg.run(kind(), graph, mode=mode, fuse=fuse).values, expected)


class Ranks(tg.Program):
    rounds = 5

    def init(self, graph):
        return torch.ones(graph.num_vertices), graph.everything()

    def compute(self, sub, x, active):
        total = tg.aggregate(sub, x, edge="mul", weights="x")
        return tg.update(x, active, tg.Received(0.01 * total.values + 0.5))


@pytest.mark.parametrize("directed", [False, True])
def test_a_linear_program_over_a_column(directed):
    graph = with_data(random_graph(60, 150, directed=directed), torch.float32)
    alike = [tg.run(Ranks(), graph, fuse=fuse).values for fuse in (False, True)]
    torch.testing.assert_close(*alike)


def test_names_that_are_no_numbers_are_refused():
    graph, x = tg.Graph.from_edges([0], [1], columns={"text": ["a"], "y": [1]}), torch.ones(2)
    refused_naming(("weights", "'z'", "'text', 'y'"), tg.aggregate, graph, x, edge="mul", weights="z")
    refused_naming(("weights", "'text'", "string"), tg.aggregate, graph, x, edge="mul", weights="text")
    refused_naming(("weights", "'mul'", "y"), tg.aggregate, graph, x, edge="mul", weights=["y"])
    refused_naming(("'z'",), tg.aggregate, graph, x, edge=lambda s, t, a: s, weights=["z"])
    for kind in (Declared, Written):
        refused_naming(("'x'", "'text', 'y'"), tg.run, kind(), graph)
