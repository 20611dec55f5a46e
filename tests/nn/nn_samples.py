"""Edges and features that layers are tested on, and what both libraries make of them."""

import torch

import tgraph as tg

CONVS = (
    *("GCNConv", "SAGEConv", "GINConv", "GATConv", "GATv2Conv", "TransformerConv"),
    *("GraphConv", "SGConv", "ResGatedGraphConv"),
)
# Vertices by type, and relations between them.
SIZES = {"author": 5, "paper": 7, "venue": 3}
RELATIONS = [
    ("author", "writes", "paper"),
    ("paper", "by", "author"),
    ("paper", "in", "venue"),
    ("paper", "to", "paper"),
]


def edges(kind, seed=0):
    """(edge_index [2, E], number of vertices) of a kind of graph; their last vertex is isolated."""
    random = torch.Generator().manual_seed(seed)
    if kind == "empty":
        return torch.empty((2, 0), dtype=torch.int64), 5
    if kind == "one":
        return torch.tensor([[0], [0]]), 1
    if kind == "loops":
        return torch.tensor([[0, 1, 1, 2, 3, 3], [0, 1, 2, 2, 0, 1]]), 5
    ends = torch.randint(0, 14, (2, 70), generator=random)
    if kind == "hub":
        ends[1, :30] = 3
    if kind == "multi":
        ends = ends[:, ends[0] != ends[1]]
        ends = torch.cat((ends, ends[:, :20], ends[:, :10]), 1)
    return ends, 15


KINDS = ("empty", "one", "loops", "random", "hub", "multi")


def features(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def built(library, name, arguments, options):
    """A layer with the parameters that a seed gives, in float64."""
    torch.default_generator.manual_seed(5)  # torch.manual_seed keeps the stack of each call, for other devices
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return getattr(library, name)(*arguments, **options)
    finally:
        torch.set_default_dtype(before)


def is_data(given):
    return isinstance(given, torch.Tensor) and given.is_floating_point()


def differentiated(layer, x, edge_index, *others, **options):
    """(result, what came with it, [the gradients of x, others and parameters])."""
    inputs = [None if t is None else t.clone().requires_grad_() for t in (x if isinstance(x, tuple) else (x,))]
    others = [t.clone().requires_grad_() if is_data(t) else t for t in others]
    layer.zero_grad()
    result = layer(tuple(inputs) if isinstance(x, tuple) else inputs[0], edge_index, *others, **options)
    extra = None
    if isinstance(result, tuple):
        result, extra = result
    result.backward(features(*result.shape, seed=7))
    leaves = [t for t in (*inputs, *others) if is_data(t)] + list(layer.parameters())
    return result.detach(), extra, [torch.zeros_like(t) if t.grad is None else t.grad for t in leaves]


def close(found, expected, tolerance=1e-10):
    assert found.shape == expected.shape
    assert torch.allclose(found, expected, rtol=tolerance, atol=tolerance), (found - expected).abs().max()


def agree(ours, theirs, x, edge_index, *others, given=None, **options):
    """Both layers give the same result and gradients; the first may be `given` the edges in another form."""
    found = differentiated(ours, x, edge_index if given is None else given, *others, **options)
    expected = differentiated(theirs, x, edge_index, *others, **options)
    close(found[0], expected[0])
    for mine, other in zip(found[2], expected[2], strict=True):
        close(mine, other)
    return found[1], expected[1]


def layers(**options):
    """One of each of our layers, from 6 columns to 4 or 2 x 2, in float64."""
    return {
        "GCNConv": built(tg.nn, "GCNConv", (6, 4), options),
        "SAGEConv": built(tg.nn, "SAGEConv", (6, 4), options),
        "SAGEConv max": built(tg.nn, "SAGEConv", (6, 4), {"aggr": "max", **options}),
        "GINConv": built(tg.nn, "GINConv", (torch.nn.Linear(6, 4, dtype=torch.float64),), options),
        "GATConv": built(tg.nn, "GATConv", (6, 2), {"heads": 2, **options}),
        "GATv2Conv": built(tg.nn, "GATv2Conv", (6, 2), {"heads": 2, **options}),
        "TransformerConv": built(tg.nn, "TransformerConv", (6, 2), {"heads": 2, **options}),
        "GraphConv": built(tg.nn, "GraphConv", (6, 4), options),
        "SGConv": built(tg.nn, "SGConv", (6, 4), {"K": 2, **options}),
        "ResGatedGraphConv": built(tg.nn, "ResGatedGraphConv", (6, 4), options),
        "APPNP": built(tg.nn, "APPNP", (2, 0.1), options),
    }


def same(ours, theirs, x, edge_index, given=None):
    """Both give the same results and gradients for each type; the first may be `given` the edges in another form."""
    found = []
    for layer, edges_of in ((ours, given or edge_index), (theirs, edge_index)):
        layer.zero_grad()
        leaves = {kind: data.clone().requires_grad_() for kind, data in x.items()}
        out = layer(leaves, edges_of)
        sum((data * features(*data.shape, seed=7)).sum() for data in out.values()).backward()
        parameters = {name: data.grad for name, data in layer.named_parameters()}
        found.append((out, {**parameters, **{kind: data.grad for kind, data in leaves.items()}}))
    for data, expected in zip(*found, strict=True):
        assert data.keys() == expected.keys()
        for key, value in data.items():
            if value is None:  # of a parameter that no result depends on
                assert expected[key] is None
            else:
                close(value, expected[key])
