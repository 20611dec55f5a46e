"""Structure, as commands."""

from tgraph.cli import mixing, report, routes
from tgraph.cli.command import Algorithm

COMMANDS = {
    "ego": Algorithm(
        "ego_graph",
        "The graph around one vertex.",
        routes.arcs,
        routes.arc_frame,
        {"source": None, "radius": 1},
    ),
    "complement": Algorithm(
        "complement",
        "The graph of all edges that are missing.",
        routes.arcs,
        routes.arc_frame,
    ),
    "line": Algorithm(
        "line_graph",
        "The graph whose vertices are the edges.",
        mixing.line,
        mixing.line_frame,
    ),
    "degrees": Algorithm(
        "degree_distribution",
        "How many vertices have each degree, and the power law that fits it.",
        mixing.degrees,
        mixing.degrees_frame,
    ),
    "assortativity": Algorithm(
        "degree_assortativity",
        "The correlation of the degrees at both ends of the edges.",
        routes.number("degree assortativity"),
        routes.number_frame("assortativity"),
        {"weighted": False},
    ),
    "neighbor-degree": Algorithm(
        "average_neighbor_degree",
        "The average degree of the neighbours of every vertex.",
        report.ranks,
        report.column("degree"),
        {"weighted": False},
    ),
    "reciprocity": Algorithm(
        "reciprocity",
        "The share of arcs whose reverse is there, too.",
        routes.number("reciprocity"),
        routes.number_frame("reciprocity"),
    ),
}
