"""Differences between the devices of torch. No other module distinguishes kinds of devices."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from tgraph.errors import ArgumentError

USUAL_CACHE = 1 << 20  # bytes, where the size of the second-level cache is unknown
_CACHE_SIZE = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")


def available(device: torch.device | str) -> torch.device:
    """The device of that name, with its number. Raises ArgumentError for one that cannot be used here."""
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as fault:
        reason = str(fault).strip().partition("\n")[0]
        raise ArgumentError(f"device: {device!r} cannot be used here: {reason}") from fault


def kind(tensor: Tensor) -> str:
    """The type of the tensor's device: "cpu", "cuda" (ROCm too), "mps", "xpu" and so on."""
    return tensor.device.type


def widest_float(tensor: Tensor) -> torch.dtype:
    """float64; float32 on Apple's GPUs, which have nothing wider."""
    return torch.float32 if kind(tensor) == "mps" else torch.float64


def reduces_segments(tensor: Tensor) -> bool:
    """True where torch.segment_reduce and its gradient are implemented; they lack on MPS."""
    return kind(tensor) in ("cpu", "cuda")


def compiles_each_shape(device: torch.device) -> bool:
    """True on XLA devices (TPUs) and of arrays of JAX, where an operation on tensors of a new shape is first compiled,
    for a second."""
    return device.type in ("xla", "jax")


def end_round(device: torch.device) -> None:
    """Evaluate pending operations on an XLA device, which is lazy: otherwise they would become part of the program of
    the next round, which would grow and be compiled anew."""
    if device.type == "xla":
        import torch_xla

        torch_xla.sync()


def sort(values: Tensor) -> tuple[Tensor, Tensor]:
    """The values [k] in ascending order and the position of each before, int64 [k]; equal ones keep their order."""
    ascending, order = torch.sort(values, stable=True)
    # XLA's compiler for the CPU ends the process where it fuses a sort with an index_select by its positions.
    return ascending, order + 0 if kind(values) == "xla" else order


def is_sequential(tensor: Tensor) -> bool:
    """True on the CPU: a scatter adds one after the other, and the size of a selection is known without a wait."""
    return kind(tensor) == "cpu"


def waits_are_free(tensor: Tensor) -> bool:
    """True where the size of a selection is known at once. On an accelerator each one stalls the queue, and a pass
    over data that need not be touched is cheaper than to wait."""
    return is_sequential(tensor)


def cache_bytes(device: torch.device) -> int:
    """Bytes of the second-level cache of a device: of a core, or of a GPU."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).L2_cache_size
    try:
        text = _CACHE_SIZE.read_text().strip() if device.type == "cpu" else ""
    except OSError:
        return USUAL_CACHE
    number, unit = text.rstrip("KM"), text[-1:]
    return int(number) * {"K": 1 << 10, "M": 1 << 20}.get(unit, 1) if number.isdigit() else USUAL_CACHE
