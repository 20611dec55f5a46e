"""Communities, as commands."""

from tgraph import algorithms
from tgraph.cli import report
from tgraph.cli.command import Algorithm

COMMANDS = {
    "communities": Algorithm(
        algorithms.cdlp,
        "Communities by label propagation.",
        report.groups("community", "communities"),
        report.group_column("community"),
        ("iterations",),
    ),
}
