"""Interfaces of the storage of arcs: a `tgraph.core.csr.Csr`, or a layout of `tgraph.formats`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

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


class Storage(Protocol):
    """The arcs of a graph and their weights. Immutable; derived data is cached by the graph."""

    @property
    def layout(self) -> Layout | None:
        """Itself, or None for CSR."""

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
    def name(self) -> str: ...

    @property
    def arcs_at_once(self) -> int: ...

    @property
    def streams(self) -> bool: ...

    @property
    def is_distributed(self) -> bool: ...

    @property
    def rounds_once(self) -> bool: ...

    def refuses(self, reduce: str, edge: str, dtype: torch.dtype) -> str | None: ...

    def pull(self, data: Tensor, reduce: str, edge: str = ...) -> Tensor: ...

    def affine_step(self, step: Any) -> Any: ...

    def stretches(self, vertices: Tensor) -> Stretches | None: ...

    def transposed(self) -> Layout: ...

    def tensors(self) -> dict[str, Tensor]: ...

    def options(self) -> dict[str, Any]: ...

    def reserve(self, values: Any, in_place: bool) -> None: ...

    def spread_out(self, values: Any) -> Any: ...

    def spreading(self) -> AbstractContextManager[None]: ...

    @property
    def is_main_rank(self) -> bool: ...

    def together(self, what: Mapping[str, str]) -> AbstractContextManager[None]: ...
    def calling(self, name: str) -> AbstractContextManager[None]: ...

    def recording(self, trace: Any) -> AbstractContextManager[None]: ...
