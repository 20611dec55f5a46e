"""The graphs that are measured, and the arguments that go with them."""

from __future__ import annotations

import gc
import math
from dataclasses import dataclass

import networkx as nx
import numpy as np

import tgraph as tg

KINDS = ("undirected", "connected", "directed", "dag")
PAIRS = 10_000
PARTS = 50


@dataclass
class Given:
    """A graph of networkx and arguments of calls.

    source : the node with the most edges. target : one that it reaches, late. pairs : of random nodes. parts : the
    nodes by their number. some : ten nodes with edges. nodes, edges : how many.
    """

    G: nx.Graph
    source: int
    target: int
    pairs: list[tuple[int, int]]
    parts: list[set[int]]
    some: list[int]
    nodes: int
    edges: int


def build(kind: str, edges: int, seed: int = 1) -> Given:
    """The graph of a kind with about so many edges."""
    random = np.random.default_rng(seed)
    source, target = _ends(kind, edges, seed)
    order = random.permutation(len(source))[:edges]
    weights = random.random(len(order))
    G = (nx.DiGraph if kind in ("directed", "dag") else nx.Graph)()
    gc.disable()  # or the collector looks through the growing graph, again and again
    G.add_nodes_from(range(1 << _scale(edges)))
    G.add_weighted_edges_from(zip(source[order].tolist(), target[order].tolist(), weights.tolist(), strict=True))
    gc.enable()
    if kind == "connected":
        G = nx.convert_node_labels_to_integers(G.subgraph(max(nx.connected_components(G), key=len)))
    return _given(G, random)


def _scale(edges: int) -> int:
    return max(round(math.log2(edges / 8)), 4)


def _ends(kind: str, edges: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of at least so many edges, if the graph has room for them; what is drawn twice counts once."""
    scale = _scale(edges)
    factor = -(-edges // 2**scale)
    while True:
        arcs = tg.generators.rmat(scale, factor, seed, directed=kind == "directed")
        source, target = (ends.numpy() for ends in arcs.to_edge_index())
        kept = source != target if kind == "directed" else source < target
        if kept.sum() >= edges or factor >= 2**scale:
            return source[kept], target[kept]
        factor += -(-factor // 4)


def _some(G: nx.Graph, random: np.random.Generator) -> list[int]:
    """Ten nodes with edges."""
    nodes = [node for node, degree in G.degree if degree]
    return random.choice(nodes, min(10, len(nodes)), replace=False).tolist()


def _given(G: nx.Graph, random: np.random.Generator) -> Given:
    n, hub = len(G), max(G, key=G.degree)
    reached = [node for _, node in nx.bfs_edges(G, hub)]
    pairs = random.integers(0, n, (min(PAIRS, 4 * n), 2)).tolist()
    return Given(
        G,
        source=hub,
        target=reached[-1] if reached else hub,
        pairs=[(u, v) for u, v in pairs if u != v],
        parts=[set(range(i, n, PARTS)) for i in range(min(PARTS, n))],
        some=_some(G, random),
        nodes=n,
        edges=G.number_of_edges(),
    )
