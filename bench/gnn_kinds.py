"""Layers beyond the six of `--parts layers`, and one that a user writes and accelerates: forward, and with the
backward, beside PyG's.

    python -m bench.gnn --parts kinds [--sizes tiny,middle,large] [--threads 1,2] [--kinds GraphConv,...]

tiny is a sampled batch, whose edge_index is new at each step; middle and large are graphs that stay. What layers
compute and the gradients of all parameters are compared first, as for mini-batches.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import Linear, Module, ReLU, Sequential

import tgraph as tg
from bench.gnn_batches import check, stepper, take_turns

SIZES = {"tiny": (1_500, 6_000), "middle": (20_000, 200_000), "large": (100_000, 2_000_000)}  # vertices, edges
COLUMNS, EDGE_COLUMNS, RELATIONS, HEADS = 64, 8, 4, 4


class OfTypes(Module):
    """HGTConv between two halves of the vertices, by two relations."""

    def __init__(self, library: Any):
        super().__init__()
        self.relations = [("a", "to", "b"), ("b", "to", "a")]
        self.layer = library.HGTConv(COLUMNS, COLUMNS, (["a", "b"], self.relations), heads=HEADS)

    def forward(self, x: Tensor, to: Tensor, back: Tensor) -> Tensor:
        half = len(x) // 2
        edges = dict(zip(self.relations, (to, back), strict=True))
        return torch.cat(list(self.layer({"a": x[:half], "b": x[half:]}, edges).values()))


@functools.cache
def written_class() -> Any:
    """A layer as users write them."""
    from torch_geometric.nn import MessagePassing

    class Written(MessagePassing):
        def __init__(self) -> None:
            super().__init__(aggr="mean")
            self.lin, self.own = Linear(COLUMNS, COLUMNS), Linear(COLUMNS, COLUMNS)

        def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
            return self.propagate(edge_index, x=x, edge_weight=edge_weight)

        def message(self, x_i: Tensor, x_j: Tensor, edge_weight: Tensor) -> Tensor:
            return edge_weight.view(-1, 1) * (self.lin(x_j) + self.own(x_i))

    return Written


def written(library: Any) -> Module:
    """The layer that a user writes, accelerated in place of TGraph's."""
    layer = written_class()()
    if library is tg.nn:
        assert tg.nn.accelerate(layer).lazy
    return layer


def network(columns: int) -> Module:
    return Sequential(Linear(columns, COLUMNS), ReLU(), Linear(COLUMNS, COLUMNS))


def principal(library: Any) -> Module:
    degrees = torch.bincount(torch.arange(8))
    aggregators, scalers = ["mean", "min", "max", "std"], ["identity", "amplification", "attenuation"]
    return library.PNAConv(COLUMNS, COLUMNS, aggregators, scalers, degrees)


KINDS: dict[str, Callable[[Any], Module]] = {
    "GraphConv": lambda library: library.GraphConv(COLUMNS, COLUMNS),
    "SGConv": lambda library: library.SGConv(COLUMNS, COLUMNS, K=2),
    "APPNP": lambda library: library.APPNP(4, 0.1),
    "RGCNConv": lambda library: library.RGCNConv(COLUMNS, COLUMNS, RELATIONS),
    "GINEConv": lambda library: library.GINEConv(network(COLUMNS), edge_dim=EDGE_COLUMNS),
    "EdgeConv": lambda library: library.EdgeConv(network(2 * COLUMNS)),
    "ResGatedGraphConv": lambda library: library.ResGatedGraphConv(COLUMNS, COLUMNS),
    "PNAConv": principal,
    "HGTConv": OfTypes,
    "written": written,
}


def run_kinds(kinds: list[str], sizes: list[str], threads: list[int]) -> Iterator[dict[str, Any]]:
    """A cell for each layer, size, number of threads and way."""
    from torch_geometric import nn

    for size in sizes:
        for name in kinds:
            torch.manual_seed(0)
            theirs, ours = KINDS[name](nn), KINDS[name](tg.nn)
            ours.load_state_dict(theirs.state_dict())
            x, edges = problem(name, *SIZES[size])
            for way in ("forward", "both"):
                steps = {
                    "pyg": stepper(theirs, x, edges, way, new=size == "tiny"),
                    "tgraph": stepper(ours, x, edges, way, new=size == "tiny"),
                }
                kernels = check(steps, {"pyg": theirs, "tgraph": ours})
                for count in threads:
                    cell = {"what": f"{name}, {size}, {count} threads", "way": way, "kernels": kernels}
                    yield cell | {"systems": take_turns(steps, count)}


def problem(name: str, vertices: int, edges: int) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The features, and the other arguments of the layer."""
    made_by = torch.Generator().manual_seed(edges)
    x = torch.randn(vertices, COLUMNS, generator=made_by, requires_grad=True)
    edge_index = torch.randint(vertices, (2, edges), generator=made_by)
    if name == "HGTConv":
        half = edge_index[:, : edges // 2] % (vertices // 2)
        return x, (half, half.flip(0).contiguous())
    of_edges = {
        "RGCNConv": torch.randint(RELATIONS, (edges,), generator=made_by),
        "GINEConv": torch.randn(edges, EDGE_COLUMNS, generator=made_by),
        "written": torch.rand(edges, generator=made_by),
    }
    return x, (edge_index, of_edges[name]) if name in of_edges else (edge_index,)
