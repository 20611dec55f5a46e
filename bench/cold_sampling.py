"""Neighbours sampled from a memory-mapped .tg file of which nothing is in memory, beside the device's random reads.

    python -m bench.cold_sampling [--scale 20] [--fanouts 15,10] [--batch 256] [--folder bench/results]

The folder is on the device to be measured. Before each batch the system is made to forget the file. Pages per second
are the different pages of offsets and neighbours that a batch needs, over its time. The peer is numpy.memmap, which
reads the same entries from .npy files: the offsets of the vertices, then the neighbours of the arcs that were drawn.
The limit is what the device does: reads of a page at random places past the system's cache (O_DIRECT), 32 at a time.
Each batch is verified: it is the one that a copy of the graph in memory gives.
"""

from __future__ import annotations

import ctypes
import mmap
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import tgraph as tg
from bench.command import RESULTS, parsed
from bench.measure import medians, timed
from bench.process import drop
from bench.results import table
from bench.stores import random_reads
from bench.verify import require

READS = 20_000  # of the device


class ColdFiles:
    """A graph in files that are mapped, of which nothing needs to be in memory."""

    def __init__(self, graph: tg.Graph, folder: Path) -> None:
        self.paths = [folder / name for name in ("graph.tg", "offset.npy", "neighbors.npy")]
        tg.write(graph, self.paths[0])
        for path, tensor in zip(self.paths[1:], (graph.offset, graph.neighbors), strict=True):
            np.save(path, tensor.numpy())
        self.graph = tg.read(self.paths[0], verify=False)
        self.offset, self.neighbors = (np.load(path, mmap_mode="r") for path in self.paths[1:])
        self._libc = ctypes.CDLL(None)
        self._libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def forget(self) -> None:
        mapped = (self.graph.offset.numpy(), self.graph.neighbors.numpy(), self.offset, self.neighbors)
        for array in mapped:  # the system keeps pages that a process has mapped
            begin = array.ctypes.data // mmap.PAGESIZE * mmap.PAGESIZE
            self._libc.madvise(begin, array.ctypes.data + array.nbytes - begin, mmap.MADV_DONTNEED)
        for path in self.paths:
            drop(path)

    def read(self, vertices: np.ndarray, arcs: np.ndarray) -> int:
        """Reads the entries that a batch needs, by numpy."""
        return int((self.offset[vertices + 1] - self.offset[vertices]).sum()) + int(self.neighbors[arcs].sum())

    def pages(self, vertices: np.ndarray, arcs: np.ndarray) -> int:
        """The number of pages of those offsets and neighbours."""
        sizes = (self.offset.itemsize, vertices), (self.neighbors.itemsize, arcs)
        return sum(len(np.unique(places * size // mmap.PAGESIZE)) for size, places in sizes)


def measured(files: ColdFiles, held: tg.Graph, fanouts: list[int], batch: int, batches: int) -> list[tuple[str, float]]:
    """Pages per second of each system."""
    cold, warm = (tg.sampling.NeighborSampler(graph, fanouts, seed=1) for graph in (files.graph, held))
    random = torch.Generator().manual_seed(0)
    candidates = held.offset.diff().nonzero().flatten()
    rates: dict[str, list[float]] = {"tgraph": [], "numpy.memmap": []}
    for draw in range(batches):
        seeds: Tensor = candidates[torch.randint(len(candidates), (batch,), generator=random)]
        wanted = warm.sample(seeds, draw=draw)
        vertices = wanted.node[: sum(wanted.num_sampled_nodes[:-1])].numpy()  # those of the last hop draw nothing
        arcs = wanted.edge.numpy()
        pages = files.pages(vertices, arcs)
        files.forget()
        seconds, found = timed(cold.sample, seeds, draw=draw)
        rates["tgraph"].append(pages / seconds)
        require(
            all(torch.equal(getattr(found, name), getattr(wanted, name)) for name in ("node", "row", "col", "edge")),
            "a batch from the file is not the one from memory",
        )
        files.forget()
        rates["numpy.memmap"].append(pages / timed(files.read, vertices, arcs)[0])
    return list(medians(rates).items())


def main() -> None:
    options = parsed(__doc__, scale=20, fanouts=[15, 10], batch=256, batches=10, folder=RESULTS)
    options.folder.mkdir(parents=True, exist_ok=True)
    graph = tg.generators.rmat(options.scale, 16)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        files = ColdFiles(graph, Path(folder))
        files.forget()
        rates = measured(files, graph, options.fanouts, options.batch, options.batches)
        device = random_reads(files.paths[0], mmap.PAGESIZE, READS)
    print(f"{graph!r}, fan-outs {options.fanouts}, batches of {options.batch}\n")
    rows = [*rates, ("random reads of the device", device)]
    shown = [[name, f"{rate / 1e3:.1f}", f"{rate / device:.2f}"] for name, rate in rows]
    print(table(["system", "thousand pages per second", "of the device"], shown))


if __name__ == "__main__":
    main()
