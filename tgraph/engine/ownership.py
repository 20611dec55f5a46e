"""Ownership of the vertex data of a run, and writes to it by the version counters of autograd, in O(1)."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.model.operators import version_of
from tgraph.model.program import Program, Relaxation

Versions = list[tuple[Tensor, "int | None"]]  # the tensors of vertex data, with their version counters


@functools.lru_cache(256)
def makes_its_own(step: Callable[..., Any]) -> bool:
    """Whether the tensors that a method returns are referenced by nothing else: true of methods of this package; a
    user's may return a tensor of the graph, or of the program."""
    return (getattr(step, "__module__", None) or "").startswith("tgraph.")


@functools.lru_cache(256)
def gives_rounds(kind: Any) -> bool:
    """Whether the `compute_rounds` of a class of programs stands for its `compute` and `residual`: no class below the
    one that writes it overrides these."""

    def writer(method: str) -> Any:
        return next(each for each in kind.__mro__ if method in vars(each))

    own = writer("compute_rounds")
    return own is not Program and issubclass(own, writer("compute")) and issubclass(own, writer("residual"))


def is_checked(program: Program) -> bool:
    """Whether a program has a residual, and steps written by a user."""
    has_residual = getattr(program.residual, "__func__", None) is not Program.residual
    return has_residual and not (makes_its_own(type(program).compute) and makes_its_own(type(program).residual))


def copied(values: Any, function: Callable[[Tensor], Any] = Tensor.clone) -> Any:
    """A copy of vertex data, a tensor or nested dicts of tensors; or a function of each of its tensors."""
    if not isinstance(values, dict):
        return function(values)
    made = copy.copy(values)
    made.update({name: copied(each, function) for name, each in values.items()})
    return made


def versions(values: Any) -> Versions:
    """The tensors of vertex data, with their versions."""
    if isinstance(values, dict):
        return [each for value in values.values() for each in versions(value)]
    return [(values, version_of(values))] if isinstance(values, Tensor) else []


def are_of(values: Any, before: Any) -> bool:
    """Whether all tensors of `values` are among those of `before`."""
    if values is before:
        return True
    known = {id(each) for each, _ in versions(before)}
    return all(id(each) in known for each, _ in versions(values))


def before_step(program: Program, values: Any) -> tuple[Any, Versions]:
    """Vertex data before an iteration, for `residual`, and versions: copied where writes occur or are not counted."""
    if makes_its_own(type(program).compute) and not isinstance(program, Relaxation):
        return values, []
    found = versions(values)
    if isinstance(program, Relaxation) or any(version is None for _, version in found):
        return copied(values), []
    return copied(values, lambda each: each), found


def check_before(program: Program, before: Versions, after: Any) -> None:
    """Raise ArgumentError where COMPUTE has overwritten the values `before` by the values `after`."""
    for each, version in before:
        if version_of(each) != version and any(_shares(each, other) for other, _ in versions(after)):
            raise ArgumentError(
                f"{type(program).__name__}.compute: wrote into the given values, which residual compares with the "
                "returned ones; return new tensors"
            )


def check_after(program: Program, after: Versions) -> None:
    """Raise ArgumentError where `residual` has written into the new values."""
    if any(version_of(each) != version for each, version in after):
        raise ArgumentError(f"{type(program).__name__}.residual: wrote into the values it compares; use new tensors")


def _shares(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have memory in common."""
    plain = type(one) is Tensor and type(other) is Tensor
    return one is other or (plain and one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())
