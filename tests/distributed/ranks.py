"""Runs a function on several ranks, each a process of its own on this machine.

Starting a process takes longer than most of what it is asked to do, so that each is a fork of one that has imported
what all of them need, and stays for later calls, by whatever test of this one. Those in which anything has failed end.
"""

import datetime
import multiprocessing
import os
import pickle
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import pytest
import torch
import torch.distributed as dist

from tgraph.errors import ArgumentError

KEPT = 4  # processes that stay
IMPORTED = ["pytest", "hypothesis", "torch", "torch.distributed", "tgraph", "tgraph.algorithms", "torch_geometric"]
CONTEXT = multiprocessing.get_context("forkserver" if sys.platform != "win32" else "spawn")
if sys.platform != "win32":
    CONTEXT.set_forkserver_preload(IMPORTED)
NOTHING = ("failed", "it left nothing behind")


class Member(NamedTuple):
    """A process that runs what it is sent."""

    process: Any
    connection: Connection

    @classmethod
    def started(cls) -> "Member":
        here, there = CONTEXT.Pipe()
        process = CONTEXT.Process(target=_serve, args=(there,), daemon=True)
        process.start()
        there.close()
        return cls(process, here)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


_members: list[Member] = []


def on_ranks(
    number: int, function: Callable[..., Any], *args: Any, timeout: float = 60, backend: str = "gloo"
) -> list[Any]:
    """What `function(*args)` returns on each of the ranks of a group of processes, in their order.

    `function` is one that a module of tests has at its top, and leaves nothing changed. backend : of the group. An
    exception on a rank is one here, with what that said."""
    _members.extend(Member.started() for _ in range(number - len(_members)))
    members = _members[:number]
    with tempfile.TemporaryDirectory() as folder:
        for rank, member in enumerate(members):
            member.connection.send_bytes(pickle.dumps((rank, number, folder, timeout, backend, function, args)))
        told = _told({member.connection: rank for rank, member in enumerate(members)}, timeout)
    ended = [member for rank, member in enumerate(members) if rank not in told or told[rank][0] == "failed"]
    for member in {*ended, *_members[KEPT:]}:
        _members.remove(member)
        member.end()
    late = [rank for rank in range(number) if rank not in told]
    outcomes = [told.get(rank, NOTHING) for rank in range(number)]
    failures = [f"rank {rank}: {value}" for rank, (kind, value) in enumerate(outcomes) if kind == "failed"]
    assert not failures, "\n".join(([f"late: {late}"] if late else []) + failures)
    return [value for _, value in outcomes]


def _told(waiting: dict[Connection, int], timeout: float) -> dict[int, tuple[str, Any]]:
    """The outcomes of the ranks that tell in time."""
    told, end = {}, time.monotonic() + timeout
    while waiting and (ready := wait(list(waiting), max(0.0, end - time.monotonic()))):
        for connection in ready:
            rank = waiting.pop(connection)
            try:
                told[rank] = pickle.loads(connection.recv_bytes())
            except EOFError:
                told[rank] = NOTHING
    return told


def _serve(connection: Connection) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    stays = True
    while stays:
        try:
            sent = connection.recv_bytes()
        except EOFError:
            return
        kind, value = _outcome(sent)
        stays = kind == "done"
        connection.send_bytes(pickle.dumps((kind, value)))


def _outcome(sent: bytes) -> tuple[str, Any]:
    try:
        rank, number, folder, timeout, backend, function, args = pickle.loads(sent)
        torch.manual_seed(0)
        dist.init_process_group(
            backend,
            init_method=f"file://{folder}/rendezvous",
            rank=rank,
            world_size=number,
            timeout=datetime.timedelta(seconds=timeout),
        )
        dist.barrier()  # a rank that ended its group at once would end it while others still connect to it
        value = function(*args)
        if dist.is_initialized():  # unless the function has seen it end
            dist.barrier()
            dist.destroy_process_group()
        return "done", value
    except BaseException:
        return "failed", traceback.format_exc()


def nothing_is_wrong(*args: Any, **options: Any) -> None:
    """A function that lists what is wrong lists nothing on any of the ranks; with the arguments of `on_ranks`."""
    for wrong in on_ranks(*args, **options):
        assert not wrong, "\n".join(wrong)


def said_of(*calls: Callable[[], Any]) -> list[str]:
    """The messages of what each of the calls raises, an ArgumentError."""
    said = []
    for call in calls:
        with pytest.raises(ArgumentError) as error:
            call()
        said.append(str(error.value))
    return said
