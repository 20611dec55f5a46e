"""How much memory each system takes at its peak, imported, with a graph loaded, and after a breadth-first search.

    python -m bench.memory FOLDER SYSTEM ...

Every system runs in a separate process, started by a small one: the peak that the system reports of a process starts
from that of the process which started it. We read our own file; peers are made from numpy arrays read from an .npz
file; GAPBS reads its own. "torch" is `import torch` alone.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import peers
from bench.arrays import Arrays, Description

# Runs a command and prints the largest resident set of it, in KiB (bytes on macOS), after what the command printed. It
# first writes itself into a control group, where one is named, which its children then belong to.
LAUNCHER = """
import os, sys
group = sys.argv.pop(1)
if group:
    open(group, "w").write(str(os.getpid()))
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""
UNIT = 1 if sys.platform == "darwin" else 1024


def peak() -> int:
    """Bytes that this process has held at most."""
    return UNIT * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def launch(command: list[str], threads: int, group: str | None = None) -> tuple[list[str], int]:
    """Run a command; what it printed, by lines, and its peak in bytes. `group` : the file of a control group that takes
    processes. Raises RuntimeError where it fails."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, group or "", *command]
    done = subprocess.run(launcher, capture_output=True, text=True, env=environment, timeout=600)
    lines = done.stdout.splitlines()
    if done.returncode:
        raise RuntimeError((done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1])
    return lines[:-1], UNIT * int(lines[-1])


def child(system: str, folder: Path, threads: int) -> None:
    """What is measured: prints the peaks so far after each step."""
    if system == "torch":
        importlib.import_module("torch")
        print(json.dumps({"imported": peak()}))
        return
    made = peers.load(system)
    found = {"imported": peak()}
    description = Description.load(folder)
    arrays = None if system == "tgraph" else Arrays.load(folder / "graph.npz")
    running = made(folder, arrays, description, threads)
    running.graph  # noqa: B018
    found["loaded"] = peak()
    running.kernels()["bfs"].call(description.sources[0])
    print(json.dumps(found | {"searched": peak()}))


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
        child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    else:
        print(json.dumps([measure(system, Path(sys.argv[1]), 1) for system in sys.argv[2:]]))
