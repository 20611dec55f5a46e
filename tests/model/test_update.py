"""`update`: the vertices that received, in a push and in a pull; functions of the vertices; and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, random_graph

import tgraph as tg
from tgraph.kernels import watched


class Once(tg.Program):
    """One step of a function from a frontier."""

    rounds = 1

    def __init__(self, values: torch.Tensor, active: Any, step: Any):
        self.values, self.active, self.step = values, active, step

    def init(self, graph: tg.Graph) -> Any:
        return self.values, self.active

    def compute(self, sub: tg.Subgraph, values: torch.Tensor, active: tg.Frontier) -> Any:
        return self.step(sub, values, active)


FUNCTIONS = {
    "received": None,
    "damped": lambda old, new: old * 0.5 + new * 0.5,
    "constant": lambda old, new: torch.ones_like(old),
    "added": lambda old, new: old + 1,
    "least": torch.minimum,
    "at its vertex": lambda old, new, vertices: new + vertices.view(-1, *(1,) * (new.dim() - 1)),
}


@given(st.data())
def test_a_push_and_a_pull_update_the_same_vertices(data: st.DataObject) -> None:
    graph = data.draw(graphs(min_vertices=1))
    n = graph.num_vertices
    shape = (n,) if data.draw(st.booleans()) else (n, 2)
    values = torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(n)).double()
    active = graph.select(data.draw(st.lists(st.integers(0, n - 1), max_size=n)))
    reduce = data.draw(st.sampled_from(["sum", "mean", "min", "max", "prod"]))
    function = FUNCTIONS[data.draw(st.sampled_from([*FUNCTIONS]))]

    def step(sub: Any, values: Any, active: Any) -> Any:
        values, active = tg.update(values, active, tg.aggregate(sub, values, reduce), function)
        sizes.append(sorted(active.ids.tolist()))
        return values, active

    found, sizes = [], []
    for mode in ("push", "pull", "auto"):
        found.append(tg.run(Once(values, active, step), graph, mode=mode).values)
    torch.testing.assert_close(found[0], found[1])
    torch.testing.assert_close(found[0], found[2])
    assert len(set(map(tuple, sizes))) <= 1


def test_only_vertices_that_an_active_one_reaches_are_updated() -> None:
    graph = tg.Graph.from_edges([0, 1], [2, 3])
    step = lambda sub, x, active: tg.update(x, active, tg.aggregate(sub, x), lambda old, new: new * 0 + 7)  # noqa: E731
    for mode in ("push", "pull"):
        run = tg.run(Once(torch.zeros(4), graph.select(0), step), graph, mode=mode)
        assert run.values.tolist() == [0, 0, 7, 0]


def test_a_mask_is_a_frontier() -> None:
    graph, mask = tg.generators.path(4), torch.tensor([True, False, False, True])
    assert tg.vertex_select(graph, mask).tolist() == [0, 3]
    step = lambda sub, x, active: (tg.update(x, mask, tg.aggregate(sub, x))[0], mask)  # noqa: E731
    for mode in ("push", "pull"):
        run = tg.run(Once(torch.arange(4.0), mask, step), graph, mode=mode)
        assert run.values.tolist() == [0, 0, 3, 3]


def test_tensors_of_the_program_are_read_at_the_vertices() -> None:
    graph, cost = random_graph(40, 100, directed=True), torch.rand(40)
    step = lambda sub, x, active: tg.update(  # noqa: E731
        x, active, tg.aggregate(sub, x), lambda old, new, at: new * cost[at]
    )
    found = [tg.run(Once(torch.ones(40), graph.select([1, 5]), step), graph, mode=m).values for m in ("push", "pull")]
    torch.testing.assert_close(*found)
    short = lambda sub, x, active: tg.update(x, active, tg.aggregate(sub, x), lambda old, new: new * cost)  # noqa: E731
    with pytest.raises(tg.errors.ArgumentError, match=r"function\(old, received, vertices\)"):
        tg.run(Once(torch.ones(40), graph.select([1, 5]), short), graph, mode="push")


REFUSED = {
    r"received: .* tg.Received": lambda sub, x, active: tg.update(x, active, tg.aggregate(sub.graph, x)),
    r"values: .* a dict": lambda sub, x, active: tg.update({"x": x}, active, tg.aggregate(sub, x)),
    r"values: expected": lambda sub, x, active: tg.update(1, active, tg.aggregate(sub, x)),
    r"active: expected a Frontier": lambda sub, x, active: tg.update(x, [0], tg.aggregate(sub, x)),
    r"function: must return": lambda sub, x, active: tg.update(x, active, tg.aggregate(sub, x), lambda old, new: None),
    r"compute: returned vertex data of shape \[2\]": lambda sub, x, active: (x[:2], active),
    r"compute: must return": lambda sub, x, active: x,
}


@pytest.mark.parametrize("text", REFUSED)
def test_other_arguments_are_refused(text: str) -> None:
    graph = tg.generators.path(4)
    with pytest.raises(tg.errors.ArgumentError, match=text):
        tg.run(Once(torch.ones(4), graph.everything(), REFUSED[text]), graph)


def test_programs_that_cannot_end_are_refused() -> None:
    class Endless(tg.Program):
        tolerance = 0.1

    class Wide(tg.algorithms.PlainPageRank):
        def residual(self, before: Any, after: Any) -> Any:
            return after - before

    graph = tg.generators.path(4)
    with pytest.raises(tg.errors.ArgumentError, match=r"Endless.tolerance: .* residual"):
        tg.run(Endless(), graph)
    with pytest.raises(tg.errors.ArgumentError, match=r"Wide.residual: .* tensor \[4\]"):
        tg.run(Wide(), graph)
    with pytest.raises(tg.errors.ArgumentError, match="the graph comes second"):
        tg.run(graph, Wide())
    with pytest.raises(tg.errors.ArgumentError, match=r"write Wide\(...\)"):
        tg.run(Wide, graph)


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32])
@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_unsigned_integers(dtype: torch.dtype, reduce: str) -> None:
    graph = random_graph(30, 60, directed=True)
    data = torch.randint(0, 60_000, (30,))
    found, expected = tg.aggregate(graph, data.to(dtype), reduce), tg.aggregate(graph, data, reduce)
    reached = graph.in_degree > 0
    assert torch.equal(found.to(expected.dtype)[reached], expected[reached])
    if reduce in ("min", "max"):
        limits = torch.iinfo(dtype)
        empty = limits.max if reduce == "min" else limits.min
        assert found.dtype == dtype and set(found.long()[~reached].tolist()) <= {empty}


@pytest.mark.parametrize(
    ("dtype", "remedy"),
    [(torch.complex64, "view_as_real"), (torch.float8_e5m2, "torch.float32"), (torch.uint64, "torch.int64")],
)
def test_other_dtypes_are_refused_with_a_remedy(dtype: torch.dtype, remedy: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=remedy):
        tg.aggregate(tg.generators.path(3), torch.ones(3).to(dtype))


def test_a_backend_by_name() -> None:
    graph = random_graph(30, 60, directed=True)
    with watched() as seen:
        tg.aggregate(graph, torch.ones(30), backend="portable")
    assert [choice.backend.name for choice in seen] == ["portable"]
    step = lambda sub, x, active: (tg.aggregate(sub.graph, x), active)  # noqa: E731
    run = tg.run(Once(torch.ones(30), graph.everything(), step), graph, backend="portable", trace=True)
    assert run.trace.choices == ["aggregate: portable serves it"]
    with pytest.raises(tg.errors.ArgumentError, match="backend"):
        tg.aggregate(graph, torch.ones(30), backend="fast")


class Walk(tg.Program):
    """Random steps, which are interrupted in the fourth round where it `stops`."""

    rounds, stops = 6, False

    def init(self, graph: tg.Graph) -> Any:
        self.random, self.round = torch.Generator().manual_seed(1), 0
        return torch.zeros(graph.num_vertices), graph.everything()

    def compute(self, sub: Any, x: Any, active: Any) -> Any:
        self.round += 1
        if Walk.stops and self.round == 4:
            raise KeyboardInterrupt
        return x + torch.rand(len(x), generator=self.random), active


def test_generators_are_part_of_a_checkpoint(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, checkpoint = tg.generators.path(4), tg.Checkpoint(tmp_path / "walk", seconds=0)
    expected = tg.run(Walk(), graph).values
    monkeypatch.setattr(Walk, "stops", True)
    with pytest.raises(KeyboardInterrupt):
        tg.run(Walk(), graph, checkpoint=checkpoint)
    monkeypatch.setattr(Walk, "stops", False)
    assert torch.equal(tg.run(Walk(), graph, checkpoint=checkpoint).values, expected)
