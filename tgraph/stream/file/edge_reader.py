"""The first two steps of a conversion: the edges of text files, read into runs on disk, numbered and counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from tgraph.core.building.symmetry import Mirror
from tgraph.errors import ArgumentError
from tgraph.files import PathLike
from tgraph.io.edges import Rules
from tgraph.io.text.columns import fold_columns
from tgraph.io.text.edgelist import Plan
from tgraph.stream.file.external_sort import Edges, Runs
from tgraph.stream.file.numbering import CompactIds, KeptIds, Labels, Numbering, narrowed

_PER_EDGE = 192  # peak bytes for an edge that is read or scattered
_READING = 112 << 20  # of pyarrow, for any file


class PlannedFile(NamedTuple):
    """A text file, and how to read it."""

    path: PathLike
    plan: Plan


class ArcSource(Protocol):
    """The arcs to be sorted. `degrees` : of the rows of each section, int64 [n]; there are two sections if
    `rules.directed`. `num_runs` : how many times `arcs` yields."""

    num_vertices: int
    rules: Rules
    degrees: list[Tensor]

    @property
    def weight_dtype(self) -> torch.dtype | None: ...

    @property
    def vertices(self) -> Any: ...

    @property
    def num_runs(self) -> int: ...

    def arcs(self, section: int) -> Iterator[Edges]:
        """The arcs of a section as (row, neighbour, weight); parallel arcs in their order."""


class EdgeReader:
    """The edges of files as runs, renumbered, and the degrees. Used in `with`.

    files : all that there are, each with the plan of how to read it; their rules and the kinds of their columns agree.
    path : of the runs. memory : bytes that may be used.
    """

    rules: Rules
    num_vertices: int

    copies = 2  # of the degrees of all vertices at once
    alone = True  # no other process reads edges

    def __init__(self, files: Sequence[PlannedFile], path: Path, memory: int):
        self.rules, self._memory = files[0].plan.rules, memory
        batch = (memory - min(_READING, memory // 2)) // 2 // _PER_EDGE
        self.numbering: Numbering = _numbering(files, memory)
        self.mirror = None if self.rules.directed else Mirror()
        self.weight_dtype: torch.dtype | None = None
        self.runs: Runs = Runs(path, max(batch, 1 << 10))

    def __enter__(self) -> EdgeReader:
        return self

    def __exit__(self, *fault: object) -> None:
        self.runs.__exit__()

    @property
    def vertices(self) -> Any:
        return self.numbering.vertices

    @property
    def num_runs(self) -> int:
        return len(self.runs)

    def read(self, files: Sequence[PlannedFile], progress: bool) -> None:
        """Read the edges of some of the files, one after the other, and number their vertices."""
        for file in files:
            self._note_file(file, progress)
        self._conclude()
        edges_both_ways = self.mirror is not None and self.mirror.complete
        plain = self.rules.multi == "keep" and self.rules.self_loops == "keep"
        self.both_ways: bool = not self.rules.directed and not (edges_both_ways and plain)
        self._once = self.both_ways and edges_both_ways
        n = self.num_vertices = self.numbering.num_vertices
        sections = 2 if self.rules.directed else 1
        self._check_tables(n, sections)
        self.degrees: list[Tensor] = [torch.zeros(n, dtype=torch.int64, device="cpu") for _ in range(sections)]
        self.runs.rewrite(self._counted)
        if isinstance(self.numbering, CompactIds):
            self.numbering.drop()

    def _note_file(self, file: PlannedFile, progress: bool) -> None:
        start, mirror, plan = self.runs.end, copy(self.mirror), file.plan

        def note_all(pieces: Iterator[list[Any]]) -> None:
            """Called again from the first piece where the types assumed for the columns turn out to be wrong. Noting
            the same ids again changes nothing."""
            self.runs.back_to(start)
            self.mirror = copy(mirror)
            for arrays in pieces:
                src, dst, weights = plan.columns(arrays)
                src, dst = self.numbering.note(src, dst)
                if self.mirror is not None:
                    self.mirror.note(src, dst, weights)
                self.runs.add(src, dst, weights)
            self.runs.flush()

        if plan.layout is not None:
            fold_columns(file.path, plan.layout, note_all, progress)

    def _conclude(self) -> None:
        """Determine the numbers of vertices, and the dtype of weights, once all edges are read."""
        self.numbering.close()
        self.weight_dtype = self._common(self.runs.weight_dtypes)
        codes = isinstance(self.numbering, Labels)
        if self.mirror is not None and ((codes and not self.alone) or self.runs.weight_dtypes - {self.weight_dtype}):
            self.mirror = Mirror()
            for src, dst, weights in self.runs:
                src, dst = self.numbering.number(src, dst) if codes else (src, dst)
                self.mirror.note(src, dst, None if weights is None else weights.to(self.weight_dtype))

    def _common(self, dtypes: set[torch.dtype]) -> torch.dtype | None:
        """The smallest dtype that holds all of these, None for none."""
        return reduce(torch.promote_types, dtypes) if dtypes else None

    def _check_tables(self, num_vertices: int, sections: int) -> None:
        needed = table_bytes(num_vertices, sections, self.copies)
        if 2 * needed > self._memory:
            raise ArgumentError(
                f"memory: {self._memory} bytes are too few for {num_vertices} vertices, whose tables take {needed}; "
                f"give at least {2 * needed}"
            )

    def _counted(self, src: Tensor, dst: Tensor, weights: Tensor | None) -> Edges:
        src, dst = narrowed(*self.numbering.number(src, dst), self.num_vertices)
        weights = None if weights is None or self.weight_dtype is None else weights.to(self.weight_dtype)
        mask = None
        if self._once:
            mask = src <= dst
        if self.rules.self_loops == "drop":
            mask = (src != dst) if mask is None else mask & (src != dst)
        if mask is not None:
            src, dst, weights = src[mask], dst[mask], None if weights is None else weights[mask]
        ones = torch.ones(1, dtype=torch.int64, device="cpu").expand(len(src))
        self.degrees[0].index_add_(0, src, ones)
        if self.rules.directed:
            self.degrees[1].index_add_(0, dst, ones)
        elif self.both_ways:
            self.degrees[0].index_add_(0, dst, (src != dst).long())
        return src, dst, weights

    def arcs(self, section: int) -> Iterator[Edges]:
        """The arcs of a section in the order of the file, run by run."""
        for src, dst, weights in self.runs:
            if section:
                yield dst, src, weights
            elif self.both_ways:
                yield _with_reverses(src, dst, weights)
            else:
                yield src, dst, weights


def _with_reverses(src: Tensor, dst: Tensor, weights: Tensor | None) -> Edges:
    """Each edge followed by its reverse, so that parallel arcs keep the order of their edges; a self-loop once."""
    both = torch.stack((src, dst, dst, src), 1).view(-1, 2)
    arc = torch.stack((torch.ones_like(src, dtype=torch.bool), src != dst), 1).view(-1)
    both = both[arc]
    if weights is not None:
        weights = weights.repeat_interleave(2)[arc]
    return both[:, 0].contiguous(), both[:, 1].contiguous(), weights


def table_bytes(num_vertices: int, sections: int, copies: int) -> int:
    """Peak bytes of vertex data: `copies` of the degrees or offsets of every section, ids, and the offsets of the
    bucket being sorted."""
    return 8 * (copies * sections + 2) * num_vertices


def _numbering(files: Sequence[PlannedFile], memory: int) -> Numbering:
    """The numbering of the vertices of files."""
    plan = next((file.plan for file in files if file.plan.layout is not None), files[0].plan)
    if plan.layout is None or plan.rules.ids == "keep":
        return KeptIds()
    return Labels() if plan.kind == "label" else CompactIds(memory)
