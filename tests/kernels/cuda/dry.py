"""Launches up to the driver, without a GPU: the code compiled for it, and arguments as they are passed."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from cubin import Entry, entries
from torch import Tensor

from tgraph.kernels.cuda import compiler, runtime
from tgraph.kernels.cuda.runtime import Argument, Kernel, Size

# What each architecture has: bytes of shared memory that a block may opt in to (CUDA C++ programming guide, "Technical
# specifications per compute capability").
SHARED = {"sm_80": 163 << 10, "sm_90": 227 << 10, "sm_100": 227 << 10, "sm_120": 99 << 10}

# The same for all: static shared memory of a block (what is more has to be dynamic, and opted in to), registers and
# threads of a block, bytes of parameters that every driver takes.
STATIC_SHARED, REGISTERS, THREADS, PARAMETER_BYTES = 48 << 10, 1 << 16, 1024, 4096

AT_ONCE = 16  # kernels that are compiled together


class Placed(Tensor):
    """A tensor of the host whose device is a GPU."""

    is_cuda = True

    def get_device(self) -> int:
        return 0


def faults_of(entry: Entry, architecture: str, threads: int | None = None, dynamic: int = 0) -> list[str]:
    """What keeps a kernel from being launched, with so many threads in a block (as many as its source allows), and so
    many bytes of shared memory in addition to its own."""
    threads, found = threads or entry.max_threads or 1, []
    passed = [(8 * place, 8) for place in range(len(entry.parameters))]
    if list(entry.parameters) != passed or entry.parameter_bytes != 8 * len(passed):
        found.append(f"each argument is passed in 8 bytes, its parameters lie at {entry.parameters}")
    if entry.parameter_bytes > PARAMETER_BYTES:
        found.append(f"{entry.parameter_bytes} bytes of parameters, {PARAMETER_BYTES} are allowed")
    if threads > min(THREADS, entry.max_threads or THREADS):
        found.append(f"{threads} threads, {entry.max_threads or THREADS} are allowed")
    rounded = -(-entry.registers // 8) * 8 * (-(-threads // 32) * 32)  # registers are given to warps, 256 at a time
    if entry.registers > 255 or rounded > REGISTERS:
        found.append(f"{entry.registers} registers for each of {threads} threads, a block has {REGISTERS}")
    if entry.shared > STATIC_SHARED:
        found.append(f"{entry.shared} bytes of static shared memory, {STATIC_SHARED} are allowed")
    if entry.shared + dynamic > SHARED[architecture]:
        found.append(f"{entry.shared + dynamic} bytes of shared memory, a block has {SHARED[architecture]}")
    return found


_entries: dict[tuple[Kernel, str], Entry] = {}


def prepare(kernels: Sequence[Kernel], architecture: str) -> None:
    """Compile kernels of one source by NVRTC, several at once, which is faster than one by one."""
    for first in range(0, len(kernels), AT_ONCE):
        some = kernels[first : first + AT_ONCE]
        binary = compiler.compile(some, architecture)
        found = entries(binary.code)
        for kernel in some:
            _entries[kernel, architecture] = found[binary.symbols[kernel.expression]]


def entry_of(kernel: Kernel, architecture: str) -> Entry:
    """What NVRTC made of a kernel."""
    if (kernel, architecture) not in _entries:
        prepare([kernel], architecture)
    return _entries[kernel, architecture]


def launch(architecture: str, kernel: Kernel, grid: Size, block: Size, *arguments: Argument) -> None:
    """`runtime.launch` on tensors of the host, up to the call of the driver. An AssertionError tells
    what is wrong."""
    from cuda.core._kernel_arg_handler import ParamHolder

    assert runtime.configuration(kernel, grid, block) is not None
    given = [argument.as_subclass(Placed) if isinstance(argument, Tensor) else argument for argument in arguments]
    _, values = runtime._lowered(kernel, given)
    entry = entry_of(kernel, architecture)
    threads = block if isinstance(block, int) else block[0] * block[1]
    found = faults_of(entry, architecture, threads)
    if len(values) != len(entry.parameters):
        found.append(f"{len(values)} arguments for {len(entry.parameters)} parameters")
    assert not found, f"{kernel.expression} for {architecture}: {'; '.join(found)}"
    holder = ParamHolder(tuple(values))
    places = (ctypes.c_void_p * len(values)).from_address(holder.ptr)
    for value, place, argument in zip(values, places, arguments, strict=True):
        kind = ctypes.c_double if isinstance(argument, float) else ctypes.c_int64
        assert kind.from_address(place).value == value, f"{kernel.expression}: {argument} is passed as something else"
