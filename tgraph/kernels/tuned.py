"""Measurements of `tgraph.tune`: the fastest backend for sums and for maxima over graphs like one measured.

The choices are kept in a file of the user's cache folder, by everything that they depend on: device, driver, torch,
threads, the degrees of the graph to within a factor of two, dtype, and the columns of the data rounded up to a power
of two. Each process reads the file once.
"""

from __future__ import annotations

import functools
import json
import platform
import re
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from tgraph.core.graph import Graph
from tgraph.core.system import cache
from tgraph.files.atomic_write import replacing
from tgraph.kernels.call import Call

FILE = "tuned.json"

# Reductions that take the same time, by the one that is measured for them.
MEASURED = {"sum": "sum", "mean": "sum", "max": "max", "min": "max"}


@dataclass(frozen=True)
class Measured:
    """The backend chosen, and the milliseconds that a call took on each that was measured."""

    choice: str
    milliseconds: dict[str, float]


@dataclass(frozen=True)
class Degrees:
    """Statistics of a graph on which the speed of a pull depends: n, m and the largest in-degree."""

    vertices: int
    arcs: int
    largest: int

    def __str__(self) -> str:
        return ", ".join(f"{name} 2^{number.bit_length()}" for name, number in vars(self).items())


def _degrees(graph: Graph) -> Degrees:
    largest = int(graph.in_degree.max()) if graph.num_vertices else 0
    return Degrees(graph.num_vertices, graph.num_arcs, largest)


def key(graph: Graph, reduce: str, columns: int, dtype: torch.dtype) -> str:
    """The key of a choice, as one line that a reader of the file understands."""
    width = 1 << max(columns - 1, 0).bit_length()
    degrees = graph.kept("_degrees", lambda: _degrees(graph))
    parts = (machine(graph.device), degrees, f"{MEASURED[reduce]} of {dtype}", f"columns {width}")
    return "; ".join(map(str, parts))


@functools.cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def machine(device: torch.device) -> str:
    """The device by its name, its driver, and the version of torch."""
    if device.type == "cuda":
        driver = torch._C._cuda_getDriverVersion()  # type: ignore[attr-defined]
        return f"{torch.cuda.get_device_name(device)}; driver {driver}; torch {torch.__version__}"
    name = _processor() if device.type == "cpu" else device.type
    return f"{name}; {torch.get_num_threads()} threads; torch {torch.__version__}"


def choice(call: Call) -> str | None:
    """The name of the backend that was chosen for calls like this one, None where nothing was measured."""
    if torch.compiler.is_compiling():  # which cannot look into a file
        return None
    known = stored()
    if not known or call.sub is None or call.reduction is None or call.reduction.name not in MEASURED:
        return None
    sub, data = call.sub, call.data
    if sub.mode != "pull" or not sub.selection.is_whole or sub.sends_partly or not data.is_floating_point():
        return None
    measured = known.get(key(sub.graph, call.reduction.name, data.shape[1:].numel(), call.dtype or data.dtype))
    return None if measured is None else measured.choice


def may_know(vertices: int, arcs: int) -> bool:
    """Whether something was measured on a graph of about so many vertices and arcs."""
    return (vertices.bit_length(), arcs.bit_length()) in _sizes()


@functools.cache
def _sizes() -> frozenset[tuple[int, int]]:
    """The binary orders of magnitude of vertices and arcs of what was measured."""
    found = (re.search(r"vertices 2\^(\d+), arcs 2\^(\d+),", name) for name in stored())
    return frozenset((int(sizes[1]), int(sizes[2])) for sizes in found if sizes)


@functools.cache
def stored() -> dict[str, Measured]:
    """All that was measured, by `key`."""
    return _read()


def store(measured: dict[str, Measured]) -> None:
    """Add to what is known, here and in the file. Raises OSError where that cannot be written, and RuntimeError where
    there is no folder for it; the process uses the measurements all the same."""
    stored().update(measured)
    _sizes.cache_clear()
    path = cache.folder() / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({name: asdict(entry) for name, entry in {**_read(), **measured}.items()}, indent=1)
    with replacing(path) as temporary:  # a reader never sees half a file
        temporary.write_text(text, encoding="utf-8")


def text_of(graph: Graph) -> str:
    """The measurements on graphs like this one, for a file of it; "" without any."""
    if not may_know(graph.num_vertices, graph.num_arcs):
        return ""
    own = f"; {graph.kept('_degrees', lambda: _degrees(graph))}; "
    found = {name: asdict(entry) for name, entry in stored().items() if own in name}
    return json.dumps(found) if found else ""


def learn(text: str) -> None:
    """Use the measurements of a file in this process, but for what was measured here; none from a damaged text."""
    for name, entry in _parsed(text).items():
        stored().setdefault(name, entry)
    _sizes.cache_clear()


def forget() -> None:
    """Read the file again when it is needed next."""
    stored.cache_clear()
    _sizes.cache_clear()


def _read() -> dict[str, Measured]:
    """The content of the file; empty without a file, or with one that cannot be read as such."""
    try:
        return _parsed((cache.folder() / FILE).read_text(encoding="utf-8"))
    except (OSError, RuntimeError, ValueError):
        return {}


def _parsed(text: str) -> dict[str, Measured]:
    try:
        entries = json.loads(text)
        return {name: Measured(str(entry["choice"]), dict(entry["milliseconds"])) for name, entry in entries.items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}
