"""Exchanges through memory that ranks share equal those of torch.distributed, and end where these would."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks

import tgraph as tg
from tgraph.core.building import soundness
from tgraph.core.system import native
from tgraph.distributed.ranks import shared
from tgraph.distributed.ranks.transport import begin, exchange

pytestmark = pytest.mark.skipif(
    native.load() is None or not shared.BOOT.exists() or not shared.FOLDER.is_dir(), reason="no memory to share"
)
DTYPES = [torch.uint8, torch.int32, torch.float64, torch.bfloat16]


def drawn(seed):
    """Exchanges that all ranks draw alike: (numbers of rows by sender and receiver, columns, dtype)."""
    choose, ranks = random.Random(seed), dist.get_world_size()
    for _ in range(40):
        most = choose.choice([0, 1, 5, 300, 70_000])
        rows = [[choose.randrange(most + 1) for _ in range(ranks)] for _ in range(ranks)]
        yield rows, choose.choice([1, 3]), choose.choice(DTYPES)


def compare(seed):
    """Several exchanges under way, waited for in any order, of messages smaller and larger than a ring."""
    shared.MOST_ROOM, room = 1 << 16, shared.MOST_ROOM
    shared.memory_of(None)
    shared.MOST_ROOM = room
    rank, underway, choose = dist.get_rank(), [], random.Random(seed)
    for rows, columns, dtype in drawn(seed):
        sending, receiving = rows[rank], [row[rank] for row in rows]
        sent = torch.randint(100, (sum(sending), columns)).to(dtype)
        sent.requires_grad_(dtype == torch.float64)
        wanted = torch.empty((sum(receiving), columns), dtype=dtype)
        dist.all_to_all_single(wanted, sent.detach(), receiving, sending)
        found = torch.full_like(wanted, 77)
        work = begin(dist.all_to_all_single, found, sent, receiving, sending, group=None, sent=0, received=0)
        underway.append((work, found, wanted))
        if len(underway) > 2:
            taken = underway.pop(choose.randrange(len(underway)))
            taken[0].wait()
            assert torch.equal(*taken[1:])
    for work, found, wanted in underway:
        work.wait()
        assert torch.equal(found, wanted)
    value = torch.arange(100_000) + rank
    parts = [torch.empty_like(value) for _ in range(dist.get_world_size())]
    exchange(dist.all_gather, parts, value, group=None, sent=0, received=0)
    assert all(torch.equal(part, torch.arange(100_000) + each) for each, part in enumerate(parts))
    memory = shared.memory_of(None)
    assert memory.count == 41 == shared.exchanges_of(None) and not memory._underway
    return sorted(path.name for path in shared.FOLDER.glob("tgraph-*"))


@pytest.mark.parametrize("ranks", [2, 3])
def test_exchanges_equal_those_of_torch(ranks):
    assert on_ranks(ranks, compare, 5) == [[]] * ranks  # no file has a name any more


def without():
    if dist.get_rank() == 1:
        shared.FOLDER = Path("/nowhere")
    try:
        spread = tg.distributed.spread(tg.generators.rmat(6, seed=1))
        return shared.memory_of(None) is None, tg.algorithms.bfs(spread, 0).full_tensor().tolist()
    finally:
        shared.FOLDER = Path("/dev/shm")


def test_ranks_of_which_one_has_no_folder_use_sockets():
    wanted = tg.algorithms.bfs(tg.generators.rmat(6, seed=1), 0).tolist()
    assert on_ranks(2, without) == [(True, wanted)] * 2


def count():
    """The times that iterations check their rows."""
    spread = tg.distributed.spread(tg.generators.rmat(8, seed=1))
    checks, check = [], soundness.is_sound
    soundness.is_sound = lambda *rows: checks.append(rows) or check(*rows)
    try:
        tg.algorithms.pagerank(spread, tol=None, max_iterations=5)
    finally:
        soundness.is_sound = check
    return len(checks)


def test_iterations_do_not_check_their_rows_again():
    assert max(on_ranks(2, count)) <= 2


def pair(send, take):
    return begin(dist.all_to_all_single, take, send, group=None, sent=0, received=0)


def leave(kind):
    """Rank 1 ends, or does not come; what rank 0 is told."""
    send, take = torch.ones(2), torch.zeros(2)
    pair(send, take).wait()
    if dist.get_rank() == 1:
        if kind == "stops":
            shared.stop(None)
        time.sleep(1.5)
        return None
    shared.memory_of(None)._timeout = 0.3
    with pytest.raises(dist.DistNetworkError) as error:
        pair(send, take).wait()
    return str(error.value)


@pytest.mark.parametrize(
    ("kind", "said"),
    [("stops", "another rank has ended the exchanges"), ("sleeps", "timed out waiting 0.3 s for other ranks")],
)
def test_a_rank_that_does_not_come(kind, said):
    assert said in on_ranks(2, leave, kind)[0]


def outlive():
    """Rank 1 sends and is killed: what it sent arrives, and then nothing does."""
    send, take = torch.full((2,), 5.0), torch.zeros(2)
    pair(send, take).wait()
    if dist.get_rank() == 1:
        pair(send * 2, take)
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.3)
    pair(send, take).wait()
    assert take[1] == 10
    with pytest.raises(dist.DistNetworkError, match="rank 1 has ended"):
        pair(send, take).wait()
    raise ValueError("rank 0 has seen it")


def test_a_message_of_a_rank_that_was_killed_arrives():
    with pytest.raises(AssertionError, match="rank 0 has seen it"):
        on_ranks(2, outlive)
