"""Who will be connected next? Scores of pairs by their neighbours, tested on edges that were hidden, as ROC curves.

A tenth of the edges is hidden. A good score puts them before pairs that are not connected; the area under its curve is
how often it does (1/2 by guessing). Usage: python examples/networkx/link_prediction.py [FILE [PICTURE]]
FILE is an edge list. Without one: a random network in which friends of friends are often friends.
"""

import random
import sys

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

HIDDEN = 0.1
SCORES = {
    "Jaccard": nx.jaccard_coefficient,
    "Adamic-Adar": nx.adamic_adar_index,
    "resource allocation": nx.resource_allocation_index,
    "preferential attachment": nx.preferential_attachment,
}
Curve = tuple[np.ndarray, np.ndarray, float]


def hide(graph: nx.Graph) -> tuple[nx.Graph, list[tuple], list[tuple]]:
    """The network without the hidden edges, these, and as many pairs that are not connected."""
    chance, nodes, absent = random.Random(1), list(graph), []
    hidden = chance.sample(list(graph.edges), int(HIDDEN * graph.number_of_edges()))
    while len(absent) < len(hidden):
        u, v = chance.sample(nodes, 2)
        absent += [] if graph.has_edge(u, v) else [(u, v)]
    known = graph.copy()
    known.remove_edges_from(hidden)
    return known, hidden, absent


def roc(good: np.ndarray, bad: np.ndarray) -> Curve:
    """For each threshold the share of bad and of good pairs that score at least as high, and the area under this."""
    thresholds = np.unique(np.concatenate((good, bad)))[::-1]
    x, y = (1 - np.searchsorted(np.sort(scores), thresholds) / len(scores) for scores in (bad, good))
    x, y = np.append(0, x), np.append(0, y)
    return x, y, float(np.diff(x) @ (y[1:] + y[:-1]) / 2)


def draw(curves: dict[str, Curve], path: str) -> None:
    """The curves, with the areas under them."""
    axes = plt.figure(figsize=(6, 6)).add_subplot(xlabel="share of unconnected pairs", ylabel="share of hidden edges")
    for name, (x, y, area) in curves.items():
        axes.plot(x, y, label=f"{name}: {area:.3f}")
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="a guess: 0.500")
    axes.legend(title="area under the curve", loc="lower right")
    plt.savefig(path, dpi=120, bbox_inches="tight")


def main(path: str = "", picture: str = "roc.png") -> dict[str, float]:
    graph = nx.read_edgelist(path, data=False) if path else nx.powerlaw_cluster_graph(2000, 6, 0.8, seed=1)
    print(f"{len(graph):,} nodes, {graph.number_of_edges():,} edges, of which {HIDDEN:.0%} are hidden")
    known, hidden, absent = hide(graph)
    curves = {}
    for name, score in SCORES.items():
        good, bad = (np.array([value for _, _, value in score(known, pairs)]) for pairs in (hidden, absent))
        curves[name] = roc(good.round(9), bad.round(9))
        print(f"{name:>24}: {curves[name][2]:.3f}")
    draw(curves, picture)
    print(f"picture: {picture}")
    return {name: area for name, (_, _, area) in curves.items()}


if __name__ == "__main__":
    main(*sys.argv[1:])
