"""Mini-batches: models of two layers that get a new edge_index at each step. On one thread, as a batch this small is
computed.

    python -m bench.gnn --parts batches

Systems take turns, a few steps each. Their results and the gradients of all parameters are compared first, and the
compiled kernels that TGraph called are listed: none is an error.
"""

from __future__ import annotations

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
    columns, options = (COLUMNS, {}) if name in ("GCN", "SAGE") else (COLUMNS // HEADS, {"heads": HEADS})
    return getattr(module, f"{name}Conv")(COLUMNS, columns, **options)


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


# ---- checks and times --------------------------------------------------------------------------------------


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
    load, module = native._import_installed, native.load()

    class Noted:
        def __getattr__(self, name: str) -> Any:
            names.add(name)
            return getattr(module, name)

    native._import_installed = lambda: None if module is None else Noted()  # type: ignore[assignment,return-value]
    try:
        yield names
    finally:
        native._import_installed = load


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
