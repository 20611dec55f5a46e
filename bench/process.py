"""Processes of their own, so that their threads, memory and peaks are those of what is measured alone."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.command import ROOT

UNIT = 1 if sys.platform == "darwin" else 1024  # bytes of ru_maxrss
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# Runs a command and prints the largest resident set of it after what the command printed: the peak that the system
# reports of a process starts from that of the process which started it, and this one is small.
LAUNCHER = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


def within(group: Path | None, command: list[str]) -> list[str]:
    """The command, in a process that enters a control group first, where there is one."""
    enter = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', f"{group}/cgroup.procs"]
    return command if group is None else [*enter, *command]


def environment(threads: int | None) -> dict[str, str]:
    """The variables of this process, with so many threads of OpenMP and of linear algebra."""
    return os.environ | ({} if threads is None else dict.fromkeys(LIBRARIES, str(threads)))


def python(
    *arguments: Any, threads: int | None = None, group: Path | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a module with its arguments: `python -m ARGUMENTS`."""
    command = within(group, [sys.executable, "-m", *map(str, arguments)])
    variables = environment(threads) | options.pop("env", {})
    return subprocess.run(command, env=variables, cwd=ROOT, text=True, **options)


def answer(*arguments: Any, **options: Any) -> Any:
    """The last line that a module prints, read as JSON. Raises CalledProcessError where it fails."""
    done = python(*arguments, stdout=subprocess.PIPE, check=True, **options)
    return json.loads(done.stdout.splitlines()[-1])


def fault_of(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of the errors of a process that failed."""
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]


def launch(command: list[str], threads: int, group: Path | None = None) -> tuple[list[str], int]:
    """Run a command; its output, by lines, and its peak in bytes. Raises RuntimeError where it fails."""
    launcher = within(group, [sys.executable, "-I", "-S", "-c", LAUNCHER, *command])
    done = subprocess.run(launcher, capture_output=True, text=True, env=environment(threads), timeout=600)
    if done.returncode:
        raise RuntimeError(fault_of(done))
    *lines, largest = done.stdout.splitlines()
    return lines, UNIT * int(largest)


def resident(kind: str) -> int:
    """Bytes of this process's memory by Linux: VmRSS at present, VmHWM at most so far, RssAnon without mapped files."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition(f"{kind}:")[2].split()[0])


def peak() -> int:
    """Bytes that this process has held at most, its code and mapped files included."""
    return UNIT * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def drop(path: Path) -> None:
    """Have the system forget the pages of a file."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
