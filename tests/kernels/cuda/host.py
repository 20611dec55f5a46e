"""Runs CUDA kernels on the CPU: their sources compiled by g++ against `shim.hpp`, which emulates blocks and warps."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import torch
from built import built, digest, version_of
from torch import Tensor

from tgraph.kernels.cuda import compiler
from tgraph.kernels.cuda.runtime import SOURCES, Argument, Kernel

HERE = Path(__file__).parent
Size = int | tuple[int, int]
SANITIZED = bool(os.environ.get("TGRAPH_SHIM_SANITIZE"))  # libasan must be preloaded then
FLAGS = ["-std=c++20", "-O1", "-g", "-fPIC", "-shared", "-fno-strict-aliasing", "-w"]
if SANITIZED:
    FLAGS += ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]


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
        self.prepare([kernel])
        values = [as_value(argument) for argument in given]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(value) for value in values))
        sizes = [*pair(grid), *pair(block), self.seed]
        self._functions[kernel](pointers, len(values), *(ctypes.c_uint(size) for size in sizes))

    def _compile(self, source: str, kernels: list[Kernel]) -> None:
        lines = ['#include "shim.hpp"', f'#include "{source}"']
        for i, kernel in enumerate(kernels):
            lines.append(
                f'extern "C" void kernel_{i}(void** arguments, int count, unsigned gx, unsigned gy, unsigned bx, '
                f"unsigned by, unsigned seed) {{\n    shim::call({kernel.expression}, arguments, count, dim3(gx, gy), "
                "dim3(bx, by), seed);\n}"
            )
        text = "\n".join(lines)
        library = ctypes.CDLL(str(built(f"shim/{made_from(text, source)}.so", lambda path: build(text, source, path))))
        for i, kernel in enumerate(kernels):
            self._functions[kernel] = getattr(library, f"kernel_{i}")


def made_from(text: str, source: str) -> str:
    """The digest of all that the library of a text that includes a source depends on."""
    ours = sorted({*compiler._files(SOURCES / source), *HERE.glob("*.hpp")})
    return digest((text, FLAGS, version_of("g++"), *(path.read_text() for path in ours)))


def build(text: str, source: str, path: Path) -> None:
    """Compile a text that includes a source to a library."""
    with tempfile.TemporaryDirectory(prefix="shim-") as folder:
        main = Path(folder) / "main.cpp"
        main.write_text(text)
        command = ["g++", *FLAGS, f"-I{SOURCES}", f"-I{HERE}", str(main), "-o", str(path)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"g++ rejects {source}:\n{done.stderr[:4000]}")


def pair(size: Size) -> tuple[int, int]:
    return size if isinstance(size, tuple) else (size, 1)


def as_value(argument: Argument) -> ctypes._SimpleCData:
    if argument is None or isinstance(argument, Tensor):
        assert argument is None or argument.device == torch.device("cpu")
        return ctypes.c_void_p(None if argument is None else argument.data_ptr())
    return ctypes.c_double(argument) if isinstance(argument, float) else ctypes.c_int64(argument)
