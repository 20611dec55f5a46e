"""Messages by a function of both ends of an arc and its data: the programs of other systems, in memory, in layouts, in
parts, on streams, with gradients."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.model import edge_functions

N = 40


@pytest.fixture(params=["csr", "parts", "elias_fano", "sell", "streamed"])
def storage(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that brings a graph into a storage."""

    def stored(graph: tg.Graph) -> tg.Graph:
        if request.param == "csr":
            return graph
        monkeypatch.setattr(edge_functions, "ARCS", 30)
        if request.param == "parts":
            return graph
        if request.param == "streamed":
            tg.stream.write_partitioned(graph, tmp_path / "graph.tg", parts=4)
            return tg.open(tmp_path / "graph.tg", memory="3MB")
        return graph.to_format(request.param)

    return stored


def arcs_of(graph: tg.Graph) -> tuple[torch.Tensor, torch.Tensor]:
    source, target = graph.to_edge_index()
    return source, target


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max", "prod"])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_messages_of_both_ends_and_the_weight(storage: Any, reduce: str, columns: tuple[int, ...]) -> None:
    plain = random_graph(N, 150, dtype=torch.float64, directed=True)
    graph, x = storage(plain), torch.rand(N, *columns, dtype=torch.float64)
    source, target = arcs_of(plain)

    def message(u: Any, v: Any, w: Any) -> Any:
        return (u - 2 * v) * w.view(-1, *(1,) * len(columns))

    found = tg.aggregate(graph, x, reduce, edge=message)
    messages = message(x[source], x[target], plain.weights)
    expected = tg.aggregate(
        plain, torch.zeros(N, *columns, dtype=torch.float64), reduce, edge="add", weights=messages, backend="portable"
    )
    torch.testing.assert_close(found, expected)
    assert "arcs" not in graph.caches


def test_the_same_from_a_frontier_in_either_direction(storage: Any) -> None:
    graph = storage(random_graph(N, 150, dtype=torch.float64, directed=True))
    x, active = torch.rand(N, dtype=torch.float64), torch.arange(N) % 3 == 0
    found = []
    for mode in ("push", "pull"):
        sub = tg.Program().tensorize(graph, graph.select(active), mode)
        received = tg.aggregate(sub, x, "max", edge=lambda u, v, w: u * w + v)
        found.append(tg.update(torch.zeros(N, dtype=torch.float64), graph.select(active), received, torch.maximum)[0])
    torch.testing.assert_close(*found)


class EarliestArrival(tg.Program):
    """Departures at a time [m], which take a second: a departure is taken by who has arrived by then."""

    def __init__(self, departs: torch.Tensor):
        self.departs = departs

    def init(self, graph: tg.Graph) -> Any:
        return torch.full((graph.num_vertices,), torch.inf).index_fill(0, torch.tensor(0), 0), graph.select(0)

    def compute(self, sub: tg.Subgraph, arrival: Any, active: Any) -> Any:
        leaves = lambda u, v, at: torch.where(u <= at, at + 1, torch.inf)  # noqa: E731
        return tg.update(
            arrival, active, tg.aggregate(sub, arrival, "min", edge=leaves, weights=self.departs), torch.minimum
        )


def test_earliest_arrival() -> None:
    graph = random_graph(N, 200, directed=True)
    departs = torch.rand(graph.num_arcs) * 9
    expected = torch.full((N,), torch.inf)
    expected[0] = 0
    source, target = arcs_of(graph)
    for arc in departs.argsort().tolist():  # by time, each arc once
        if expected[source[arc]] <= departs[arc]:
            expected[target[arc]] = min(expected[target[arc]], departs[arc] + 1)
    for mode in ("push", "pull", "auto"):
        torch.testing.assert_close(tg.run(EarliestArrival(departs), graph, mode=mode).values, expected)


def test_reachability_by_labelled_arcs(storage: Any) -> None:
    plain = random_graph(N, 100, directed=True)
    labels = torch.randint(3, (plain.num_arcs,)).float()
    graph = storage(tg.Graph(plain.offset, plain.neighbors, labels))

    class Reached(tg.Program):
        def init(self, graph: tg.Graph) -> Any:
            return torch.zeros(N).index_fill(0, torch.tensor(0), 1), graph.select(0)

        def compute(self, sub: Any, reached: Any, active: Any) -> Any:
            follows = lambda u, v, label: torch.where(label < 2, u, 0)  # noqa: E731
            return tg.update(reached, active, tg.aggregate(sub, reached, "max", edge=follows), torch.maximum)

    keep = labels < 2
    source, target = (each[keep] for each in arcs_of(plain))
    allowed = tg.Graph.from_edges(source, target, num_vertices=N)
    assert torch.equal(tg.run(Reached(), graph).values > 0, tg.algorithms.bfs(allowed, 0) >= 0)


