"""Batches of a graph and of features that are spread over ranks are those of one process."""

from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks, said_of
from test_learning import random_graph, spread_at
from torch import Tensor

import tgraph as tg
from tgraph.distributed import FeatureRows
from tgraph.sampling import LaborSampler, NeighborSampler

STARTS = {2: (0, 18, 40), 3: (0, 25, 25, 40)}  # a rank may have no vertices
SAMPLERS: dict[str, Any] = {
    "neighbours": lambda graph: NeighborSampler(graph, [3, 2], seed=5),
    "all neighbours": lambda graph: NeighborSampler(graph, [-1, 4], seed=5),
    "with replacement": lambda graph: NeighborSampler(graph, [4, 4], replace=True, seed=5),
    "against arcs": lambda graph: NeighborSampler(graph, [3, 2], direction="out", seed=5),
    "trees": lambda graph: NeighborSampler(graph, [3, 2], disjoint=True, seed=5),
    "by weight": lambda graph: NeighborSampler(graph, [3, 2], weighted=True, seed=5),
    "labor": lambda graph: LaborSampler(graph, [3, 2], seed=5),
}
FIELDS = ("node", "row", "col", "batch", "num_sampled_nodes", "num_sampled_edges")


def batches() -> dict[str, Any]:
    """What a rank has found."""
    ranks, wrong = dist.get_world_size(), []
    for directed in (True, False):
        graph = random_graph(directed, True, num_arcs=400)
        parts = spread_at(graph, STARTS[ranks])
        for name, make in SAMPLERS.items():
            one, sampler = make(graph), make(parts)
            for draw in range(3):
                seeds = torch.arange(40)[dist.get_rank() + draw :: 5]
                seeds = seeds[:0] if draw == dist.get_rank() else seeds  # one takes part without seeds
                wanted, found = one.sample(seeds, draw=draw), sampler.sample(seeds, draw=draw)
                if not all(equal(getattr(found, field), getattr(wanted, field)) for field in FIELDS):
                    wrong.append(f"{name}, directed={directed}, draw {draw}")
    return {"wrong": wrong, "features": features(parts), "trained": train(graph, parts), "refused": refuse(parts)}


def equal(found: Any, wanted: Any) -> bool:
    return torch.equal(found, wanted) if isinstance(wanted, Tensor) else found == wanted


def features(parts: tg.Graph) -> tuple[bool, int, int]:
    """(whether the rows are right, the bytes that came, those of the distinct rows of others)"""
    held = parts.layout.ownership
    whole = torch.arange(80, dtype=torch.float64).view(40, 2)
    store = FeatureRows(parts, held.own(whole))
    vertices = torch.tensor([3, 39, 3, 20, 39, 0, 26])
    others = {int(v) for v in vertices if not held.first <= v < held.end}
    right = torch.equal(store.get(vertices), whole[vertices]) and store.get(vertices[:0]).shape == (0, 2)
    return right, store.bytes_received, 16 * len(others)


def train(graph: tg.Graph, parts: tg.Graph) -> bool:
    """Whether the gradients of a batch are those of one process."""
    held = parts.layout.ownership
    x = torch.randn(40, 4, generator=torch.Generator().manual_seed(1))
    seeds, layer = torch.arange(held.first, held.end), tg.nn.SAGEConv(4, 2)
    found = []
    for where, rows in ((graph, x.__getitem__), (parts, FeatureRows(parts, held.own(x)).get)):
        sample = NeighborSampler(where, [3], seed=1).sample(seeds)
        (block,) = tg.sampling.blocks(sample)
        given = rows(sample.node)
        layer((given, given[: len(seeds)]), block.csr).sum().backward()
        found.append([parameter.grad.clone() for parameter in layer.parameters()])
        layer.zero_grad()
    return all(map(torch.equal, *found))


def refuse(parts: tg.Graph) -> list[str]:
    own = parts.layout.ownership.num_own
    return said_of(
        lambda: NeighborSampler(parts, [2], numbered=True),
        lambda: NeighborSampler(parts, [2], induced=True).sample(torch.arange(3)),
        lambda: NeighborSampler(parts, [2], node_time=torch.arange(40)),
        lambda: FeatureRows(parts, torch.zeros(own + 1, 2)),
        lambda: FeatureRows(parts, torch.zeros(own, 2)).get(torch.tensor([0, 40])),
    )


@pytest.fixture(scope="module", params=[pytest.param(2, marks=pytest.mark.thorough), 3])
def found(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return on_ranks(request.param, batches)


def test_batches_equal_those_of_one_process(found):
    assert [rank["wrong"] for rank in found] == [[]] * len(found)


def test_features_of_other_ranks_are_fetched_once(found):
    for right, received, needed in (rank["features"] for rank in found):
        assert right and received == needed


def test_gradients_of_a_batch_equal_those_of_one_process(found):
    assert all(rank["trained"] for rank in found)


def test_what_has_no_meaning_is_refused(found):
    for numbered, induced, times, rows, vertex in (rank["refused"] for rank in found):
        assert "leave it out" in numbered and "induced=False" in induced and "spread over ranks" in times
        assert rows.startswith("local: expected") and vertex.startswith("vertices[1] is 40")
