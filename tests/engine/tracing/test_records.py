"""Shares of ranks in iterations are what their exchanges add up to."""

import pytest

from tgraph.engine.tracing.records import Exchange, joined, shares


def exchange(rank, travelling, waiting, sent=0, received=0):
    return Exchange(rank, sent, received, travelling, waiting)


def test_the_time_of_an_iteration_is_computing_and_waiting():
    exchanges = [
        exchange(0, (0.5, 2.0), (1.5, 2.5), sent=10, received=20),
        exchange(0, (0.75, 3.0), (2.5, 3.0), sent=1),
        exchange(0, (6.0, 6.5), (6.25, 6.75), sent=4),
        exchange(1, (1.0, 2.0), (1.0, 2.0), sent=20, received=11),
    ]
    found = shares([[0.25, 4.0], [0.5, 5.0]], [8.0, 9.0], exchanges)
    assert [(share.iteration, share.rank) for share in found] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    first, beside, second, idle = found
    assert (first.begin, first.end, first.computing, first.waiting, first.travelling) == (0.0, 4.0, 2.5, 1.5, 2.5)
    assert (first.hidden, beside.hidden, second.hidden, idle.hidden) == (1.0, 0.0, 0.25, 0.0)
    assert (first.exchanges, first.bytes_sent, first.bytes_received) == (2, 11, 20)
    assert (beside.begin, beside.end, beside.waiting, beside.bytes_received) == (0.0, 5.0, 1.0, 11)
    assert (second.begin, second.end, second.computing, second.waiting, second.travelling) == (4.0, 8.0, 3.5, 0.5, 0.5)
    assert (idle.begin, idle.end, idle.computing, idle.exchanges) == (5.0, 9.0, 4.0, 0)


def test_what_comes_before_and_after_belongs_to_the_first_and_last():
    found = shares([[1.0, 2.0]], [3.0], [exchange(0, (0.1, 0.2), (0.1, 0.2), 5), exchange(0, (2.5, 3), (2.5, 3), 6)])
    assert [(share.begin, share.end, share.bytes_sent) for share in found] == [(0.0, 2.0, 5), (2.0, 3.0, 6)]


def test_no_iterations_have_no_shares():
    assert shares([[], []], [1.0, 2.0], [exchange(0, (0, 1), (0, 1))]) == []
    assert shares([], [], []) == []


@pytest.mark.parametrize(
    "intervals, whole",
    [
        ([], []),
        ([(0.0, 1.0)], [(0.0, 1.0)]),
        ([(3.0, 4.0), (1.0, 2.0), (1.5, 2.5), (1.75, 2.0), (2.5, 2.75)], [(1.0, 2.75), (3.0, 4.0)]),
        ([(1.0, 1.0)], []),
    ],
)
def test_intervals_that_overlap_are_joined(intervals, whole):
    assert list(joined(intervals)) == whole
