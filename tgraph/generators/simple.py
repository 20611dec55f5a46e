"""Shared parts of the generators: a simple graph from drawn edges, its weights, and checks of arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tgraph.core import random
from tgraph.core.building import inputs
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.generators.chunks import for_chunks

MAX_WEIGHT = 255

EDGES, SHUFFLE, WEIGHTS, VERTICES = 0, 1, 2, 3  # the purposes of draws, each with a random stream of its own


P = ParamSpec("P")
R = TypeVar("R")


def on_cpu(generator: Callable[P, R]) -> Callable[P, R]:
    """The generator with its tensors on the CPU, whatever torch's default device."""

    @wraps(generator)
    def generate(*arguments: P.args, **named: P.kwargs) -> R:
        with torch.device("cpu"):
            return generator(*arguments, **named)

    return generate


def simple(
    src: Any, dst: Any, num_vertices: int, *, directed: bool = False, seed: int = 0, weighted: bool = False
) -> Graph:
    """The graph of these edges [m] without self-loops and parallel edges; `weighted` ones have int32 weights in
    1..255, a function of the seed and of their ends."""
    ends = [torch.as_tensor(end, dtype=torch.int64, device="cpu") for end in (src, dst)]
    weights = _pair_weights(random.key(seed, WEIGHTS), ends[0], ends[1], directed) if weighted else None
    return Graph.from_edges(
        ends[0], ends[1], weights, num_vertices=num_vertices, directed=directed, multi="first", self_loops="drop"
    )


def _pair_weights(key: int, src: Tensor, dst: Tensor, directed: bool) -> Tensor:
    """A weight for every pair of ends, the same for parallel edges and for both directions of an undirected one."""
    from_, to = (src, dst) if directed else (torch.minimum(src, dst), torch.maximum(src, dst))
    pair: NDArray[np.uint64] = (from_ << 32 | to).numpy().view(np.uint64)
    weights = np.empty(len(pair), dtype=np.int32)

    def fill(first: int, last: int) -> None:
        upper = random.mix(pair[first:last] * random.GOLDEN + np.uint64(key % 2**64)) >> np.uint64(32)
        weights[first:last] = 1 + (upper * np.uint64(MAX_WEIGHT) >> np.uint64(32))

    for_chunks(fill, len(pair))
    return torch.from_numpy(weights)


def check_count(value: int, name: str, least: int = 0) -> int:
    """The `value`. Raises ArgumentError unless it is an int of at least `least`."""
    if (count := inputs.as_count(value, name)) < least:
        raise ArgumentError(f"{name}: {value} is too small; give at least {least}")
    return count


def check_probability(value: float, name: str) -> float:
    """The `value`. Raises ArgumentError unless it is in 0..1."""
    if not 0 <= value <= 1:
        raise ArgumentError(f"{name}: {value} is not a probability; give a number in 0..1")
    return float(value)


def first_occurrences(values: Tensor) -> Tensor:
    """Mask of first occurrences, bool [k], of values [k]."""
    ordered, position = values.sort(stable=True)
    first = torch.ones(len(values), dtype=torch.bool)
    first[position[1:]] = ordered[1:] != ordered[:-1]
    return first
