"""Compiles kernels by NVRTC when they are first used, and keeps the result on disk.

NVRTC is a library that needs neither a GPU nor its driver. cuda.core calls the one that the process has loaded already:
on Linux and Windows a CUDA build of torch from pip loads its own when it is imported, so that both use the same. Where
none is loaded, cuda.pathfinder looks for the package nvidia-cuda-nvrtc, in a conda environment, where the system looks
for libraries, and in CUDA_PATH or CUDA_HOME, in this order.

The result is machine code for one architecture (a cubin) rather than PTX, which drivers older than the compiler reject
and others have to translate first.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock

from tgraph.core.system import cache
from tgraph.errors import KernelError
from tgraph.files.atomic_write import replacing
from tgraph.kernels.cuda.kernel import SOURCES, Kernel

# ptxas says which kernels spill registers; the tests read it.
OPTIONS: dict[str, Any] = {"std": "c++17", "ptxas_options": ["-v"]}
PATIENCE = 120  # seconds to wait for another process that compiles the same source


@dataclass(frozen=True)
class Binary:
    """Compiled kernels: a cubin, and the symbol in it for each kernel by its expression."""

    code: bytes
    symbols: dict[str, str]


def compile(kernels: Sequence[Kernel], architecture: str) -> Binary:
    """The kernels of one source, from the cache or else from NVRTC.

    kernels : at least one, all of the same source.
    architecture : such as "sm_90".

    Raises KernelError with the compiler's log where NVRTC rejects them. Where nothing can be kept it warns.
    """
    folder = _folder()
    if folder is None:
        return translate(kernels, architecture)[0]
    stem = Path(kernels[0].source).stem
    entry = folder / f"{stem}-{architecture}-{_key(kernels, architecture)}.bin"
    binary = _read(entry)
    if binary is not None:
        return binary
    with ExitStack() as locked:
        # The lock only saves work: entries appear whole, and two processes that compile the same write the same. So
        # go on where the file system has no locks, or when its holder takes too long.
        with suppress(OSError, NotImplementedError):
            locked.enter_context(FileLock(folder / f"{stem}.lock", timeout=PATIENCE))
        binary = _read(entry)
        if binary is None:
            binary = translate(kernels, architecture)[0]
            _write(entry, binary)
    return binary


def translate(kernels: Sequence[Kernel], architecture: str) -> tuple[Binary, str]:
    """The kernels of one source compiled by NVRTC now, and its log. The parameters and errors are those of `compile`.

    Templates take a while to read, so that many kernels at once are faster than one by one.
    """
    from cuda.core import Program, ProgramOptions

    source = SOURCES / kernels[0].source
    expressions = tuple(kernel.expression for kernel in kernels)
    log = io.StringIO()
    try:
        options = ProgramOptions(
            name=source.name, arch=architecture, include_path=[str(source.parent), str(SOURCES)], **OPTIONS
        )
        program = Program(source.read_text(), "c++", options)
        compiled = program.compile("cubin", name_expressions=expressions, logs=log)
    except Exception as fault:  # cuda.core does not export the class of its errors
        some = ", ".join(expressions[:3]) + (f" and {len(expressions) - 3} more" if len(expressions) > 3 else "")
        raise KernelError(
            some, f"NVRTC {version()} cannot compile {source.name} for {architecture}", str(fault)
        ) from fault
    symbols = {name: symbol.decode() for name, symbol in compiled.symbol_mapping.items()}
    return Binary(bytes(compiled.code), symbols), log.getvalue()


@functools.cache
def version() -> str:
    """NVRTC's version, such as "13.0". Raises an error of cuda.bindings where there is no NVRTC."""
    from cuda.bindings import nvrtc

    _, major, minor = nvrtc.nvrtcVersion()
    return f"{major}.{minor}"


@functools.cache
def unavailable() -> str | None:
    """Why this process cannot compile, and the remedy; None where it can."""
    remedy = f"pip install 'tgraph[{extra()}]'"
    try:
        import cuda.core  # noqa: F401
    except ImportError as missing:
        return f"the package cuda-core cannot be imported ({missing}); {remedy}"
    try:
        version()
    except Exception as missing:  # the loader's errors differ from release to release
        return f"NVRTC cannot be loaded ({str(missing).splitlines()[0]}); {remedy}"
    return None


def extra() -> str:
    """The extra of this package that goes with the CUDA of torch."""
    return "cuda12" if (torch.version.cuda or "").startswith("12.") else "cuda13"


def architecture(capability: tuple[int, int]) -> str | None:
    """The architecture to compile for on a device of that compute capability, None where NVRTC does not know it.

    Machine code also runs on later devices of the same major number.
    """
    from cuda.bindings import nvrtc

    _, known = nvrtc.nvrtcGetSupportedArchs()
    major, minor = capability
    fitting = [each for each in known if each // 10 == major and each % 10 <= minor]
    return f"sm_{max(fitting)}" if fitting else None


# ---- entries of the cache -----------------------------------------------------------------------------------------


def _folder() -> Path | None:
    """Where entries are kept. What is read there runs on the GPU, so that nobody else may write there."""
    try:
        return cache.private_folder("kernels")
    except (OSError, RuntimeError) as fault:
        _warn(fault)
        return None


def _warn(fault: Exception) -> None:
    warnings.warn(
        f"compiled CUDA kernels are not kept ({fault}), so that every process compiles them again; "
        "let the environment variable TGRAPH_CACHE name a folder that you alone can write",
        RuntimeWarning,
        stacklevel=3,
    )


def _key(kernels: Sequence[Kernel], architecture: str) -> str:
    """A digest of all that the result depends on."""
    texts = sorted((path.name, path.read_text()) for path in _files(SOURCES / kernels[0].source))
    expressions = sorted(kernel.expression for kernel in kernels)
    facts = (texts, sorted(OPTIONS.items()), expressions, version(), architecture)
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def _files(source: Path) -> set[Path]:
    """A source and the files of this package that it includes, directly or not."""
    found: set[Path] = set()
    ahead = [source]
    while ahead:
        path = ahead.pop()
        if path not in found:
            found.add(path)
            ahead += _included(path)
    return found


def _included(path: Path) -> Iterator[Path]:
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.MULTILINE):
        beside = [folder / name for folder in (path.parent, SOURCES) if (folder / name).is_file()]
        yield from beside[:1]


def _write(entry: Path, binary: Binary) -> None:
    """A digest of the rest, the symbols as one line, the cubin."""
    body = json.dumps(binary.symbols).encode() + b"\n" + binary.code
    try:
        with replacing(entry, 0o600) as temporary:
            temporary.write_bytes(hashlib.sha256(body).digest() + body)
    except OSError as fault:
        _warn(fault)


def _read(entry: Path) -> Binary | None:
    """The file that `_write` wrote, None where it is missing or damaged, or others could have written it."""
    try:
        with entry.open("rb") as file:
            cache.check_is_private(os.fstat(file.fileno()), entry)
            content = file.read()
    except OSError:
        return None
    digest, body = content[:32], content[32:]
    if hashlib.sha256(body).digest() != digest:
        return None
    symbols, _, code = body.partition(b"\n")
    return Binary(code, json.loads(symbols))
