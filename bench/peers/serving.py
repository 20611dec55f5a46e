"""A system that needs an environment of its own, in a process that answers calls.

    python -m bench.peers.serving NAME FOLDER WORKERS

Reads lines [kernel, argument] in JSON, calls, writes the result to FOLDER/NAME.npy, and answers with the seconds that
the call took, or the fault. The first answer, once the system has its graph, is the seconds that this took. What the
system prints goes to the standard error stream.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench import peers
from bench.arrays import Arrays, Description


def main(name: str, folder: Path, workers: int) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**content: Any) -> None:
        print(json.dumps(content), file=answers, flush=True)

    begin = time.perf_counter()
    system = peers.load(name)(folder, Arrays.load(folder / "graph.npz"), Description.load(folder), workers)
    system.prepare()
    kernels = system.kernels()
    answer(seconds=time.perf_counter() - begin)
    for line in sys.stdin:
        kernel, argument = json.loads(line)
        try:
            begin = time.perf_counter()
            result = kernels[kernel].call(argument)
            seconds = time.perf_counter() - begin
            np.save(folder / f"{name}.npy", kernels[kernel].read(result))
            answer(seconds=seconds)
        except Exception as fault:
            answer(fault=f"{type(fault).__name__}: {fault}".splitlines()[0])
    if hasattr(system, "close"):
        system.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
