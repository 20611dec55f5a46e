"""Through how many files a call goes: what is called often goes straight down."""

import interpreters
import pytest

from tgraph.core.system import native

pytestmark = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")

# A process of its own, in which nothing is measured, watched, recorded or tuned.
WALKS = """
import sys
from pathlib import Path

import torch
import tgraph as tg

home = str(Path(tg.__file__).parent)
torch.manual_seed(0)
edges = torch.randint(200, (2, 1500))
graph = tg.Graph.from_edges(*edges, torch.rand(1500), num_vertices=200)
stored = graph.to_format("sell")
weights, data = torch.rand(graph.num_arcs), torch.rand(200, 16)
layers = {"GCN": tg.nn.GCNConv(16, 16), "SAGE": tg.nn.SAGEConv(16, 16, aggr="max")}


def recorded(reduce, **options):
    tg.aggregate(graph, data.clone().requires_grad_(), reduce, **options).sum().backward()


calls = {
    "BFS": lambda: tg.run(tg.algorithms.BFS(0), graph),
    "sum": lambda: recorded("sum"),
    "max": lambda: recorded("max"),
    "sum by weights": lambda: recorded("sum", edge="mul", weights=weights),
    "gradient of weights": lambda: recorded("sum", edge="mul", weights=weights.clone().requires_grad_()),
    "layout": lambda: tg.aggregate(stored, data),
    **{name: lambda layer=layer: layer(data, edges) for name, layer in layers.items()},
}
for name, call in calls.items():
    entered = set()

    def enter(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(home):
            entered.add(frame.f_code.co_filename)

    for _ in range(3):  # what is derived once
        call()
    sys.setprofile(enter)
    call()
    sys.setprofile(None)
    print(f"{name}: {len(entered)}")
"""

MOST = {
    "BFS": 12,
    "sum": 9,
    "max": 11,
    "sum by weights": 9,
    "gradient of weights": 10,
    "layout": 12,
    "GCN": 11,
    "SAGE": 15,
}


def test_files_that_a_call_goes_through(untuned):
    ran = interpreters.run(WALKS)
    found = {name: int(number) for name, _, number in (line.rpartition(": ") for line in ran.stdout.splitlines())}
    assert found.keys() == MOST.keys(), ran.stderr
    assert not {name: number for name, number in found.items() if number > MOST[name]}
