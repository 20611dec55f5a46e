"""Networks on files: losses, outputs and gradients are those in memory."""

import copy
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from strategies import random_graph, refused
from streams import streamed

import tgraph as tg
from tgraph.errors import ArgumentError, MemoryBudgetError

N, CLASSES, ENOUGH = 60, 3, 10**6
nn = torch.nn

NETWORKS = {
    "gcn": lambda: [tg.nn.GCNConv(4, 8), nn.ReLU(), tg.nn.GCNConv(8, CLASSES)],
    "sage": lambda: [tg.nn.SAGEConv(4, 8), nn.ReLU(), tg.nn.SAGEConv(8, CLASSES, aggr="sum", normalize=True)],
    "gin": lambda: [
        tg.nn.GINConv(nn.Sequential(nn.Linear(4, 8), nn.ReLU()), train_eps=True),
        nn.LayerNorm(8),
        tg.nn.GINConv(nn.Linear(8, CLASSES)),
    ],
    "mixed": lambda: [
        nn.Linear(4, 5),
        tg.nn.GraphConv(5, 6, aggr="mean"),
        nn.Tanh(),
        tg.nn.GCNConv(6, CLASSES, improved=True),
        nn.LogSoftmax(1),
    ],
    "no layer": lambda: [nn.Linear(4, CLASSES)],
}


def through(layers, graph, x):
    for layer in layers:
        x = layer(x, graph) if hasattr(layer, "propagate") else layer(x)
    return x


def gradients(layers):
    return [parameter.grad for parameter in nn.ModuleList(layers).parameters()]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(("directed", "weights"), [(False, None), (True, torch.float64)])
def test_as_in_memory(tmp_path, monkeypatch, name, directed, weights):
    """With self-loops, isolated vertices and rows in several parts."""
    monkeypatch.setattr("tgraph.stream.features.full_batch.ROWS", 17)
    torch.manual_seed(0)
    drawn = random_graph(N - 4, 300, directed=directed, dtype=weights)
    ends = drawn.to_edge_index()
    graph = tg.Graph.from_edges(*ends, drawn.weights, num_vertices=N, directed=True)
    graph = graph if directed else graph.to_undirected()
    layers, x, y = NETWORKS[name](), torch.rand(N, 4, dtype=torch.float64), torch.randint(CLASSES, (N,))
    layers = [layer.double() for layer in layers]
    expected = copy.deepcopy(layers)
    out = through(expected, graph, x)
    loss = F.cross_entropy(out, y)
    loss.backward()
    for held in (streamed(graph, 5, slack=ENOUGH), graph):
        network = tg.stream.Network(layers, held, tmp_path, memory=ENOUGH)
        nn.ModuleList(layers).zero_grad()
        found = network.backward(x, lambda out, rows: F.cross_entropy(out, y[rows], reduction="sum") / N)
        torch.testing.assert_close(torch.tensor(found).double(), loss.detach())
        for one, other in zip(gradients(layers), gradients(expected), strict=True):
            torch.testing.assert_close(one, other)
        torch.testing.assert_close(network.forward(x, tmp_path / "out.npy").read(slice(0, N)), out.detach())


