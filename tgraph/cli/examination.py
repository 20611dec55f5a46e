"""The report of `tgraph doctor`: versions, devices, their backends, and remedies for missing ones."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version

import torch

import tgraph as tg
from tgraph import kernels
from tgraph.cli import report
from tgraph.core.dispatch import LAYOUT
from tgraph.core.subgraph import whole
from tgraph.core.system import cache, native
from tgraph.errors import TGraphError
from tgraph.kernels import Backend
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import compiler
from tgraph.kernels.reductions import reduction_of


def facts_here() -> dict[str, list[tuple[str, str]]]:
    """{title: (subject, facts)} of this process."""
    return {
        "versions": list(versions()),
        "devices": [(device, model(device)) for device in devices()],
        "threads of the compiled kernels": list(threads()),
        "backends, best first": [(backend.name, served(backend)) for backend in kernels.BACKENDS.values()],
        "cache": list(cached()),
    }


def sections(facts: Mapping[str, Iterable[tuple[str, str]]]) -> str:
    """Titles, and under each a line for each fact."""
    return "\n\n".join(f"{title}\n{_indented(list(rows))}" for title, rows in facts.items())


def _indented(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"  {line}" for line in report.table(rows).splitlines())


def versions() -> Iterator[tuple[str, str]]:
    """(what, version), or how to get it."""
    yield "tgraph", tg.__version__
    yield "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield "torch", torch.__version__
    yield "CUDA of torch", torch.version.cuda or "none"
    try:
        yield "cuda.core", version("cuda-core")
    except PackageNotFoundError:
        yield "cuda.core", f"missing; pip install 'tgraph[{compiler.extra()}]'"
    reason = compiler.unavailable()
    yield "NVRTC", compiler.version() if reason is None else f"none: {reason}"


def devices() -> list[str]:
    """The devices that torch can use here."""
    found = ["cpu"]
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if accelerator is not None:
        found += [f"{accelerator.type}:{i}" for i in range(torch.accelerator.device_count())]
    return found


def model(device: str) -> str:
    """The model of a device."""
    if device == "cpu":
        return f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, {torch.backends.cpu.get_cpu_capability()}"
    if not device.startswith("cuda"):
        return "served by torch alone"
    facts = torch.cuda.get_device_properties(device)
    return f"{facts.name}, {report.scaled(facts.total_memory)}B, compute capability {facts.major}.{facts.minor}"


def threads() -> Iterator[tuple[str, str]]:
    """The number of threads of the compiled kernels, and its limits."""
    module = native.load()
    if module is None:
        yield "used", "none, as the kernels are not installed"
        return
    found = module.cpus()
    yield "used", str(module.thread_count())
    yield "torch uses", f"{torch.get_num_threads()} (torch.set_num_threads, OMP_NUM_THREADS)"
    yield "processors", f"{found['online']}, of which the process may run on {found['affinity']}"
    yield "quota of control groups", f"{found['quota']:g} processors" if found["quota"] else "none"
    yield "TGRAPH_CPUS", f"{found['demanded']}, which counts in place of both" if found["demanded"] else "not set"


def limits() -> tuple[int, float]:
    """(how many threads compute; how many processors control groups allow this process, 0 where they set no limit)"""
    module = native.load()
    if module is None:
        return torch.get_num_threads(), 0.0
    return module.thread_count(), float(module.cpus()["quota"])


def served(backend: Backend) -> str:
    """The devices on which a backend sums float32 messages, and the reasons against others."""
    refusals = {device: refusal(backend, device) for device in devices()}
    supported = [device for device, reason in refusals.items() if reason is None]
    reasons = [f"not {device}: {reason}" for device, reason in refusals.items() if reason is not None]
    if supported:
        only = ["graphs in a layout of their own alone"] if backend.name == LAYOUT else []
        return "; ".join([", ".join(supported), *only, *reasons])
    missing = backend.unavailable()
    return f"nothing here: {missing}" if missing else "; ".join(reasons)


def refusal(backend: Backend, device: str) -> str | None:
    """The reason why a backend does not support a plain call on a device, or None."""
    try:
        call = plain_call(device, layout=backend.name == LAYOUT)
        return kernels.find(backend.name, call).refused.get(backend.name)
    except (TGraphError, RuntimeError, AssertionError) as fault:  # torch's message about a device that it cannot use
        return str(fault).strip().partition("\n")[0]


def plain_call(device: str, layout: bool = False) -> Call:
    """A sum of float32 messages over a small graph on a device, in CSR or in a layout of its own."""
    graph = tg.Graph.from_edges([0], [1]).to(device)
    if layout:
        graph = graph.to_format("coo")
    sub = whole(graph, graph.everything(), "pull")
    return Call("aggregate", torch.ones(2, device=device), reduction_of("sum"), graph=graph, sub=sub)


def cached() -> Iterator[tuple[str, str]]:
    """The folder of compiled kernels and its size."""
    try:
        folder = cache.folder()
    except RuntimeError as fault:
        yield "folder", f"none ({fault}); the environment variable TGRAPH_CACHE can name one"
        return
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    yield "folder", f"{folder} (TGRAPH_CACHE names another)"
    yield "size", f"{report.scaled(sum(sizes))}B in {len(sizes)} files" if sizes else "empty"
