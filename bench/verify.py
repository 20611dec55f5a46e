"""Checks of results: proofs that need no other program where there are some, and references computed here elsewhere.

Each check is called with (system, argument, result) for every timed call and raises WrongResult. A proved result is
kept, in memory and in a folder, and later ones for the same argument are compared with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bench.arrays import DAMPING, TOLERANCE, Arrays

Result = NDArray[Any]


class WrongResult(Exception):
    """A system computed something else than it should have."""


def require(holds: Any, fault: str) -> None:
    if not holds:
        raise WrongResult(fault)


class Verified:
    """A check that decides alone whether a result is right."""

    def verdict(self, system: str) -> str:
        return "verified"


class Proved(Verified):
    """A check with one right answer for each argument; `prove` raises WrongResult where it finds a fault."""

    def __init__(self, arrays: Arrays, folder: Path):
        self.arrays, self.folder = arrays, folder
        self.known: dict[Any, Result] = {}

    def __call__(self, system: str, argument: Any, result: Result) -> None:
        result = self.canonical(result)
        expected = self.find(argument)
        if expected is None:
            self.prove(argument, result)
            self.known[argument] = result
            np.save(self.path(argument), result)
        else:
            require(np.array_equal(result, expected), f"{int((result != expected).sum())} vertices differ")

    def find(self, argument: Any) -> Result | None:
        """The proved result, if there is one."""
        if argument not in self.known and self.path(argument).is_file():
            self.known[argument] = np.load(self.path(argument))
        return self.known.get(argument)

    def path(self, argument: Any) -> Path:
        return self.folder / f"proved-{type(self).__name__}-{argument}.npy"

    def canonical(self, result: Result) -> Result:
        return result

    def prove(self, argument: Any, result: Result) -> None:
        raise NotImplementedError


class Depths(Proved):
    """Hops [n] from a source, -1 where unreached: no arc skips a level, and every level is entered from the last."""

    def canonical(self, result: Result) -> Result:
        return result.astype(np.int32)

    def prove(self, argument: int, result: Result) -> None:
        self.shortest(argument, result, np.int32(1))

    def shortest(self, source: int, result: Result, weights: Any) -> None:
        arrays, n = self.arrays, self.arrays.num_vertices
        require(result.shape == (n,), f"shape {result.shape}, not [{n}]")
        require(result[source] == 0 and (result == 0).sum() == 1, "not 0 at the source alone")
        before = np.repeat(result, arrays.degree)
        after = result[arrays.neighbors]
        sending = before >= 0
        require(not (sending & (after < 0)).any(), "a vertex that can be reached is not")
        slack = before + weights - after
        require(not (sending & (slack < 0)).any(), "an arc leads to a vertex by a shorter path")
        entered = np.zeros(n, dtype=bool)
        entered[arrays.neighbors[sending & (slack == 0)]] = True
        require((entered | (result <= 0)).all(), "no path is as short as a result says")


class Distances(Depths):
    """Shortest distances [n] by positive integer weights, -1 where unreached; proved as depths are."""

    def canonical(self, result: Result) -> Result:
        return result.astype(np.int64)

    def prove(self, argument: int, result: Result) -> None:
        self.shortest(argument, result, self.arrays.weights)


class Components(Proved):
    """Any labels [n] that agree along every arc, and as many of them as scipy finds components."""

    def canonical(self, result: Result) -> Result:
        _, first, inverse = np.unique(result, return_index=True, return_inverse=True)
        return first[inverse].astype(np.int32)

    def prove(self, argument: None, result: Result) -> None:
        arrays, n = self.arrays, self.arrays.num_vertices
        require(result.shape == (n,), f"shape {result.shape}, not [{n}]")
        require(np.array_equal(np.repeat(result, arrays.degree), result[arrays.neighbors]), "an arc joins two labels")
        matrix = csr_array((np.ones(arrays.num_arcs, np.int8), arrays.neighbors, arrays.offset), shape=(n, n))
        expected = connected_components(matrix, directed=True, connection="weak")[0]
        found = int((result == np.arange(n)).sum())
        require(found == expected, f"{found} components, not {expected}")


class Ranks(Verified):
    """PageRank [n] near the fixed point, which scipy finds in float64.

    With jumps to any vertex alike, giving the ranks that get stuck at vertices without out-arcs back to all vertices
    scales the fixed point and does nothing else: so results of systems that do and that do not are scaled to one sum.
    An iteration that stops at a change of TOLERANCE (L1) is within DAMPING / (1 - DAMPING) of that of its fixed point;
    ten times TOLERANCE leaves room for float32.
    """

    def __init__(self, arrays: Arrays, folder: Path):
        self.arrays, self.path = arrays, folder / "proved-Ranks.npy"

    def reference(self) -> Result:
        if not self.path.is_file():
            np.save(self.path, pagerank(self.arrays))
        return np.load(self.path)

    def __call__(self, system: str, argument: None, result: Result) -> None:
        expected = self.reference()
        require(result.shape == expected.shape, f"shape {result.shape}, not {expected.shape}")
        wide = result.astype(np.float64)
        error = float(np.abs(wide * (expected.sum() / wide.sum()) - expected).sum())
        require(error <= 10 * TOLERANCE, f"{error:.1e} away from the fixed point in all")


def pagerank(arrays: Arrays, tolerance: float = 1e-9) -> Result:
    """The fixed point of rank = (1 - d) / n + d * received, in float64."""
    n = arrays.num_vertices
    offset, neighbors, _ = arrays.reverse()
    received = csr_array((np.ones(arrays.num_arcs), neighbors, offset), shape=(n, n))
    share = DAMPING / np.maximum(arrays.degree, 1)
    rank = np.full(n, 1 / n)
    while True:
        following = (1 - DAMPING) / n + received @ (rank * share)
        if np.abs(following - rank).sum() <= tolerance:
            return following
        rank = following


class Scores(Verified):
    """Betweenness [n] from some sources, against Brandes' algorithm in float64; float32 sums may be off by 1e-4.

    networkit searches from the same sources but counts a path by how near to its target the vertex lies.
    """

    def __init__(self, arrays: Arrays, folder: Path):
        self.arrays, self.folder = arrays, folder

    def reference(self, sources: tuple[int, ...], by_distance: bool = False) -> Result:
        """The scores [n], to which a source adds nothing for itself."""
        total = np.zeros(self.arrays.num_vertices)
        for source in sources:
            found = self.dependencies(source)[int(by_distance)].copy()
            found[source] = 0
            total += found
        return total

    def dependencies(self, source: int) -> Result:
        """The result of `dependencies`, kept."""
        path = self.folder / f"proved-Scores-{source}.npy"
        if not path.is_file():
            np.save(path, dependencies(self.arrays, source))
        return np.load(path)

    def __call__(self, system: str, argument: tuple[int, ...], result: Result) -> None:
        expected = self.reference(argument, by_distance=system == "networkit")
        require(result.shape == expected.shape, f"shape {result.shape}, not {expected.shape}")
        error = np.abs(result - expected).max() / max(expected.max(), 1)
        require(error <= 1e-4, f"a score is off by {error:.1e} of the largest")


def dependencies(arrays: Arrays, source: int) -> Result:
    """The shortest paths from the source through each vertex, as fractions of those to each target, [2, n]
    (Brandes, "A faster algorithm for betweenness centrality", 2001): one level of the search at a time.

    In the second row times the vertex's distance over the target's (Geisberger, Sanders, Schultes 2008).
    """
    depth, levels = search(arrays, source)
    paths = np.zeros(arrays.num_vertices, dtype=np.longdouble)  # a grid has more of them than a double can count
    paths[source] = 1
    tight = []
    for vertices in levels:
        tails, heads = arcs_of(arrays, vertices)
        deeper = depth[heads] == depth[tails] + 1
        tight.append((tails[deeper], heads[deeper]))
        np.add.at(paths, heads[deeper], paths[tails[deeper]])
    through, by_distance = np.zeros((2, arrays.num_vertices))
    for tails, heads in reversed(tight):
        share = paths[tails] / paths[heads]
        np.add.at(through, tails, share * (1 + through[heads]))
        np.add.at(by_distance, tails, share * (depth[tails] / depth[heads]) * (1 + by_distance[heads]))
    return np.stack((through, by_distance))


def search(arrays: Arrays, source: int) -> tuple[Result, list[Result]]:
    """Depths [n], and the vertices of each level."""
    depth = np.full(arrays.num_vertices, -1, dtype=np.int32)
    depth[source] = 0
    levels = [np.array([source])]
    while len(levels[-1]):
        _, heads = arcs_of(arrays, levels[-1])
        fresh = np.unique(heads[depth[heads] < 0])
        depth[fresh] = len(levels)
        levels.append(fresh)
    return depth, levels[:-1]


def arcs_of(arrays: Arrays, vertices: Result) -> tuple[Result, Result]:
    """Both ends of the arcs that leave the vertices."""
    counts = arrays.degree[vertices]
    starts = np.repeat(arrays.offset[vertices] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
    return np.repeat(vertices, counts), arrays.neighbors[starts + np.arange(len(starts))]


class Agreement:
    """Results with neither proof nor a cheap reference: verified where a second system found the same."""

    def __init__(self, arrays: Arrays, folder: Path):
        self.found: dict[str, Result] = {}

    def __call__(self, system: str, argument: Any, result: Result) -> None:
        first = self.found.setdefault(system, result)
        require(np.array_equal(result, first), "another result than the first time")

    def verdict(self, system: str) -> str:
        others = [result for name, result in self.found.items() if name != system]
        if any(np.array_equal(self.found[system], other) for other in others):
            return "verified"
        return "WRONG: other systems found something else" if others else "no second opinion"


class LabelSteps:
    """Synchronous label propagation [n] of TGraph, checked step by step on some vertices and on all large hubs.

    Peers propagate labels one vertex at a time, so that their results differ by nature, and are not compared.
    """

    SAMPLE = 10_000

    def __init__(self, arrays: Arrays, folder: Path):
        self.arrays = arrays
        self.known: Result | None = None
        random = np.random.default_rng(0)
        drawn = random.integers(0, arrays.num_vertices, self.SAMPLE)
        hubs = np.argsort(arrays.degree)[-10:]
        self.sample = np.unique(np.concatenate((drawn, hubs)))

    def prove(self, before: Result, after: Result) -> None:
        """Each sampled vertex took the label most frequent around it, the smallest of equals (LDBC Graphalytics)."""
        tails, heads = arcs_of(self.arrays, self.sample)
        if self.arrays.directed:
            offset, neighbors, weights = self.arrays.reverse()
            incoming = arcs_of(Arrays(offset, neighbors, weights, True), self.sample)
            tails, heads = np.concatenate((tails, incoming[0])), np.concatenate((heads, incoming[1]))
        pairs, counts = np.unique(np.stack((tails, before[heads])), axis=1, return_counts=True)
        order = np.lexsort((pairs[1], -counts, pairs[0]))
        vertices, first = np.unique(pairs[0, order], return_index=True)
        require(np.array_equal(after[vertices], pairs[1, order][first]), "a label is not the most frequent one around")

    def __call__(self, system: str, argument: Any, result: Result) -> None:
        if system == "tgraph":
            self.known = result if self.known is None else self.known
            require(np.array_equal(result, self.known), "another result than the first time")

    def verdict(self, system: str) -> str:
        return "verified" if system == "tgraph" else "another algorithm"
