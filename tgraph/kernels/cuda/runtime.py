"""How CUDA kernels are launched: on torch's current stream, on memory that torch has allocated, without waiting.

Nothing is imported, compiled or loaded before the first launch.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

from tgraph.errors import ArgumentError, KernelError
from tgraph.kernels.cuda import compiler
from tgraph.kernels.cuda.kernel import SOURCES, Kernel

__all__ = ["SOURCES", "Argument", "Kernel", "launch", "unavailable"]

# int is passed as int64_t, float as double, a tensor as a pointer to its data, None as a null pointer.
Argument = Tensor | int | float | None
Size = int | tuple[int, int]

MAX_GRID = (2**31 - 1, 65535)  # blocks side by side, on every device that there is


def launch(kernel: Kernel, grid: Size, block: Size, *arguments: Argument) -> None:
    """Run a kernel on the device of its tensors, on torch's current stream there, and do not wait for it.

    kernel : what to run; the first launch compiles it, or finds it in the cache.
    grid, block : numbers of blocks, at most MAX_GRID, and of threads in a block, in one or two dimensions. No blocks
        are no work.
    arguments : at least one tensor among them, all contiguous and on one CUDA device.

    Raises ArgumentError for tensors that the kernel cannot read and too many blocks, and KernelError where it cannot
    be compiled, loaded or launched.
    """
    if grid == 0 or (isinstance(grid, tuple) and 0 in grid):
        return
    config = configuration(kernel, grid, block)
    device, values = _lowered(kernel, arguments)
    with nullcontext() if device == torch.cuda.current_device() else torch.cuda.device(device):
        function = _functions.get((kernel, device)) or _load(kernel, device)
        _bind(device)
        stream = _stream(torch._C._cuda_getCurrentRawStream(device))  # a tenth of what the public way costs
        try:
            _core().launch(stream, config, function, *values)
        except Exception as fault:  # cuda.core does not export the class of its errors
            raise KernelError(
                kernel.expression,
                f"launch with grid {grid}, block {block} and arguments ({', '.join(map(_describe, arguments))}) failed",
                f"{fault} (or an earlier kernel did: CUDA_LAUNCH_BLOCKING=1 in the environment shows which)",
            ) from fault


def configuration(kernel: Kernel, grid: Size, block: Size) -> Any:
    """The size of a launch as the driver takes it. Raises ArgumentError where no device has so many blocks."""
    config = _config(grid, block)
    if config is None:
        raise ArgumentError(
            f"CUDA kernel {kernel.expression}: a grid of {grid} blocks, at most {MAX_GRID} are possible; "
            "call the operation for some of the rows, or of the columns, at a time"
        )
    return config


@functools.cache
def unavailable() -> str | None:
    """Why CUDA kernels cannot run in this process, and the remedy; None where they can."""
    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built without CUDA; see https://pytorch.org for a build with it"
    if not torch.cuda.is_available():
        return "torch finds no CUDA device"
    return compiler.unavailable()


# ---- arguments ----------------------------------------------------------------------------------------------------


def _lowered(kernel: Kernel, arguments: Iterable[Argument]) -> tuple[int, list[int | float]]:
    """The number of the device, and the arguments as the kernel gets them."""
    device: int | None = None
    values: list[int | float] = []
    for position, argument in enumerate(arguments):
        if type(argument) is int or type(argument) is float:  # most are, and a small kernel takes no longer than this
            values.append(argument)
        elif isinstance(argument, Tensor):
            if argument.get_device() != device:
                if not argument.is_cuda:
                    raise _refused(kernel, position, argument, "a CUDA kernel reads tensors on a CUDA device only")
                if device is not None:
                    raise _refused(kernel, position, argument, f"those before it are on cuda:{device}; move it there")
                device = argument.get_device()
            if not argument.is_contiguous():
                raise _refused(kernel, position, argument, "it is not contiguous; call contiguous() on it")
            values.append(argument.data_ptr())
        else:
            values.append(0 if argument is None else int(argument))
    if device is None:
        raise ArgumentError(f"CUDA kernel {kernel.expression}: no argument is a tensor that would name a device")
    return device, values


def _refused(kernel: Kernel, position: int, tensor: Tensor, why: str) -> ArgumentError:
    return ArgumentError(f"CUDA kernel {kernel.expression}, argument {position}: {_describe(tensor)}: {why}")


def _describe(argument: Argument) -> str:
    if not isinstance(argument, Tensor):
        return repr(argument)
    return f"{str(argument.dtype).removeprefix('torch.')}{list(argument.shape)} on {argument.device}"


# ---- what cuda.core is given --------------------------------------------------------------------------------------

_functions: dict[tuple[Kernel, int], Any] = {}
_loading = threading.Lock()
_thread = threading.local()


def _load(kernel: Kernel, device: int) -> Any:
    """The kernel as it was loaded on a device, which is the current one, compiled if need be."""
    with _loading:
        if (kernel, device) not in _functions:
            if (reason := unavailable()) is not None:
                raise KernelError(kernel.expression, "cannot run", reason)
            _bind(device)
            binary = compiler.compile([kernel], _architecture(device))
            try:
                code = _core().ObjectCode.from_cubin(binary.code, name=kernel.source)
                _functions[kernel, device] = code.get_kernel(binary.symbols[kernel.expression])
            except Exception as fault:  # cuda.core does not export the class of its errors
                name = torch.cuda.get_device_name(device)
                raise KernelError(kernel.expression, f"{name} cannot load it", str(fault)) from fault
    return _functions[kernel, device]


def _bind(device: int) -> None:
    """Make the context that torch uses on the current device the driver's too, once in each thread: a thread that has
    done nothing with CUDA yet, such as one of autograd's, has none."""
    bound = _thread.__dict__.setdefault("bound", set())
    if device not in bound:
        _core().Device(device).set_current()
        bound.add(device)


@functools.cache
def _architecture(device: int) -> str:
    capability = torch.cuda.get_device_capability(device)
    found = compiler.architecture(capability)
    if found is None:
        major, minor = capability
        raise KernelError(
            "(any)",
            f"NVRTC {compiler.version()} does not know compute capability {major}.{minor} of "
            f"{torch.cuda.get_device_name(device)}",
            f"install one that does: pip install -U 'tgraph[{compiler.extra()}]'",
        )
    return found


@functools.cache
def _core() -> Any:
    import cuda.core

    return cuda.core


@functools.lru_cache(maxsize=1024)
def _config(grid: Size, block: Size) -> Any:
    x, y = grid if isinstance(grid, tuple) else (grid, 1)
    if x > MAX_GRID[0] or y > MAX_GRID[1]:
        return None
    return _core().LaunchConfig(grid=grid, block=block)


@functools.lru_cache(maxsize=256)
def _stream(handle: int) -> Any:
    return _core().Stream.from_handle(handle)
