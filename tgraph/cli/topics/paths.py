"""Searches and paths, as commands."""

from tgraph import algorithms
from tgraph.cli import report, routes
from tgraph.cli.command import Algorithm

COMMANDS = {
    "bfs": Algorithm(
        algorithms.BFS,
        "Hops from one vertex to every other.",
        report.depths,
        report.column("depth"),
        ("source", "max_depth"),
    ),
    "sssp": Algorithm(
        algorithms.SSSP,
        "Shortest distances from one vertex to every other.",
        report.distances,
        report.column("distance"),
        ("source", "delta"),
    ),
    "path": Algorithm(
        algorithms.shortest_path,
        "A shortest path from one vertex to another.",
        routes.path,
        routes.path_frame,
        ("source", "target", "weighted"),
    ),
    "paths": Algorithm(
        algorithms.k_shortest_paths,
        "The shortest paths from one vertex to another, several of them.",
        routes.paths,
        routes.paths_frame,
        ("source", "target", "count", "weighted"),
    ),
    "predecessors": Algorithm(
        algorithms.predecessors,
        "All arcs on shortest paths from one vertex, reversed.",
        routes.arcs,
        routes.arc_frame,
        ("source", "weighted"),
    ),
    "bellman-ford": Algorithm(
        algorithms.bellman_ford,
        "Shortest distances where weights may be negative.",
        routes.tree,
        routes.tree_frame,
        ("source",),
    ),
    "negative-cycle": Algorithm(
        algorithms.negative_cycle,
        "A cycle of negative weight.",
        routes.cycle,
        routes.path_frame,
    ),
    "widest": Algorithm(
        algorithms.WidestPath,
        "The most that can pass from one vertex to every other along one path.",
        routes.widths,
        report.column("width"),
        ("source",),
    ),
    "floyd-warshall": Algorithm(
        algorithms.floyd_warshall,
        "Shortest distances between all pairs of a small graph.",
        routes.pairs,
        routes.pairs_frame,
    ),
}
