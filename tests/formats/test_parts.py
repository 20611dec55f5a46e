"""Algorithms that pass over the arcs of a layout part by part: as in CSR, and nothing is decoded at once."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from decoding import watched

import tgraph as tg
from tgraph.core.graph import Graph

LABELS = torch.tensor([3, 0, 6, 3, 9, 0] * 4)
ALGORITHMS = {
    "predecessors": lambda graph: tg.algorithms.predecessors(graph, 0, weighted=True),
    "modularity": lambda graph: tg.algorithms.modularity(graph, LABELS, weighted=True),
    "community_cuts": lambda graph: tg.algorithms.community_cuts(graph, LABELS),
    "partition_quality": lambda graph: tg.algorithms.partition_quality(graph, LABELS),
    "quotient_graph": lambda graph: tg.algorithms.quotient_graph(graph, LABELS),
    "reciprocity": lambda graph: tg.algorithms.reciprocity(graph, per_vertex=True),
    "attribute_assortativity": lambda graph: tg.algorithms.attribute_assortativity(graph, LABELS),
    "rich_club_coefficient": tg.algorithms.rich_club_coefficient,
    "odd_cycle": tg.algorithms.odd_cycle,
}
UNDIRECTED = ("rich_club_coefficient", "odd_cycle")


def tensors(found: Any) -> list[torch.Tensor]:
    if isinstance(found, Graph):
        return [found.to_edge_index(), found.weights]
    return [torch.as_tensor(each) for each in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("layout", ["coo", "elias_fano", "sell"])
def test_algorithms_in_parts(layout: str, directed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(2):
        generator = torch.Generator().manual_seed(seed)
        ends = torch.randint(20, (2, 60 * seed), generator=generator)  # without arcs, too
        weights = torch.randint(1, 9, (60 * seed,), generator=generator) / 4
        graph = Graph.from_edges(*ends, weights.double(), num_vertices=24, directed=directed)
        held = graph.to_format(layout)
        monkeypatch.setattr(type(held.layout), "arcs_at_once", 7)
        for name, algorithm in ALGORITHMS.items():
            if directed and name in UNDIRECTED:
                continue
            with watched() as decoded:
                found = tensors(algorithm(held))
            assert not decoded, name
            torch.testing.assert_close(found, tensors(algorithm(graph)), rtol=1e-12, atol=0, equal_nan=True)
    path = tg.generators.path(30)
    assert torch.equal(*(tg.algorithms.bipartite_color(each) for each in (path, path.to_format(layout))))
    assert tg.algorithms.is_bipartite(path.to_format(layout))
