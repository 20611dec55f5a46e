"""Bitmaps, their compaction, splitting by a threshold, and rows whose arcs are numbered through."""

import pytest
import torch
from strategies import random_graph

import tgraph as tg
from tgraph.kernels.cuda import frontier

SIZES = [0, 1, 31, 32, 33, 300, 8193, 20_000]


def random_mask(n, density, seed=0):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)) < density


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("density", [0, 0.01, 0.5, 1])
def test_a_mask_comes_back_as_its_ids_in_order(launcher, n, density):
    mask = random_mask(n, density).to(launcher.device)
    expected = mask.nonzero().flatten()
    for launcher.seed in (0, 7):
        words = frontier.pack(mask)
        assert frontier.members(words, len(expected)).equal(expected)


@pytest.mark.parametrize("n", SIZES)
def test_ids_are_inserted_and_cleared(launcher, n):
    ids = random_mask(n, 0.2).nonzero().flatten().flip(0).to(launcher.device)
    words = torch.zeros(frontier.blocks(n, 32), dtype=torch.int32, device=launcher.device)
    frontier.insert(ids, words)
    assert frontier.members(words, len(ids)).equal(ids.flip(0))
    frontier.clear(ids, words)
    assert not words.any()


@pytest.mark.parametrize("dtype", frontier.TYPES)
@pytest.mark.parametrize("count", [0, 1, 255, 257, 700])
def test_a_split_keeps_the_order_on_either_side(launcher, dtype, count):
    graph = random_graph(900, 3000).to(launcher.device)
    random = torch.Generator().manual_seed(count)
    values = torch.randint(-9, 9, (900,), generator=random).to(launcher.device, dtype)
    ids = torch.randperm(900, generator=random)[:count].to(launcher.device)
    for threshold in (-20, 0, 3, 20):
        expected, others = tg.Frontier.split(graph, ids, values[ids] < threshold)
        for launcher.seed in (0, 3):
            near, far = frontier.split(graph, ids, values, torch.tensor(threshold, dtype=dtype, device=launcher.device))
            assert near.ids.equal(expected.ids) and far.equal(others)
            assert near.measure() == expected.measure()


@pytest.mark.parametrize("width", [None, 0, 2])
def test_rows_number_their_arcs_through(launcher, width):
    graph = random_graph(300, 900).to(launcher.device)
    for ids in (None, torch.tensor([7, 0, 299, 7]), torch.empty(0, dtype=torch.int64)):
        ids = None if ids is None else ids.to(launcher.device)
        selection = tg.neighbor_select(graph, ids, width=width)
        *_, first, num_rows, num_arcs = frontier.arc_arguments(selection)
        assert first.equal(selection.offset) and num_arcs == selection.num_arcs
        assert num_rows == len(selection.offset) - 1
