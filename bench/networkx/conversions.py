"""Conversion from and to networkx: python -m bench.networkx.conversions [--edges 1000000] [--repeat 3] [--case 0]

A line for each kind of graph, or for one, counted from 0. Random graphs with a weight attribute, whose nodes are
0..n-1 or strings. Beside the conversion stand what it cannot go below, a walk over all neighbours in Python, and
networkx's own conversion to scipy. What comes back is compared with the original.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from bench.command import parsed
from bench.measure import timed
from bench.networkx.worker import repeated
from tgraph import networkx as backend

CASES = [
    *((nx.Graph, False), (nx.Graph, True), (nx.DiGraph, False), (nx.DiGraph, True)),
    *((nx.MultiGraph, False), (nx.MultiDiGraph, False)),
]


def random_graph(kind: type[nx.Graph], edges: int, labelled: bool, seed: int = 1) -> nx.Graph:
    """A graph of this kind with ten edges drawn for each node, whose weights are uniform in [0, 1)."""
    random, nodes = np.random.default_rng(seed), max(edges // 10, 1)
    ends = random.integers(0, nodes, (2, edges)).tolist()
    names = [f"node{i}" for i in range(nodes)] if labelled else list(range(nodes))
    G = kind()
    G.add_nodes_from(names)
    triples = zip(*ends, random.random(edges).tolist(), strict=True)
    G.add_weighted_edges_from((names[u], names[v], weight) for u, v, weight in triples)
    return G


def walk(G: nx.Graph) -> int:
    """The least that Python takes to see all neighbours."""
    return sum(1 for neighbours in G._adj.values() for _ in neighbours)


def to_tensors(G: nx.Graph) -> backend.Graph:
    """The conversion that networkx makes before a call with weights."""
    return backend.convert_from_nx(G, edge_attrs={"weight": 1})


def measure(kind: type[nx.Graph], labelled: bool, edges: int, repeat: int) -> dict[str, Any]:
    """A row: seconds of each way."""
    G = random_graph(kind, edges, labelled)
    row: dict[str, Any] = {"graph": kind.__name__, "nodes": "text" if labelled else "0..n-1"}
    row["walk"] = repeated(lambda: walk(G), repeat)[0]
    row["from"], tensors = repeated(lambda: to_tensors(G), repeat)
    row["back"], back = repeated(lambda: backend.convert_to_nx(tensors), repeat)
    if back._adj != G._adj or list(back.edges) != list(G.edges):
        raise AssertionError(f"{kind.__name__}: another graph comes back")
    row["to scipy"] = timed(nx.to_scipy_sparse_array, G)[0]
    return row


def main() -> None:
    """Print a line for each kind of graph."""
    options = parsed(__doc__, edges=1_000_000, repeat=3, case=int)
    print(f"{'seconds':14}{'nodes':>8}{'walk':>8}{'from':>8}{'back':>8}{'to scipy':>10}")
    for case, (kind, labelled) in enumerate(CASES):
        if options.case in (None, case):
            row = measure(kind, labelled, options.edges, options.repeat)
            times = f"{row['walk']:8.2f}{row['from']:8.2f}{row['back']:8.2f}{row['to scipy']:10.2f}"
            print(f"{row['graph']:14}{row['nodes']:>8}{times}", flush=True)


if __name__ == "__main__":
    main()
