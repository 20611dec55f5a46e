"""Structure, as commands."""

from tgraph import algorithms
from tgraph.cli import mixing, report, routes
from tgraph.cli.command import Algorithm

COMMANDS = {
    "ego": Algorithm(
        algorithms.ego_graph,
        "The graph around one vertex.",
        routes.arcs,
        routes.arc_frame,
        ("source", "radius"),
    ),
    "complement": Algorithm(
        algorithms.complement,
        "The graph of all edges that are missing.",
        routes.arcs,
        routes.arc_frame,
    ),
    "line": Algorithm(
        algorithms.line_graph,
        "The graph whose vertices are the edges.",
        mixing.line,
        mixing.line_frame,
    ),
    "degrees": Algorithm(
        algorithms.degree_distribution,
        "How many vertices have each degree, and the power law that fits it.",
        mixing.degrees,
        mixing.degrees_frame,
    ),
    "assortativity": Algorithm(
        algorithms.degree_assortativity,
        "The correlation of the degrees at both ends of the edges.",
        routes.number("degree assortativity"),
        routes.number_frame("assortativity"),
        ("weighted",),
    ),
    "neighbor-degree": Algorithm(
        algorithms.average_neighbor_degree,
        "The average degree of the neighbours of every vertex.",
        report.ranks,
        report.column("degree"),
        ("weighted",),
    ),
    "reciprocity": Algorithm(
        algorithms.reciprocity,
        "The share of arcs whose reverse is there, too.",
        routes.number("reciprocity"),
        routes.number_frame("reciprocity"),
    ),
}
