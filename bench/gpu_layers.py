"""The attention layers compared with PyG's on the same device, forward and with gradients: a part of `bench.gpu`."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import torch
from torch import Tensor

import tgraph as tg

LAYERS, HEADS = ("GATConv", "GATv2Conv", "TransformerConv"), 4

# Runs a layer, and returns the result that is verified.
Step = Callable[[], Tensor]


def tasks(graph: tg.Graph, columns: int) -> dict[str, tuple[dict[str, Step], Tensor]]:
    """{task: ({system: step}, what the step gives on the CPU)}: each layer of HEADS heads with that many columns."""
    host, found = graph.to("cpu"), {}
    edge_index = torch.stack((torch.repeat_interleave(host.out_degree), host.neighbors.long()))
    x = torch.randn((host.num_vertices, columns), generator=torch.Generator().manual_seed(0))
    for kind in LAYERS:
        for both in (False, True):
            task = f"{kind}, H={HEADS}, D={columns}, {'forward and backward' if both else 'forward'}"
            ours = layer("tgraph.nn", kind, columns)
            assert ours is not None
            expected = step(ours, x, edge_index, both)()
            systems = {}
            for system, module in {"tgraph": "tgraph.nn", "PyG": "torch_geometric.nn"}.items():
                theirs = layer(module, kind, columns)
                if theirs is None:
                    continue
                theirs.load_state_dict(ours.state_dict())
                theirs = theirs.to(graph.device)
                systems[system] = step(theirs, x.to(graph.device), edge_index.to(graph.device), both)
            found[task] = systems, expected
    return found


def layer(module: str, kind: str, columns: int) -> torch.nn.Module | None:
    """A layer of either library, None where it is not installed."""
    torch.manual_seed(0)
    try:
        return getattr(importlib.import_module(module), kind)(columns, columns, heads=HEADS)
    except ImportError:
        return None


def step(module: torch.nn.Module, x: Tensor, edge_index: Tensor, both: bool) -> Step:
    """The result of a layer, or the gradient of x after those of all parameters were computed too."""
    leaf = x.clone().requires_grad_()
    upstream = torch.randn((len(x), HEADS * x.shape[1]), generator=torch.Generator().manual_seed(1)).to(x.device)

    def forward() -> Tensor:
        with torch.no_grad():
            return module(x, edge_index)

    def forward_and_backward() -> Tensor:
        leaf.grad = None
        module.zero_grad()
        module(leaf, edge_index).backward(upstream)
        assert leaf.grad is not None
        return leaf.grad

    return forward_and_backward if both else forward


def difference(result: Tensor, expected: Tensor) -> str:
    """The fault of a result, nothing where it is as near as float32 can be expected to be. A gradient jumps where
    a leaky_relu has its kink, so that single numbers may differ by rounding: what counts is the norm, by 2e-4 of which
    the gradients of GATConv differ, ours and PyG's alike."""
    error = float((result.cpu().double() - expected.double()).norm() / expected.double().norm().clamp(min=1e-30))
    return "" if error < 5e-4 else f"WRONG: by {error:.1e} of the norm"
