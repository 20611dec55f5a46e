"""Placements: one rank for each arc and one owner for each vertex, as documented; bounds of size; few ranks meet."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import arcs, graphs, random_graph

import tgraph as tg
from tgraph.distributed.parts import partitions
from tgraph.distributed.parts.partitions import cut_hubs, two_dimensional
from tgraph.errors import ArgumentError

SIDES = st.sampled_from([1, 2, 3, 5])
PARTS = st.sampled_from([1, 2, 3, 8, 64])


def ends(graph):
    """(source, target), int64 [m] both."""
    pairs = [(u, v) for u, v, *_ in arcs(graph)]
    return torch.tensor(pairs, dtype=torch.int64).view(-1, 2).T.contiguous().unbind()


def owners(placement, graph):
    """The owner of each vertex, read off the bounds."""
    bounds = placement.bounds.tolist()
    assert bounds[0] == 0 and bounds[-1] == graph.num_vertices and bounds == sorted(bounds)
    return [next(r for r in range(len(placement)) if bounds[r] <= v < bounds[r + 1]) for v in range(bounds[-1])]


def into(graph):
    """The in-arcs of each vertex, counted one by one."""
    count = [0] * graph.num_vertices
    for _, v, *_ in arcs(graph):
        count[v] += 1
    return count


@settings(max_examples=3 * settings().max_examples)
@given(graphs(), SIDES, SIDES)
def test_a_grid_has_targets_in_rows_and_sources_in_columns(graph, rows, columns):
    placement = two_dimensional(graph, rows, columns)
    assert len(placement) == rows * columns
    owner = owners(placement, graph)
    assert placement.owner(torch.arange(graph.num_vertices)).tolist() == owner
    source, target = ends(graph)
    expected = [
        owner[v] // columns * columns + owner[u] % columns
        for u, v in zip(source.tolist(), target.tolist(), strict=True)
    ]
    assert placement.rank(source, target).tolist() == expected


@settings(max_examples=3 * settings().max_examples)
@given(graphs(), SIDES, SIDES)
def test_a_grid_balances_arcs_over_rows_and_over_columns(graph, rows, columns):
    placement = two_dimensional(graph, rows, columns)
    outgoing, incoming = graph.out_degree.tolist(), into(graph)
    weight = [1 + a + b for a, b in zip(outgoing, incoming, strict=True)]
    held, largest = [0] * len(placement), max(weight, default=0)
    for v, rank in enumerate(owners(placement, graph)):
        held[rank] += weight[v]
    assert max(held) <= sum(weight) / len(placement) + largest
    for row in range(rows):
        assert sum(held[row * columns : (row + 1) * columns]) <= sum(weight) / rows + largest
    for column in range(columns):
        assert sum(held[column::columns]) <= sum(weight) / columns + rows * largest


@settings(max_examples=3 * settings().max_examples)
@given(graphs(), PARTS, st.sampled_from([None, 0, 1, 3]))
def test_arcs_to_hubs_lie_with_their_source_and_all_others_with_their_target(graph, parts, largest):
    placement = cut_hubs(graph, parts, largest)
    assert len(placement) == parts
    usual = min(partitions.HUB_ARCS * parts, graph.num_arcs // (4 * parts))
    limit = usual if largest is None else largest
    owner, count = owners(placement, graph), into(graph)
    source, target = ends(graph)
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    expected = [owner[u] if count[v] > limit else owner[v] for u, v in pairs]
    assert placement.rank(source, target).tolist() == expected


@settings(max_examples=3 * settings().max_examples)
@given(graphs(), PARTS, st.integers(0, 4), st.sampled_from([1, 3, 2**22]))
def test_no_rank_holds_more_than_the_mean_and_the_arcs_of_one_vertex(graph, parts, largest, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "CHUNK", chunk)
        placement = cut_hubs(graph, parts, largest)
    source, target = ends(graph)
    count = torch.tensor(into(graph), dtype=torch.int64)
    alone = torch.where(count > largest, 0, count)
    alone.index_add_(0, source, (count[target] > largest).to(torch.int64))
    held = torch.bincount(placement.rank(source, target), minlength=parts)
    most = int(alone.max()) + 1 if len(alone) else 0
    assert int(held.max()) <= (graph.num_arcs + graph.num_vertices) / parts + most


def test_a_star_is_spread_over_the_ranks():
    """With whole rows one rank has half of all arcs, those to the centre."""
    star = tg.Graph.from_edges([0] * 1000, range(1, 1001), directed=False)
    cut, grid = (placement.rank(*ends(star)) for placement in (cut_hubs(star, 16), two_dimensional(star, 4, 4)))
    assert int(torch.bincount(cut).max()) <= 1.5 * 2000 / 16
    assert int(torch.bincount(grid).max()) <= 500


def test_owners_may_be_those_of_a_partition():
    graph, bounds = random_graph(50, 400), torch.tensor([0, 10, 10, 30, 50])
    cut, grid = cut_hubs(graph, 4, 5, bounds=bounds), two_dimensional(graph, 2, 2, bounds=bounds)
    assert cut.bounds is bounds is grid.bounds
    assert torch.equal(cut.hub, torch.tensor(into(graph)) > 5)
    assert cut.owner(torch.tensor([0, 9, 10, 29, 30, 49])).tolist() == [0, 0, 2, 2, 3, 3]


def test_ids_of_either_width_are_taken():
    graph = random_graph(50, 400)
    source, target = ends(graph)
    for placement in (cut_hubs(graph, 4, 5), two_dimensional(graph, 2, 2)):
        wide = placement.rank(source, target)
        assert wide.dtype == torch.int32 and torch.equal(wide, placement.rank(source.int(), target.int()))


def test_a_graph_in_a_layout_is_placed_like_its_csr():
    graph = random_graph(60, 500)
    coded = graph.to_format("elias_fano")
    assert torch.equal(cut_hubs(coded, 3, 4).bounds, cut_hubs(graph, 3, 4).bounds)
    assert torch.equal(two_dimensional(coded, 2, 2).bounds, two_dimensional(graph, 2, 2).bounds)


@pytest.mark.parametrize(
    "call",
    [
        lambda graph: two_dimensional(graph, 0, 2),
        lambda graph: two_dimensional(graph, 2, 0),
        lambda graph: two_dimensional(graph, 2, 1.5),
        lambda graph: cut_hubs(graph, 0),
        lambda graph: cut_hubs(graph, 2, -1),
        lambda graph: cut_hubs(graph, 2, bounds=torch.tensor([0, 5])),
        lambda graph: cut_hubs(graph, 2, bounds=torch.tensor([0, 6, 5])),
        lambda graph: two_dimensional(graph, 1, 2, bounds=torch.tensor([0, 2, 4])),
        lambda graph: two_dimensional(graph, 1, 2, bounds=torch.tensor([0, 2, 5]).int()),
    ],
)
def test_wrong_counts_are_refused(call):
    with pytest.raises(ArgumentError, match=r"^(rows|columns|parts|largest|bounds): "):
        call(random_graph(5, 9))
