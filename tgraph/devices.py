"""What the devices of torch lack: the one place that asks what kind of device a tensor is on."""

from __future__ import annotations

import torch
from torch import Tensor


def kind(tensor: Tensor) -> str:
    """The type of the tensor's device: "cpu", "cuda" (ROCm too), "mps", "xpu" and so on."""
    return tensor.device.type


def widest_float(tensor: Tensor) -> torch.dtype:
    """float64; float32 on Apple's GPUs, which have nothing wider."""
    return torch.float32 if kind(tensor) == "mps" else torch.float64


def reduces_segments(tensor: Tensor) -> bool:
    """True where torch.segment_reduce and its gradient are implemented; they lack on MPS."""
    return kind(tensor) in ("cpu", "cuda")


def is_sequential(tensor: Tensor) -> bool:
    """True on the CPU: a scatter adds one after the other, and the size of a selection is known without a wait."""
    return kind(tensor) == "cpu"
