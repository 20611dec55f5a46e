"""A graph as numpy arrays: what every system's own structure is made from, and what results are checked against."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # peers are measured in processes that never import tgraph or torch
    import tgraph as tg

DAMPING, TOLERANCE = 0.85, 1e-4  # of PageRank: stop once an iteration changes the ranks by that much in all (L1)


@dataclass
class Description:
    """Metadata of a stored graph. `sources`: where searches start; `pivots`: the four of betweenness, which
    networkit draws itself from `pivot_seed` (None without networkit, which then cannot be compared)."""

    name: str
    num_vertices: int
    num_arcs: int
    directed: bool
    sources: list[int]
    pivots: list[int]
    pivot_seed: int | None = None

    @classmethod
    def load(cls, folder: Path) -> Description:
        """The description in the folder of a stored graph."""
        return cls(**json.loads((folder / "graph.json").read_text()))


@dataclass
class Arrays:
    """CSR: the arcs of vertex v are neighbors[offset[v] : offset[v + 1]], ascending, and their weights.

    offset : int64 [n + 1]; neighbors : int32 [m]; weights : int32 [m]; an undirected graph holds both directions.
    """

    offset: NDArray[np.int64]
    neighbors: NDArray[np.int32]
    weights: NDArray[np.int32]
    directed: bool

    @classmethod
    def of(cls, graph: tg.Graph) -> Arrays:
        """The arrays of a graph with weights, which shares their memory."""
        return cls(graph.offset.numpy(), graph.neighbors.numpy(), graph.weights.numpy(), graph.directed)

    @classmethod
    def load(cls, path: Path) -> Arrays:
        """The arrays of a file that `save` wrote."""
        with np.load(path) as file:
            return cls(file["offset"], file["neighbors"], file["weights"], bool(file["directed"]))

    def save(self, path: Path) -> None:
        """Write an uncompressed .npz file."""
        columns = {"offset": self.offset, "neighbors": self.neighbors, "weights": self.weights}
        np.savez(path, **columns, directed=np.array(self.directed))

    @property
    def num_vertices(self) -> int:
        return len(self.offset) - 1

    @property
    def num_arcs(self) -> int:
        return len(self.neighbors)

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """Arcs that leave each vertex, [n]."""
        return np.diff(self.offset)

    @property
    def rows(self) -> NDArray[np.int32]:
        """The vertex that each arc leaves, [m]."""
        return np.repeat(np.arange(self.num_vertices, dtype=np.int32), self.degree)

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """(source, target, weight) of every edge once: of an undirected one the arc to the larger vertex."""
        rows = self.rows
        if self.directed:
            return rows, self.neighbors, self.weights
        once = rows < self.neighbors
        return rows[once], self.neighbors[once], self.weights[once]

    def reverse(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """The offsets, neighbours and weights of the arcs turned round."""
        if not self.directed:
            return self.offset, self.neighbors, self.weights
        order = np.argsort(self.neighbors, kind="stable")
        incoming = np.bincount(self.neighbors, minlength=self.num_vertices)
        offset = np.concatenate(([0], np.cumsum(incoming)))
        return offset, self.rows[order], self.weights[order]
