"""Which groups does a network fall into? Communities by Louvain's method, how good they are, and a picture of them.

Usage: python examples/networkx/communities.py [FILE [PICTURE]]
FILE is an edge list. Without one: who appears with whom in Les Misérables, and how often.
"""

import sys

import matplotlib.pyplot as plt
import networkx as nx

TRIES = 10  # Louvain's result depends on chance: the best of these counts


def best_partition(graph: nx.Graph) -> list[set]:
    """The communities of largest modularity, largest first."""
    tries = (nx.community.louvain_communities(graph, seed=seed) for seed in range(TRIES))
    best = max(tries, key=lambda parts: nx.community.modularity(graph, parts))
    return sorted(best, key=lambda part: (-len(part), min(map(str, part))))


def center(graph: nx.Graph, part: set) -> object:
    """Who has most edges inside of a community."""
    return max(sorted(part, key=str), key=graph.subgraph(part).degree)


def draw(graph: nx.Graph, communities: list[set], path: str) -> None:
    """A picture with a colour for each community; in small networks the best connected of each is named."""
    position = nx.forceatlas2_layout(graph, seed=1, max_iter=200)
    color = {node: f"C{i % 10}" for i, part in enumerate(communities) for node in part}
    many = len(graph) > 500
    size = [4 if many else 40 + 12 * degree for _, degree in graph.degree]
    plt.figure(figsize=(9, 9))
    nx.draw_networkx_edges(graph, position, width=0.2 if many else 0.8, alpha=0.1 if many else 0.4)
    nx.draw_networkx_nodes(graph, position, node_size=size, node_color=[color[node] for node in graph], linewidths=0)
    if not many:
        named = [center(graph, part) for part in communities]
        behind = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1}
        names = {node: node for node in named}
        nx.draw_networkx_labels(graph, position, names, font_size=11, verticalalignment="bottom", bbox=behind)
    plt.axis("off")
    plt.savefig(path, dpi=120, bbox_inches="tight")
    plt.close()


def main(path: str = "", picture: str = "communities.png") -> list[set]:
    graph = nx.read_edgelist(path, data=False) if path else nx.les_miserables_graph()
    communities = best_partition(graph)
    coverage, _ = nx.community.partition_quality(graph, communities)
    print(f"{len(communities)} communities of {len(graph):,} nodes and {graph.number_of_edges():,} edges")
    print(f"modularity {nx.community.modularity(graph, communities):.4f}, {coverage:.0%} of the edges inside\n")
    for number, part in enumerate(communities[:10], 1):
        density = nx.density(graph.subgraph(part))
        cut = nx.conductance(graph, part) if len(part) < len(graph) else 0.0
        print(f"{number:3}: {len(part):5} around {center(graph, part)}, density {density:.2f}, conductance {cut:.2f}")
    draw(graph, communities, picture)
    print(f"picture: {picture}")
    return communities


if __name__ == "__main__":
    main(*sys.argv[1:])
