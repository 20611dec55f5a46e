"""Rows with changes, against dictionaries of lists of weights; values after changes, against a computation of all."""

from collections import defaultdict

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tgraph.kernels import following
from tgraph.kernels.operators.changes import PARALLEL, merge_changes, sort_changes

pytestmark = pytest.mark.skipif(following.refuses() is not None, reason="there are no compiled kernels")

N = 6
BATCH = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.booleans(), st.integers(0, 9)), max_size=12)


def changes_of(batch, parallel, dtype):
    """(changes, weights) of arcs inserted or deleted one after the other, as the store makes them."""
    runs = []
    for row, column, there, weight in batch:
        pair = torch.tensor([row]), torch.tensor([column])
        runs.append((sort_changes(*pair, there, parallel, False)[0], torch.tensor([weight], dtype=dtype)))
    if not runs:
        return torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=dtype)
    changes, order = merge_changes([changes for changes, _ in runs], parallel, True)
    return changes, torch.cat([weights for _, weights in runs])[order]


def applied(held, batch, parallel):
    for row, column, there, weight in batch:
        arcs = held[row, column]
        if not there:
            arcs.clear()
        elif parallel == "keep" or not arcs:
            arcs.append(weight)
        else:
            arcs[:] = [weight]


@pytest.mark.covering(1)
@pytest.mark.parametrize("parallel", ["last", "keep"])
@pytest.mark.parametrize("dtype", following.WEIGHTS)
@given(base=BATCH, batches=st.lists(BATCH, min_size=1, max_size=3))
@settings(max_examples=12, deadline=None)
def test_rows_are_what_dictionaries_hold(parallel, dtype, base, batches):
    assert parallel in PARALLEL
    held = defaultdict(list)
    applied(held, base, parallel)
    pairs = sorted((row, column, weight) for (row, column), arcs in held.items() for weight in arcs)
    offset = torch.tensor([sum(pair[0] < row for pair in pairs) for row in range(N + 1)])
    by_time = [(*pair, weight) for pair in sorted(held) for weight in held[pair]]
    neighbors = torch.tensor([arc[1] for arc in by_time], dtype=torch.int32)
    weights = torch.tensor([arc[2] for arc in by_time], dtype=dtype)
    rows, turned = (following.FollowedRows(parallel, counts=True) for _ in range(2))
    rows.rebase(offset, neighbors, weights)
    turned.rebase(torch.zeros(1, dtype=torch.int64), neighbors[:0], weights[:0])
    everything = [(row, column, True, weight) for row, column, weight in by_time]
    turned.apply(*changes_of(everything, parallel, dtype), N, swapped=True)
    for batch in batches:
        before = {pair: list(arcs) for pair, arcs in held.items()}
        applied(held, batch, parallel)
        report = rows.report(*changes_of(batch, parallel, dtype), N, compares=True)
        turned.apply(*changes_of(batch, parallel, dtype), N, swapped=True)
        assert set(zip(report.sources.tolist(), report.targets.tolist(), strict=True)) == {arc[:2] for arc in batch}
        for number, pair in enumerate(zip(report.sources.tolist(), report.targets.tolist(), strict=True)):
            old, new = before.get(pair, []), held[pair]
            assert (report.before[number], report.after[number]) == (len(old), len(new))
            assert (report.sum_before[number], report.sum_after[number]) == (sum(old), sum(new))
            worse = int(report.worse[number])
            if old and (not new or min(new) > min(old)):
                assert worse & following.FOR_MIN
            if old and (not new or max(new) < max(old)):
                assert worse & following.FOR_MAX
            if not old:
                assert not worse
        for each, there in (
            (rows, lambda v: [c for (r, c) in sorted(held) if r == v for _ in held[r, c]]),
            (
                turned,
                lambda v: sorted(r for (r, c) in held if c == v for _ in held[r, c]),
            ),
        ):
            found, columns = each.gather(torch.arange(N))
            assert columns.tolist() == [column for v in range(N) for column in there(v)]
            assert each.num_arcs(torch.arange(N)) == int(found[-1])
    assert rows.nbytes >= 0 and rows.num_changes >= 0


def test_pushes_stop_at_the_bound_or_the_limit():
    """Around a cycle of 50 vertices a residual of 1 loses 0.15 at each push."""
    rows = following.FollowedRows("last", counts=True)
    rows.rebase(torch.arange(51), torch.arange(1, 51, dtype=torch.int32) % 50, None)
    for limit, bound in ((1000, 0.01), (3, 0.0)):
        residuals, x = following.Residuals(rows), torch.zeros(50, dtype=torch.float64)
        residuals.load(torch.zeros(50, dtype=torch.float64))
        residuals.add(torch.tensor([7]), torch.ones(1, dtype=torch.float64), 50)
        ones = torch.ones(50, dtype=torch.float64)
        met, total, pushes, arcs = residuals.push(x, ones, 0.85, 0.0, (bound, 0.0), False, limit)
        assert met == (limit == 1000) and pushes == arcs
        assert pushes == (29 if met else 4)  # 0.85 ** 29 is the first power below 0.01
        assert total == pytest.approx(float(x.sum()))
        assert float(residuals.read(50).sum()) == pytest.approx(0.85**pushes)
        assert residuals.nbytes > 0
