"""The command in several processes: each process of torchrun is a rank, and the first one prints for all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout

import tgraph as tg
from tgraph.errors import ArgumentError


def are_several() -> bool:
    """True in one of several processes of a launcher."""
    return "RANK" in os.environ and number() > 1


def number() -> int:
    """The number of processes that the launcher has started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


@contextmanager
def only_first_speaks() -> Iterator[None]:
    """A context that drops the output of all processes but the first, which also prints the errors of the others. An
    unexpected failure is printed by its own process."""
    with ExitStack() as stack:
        if are_several() and int(os.environ["RANK"]):
            nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(redirect_stdout(nowhere))
            stack.enter_context(redirect_stderr(nowhere))
        yield


@contextmanager
def together(spreads: bool, device: str = "cpu") -> Iterator[None]:
    """The context of a command, in which there is a process group where there are several processes.

    spreads : True for a command of several processes. device : of each process. Raises ArgumentError for a command of
    one process.
    """
    if not are_several():
        yield
        return
    if not spreads:
        raise ArgumentError("this command runs in one process; start it without torchrun")
    import torch.distributed as dist

    tg.distributed.init_process_group(_backend(device))
    try:
        with tg.distributed.together():
            yield
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def _backend(device: str) -> str:
    """The backend for tensors: NCCL for those on GPUs where each process of a machine has one of its own, else gloo."""
    import torch

    own = (
        torch.device(device).type == "cuda"
        and int(os.environ.get("LOCAL_WORLD_SIZE", number())) <= torch.cuda.device_count()
    )
    return "cpu:gloo,cuda:nccl" if own else "gloo"
