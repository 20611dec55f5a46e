"""The compiled CPU kernels, where they were built."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, ContextDecorator, contextmanager
from types import ModuleType
from typing import Any

import torch  # noqa: F401  before the kernels, which read its number of threads

from tgraph.core.system import beside

# The dictionary behind `os.environ`, which encodes the name and decodes the value in every lookup.
ENVIRONMENT, VARIABLE = os.environ._data, os.environ.encodekey("TGRAPH_NATIVE")  # type: ignore[attr-defined]


def load() -> ModuleType | None:
    """The module `tgraph._native`, or None without it.

    It is missing if tgraph was installed without a C++ compiler; the first call then warns. The environment variable
    TGRAPH_NATIVE, read at every call, overrides: "0" turns the kernels off, a path loads the module from
    that file (a build with sanitizers, say).
    """
    choice = ENVIRONMENT.get(VARIABLE)
    if not choice:
        return _import_installed()
    choice = os.environ["TGRAPH_NATIVE"]
    if choice == "0":
        return None
    return _import_file(choice) if os.sep in choice else _import_installed()


def usable_cpus() -> int:
    """How many processors this process may use, by its affinity, and by quotas where the kernels can read them."""
    if module := load():
        return module.cpus()["usable"]
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_one_thread() -> None:
    """Restrict kernels called from this Python thread to this thread."""
    if module := load():
        module.limit_threads(1)


def hold_one_thread() -> None:
    """Restrict kernels and operators of torch that are called from this Python thread to this thread, until it ends."""
    if module := load():
        module.limit_threads(1)
        module.hold_torch()


@contextmanager
def one_thread_less() -> Iterator[None]:
    """Within a `with` block kernels called from this Python thread use one thread less, but at least one."""
    module = load()
    if module is None:
        yield
        return
    limit = module.limit_threads(max(module.thread_count() - 1, 1))
    try:
        yield
    finally:
        module.limit_threads(limit)


def one_torch_thread(backend: str = "auto") -> AbstractContextManager[None]:
    """Within a `with` block torch computes on the calling thread alone, if the compiled kernels serve `backend`.

    For programs in which torch itself computes little, beside compiled kernels, as a `Program` with `one_torch_thread`:
    torch's threads wait for each other after each operation, and where other processes use the processors too, that
    takes longer than the operation. The kernels use all threads.

    >>> with tg.one_torch_thread():
    ...     total = torch.arange(10).sum()
    >>> total
    tensor(45)
    """
    return _OneThread(backend)


class _OneThread(ContextDecorator):  # a generator takes thrice as long
    __slots__ = ("_backend", "_held", "_kernels")

    def __init__(self, backend: str):
        self._backend = backend

    def _recreate_cm(self) -> _OneThread:
        return _OneThread(self._backend)

    def __enter__(self) -> None:
        self._kernels: Any = load() if self._backend in ("auto", "native") else None
        self._held = 0 if self._kernels is None else self._kernels.hold_torch()

    def __exit__(self, *error: object) -> None:
        if self._held:
            self._kernels.release_torch(self._held)


@functools.cache
def _import_installed() -> ModuleType | None:
    try:
        return importlib.import_module("tgraph._native")
    except ImportError as missing:
        warnings.warn(
            f"tgraph runs without its compiled CPU kernels ({missing}) and is several times slower on the CPU for it; "
            f"{beside.how_to_get_kernels()}",
            RuntimeWarning,
            stacklevel=3,
        )
        return None


@functools.cache
def _import_file(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("tgraph._native", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"TGRAPH_NATIVE={path} is not an extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
