"""The memory of each system at its peak, imported, with a graph loaded, and after a breadth-first search.

    python -m bench.memory FOLDER SYSTEM ...

Every system runs in a separate process. We read our own file; peers are made from numpy arrays read from an .npz file;
GAPBS reads its own. "torch" is `import torch` alone.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from bench import peers
from bench.arrays import Arrays, Description
from bench.process import launch, peak


def child(system: str, folder: Path, threads: int) -> dict[str, int]:
    """The peaks so far after each step, in this process."""
    if system == "torch":
        importlib.import_module("torch")
        return {"imported": peak()}
    made = peers.load(system)
    found = {"imported": peak()}
    description = Description.load(folder)
    arrays = None if system == "tgraph" else Arrays.load(folder / "graph.npz")
    running = made(folder, arrays, description, threads)
    running.graph  # noqa: B018
    found["loaded"] = peak()
    running.kernels()["bfs"].call(description.sources[0])
    return found | {"searched": peak()}


def measure(system: str, folder: Path, threads: int) -> dict[str, Any]:
    """{"system", and in bytes "imported", "loaded", "searched"}, or "error"."""
    try:
        if system == "gapbs":
            from bench import gapbs  # not above: the other systems do not need its imports

            programs, source = gapbs.folder(), Description.load(folder).sources[0]
            command = [f"{programs}/bfs", "-f", str(folder / "graph.sg"), "-r", str(source), "-n", "1"]
            return {"system": system, "searched": launch(command, threads)[1]}
        command = [sys.executable, "-m", "bench.memory", "--child", system, str(folder), str(threads)]
        return {"system": system} | json.loads(launch(command, threads)[0][-1])
    except Exception as fault:
        return {"system": system, "error": f"{type(fault).__name__}: {fault}".splitlines()[0][:200]}


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        print(json.dumps(child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))))
    else:
        print(json.dumps([measure(system, Path(sys.argv[1]), 1) for system in sys.argv[2:]]))
