"""Searches and paths, as commands."""

from tgraph.cli import report, routes
from tgraph.cli.command import Algorithm

COMMANDS = {
    "bfs": Algorithm(
        "BFS",
        "Hops from one vertex to every other.",
        report.depths,
        report.column("depth"),
        {"source": None, "max_depth": None},
    ),
    "sssp": Algorithm(
        "SSSP",
        "Shortest distances from one vertex to every other.",
        report.distances,
        report.column("distance"),
        {"source": None, "delta": None},
    ),
    "path": Algorithm(
        "shortest_path",
        "A shortest path from one vertex to another.",
        routes.path,
        routes.path_frame,
        {"source": None, "target": None, "weighted": False},
    ),
    "paths": Algorithm(
        "k_shortest_paths",
        "The shortest paths from one vertex to another, several of them.",
        routes.paths,
        routes.paths_frame,
        {"source": None, "target": None, "count": 3, "weighted": False},
    ),
    "predecessors": Algorithm(
        "predecessors",
        "All arcs on shortest paths from one vertex, reversed.",
        routes.arcs,
        routes.arc_frame,
        {"source": None, "weighted": False},
    ),
    "bellman-ford": Algorithm(
        "bellman_ford",
        "Shortest distances where weights may be negative.",
        routes.tree,
        routes.tree_frame,
        {"source": None},
    ),
    "negative-cycle": Algorithm(
        "negative_cycle",
        "A cycle of negative weight.",
        routes.cycle,
        routes.path_frame,
    ),
    "widest": Algorithm(
        "WidestPath",
        "The most that can pass from one vertex to every other along one path.",
        routes.widths,
        report.column("width"),
        {"source": None},
    ),
    "floyd-warshall": Algorithm(
        "floyd_warshall",
        "Shortest distances between all pairs of a small graph.",
        routes.pairs,
        routes.pairs_frame,
    ),
}
