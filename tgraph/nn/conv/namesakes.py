"""PyTorch Geometric's layers, which ours derive from where it is installed.

What asks for its `MessagePassing`, such as `to_hetero`, its explainers, and hooks on messages, then takes ours as they
are, and what wants to see single messages, which ours never make, is computed as PyTorch Geometric does it. The base is
chosen when the modules of the layers are first imported: `import tgraph` does not, and so does not import PyTorch
Geometric, which takes seconds. Classes are ordinary ones: they pickle, copy and compare as any.
"""

from __future__ import annotations

from typing import Any

import torch


def namesake(name: str) -> Any:
    """PyTorch Geometric's layer of that name, or torch's Module where there is none, or none that fits this torch."""
    try:
        from torch_geometric.nn import conv
    except (ImportError, OSError):
        return torch.nn.Module
    return getattr(conv, name)
