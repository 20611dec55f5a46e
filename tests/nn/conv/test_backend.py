"""Layers by the kernels of a backend that is named."""

import pytest
import torch
from nn_samples import built, close, differentiated, edges, features
from strategies import refused

import tgraph as tg
from tgraph.kernels import watched

EDGES, N = edges("multi")
E, DEG = EDGES.shape[1], torch.ones(9, dtype=torch.int64)


def linear(columns):
    return built(torch.nn, "Linear", (columns, 6), {})


# (class, arguments, options, what forward takes beside x and the edges)
LAYERS = {
    "GCNConv": ("GCNConv", (6, 4), {}, ()),
    "GCNConv weighted": ("GCNConv", (6, 4), {}, (features(E).abs(),)),
    "SAGEConv": ("SAGEConv", (6, 4), {}, ()),
    "SAGEConv max": ("SAGEConv", (6, 4), {"aggr": "max"}, ()),
    "GraphConv": ("GraphConv", (6, 4), {}, (features(E),)),
    "GINConv": ("GINConv", (linear(6),), {}, ()),
    "SGConv": ("SGConv", (6, 4), {"K": 2}, ()),
    "APPNP": ("APPNP", (2, 0.1), {}, ()),
    "RGCNConv": ("RGCNConv", (6, 4, 2), {}, (torch.arange(E) % 2,)),
    "PNAConv": ("PNAConv", (6, 4, ["mean", "max", "std"], ["identity"], DEG), {}, ()),
    "PNAConv edges": ("PNAConv", (6, 4, ["mean", "min"], ["linear"], DEG), {"edge_dim": 3}, (features(E, 3),)),
    "GINEConv": ("GINEConv", (linear(6),), {"edge_dim": 3}, (features(E, 3),)),
    "EdgeConv": ("EdgeConv", (linear(12),), {}, ()),
    "ResGatedGraphConv": ("ResGatedGraphConv", (6, 4), {}, ()),
}


@pytest.mark.parametrize("backend", ["portable", "native"])
@pytest.mark.parametrize("name", LAYERS)
def test_aggregates_run_on_the_backend_that_a_layer_names(name, backend):
    kind, arguments, options, others = LAYERS[name]
    plain, named = (built(tg.nn, kind, arguments, {**options, **given}) for given in ({}, {"backend": backend}))
    named.load_state_dict(plain.state_dict())
    x = features(N, 6)
    with watched() as seen:
        named(x, EDGES, *others)
    served = [choice for choice in seen if choice.operator == "aggregate"]
    assert served and all(choice.is_by(backend) for choice in served)
    found, expected = (differentiated(layer, x, EDGES, *others) for layer in (named, plain))
    close(found[0], expected[0])
    for one, other in zip(found[2], expected[2], strict=True):
        close(one, other)


@pytest.mark.parametrize("name", ["SAGEConv", "GINEConv"])
def test_features_of_16_bits_and_transforms(name):
    kind, arguments, options, others = LAYERS[name]
    layer, x = built(tg.nn, kind, arguments, {**options, "backend": "native"}), features(N, 6)
    slopes = [torch.func.jvp(lambda x: layer(x, EDGES, *others), (x,), (x,))[1]]
    layer.backend = "auto"
    slopes.append(torch.func.jvp(lambda x: layer(x, EDGES, *others), (x,), (x,))[1])
    assert torch.equal(*slopes)
    layer.backend = "portable"
    with watched() as seen:
        layer.float()(
            features(N, 6).to(torch.bfloat16 if name == "SAGEConv" else torch.float32),
            EDGES,
            *(each.float() for each in others),
        )
    assert {choice.backend.name for choice in seen if choice.operator == "aggregate"} == {"portable"}


def test_a_backend_of_ones_own_and_the_one_of_a_run():
    graph, x, calls = tg.generators.path(4), torch.rand(4, 2), []

    def by_columns(sub, data, reduce, edge, weights, dtype):
        calls.append(reduce)
        return tg.aggregate(sub, data, reduce, edge=edge, weights=weights, backend="portable")

    tg.backends.register("mine", by_columns)
    try:
        layer = tg.nn.SAGEConv(2, 2, backend="mine")
        close(layer(x, graph), built_like(layer)(x, graph), 1e-6)
    finally:
        tg.backends.unregister("mine")
    assert calls == ["mean"]


def built_like(layer):
    other = tg.nn.SAGEConv(2, 2)
    other.load_state_dict(layer.state_dict())
    return other


def test_what_is_refused():
    refused("backend: 'gpu' is not one of 'auto', ", tg.nn.GCNConv, 2, 2, backend="gpu")
    for kind in ("GATConv", "GATv2Conv", "TransformerConv"):
        refused(f"backend: 'portable' has no attention, and {kind}", getattr(tg.nn, kind), 2, 2, backend="portable")
    metadata = (["a"], [("a", "to", "a")])
    refused("has no attention, and HGTConv", tg.nn.HGTConv, 2, 2, metadata, backend="native")
    layer = tg.nn.SAGEConv(2, 2, backend="cuda")
    refused("backend: 'cuda' does not serve", layer, torch.ones(3, 2), tg.generators.path(3))
    assert tg.model.operators.running_on.get() == "auto"
