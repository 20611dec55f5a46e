"""The PyTorch Geometric layers of the same name, base classes of TGraph's layers where PyTorch Geometric is installed.

`to_hetero`, the explainers and message hooks require instances of its `MessagePassing`. Features that need single
messages run PyTorch Geometric's implementation. The base class is chosen when the module of a layer is first imported,
not by `import tgraph`, since importing PyTorch Geometric takes seconds and 120 MB of memory; the environment variable
TGRAPH_PYG=0 avoids it. The classes pickle, copy and compare as usual.
"""

from __future__ import annotations

import os
from typing import Any

import torch


def namesake(name: str) -> Any:
    """The PyTorch Geometric layer of that name; torch.nn.Module where PyTorch Geometric is missing, does not match this
    torch, or is disabled (TGRAPH_PYG=0)."""
    if os.environ.get("TGRAPH_PYG") == "0":
        return torch.nn.Module
    try:
        from torch_geometric.nn import conv
    except (ImportError, OSError):
        return torch.nn.Module
    return getattr(conv, name)
