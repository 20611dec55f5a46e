"""The bytes that a registered operator reads and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

# Arguments of which an operator reads one row for each arc.
GATHERED: dict[str, tuple[str, ...]] = {
    "pull": ("data",),
    "pull_won": ("data",),
    "products": ("data",),
    "winners": ("data",),
    "attend": ("source", "value"),
    "attention_weights": ("source", "value"),
}

# Arguments for the gradient alone, which the operator itself does not read.
_OF_GRADIENTS = ("back_offset", "back_neighbors", "back_number", "back_weights", "permutation")


def moved(operator: str, given: Mapping[str, Any], results: Sequence[Tensor]) -> int:
    """Bytes that an operator moves, without a cache.

    operator : its name. given : its arguments by name. results : what it returned.

    A gathered tensor counts one row for each arc, m * row bytes; every other tensor (offsets, neighbors, weights,
    results) counts once. For an operator that scatters, `push` or `give_won`, the row that an arc adds to counts twice:
    it is read and written. The gradient of attention makes two passes: one by target, which gathers sources and values,
    and one by source, which gathers targets and their gradients.
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
    """Bytes of one row of a tensor [n, ...], 0 for None."""
    return 0 if tensor is None else tensor.shape[1:].numel() * tensor.itemsize


def _once(tensors: Any) -> int:
    return sum(tensor.nbytes for tensor in tensors if isinstance(tensor, Tensor))


def _both_passes(given: Mapping[str, Any]) -> int:
    """What the gradient of attention reads: grad and result for their inner products, then the inputs of each pass."""
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
