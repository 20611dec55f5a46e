"""Ranks that are started again meet each other, not those that were killed."""

import os
import subprocess
import sys
import threading
import time
import warnings

import pytest
import torch.distributed as dist
from ranks import on_ranks
from torch.distributed import HashStore, TCPStore

import tgraph as tg
from tgraph.algorithms import BFS
from tgraph.distributed.ranks.process_group import _agreed
from tgraph.errors import ArgumentError, RankError

pytestmark = pytest.mark.fault


def agreed(store, ranks, late=()):
    """The names that ranks in threads agree on; those in `late` begin later, one after the other."""
    names = {}

    def meet(rank):
        names[rank] = _agreed(store, rank, ranks, 30)

    threads = [threading.Thread(target=meet, args=(rank,)) for rank in range(ranks)]
    for rank in [each for each in range(ranks) if each not in late]:
        threads[rank].start()
    for rank in late:
        time.sleep(0.05)
        threads[rank].start()
    for thread in threads:
        thread.join()
    return [names[rank] for rank in range(ranks)]


@pytest.mark.parametrize("late", [(), (0,), (2,), (2, 1), (1, 0)])
def test_each_life_has_a_name_of_its_own(late):
    store = HashStore()
    lives = [agreed(store, 3, late) for _ in range(3)] + [agreed(store, ranks) for ranks in (2, 1, 4)]
    assert all(len(set(names)) == 1 for names in lives)
    assert len({names[0] for names in lives}) == len(lives)


@pytest.mark.parametrize("died", [0, 1, 2])
def test_those_that_died_while_they_met_are_not_waited_for(died):
    store = HashStore()
    others = [rank for rank in range(3) if rank != died]
    for rank in others:  # they announce themselves, and are gone
        with pytest.raises(RankError, match=f"rank {rank} has waited 0.03 s for all of the 3 ranks"):
            _agreed(store, rank, 3, 0.03)
    assert len(set(agreed(store, 3, late=others))) == 1


def test_a_checkpoint_of_another_group_under_restarts_is_a_warning(tmp_path, monkeypatch):
    given = {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_MAX_RESTARTS": "2"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    try:
        graph = tg.distributed.spread(tg.generators.rmat(5, 4))
        with pytest.warns(UserWarning, match="make the group with tgraph.distributed.init_process_group"):
            tg.run(BFS(0), graph, checkpoint=tmp_path / "run.ckpt")
        monkeypatch.setenv("TORCHELASTIC_MAX_RESTARTS", "0")
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            tg.run(BFS(0), graph, checkpoint=tmp_path / "run.ckpt")
    finally:
        dist.destroy_process_group()


LIVES = """
import os, signal, sys, time
import torch, torch.distributed as dist
import tgraph as tg

torch.set_num_threads(1)

def present(rank):  # by which name it has last said so
    store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False)
    key = f"tgraph/meeting/present/{rank}"
    return store.get(key) if store.check([key]) else None

for late in (None, 1, 0):
    ranks, before = [], None if late is None else present(1 - late)
    for rank in range(2):
        ranks.append(os.fork())
        if not ranks[-1]:
            while rank == late and present(1 - rank) == before:
                time.sleep(0.01)
            os.environ["RANK"] = str(rank)
            tg.distributed.init_process_group("gloo", timeout=30)
            total = torch.tensor([rank + 1])
            dist.all_reduce(total)
            assert not tg.distributed.ranks.process_group.may_hear_the_dead()
            os.write(1, b"%d " % total.item())
            os.kill(os.getpid(), signal.SIGKILL)
    for child in ranks:
        os.waitpid(child, 0)
"""


@pytest.mark.thorough
def test_ranks_that_begin_again_find_each_other_in_the_same_store():
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # as torchrun keeps it
    given = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    given |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_MAX_RESTARTS": "2"}
    done = subprocess.run([sys.executable, "-c", LIVES], env=os.environ | given, capture_output=True, text=True)
    assert done.stdout.split() == ["3"] * 6, done.stderr


def spread_on_another_transport() -> str:
    group = dist.new_group(backend="cuda:gloo")  # as of NCCL alone, nothing carries what is on the CPU
    with pytest.raises(ArgumentError) as error:
        tg.distributed.spread(tg.generators.path(4), group=group)
    return str(error.value)


def test_a_group_that_carries_nothing_on_the_cpu_is_refused():
    for said in on_ranks(2, spread_on_another_transport):
        assert said.startswith("group: it carries tensors on cuda alone") and '"cpu:gloo,cuda:nccl"' in said
