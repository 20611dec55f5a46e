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
    "label-propagation": Algorithm(
        algorithms.label_propagation,
        "Communities by asynchronous label propagation.",
        report.communities,
        report.group_column("community"),
        ("weighted", "seed", "iterations"),
    ),
    "semi-synchronous-label-propagation": Algorithm(
        algorithms.semi_synchronous_label_propagation,
        "Communities by label propagation, colour by colour.",
        report.communities,
        report.group_column("community"),
        ("weighted", "iterations"),
    ),
    "ecg": Algorithm(
        algorithms.ecg,
        "Communities by an ensemble of partitions.",
        report.communities,
        report.group_column("community"),
        ("weighted", "min_weight", "ensemble_size", "resolution", "seed"),
    ),
    "louvain": Algorithm(
        algorithms.louvain,
        "Communities of high modularity by the Louvain method.",
        report.communities,
        report.group_column("community"),
        ("weighted", "resolution", "seed", "max_level"),
    ),
    "leiden": Algorithm(
        algorithms.leiden,
        "Connected communities of high modularity by the Leiden method.",
        report.communities,
        report.group_column("community"),
        ("weighted", "resolution", "seed", "iterations"),
    ),
}
