"""Runs a function on several ranks, each a process of its own on this machine."""

import datetime
import multiprocessing
import os
import pickle
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist


def on_ranks(number: int, function: Callable[..., Any], *args: Any, timeout: float = 60) -> list[Any]:
    """What `function(*args)` returns on each of the ranks of a group of processes, in their order.

    `function` is one that a module of tests has at its top. An exception on a rank is one here, with what that said."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        given = (number, folder, timeout, function, args)
        started = [context.Process(target=_as_rank, args=(rank, *given), daemon=True) for rank in range(number)]
        for process in started:
            process.start()
        for process in started:
            process.join(timeout)
        late = [rank for rank, process in enumerate(started) if process.is_alive()]
        for process in started:
            process.kill()
            process.join()
        results, failures = [], []
        for rank in range(number):
            path = Path(folder, f"{rank}.pickle")
            kind, value = pickle.loads(path.read_bytes()) if path.exists() else ("failed", "it left nothing behind")
            (results if kind == "done" else failures).append(value if kind == "done" else f"rank {rank}: {value}")
    assert not failures, "\n".join(([f"late: {late}"] if late else []) + failures)
    return results


def _as_rank(
    rank: int, number: int, folder: str, timeout: float, function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    try:
        dist.init_process_group(
            "gloo",
            init_method=f"file://{folder}/rendezvous",
            rank=rank,
            world_size=number,
            timeout=datetime.timedelta(seconds=timeout),
        )
        outcome = ("done", function(*args))
        if dist.is_initialized():  # unless the function has seen it end
            dist.barrier()
            dist.destroy_process_group()
    except BaseException:
        outcome = ("failed", traceback.format_exc())
    Path(folder, f"{rank}.pickle").write_bytes(pickle.dumps(outcome))
