"""Communities, as commands."""

from tgraph.cli import report
from tgraph.cli.command import Algorithm

COMMANDS = {
    "communities": Algorithm(
        "cdlp",
        "Communities by label propagation.",
        report.groups("community", "communities"),
        report.group_column("community"),
        {"iterations": 10},
    ),
    "label-propagation": Algorithm(
        "label_propagation",
        "Communities by asynchronous label propagation.",
        report.communities,
        report.group_column("community"),
        {"weighted": False, "seed": 0, "iterations": 100},
    ),
    "semi-synchronous-label-propagation": Algorithm(
        "semi_synchronous_label_propagation",
        "Communities by label propagation, colour by colour.",
        report.communities,
        report.group_column("community"),
        {"weighted": False, "iterations": 100},
    ),
    "ecg": Algorithm(
        "ecg",
        "Communities by an ensemble of partitions.",
        report.communities,
        report.group_column("community"),
        {"weighted": False, "min_weight": 0.05, "ensemble_size": 16, "resolution": 1.0, "seed": 0},
    ),
    "louvain": Algorithm(
        "louvain",
        "Communities of high modularity by the Louvain method.",
        report.communities,
        report.group_column("community"),
        {"weighted": False, "resolution": 1.0, "seed": 0, "max_level": None},
    ),
    "leiden": Algorithm(
        "leiden",
        "Connected communities of high modularity by the Leiden method.",
        report.communities,
        report.group_column("community"),
        {"weighted": False, "resolution": 1.0, "seed": 0, "iterations": 2},
    ),
}
