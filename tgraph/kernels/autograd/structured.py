"""Registered operators whose arguments are structures of tensors: a `Csr`, a `Selection`, a named tuple.

torch knows operators of tensors and numbers only. The schema of such an operator names the type of a structure, and
each structure is passed as its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.rows import Selection
from tgraph.core.system import library


class Structure(NamedTuple):
    """How a type is passed: the types of its `fields` by name, the function to them, and that from them."""

    fields: dict[str, str]
    pack: Callable[[Any], Iterable[Any]]
    unpack: Callable[..., Any]


def pack_csr(arcs: Csr | None) -> tuple[Tensor | None, ...]:
    """(offset, neighbors, permutation), each None for None."""
    return (None, None, None) if arcs is None else (arcs.offset, arcs.neighbors, arcs.permutation)


def unpack_csr(offset: Tensor | None, neighbors: Tensor | None, permutation: Tensor | None) -> Csr | None:
    """The inverse, with the number of columns not known: operators take it from the data."""
    if offset is None or neighbors is None:
        return None
    return Csr.unchecked(offset, neighbors, permutation, 0)


def pack_selection(arcs: Selection) -> tuple[Tensor | int | None, ...]:
    """(offset, neighbors, rows, width), with width -1 for None."""
    rows, width = arcs.rows, arcs.width
    return arcs.stored_offset, arcs.stored_neighbors, rows, -1 if width is None else width


def unpack_selection(offset: Tensor, neighbors: Tensor, rows: Tensor | None, width: int) -> Selection:
    """The inverse."""
    return Selection(offset, neighbors, rows, width=None if width < 0 else width)


_STORED = {"offset": "Tensor", "neighbors": "Tensor"}
STRUCTURES = {
    "Csr": Structure({**_STORED, "permutation": "Tensor?"}, pack_csr, unpack_csr),
    "Csr?": Structure({"offset": "Tensor?", "neighbors": "Tensor?", "permutation": "Tensor?"}, pack_csr, unpack_csr),
    "Selection": Structure({**_STORED, "rows": "Tensor?", "width": "int"}, pack_selection, unpack_selection),
}


class StructuredOperator:
    """A registered operator, called with structures. `operator` : as torch knows it, called with `flat(...)`."""

    def __init__(self, operator: Callable[..., Any], parameters: list[Structure | None]):
        self.operator, self._parameters = operator, parameters

    def __call__(self, *arguments: Any) -> Any:
        return self.operator(*self.flat(*arguments))

    def flat(self, *arguments: Any) -> list[Any]:
        """The arguments with the fields of each structure in its place."""
        flat: list[Any] = []
        for structure, argument in zip(self._parameters, arguments, strict=True):
            if structure is None:
                flat.append(argument)
            else:
                flat += structure.pack(argument)
        return flat

    def directly(self) -> StructuredOperator:
        """The same by `core.system.library.directly`."""
        return StructuredOperator(library.directly(self.operator), self._parameters)


def register(
    schema: str,
    compute: Callable[..., Any],
    fake: Callable[..., Any],
    setup_context: Callable[..., None] | None = None,
    backward: Callable[..., Any] | None = None,
    structures: dict[str, Structure] | None = None,
) -> StructuredOperator:
    """As `core.system.library.register`, with types of `STRUCTURES` and `structures` in the schema. Fields keep their
    names, with that of the parameter in front where another structure has these.

    compute, fake, setup_context : are called with structures. backward : returns the gradients of the first arguments,
    field by field; the others have none.
    """
    known = STRUCTURES | (structures or {})
    name, _, rest = schema.partition("(")
    declared, _, result = rest.partition(") -> ")
    given = [parameter.split(" ") for parameter in declared.split(", ")]
    parameters = [known.get(kind) for kind, _ in given]
    names: dict[str, str] = {}
    for (kind, argument), structure in zip(given, parameters, strict=True):
        fields = {argument: kind} if structure is None else structure.fields
        prefix = "" if names.keys().isdisjoint(fields) else f"{argument}_"
        names |= {prefix + field: each for field, each in fields.items()}
    size = len(names)

    def unpacked(flat: Iterable[Any]) -> list[Any]:
        left = iter(flat)
        return [next(left) if s is None else s.unpack(*islice(left, len(s.fields))) for s in parameters]

    def save(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        assert setup_context is not None
        setup_context(ctx, unpacked(inputs), output)

    def padded(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        assert backward is not None
        found = backward(ctx, *gradients)
        return *found, *(None,) * (size - len(found))

    operator = library.register(
        f"{name}({', '.join(f'{each} {field}' for field, each in names.items())}) -> {result}",
        lambda *flat: compute(*unpacked(flat)),
        lambda *flat: fake(*unpacked(flat)),
        None if setup_context is None else save,
        None if backward is None else padded,
    )
    return StructuredOperator(operator, parameters)
