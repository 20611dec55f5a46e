"""Components, as commands."""

from tgraph import algorithms
from tgraph.cli import report
from tgraph.cli.command import Algorithm

COMMANDS = {
    "wcc": Algorithm(
        algorithms.WCC,
        "Weakly connected components.",
        report.groups("component", "components"),
        report.group_column("component"),
    ),
}
