"""Interfaces of the storage of arcs: a `tgraph.core.csr.Csr`, or a layout of `tgraph.formats`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor

# (offset int64 [k + 1], neighbors [e], weights [e] or None) of k rows.
Rows = tuple[Tensor, Tensor, "Tensor | None"]


class Stretches(NamedTuple):
    """Where the arcs of k rows are stored: arc j of row i in entry first[i] + j * distance of `neighbors`.

    first, degree : int64 [k].
    """

    first: Tensor
    degree: Tensor
    distance: int
    neighbors: Tensor


class CsrTensors(Protocol):
    """The tensors of a graph in CSR."""

    @property
    def offset(self) -> Tensor: ...

    @property
    def neighbors(self) -> Tensor: ...

    @property
    def weights(self) -> Tensor | None: ...


class InMemory:
    """Answers of a storage whose arcs lie in the memory of one process. Layouts that stream or are distributed have
    other ones.

    streams : whether the arcs are read from outside of memory, part by part, at each use.
    is_distributed : whether the rows are distributed over processes, and vertex data with them.
    """

    streams: ClassVar[bool] = False
    is_distributed: ClassVar[bool] = False

    @property
    def is_main_rank(self) -> bool:
        """True on rank 0, which alone prints and writes."""
        return True

    def reserve(self, values: Any, in_place: bool) -> None:
        """Before a run, for layouts with a memory budget: account for vertex data like `values`, which the program
        overwrites (`in_place`) or allocates anew in every iteration."""

    def spread_out(self, values: Any) -> Any:
        """The vertex data as this storage holds it, from the `values` that `init` of a program gave."""
        return values

    def spreading(self) -> AbstractContextManager[None]:
        """A context manager in which fresh vertex data is held as `spread_out` holds it, where that makes a
        difference."""
        return nullcontext()

    def together(self, what: Mapping[str, str]) -> AbstractContextManager[None]:
        """The context of a run, for layouts that spread over processes: these do the same, `what` is given by aspects,
        and where one fails, the others do."""
        return nullcontext()

    def calling(self, name: str) -> AbstractContextManager[None]:
        """The context of a call of a function of this name, for layouts that spread over processes: where one fails,
        the others do."""
        return nullcontext()

    def recording(self, trace: Any) -> AbstractContextManager[None]:
        """A context in which, or at whose end, the `trace` of a run gets what is read from outside of memory or
        exchanged with other processes; nothing for arcs in memory."""
        return nullcontext()


class Storage(Protocol):
    """The arcs of a graph and their weights. Immutable; derived data is cached by the graph. `InMemory` documents the
    members that it has."""

    @property
    def layout(self) -> Layout | None:
        """Itself, or None for CSR."""

    @property
    def name(self) -> str:
        """The name in `Graph.to_format`, "csr" for CSR."""

    @property
    def streams(self) -> bool: ...

    @property
    def is_distributed(self) -> bool: ...

    @property
    def is_main_rank(self) -> bool: ...

    def reserve(self, values: Any, in_place: bool) -> None: ...

    def spread_out(self, values: Any) -> Any: ...

    def spreading(self) -> AbstractContextManager[None]: ...

    def together(self, what: Mapping[str, str]) -> AbstractContextManager[None]: ...

    def calling(self, name: str) -> AbstractContextManager[None]: ...

    def recording(self, trace: Any) -> AbstractContextManager[None]: ...

    @property
    def csr_tensors(self) -> Mapping[str, Tensor | None]:
        """`offset`, `neighbors` and `weights` of a CSR in memory; empty where reading them costs anything."""

    @property
    def csr(self) -> CsrTensors:
        """Itself. Raises LayoutError for a layout."""

    @property
    def num_vertices(self) -> int:
        """n."""

    @property
    def num_arcs(self) -> int:
        """m."""

    @property
    def nbytes(self) -> int:
        """Bytes of all stored tensors."""

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""

    @property
    def weight_dtype(self) -> torch.dtype | None:
        """The dtype of the weights, None without weights."""

    def row_offset(self) -> Tensor:
        """The offsets of the rows in CSR, int64 [n + 1]."""

    def out_degree(self) -> Tensor:
        """Arcs of each row, int64 [n]. Raises ArgumentError for invalid offsets and neighbours."""

    def in_degree(self) -> Tensor:
        """Arcs that lead to each vertex, int64 [n]."""

    def num_self_loops(self) -> int:
        """The number of arcs from a vertex to itself."""

    def num_parallel_edges(self, directed: bool) -> int:
        """The number of edges in excess of one for each pair of vertices."""

    def is_symmetric(self) -> bool:
        """True if every arc has its reverse of equal weight."""

    def weight_statistics(self) -> tuple[float, float, float] | None:
        """(smallest, largest, mean) weight, the first two NaN where one is NaN; None without weights or arcs."""

    def identity(self) -> list[Tensor]:
        """Tensors to hash that differ where the arcs of two storages of one kind differ."""

    def rows(self, vertices: Tensor) -> Rows:
        """The rows of the vertices int64 [k], as a CSR of k rows."""

    def to_csr(self) -> Rows:
        """All rows."""

    def to(self, device: torch.device) -> Storage:
        """The same arcs on another device."""

    def transpose_with_permutation(self) -> tuple[Storage, Tensor | None]:
        """The reversed arcs, itself where they are the same, and the permutation int64 [m] of the weights if computed.

        Weights follow, detached."""


class Layout(Storage, Protocol):
    """The interface of a layout for the engine and the kernels; `tgraph.formats.Layout` documents each member."""

    @property
    def arcs_at_once(self) -> int: ...

    @property
    def rounds_once(self) -> bool: ...

    def refuses(self, reduce: str, edge: str, dtype: torch.dtype) -> str | None: ...

    def pull(self, data: Tensor, reduce: str, edge: str = ...) -> Tensor: ...

    def affine_step(self, step: Any) -> Any: ...

    def join(self, graph: Any, label: Tensor) -> bool: ...

    def scan(self, see: Callable[[int, int, Tensor, Tensor, Tensor | None], None]) -> None: ...

    def stretches(self, vertices: Tensor) -> Stretches | None: ...

    def transposed(self) -> Layout: ...

    def tensors(self) -> dict[str, Tensor]: ...

    def options(self) -> dict[str, Any]: ...
