"""Exchanges between ranks of one machine through memory that they share, in place of sockets.

Each rank has a ring of bytes to each other (`kernels/native/threads/rings.cpp`), in a file of the system's shared
memory, which has a name only until all have opened it. A rank holds a lock on a byte of the file, which the system
releases when the process ends: who waits for a rank without its lock waits in vain.
"""

from __future__ import annotations

import mmap
import os
import secrets
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tgraph.core.system import native

fcntl: Any
try:
    import fcntl
except ImportError:  # of Windows
    fcntl = None

FOLDER = Path("/dev/shm")
BOOT, NETWORK = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/net")

# Bytes of a ring, and of all rings of a group.
MOST_ROOM, MOST_BYTES = 1 << 22, 48 << 20
SLICE = 20  # milliseconds between two looks for ranks that have ended

# By group, weakly referenced: its memory, None where it has none.
_memory: weakref.WeakKeyDictionary[Any, SharedMemory | None] = weakref.WeakKeyDictionary()


def memory_of(group: Any) -> SharedMemory | None:
    """The memory that the ranks of a process group share; None where they are on several machines or in several
    containers, and without compiled kernels. The first call for a group is one of all ranks."""
    world: Any = dist.group.WORLD if group is None else group
    if world not in _memory:
        _memory[world] = _opened(group)
    return _memory[world]


def exchanges_of(group: Any) -> int:
    """Number of exchanges that this rank has begun through shared memory."""
    memory = _memory.get(dist.group.WORLD if group is None else group)
    return 0 if memory is None else memory.count


def stop(group: Any) -> None:
    """End the exchanges of all ranks of a group."""
    memory = _memory.get(dist.group.WORLD if group is None else group)
    if memory is not None:
        memory.rings.stop()


class SharedMemory:
    """The rings of this rank. file : descriptor of the memory, with room for all rings.

    count : the number of exchanges that were begun.
    """

    def __init__(self, file: int, rank: int, ranks: int, room: int, timeout: float):
        self._file, self._rank, self._ranks, self._timeout = file, rank, ranks, timeout
        weakref.finalize(self, os.close, file)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, rank)
        kernels: Any = native.load()
        self._bytes = torch.frombuffer(mmap.mmap(file, kernels.Rings.size(ranks, room)), dtype=torch.uint8)
        self.rings: Any = kernels.Rings(self._bytes, rank, ranks, room)
        self.count = 0
        self._underway: dict[int, tuple[list[Tensor], list[Tensor]]] = {}  # by number: tensors that must stay

    def all_to_all_single(
        self, received: Tensor, sent: Tensor, receiving: list[int] | None = None, sending: list[int] | None = None
    ) -> Work:
        """As the function of torch.distributed: rows of `sent` for each rank, equally many where no numbers are
        given."""
        return self.begin(_by_rank(received, receiving, self._ranks), _by_rank(sent, sending, self._ranks))

    def all_gather(self, received: list[Tensor], sent: Tensor) -> Work:
        """As the function of torch.distributed."""
        return self.begin([_bytes(each) for each in received], [_bytes(sent)] * self._ranks)

    def begin(self, received: list[Tensor], sent: list[Tensor]) -> Work:
        """Begin to send bytes to each rank and to receive some from each."""
        number = self.rings.begin(sent, received)
        self._underway[number] = received, sent
        self.count += 1
        return Work(self, number)

    def wait(self, number: int) -> None:
        """Wait for an exchange. Raises DistNetworkError where a rank has ended, or does not come."""
        end = time.monotonic() + self._timeout
        while not self.rings.wait(number, SLICE):
            ended = self._ended()
            if ended is not None and not self.rings.wait(number, 0):  # it may have come before that
                self.rings.stop()
                raise dist.DistNetworkError(ended)
            if time.monotonic() > end:
                raise dist.DistNetworkError(f"timed out waiting {self._timeout:g} s for other ranks")
        for each in [each for each in self._underway if each <= number]:
            del self._underway[each]

    def _ended(self) -> str | None:
        """Why an exchange cannot be done."""
        if self.rings.stopped:
            return "another rank has ended the exchanges"
        for rank in range(self._ranks):
            if rank != self._rank:
                with suppress(OSError):  # the lock of a rank that lives
                    fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, rank)
                    fcntl.lockf(self._file, fcntl.LOCK_UN, 1, rank)
                    return f"rank {rank} has ended"
        return None


class Work:
    """An exchange under way."""

    def __init__(self, memory: SharedMemory, number: int):
        self._memory, self._number = memory, number

    def wait(self) -> None:
        """Wait until it is done."""
        self._memory.wait(self._number)

    def get_future(self) -> Any:
        """Raises RuntimeError: nothing tells when it is done but waiting for it."""
        raise RuntimeError("no futures")


def _bytes(rows: Tensor) -> Tensor:
    """The bytes of a contiguous tensor."""
    return rows.detach().view(-1).view(torch.uint8)


def _by_rank(rows: Tensor, counts: list[int] | None, ranks: int) -> list[Tensor]:
    """The bytes of the rows of each rank."""
    data = _bytes(rows)
    if counts is None or not len(data):
        return list(data.chunk(ranks)) if len(data) else [data] * ranks
    size = len(data) // len(rows)
    return list(data.split([count * size for count in counts]))


def _opened(group: Any) -> SharedMemory | None:
    """Open the memory of a group, on all ranks or none."""
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    room = min(MOST_ROOM, MOST_BYTES // (ranks * ranks)) // mmap.PAGESIZE * mmap.PAGESIZE
    if ranks == 1 or not room:
        return None
    kernels: Any = native.load()
    is_able = kernels is not None and fcntl is not None and BOOT.exists() and NETWORK.exists() and FOLDER.is_dir()
    machine = int.from_bytes(BOOT.read_bytes()[:7], "big") ^ NETWORK.stat().st_ino if is_able else -1
    name = secrets.randbits(62)
    file = _made(name, kernels.Rings.size(ranks, room)) if is_able and rank == 0 else None
    told = _told([machine, name], group)
    path, memory = FOLDER / f"tgraph-{told[0][1]:x}", None
    if is_able and all(each[0] == machine for each in told):
        with suppress(OSError):  # there was no room, or another container has another folder
            file = os.open(path, os.O_RDWR) if file is None else file
            memory = SharedMemory(file, rank, ranks, room, _timeout(group))
    is_there = all(each[0] for each in _told([memory is not None], group))
    if rank == 0:
        path.unlink(missing_ok=True)
    return memory if is_there else None


def _made(name: int, size: int) -> int | None:
    """A new file of so many bytes; None where there is no room."""
    path = FOLDER / f"tgraph-{name:x}"
    with suppress(OSError):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with suppress(OSError):
            os.posix_fallocate(file, 0, size)  # or a write would find none later, and end the process
            return file
        os.close(file)
        path.unlink()
    return None


def _told(mine: list[int], group: Any) -> list[list[int]]:
    """The numbers of all ranks."""
    given = torch.tensor(mine, dtype=torch.int64, device="cpu")
    found = [torch.empty_like(given) for _ in range(dist.get_world_size(group))]
    dist.all_gather(found, given, group=group)
    return [each.tolist() for each in found]


def _timeout(group: Any) -> float:
    world: Any = dist.group.WORLD if group is None else group
    return world._get_backend(torch.device("cpu")).options._timeout.total_seconds()
