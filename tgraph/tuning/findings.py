"""The result of `advise` for a model, and its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from tgraph.core.system.text import table
from tgraph.markup.labels import preformatted
from tgraph.tuning.layout_advice import Advice
from tgraph.tuning.order_advice import OrderAdvice
from tgraph.tuning.profiler import Step


@dataclass(frozen=True)
class LayerAdvice:
    """The kernels of a layer.

    place : its name in the model. name : its class, followed by "of PyG" for a PyTorch Geometric layer to be replaced
    by `accelerate`, or ", lazy" for lazy messages. calls : number of calls by the model. forward, backward : the
    operator calls, as `Step`s.
    """

    place: str
    name: str
    calls: int
    forward: tuple[Step, ...]
    backward: tuple[Step, ...]


@dataclass(frozen=True)
class ModelAdvice:
    """The result of `advise` for a model; str() gives tables and recommendations.

    layers : of tgraph.nn, and to be replaced by `accelerate`. kept : {place: why a layer is not among them}. orders :
    the present order of the vertices and others; refused : {order: why it was not measured}. layouts : the `Advice` on
    layouts of the arcs, or None; serves : {layout: places of the layers that sum in it}. columns, dtype : of the timed
    sum. cache : bytes of the second-level cache. hints : recommendations, a sentence each.

    >>> model, graph = tg.nn.GCNConv(8, 4), tg.generators.rmat(6)
    >>> print(tg.advise(model, graph, orders=(), layouts=()))
    layer      class    pass     backend ...
    the model  GCNConv  forward  pull: ...
    order: all 64 rows of 8 float32 fit the ... of the cache, and no order helps
    """

    layers: tuple[LayerAdvice, ...]
    kept: dict[str, str]
    orders: tuple[OrderAdvice, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    layouts: Advice | None = None
    serves: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: int = 0
    dtype: torch.dtype = torch.float32
    cache: int = 0
    hints: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = (_layers(self), _orders(self), _layouts(self), self.hints)
        return "\n\n".join(text for part in parts if (text := "\n".join(part)))

    def _repr_html_(self) -> str:
        return preformatted(self)


def numbers(shape: tuple[int, ...], dtype: torch.dtype) -> str:
    """The data of a vertex, as "4x32 float32"."""
    return f"{'x'.join(map(str, shape))} {str(dtype).removeprefix('torch.')}"


def size(nbytes: int) -> str:
    """Bytes with a unit."""
    for unit, step in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if nbytes >= 1 << step:
            return f"{nbytes / (1 << step):.3g} {unit}"
    return f"{nbytes} B"


def figure(number: float) -> str:
    """A positive number with three digits, or without fraction from 100 on."""
    return f"{number:.3g}" if number < 100 else f"{number:,.0f}"


def _layers(advice: ModelAdvice) -> Iterable[str]:
    rows: list[tuple[str, ...]] = [("layer", "class", "pass", "backend", "of", "ms")]
    for layer in advice.layers:
        label = [layer.place or "the model", layer.name + (f", called {layer.calls} times" * (layer.calls > 1))]
        for direction, steps in (("forward", layer.forward), ("backward", layer.backward)):
            for step in steps:
                sent, taken = numbers(step.shape, step.dtype), figure(step.milliseconds)
                rows.append((*label, direction, str(step), sent, taken))
                label = ["", ""]
        if label[0]:
            rows.append((*label, "", "no kernel of tgraph", "", ""))
    if len(rows) > 1:
        yield table(rows, left=(0, 1, 2, 3, 4))
    yield from (f"{place or 'the model'}: {reason}" for place, reason in advice.kept.items())
    yield from _refusals(advice)
    if not advice.layers and not advice.kept:
        yield "no layers of tgraph.nn or of PyTorch Geometric"


def _refusals(advice: ModelAdvice) -> Iterable[str]:
    """The reasons against backends of higher priority, a line for each."""
    calls: dict[tuple[str, str], list[str]] = {}
    for layer in advice.layers:
        for step in layer.forward + layer.backward:
            for name, reason in step.refused.items():
                operations = calls.setdefault((name, reason), [])
                if step.operation not in operations:
                    operations.append(step.operation)
    return [f"{name} does not support {', '.join(each)}: {reason}" for (name, reason), each in calls.items()]


def _orders(advice: ModelAdvice) -> Iterable[str]:
    if advice.orders:
        rows = [("order", "seconds to reorder", f"ms for a sum of {numbers((advice.columns,), advice.dtype)}")]
        for each in advice.orders:
            seconds = figure(each.seconds) if each.order else ""
            rows.append((each.order or "as it is", seconds, figure(each.milliseconds)))
        yield table(rows, left=(0,))
    yield from (f"{name}: not measured, {reason}" for name, reason in advice.refused.items())


def _layouts(advice: ModelAdvice) -> Iterable[str]:
    if advice.layouts is not None:
        yield str(advice.layouts)
        for name, places in advice.serves.items():
            yield f"{name} supports {', '.join(place or 'the model' for place in places)}"
