"""Layers with any constructor arguments, dtypes and inputs, right and wrong ones, against PyTorch Geometric's: value,
gradients, dtype and exception."""

import copy
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nn_samples import is_data

import tgraph as tg
from tgraph.errors import TGraphError

theirs = pytest.importorskip("torch_geometric.nn")

FLOATS = (torch.float32, torch.float64)
DTYPES = (*FLOATS, torch.float16, torch.bfloat16, torch.int64)
CLOSE = {torch.float16: 3e-2, torch.bfloat16: 2e-1, torch.float32: 1e-3, torch.float64: 1e-9}

AGGREGATIONS = {"aggr": ("add", "mean", "max", "min")}
ATTENTION = {
    "heads": (1, 2, 3),
    "concat": (True, False),
    "edge_dim": (None, None, 1, 3),
    "bias": (True, False),
}
WITH_LOOPS = {
    "add_self_loops": (True, False),
    "fill_value": ("mean", "add", "min", "max", "mul", 0.5),
    "negative_slope": (0.2, 0.0),
    "residual": (True, False),
}
NORMALISED = {"add_self_loops": (True, False), "normalize": (True, True, False)}

# The options of each layer, and what its forward takes beside x and edge_index.
LAYERS = {
    "GCNConv": ({**NORMALISED, "improved": (True, False), "bias": (True, False), **AGGREGATIONS}, "weight"),
    "SGConv": ({"K": (0, 1, 2), "add_self_loops": (True, False), "bias": (True, False)}, "weight"),
    "APPNP": (NORMALISED, "weight"),
    "GraphConv": ({"bias": (True, False), **AGGREGATIONS}, "weight"),
    "SAGEConv": (
        {**dict.fromkeys(("normalize", "root_weight", "project", "bias"), (True, False)), **AGGREGATIONS},
        None,
    ),
    "GINConv": ({"eps": (0.0, 0.5), "train_eps": (True, False), **AGGREGATIONS}, None),
    "GINEConv": ({"eps": (0.0, 0.5), "train_eps": (True, False), "edge_dim": (None, 1, 3)}, "attr"),
    "GATConv": ({**ATTENTION, **WITH_LOOPS}, "attr"),
    "GATv2Conv": ({**ATTENTION, **WITH_LOOPS, "share_weights": (True, False)}, "attr"),
    "TransformerConv": ({**ATTENTION, "beta": (True, False), "root_weight": (True, False)}, "attr"),
    "ResGatedGraphConv": ({"edge_dim": (None, None, 3), "root_weight": (True, False), "bias": (True, False)}, "attr"),
    "RGCNConv": (
        {"num_bases": (None, 2), "root_weight": (True, False), "bias": (True, False), **AGGREGATIONS},
        "type",
    ),
    "EdgeConv": (AGGREGATIONS, None),
    "PNAConv": ({"edge_dim": (None, 3), "towers": (1, 2), "divide_input": (True, False)}, "attr"),
}
PAIRS = ("GraphConv", "SAGEConv", "GINConv", "GINEConv", "GATConv", "GATv2Conv", "TransformerConv", "EdgeConv")


def arguments(draw, name, columns, wide):
    """The positional arguments of a layer from so many columns to `wide`."""
    if name == "APPNP":
        return draw(st.integers(0, 3)), 0.1
    if name in ("GINConv", "GINEConv", "EdgeConv"):
        return (torch.nn.Linear(columns * (1 + (name == "EdgeConv")), wide),)
    if name == "PNAConv":
        of = draw(st.lists(st.sampled_from(("sum", "mean", "min", "max", "var", "std")), min_size=1, max_size=3))
        scalers = draw(st.lists(st.sampled_from(("identity", "amplification", "linear")), min_size=1, max_size=2))
        return columns, wide, of, scalers, torch.tensor([1, 3, 2])
    return (columns, wide, 3) if name == "RGCNConv" else (columns, wide)


