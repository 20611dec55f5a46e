"""Graphs that stream from memory or a file, for the tests of streaming."""

import torch

import tgraph as tg
from tgraph.core.graph import Graph
from tgraph.stream.run.budget import vertex_bytes
from tgraph.stream.run.host import HostBlocks
from tgraph.stream.run.streamed import Streamed

CPU = torch.device("cpu")


def equal_bounds(graph, blocks):
    """Blocks that end wherever so many equal shares of the arcs do, inside of rows too."""
    return torch.arange(blocks + 1) * graph.num_arcs // blocks


def streamed(graph, blocks=7, buffers=1, source=None, slack=0, device=CPU):
    """The graph in so many blocks, with memory for some of them besides the data of the vertices; blocks are computed
    on the device."""
    source = source or HostBlocks(graph, equal_bounds(graph, blocks), equal_bounds(graph, blocks))
    size = max(extent.nbytes for extent in source.index)
    layout = Streamed(source, vertex_bytes(source) + buffers * size + slack, device)
    return Graph.of_storage(layout, graph.vertices, graph.directed, graph.order)


def loads(graph):
    """How many blocks have been loaded."""
    return graph.layout.counts.loads


class Faulty(HostBlocks):
    """Blocks of which one cannot be read."""

    def __init__(self, graph, blocks, fault, bad):
        super().__init__(graph, equal_bounds(graph, blocks))
        self.fault, self.bad = fault, bad

    def fetch(self, block, memory):
        if block == self.bad:
            raise self.fault
        super().fetch(block, memory)


def cliques(count, size, *, directed=False, extra=20):
    """Cliques with self-loops, whose rows are equal, and some arcs between them."""
    member = torch.arange(count * size).view(count, size)
    src, dst = member[:, :, None].expand(-1, -1, size).flatten(), member[:, None].expand(-1, size, -1).flatten()
    more = torch.randint(count * size, (2, extra), generator=torch.Generator().manual_seed(2))
    return tg.Graph.from_edges(
        torch.cat((src, more[0])), torch.cat((dst, more[1])), directed=directed, num_vertices=count * size + 1
    )
