"""The registered operators called by a layer, with backends and times."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tgraph.core.dispatch import LAYOUT
from tgraph.core.subgraph import whole
from tgraph.kernels import Choice, choose, watched
from tgraph.kernels.call import Call


@dataclass(frozen=True)
class Step:
    """A call of a registered operator.

    operation : its name. backend : the name of its backend. refused : {backend of higher priority: why it does not
    support the call}. shape, dtype : of a vertex's data. milliseconds : of the call.
    """

    operation: str
    backend: str
    refused: dict[str, str] = field(repr=False)
    shape: tuple[int, ...]
    dtype: torch.dtype
    milliseconds: float

    def __str__(self) -> str:
        return f"{self.operation}: {self.backend}"


class Profile(TorchDispatchMode):
    """Records, in a `with` block, every call of a registered operator with a choice of backend, as `steps`.
    `unregistered` : the choices outside of registered operators, as for graphs in a layout."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.unregistered: list[Choice] = []
        self._watched = watched()

    def __enter__(self) -> Profile:
        self.unregistered = self._watched.__enter__()
        return super().__enter__()

    def __exit__(self, *fault: Any) -> None:
        super().__exit__(*fault)
        self._watched.__exit__(*fault)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace != "tgraph":
            return func(*args, **(kwargs or {}))
        before = len(self.unregistered)
        begin = _clock(args)
        results = func(*args, **(kwargs or {}))
        taken = _clock(args) - begin
        made = [choice for choice in self.unregistered[before:] if choice.call is not None]
        del self.unregistered[before:]
        if made:
            self.steps.append(_step(func._schema.name.partition("::")[2], made[-1], 1e3 * taken))
        return results


def _step(operation: str, choice: Choice, milliseconds: float) -> Step:
    data, name = choice.call.data, "none" if choice.backend is None else choice.backend.name
    shape = tuple(size for size in data.shape[1:] if size != 1) or (1,)
    return Step(operation, name, choice.refused, shape, data.dtype, milliseconds)


def _clock(tensors: Sequence[Any]) -> float:
    """The time in seconds, after synchronising the device of the tensors."""
    if any(isinstance(tensor, Tensor) and tensor.device.type != "cpu" for tensor in tensors):
        torch.accelerator.synchronize()
    return time.perf_counter()


def median(runs: Sequence[Sequence[Step]]) -> tuple[Step, ...]:
    """The steps of repeated runs, each with the median of its times."""
    return tuple(
        replace(same[0], milliseconds=statistics.median(step.milliseconds for step in same))
        for same in zip(*runs, strict=True)
    )


# ---- calls outside of registered operators --------------------------------------------------------------------------


def replayed(choices: Sequence[Choice]) -> tuple[list[Step], list[Step]]:
    """(forward, backward) steps of aggregates outside of registered operators, run again for timing. The gradient of a
    sum in a layout is a sum over the transpose, also in the layout."""
    forward, backward = [], []
    for choice in choices:
        call = choice.call
        if choice.operator != "aggregate" or call.sub is None:
            continue
        forward.append(_timed(choice))
        if choice.is_by(LAYOUT) and call.data.requires_grad:
            graph = call.sub.graph.transpose_detached()
            sub = whole(graph, graph.everything(), "pull", LAYOUT)
            backward.append(_timed(choose(LAYOUT, replace(call, data=call.data.detach(), sub=sub))))
    return forward, backward


@torch.no_grad()
def _timed(choice: Choice) -> Step:
    call: Call = choice.call
    assert call.sub is not None
    begin = _clock((call.data,))
    choice.run(call.sub, call.data, call.reduction, call.edge, call.weights, call.dtype)
    return _step("aggregate", choice, 1e3 * (_clock((call.data,)) - begin))
