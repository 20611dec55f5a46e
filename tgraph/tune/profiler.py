"""Which of our operators a layer calls, who serves them, what they move and how long they take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tgraph.core.graph import Graph
from tgraph.core.subgraph import whole
from tgraph.kernels import Choice, choose, layouts, watched
from tgraph.kernels.call import Call
from tgraph.tune.traffic import moved, row_bytes


@dataclass(frozen=True)
class Step:
    """A call of one of our operators.

    operation : its name. backend : the name of the one that served it. refused : {name: why one that stands before it
    does not}. shape, dtype : what a vertex sends. moved : bytes, as `advise` counts them. milliseconds : the call took.
    """

    operation: str
    backend: str
    refused: dict[str, str] = field(repr=False)
    shape: tuple[int, ...]
    dtype: torch.dtype
    moved: int
    milliseconds: float

    def __str__(self) -> str:
        return f"{self.operation}: {self.backend}"


class Watch(TorchDispatchMode):
    """Within a `with` block `steps` is added to by every call of an operator of ours that a backend was chosen for.
    `elsewhere` are the choices that were made outside of operators: by graphs in a layout of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.elsewhere: list[Choice] = []
        self._watched = watched()

    def __enter__(self) -> Watch:
        self.elsewhere = self._watched.__enter__()
        return super().__enter__()

    def __exit__(self, *fault: Any) -> None:
        super().__exit__(*fault)
        self._watched.__exit__(*fault)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace != "tgraph":
            return func(*args, **(kwargs or {}))
        before = len(self.elsewhere)
        begin = _clock(args)
        results = func(*args, **(kwargs or {}))
        taken = _clock(args) - begin
        made = self.elsewhere[before:]
        del self.elsewhere[before:]
        if made:
            given = dict(zip((each.name for each in func._schema.arguments), args, strict=False)) | (kwargs or {})
            given_back = results if isinstance(results, tuple) else (results,)
            name = func._schema.name.partition("::")[2]
            self.steps.append(_step(name, made[-1], moved(name, given, given_back), 1e3 * taken))
        return results


def _step(operation: str, choice: Choice, nbytes: int, milliseconds: float) -> Step:
    data, name = choice.call.data, "none" if choice.backend is None else choice.backend.name
    shape = tuple(size for size in data.shape[1:] if size != 1) or (1,)
    return Step(operation, name, choice.refused, shape, data.dtype, nbytes, milliseconds)


def _clock(tensors: Sequence[Any]) -> float:
    """The time in seconds, once the device of the tensors has finished what it was given."""
    if any(isinstance(tensor, Tensor) and tensor.device.type != "cpu" for tensor in tensors):
        torch.accelerator.synchronize()
    return time.perf_counter()


def median(runs: Sequence[Sequence[Step]]) -> tuple[Step, ...]:
    """The steps of the same calls, made several times, each with the median of its times."""
    return tuple(
        replace(same[0], milliseconds=statistics.median(step.milliseconds for step in same))
        for same in zip(*runs, strict=True)
    )


# ---- calls that are no operators ------------------------------------------------------------------------------------


def made_again(choices: Sequence[Choice]) -> tuple[list[Step], list[Step]]:
    """(forward, backward) of aggregates that a backend served by itself, as graphs in a layout of their own do, made
    once more. A layout computes the gradients of its sums too, by a sum over the transpose."""
    forward, backward = [], []
    for choice in choices:
        call = choice.call
        if call.operation != "aggregate" or call.sub is None:
            continue
        forward.append(_timed(choice))
        if choice.backend is layouts and call.data.requires_grad:
            graph = call.sub.graph.transpose_detached()
            sub = whole(graph, graph.everything(), "pull", layouts.name)
            backward.append(_timed(choose(layouts.name, replace(call, data=call.data.detach(), sub=sub))))
    return forward, backward


@torch.no_grad()
def _timed(choice: Choice) -> Step:
    call: Call = choice.call
    assert call.sub is not None
    begin = _clock((call.data,))
    choice.run(call.sub, call.data, call.reduction, call.edge, call.weights, call.dtype)
    taken = _clock((call.data,)) - begin
    graph = call.sub.graph
    stored = graph.nbytes - (0 if graph.vertices is None else graph.vertices.nbytes)
    nbytes = operations(graph) * row_bytes(call.data) + stored + call.data.nbytes
    return _step("aggregate", choice, nbytes, 1e3 * taken)


def operations(graph: Graph) -> int:
    """How many rows a sum over all arcs of a graph gathers: one for each arc, or each child of a compressed row."""
    dag = getattr(graph.layout, "dag", None)
    return graph.num_arcs if dag is None else len(dag.children)
