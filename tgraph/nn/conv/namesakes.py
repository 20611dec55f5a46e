"""The PyTorch Geometric layers of the same name, from which TGraph's layers derive where it is installed.

`to_hetero`, the explainers and message hooks require instances of its `MessagePassing`; TGraph's layers then are. What
needs single messages, which TGraph's kernels never materialise, runs PyTorch Geometric's implementation. The base class
is chosen when the module of a layer is first imported, which `import tgraph` does not do, since importing PyTorch
Geometric takes seconds and 120 MB of memory; where that is short the environment variable TGRAPH_PYG=0 has layers do
without it. The classes pickle, copy and compare as usual.
"""

from __future__ import annotations

import os
from typing import Any

import torch


def namesake(name: str) -> Any:
    """The PyTorch Geometric layer of that name; torch.nn.Module where it is missing, does not match this torch, or is
    not wanted (TGRAPH_PYG=0)."""
    if os.environ.get("TGRAPH_PYG") == "0":
        return torch.nn.Module
    try:
        from torch_geometric.nn import conv
    except (ImportError, OSError):
        return torch.nn.Module
    return getattr(conv, name)
