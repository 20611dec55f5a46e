"""Backends that a user registers: by name wherever one is asked for, with what they do not support."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from strategies import random_graph

import tgraph as tg

CALLS: list[tuple[str, str]] = []


def by_index_add(sub: Any, data: Any, reduce: str, edge: str, weights: Any, dtype: Any) -> Any:
    CALLS.append((sub.mode, edge))
    sent = data[sub.neighbors.long()]
    if edge == "mul":
        sent = sent * (weights.unsqueeze(1) if sent.dim() > weights.dim() else weights)
    return torch.zeros(len(sub.offset) - 1, *data.shape[1:], dtype=data.dtype).index_add(0, sub.row_of_arc, sent)


def supports(sub: Any, data: Any, reduce: str, edge: str, weights: Any, dtype: Any) -> bool | str:
    if sub.mode != "pull" or sub.active_mask is not None or reduce != "sum" or dtype is not None:
        return "it adds what all vertices send"
    return edge == "copy" or (edge == "mul" and isinstance(weights, torch.Tensor)) or f"it has no {edge}"


@pytest.fixture(autouse=True)
def mine() -> Iterator[None]:
    tg.backends.register("mine", by_index_add, supports)
    CALLS.clear()
    yield
    tg.backends.unregister("mine")


@pytest.mark.parametrize("layout", [None, "sell", "elias_fano"])
@pytest.mark.parametrize("edge", ["copy", "mul"])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_results_and_gradients(layout: str | None, edge: str, columns: tuple[int, ...]) -> None:
    plain = random_graph(30, 90, dtype=torch.float64, directed=True)
    graph = plain if layout is None else plain.to_format(layout)
    found, expected = (torch.rand(30, *columns, dtype=torch.float64).requires_grad_() for _ in range(2))
    found.data.copy_(expected.data)
    results = tg.aggregate(graph, found, edge=edge, backend="mine"), tg.aggregate(plain, expected, edge=edge)
    assert CALLS
    torch.testing.assert_close(*results)
    for each in results:
        each.square().sum().backward()
    torch.testing.assert_close(found.grad, expected.grad)


def test_runs_and_whole_graphs_in_them() -> None:
    class Walks(tg.Program):
        rounds = 3

        def init(self, graph: tg.Graph) -> Any:
            return torch.ones(graph.num_vertices), graph.everything()

        def compute(self, sub: Any, x: Any, active: Any) -> Any:
            return tg.update(x, active, tg.aggregate(sub, x), lambda old, new: new + tg.aggregate(sub.graph, old))

    graph = random_graph(30, 90, directed=True)
    run = tg.run(Walks(), graph, backend="mine", trace=True)
    assert len(CALLS) == 6 and run.trace.choices == ["aggregate: mine serves it"]
    torch.testing.assert_close(run.values, tg.run(Walks(), graph).values)


def test_what_is_not_supported_is_said() -> None:
    graph = tg.generators.path(3)
    with pytest.raises(
        tg.errors.ArgumentError, match=r"'mine' does not serve aggregate .* it adds what all vertices send"
    ):
        tg.aggregate(graph, torch.ones(3), "max", backend="mine")
    with pytest.raises(tg.errors.ArgumentError, match=r"'mine' does not serve aggregate .* it has no add"):
        tg.aggregate(graph, torch.ones(3), edge="add", weights=torch.ones(4), backend="mine")
    with pytest.raises(tg.errors.ArgumentError, match=r"name: 'native' is taken"):
        tg.backends.register("native", by_index_add)
    for wrong, words in ((lambda *call: None, "must return a tg.Received"), (lambda *call: torch.ones(2), r"\[2\]")):
        tg.backends.register("wrong", wrong)
        try:
            with pytest.raises(tg.errors.ArgumentError, match=words):
                tg.aggregate(graph, torch.ones(3), backend="wrong")
        finally:
            tg.backends.unregister("wrong")
    with pytest.raises(tg.errors.ArgumentError, match="name: 'native' is not one of"):
        tg.backends.unregister("native")
