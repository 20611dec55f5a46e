"""Who matters in a social network? Its members by six centralities, how far these agree, and who connects groups.

Usage: python examples/networkx/social_network.py [FILE [PICTURE]]
FILE is an edge list, two names a line. Without one: who appears with whom in Les Misérables.
"""

import sys

import matplotlib.pyplot as plt
import networkx as nx
import pandas as pd

SAMPLE = 1000  # sources of betweenness, which is exact where there are no more members


def read(path: str) -> nx.Graph:
    """The network in an edge list, without what members have to do with themselves."""
    graph = nx.read_edgelist(path, data=False)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def centralities(graph: nx.Graph) -> pd.DataFrame:
    """A row for each member, a column for each centrality."""
    columns = {
        "degree": nx.degree_centrality(graph),
        "betweenness": nx.betweenness_centrality(graph, k=min(len(graph), SAMPLE), seed=1),
        "closeness": nx.closeness_centrality(graph),
        "eigenvector": nx.eigenvector_centrality(graph, max_iter=1000, tol=1e-9),
        "pagerank": nx.pagerank(graph, tol=1e-9),
        "core": nx.core_number(graph),
    }
    return pd.DataFrame(columns).round(6)


def connectors(table: pd.DataFrame, count: int = 5) -> pd.DataFrame:
    """Those on more shortest paths than their number of contacts suggests: they connect groups."""
    rank = table.rank(ascending=False, method="min").astype(int)
    ahead = (rank["degree"] - rank["betweenness"])[table["betweenness"] >= table["betweenness"].quantile(0.9)]
    return rank.loc[ahead.sort_values(ascending=False, kind="stable").index[:count], ["degree", "betweenness"]]


def draw(table: pd.DataFrame, named: pd.Index, path: str) -> None:
    """Betweenness over degree: those who connect groups lie above the others with as many contacts."""
    axes = plt.figure(figsize=(7, 6)).add_subplot(xlabel="degree centrality", ylabel="betweenness centrality")
    points = axes.scatter(table["degree"], table["betweenness"], c=table["core"], s=30)
    for name in named:
        place = table.loc[name, ["degree", "betweenness"]]
        axes.annotate(name, place, xytext=(0, 7), textcoords="offset points", ha="center")
    axes.margins(0.12)
    plt.colorbar(points, label="core number")
    plt.savefig(path, dpi=120, bbox_inches="tight")
    plt.close()


def main(path: str = "", picture: str = "centralities.png") -> pd.DataFrame:
    graph = read(path) if path else nx.les_miserables_graph()
    connected = len(max(nx.connected_components(graph), key=len))
    print(f"{len(graph):,} members, {connected:,} of them connected, {graph.number_of_edges():,} ties")
    print(f"of a member's contacts, {nx.average_clustering(graph):.0%} of the pairs know each other\n")
    table = centralities(graph)
    for measure in table.columns[:-1]:
        best = table[measure].sort_values(ascending=False, kind="stable").head(5)
        print(f"{measure:>12}: " + ", ".join(f"{name} {value:.3f}" for name, value in best.items()))
    print("\nhow far they agree (rank correlation):")
    print(table.corr("spearman").round(2).to_string())
    print("\nwho connects groups, by rank:")
    print(connectors(table).to_string())
    draw(table, connectors(table).index, picture)
    print(f"picture: {picture}")
    return table


if __name__ == "__main__":
    main(*sys.argv[1:])
