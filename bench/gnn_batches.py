"""Mini-batches: models of two layers that get a new edge_index at each step, and training steps of small models as
PyG's examples have them, plain and under `accelerate`. On one thread, as a batch this small is computed.

    python -m bench.gnn --parts batches,examples

Systems take turns, a few steps each. What they compute, and the gradients of all parameters, are compared first, and
the compiled kernels that TGraph called are listed: none is an error.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import Linear, Module, ReLU, Sequential

import tgraph as tg
from bench import measure
from tgraph.core.system import native

LAYERS = ("GCN", "SAGE", "GIN", "GAT", "GATv2", "Transformer")
ARCS = (500, 5_000, 50_000)
DEGREE, COLUMNS, HEADS = 5, 64, 4
SECONDS, BLOCKS, STEPS = 1.5, 16, 5  # of a system, about; turns; timed steps of a turn

Step = Callable[[], Any]


class TwoLayers(Module):
    """Two layers of one kind and of either library, 64 columns wide, with a ReLU between."""

    def __init__(self, module: Any, name: str) -> None:
        super().__init__()
        self.first, self.second = made(module, name), made(module, name)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


def made(module: Any, name: str) -> Module:
    """A layer of either library."""
    if name == "GIN":
        return module.GINConv(Sequential(Linear(COLUMNS, COLUMNS), ReLU(), Linear(COLUMNS, COLUMNS)))
    if name in ("GCN", "SAGE"):
        return getattr(module, f"{name}Conv")(COLUMNS, COLUMNS)
    return getattr(module, f"{name}Conv")(COLUMNS, COLUMNS // HEADS, heads=HEADS)


def run_batches(sizes: tuple[int, ...] = ARCS) -> Iterator[dict[str, Any]]:
    """A cell for each layer, number of arcs and way."""
    from torch_geometric import nn

    for arcs in sizes:
        for name in LAYERS:
            torch.manual_seed(0)
            theirs, ours = TwoLayers(nn, name), TwoLayers(tg.nn, name)
            ours.load_state_dict(theirs.state_dict())
            made_by = torch.Generator().manual_seed(arcs)
            x = torch.randn(arcs // DEGREE, COLUMNS, generator=made_by)
            edge_index = torch.randint(len(x), (2, arcs), generator=made_by)
            for way in ("forward", "both"):
                model_steps = {
                    "pyg edge_index": stepper(theirs, x, (edge_index,), way, new=True),
                    "tgraph": stepper(ours, x, (edge_index,), way, new=True),
                    "tgraph, same again": stepper(ours, x, (edge_index,), way, new=False),
                }
                kernels = check(model_steps, {"pyg edge_index": theirs, "tgraph": ours})
                cell = {"what": f"{name}, {arcs:,} arcs", "way": way, "kernels": kernels}
                yield cell | {"systems": take_turns(model_steps)}


def stepper(model: Module, x: Tensor, edges: tuple[Tensor, ...], way: str, new: bool) -> Step:
    """One step, `new` on copies of the edges, for which nothing is cached."""

    def step() -> Tensor:
        given = [each.clone() for each in edges] if new else edges
        if way == "forward":
            with torch.no_grad():
                return model(x, *given)
        model.zero_grad()
        x.grad = None
        out = model(x, *given)
        out.square().mean().backward()
        return out

    return step


# ---- models of PyG's examples ---------------------------------------------------------------------------------------


def run_examples() -> Iterator[dict[str, Any]]:
    """A cell for each example: a training step on synthetic data, plain and under `accelerate`."""
    for name, make in EXAMPLES.items():
        torch.manual_seed(0)
        model, loss = make()
        fast = copy.deepcopy(model)
        replaced = tg.nn.accelerate(fast).replaced
        assert replaced, f"{name}: accelerate has replaced nothing"
        steps = {"pyg": training(model, loss), "tgraph": training(fast, loss)}
        kernels = check(steps, {"pyg": model, "tgraph": fast})
        yield {"what": name, "way": "training", "kernels": kernels, "systems": take_turns(steps)}


def training(model: Module, loss: Callable[[Module], Tensor]) -> Step:
    """A step without the optimizer, which is the same for both, and would change what they compute."""

    def step() -> Tensor:
        model.zero_grad()
        found = loss(model)
        found.backward()
        return found

    return step


def citations() -> tuple[Tensor, Tensor, Tensor]:
    """Features, edges and classes of the size of planetoid-cora."""
    return torch.randn(2708, 1433), both_ways(torch.randint(2708, (2, 5278))), torch.randint(7, (2708,))


def both_ways(edges: Tensor) -> Tensor:
    return torch.cat((edges, edges.flip(0)), 1)


class Stack(Module):
    """Layers with an ELU or ReLU between."""

    def __init__(self, *layers: Module) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for layer in self.layers[:-1]:
            x = layer(x, edge_index).relu()
        return self.layers[-1](x, edge_index)


def gcn() -> tuple[Module, Callable[[Module], Tensor]]:
    from torch_geometric.nn import GCNConv

    x, edges, y = citations()
    return Stack(GCNConv(1433, 16), GCNConv(16, 7)), lambda model: classes(model(x, edges), y)


def gat() -> tuple[Module, Callable[[Module], Tensor]]:
    from torch_geometric.nn import GATConv

    x, edges, y = citations()
    return Stack(GATConv(1433, 8, 8), GATConv(64, 7, 1)), lambda model: classes(model(x, edges), y)


def classes(scores: Tensor, y: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(scores, y)


class OfGraphs(Module):
    """Graph classification: five GIN layers, the sum over each graph, and a linear map."""

    def __init__(self, columns: int, width: int) -> None:
        super().__init__()
        from torch_geometric.nn import GINConv

        wide = [columns] + [width] * 4
        self.layers = Stack(*(GINConv(Sequential(Linear(size, width), ReLU(), Linear(width, width))) for size in wide))
        self.head = Linear(width, 2)

    def forward(self, x: Tensor, edge_index: Tensor, graph_of: Tensor) -> Tensor:
        x = self.layers(x, edge_index)
        return self.head(x.new_zeros(int(graph_of[-1]) + 1, x.shape[1]).index_add(0, graph_of, x))


def molecules(graphs: int, vertices: int, edges: int, columns: int) -> tuple[Tensor, Tensor, Tensor]:
    """Features, edges of all and the graph of each vertex."""
    graph_of = torch.arange(graphs).repeat_interleave(vertices)
    ends = torch.randint(vertices, (2, graphs, edges)) + vertices * torch.arange(graphs)[:, None]
    return torch.randn(len(graph_of), columns), both_ways(ends.flatten(1)), graph_of


def mutag_gin() -> tuple[Module, Callable[[Module], Tensor]]:
    x, edges, graph_of = molecules(128, 18, 20, 7)
    y = torch.randint(2, (128,))
    return OfGraphs(7, 32), lambda model: classes(model(x, edges.clone(), graph_of), y)


class Pooled(Module):
    """Graph classification with SAGPooling after the first layer, as on the triangles data set."""

    def __init__(self, columns: int, width: int) -> None:
        super().__init__()
        from torch_geometric.nn import GCNConv, GINConv, SAGPooling

        self.first = GINConv(Sequential(Linear(columns, width), ReLU(), Linear(width, width)))
        self.pool = SAGPooling(width, ratio=0.5, GNN=GCNConv)
        self.second = GINConv(Sequential(Linear(width, width), ReLU(), Linear(width, width)))
        self.head = Linear(width, 10)

    def forward(self, x: Tensor, edge_index: Tensor, graph_of: Tensor, graphs: int) -> Tensor:
        x = self.first(x, edge_index).relu()
        x, edge_index, _, graph_of, *_ = self.pool(x, edge_index, None, graph_of)
        x = self.second(x, edge_index).relu()
        return self.head(x.new_zeros(graphs, x.shape[1]).index_add(0, graph_of, x))


def triangles_sag_pool() -> tuple[Module, Callable[[Module], Tensor]]:
    x, edges, graph_of = molecules(60, 20, 32, 14)
    y = torch.randint(10, (60,))
    return Pooled(14, 64), lambda model: classes(model(x, edges.clone(), graph_of, 60), y)


def ppi() -> tuple[Module, Callable[[Module], Tensor]]:
    from torch_geometric.nn import GATConv

    x, edges = torch.randn(2400, 50), both_ways(torch.randint(2400, (2, 32_000)))
    y = torch.rand(2400, 121).round()
    model = Stack(GATConv(50, 64, 4), GATConv(256, 64, 4), GATConv(256, 121, 6, concat=False))
    return model, lambda model: torch.nn.functional.binary_cross_entropy_with_logits(model(x, edges.clone()), y)


def link_pred() -> tuple[Module, Callable[[Module], Tensor]]:
    from torch_geometric.nn import GCNConv

    x, edges, _ = citations()
    pairs = torch.cat((edges, torch.randint(2708, edges.shape)), 1)
    wanted = (torch.arange(pairs.shape[1]) < edges.shape[1]).float()

    def loss(model: Module) -> Tensor:
        z = model(x, edges)
        scores = (z[pairs[0]] * z[pairs[1]]).sum(-1)
        return torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted)

    return Stack(GCNConv(1433, 128), GCNConv(128, 64)), loss


def autoencoder() -> tuple[Module, Callable[[Module], Tensor]]:
    from torch_geometric.nn import GCNConv

    x, edges, _ = citations()
    apart = torch.randint(2708, edges.shape)

    def loss(model: Module) -> Tensor:
        z = model(x, edges)
        near, far = ((z[ends[0]] * z[ends[1]]).sum(-1).sigmoid() for ends in (edges, apart))
        return -(near + 1e-15).log().mean() - (1 - far + 1e-15).log().mean()

    return Stack(GCNConv(1433, 32), GCNConv(32, 16)), loss


EXAMPLES = {make.__name__: make for make in (gcn, gat, mutag_gin, triangles_sag_pool, ppi, link_pred, autoencoder)}


# ---- what is checked and timed --------------------------------------------------------------------------------------


def check(steps: dict[str, Step], models: dict[str, Module]) -> list[str]:
    """Compare results and the gradients of all parameters. Returns the compiled kernels that TGraph called."""
    results, gradients = {}, {}
    with called() as kernels:
        for name, model in models.items():
            kernels.clear()
            results[name] = steps[name]().detach()
            gradients[name] = [parameter.grad for parameter in model.parameters()]
            assert kernels or name != "tgraph", "ours has called no compiled kernel"
        found = sorted(kernels)
    (peer, wanted), (_, own) = results.items()
    torch.testing.assert_close(own, wanted, rtol=2e-3, atol=2e-3)
    for ours, theirs in zip(gradients["tgraph"], gradients[peer], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=5e-3, atol=5e-3)
    return found


@contextmanager
def called() -> Iterator[set[str]]:
    """The names of the compiled kernels that are called in a `with` block."""
    names: set[str] = set()
    load = native.load
    module = load()

    class Noted:
        def __getattr__(self, name: str) -> Any:
            names.add(name)
            return getattr(module, name)

    native.load = lambda: None if module is None else Noted()  # type: ignore[assignment,return-value]
    try:
        yield names
    finally:
        native.load = load


def take_turns(steps: dict[str, Step], count: int = 1) -> dict[str, Any]:
    """{system: milliseconds of a step, ratio to TGraph}, of blocks of steps in turn, on `count` threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        contestants = [measure.Called(name, lambda _, step=step: step()) for name, step in steps.items()]
        settings = measure.Settings(repeat=STEPS, budget=SECONDS, slow=SECONDS)
        return measure.against(measure.interleave(contestants, range(BLOCKS), settings))
    finally:
        torch.set_num_threads(threads)