@st.composite
def cases(draw):
    """(name, arguments, options, dtype of the parameters, inputs)."""
    name = draw(st.sampled_from(sorted(LAYERS)))
    choices, takes = LAYERS[name]
    options = {key: draw(st.sampled_from(values)) for key, values in choices.items()}
    pair = name in PAIRS and draw(st.booleans())
    if not pair:
        options["flow"] = draw(st.sampled_from(("source_to_target", "target_to_source")))
    columns, wide = draw(st.sampled_from((2, 4, 6))), draw(st.sampled_from((2, 6)))
    dtype = draw(st.sampled_from(FLOATS))
    random = torch.Generator().manual_seed(draw(st.integers(0, 99)))

    def data(rows, width, of):
        drawn = torch.rand((rows, width), generator=random, dtype=torch.float64) + 0.1
        return (drawn * 8).to(of) if of == torch.int64 else drawn.to(of)

    # Right inputs three times as often as others
    x_dtype = draw(st.sampled_from((dtype, dtype, dtype, *DTYPES)))
    given = draw(st.sampled_from((columns, columns, columns, columns, columns, columns + 1)))
    sources, targets = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    arcs = draw(st.sampled_from((0, 1, 5, 20)))
    targets = targets if pair else sources
    ends = [torch.randint(0, n, (arcs,), generator=random) for n in (sources, targets)]
    x = (data(sources, given, x_dtype), data(targets, given, x_dtype)) if pair else data(sources, given, x_dtype)
    beside = draw(st.sampled_from((dtype, dtype, dtype, *DTYPES)))
    others = ()
    if takes == "weight" and draw(st.booleans()):
        others = (data(arcs, 1, beside)[:, 0],)
    if takes == "attr":
        edge_dim = options.get("edge_dim")
        width = columns if name == "GINEConv" and edge_dim is None else edge_dim
        if draw(st.integers(0, 7)) == 0:
            width = draw(st.sampled_from((None, 2)))
        others = (None if width is None else data(arcs, width, beside),)
    if takes == "type":
        others = (torch.randint(-(draw(st.integers(0, 9)) == 0), 3, (arcs,), generator=random),)
    return name, arguments(draw, name, columns, wide), options, dtype, (x, torch.stack(ends), *others)


def outcome(library, name, given, options, dtype, inputs, state=None):
    """(the layer, its result and the gradients by name, None) or (the layer, None, the exception)."""
    layer = None
    try:
        torch.default_generator.manual_seed(3)
        layer = getattr(library, name)(*copy.deepcopy(given), **options).to(dtype)
        if state is not None:
            layer.load_state_dict(state)
        x, edge_index, *others = copy.deepcopy(inputs)
        leaves = {f"x[{i}]": each for i, each in enumerate(x if isinstance(x, tuple) else (x,)) if is_data(each)}
        leaves |= {f"others[{i}]": each for i, each in enumerate(others) if is_data(each)}
        for each in leaves.values():
            each.requires_grad_()
        leaves |= dict(layer.named_parameters())
        out = layer(x, edge_index, *others)
        if out.requires_grad:
            weigh = torch.cos(torch.arange(out.numel(), dtype=torch.float64)).view(out.shape)
            (out.double() * weigh).sum().backward()
        grads = {key: each.grad for key, each in leaves.items() if each.grad is not None}
        return layer, (out.detach(), grads), None
    except Exception as error:
        return layer, None, error


def differs(found, expected, dtypes):
    """The difference between two results of `outcome`, or None."""
    (out, grads), (other, others) = found, expected
    if out.dtype != other.dtype or out.shape != other.shape:
        return f"{out.dtype} {list(out.shape)}, expected {other.dtype} {list(other.shape)}"
    near = max(CLOSE.get(dtype, 0) for dtype in (*dtypes, out.dtype))
    for key in ("result", *others):
        one, two = (out, other) if key == "result" else (grads.get(key), others[key])
        one = torch.zeros_like(two) if one is None else one
        one, two = one.double(), two.double()
        scale = max(1.0, float(two.abs().max())) if two.numel() else 1.0
        if not torch.allclose(one, two, rtol=near, atol=near * scale, equal_nan=True):
            return f"{key}: {(one - two).abs().max():.1e}"
    return None


def fault(name, given, options, dtype, inputs):
    """The fault of a layer of ours beside PyTorch Geometric's, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer, expected, refusal = outcome(theirs, name, given, options, dtype, inputs)
        state = None if layer is None else {key: each.clone() for key, each in layer.state_dict().items()}
        _, found, error = outcome(tg.nn, name, given, options, dtype, inputs, state)
    if error is not None:
        if name == "PNAConv" and options["edge_dim"] and isinstance(error, TGraphError):
            return None  # features of edges widen those of vertices there, by accident: without them they raise
        if refusal is None:
            return f"raises {error!r}"
        same = type(error) is type(refusal) and str(error) == str(refusal)  # of a module of the user's
        return None if isinstance(error, TGraphError) or same else f"raises {error!r}, as they {refusal!r}"
    if refusal is not None:
        return None
    x, (source, target), *others = inputs
    loops = source[source == target]
    if len(loops) > len(loops.unique()):  # only the last loop of a vertex counts; they give all of them a gradient
        expected[1].pop("others[0]", None)
    read = [*(x if isinstance(x, tuple) else (x,)), *(each for each in others if each is not None)]
    return differs(found, expected, [each.dtype for each in read])


@pytest.mark.thorough
@settings(max_examples=3000)
@given(cases())
def test_any_layer_at_length(case):
    assert fault(*case) is None


@settings(max_examples=60)
@given(cases())
def test_any_layer(case):
    assert fault(*case) is None
