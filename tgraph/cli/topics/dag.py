"""Directed graphs without cycles, as commands."""

from tgraph.cli import report, routes, structure
from tgraph.cli.command import Algorithm

COMMANDS = {
    "topological": Algorithm(
        "topological_sort",
        "The vertices in an order in which every arc leads forward.",
        structure.vertices,
        routes.path_frame,
    ),
    "generations": Algorithm(
        "topological_generations",
        "The most arcs of a path that ends at every vertex.",
        structure.generations,
        report.column("generation"),
    ),
    "cycle": Algorithm(
        "find_cycle",
        "A cycle of arcs.",
        structure.cycle,
        routes.path_frame,
    ),
    "longest-path": Algorithm(
        "dag_longest_path",
        "A longest path of a graph without cycles.",
        routes.path,
        routes.path_frame,
        {"weighted": False},
    ),
    "transitive-closure": Algorithm(
        "transitive_closure",
        "An arc wherever a path leads.",
        routes.arcs,
        routes.arc_frame,
    ),
    "transitive-reduction": Algorithm(
        "transitive_reduction",
        "The arcs that no longer path replaces.",
        routes.arcs,
        routes.arc_frame,
    ),
}
