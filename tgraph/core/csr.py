"""CSR: rows of arcs, which a graph stores, an iteration selects, and layers sum and attend over."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from tgraph.core.building import sorting
from tgraph.core.dispatch import setup_operator
from tgraph.core.library import is_plain, register
from tgraph.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Csr:
    """Compressed sparse rows: row i leads to the columns `neighbors[offset[i]:offset[i + 1]]`.

    Rows and columns may be different sets of vertices. Where messages are pulled, rows are the destinations and columns
    the sources. Immutable; what is derived is computed once.

    offset : int64 [num_rows + 1], ascending from 0 to E.
    neighbors : int32 or int64 [E], the column of each arc.
    permutation : int64 [E], the place of each arc among the edges that it comes from, in whose order data of edges are;
        None where that is its own.
    num_columns : how many columns there are.

    Raises ArgumentError for tensors of other shapes, dtypes or devices, offsets that do not ascend from 0 to E, and
    neighbors or a permutation out of range; tensors that torch.compile traces are not read.
    """

    offset: Tensor
    neighbors: Tensor
    permutation: Tensor | None
    num_columns: int
    _derived: dict[str, Tensor] = field(default_factory=dict, init=False, repr=False)
    _gradients: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        _check("offset", self.offset, (torch.int64,), self.offset.device)
        _check("neighbors", self.neighbors, (torch.int32, torch.int64), self.offset.device)
        if self.offset.shape[0] == 0:
            raise ArgumentError("offset: expected int64 [num_rows + 1], got none; without rows it is [0]")
        if self.permutation is not None:
            _check("permutation", self.permutation, (torch.int64,), self.offset.device)
            if self.permutation.shape[0] != self.neighbors.shape[0]:
                raise ArgumentError(
                    f"permutation: expected [{len(self.neighbors)}], one for each arc, got [{len(self.permutation)}]"
                )
        if self.num_columns < 0:
            raise ArgumentError(f"num_columns: {self.num_columns} is negative; give the number of columns, 0 or more")
        if not torch.compiler.is_compiling():
            self._check_values()

    def _check_values(self) -> None:
        arcs, degree = len(self.neighbors), self.offset.diff()
        if int(self.offset[0]) != 0 or int(self.offset[-1]) != arcs or bool((degree < 0).any()):
            raise ArgumentError(
                f"offset: expected values that ascend from 0 to the {arcs} arcs, "
                f"got {int(self.offset[0])} to {int(self.offset[-1])}; use a cumulative sum of the degrees"
            )
        _check_range("neighbors", self.neighbors, self.num_columns, "num_columns")
        if self.permutation is not None:
            _check_range("permutation", self.permutation, arcs, "the number of arcs")

    @classmethod
    def unchecked(cls, offset: Tensor, neighbors: Tensor, permutation: Tensor | None, num_columns: int) -> Csr:
        """The same, of tensors that are known to fit."""
        arcs = object.__new__(cls)
        fields = {"offset": offset, "neighbors": neighbors, "permutation": permutation, "num_columns": num_columns}
        arcs.__dict__.update(fields, _derived={})
        return arcs

    @property
    def num_arcs(self) -> int:
        """E."""
        return self.neighbors.shape[0]

    @property
    def num_rows(self) -> int:
        """The rows."""
        return self.offset.shape[0] - 1

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.offset.device

    def to(self, device: torch.device | str) -> Csr:
        """The same arcs on another device."""
        permutation = None if self.permutation is None else self.permutation.to(device)
        return Csr(self.offset.to(device), self.neighbors.to(device), permutation, self.num_columns)

    def row_of_arc(self) -> Tensor:
        """The row of each arc, int64 [E]; computed at every call."""
        row = torch.arange(self.num_rows, device=self.device)
        return row.repeat_interleave(self.offset.diff(), output_size=self.num_arcs)

    def transposed(self, numbered: bool = False) -> tuple[Tensor, Tensor, Tensor | None]:
        """The arcs by column: (offset int64 [num_columns + 1], rows [E], numbers int64 [E] or None).

        numbered : whether to give the number of each arc, its place among `neighbors`, too.

        Computed once. Where the transpose equals the rows, as for an undirected graph, the stored offset and neighbors
        are returned, and no memory is taken.
        """
        derived = self._derived
        if "offset" not in derived or (numbered and "number" not in derived):
            plain = is_plain(self.offset, self.neighbors)
            transpose = _transpose_arcs if plain else transpose_arcs
            offset, neighbors, number = transpose(self.offset, self.neighbors, self.num_columns, numbered)
            if (plain or not torch.compiler.is_compiling()) and self._is_mirrored(offset, neighbors):
                offset, neighbors = self.offset, self.neighbors
            derived |= {"offset": offset, "neighbors": neighbors} | ({"number": number} if numbered else {})
        return derived["offset"], derived["neighbors"], derived["number"] if numbered else None

    @property
    def has_transpose(self) -> bool:
        """True where `transposed` has been computed."""
        return "offset" in self._derived

    def count_gradient(self) -> int:
        """How often this was called before: once for each gradient that passes along the arcs."""
        self.__dict__["_gradients"] = self._gradients + 1
        return self._gradients

    def transpose(self) -> Csr:
        """The arcs by column, as rows of their own."""
        offset, neighbors, _ = self.transposed()
        back = Csr.unchecked(offset, neighbors, None, self.num_rows)
        back.set_transpose(self.offset, self.neighbors)
        return back

    def set_transpose(self, offset: Tensor, neighbors: Tensor) -> None:
        """Keep the arcs by column, which the caller knows."""
        self._derived.update(offset=offset, neighbors=neighbors)

    def inverse_degree(self, dtype: torch.dtype) -> Tensor:
        """1 / the arcs of each row, 1 where there are none, of that dtype [num_rows, 1]; computed once."""
        name = f"inverse degree {dtype}"
        if name not in self._derived:
            self._derived[name] = self.offset.diff().clamp_(min=1).to(dtype).reciprocal_()[:, None]
        return self._derived[name]

    def _is_mirrored(self, offset: Tensor, neighbors: Tensor) -> bool:
        if self.num_columns != self.num_rows:
            return False
        return torch.equal(offset, self.offset) and torch.equal(neighbors, self.neighbors)


def _check(name: str, tensor: Tensor, dtypes: tuple[torch.dtype, ...], device: torch.device) -> None:
    if not isinstance(tensor, Tensor) or tensor.dtype not in dtypes or tensor.dim() != 1:
        got = f"{tensor.dtype} {list(tensor.shape)}" if isinstance(tensor, Tensor) else type(tensor).__name__
        kinds = " or ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
        raise ArgumentError(f"{name}: expected a one-dimensional {kinds} tensor, got {got}")
    if tensor.device != device:
        raise ArgumentError(f"{name}: on {tensor.device} while offset is on {device}; use {name}.to")


def _check_range(name: str, numbers: Tensor, limit: int, what: str) -> None:
    if not len(numbers):
        return
    low, high = (int(end) for end in numbers.aminmax())
    if low < 0 or high >= limit:
        place = int(((numbers < 0) | (numbers >= limit)).nonzero()[0])
        raise ArgumentError(
            f"{name}: {int(numbers[place])} at position {place} is not among 0..{limit - 1}, see {what}"
        )


# ---- the transpose as an operator, for torch.compile to see it as one node -------------------------------------------


@setup_operator
def _transpose_arcs(
    offset: Tensor, neighbors: Tensor, num_columns: int, numbered: bool
) -> tuple[Tensor, Tensor, Tensor]:
    square = max(num_columns, len(offset) - 1)
    padding = offset.new_full((square + 1 - len(offset),), len(neighbors))
    back_offset, back_neighbors, number = sorting.transpose(
        torch.cat((offset, padding)), neighbors, permutation=numbered
    )
    number = offset.new_empty(0) if number is None else number
    return back_offset[: num_columns + 1].clone(), back_neighbors.to(neighbors.dtype), number


def _transpose_fake(
    offset: Tensor, neighbors: Tensor, num_columns: int, numbered: bool
) -> tuple[Tensor, Tensor, Tensor]:
    number = offset.new_empty(neighbors.shape[0] if numbered else 0)
    return offset.new_empty(num_columns + 1), torch.empty_like(neighbors), number


transpose_arcs = register(
    "transpose_arcs(Tensor offset, Tensor neighbors, SymInt num_columns, bool numbered) -> (Tensor, Tensor, Tensor)",
    _transpose_arcs,
    _transpose_fake,
)
