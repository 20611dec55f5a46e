"""The process group of ranks that a launcher may start again.

torchrun has one store for all its restarts, in which ranks leave their addresses. A restarted rank would find the
addresses of killed processes there, and wait for them or fail. So before they meet, the ranks agree on a name of their
own, and use that part of the store alone.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import secrets
import time
import weakref
from typing import Any

import torch.distributed as dist

from tgraph.errors import ArgumentError, RankError

_PREFIX = "tgraph/meeting"
_TOLD = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_PAUSE = 0.01  # seconds between two looks into the store

# The default groups that have met in a part of the store of their own, weakly referenced.
_apart: weakref.WeakSet[Any] = weakref.WeakSet()


def init_process_group(backend: str = "gloo", *, timeout: float = 1800.0, **options: Any) -> None:
    """Make the default process group of torch.distributed, as `torch.distributed.init_process_group(backend)` does, of
    ranks that a launcher has started and may start again: torchrun, with or without --max-restarts.

    backend : carries tensors, on the CPU at least: for graphs on GPUs, of which each rank has its own,
        "cpu:gloo,cuda:nccl".
    timeout : seconds for which a rank waits for the others, here and in each exchange.
    options : of that function, except for the meeting point, which the launcher sets in RANK, WORLD_SIZE, MASTER_ADDR
        and MASTER_PORT.

    End it with `torch.distributed.destroy_process_group()`. Raises RankError where no launcher has set the meeting
    point, and where ranks do not arrive in time.

    >>> tg.distributed.init_process_group()  # in a script that torchrun has started
    >>> torch.distributed.get_world_size()
    1
    >>> torch.distributed.destroy_process_group()
    """
    if missing := [name for name in _TOLD if name not in os.environ]:
        raise RankError(
            None,
            None,
            f"{', '.join(missing)}: not in the environment, where a launcher tells them; start with torchrun",
        )
    limit = datetime.timedelta(seconds=timeout)
    try:
        store, rank, ranks = next(dist.rendezvous("env://", timeout=limit))
        store.set_timeout(limit)
        apart = dist.PrefixStore(f"{_PREFIX}/{_agreed(store, rank, ranks, timeout)}", store)
    except (dist.DistStoreError, dist.DistNetworkError, ValueError) as fault:
        place = ", ".join(f"{name}={os.environ[name]}" for name in _TOLD)
        said = str(fault).partition("\n")[0]
        raise RankError(
            None, None, f"timeout: the ranks did not meet within {timeout:g} s by {place} ({said})"
        ) from fault
    dist.init_process_group(backend, store=apart, rank=rank, world_size=ranks, timeout=limit, **options)
    _apart.add(dist.group.WORLD)


def made(group: Any) -> Any:
    """An existing process group; None stands for the default one. Raises ArgumentError where none was made, or it
    carries no tensors in host memory, as NCCL alone does not, where ranks compare their steps."""
    if not dist.is_initialized():
        raise ArgumentError(
            "group: torch.distributed has no process group yet; start the processes with torchrun and call "
            "tgraph.distributed.init_process_group first"
        )
    carried = [each.partition(":")[0] for each in dist.get_backend_config(group).split(",")]
    if "cpu" not in carried:
        raise ArgumentError(
            f"group: it carries tensors on {', '.join(carried)} alone, and ranks exchange some on the CPU too; make it "
            'by init_process_group("cpu:gloo,cuda:nccl")'
        )
    return None if group is dist.group.WORLD else group


def may_hear_the_dead() -> bool:
    """Whether torchrun would restart these ranks in the store where they have met, so that they would find the entries
    of those before them."""
    restarts = int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0"))
    is_kept = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    return restarts > 0 and is_kept and dist.group.WORLD not in _apart


def _agreed(store: Any, rank: int, ranks: int, timeout: float) -> str:
    """A name for the processes that are ranks now, the same on all of them.

    Each announces itself by a number of its own, and rank 0 says which numbers it has found. A rank that finds its own
    among them agrees; one that was killed cannot. Once all have agreed, rank 0 lets them go."""
    mine, end = secrets.token_hex(8), time.monotonic() + timeout
    store.set(f"{_PREFIX}/present/{rank}", mine)
    look = _lead if rank == 0 else _follow
    while (name := look(store, rank, ranks, mine)) is None:
        if time.monotonic() > end:
            raise RankError(
                None,
                None,
                f"timeout: rank {rank} has waited {timeout:g} s for all of the {ranks} ranks to begin; start as many, "
                "and look into the logs of those that failed",
            )
        time.sleep(_PAUSE)
    return name


def _lead(store: Any, rank: int, ranks: int, mine: str) -> str | None:
    """Say who is present; the name once all have agreed to it, else None."""
    present = _found(store, [f"{_PREFIX}/present/{each}" for each in range(ranks)])
    if present is None:
        return None
    name = _name(present)
    store.set(f"{_PREFIX}/found", " ".join(present))
    if _found(store, [f"{_PREFIX}/{name}/agrees/{each}" for each in range(1, ranks)]) is None:
        return None
    store.set(f"{_PREFIX}/{name}/go", "")
    return name


def _follow(store: Any, rank: int, ranks: int, mine: str) -> str | None:
    """Agree where this process was found; the name once rank 0 lets all go, else None."""
    found = _found(store, [f"{_PREFIX}/found"])
    present = found[0].split() if found else []
    if len(present) != ranks or present[rank] != mine:
        return None
    name = _name(present)
    store.set(f"{_PREFIX}/{name}/agrees/{rank}", "")
    return name if store.check([f"{_PREFIX}/{name}/go"]) else None


def _name(present: list[str]) -> str:
    return hashlib.sha256(" ".join(present).encode()).hexdigest()[:16]


def _found(store: Any, keys: list[str]) -> list[str] | None:
    """The values of keys, None unless there are all."""
    if not keys or not store.check(keys):
        return None if keys else []
    return [value.decode() for value in store.multi_get(keys)]
