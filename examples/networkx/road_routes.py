"""Which ways lead from one place to another? The k shortest routes, and alternatives that truly differ, on a map.

The shortest differ by a block here or there; alternatives avoid the roads of those before, which then count longer.
Usage: python examples/networkx/road_routes.py [FILE [PICTURE [FROM TO]]]. FILE.gr(.gz) has roads as DIMACS publishes
them, FILE.co(.gz) beside it the places. Without one: a town of blocks.
"""

import gzip
import random
import sys
from itertools import islice, pairwise

import matplotlib.pyplot as plt
import networkx as nx
from matplotlib.collections import LineCollection

K, PENALTY = 4, 1.4


def read(path: str) -> nx.DiGraph:
    """The network, with a `length` for each road and the place `at` which each junction is."""
    graph = nx.DiGraph()
    for name in (path, path.replace(".gr", ".co")):
        with gzip.open(name, "rt") if name.endswith(".gz") else open(name) as file:
            lines = [line.split() for line in file if line[0] in "av"]
        graph.add_edges_from((int(u), int(v), {"length": int(w)}) for kind, u, v, w in lines if kind == "a")
        graph.add_nodes_from((int(node), {"at": (int(x), int(y))}) for kind, node, x, y in lines if kind == "v")
    return graph


def town(blocks: int = 24) -> nx.DiGraph:
    """Blocks of 80 to 120 m."""
    chance, graph = random.Random(5), nx.grid_2d_graph(blocks, blocks)
    nx.set_edge_attributes(graph, {edge: chance.randint(80, 120) for edge in graph.edges}, "length")
    nx.set_node_attributes(graph, {node: node for node in graph}, "at")
    return graph.to_directed()


def alternatives(given: nx.DiGraph, source: object, target: object) -> list[list]:
    """Routes that avoid the roads of those before where that costs little, shortest first."""
    graph, found = given.copy(), []
    for _ in range(2 * K):
        route = nx.shortest_path(graph, source, target, weight="length")
        found += [] if route in found else [route]
        roads = [edge for u, v in pairwise(route) for edge in ((u, v), (v, u)) if graph.has_edge(*edge)]
        nx.set_edge_attributes(graph, {edge: PENALTY * graph.edges[edge]["length"] for edge in roads}, "length")
    return sorted(found[:K], key=lambda route: nx.path_weight(given, route, "length"))


def draw(graph: nx.DiGraph, routes: list[list], path: str) -> None:
    """A map with the routes, the shortest on top."""
    at = nx.get_node_attributes(graph, "at")
    axes = plt.figure(figsize=(9, 9)).add_subplot(aspect="equal")
    axes.add_collection(LineCollection([(at[u], at[v]) for u, v in graph.edges], colors="0.85", linewidths=0.5))
    for i, route in enumerate(routes):
        axes.plot(*zip(*map(at.get, route), strict=True), linewidth=4, alpha=0.8, zorder=9 - i, label=f"{i + 1}")
    axes.axis("off")
    axes.legend(title="route")
    plt.savefig(path, dpi=120, bbox_inches="tight")


def main(path: str = "", picture: str = "routes.png", source: str = "", target: str = "") -> dict[str, list[int]]:
    graph, lengths = read(path) if path else town(), {}
    corners = sorted(graph, key=lambda node: sum(graph.nodes[node]["at"]))
    ends = (int(source), int(target)) if source else (corners[0], corners[-1])
    print(f"{len(graph):,} junctions, {graph.number_of_edges():,} roads; from {ends[0]} to {ends[1]}; a map: {picture}")
    shortest = list(islice(nx.shortest_simple_paths(graph, *ends, weight="length"), K))
    others = alternatives(graph, *ends)
    for kind, routes in ("shortest", shortest), ("alternatives", others):
        lengths[kind] = [nx.path_weight(graph, route, "length") for route in routes]
        for route, length in zip(routes, lengths[kind], strict=True):
            common = len(set(pairwise(route)) & set(pairwise(shortest[0]))) / (len(route) - 1)
            print(f"{kind:>12}: {length:,} (+{length / lengths[kind][0] - 1:.2%}), {common:.0%} as the shortest")
    draw(graph, others, picture)
    return lengths


if __name__ == "__main__":
    main(*sys.argv[1:])
