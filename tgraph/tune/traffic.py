"""What an operator of ours reads and writes, in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

# What an operator reads once for each arc, and not once for each vertex.
GATHERED: dict[str, tuple[str, ...]] = {
    "pull": ("data",),
    "pull_won": ("data",),
    "products": ("data",),
    "winners": ("data",),
    "attend": ("source", "value"),
    "attention_weights": ("source", "value"),
}

# What is there for another gradient, and is not read.
_OF_GRADIENTS = ("back_offset", "back_neighbors", "back_number", "back_weights", "permutation")


def moved(operator: str, given: Mapping[str, Any], results: Sequence[Tensor]) -> int:
    """Bytes that an operator moves, were there no cache.

    operator : its name. given : its arguments by their names. results : what it gave.

    A tensor that is gathered counts a row for each arc, m * row bytes; every other, offsets, neighbors, weights and
    results among them, counts once. Where arcs add to their end in place, a `push` or `give_won`, what they add to
    counts twice for each, read and written. The gradient of attention is two such passes: over the arcs of targets,
    which gather sources and values, and over those of sources, which gather targets and what came back to these.
    """
    if operator == "attend_backward":
        return _both_passes(given) + _once(results)
    gathered = GATHERED.get(operator, ())
    arcs = len(given["neighbors"]) if gathered or operator == "push" else 0
    read = {name: value for name, value in given.items() if name not in _OF_GRADIENTS}
    total = arcs * sum(row_bytes(read.pop(name)) for name in gathered) + _once(read.values()) + _once(results)
    if operator == "push":
        total += 2 * arcs * row_bytes(results[0])
    if operator == "give_won":
        total += 2 * given["won"].numel() * results[0].itemsize
    return total


def row_bytes(tensor: Tensor | None) -> int:
    """Bytes of one row of a tensor [n, ...], 0 of none."""
    return 0 if tensor is None else tensor.shape[1:].numel() * tensor.itemsize


def _once(tensors: Any) -> int:
    return sum(tensor.nbytes for tensor in tensors if isinstance(tensor, Tensor))


def _both_passes(given: Mapping[str, Any]) -> int:
    """What the gradient of attention reads: grad and result for their products, then whatever each pass needs."""
    source, target, value, edge, vector = (given[name] for name in ("source", "target", "value", "edge", "vector"))
    grad, logsumexp, arcs = given["grad"], given["logsumexp"], len(given["neighbors"])
    to_source, to_target, to_value, to_edge, to_vector = given["wanted"]
    total = _once((grad, given["out"])) + logsumexp.nbytes
    if to_target or to_edge or to_vector:
        total += arcs * (row_bytes(source) + row_bytes(value))
        total += _once((target, edge, vector, grad, logsumexp, logsumexp))
        total += _once((given["offset"], given["neighbors"], given["position"]))
    if to_source or to_value:
        total += arcs * (row_bytes(target) + row_bytes(grad) + 2 * row_bytes(logsumexp))
        total += _once((source, value, edge, vector))
        total += _once((given["back_offset"], given["back_neighbors"], given["back_number"]))
    return total
