"""Flows and cuts, as commands."""

from tgraph.cli import routes
from tgraph.cli.command import Algorithm

COMMANDS = {
    "flow": Algorithm(
        "maximum_flow",
        "A maximum flow from one vertex to another; weights are capacities.",
        routes.flow,
        routes.flow_frame,
        {"source": None, "target": None},
    ),
    "cut": Algorithm(
        "minimum_cut",
        "A minimum cut between two vertices; weights are capacities.",
        routes.cut,
        routes.cut_frame,
        {"source": None, "target": None},
    ),
    "global-cut": Algorithm(
        "stoer_wagner",
        "A minimum cut of the whole graph.",
        routes.global_cut,
        routes.global_cut_frame,
    ),
}