def test_attention_of_ones_own_and_its_gradients(storage: Any) -> None:
    plain = random_graph(N, 150, directed=True)
    graph = storage(plain)
    left, right, x = (torch.rand(N, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))

    def attention(graph: tg.Graph) -> Any:
        score = lambda u, v: torch.tanh((u["left"] * v["right"]).sum(1))  # noqa: E731
        data = {"left": left, "right": right, "x": x}
        best = tg.aggregate(graph, data, "max", edge=score).detach()
        data["best"] = torch.where(best.isinf(), 0, best)
        power = lambda u, v: (score(u, v) - v["best"]).exp()  # noqa: E731
        total = tg.aggregate(graph, data, "sum", edge=power)
        return tg.aggregate(graph, data, "sum", edge=lambda u, v: power(u, v)[:, None] * u["x"]) / total[:, None].clamp(
            min=1e-9
        )

    source, target = arcs_of(plain)
    scores = torch.tanh((left[source] * right[target]).sum(1)).exp()
    total = torch.zeros(N, dtype=torch.float64).index_add(0, target, scores)
    expected = torch.zeros(N, 4, dtype=torch.float64).index_add(
        0, target, (scores / total[target])[:, None] * x[source]
    )
    found = attention(graph)
    torch.testing.assert_close(found, expected)
    seed = torch.rand(N, 4, dtype=torch.float64)
    for one, other in zip(
        torch.autograd.grad((found * seed).sum(), (left, right, x)),
        torch.autograd.grad((expected * seed).sum(), (left, right, x)),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_a_convolution_by_features_of_edges() -> None:
    graph, x = random_graph(N, 150, directed=True), torch.rand(N, 4)
    features, layer = torch.rand(graph.num_arcs, 2), torch.nn.Linear(10, 5)
    message = lambda u, v, e: layer(torch.cat([u, v, e], 1)).relu()  # noqa: E731
    found = tg.aggregate(graph, x, "mean", edge=message, weights=features)
    source, target = arcs_of(graph)
    expected = torch.zeros(N, 5).index_add(0, target, message(x[source], x[target], features))
    torch.testing.assert_close(found, expected / graph.in_degree.clamp(min=1)[:, None])


def test_what_a_function_has_to_return() -> None:
    graph = tg.generators.path(4)
    with pytest.raises(tg.errors.ArgumentError, match=r"edge: the function must return .*\[6, ...\], got float"):
        tg.aggregate(graph, torch.ones(4), edge=lambda u, v: 1.0)
    with pytest.raises(tg.errors.ArgumentError, match="data: expected one row per vertex"):
        tg.aggregate(graph, {"x": torch.ones(3)}, edge=lambda u, v: u["x"])
    with pytest.raises(tg.errors.ArgumentError, match="data: expected a tensor"):
        tg.aggregate(graph, {"x": torch.ones(4)})
    for empty in (tg.Graph.from_edges([], [], num_vertices=3), tg.Graph.from_edges([], [], num_vertices=0)):
        n = empty.num_vertices
        assert tg.aggregate(empty, torch.ones(n), edge=lambda u, v: u + v).tolist() == [0.0] * n


# ---- reductions ------------------------------------------------------------------------------------------------------


def by_vertex(graph: tg.Graph, messages: torch.Tensor, function: Any, empty: Any) -> torch.Tensor:
    """A function of the messages and senders of each vertex in turn."""
    source, target = arcs_of(graph)
    rows = [(target == v).nonzero()[:, 0] for v in range(graph.num_vertices)]
    return torch.stack([function(messages[row], source[row]) if len(row) else torch.as_tensor(empty) for row in rows])


NAMED = {
    "count": (lambda m, s: torch.tensor(len(m)), 0),
    "logsumexp": (lambda m, s: m.logsumexp(0), -torch.inf),
    "var": (lambda m, s: m.var(correction=0), 0.0),
    "std": (lambda m, s: m.std(correction=0), 0.0),
    "first": (lambda m, s: m[0], 0.0),
    "median": (lambda m, s: m.median(), 0.0),
    "second": (lambda m, s: m.sort(descending=True).values[1] if len(m) > 1 else m[0] * 0, 0.0),
    "argmin": (lambda m, s: s[m.argmin()], -1),
    "argmax": (lambda m, s: s[m.argmax()], -1),
}


def second(messages: Any, offset: Any) -> Any:
    """The second greatest message, 0 without two."""
    rows = [messages[a:b].sort(descending=True).values for a, b in pairwise(offset)]
    return torch.stack([row[1] if len(row) > 1 else row.new_zeros(()) for row in rows])


@pytest.mark.parametrize("name", NAMED)
def test_reductions_by_name_and_of_ones_own(storage: Any, name: str) -> None:
    reduce = second if name == "second" else name
    plain = random_graph(N, 100, dtype=torch.float64, directed=True)
    graph, x = storage(plain), torch.rand(N, dtype=torch.float64)
    source, _ = arcs_of(plain)
    for edge, messages in (("copy", x[source]), ("mul", x[source] * plain.weights)):
        found = tg.aggregate(graph, x, reduce, edge=edge)
        expected = by_vertex(plain, messages, *NAMED[name])
        torch.testing.assert_close(found.double(), expected.double())
    active = graph.select(torch.arange(N) % 2 == 0)
    old, found = torch.full_like(tg.aggregate(graph, x, reduce), 5), []
    for mode in ("push", "pull"):
        received = tg.aggregate(tg.Program().tensorize(graph, active, mode), x, reduce)
        found.append(tg.update(old.clone(), active, received)[0])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.int64])
