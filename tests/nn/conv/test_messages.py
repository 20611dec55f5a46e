"""Messages in the order of the rows and of the edges, and the layers that choose between both."""

import pytest
import torch
from strategies import thread_count

import tgraph as tg
from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency
from tgraph.nn.conv import messages
from tgraph.nn.conv.messages import Unsorted, at_sources, at_targets, in_best_order, joined, of_edges, reduced

N, E, COLUMNS = 30, 200, 8


def ends(seed=0):
    """(sources, targets), with parallel edges, loops, and vertices without edges."""
    return torch.randint(N - 5, (2, E), generator=torch.Generator().manual_seed(seed))


def layer(name):
    torch.manual_seed(1)
    if name == "GINEConv":
        return tg.nn.GINEConv(torch.nn.Linear(COLUMNS, COLUMNS), edge_dim=3)
    if name == "GINEConv mean":
        return tg.nn.GINEConv(torch.nn.Linear(COLUMNS, COLUMNS), edge_dim=3, aggr="mean")
    return tg.nn.ResGatedGraphConv(COLUMNS, COLUMNS, edge_dim=3 if name.endswith("edges") else None)


LAYERS = ["GINEConv", "GINEConv mean", "ResGatedGraphConv", "ResGatedGraphConv edges"]


def computed(name, dtype=torch.float32):
    """The result of a layer on an edge_index that has not been seen, and the gradients of all that it depends on."""
    made_by = torch.Generator().manual_seed(2)
    x, edge_attr = (torch.randn(size, generator=made_by, dtype=dtype) for size in ((N, COLUMNS), (E, 3)))
    given = [x.requires_grad_(), edge_attr.requires_grad_()][: 1 if name == "ResGatedGraphConv" else 2]
    module = layer(name).to(dtype)
    out = module(given[0], ends(), *given[1:])
    wanted = [*given, *module.parameters()]
    return out, torch.autograd.grad(out.square().sum(), wanted, create_graph=True), given


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", LAYERS)
def test_the_order_of_messages_changes_nothing(monkeypatch, name, dtype):
    out, gradients, given = computed(name, dtype)
    second = torch.autograd.grad(sum(each.square().sum() for each in gradients), given)
    monkeypatch.setattr(messages, "FEW", 0)
    expected, slopes, inputs = computed(name, dtype)
    curvature = torch.autograd.grad(sum(each.square().sum() for each in slopes), inputs)
    torch.testing.assert_close((out, *gradients, *second), (expected, *slopes, *curvature), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_sums_in_the_order_of_edges(reduce):
    adjacency, data = Adjacency(*ends(), N, N), torch.randn(E, COLUMNS, dtype=torch.float64)
    received = reduced(Unsorted(adjacency), data, reduce)
    torch.testing.assert_close(received, reduced(adjacency, adjacency.in_row_order(data), reduce))
    with thread_count(3):
        assert torch.equal(received, reduced(Unsorted(adjacency), data, reduce))


def test_few_sums_that_no_sort_is_needed_for_stay_in_the_order_of_edges():
    x, wide = torch.randn(N, COLUMNS), torch.randn(N, messages.FEW // E + 1)
    source, target = ends()
    assert isinstance(in_best_order(Adjacency(source, target, N, N), x, "sum"), Unsorted)
    assert isinstance(in_best_order(Adjacency(source, target, N, N), x, "mean"), Unsorted)
    for data, reduce in ((x, "max"), (wide, "sum"), (x.half(), "sum"), (x[:, None], "sum")):
        adjacency = Adjacency(source, target, N, N)
        assert in_best_order(adjacency, data, reduce) is adjacency
    adjacency.arcs(of_edges=False)
    assert in_best_order(adjacency, x, "sum") is adjacency
    found = []
    torch.func.vmap(lambda data: found.append(in_best_order(Adjacency(source, target, N, N), data, "sum")) or data)(
        x[None]
    )
    assert type(found[0]) is Adjacency


def test_parts_of_messages_are_joined_in_place_only_where_dtypes_agree():
    edges = Unsorted(Adjacency(*ends(), N, N))
    made, other = at_sources(edges, torch.ones(N, COLUMNS)), torch.ones(E, COLUMNS)
    assert joined(edges, made, other) is made and bool((made == 2).all())
    assert joined(edges, made, other.double()).dtype == torch.float64
    assert of_edges(edges, other, made) is other


@pytest.mark.parametrize("name", ["GINEConv mean", "ResGatedGraphConv"])
@pytest.mark.parametrize(("end", "vertex"), [(0, N), (1, N), (0, -1), (1, -1)])
def test_an_end_out_of_range_is_named(name, end, vertex):
    edge_index = ends()
    edge_index[end, 7] = vertex
    more = (torch.randn(E, 3),) if name.startswith("GINE") else ()
    with pytest.raises(ArgumentError, match=str(vertex)):
        layer(name)(torch.randn(N, COLUMNS), edge_index, *more)


@pytest.mark.parametrize("end", [at_sources, at_targets])
def test_rows_of_a_vertex_that_is_not_there_are_refused(end):
    source, target = ends()
    edges = Unsorted(Adjacency(source, target, N, N))
    with pytest.raises((IndexError, RuntimeError)):  # all ends are in range, but not in this
        end(edges, torch.randn(3, COLUMNS))
