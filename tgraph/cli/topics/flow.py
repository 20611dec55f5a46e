"""Flows and cuts, as commands."""

from tgraph import algorithms
from tgraph.cli import routes
from tgraph.cli.command import Algorithm

COMMANDS = {
    "flow": Algorithm(
        algorithms.maximum_flow,
        "A maximum flow from one vertex to another; weights are capacities.",
        routes.flow,
        routes.flow_frame,
        ("source", "target"),
    ),
    "cut": Algorithm(
        algorithms.minimum_cut,
        "A minimum cut between two vertices; weights are capacities.",
        routes.cut,
        routes.cut_frame,
        ("source", "target"),
    ),
    "global-cut": Algorithm(
        algorithms.stoer_wagner,
        "A minimum cut of the whole graph.",
        routes.global_cut,
        routes.global_cut_frame,
    ),
}
