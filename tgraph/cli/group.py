"""The report of `tgraph doctor` on a process group of torchrun: differences between ranks, latency and bandwidth."""

from __future__ import annotations

import os
import platform
import socket
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist

import tgraph as tg
from tgraph import kernels
from tgraph.cli.examination import limits, served
from tgraph.cli.saying import grouped
from tgraph.core.system.text import duration, scaled
from tgraph.distributed.ranks.transport import exchange

SMALL, LARGE = 8, 1 << 24  # bytes that a rank sends to each other, and to all others together
REPEATED = 9


@dataclass(frozen=True)
class Rank:
    """Facts about a rank.

    host : the name of its machine. versions : of packages. kernels : the devices of each backend. threads :
    those of the compiled kernels, or of torch without them. cores : the numbers of the processors that it may run on.
    quota : how many processors control groups allow it, 0 without a limit.
    """

    host: str
    versions: dict[str, str]
    kernels: dict[str, str]
    threads: int
    cores: frozenset[int]
    quota: float

    @classmethod
    def here(cls) -> Rank:
        """This process."""
        threads, quota = limits()
        known = hasattr(os, "sched_getaffinity")
        return cls(
            socket.gethostname(),
            {"tgraph": tg.__version__, "torch": torch.__version__, "Python": platform.python_version()},
            {
                **{backend.name: served(backend) for backend in kernels.BACKENDS.values()},
                "vector instructions": torch.backends.cpu.get_cpu_capability(),
            },
            threads,
            frozenset(os.sched_getaffinity(0) if known else range(os.cpu_count() or 1)),
            quota,
        )


def described() -> dict[str, list[tuple[str, str]]]:
    """{title: (subject, facts)} of the default process group; called by all ranks."""
    ranks: list[Rank] = [Rank.here()] * dist.get_world_size()
    dist.all_gather_object(ranks, ranks[0])
    return {"process group": [("backend", dist.get_backend()), *compared(ranks), *measured()]}


def compared(ranks: Sequence[Rank]) -> Iterator[tuple[str, str]]:
    """Hosts of the ranks, differences between ranks, and machines without a core for each thread."""
    hosts: dict[str, list[int]] = {}
    for number, rank in enumerate(ranks):
        hosts.setdefault(rank.host, []).append(number)
    counted = "1 host" if len(hosts) == 1 else f"{grouped(len(hosts))} hosts"
    where = "; ".join(f"{host}: {_numbers(numbers)}" for host, numbers in hosts.items())
    yield "ranks", f"{grouped(len(ranks))} on {counted} ({where})"
    yield "versions", alike([rank.versions for rank in ranks], "install the same everywhere")
    yield "kernels", alike([rank.kernels for rank in ranks], "give all ranks alike machines, or sums may differ", False)
    for host, numbers in hosts.items():
        yield f"threads on {host}", crowding([ranks[number] for number in numbers])


def alike(given: Sequence[dict[str, str]], remedy: str, shown: bool = True) -> str:
    """The facts that all ranks gave, or the differences and a `remedy`. shown : whether to name equal facts."""
    differences = []
    for name in {name: None for each in given for name in each}:
        holders: dict[str, list[int]] = {}
        for number, each in enumerate(given):
            holders.setdefault(each.get(name, "missing"), []).append(number)
        if len(holders) > 1:
            values = ", ".join(f"{value!r} on {_numbers(numbers)}" for value, numbers in holders.items())
            differences.append(f"{name} is {values}")
    if differences:
        return f"different: {'; '.join(differences)}; {remedy}"
    return "the same" + (f": {', '.join(f'{name} {value}' for name, value in given[0].items())}" if shown else "")


def crowding(ranks: Sequence[Rank]) -> str:
    """Threads of the `ranks` on a machine, its cores, and a remedy for too few."""
    threads, cores = sum(rank.threads for rank in ranks), len(frozenset[int]().union(*(rank.cores for rank in ranks)))
    limits = [rank.quota for rank in ranks if rank.quota]
    allowed = min([float(cores), *limits])
    said = f"{threads} of {len(ranks)} {'rank' if len(ranks) == 1 else 'ranks'} on {allowed:g} cores"
    if threads <= allowed:
        return said
    each = int(allowed // len(ranks))
    remedy = f"set OMP_NUM_THREADS={each}" if each else "start fewer ranks there"
    return f"{said}, too many: they wait for each other; {remedy}"


def measured() -> Iterator[tuple[str, str]]:
    """Latency of a small exchange and bandwidth of a large one, of the slowest rank."""
    others = dist.get_world_size() - 1
    small = _slowest(_exchange(SMALL))
    yield "latency", f"{duration(small)} for {SMALL} bytes from each to each"
    share = LARGE // others
    large = _slowest(_exchange(share))
    yield "bandwidth", f"{scaled(share * others / large)}B/s out of each rank, in messages of {scaled(share)}B"


def _exchange(nbytes: int) -> Callable[[], None]:
    """A function that sends `nbytes` from each rank to each other, as programs do."""
    ranks, own = dist.get_world_size(), dist.get_rank()
    sizes = [0 if rank == own else nbytes for rank in range(ranks)]
    sent = torch.zeros(sum(sizes), dtype=torch.uint8)
    received = torch.empty_like(sent)
    return lambda: exchange(
        dist.all_to_all_single, received, sent, sizes, sizes, group=None, sent=len(sent), received=len(received)
    )


def _slowest(work: Callable[[], None]) -> float:
    """The seconds that a call takes on the slowest rank, the median of several."""
    work()
    dist.barrier()
    times = []
    for _ in range(REPEATED):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    slowest = torch.tensor(statistics.median(times), dtype=torch.float64)
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return float(slowest)


def _numbers(ranks: Iterable[int]) -> str:
    """Ranks in words, consecutive ones as a range."""
    stretches: list[list[int]] = []
    for rank in ranks:
        if stretches and rank == stretches[-1][-1] + 1:
            stretches[-1].append(rank)
        else:
            stretches.append([rank])
    named = [str(first[0]) if len(first) == 1 else f"{first[0]} to {first[-1]}" for first in stretches]
    return ("rank " if len(stretches) == 1 and len(stretches[0]) == 1 else "ranks ") + ", ".join(named)
