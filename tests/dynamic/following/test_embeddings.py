"""Embeddings that follow a store, against the layers on a snapshot."""

import pytest
import torch
from batches_samples import STEPS, compiled, followed, store_of
from hypothesis import given, settings

import tgraph as tg
from tgraph.dynamic.following.embeddings import outputs

FEATURES = torch.randn(40, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def layers_of(kind):
    torch.manual_seed(1)
    make = {
        "gcn": lambda: tg.nn.GCNConv(4, 4),
        "sage": lambda: tg.nn.SAGEConv(4, 4),
        "sage, max": lambda: tg.nn.SAGEConv(4, 4, aggr="max"),
        "gat": lambda: tg.nn.GATv2Conv(4, 4),
        "gin": lambda: tg.nn.GINConv(torch.nn.Linear(4, 4)),
    }[kind]
    convs = [make().double().eval() for _ in range(2)]
    return [lambda graph, x, conv=conv: conv(x, graph).relu() for conv in convs]


def equal(found, declared, graph):
    torch.testing.assert_close(found, outputs(declared, graph)[-1])


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["gcn", "sage", "sage, max", "gat", "gin"])
@pytest.mark.parametrize("multi", ["last", "keep"])
@pytest.mark.parametrize("directed", [True, False])
@given(steps=STEPS)
@settings(max_examples=min(8, settings().max_examples), deadline=None)
def test_outputs_are_those_on_a_snapshot(directed, multi, kind, steps):
    store = store_of(directed, multi, None)
    declared = tg.dynamic.Embeddings(layers_of(kind), FEATURES)
    followed(store, steps, None, [(tg.dynamic.follow(declared, store), declared)], equal)


@compiled
def test_rows_far_from_a_change_are_not_computed():
    store = store_of(False, "last", None)
    store.insert(torch.arange(2999), torch.arange(1, 3000))
    features = torch.randn(3001, 4, dtype=torch.float64)
    declared = tg.dynamic.Embeddings(layers_of("gcn"), features)
    follower = tg.dynamic.follow(declared, store)
    equal(follower.values, declared, store.snapshot())
    store.insert([7, 3000], [1000, 8])
    equal(follower.values, declared, store.snapshot())
    assert follower.statistics.recomputed is None and follower.statistics.touched < 100 < follower.nbytes
    hub = torch.arange(1, 2500)
    store.insert(torch.zeros_like(hub), hub)
    store.insert([5], [2999])
    equal(follower.values, declared, store.snapshot())


def test_a_store_with_weights_and_too_few_features_are_refused():
    declared = tg.dynamic.Embeddings(layers_of("gcn"), FEATURES[:2])
    with pytest.raises(tg.errors.ArgumentError, match="weights"):
        tg.dynamic.follow(declared, tg.dynamic.Store(torch.float32))
    store = store_of(True, "last", None)
    with pytest.raises(tg.errors.ArgumentError, match="features: 2 rows for 3 vertices"):
        tg.dynamic.follow(declared, store).values  # noqa: B018
