"""An algorithm of your own in ten lines: widest paths, the largest load that can travel from one vertex to another.

A path is as wide as its narrowest edge. Among all paths the widest counts: value[v] = max over arcs u -> v of
min(value[u], weight). Usage: python examples/widest_path.py [FILE]

Without a file: a town whose streets have different widths. The picture shows its districts, each behind a bottleneck.
"""

import sys

import torch

import tgraph as tg


class WidestPath(tg.Relaxation):
    """The width of the widest path from the source: [n], 0 where there is none."""

    reduce, edge = "max", "min"

    def __init__(self, source: int):
        self.source = source

    def init(self, graph):
        width = torch.zeros(graph.num_vertices, dtype=torch.float64)
        width[self.source] = torch.inf
        return width, graph.select(self.source)


def town(crossings: int = 1000) -> tuple[tg.Graph, torch.Tensor]:
    """Crossings at random places, streets to those nearby, of widths from 1 to 255; and the places [n, 2]."""
    near, places = tg.generators.random_geometric(crossings, 0.055, seed=1)
    source, target = near.to_edge_index()[:, near.to_edge_index()[0] < near.to_edge_index()[1]]
    width = torch.randint(1, 256, source.shape, generator=torch.Generator().manual_seed(0))
    return tg.Graph.from_edges(source, target, width, num_vertices=crossings, directed=False), places


def main() -> None:
    graph, places = (tg.read(sys.argv[1]), None) if len(sys.argv) > 1 else town()
    if graph.weights is None:
        sys.exit("widest paths need a graph with weights")
    print(graph)

    source, degree = graph.top(graph.out_degree, 1)[0]
    run = tg.run(WidestPath(graph.index(source)), graph)
    reached = int((run.values > 0).sum()) - 1
    print(f"from vertex {source} with {degree} edges: {reached} others reached in {run.iterations} iterations")
    print("the best connected by width:")
    others = run.values.masked_fill(run.values.isinf(), 0)
    for vertex, width in graph.top(others, 5):
        print(f"  {vertex}: {width:g}")

    # The definition itself is the check: no arc can improve any vertex.
    offered = tg.aggregate(graph, run.values, "max", edge="min")
    assert bool((offered <= run.values).all())
    print("checked: no arc improves any vertex")

    width = torch.where(run.values.isinf(), others.max(), run.values)
    tg.draw(graph, "widest_path.png", color=width, positions=places, inches=8)
    print("picture: widest_path.png")


if __name__ == "__main__":
    main()
