"""The systems that are compared: one file each, by the public interface that its users have.

A system is a class with a `name`, made from (folder, Arrays, Description, threads). Its own forms of the graph are
cached properties, the one for breadth-first search is called `graph`; `prepare()` makes all of them: that is the
conversion, which is timed apart. `kernels()` gives {kernel: Kernel}. Importing a file raises ImportError where the
system is not installed. No file here imports another's system, so that each can be measured alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.arrays import Arrays, Description

SYSTEMS = ("tgraph", "networkit", "igraph", "scipy", "graphblas", "rustworkx", "networkx")
SMALL_ONLY = ("rustworkx", "networkx")  # they take minutes and gigabytes where others take a second
SMALL_ARCS = 1_000_000
CLUSTERS = ("graphscope", "graphx")  # made for several machines; see bench.clusters
ONE_THREAD = ("igraph", "scipy", "rustworkx", "networkx")  # however many there are


@dataclass
class Kernel:
    """One algorithm of one system.

    call : takes the argument of a block (a source, several, or None) and is timed as a whole.
    read : turns what it returns into a numpy array as `bench.verify` expects it; not timed.
    iterations : how many a PageRank took, from what `call` returned.
    """

    call: Callable[[Any], Any]
    read: Callable[[Any], np.ndarray] = np.asarray
    iterations: Callable[[Any], int] | None = None


class Peer:
    """A system made from arrays. `forms` : the names of its graphs, which `prepare` makes."""

    forms: tuple[str, ...] = ("graph",)

    def __init__(self, folder: Path, arrays: Arrays, description: Description, threads: int):
        self.folder, self.arrays, self.description, self.threads = folder, arrays, description, threads
        self.n, self.directed = arrays.num_vertices, arrays.directed

    def prepare(self) -> None:
        for form in self.forms:
            getattr(self, form)


def labels(components: Iterable[Iterable[int]], num_vertices: int) -> np.ndarray:
    """The number of the component of each vertex."""
    label = np.empty(num_vertices, dtype=np.int64)
    for number, vertices in enumerate(components):
        label[list(vertices)] = number
    return label


def load(name: str) -> type:
    """The class of a system. Raises ImportError where it is not installed."""
    return importlib.import_module(f"bench.peers.{name}_").System


def integers(distances: Any, unreached: float = 1e18) -> np.ndarray:
    """Floating distances as int64 with -1 for whatever is `unreached` or more."""
    values = np.asarray(distances, dtype=np.float64)
    return np.where(values < unreached, values, -1).astype(np.int64)


def depths_from_tree(order: np.ndarray, parent: np.ndarray, num_vertices: int) -> np.ndarray:
    """Hops [n] from the order in which a breadth-first search met vertices, and the parents [n] it gave them.

    A queue keeps parents in order, so that a level ends where parents pass the end of the last level.
    """
    position = np.full(num_vertices, -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    above = position[parent[order[1:]]]
    depth = np.full(num_vertices, -1, dtype=np.int64)
    depth[order[0]] = 0
    first, last, level = 0, 1, 0
    while last < len(order):
        first, last, level = last, 1 + int(np.searchsorted(above, last)), level + 1
        if last <= first:
            raise ValueError("the order is not that of a breadth-first search")
        depth[order[first:last]] = level
    return depth
