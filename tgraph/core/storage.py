"""What a graph, the engine and the kernels ask of arcs that are not stored as CSR: a layout, compressed or streamed.

Layouts derive from `tgraph.formats.Layout`, which stands above; what stands below knows them as a `Storage`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch import Tensor


class Storage(Protocol):
    """The arcs of a graph in a layout of their own; `tgraph.formats.Layout` documents each member."""

    @property
    def name(self) -> str: ...

    @property
    def streams(self) -> bool: ...

    @property
    def rounds_once(self) -> bool: ...

    @property
    def num_vertices(self) -> int: ...

    @property
    def num_arcs(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def device(self) -> torch.device: ...

    @property
    def weight_dtype(self) -> torch.dtype | None: ...

    def to_csr(self) -> tuple[Tensor, Tensor, Tensor | None]: ...

    def rows(self, vertices: Tensor) -> tuple[Tensor, Tensor, Tensor | None]: ...

    def refuses(self, reduce: str, edge: str, dtype: torch.dtype) -> str | None: ...

    def pull(self, data: Tensor, reduce: str, edge: str = ...) -> Tensor: ...

    def affine_step(self, step: Any) -> Any: ...

    def tensors(self) -> dict[str, Tensor]: ...

    def options(self) -> dict[str, Any]: ...

    def identity(self) -> list[Tensor]: ...

    def reserve(self, values: Any, in_place: bool) -> None: ...

    def recording(self) -> AbstractContextManager[list[Any]]: ...
