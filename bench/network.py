"""A network of its own for each process of a group: namespaces of the system that a bridge joins, with delay and loss.

The delay and the loss are those of the system (tc, netem); where its kernel has none, a process in the middle takes the
frames from the interfaces (TAP devices) and passes them on late, or not at all. Needs Linux, root and iproute2.
"""

from __future__ import annotations

import collections
import fcntl
import os
import random
import select
import shutil
import struct
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

LINK = "link0"  # the interface of a rank

_TUNSETIFF, _IFF_TAP, _IFF_NO_PI = 0x400454CA, 0x0002, 0x1000  # linux/if_tun.h
_LARGEST = 1 << 16  # bytes of a frame


class Network:
    """One namespace for each rank, with an interface LINK whose address is `address(rank)`; a context.

    delay : seconds that a frame takes, one way. loss : the share of frames that are lost, each way.
    Raises OSError where the system does not allow it, which says why.
    """

    def __init__(self, ranks: int, delay: float = 0.0, loss: float = 0.0):
        self._ranks, self._delay, self._loss = ranks, delay, loss
        self._names = [f"tgraph-{os.getpid()}-{each}" for each in (*range(ranks), "hub")]
        self._relay: subprocess.Popen[str] | None = None
        self.by = ""  # what delays: "netem", "relay", or "" for nothing

    def __enter__(self) -> Network:
        for tool in ("ip", "tc"):
            if shutil.which(tool) is None:
                raise OSError(f"the command {tool} is missing; install iproute2")
        try:
            for name in self._names:
                _do("ip", "netns", "add", name)
                self._in(name, "ip", "link", "set", "lo", "up")
            self._join()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        if self._relay is not None:
            self._relay.kill()
            self._relay.communicate()
        for name in self._names:
            with suppress(OSError):
                _do("ip", "netns", "del", name)

    def address(self, rank: int) -> str:
        """The address of a rank."""
        return f"10.77.{rank >> 8}.{(rank & 255) + 1}"

    def start(self, rank: int, command: list[str], **options: Any) -> subprocess.Popen[str]:
        """Start the process of a rank in its namespace, told what torch.distributed reads from the environment."""
        told = {"RANK": rank, "WORLD_SIZE": self._ranks, "MASTER_ADDR": self.address(0), "MASTER_PORT": 29500}
        told |= {"GLOO_SOCKET_IFNAME": LINK}
        environment = os.environ | {name: str(value) for name, value in told.items()} | options.pop("env", {})
        inside = ["ip", "netns", "exec", self._names[rank], *command]
        return subprocess.Popen(inside, env=environment, text=True, **options)

    def _in(self, name: str, *command: str) -> None:
        _do("ip", "netns", "exec", name, *command)

    def _join(self) -> None:
        *ranks, hub = self._names
        self._in(hub, "ip", "link", "add", "bridge", "type", "bridge")
        self._in(hub, "ip", "link", "set", "bridge", "up")
        for rank, name in enumerate(ranks):
            port = f"port{rank}"
            self._in(hub, "ip", "link", "add", port, "type", "veth", "peer", "name", LINK, "netns", name)
            self._in(hub, "ip", "link", "set", port, "master", "bridge", "up")
        if self._delay or self._loss:
            self._make_late()
        for rank, name in enumerate(ranks):
            self._in(name, "ip", "address", "add", f"{self.address(rank)}/16", "dev", LINK)
            self._in(name, "ip", "link", "set", LINK, "up")

    def _make_late(self) -> None:
        *ranks, hub = self._names
        late = ["netem", "delay", f"{self._delay * 1e3:g}ms", "loss", f"{self._loss * 100:g}%", "limit", "100000"]
        try:
            for name in ranks:
                self._in(name, "tc", "qdisc", "add", "dev", LINK, "root", *late)
            self.by = "netem"
        except OSError:
            for rank in range(len(ranks)):
                self._in(hub, "ip", "link", "del", f"port{rank}")
            command = [sys.executable, __file__, str(self._delay), str(self._loss), *ranks]
            self._relay = subprocess.Popen(
                ["ip", "netns", "exec", hub, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            assert self._relay.stdout is not None and self._relay.stderr is not None
            if not self._relay.stdout.readline():
                raise OSError(f"the kernel has no netem, and no TAP devices: {self._relay.stderr.read()}") from None
            self.by = "relay"


def _do(*command: str) -> None:
    """Run a command. Raises OSError, with what it said, where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")


# ---- the relay -------------------------------------------------------------------------------------------------------


def _tap(name: str) -> int:
    """A new interface, whose frames are what is read from and written to a descriptor."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH", name.encode(), _IFF_TAP | _IFF_NO_PI))
    return descriptor


def relay(delay: float, loss: float, namespaces: list[str]) -> None:
    """Give each namespace an interface, and pass frames on between them until this process is killed."""
    ports = []
    for number, name in enumerate(namespaces):
        ports.append(_tap(f"port{number}"))
        _do("ip", "link", "set", f"port{number}", "netns", name, "name", LINK)
    print("ready", flush=True)
    chance, homes = random.Random(0), dict[bytes, int]()
    under_way: collections.deque[tuple[float, int, bytes]] = collections.deque()
    watching = select.poll()
    for port in ports:
        watching.register(port, select.POLLIN)
    while True:
        pause = None if not under_way else max(under_way[0][0] - time.monotonic(), 0) * 1e3
        for port, _ in watching.poll(pause):
            with suppress(OSError):  # an interface is not up yet
                frame = os.read(port, _LARGEST)
                homes[frame[6:12]] = port
                if chance.random() >= loss:
                    under_way.append((time.monotonic() + delay, port, frame))
        while under_way and under_way[0][0] <= time.monotonic():
            _, origin, frame = under_way.popleft()
            home = homes.get(frame[:6])
            for port in ports if home is None else [home]:
                if port != origin:
                    with suppress(OSError):
                        os.write(port, frame)


if __name__ == "__main__":
    relay(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
