"""Compressed sparse rows: the arcs of a graph, of an iteration, and of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor

from tgraph.core.building import sorting, soundness, validate
from tgraph.core.building.arc_counts import ArcCounts
from tgraph.core.building.symmetry import Mirror
from tgraph.core.derived import Cache
from tgraph.core.dispatch import setup_operator
from tgraph.core.rows import gather_rows
from tgraph.core.storage import InMemory, Rows
from tgraph.core.system import devices
from tgraph.core.system.library import is_plain, register
from tgraph.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Csr(InMemory):
    """Compressed sparse rows: row i leads to the columns `neighbors[offset[i]:offset[i + 1]]`.

    Rows and columns may be different sets of vertices. Where messages are pulled, rows are the destinations and columns
    the sources. Square, it is the `Storage` of a `Graph`. Immutable; derived data is computed once.

    offset : int64 [num_rows + 1], ascending from 0 to E.
    neighbors : int32 or int64 [E], the column of each arc.
    permutation : int64 [E], the place of each arc among the edges that it comes from, in whose order data of edges are;
        None where that is its own.
    num_columns : how many columns there are.
    weights : [E], the weight of each arc, or None.

    Raises ArgumentError for tensors of other shapes, dtypes or devices, offsets that do not ascend from 0 to E, and
    neighbors or a permutation out of range; tensors that torch.compile traces are not read.
    """

    name: ClassVar[str] = "csr"
    layout: ClassVar[None] = None

    offset: Tensor
    neighbors: Tensor
    permutation: Tensor | None
    num_columns: int
    weights: Tensor | None = None
    _cache: Cache = field(init=False, repr=False)
    _gradients: int = field(default=0, init=False, repr=False)

    def __repr__(self) -> str:
        return f"Csr({len(self.offset) - 1:,} rows, {self.num_columns:,} columns, {len(self.neighbors):,} arcs)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cache", Cache())
        for name in ("offset", "neighbors", "permutation", "weights"):
            if isinstance(tensor := getattr(self, name), Tensor):
                object.__setattr__(self, name, soundness.owned(tensor, name))
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
        if self.weights is not None and self.weights.shape != self.neighbors.shape:
            raise ArgumentError(f"weights: expected [{len(self.neighbors)}], got {list(self.weights.shape)}")
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
        soundness.trust(self.offset, self.neighbors, self.num_columns)

    @classmethod
    def unchecked(
        cls,
        offset: Tensor,
        neighbors: Tensor,
        permutation: Tensor | None,
        num_columns: int,
        weights: Tensor | None = None,
    ) -> Csr:
        """The same without checks: `ensure_valid` checks the entries before the first operator."""
        arcs = object.__new__(cls)
        fields = {"offset": offset, "neighbors": neighbors, "permutation": permutation, "num_columns": num_columns}
        arcs.__dict__.update(fields, weights=weights, _cache=Cache())
        return arcs

    @classmethod
    def trusted(
        cls,
        offset: Tensor,
        neighbors: Tensor,
        permutation: Tensor | None,
        num_columns: int,
        weights: Tensor | None = None,
    ) -> Csr:
        """The same of rows that our own kernels have just made, which are checked only once they have changed."""
        soundness.trust(offset, neighbors, num_columns)
        return cls.unchecked(offset, neighbors, permutation, num_columns, weights)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": Cache()}

    def ensure_valid(self) -> None:
        """See `tgraph.core.building.soundness`: check the entries, once, and again where they were written into."""
        if not torch.compiler.is_compiling():
            soundness.ensure_sound(self.offset, self.neighbors, self.num_columns)

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
        permutation, weights = (None if each is None else each.to(device) for each in (self.permutation, self.weights))
        offset, neighbors = self.offset.to(device), self.neighbors.to(device)
        return Csr.unchecked(offset, neighbors, permutation, self.num_columns, weights)

    def pieces(self) -> Sequence[Csr]:
        """Arcs over the same rows and columns that have all of these among them, parallel ones more than once, and
        neither weights nor numbers: what rows that are not made yet will be made of, one or two; else itself."""
        return (self,)

    def row_of_arc(self) -> Tensor:
        """The row of each arc, int64 [E]; computed at every call."""
        row = torch.arange(self.num_rows, device=self.device)
        return row.repeat_interleave(self.offset.diff(), output_size=self.num_arcs)

    def by_column(self, numbered: bool = False) -> tuple[Tensor, Tensor, Tensor | None]:
        """The arcs by column: (offset int64 [num_columns + 1], rows [E], numbers int64 [E] or None).

        numbered : whether to give the number of each arc, its place among `neighbors`, too.

        Computed once. Where the transpose equals the rows, as for an undirected graph, the stored offset and neighbors
        are returned, and no memory is taken.
        """
        derived = self._cache.values
        if "offset" not in derived or (numbered and "number" not in derived):
            plain = is_plain(self.offset, self.neighbors)
            transpose = _transpose_arcs if plain else transpose_arcs
            with _outside_of_inference():
                offset, neighbors, number = transpose(self.offset, self.neighbors, self.num_columns, numbered)
            if (plain or not torch.compiler.is_compiling()) and self._is_mirrored(offset, neighbors):
                offset, neighbors = self.offset, self.neighbors
            derived |= {"offset": offset, "neighbors": neighbors} | ({"number": number} if numbered else {})
        return derived["offset"], derived["neighbors"], derived["number"] if numbered else None

    @property
    def has_transpose(self) -> bool:
        """True where `by_column` has been computed."""
        return "offset" in self._cache.values

    def count_gradient(self) -> int:
        """How often this was called before: once for each gradient that passes along the arcs."""
        self.__dict__["_gradients"] = self._gradients + 1
        return self._gradients

    def transpose(self, numbered: bool = False) -> Csr:
        """The arcs by column, as rows of their own; `numbered` with the number of each arc as permutation. Kept."""
        name, compiles = "numbered transpose" if numbered else "transpose", torch.compiler.is_compiling()
        if not compiles and name in self._cache.values:
            return self._cache.values[name]
        offset, neighbors, number = self.by_column(numbered)
        back = Csr.trusted(offset, neighbors, number, self.num_rows)
        back.set_transpose(self.offset, self.neighbors)
        if not compiles:
            self._cache.values[name] = back
        return back

    def set_transpose(self, offset: Tensor, neighbors: Tensor) -> None:
        """Cache the arcs by column, given by the caller before any were computed."""
        self._cache.values.update(offset=offset, neighbors=neighbors)

    def inverse_degree(self, dtype: torch.dtype) -> Tensor:
        """1 / the arcs of each row, 1 where there are none, of that dtype [num_rows, 1]; computed once."""
        name = f"inverse degree {dtype}"
        if name not in self._cache.values:
            with _outside_of_inference():
                self._cache.values[name] = self.offset.diff().clamp_(min=1).to(dtype).reciprocal_()[:, None]
        return self._cache.values[name]

    # ---- the interface of a `Storage` --------------------------------------------------------------------------------

    @property
    def csr(self) -> Csr:
        """Itself."""
        return self

    def given(self, name: str) -> Tensor | None:
        """`offset`, `neighbors` or `weights` for a graph, at its first use of them."""
        return getattr(self, name)

    @property
    def csr_tensors(self) -> dict[str, Tensor | None]:
        """`offset`, `neighbors` and `weights`."""
        return {"offset": self.offset, "neighbors": self.neighbors, "weights": self.weights}

    @property
    def num_vertices(self) -> int:
        """n, the rows."""
        return self.offset.shape[0] - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the stored tensors."""
        stored = (self.offset, self.neighbors, self.permutation, self.weights)
        return sum(tensor.nbytes for tensor in stored if tensor is not None)

    @property
    def weight_dtype(self) -> torch.dtype | None:
        """The dtype of the weights, None without weights."""
        return None if self.weights is None else self.weights.dtype

    def row_offset(self) -> Tensor:
        """`offset`."""
        return self.offset

    def out_degree(self) -> Tensor:
        """See `Storage.out_degree`; checks every entry, so that kernels can follow them."""
        self.ensure_valid()
        return self.offset.diff()

    def in_degree(self) -> Tensor:
        """See `Storage.in_degree`."""
        self.ensure_valid()
        return torch.bincount(self.neighbors, minlength=self.num_columns)

    def num_self_loops(self) -> int:
        """See `Storage.num_self_loops`."""
        self.ensure_valid()
        return int((sorting.expand_rows(self.offset, self.neighbors.dtype) == self.neighbors).sum())

    def num_parallel_edges(self, directed: bool) -> int:
        """See `Storage.num_parallel_edges`."""
        self.ensure_valid()
        counts = ArcCounts()
        counts.see(0, 0, self.offset, self.neighbors)
        return counts.parallel_edges(directed)

    def is_symmetric(self) -> bool:
        """See `Storage.is_symmetric`; by a 64-bit fingerprint, see `core.building.symmetry`."""
        self.ensure_valid()
        mirror = Mirror()
        mirror.note_rows(self.offset, self.neighbors, None if self.weights is None else self.weights.detach())
        return mirror.complete

    def weight_statistics(self) -> tuple[float, float, float] | None:
        """See `Storage.weight_statistics`."""
        return None if self.weights is None else statistics_of(self.weights.detach())

    def identity(self) -> list[Tensor]:
        """See `Storage.identity`; the stored tensors."""
        return [self.offset, self.neighbors, *([] if self.weights is None else [self.weights])]

    def rows(self, vertices: Tensor) -> Rows:
        """See `Storage.rows`."""
        self.ensure_valid()
        chosen, arcs = gather_rows(self.offset, vertices)
        weights = None if self.weights is None else self.weights.index_select(0, arcs)
        return chosen, self.neighbors.index_select(0, arcs), weights

    def to_csr(self) -> Rows:
        """See `Storage.to_csr`; the stored tensors."""
        return self.offset, self.neighbors, self.weights

    def transpose_with_permutation(self) -> tuple[Csr, Tensor | None]:
        """See `Storage.transpose_with_permutation`; the permutation is computed where there are weights."""
        self.ensure_valid()
        weights = None if self.weights is None else self.weights.detach()
        offset, neighbors, order = sorting.transpose(self.offset, self.neighbors, permutation=weights is not None)
        back = weights if weights is None or order is None else sorting.take(weights, order)
        reverse = Csr.trusted(offset, neighbors.to(self.neighbors.dtype), None, self.num_rows, back)
        return (self if self._has_arcs_of(reverse) else reverse), order

    def _has_arcs_of(self, other: Csr) -> bool:
        if not torch.equal(self.offset, other.offset) or not torch.equal(self.neighbors, other.neighbors):
            return False
        if self.weights is None or other.weights is None or torch.equal(self.weights, other.weights):
            return True
        return validate.equal_but_for_order(self.offset, self.neighbors, self.weights, other.weights)

    def _is_mirrored(self, offset: Tensor, neighbors: Tensor) -> bool:
        if self.num_columns != self.num_rows:
            return False
        return torch.equal(offset, self.offset) and torch.equal(neighbors, self.neighbors)


def _outside_of_inference() -> AbstractContextManager[Any]:
    """For what is cached: a gradient cannot save inference tensors. torch.compile traces none."""
    inside = not torch.compiler.is_compiling() and torch.is_inference_mode_enabled()
    return torch.inference_mode(False) if inside else nullcontext()


def statistics_of(weights: Tensor) -> tuple[float, float, float] | None:
    """(smallest, largest, mean) weight, the first two NaN where one is NaN; None without arcs."""
    if not len(weights):
        return None
    smallest, largest = torch.aminmax(weights)
    dtype = devices.widest_float(weights)  # to which torch converts all before it adds: some at a time stay in a cache
    pieces = weights.split(1 << 16 if weights.is_cpu else len(weights))
    total = torch.stack([piece.sum(dtype=dtype) for piece in pieces]).sum()
    return smallest.item(), largest.item(), float(total) / len(weights)


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
