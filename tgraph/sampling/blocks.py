"""Sampled neighbourhoods as a bipartite graph for each layer, for models on plain tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.errors import ArgumentError
from tgraph.sampling.output import SamplerOutput


@dataclass(frozen=True)
class Block:
    """The arcs of one layer, a bipartite graph from sources to destinations. For a heterogeneous graph each field is a
    dictionary, by type of edges or of vertices.

    csr : destinations as rows, sources as columns, numbered by their positions in the lists; with the weights of the
    arcs, if the sampler returns weights.
    source, destination : int64, the vertices; the destinations are the first sources.
    edge : int64 [e], the number of each arc in the graph; None without numbers.

    >>> graph = tg.generators.star(3)
    >>> sample = tg.sampling.NeighborSampler(graph, [2]).sample([0])
    >>> block = tg.sampling.blocks(sample)[0]
    >>> block.destination, block.csr.offset
    (tensor([0]), tensor([0, 2]))
    """

    csr: Csr | Mapping[Any, Csr]
    source: Any
    destination: Any
    edge: Any

    def __repr__(self) -> str:
        return f"Block({self.csr})"


def blocks(sample: SamplerOutput) -> list[Block]:
    """A block for each hop of a `sample`, in the order of the layers of a model: the sources of the first block are all
    vertices, the destinations of the last block are the seeds.

        for layer, block in zip(layers, tg.sampling.blocks(sampler.sample(seeds))):
            x = layer(x, block.csr)

    The arcs of a vertex are the same in all layers with the vertex as destination: blocks are views of the same
    tensors. Raises ArgumentError for samples with induced=True or direction="out".

    >>> graph = tg.Graph.from_edges([1, 2, 3], [0, 1, 2])
    >>> sample = tg.sampling.NeighborSampler(graph, [-1, -1]).sample([0])
    >>> [(block.source.tolist(), block.destination.tolist()) for block in tg.sampling.blocks(sample)]
    [([0, 1, 2], [0, 1]), ([0, 1], [0])]
    """
    is_hetero = isinstance(sample.node, Mapping)
    only = ("", "", "")
    by_node = lambda values: values if is_hetero else {"": values}  # noqa: E731
    by_edge = lambda values: values if is_hetero else {only: values}  # noqa: E731
    node, sizes = by_node(sample.node), _sums(by_node(sample.num_sampled_nodes))
    row = by_edge(sample.row)
    edge, weight = (dict.fromkeys(row) if part is None else by_edge(part) for part in (sample.edge, sample.weight))
    counts = by_edge(sample.num_sampled_edges)
    if any(count is None for count in counts.values()):
        raise ArgumentError("sample: its arcs are of no hop; sample with induced=False")
    counts = _sums(counts)
    offset = {kind: _offset(col, len(node[kind[2]])) for kind, col in by_edge(sample.col).items()}
    hops = max((len(count) for count in counts.values()), default=0)
    found = []
    for hop in range(hops - 1, -1, -1):
        source = {kind: node[kind][: size[hop + 1]] for kind, size in sizes.items()}
        target = {kind: node[kind][: size[hop]] for kind, size in sizes.items()}
        csr, arcs = {}, {}
        for kind, count in counts.items():
            begins, neighbors = offset[kind][: len(target[kind[2]]) + 1], row[kind][: count[hop]]
            edges, weights = (None if part is None else part[: count[hop]] for part in (edge[kind], weight[kind]))
            csr[kind] = Csr.unchecked(begins, neighbors, None, len(source[kind[0]]), weights)
            arcs[kind] = edges
        found.append(
            Block(csr, source, target, arcs) if is_hetero else Block(csr[only], source[""], target[""], arcs[only])
        )
    return found


def _sums(counts: Mapping[Any, list[int]]) -> dict[Any, list[int]]:
    """The running sums of the counts of hops."""
    return {kind: torch.tensor(count, dtype=torch.int64).cumsum(0).tolist() for kind, count in counts.items()}


def _offset(columns: Tensor, size: int) -> Tensor:
    """The offset of the arcs of each of `size` columns, int64 [size + 1]."""
    if bool((columns.diff() < 0).any()):
        raise ArgumentError("sample: its arcs are not in the order of their destinations; sample with direction='in'")
    return torch.searchsorted(columns, torch.arange(size + 1, device=columns.device))