def test_bits(dtype: torch.dtype) -> None:
    graph = random_graph(N, 100, directed=True)
    x = torch.randint(-99, 99, (N,)).to(dtype)
    source, _ = arcs_of(graph)
    for reduce, combined in (("bit_or", torch.bitwise_or), ("bit_and", torch.bitwise_and)):
        found = tg.aggregate(graph, x, reduce)

        def together(messages: Any, senders: Any, combined: Any = combined) -> Any:
            result = messages[0]
            for each in messages[1:]:
                result = combined(result, each)
            return result

        reached = graph.in_degree > 0
        expected = by_vertex(graph, x[source], together, torch.tensor(0, dtype=dtype))
        assert found.dtype == dtype and torch.equal(found[reached], expected[reached])


@pytest.mark.parametrize("reduce", ["logsumexp", "var", "std", "first", "median"])
def test_gradients_of_reductions(storage: Any, reduce: str) -> None:
    graph = storage(random_graph(12, 30, directed=True))
    x = torch.rand(12, dtype=torch.float64, requires_grad=True)
    finite = tg.aggregate(graph, x, reduce).isfinite()
    assert torch.autograd.gradcheck(lambda x: tg.aggregate(graph, x, reduce)[finite], x, fast_mode=True)


def test_what_a_reduction_has_to_be() -> None:
    graph, x = random_graph(N, 150, directed=True), torch.rand(N)
    with pytest.raises(tg.errors.ArgumentError, match=r"reduce: the function must return one value for each vertex"):
        tg.aggregate(graph, x, lambda messages, offset: messages[:1])
    for wrong in ("middle", 3, ["sum"]):
        with pytest.raises(tg.errors.ArgumentError, match=r"reduce: .* is not one of"):
            tg.aggregate(graph, x, wrong)


def test_parents_by_a_payload() -> None:
    graph = random_graph(N, 200, dtype=torch.float64, directed=True)
    distance, _ = tg.algorithms.sssp(graph, 0, parents=True)
    best = tg.aggregate(graph, distance, "argmin", edge="add")
    reached = ((distance > 0) & distance.isfinite()).nonzero()[:, 0]
    source, target = arcs_of(graph)
    for v in reached.tolist():
        arcs = (source == best[v]) & (target == v)
        assert float(distance[best[v]] + graph.weights[arcs].min()) == pytest.approx(float(distance[v]))


@pytest.mark.parametrize("reduce", ["first", "argmin", "argmax", lambda m, o, s: tg.TopK(1)(m, o, s).senders[:, 0]])
def test_equal_messages_are_taken_in_the_order_of_the_arcs_whatever_that_of_the_frontier(reduce: Any) -> None:
    graph = tg.Graph.from_edges([3, 1, 2, 2], [0, 0, 0, 4])
    active, x = graph.select([3, 2, 1]), torch.tensor([0.0, 7.0, 7.0, 7.0, 0.0])
    found = []
    for mode in ("push", "pull"):
        received = tg.aggregate(tg.Program().tensorize(graph, active, mode), x * 1, reduce)
        found.append(tg.update(torch.full((5,), -5.0), active, received, lambda old, new: new.float())[0])
    assert found[0].tolist() == found[1].tolist()
    assert reduce == "first" or found[0][0] == 1


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("reduce", ["var", "std", "logsumexp"])
def test_floating_reductions_of_other_dtypes(reduce: str, dtype: torch.dtype) -> None:
    star = tg.generators.star(3000)  # more messages than a sum in 16 bits counts
    x = (torch.arange(star.num_vertices) % 2).to(dtype)
    found, expected = tg.aggregate(star, x, reduce), tg.aggregate(star, x.float(), reduce)
    assert found.dtype == (dtype if dtype.is_floating_point else torch.float32)
    torch.testing.assert_close(found.float(), expected, rtol=1e-2, atol=1e-3)
