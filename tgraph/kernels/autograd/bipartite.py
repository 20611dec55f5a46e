"""Arcs from sources to destinations, which need not be the same vertices: what layers sum and attend over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor

from tgraph.core import native, sorting
from tgraph.errors import ArgumentError
from tgraph.kernels.autograd.library import is_plain, register

COMPILED = (torch.float32, torch.float64)


@dataclass(frozen=True, eq=False)
class Arcs:
    """The arcs that lead to each destination, as a CSR structure whose rows are the destinations.

    offset : int64 [n_dst + 1]; the arcs of destination i have the numbers offset[i] to offset[i + 1].
    neighbors : int32 or int64 [E], the source of each arc.
    position : int64 [E], where the features of each arc lie among those of all edges; None where that is its number.
    num_sources : n_src.

    Raises ArgumentError for tensors of other shapes, dtypes or different devices, offsets that do not ascend from 0 to
    E, and neighbors or positions out of range; what torch.compile traces is not looked into.
    """

    offset: Tensor
    neighbors: Tensor
    position: Tensor | None
    num_sources: int
    _derived: dict[str, Tensor] = field(default_factory=dict, init=False, repr=False)
    _gradients: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        _check("offset", self.offset, (torch.int64,), self.offset.device)
        _check("neighbors", self.neighbors, (torch.int32, torch.int64), self.offset.device)
        if self.offset.shape[0] == 0:
            raise ArgumentError("offset: expected int64 [n_dst + 1], got none; without destinations it is [0]")
        if self.position is not None:
            _check("position", self.position, (torch.int64,), self.offset.device)
            if self.position.shape[0] != self.neighbors.shape[0]:
                raise ArgumentError(
                    f"position: expected [{len(self.neighbors)}], one for each arc, got [{len(self.position)}]"
                )
        if self.num_sources < 0:
            raise ArgumentError(f"num_sources: {self.num_sources} is negative; give the number of sources, 0 or more")
        if not torch.compiler.is_compiling():
            self._check_values()

    def _check_values(self) -> None:
        arcs, degree = len(self.neighbors), self.offset.diff()
        if int(self.offset[0]) != 0 or int(self.offset[-1]) != arcs or bool((degree < 0).any()):
            raise ArgumentError(
                f"offset: expected values that ascend from 0 to the {arcs} arcs, "
                f"got {int(self.offset[0])} to {int(self.offset[-1])}; use a cumulative sum of the degrees"
            )
        _check_range("neighbors", self.neighbors, self.num_sources, "num_sources")
        if self.position is not None:
            _check_range("position", self.position, arcs, "the number of arcs")

    @classmethod
    def unchecked(cls, offset: Tensor, neighbors: Tensor, position: Tensor | None, num_sources: int) -> Arcs:
        """The same of tensors that are known to fit."""
        arcs = object.__new__(cls)
        fields = {"offset": offset, "neighbors": neighbors, "position": position, "num_sources": num_sources}
        arcs.__dict__.update(fields, _derived={})
        return arcs

    @property
    def num_arcs(self) -> int:
        """E."""
        return self.neighbors.shape[0]

    @property
    def num_destinations(self) -> int:
        """n_dst."""
        return self.offset.shape[0] - 1

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.offset.device

    def to(self, device: torch.device | str) -> Arcs:
        """The same arcs on another device."""
        position = None if self.position is None else self.position.to(device)
        return Arcs(self.offset.to(device), self.neighbors.to(device), position, self.num_sources)

    def destinations(self) -> Tensor:
        """The destination of each arc, int64 [E]; computed at every call."""
        row = torch.arange(self.num_destinations, device=self.device)
        return row.repeat_interleave(self.offset.diff(), output_size=self.num_arcs)

    def transposed(self, numbered: bool = False) -> tuple[Tensor, Tensor, Tensor | None]:
        """The arcs by their source: (offset int64 [n_src + 1], destinations [E], numbers int64 [E] or None).

        numbered : whether to give the number of each arc, its place among `neighbors`, too.

        Computed once. Where the arcs of both directions are the same, as those of an undirected graph are, the offsets
        and neighbors come back themselves, and no memory is taken.
        """
        derived = self._derived
        if "offset" not in derived or (numbered and "number" not in derived):
            plain = is_plain(self.offset, self.neighbors)
            transpose = _transpose if plain else transpose_arcs
            offset, neighbors, number = transpose(self.offset, self.neighbors, self.num_sources, numbered)
            if (plain or not torch.compiler.is_compiling()) and self._is_mirrored(offset, neighbors):
                offset, neighbors = self.offset, self.neighbors
            derived |= {"offset": offset, "neighbors": neighbors} | ({"number": number} if numbered else {})
        return derived["offset"], derived["neighbors"], derived["number"] if numbered else None

    @property
    def is_turned(self) -> bool:
        """True where `transposed` has been computed."""
        return "offset" in self._derived

    def count_gradient(self) -> int:
        """How often this was called: for each gradient that goes back along the arcs."""
        self.__dict__["_gradients"] = self._gradients + 1
        return self._gradients

    def transpose(self) -> Arcs:
        """The arcs by their source, as arcs from destinations to sources."""
        offset, neighbors, _ = self.transposed()
        back = Arcs.unchecked(offset, neighbors, None, self.num_destinations)
        back.turn(self.offset, self.neighbors)
        return back

    def turn(self, offset: Tensor, neighbors: Tensor) -> None:
        """Take over the arcs by their source, which are known."""
        self._derived.update(offset=offset, neighbors=neighbors)

    def inverse_degree(self, dtype: torch.dtype) -> Tensor:
        """1 / how many arcs reach each destination, 1 where none does, of that dtype [n_dst, 1]; computed once."""
        name = f"inverse degree {dtype}"
        if name not in self._derived:
            self._derived[name] = self.offset.diff().clamp_(min=1).to(dtype).reciprocal_()[:, None]
        return self._derived[name]

    def transposed_edges(self) -> Tensor:
        """The edge behind each arc of `transposed`, where its features lie, int64 [E]; computed once."""
        number = self.transposed(numbered=True)[2]
        assert number is not None
        if self.position is None:
            return number
        if "edge" not in self._derived:
            self._derived["edge"] = self.position.index_select(0, number)
        return self._derived["edge"]

    def _is_mirrored(self, offset: Tensor, neighbors: Tensor) -> bool:
        if self.num_sources != self.num_destinations:
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


def _transpose(offset: Tensor, neighbors: Tensor, num_sources: int, numbered: bool) -> tuple[Tensor, Tensor, Tensor]:
    kernels = native.load() if is_plain(offset, neighbors) else None
    if kernels is not None and max(num_sources, len(offset)) < 2**31 and len(neighbors) < 2**32:
        return _transpose_compiled(kernels, offset, neighbors, num_sources, numbered)
    square = max(num_sources, len(offset) - 1)
    padding = offset.new_full((square + 1 - len(offset),), len(neighbors))
    back_offset, back_neighbors, number = sorting.transpose(
        torch.cat((offset, padding)), neighbors, permutation=numbered
    )
    number = offset.new_empty(0) if number is None else number
    return back_offset[: num_sources + 1].clone(), back_neighbors.to(neighbors.dtype), number


def _transpose_compiled(
    kernels: Any, offset: Tensor, neighbors: Tensor, num_sources: int, numbered: bool
) -> tuple[Tensor, Tensor, Tensor]:
    size = neighbors.shape[0]
    back_offset = torch.zeros(num_sources + 1, dtype=torch.int64, device="cpu")
    back_neighbors = torch.empty(size, dtype=neighbors.dtype, device="cpu")
    number = torch.empty(size if numbered else 0, dtype=torch.int64, device="cpu")
    given = (offset.contiguous(), neighbors.contiguous(), back_offset, back_neighbors, number if numbered else None)
    if size and not kernels.transpose(*given, False):
        raise ArgumentError(f"neighbors: some are not among 0..{num_sources - 1}, see num_sources")
    return back_offset, back_neighbors, number


def _transpose_fake(
    offset: Tensor, neighbors: Tensor, num_sources: int, numbered: bool
) -> tuple[Tensor, Tensor, Tensor]:
    number = offset.new_empty(neighbors.shape[0] if numbered else 0)
    return offset.new_empty(num_sources + 1), torch.empty_like(neighbors), number


transpose_arcs = register(
    "transpose_arcs(Tensor offset, Tensor neighbors, SymInt num_sources, bool numbered) -> (Tensor, Tensor, Tensor)",
    _transpose,
    _transpose_fake,
)


# ---- from edges -----------------------------------------------------------------------------------------------------


def sort_by_target(
    source: Tensor, target: Tensor, num_sources: int, num_targets: int, loops: int = 0, replace: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """The arcs source[i] -> target[i] by their target: (offset int64 [num_targets + 1], sources [E'], position int64
    [E']), by (target, source, i). `position` is the i of each.

    source, target : int32 or int64 [E]. loops : so many vertices get a self-loop, numbered behind the edges, and lose
    those that they have where these are to `replace` them: the edges that stay are numbered without them.

    Raises ArgumentError for an end that is no vertex.
    """
    plain = is_plain(source, target) and max(num_sources, num_targets) < 2**31 and len(source) + loops < 2**32
    kernels = native.load() if plain else None
    if kernels is None:
        return _sort_by_torch(source, target, (num_sources, num_targets), loops, replace)
    if source.dtype != target.dtype:
        source, target = source.to(torch.int64), target.to(torch.int64)
    size = source.shape[0] + loops
    offset = torch.empty(num_targets + 1, dtype=torch.int64, device="cpu")
    neighbors = torch.empty(size, dtype=torch.int32, device="cpu")
    position = torch.empty(size, dtype=torch.int64, device="cpu")
    ends = (source.contiguous(), target.contiguous())
    replace = replace and loops > 0
    arcs = cast(Any, kernels).sort_by_target(*ends, num_sources, loops, replace, offset, neighbors, position)
    if arcs < 0:
        check_ends(source, target, num_sources, num_targets)
    return (offset, neighbors, position) if arcs == size else (offset, neighbors[:arcs], position[:arcs])


def _sort_by_torch(
    source: Tensor, target: Tensor, sizes: tuple[int, int], loops: int, replace: bool
) -> tuple[Tensor, Tensor, Tensor]:
    check_ends(source, target, *sizes)
    if loops:
        stay = source != target if replace else None
        every = torch.arange(loops, dtype=source.dtype, device=source.device)
        source, target = (
            torch.cat((end if stay is None else end[stay], every.to(end.dtype))) for end in (source, target)
        )
    offset, neighbors, position = sorting.sort_edges(target, source, max(sizes), permutation=True)
    assert position is not None
    return offset[: sizes[1] + 1], neighbors, position


def check_ends(source: Tensor, target: Tensor, num_sources: int, num_targets: int) -> None:
    """Raise ArgumentError for the first end of an edge that is no vertex."""
    for name, ends, size in (("source", source, num_sources), ("target", target, num_targets)):
        wrong = ((ends < 0) | (ends >= size)).nonzero()
        if len(wrong):
            place = int(wrong[0])
            raise ArgumentError(
                f"edge_index: the {name} {int(ends[place])} of edge {place} is not among the {size} vertices 0.."
                f"{size - 1} that x has features of; give more features, or remove the edge"
            )


# ---- weights of a graph convolution ---------------------------------------------------------------------------------


def inverse_root_degree(offset: Tensor, dtype: torch.dtype) -> Tensor:
    """1 / sqrt(the arcs that reach each destination), 0 where none does, [n_dst]."""
    kernels = native.load() if is_plain(offset) and dtype in COMPILED else None
    if kernels is None:
        degree = offset.diff().to(dtype)
        alone = degree == 0
        return degree.masked_fill(alone, 1).rsqrt().masked_fill(alone, 0)
    scale = torch.empty(offset.shape[0] - 1, dtype=dtype, device="cpu")
    kernels.inverse_root_degree(offset, scale)
    return scale


def multiply_ends(scale: Tensor, offset: Tensor, neighbors: Tensor) -> Tensor:
    """scale[source] * scale[target] of each arc, [E], where sources and targets are the same vertices."""
    plain = is_plain(scale, offset, neighbors) and scale.dtype in COMPILED and neighbors.dtype == torch.int32
    kernels = native.load() if plain else None
    if kernels is None:
        return scale.index_select(0, neighbors) * sorting.take(scale, sorting.expand_rows(offset))
    weights = torch.empty(neighbors.shape[0], dtype=scale.dtype, device="cpu")
    kernels.multiply_ends(scale, offset, neighbors, weights)
    return weights


def mean_weights(offset: Tensor, neighbors: Tensor, dtype: torch.dtype) -> Tensor:
    """For each neighbor [E] 1 / how many arcs it has among the rows that begin at `offset`: what the transpose of a
    mean over these weighs its arcs by."""
    kernels = native.load() if is_plain(offset, neighbors) and dtype in COMPILED else None
    if kernels is None or neighbors.dtype != torch.int32:
        return offset.diff().to(dtype).reciprocal_().index_select(0, neighbors)
    weights = torch.empty(neighbors.shape[0], dtype=dtype, device="cpu")
    kernels.mean_weights(offset, neighbors, weights)
    return weights
