"""Runs CUDA kernels on the CPU: their sources compiled by g++ against `shim.hpp`, which emulates blocks and warps."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import dry
import torch
from built import built, digest, version_of
from torch import Tensor

from tgraph.kernels.cuda import compiler
from tgraph.kernels.cuda.runtime import SOURCES, Argument, Kernel

HERE = Path(__file__).parent
Size = int | tuple[int, int]
FLAGS = ["-std=c++20", "-O1", "-g1", "-fPIC", "-fno-strict-aliasing", "-fno-gnu-unique", "-w"]

# What watches the kernels. Without any of the variables the shim does, which is called at each access to memory, and
# g++'s check of alignment. TGRAPH_SHIM_SANITIZE: AddressSanitizer and UndefinedBehaviorSanitizer. TGRAPH_SHIM_THREADS:
# so many threads of the host share the blocks of a grid under ThreadSanitizer. Their libraries must be preloaded.
SANITIZED = bool(os.environ.get("TGRAPH_SHIM_SANITIZE"))
THREADS = int(os.environ.get("TGRAPH_SHIM_THREADS", "1"))
DRY = os.environ.get("TGRAPH_DRY")  # an architecture for which every launch is prepared as well, up to the driver
if SANITIZED:
    LINKED = ["-fsanitize=address,undefined"]
    FLAGS += [*LINKED, "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-DTGRAPH_SHIM_ASAN"]
else:
    FLAGS += ["-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0"]
    if THREADS > 1:
        LINKED = ["-fsanitize=thread"]
        FLAGS += ["--param=tsan-distinguish-volatile=1", f"-DTGRAPH_SHIM_THREADS={THREADS}"]
    else:
        LINKED = ["-fsanitize=alignment"]
        FLAGS += [*LINKED, "-fno-sanitize-recover=alignment", "-DTGRAPH_SHIM_WATCHED"]


class Host:
    """A launcher for CPU tensors. Every kernel is compiled at its first launch, and kept for later runs; `prepare`
    compiles many at once, which is several times faster. `seed` draws the order of blocks and threads."""

    def __init__(self, seed: int = 0):
        self.seed = seed
        self._functions: dict[Kernel, ctypes._CFuncPtr] = {}

    def prepare(self, kernels: Iterable[Kernel]) -> None:
        wanted = [kernel for kernel in dict.fromkeys(kernels) if kernel not in self._functions]
        for source in dict.fromkeys(kernel.source for kernel in wanted):
            self._compile(source, [kernel for kernel in wanted if kernel.source == source])

    def launch(
        self, kernel: Kernel, grid: int | tuple[int, int], block: int | tuple[int, int], *given: Argument
    ) -> None:
        if DRY and grid and 0 not in pair(grid):
            dry.launch(DRY, kernel, grid, block, *given)
        self.prepare([kernel])
        values = [as_value(argument) for argument in given]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(value) for value in values))
        sizes = [*pair(grid), *pair(block), self.seed]
        codes = "".join(map(code_of, given)).encode()
        self._functions[kernel](pointers, codes, *(ctypes.c_uint(size) for size in sizes))

    def _compile(self, source: str, kernels: list[Kernel]) -> None:
        if DRY:
            dry.prepare(kernels, DRY)
        lines = ['#include "shim.hpp"', f'#include "{source}"']
        for i, kernel in enumerate(kernels):
            lines.append(
                f'extern "C" void kernel_{i}(void** arguments, const char* codes, unsigned gx, unsigned gy, '
                f"unsigned bx, unsigned by, unsigned seed) {{\n    shim::call({kernel.expression}, arguments, codes, "
                "dim3(gx, gy), dim3(bx, by), seed);\n}"
            )
        text = "\n".join(lines)
        library = ctypes.CDLL(str(built(f"shim/{made_from(text, source)}.so", lambda path: build(text, source, path))))
        for i, kernel in enumerate(kernels):
            self._functions[kernel] = getattr(library, f"kernel_{i}")


def made_from(text: str, source: str) -> str:
    """The digest of all that the library of a text that includes a source depends on."""
    ours = sorted({*compiler._files(SOURCES / source), *HERE.glob("*.hpp")})
    return digest((text, FLAGS, LINKED, version_of("g++"), *(path.read_text() for path in ours)))


def build(text: str, source: str, path: Path) -> None:
    """Compile a text that includes a source to a library."""
    with tempfile.TemporaryDirectory(prefix="shim-") as folder:
        main = Path(folder) / "main.cpp"
        main.write_text(text)
        for command in (
            ["g++", *FLAGS, f"-I{SOURCES}", f"-I{HERE}", "-c", f"{main}", "-o", f"{main}.o"],
            ["g++", *LINKED, "-shared", f"{main}.o", "-o", str(path)],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"g++ rejects {source}:\n{done.stderr[:4000]}")


def pair(size: Size) -> tuple[int, int]:
    return size if isinstance(size, tuple) else (size, 1)


def code_of(argument: Argument) -> str:
    """What the shim holds against the type of the parameter: the bytes of a number in a tensor, 0 for no tensor, or
    whether a number is whole."""
    if isinstance(argument, Tensor):
        return str(argument.element_size())
    return "0" if argument is None else "d" if isinstance(argument, float) else "i"


def as_value(argument: Argument) -> ctypes._SimpleCData:
    if argument is None or isinstance(argument, Tensor):
        assert argument is None or argument.device == torch.device("cpu")
        return ctypes.c_void_p(None if argument is None else argument.data_ptr())
    return ctypes.c_double(argument) if isinstance(argument, float) else ctypes.c_int64(argument)
