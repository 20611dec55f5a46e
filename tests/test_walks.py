"""Through how many files a call goes: what is called often goes straight down."""

import sys
from pathlib import Path

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.core.system import native

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")

HOME = str(Path(tg.__file__).parent)
GRAPH = random_graph(200, 1500, seed=1, dtype=torch.float32)
WEIGHTS = torch.rand(GRAPH.num_arcs)
DATA = torch.rand(200, 16)
EDGES = GRAPH.to_edge_index()


def files(call):
    """The modules of the package whose functions a call enters, once what is derived at first is there."""
    entered = set()

    def enter(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(HOME):
            entered.add(frame.f_code.co_filename[len(HOME) + 1 :])

    for _ in range(3):
        call()
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def recorded(reduce, **options):
    """An aggregate with its gradient."""
    tg.aggregate(GRAPH, DATA.clone().requires_grad_(), reduce, **options).sum().backward()


@pytest.mark.parametrize(
    ("most", "call"),
    [
        (13, lambda: tg.run(tg.algorithms.BFS(0), GRAPH)),
        (10, lambda: recorded("sum")),
        (12, lambda: recorded("max")),
        (12, lambda: recorded("sum", edge="mul", weights=WEIGHTS)),
        (12, lambda: recorded("sum", edge="mul", weights=WEIGHTS.clone().requires_grad_())),
    ],
    ids=["bfs", "sum", "max", "weighted", "weights"],
)
def test_calls_on_a_graph(most, call):
    assert len(entered := files(call)) <= most, sorted(entered)


def test_a_sum_on_a_layout():
    stored = GRAPH.to_format("sell")
    assert len(entered := files(lambda: tg.aggregate(stored, DATA))) <= 13, sorted(entered)


@pytest.mark.parametrize(("most", "layer"), [(13, tg.nn.GCNConv(16, 16)), (17, tg.nn.SAGEConv(16, 16, aggr="max"))])
def test_layers(most, layer):
    assert len(entered := files(lambda: layer(DATA, EDGES))) <= most, sorted(entered)
