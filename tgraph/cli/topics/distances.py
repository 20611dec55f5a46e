"""Eccentricities and what follows from them, as commands."""

from tgraph.cli import report, routes
from tgraph.cli.command import Algorithm

COMMANDS = {
    "eccentricity": Algorithm(
        "eccentricity",
        "How far the vertex farthest from each lies.",
        routes.span,
        report.column("eccentricity"),
        {"weighted": False},
    ),
    "diameter": Algorithm(
        "diameter",
        "The largest distance between two vertices.",
        routes.number("diameter"),
        routes.number_frame("diameter"),
        {"weighted": False},
    ),
    "radius": Algorithm(
        "radius",
        "The least eccentricity.",
        routes.number("radius"),
        routes.number_frame("radius"),
        {"weighted": False},
    ),
    "center": Algorithm(
        "center",
        "The vertices from which no other lies farther than the radius.",
        routes.members,
        routes.path_frame,
        {"weighted": False},
    ),
    "periphery": Algorithm(
        "periphery",
        "The vertices from which another lies as far as the diameter.",
        routes.members,
        routes.path_frame,
        {"weighted": False},
    ),
}
