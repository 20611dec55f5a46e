"""What `advise` finds, and how it reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from tgraph.core.text import table
from tgraph.tune.profiler import Step


@dataclass(frozen=True)
class LayerAdvice:
    """What serves a layer.

    place : in the model. name : the class; "of PyG" where it is one of PyTorch Geometric's that `accelerate` replaces.
    calls : how often a call of the model calls it. forward, backward : the calls of our operators, each with its
    operation, the backend that served it, refused {name: why one that stands before it does not}, the shape and dtype
    of what a vertex sends, the bytes moved, and milliseconds.
    """

    place: str
    name: str
    calls: int
    forward: tuple[Step, ...]
    backward: tuple[Step, ...]


@dataclass(frozen=True)
class OrderAdvice:
    """What an order of the vertices brings.

    order : as `Graph.reorder` calls it, "" for the present one. seconds : to reorder. misses : the share of the gathers
    that miss the cache. milliseconds : of a sum.
    """

    order: str
    seconds: float
    misses: float
    milliseconds: float


@dataclass(frozen=True)
class LayoutAdvice:
    """What a layout of the arcs brings.

    layout : as `Graph.to_format` calls it. seconds : to build. bytes_per_edge : of all that it stores. operations :
    rows that a sum gathers, over the arcs. serves : the places of the layers that sum in it.
    """

    layout: str
    seconds: float
    bytes_per_edge: float
    operations: float
    serves: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    """What `advise` found; as text tables, and below them what to do.

    layers : our layers, and those that `accelerate` would replace. kept : {place: why a layer is not advised on}.
    orders : the present order of the vertices and others. layouts : of the arcs. refused : {order or layout: why it was
    not measured}. columns, dtype, cache : orders are measured by a sum of so many columns, the most that a layer
    gathers, and a cache of so many bytes. hints : what to do, a sentence each.
    """

    layers: tuple[LayerAdvice, ...]
    kept: dict[str, str]
    orders: tuple[OrderAdvice, ...] = ()
    layouts: tuple[LayoutAdvice, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    columns: int = 0
    dtype: torch.dtype = torch.float32
    cache: int = 0
    hints: tuple[str, ...] = ()

    def __str__(self) -> str:
        refused = (f"{name}: not measured, {reason}" for name, reason in self.refused.items())
        parts = (_layers(self), _orders(self), _layouts(self), refused, self.hints)
        return "\n\n".join(text for part in parts if (text := "\n".join(part)))


def numbers(shape: tuple[int, ...], dtype: torch.dtype) -> str:
    """What a vertex sends, as "4x32 float32"."""
    return f"{'x'.join(map(str, shape))} {str(dtype).removeprefix('torch.')}"


def size(nbytes: int) -> str:
    """Bytes with a unit."""
    for unit, step in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if nbytes >= 1 << step:
            return f"{nbytes / (1 << step):.3g} {unit}"
    return f"{nbytes} B"


def figure(number: float) -> str:
    """A positive number to three digits, or to its units."""
    return f"{number:.3g}" if number < 100 else f"{number:,.0f}"


def _layers(advice: Advice) -> Iterable[str]:
    rows: list[tuple[str, ...]] = [("layer", "class", "pass", "served by", "of", "moved", "ms")]
    for layer in advice.layers:
        label = [layer.place or "the model", layer.name + (f", called {layer.calls} times" * (layer.calls > 1))]
        for way, steps in (("forward", layer.forward), ("backward", layer.backward)):
            for step in steps:
                sent, taken = numbers(step.shape, step.dtype), figure(step.milliseconds)
                rows.append((*label, way, str(step), sent, size(step.moved), taken))
                label = ["", ""]
        if label[0]:
            rows.append((*label, "", "no kernel of ours", "", "", ""))
    if len(rows) > 1:
        yield table(rows, left=(0, 1, 2, 3, 4))
    yield from (f"{place or 'the model'}: {reason}" for place, reason in advice.kept.items())
    yield from _refusals(advice)
    if not advice.layers and not advice.kept:
        yield "no layers of ours or of PyTorch Geometric"


def _refusals(advice: Advice) -> Iterable[str]:
    """Why backends that stand before the one that serves do not, a line for each reason."""
    calls: dict[tuple[str, str], list[str]] = {}
    for layer in advice.layers:
        for step in layer.forward + layer.backward:
            for name, reason in step.refused.items():
                known = calls.setdefault((name, reason), [])
                if step.operation not in known:
                    known.append(step.operation)
    return [f"{name} does not serve {', '.join(who)}: {reason}" for (name, reason), who in calls.items()]


def _orders(advice: Advice) -> Iterable[str]:
    if not advice.orders:
        return
    summed = numbers((advice.columns,), advice.dtype)
    rows = [("order", "seconds to reorder", f"gathers that miss {size(advice.cache)}", f"ms for a sum of {summed}")]
    for each in advice.orders:
        seconds = figure(each.seconds) if each.order else ""
        rows.append((each.order or "as it is", seconds, f"{each.misses:.1%}", figure(each.milliseconds)))
    yield table(rows, left=(0,))


def _layouts(advice: Advice) -> Iterable[str]:
    if not advice.layouts:
        return
    rows = [("layout", "seconds to build", "bytes/edge", "rows gathered/edge", "serves")]
    for each in advice.layouts:
        stored, gathered = f"{each.bytes_per_edge:.2f}", f"{each.operations:.2f}"
        rows.append((each.layout, figure(each.seconds), stored, gathered, ", ".join(each.serves) or "no layer"))
    yield table(rows)
