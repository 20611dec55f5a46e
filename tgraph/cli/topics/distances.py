"""Eccentricities and what follows from them, as commands."""

from tgraph import algorithms
from tgraph.cli import report, routes
from tgraph.cli.command import Algorithm

COMMANDS = {
    "eccentricity": Algorithm(
        algorithms.eccentricity,
        "How far the vertex farthest from each lies.",
        routes.span,
        report.column("eccentricity"),
        ("weighted",),
    ),
    "diameter": Algorithm(
        algorithms.diameter,
        "The largest distance between two vertices.",
        routes.number("diameter"),
        routes.number_frame("diameter"),
        ("weighted",),
    ),
    "radius": Algorithm(
        algorithms.radius,
        "The least eccentricity.",
        routes.number("radius"),
        routes.number_frame("radius"),
        ("weighted",),
    ),
    "center": Algorithm(
        algorithms.center,
        "The vertices from which no other lies farther than the radius.",
        routes.members,
        routes.path_frame,
        ("weighted",),
    ),
    "periphery": Algorithm(
        algorithms.periphery,
        "The vertices from which another lies as far as the diameter.",
        routes.members,
        routes.path_frame,
        ("weighted",),
    ),
}
