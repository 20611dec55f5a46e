"""The operations of a layout whose rows are distributed over processes, each with its own vertices: their number is
k here, and the h mirrors are the vertices of others that their arcs touch."""

from __future__ import annotations

from typing import Any, Protocol, cast

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.graph import Graph


class SpreadLayout(Protocol):
    """Besides the pull of all layouts; `tgraph.distributed.layout.Distributed` documents each member."""

    @property
    def ownership(self) -> Any: ...

    @property
    def part(self) -> Any: ...

    @property
    def own_degree(self) -> Tensor: ...

    def own_weights(self, dtype: torch.dtype) -> Tensor: ...

    @property
    def local_rows(self) -> Csr: ...

    def aggregate(self, graph: Graph, data: Tensor, *arguments: Any) -> Tensor | None: ...

    def with_mirrors(self, data: Tensor) -> Tensor: ...

    @property
    def local_arcs(self) -> tuple[Graph, Graph]: ...

    @property
    def numbers(self) -> Tensor: ...

    def numbers_of_local_arcs(self, transposed: bool) -> Tensor: ...

    def check_whole_rows(self) -> None: ...

    def own(self, values: Any) -> Any: ...

    def spread(self, local: Tensor) -> Tensor: ...


def layout_of(graph: Graph) -> SpreadLayout:
    """The layout of a graph that is spread over processes."""
    return cast(SpreadLayout, graph.layout)
