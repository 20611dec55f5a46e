"""The graphs of the comparison, and the vertices that searches start from.

Synthetic ones after the GAP benchmark suite (Beamer, Asanovic, Patterson 2015), a grid, and real ones from a folder of
data where there is one. All are simple: no self-loops, no parallel edges. All have int32 weights in 1..255, the same
in both directions of an undirected edge.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import tgraph as tg
from bench import gapbs
from bench.arrays import Arrays, Description

SMALL_SCALE = 14  # of the graph that systems written in Python, or called through it, can manage
REAL = {"web": "cnr-2000", "social": "imdb-actor", "road": "USA-road-NW"}


# The graphs of the folder of data.
GRAPHS = (
    "COLLAB", "imdb-actor", "cnr-2000", "web-NotreDame", "ca-HepPh", "ca-GrQc", "email-Enron", "soc-Epinions1",
    "wiki-Vote", "cit-HepTh", "MIT8", "ego-Facebook", "facebook-Cornell5", "blogcatalog", "CollegeMsg",
    "sx-mathoverflow", "ENZYMES", "IMDBMULTI", "PROTEINS", "planetoid-cora", "planetoid-citeseer", "planetoid-pubmed",
    "amazon-photo", "coauthor-cs", "USA-road-d.NY", "USA-road-BAY", "USA-road-FLA", "USA-road-NW",
)  # fmt: skip


class Missing(Exception):
    """A graph whose data is not there."""


def recipes(scale: int, data: Path) -> dict[str, tuple[str, Callable[[], tg.Graph]]]:
    """{kind: (name, function that builds it)}, at 2**scale vertices where the graph is synthetic."""
    side = round(1000 * 2 ** ((scale - 20) / 2))
    generate = tg.generators
    found: dict[str, tuple[str, Callable[[], tg.Graph]]] = {
        "rmat": (f"rmat-{scale}", partial(generate.rmat, scale, 16, weighted=True)),
        "uniform": (f"uniform-{scale}", partial(generate.uniform, scale, 16, weighted=True)),
        "grid": (f"grid-{side}x{side}", partial(generate.grid2d, side, side, weighted=True)),
    }
    found["small"] = (f"rmat-{SMALL_SCALE}", partial(small, scale))
    return found | {kind: (name, partial(real, name, data)) for kind, name in REAL.items()}


def small(scale: int) -> tg.Graph:
    """A graph that systems written in Python can manage; Missing where the others are that small."""
    if scale <= SMALL_SCALE:
        raise Missing(f"rmat at scale {scale} is small already")
    return tg.generators.rmat(SMALL_SCALE, 16, weighted=True)


def real(name: str, data: Path) -> tg.Graph:
    """A graph of the data folder, by the loader that lies there. Raises Missing where there is none."""
    loader = data / "load.py"
    if not (data / name).is_dir() or not loader.is_file():
        raise Missing(f"no {name} in {data}")
    spec = importlib.util.spec_from_file_location("load", loader)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = module.load(name)
    weights = pair_weights(rows["src"], rows["dst"])
    options = {"directed": rows["directed"], "ids": "compact", "multi": "first", "self_loops": "drop"}
    graph = tg.Graph.from_edges(rows["src"], rows["dst"], weights, **options)
    return tg.Graph(graph.offset, graph.neighbors, graph.weights, directed=graph.directed)


def present(names: Iterable[str], data: Path) -> Iterator[tuple[str, tg.Graph]]:
    """The graphs of the data folder by name; one that is missing is reported and left out."""
    for name in names:
        try:
            yield name, real(name, data)
        except Missing as reason:
            print(f"{name} is left out: {reason}")


def pair_weights(src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Weights in 1..255 that depend on the two ends alone, whichever way round (a multiplicative hash)."""
    low, high = np.minimum(src, dst).astype(np.uint64), np.maximum(src, dst).astype(np.uint64)
    mixed = (low * np.uint64(0x9E3779B97F4A7C15)) ^ (high * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (1 + (mixed >> np.uint64(33)) % np.uint64(255)).astype(np.int32)


def describe(name: str, graph: tg.Graph, count: int, seed: int = 0) -> Description:
    """Draw `count` sources from the largest component (of mutual reach, if directed), and four pivots."""
    arrays, n = Arrays.of(graph), graph.num_vertices
    matrix = csr_array((np.ones(arrays.num_arcs, np.int8), arrays.neighbors, arrays.offset), shape=(n, n))
    labels = connected_components(matrix, directed=True, connection="strong" if graph.directed else "weak")[1]
    inside = labels == np.bincount(labels).argmax()
    candidates = np.flatnonzero(inside & (arrays.degree > 0))
    random = np.random.default_rng(seed)
    sources = random.choice(candidates, min(count, len(candidates)), replace=False).tolist()
    pivots, pivot_seed = networkit_pivots(arrays, inside, sources)
    return Description(name, n, arrays.num_arcs, graph.directed, sources, pivots, pivot_seed)


def networkit_pivots(arrays: Arrays, inside: np.ndarray, sources: list[int]) -> tuple[list[int], int | None]:
    """Four vertices of the component that networkit draws from some seed, since it takes no list of sources."""
    try:
        import networkit
    except ImportError:
        return sources[:4], None
    empty = networkit.Graph(arrays.num_vertices)
    for seed in range(10_000):
        networkit.setSeed(seed, False)
        drawn = [networkit.graphtools.randomNode(empty) for _ in range(4)]
        if inside[drawn].all() and len(set(drawn)) == 4:
            return drawn, seed
    return sources[:4], None


def store(graph: tg.Graph, description: Description, folder: Path) -> None:
    """Write the graph into a folder, in the forms that the systems read, for the processes that measure."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = Arrays.of(graph)
    tg.write(graph, folder / "graph.tg")
    arrays.save(folder / "graph.npz")
    if gapbs.folder():
        gapbs.write_graph(arrays, folder / "graph.sg")
        gapbs.write_graph(arrays, folder / "graph.wsg")
    (folder / "graph.json").write_text(json.dumps(asdict(description)))


def main(kind: str, scale: str, data: str, count: str, folder: str) -> None:
    """Build and store one graph: in a separate process, so that its memory is freed. Exit code 3 means that its
    data is missing."""
    try:
        name, build = recipes(int(scale), Path(data))[kind]
        graph = build()
    except Missing as reason:
        print(reason)
        sys.exit(3)
    assert graph.weights is not None and graph.weights.dtype == torch.int32
    store(graph, describe(name, graph, int(count)), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
