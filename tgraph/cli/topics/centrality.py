"""Centralities, as commands."""

from tgraph import algorithms
from tgraph.cli import edges, report
from tgraph.cli.command import Algorithm

COMMANDS = {
    "pagerank": Algorithm(
        algorithms.PageRank,
        "PageRank of every vertex.",
        report.ranks,
        report.column("rank"),
        ("damping", "tol", "max_iterations", "weighted"),
    ),
    "hits": Algorithm(
        algorithms.HITS,
        "Hub and authority scores of every vertex.",
        report.hubs,
        report.columns,
        ("tol", "max_iterations", "weighted"),
    ),
    "betweenness": Algorithm(
        algorithms.betweenness,
        "How many shortest paths pass through every vertex.",
        report.ranks,
        report.column("betweenness"),
        ("k", "seed", "normalized", "weighted", "endpoints"),
    ),
    "approximate-betweenness": Algorithm(
        algorithms.approximate_betweenness,
        "Betweenness of every vertex, off by no more than epsilon.",
        report.ranks,
        report.column("betweenness"),
        ("epsilon", "seed"),
    ),
    "edge-betweenness": Algorithm(
        algorithms.edge_betweenness,
        "How many shortest paths go along every edge.",
        edges.ranks,
        edges.column("betweenness"),
        ("k", "seed", "normalized", "weighted"),
    ),
    "load": Algorithm(
        algorithms.load,
        "How much passes through every vertex where all send to all.",
        report.ranks,
        report.column("load"),
        ("weighted", "normalized"),
    ),
    "percolation": Algorithm(
        algorithms.percolation,
        "Betweenness of every vertex where all are percolated alike.",
        report.ranks,
        report.column("percolation"),
        ("weighted",),
    ),
    "degree": Algorithm(
        algorithms.degree_centrality,
        "The share of the other vertices that every vertex is joined to.",
        report.ranks,
        report.column("degree"),
        ("direction",),
    ),
    "closeness": Algorithm(
        algorithms.closeness,
        "The inverse of the mean distance to every vertex.",
        report.ranks,
        report.column("closeness"),
        ("weighted", "wf_improved"),
    ),
    "harmonic": Algorithm(
        algorithms.harmonic,
        "The sum of the inverse distances to every vertex.",
        report.ranks,
        report.column("harmonic"),
        ("weighted",),
    ),
    "eigenvector": Algorithm(
        algorithms.Eigenvector,
        "Eigenvector centrality of every vertex.",
        report.ranks,
        report.column("eigenvector"),
        ("tol", "max_iterations", "weighted"),
    ),
    "katz": Algorithm(
        algorithms.Katz,
        "Katz centrality of every vertex: all walks that end there.",
        report.ranks,
        report.column("katz"),
        ("alpha", "beta", "tol", "max_iterations", "normalized", "weighted"),
    ),
    "laplacian": Algorithm(
        algorithms.laplacian_centrality,
        "How much the Laplacian energy drops without every vertex.",
        report.ranks,
        report.column("laplacian"),
        ("normalized", "weighted"),
    ),
    "subgraph": Algorithm(
        algorithms.subgraph_centrality,
        "Closed walks through every vertex.",
        report.ranks,
        report.column("subgraph"),
        ("normalized", "method"),
    ),
    "current-flow-closeness": Algorithm(
        algorithms.current_flow_closeness,
        "Information centrality: the inverse of the resistances to every vertex.",
        report.ranks,
        report.column("closeness"),
        ("weighted", "method"),
    ),
    "current-flow-betweenness": Algorithm(
        algorithms.current_flow_betweenness,
        "How much of the currents between all pairs flows through every vertex.",
        report.ranks,
        report.column("betweenness"),
        ("weighted", "normalized", "method"),
    ),
    "edge-current-flow-betweenness": Algorithm(
        algorithms.edge_current_flow_betweenness,
        "How much of the currents between all pairs flows along every edge.",
        edges.ranks,
        edges.column("betweenness"),
        ("weighted", "normalized", "method"),
    ),
}
