"""torch-scatter itself, where it is installed."""

from __future__ import annotations

import functools
from typing import Any

import torch

REMEDY = "pip install 'tgraph[scatter]' --no-build-isolation, or make scatter, builds it for this torch"


@functools.cache
def _found() -> tuple[Any, str | None]:
    try:
        import torch_scatter
    except ImportError:
        return None, f"torch-scatter is not installed; {REMEDY}"
    except (OSError, RuntimeError) as fault:  # built for another torch or another CUDA
        return None, f"torch-scatter does not load: {str(fault).partition(chr(10))[0]}; {REMEDY}"
    return torch_scatter, None


def load() -> Any:
    """The module torch_scatter, or None where it is not installed or does not load."""
    return _found()[0]


def missing(device: torch.device) -> str | None:
    """Why torch-scatter cannot be used on a device, None where it can."""
    module, why = _found()
    if module is None:
        return why
    if device.type not in ("cpu", "cuda"):
        return f"torch-scatter computes on the CPU and on CUDA devices, the data is on {device}"
    if device.type == "cuda" and torch.ops.torch_scatter.cuda_version() < 0:
        return f"torch-scatter was built without CUDA; {REMEDY}, where the compiler nvcc is installed"
    return None
