"""What a Program and a Relaxation are by themselves; `test_engine` runs them."""

import math

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.errors import ArgumentError


class Least(tg.Relaxation):
    def __init__(self, reduce="min", edge="add", weight=None):
        self.reduce, self.edge, self.weight = reduce, edge, weight


def test_a_program_must_be_written():
    graph = random_graph(4, 6)
    for missing in ("init", "compute"):
        with pytest.raises(NotImplementedError, match=f"Program.{missing}"):
            getattr(tg.Program(), missing)(*(graph,) * (1 if missing == "init" else 3))
    assert tg.Program().residual(None, None) is None
    values = torch.ones(3)
    assert tg.Program().finish(values) is values


def test_tensorize_holds_the_rows_of_the_active_or_all():
    graph = random_graph(9, 30)
    active = graph.select([1, 4])
    pushed = tg.Program().tensorize(graph, active, "push")
    assert pushed.rows.tolist() == [1, 4] and pushed.num_arcs == active.num_arcs and not pushed.is_whole
    assert pushed.mode == "push" and not pushed.mirrored and not pushed.sends_partly
    rows = [graph.neighbors[graph.offset[v] : graph.offset[v + 1]] for v in (1, 4)]
    assert torch.equal(pushed.neighbors, torch.cat(rows))
    pulled = tg.Program().tensorize(graph, active, "pull")
    assert pulled.is_whole and pulled.mirrored and pulled.sends_partly and pulled.active is active
    assert torch.equal(pulled.neighbors, graph.transpose().neighbors)
    assert not tg.Program().tensorize(graph, graph.everything(), "pull").sends_partly


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "any", "all"])
def test_only_min_and_max_relax(reduce):
    with pytest.raises(ArgumentError, match=rf"reduce.*'{reduce}'.*Program"):
        Least(reduce).reduction  # noqa: B018


@pytest.mark.parametrize(
    ("reduce", "edge", "weight", "expected"),
    [
        ("min", "add", None, 2 + 1),
        ("max", "add", None, 7 + 9),
        ("min", "add", 4, 2 + 4),
        ("min", "add", torch.tensor([3, 5, 8]), 2 + 3),
        ("max", "add", torch.tensor([3, 5, 8]), 7 + 8),
        ("min", "copy", None, 2),
        ("max", "copy", None, 7),
        ("min", "min", None, 1),
        ("max", "min", None, 7),
        ("min", "max", None, 2),
        ("max", "max", None, 9),
        ("min", "mul", None, None),
    ],
)
def test_the_bound_is_the_best_message_there_can_be(reduce, edge, weight, expected):
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 9, 5])
    values, active = torch.tensor([7, 2, 0, 3]), graph.select([0, 1])
    program = Least(reduce, edge, weight)
    bound = program.bound(program.tensorize(graph, active, "pull"), values, active)
    assert bound == expected if expected is None else int(bound) == expected
    columns = torch.stack((values, values + 1), 1)
    if expected is not None:
        assert program.bound(program.tensorize(graph, active, "pull"), columns, active).shape == (2,)
    assert program.bound(program.tensorize(graph, graph.nothing(), "pull"), values, graph.nothing()) is None


def test_the_bound_of_unreached_vertices_is_no_number():
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 9, 5])
    unreached = torch.full((4,), torch.iinfo(torch.int64).max)
    program = Least()
    bound = program.bound(program.tensorize(graph, graph.everything(), "pull"), unreached, graph.everything())
    assert int(bound) == torch.iinfo(torch.int64).max


def test_the_best_weight():
    graph = tg.Graph.from_edges([0, 1], [1, 2], [1.5, math.nan])
    assert math.isnan(Least().best_weight(graph))
    graph = tg.Graph.from_edges([0, 1], [1, 2], [1.5, 4])
    assert Least().best_weight(graph) == 1.5 and Least("max").best_weight(graph) == 4
    assert Least(weight=3).best_weight(graph) == 3
    assert Least("max", weight=torch.tensor([3, 8])).best_weight(graph) == 8


@pytest.mark.parametrize(
    ("dtype", "weight", "kept"),
    [
        (torch.int64, 1, True),
        (torch.int32, 1, True),
        (torch.float32, 1, True),
        (torch.float32, 0.5, True),
        (torch.int64, 0.5, False),
        (torch.float32, torch.ones(3, dtype=torch.float64), False),
        (torch.float64, torch.ones(3), True),
        (torch.int32, torch.ones(3, dtype=torch.int64), False),
        (torch.int64, torch.ones(3, dtype=torch.uint8), True),
        (torch.float32, torch.ones(3, dtype=torch.int64), True),
    ],
)
def test_values_must_hold_the_messages(dtype, weight, kept, mode):
    class Start(Least):
        def init(self, graph):
            return torch.zeros(graph.num_vertices, dtype=dtype), graph.select(0)

    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 3])
    if kept:
        assert tg.run(Start(weight=weight), graph, mode=mode).values.dtype == dtype
    else:
        with pytest.raises(ArgumentError, match=r"cannot hold.*let init return"):
            tg.run(Start(weight=weight), graph, mode=mode)
