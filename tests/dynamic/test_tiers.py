"""Tiers of runs, and the runs to merge."""

import random

import pytest
import torch

from tgraph.dynamic import tiers
from tgraph.dynamic.runs import Run, Schema, sorted_run

SCHEMA = Schema("keep", {})


def run(size):
    vertices = torch.arange(size, dtype=torch.int32)
    return sorted_run(SCHEMA, vertices, vertices, (), True)


@pytest.mark.parametrize("sizes", [(1,), (900,), (1, 30, 700), (3000,), (1, 3000), (20, 500, 20_000)])
def test_runs_stay_few_and_no_change_is_merged_often(sizes):
    """As the writer and the thread merge them in turn: a few for each power of the fan-out, whatever sizes mix."""
    choose, runs, written = random.Random(1), (), 0
    for _ in range(700):
        runs = tiers.merged_tail(SCHEMA, (*runs, run(choose.choice(sizes))))
        while (chosen := tiers.mergeable(runs[: tiers.stable(runs)])) is not None:
            merged = tiers.merged(SCHEMA, runs[slice(*chosen)])
            runs, written = (*runs[: chosen[0]], merged, *runs[chosen[1] :]), written + merged.size
    levels = sum(part.size for part in runs).bit_length() // 4 + 1
    assert len(runs) <= 2 * tiers.FANOUT * levels
    assert written <= levels * sum(part.size for part in runs)


def test_where_there_are_enough_runs_all_are_merged():
    runs = tuple(run(3) for _ in range(tiers.FANOUT**2 + 1))
    found = tiers.merged_all(lambda chosen: tiers.merged(SCHEMA, chosen), runs)
    assert [part.size for part in found] == [3 * tiers.FANOUT**2, 3]
    assert tiers.merged_all(lambda chosen: chosen[0], found) is found


def test_the_thread_leaves_runs_alone_that_a_writer_may_merge():
    """So that what it makes of the others is not in vain."""
    small, large = Run(torch.zeros(9, dtype=torch.int64), (), 1), run(tiers.LARGE + 1)
    for runs in ((small,), (large, small, large), (large, small, small), (small,) * 15):
        merged = tiers.merged_tail(SCHEMA, (*runs, small))
        stable = tiers.stable(runs)
        assert merged[:stable] == runs[:stable]
        assert stable == 0 or runs[stable - 1] is large
