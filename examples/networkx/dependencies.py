"""In which order can things be built? The dependencies of packages: what needs what, and what could go.

Usage: python examples/networkx/dependencies.py [FILE [PICTURE]]
FILE has a package and one that it needs on each line. Without one: the Python packages installed here. Packages that
need each other in a circle are one step.
"""

import re
import sys
from importlib.metadata import distributions

import matplotlib.pyplot as plt
import networkx as nx
from matplotlib.collections import LineCollection


def read(path: str) -> nx.DiGraph:
    return nx.read_edgelist(path, create_using=nx.DiGraph, data=False)


def installed() -> nx.DiGraph:
    """What the packages of this environment require, extras left out."""

    def name(text: str) -> str:
        return re.match(r"[\w.-]+", text)[0].lower().replace("_", "-")

    found = {name(each.metadata["Name"]): each.requires or [] for each in distributions()}
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(found))
    needs = ((package, name(text)) for package in sorted(found) for text in found[package] if "extra ==" not in text)
    graph.add_edges_from((package, needed) for package, needed in needs if needed in found)
    return graph


def without_circles(graph: nx.DiGraph) -> nx.DiGraph:
    """The graph with each circle as one node, a package by its own name."""
    steps = nx.condensation(graph)
    names = {}
    for step, members in steps.nodes(data="members"):
        names[step] = min(members) if len(members) == 1 else f"{min(members)} and {len(members) - 1} others"
    return nx.relabel_nodes(steps, names)


def draw(steps: nx.DiGraph, stages: list[list], chain: list, path: str) -> None:
    """The stages from left to right, in each those on top that most others need; and the longest chain."""
    at, highest = {}, []
    for x, stage in enumerate(stages):
        upwards = sorted(stage, key=steps.in_degree)
        at |= {step: (x, (place + 0.5) / len(stage)) for place, step in enumerate(upwards)}
        highest.append(upwards[-1])
    axes = plt.figure(figsize=(10, 6)).add_subplot(xticks=range(len(stages)), yticks=[], xlabel="stage")
    axes.add_collection(LineCollection([(at[u], at[v]) for u, v in steps.edges], colors="0.6", linewidths=0.3))
    axes.scatter(*zip(*at.values(), strict=True), s=[8 + 6 * steps.in_degree(step) for step in at], zorder=2)
    axes.plot(*zip(*map(at.get, chain), strict=True), color="C1", marker="o", label="the longest chain")
    for step in {*chain, *highest}:
        axes.annotate(step, at[step], xytext=(7, 5), textcoords="offset points", zorder=3)
    axes.set_xlim(-0.3, len(stages) - 0.3)
    axes.legend(loc="lower right")
    plt.savefig(path, dpi=120, bbox_inches="tight")
    plt.close()


def main(path: str = "", picture: str = "dependencies.png") -> dict[str, object]:
    graph = read(path) if path else installed()
    circles = [sorted(part, key=str) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    steps = without_circles(graph)
    stages = [sorted(stage) for stage in nx.topological_generations(steps.reverse())]
    chain = nx.dag_longest_path(steps)
    wanted = sorted(steps, key=lambda step: (-steps.in_degree(step), step))[:10]
    affected = {step: len(nx.ancestors(steps, step)) for step in wanted}
    needed = set(nx.transitive_reduction(steps).edges)
    implied = [edge for edge in steps.edges if edge not in needed]

    print(f"{len(graph):,} packages with {graph.number_of_edges():,} dependencies, {len(circles)} circles")
    print(f"built in {len(stages)} stages, of {', '.join(str(len(stage)) for stage in stages)} packages")
    print(f"longest chain: {' -> '.join(chain)}")
    print("most needed (directly, and by way of others):")
    for step, count in affected.items():
        print(f"  {step}: {steps.in_degree(step)}, {count}")
    print(f"{len(implied):,} dependencies follow from others: " + ", ".join(f"{u} -> {v}" for u, v in implied[:5]))
    draw(steps, stages, chain, picture)
    print(f"picture: {picture}")
    return {"circles": circles, "stages": stages, "chain": chain, "affected": affected, "implied": implied}


if __name__ == "__main__":
    main(*sys.argv[1:])
