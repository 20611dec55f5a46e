"""The arcs that the systems are given: those of an R-MAT graph in random order, a tenth of them as base."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

import tgraph as tg
from tgraph.core.building import sorting

BASE = 0.1  # of the arcs
Ends = tuple[NDArray[np.int32], NDArray[np.int32]]


class Stream:
    """Sources and targets [m] in a folder, memory-mapped, and the CSR of all of them."""

    def __init__(self, folder: Path):
        self.src, self.dst, self.offset, self.neighbors = (
            np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("src", "dst", "offset", "neighbors")
        )
        self.num_vertices, self.num_arcs = len(self.offset) - 1, len(self.src)
        self.base = round(BASE * self.num_arcs)

    @classmethod
    def make(cls, folder: Path, scale: int) -> Stream:
        """Draw the graph, unless it is there: both directions of each edge, no arc twice."""
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "neighbors.npy").exists():
            graph = tg.generators.rmat(scale, 16)
            order = torch.randperm(graph.num_arcs, generator=torch.Generator().manual_seed(0))
            np.save(folder / "src.npy", sorting.expand_rows(graph.offset).int()[order].numpy())
            np.save(folder / "dst.npy", graph.neighbors[order].numpy())
            np.save(folder / "offset.npy", graph.offset.numpy())
            np.save(folder / "neighbors.npy", graph.neighbors.numpy())
        return cls(folder)

    def arcs(self, first: int, last: int) -> Ends:
        """Some of the arcs, in memory of their own."""
        return np.array(self.src[first:last]), np.array(self.dst[first:last])

    def batches(self, size: int, first: int | None = None) -> Iterator[Ends]:
        """The arcs from `first` on, behind the base without it, so many at a time."""
        for begin in range(self.base if first is None else first, self.num_arcs, size):
            yield self.arcs(begin, min(begin + size, self.num_arcs))

    def static(self) -> tg.Graph:
        """All arcs as a graph that does not change."""
        return tg.Graph.from_csr(torch.tensor(self.offset), torch.tensor(self.neighbors))
