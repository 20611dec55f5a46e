"""The machine and the versions that measurements ran on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from tgraph.core.system import native


def describe_machine() -> dict[str, str]:
    """{property: its value}; fewer of them on systems other than Linux."""
    found = {"system": platform.platform(), "cores": str(os.cpu_count()), "processor": platform.processor()}
    lines = read("/proc/cpuinfo").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    if models:
        found["processor"] = models[0]
    if kernels := native.load():
        found["instruction set of the kernels"] = kernels.instruction_set()
    for line in read("/proc/meminfo").splitlines():
        if line.startswith("MemTotal"):
            found["memory"] = f"{int(line.split()[1]) / 2**20:.1f} GiB"
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (read(index / name).strip() for name in ("level", "type", "size"))
        found[f"L{level} {kind.lower()}"] = size
    huge_pages = read("/sys/kernel/mm/transparent_hugepage/enabled")
    if "[" in huge_pages:
        found["transparent huge pages"] = huge_pages.partition("[")[2].partition("]")[0]
    return found


def versions(packages: Iterable[str]) -> dict[str, str]:
    """{package: its version, or "not installed"}"""

    def version(package: str) -> str:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return "not installed"

    return {package: version(package) for package in packages}


def read(path: str | Path) -> str:
    """A small file of the system, empty where there is none."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""