def test_dropout_is_the_same_in_both_passes(tmp_path, monkeypatch):
    """The gradient of a loss that is linear in what remains is what remains."""
    monkeypatch.setattr("tgraph.stream.features.full_batch.ROWS", 17)
    graph = tg.generators.cycle(N)
    scale = nn.Linear(1, 1, bias=False)
    layers = [scale, nn.Dropout(0.5), tg.nn.SAGEConv(1, 1, aggr="sum", bias=False, root_weight=False)]
    with torch.no_grad():
        scale.weight.fill_(1)
        layers[-1].lin_l.weight.fill_(1)
    before = torch.get_rng_state()
    network = tg.stream.Network(layers, graph, tmp_path, memory=ENOUGH)
    found = [network.backward(torch.ones(N, 1), lambda out, rows: out.sum(), seed=seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2] and abs(float(scale.weight.grad) - sum(found)) < 1e-3
    assert torch.equal(torch.get_rng_state(), before)


def test_a_network_learns_within_a_budget(tmp_path):
    graph = random_graph(500, 2000, directed=False)
    torch.manual_seed(0)
    x, y = torch.rand(500, 16), torch.randint(CLASSES, (500,))
    x[:, :CLASSES] += F.one_hot(y, CLASSES)
    layers = nn.Sequential(tg.nn.SAGEConv(16, 8), nn.ReLU(inplace=True), tg.nn.SAGEConv(8, CLASSES))
    held, optimizer = streamed(graph, 8, slack=100_000), torch.optim.Adam(layers.parameters(), lr=0.1)
    network, losses = tg.stream.Network(layers, held, tmp_path), []
    for _ in range(4):
        optimizer.zero_grad()
        losses.append(network.backward(x, lambda out, rows: F.cross_entropy(out, y[rows], reduction="sum") / 500))
        optimizer.step()
    assert losses[-1] < losses[0] - 0.03


def test_refusals(tmp_path, monkeypatch):
    monkeypatch.setattr("tgraph.stream.features.full_batch.ROWS", 17)
    graph, make = tg.generators.cycle(N), tg.stream.Network
    refused("layers.0.: GATConv is not", make, [tg.nn.GATConv(1, 1)], graph, tmp_path, memory=ENOUGH)
    refused("layers.0.: .* got 'max'", make, [tg.nn.SAGEConv(1, 1, aggr="max")], graph, tmp_path, memory=ENOUGH)
    refused("layers.1.: BatchNorm1d", make, [nn.ReLU(), nn.BatchNorm1d(3)], graph, tmp_path, memory=ENOUGH)
    network = make([tg.nn.SAGEConv(1, 2)], graph, tmp_path / "none" / "yet", memory=ENOUGH)
    with pytest.raises(ArgumentError, match="loss: expected one number"):
        network.backward(torch.ones(N, 1), lambda out, rows: out)
    for loss in (lambda out, rows: out.detach().sum(), lambda out, rows: out.sum().item()):
        refused("loss: .*without detach, item or numpy", network.backward, torch.ones(N, 1), loss)
    for module, words in (
        (nn.Flatten(0), r"layers.1.: Flatten makes \[8\] of 4 rows"),
        (nn.Softmax(0), "layers.1.: Softmax makes rows depend"),
        (nn.BatchNorm1d(2, track_running_stats=False).eval(), "layers.1.: BatchNorm1d makes rows depend"),
        (nn.LSTM(2, 2), "layers.1.: LSTM makes tuple"),
    ):
        mixing = make([tg.nn.SAGEConv(1, 2), module, nn.Identity()], graph, tmp_path, memory=ENOUGH)
        refused(words, mixing.backward, torch.rand(N, 1), lambda out, rows: out.sum())
    (tmp_path / "file").touch()
    refused("folder: .*file' is a file", make, [nn.ReLU()], graph, tmp_path / "file", memory=ENOUGH)
    with torch.no_grad():  # rows without labels have a loss of no outputs
        network.backward(torch.ones(N, 1), lambda out, rows: out.sum() if rows.start else torch.zeros(()))
    assert network.stages[1].layer.lin_l.weight.grad is not None
    with pytest.raises(MemoryBudgetError, match="the parameters"):
        make([tg.nn.GCNConv(4, 2)], graph, tmp_path, memory=100)


class Rounded(nn.Module):
    """Sums whose terms cancel, which are rounded otherwise where the last row is another."""

    def forward(self, x):
        return x * 0 + torch.tensor([8.0, 1e-3]) + 1e-6 * (x[-1:] > 1)


def test_rows_that_are_rounded_otherwise_are_not_refused(tmp_path):
    network = tg.stream.Network([Rounded(), nn.Identity()], tg.generators.cycle(N), tmp_path, memory=ENOUGH)
    assert network.forward(torch.rand(N, 2), tmp_path / "out.npy").shape == (N, 2)


MEASURED = """
import sys, torch, tgraph as tg
folder, memory, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def peak():  # getrusage would begin with the peak of the process that started this one
    with open("/proc/self/status") as file:
        return 1024 * int(file.read().partition("VmHWM:")[2].split()[0])

def train(graph, x, memory):
    layers = [tg.nn.SAGEConv(64, 64), torch.nn.ReLU(), tg.nn.GCNConv(64, 8)]
    tg.stream.Network(layers, graph, folder, memory=memory).backward(x, lambda out, rows: out.square().sum())

train(tg.generators.path(1000), torch.rand(1000, 64), 10**8)
before = peak()
train(tg.open(f"{folder}/graph.tg", memory), f"{folder}/x.npy", memory)
print(peak() - before)
"""


@pytest.mark.thorough
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not tell peaks")
def test_memory_keeps_to_the_budget(tmp_path):
    """Of matrices of 33 MB each, of which in memory there would be a dozen."""
    n, memory = 1 << 17, 60_000_000
    tg.stream.write_partitioned(random_graph(n, 1_000_000), tmp_path / "graph.tg", 8)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((n, 64), dtype=np.float32))
    command = [sys.executable, "-c", MEASURED, tmp_path, str(memory), str(n)]
    assert int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) < 1.25 * memory
