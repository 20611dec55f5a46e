"""DCSC: CSC of the columns that are not empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from tgraph.formats.csc import ByColumn
from tgraph.formats.dcsr import DCSR

if TYPE_CHECKING:
    from typing_extensions import Self


class DCSC(ByColumn):
    """Doubly compressed sparse columns (Buluç and Gilbert, "On the representation and multiplication of hypersparse
    matrices", 2008): memory follows the columns that hold an arc."""

    name = "dcsc"
    stored = DCSR

    @classmethod
    def from_edges(cls, src: Tensor, dst: Tensor, weights: Tensor | None, num_vertices: int) -> Self:
        """The arcs src[i] -> dst[i], int32 or int64 [m], with weights [m] or None, of `num_vertices` vertices, of which
        nothing is made. Raises ArgumentError for ends that are no vertices, and for shapes that do not fit."""
        return cls(DCSR.from_edges(dst, src, weights, num_vertices))
