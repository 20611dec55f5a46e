"""Linear maps of several types of vertices or edges: names, shapes and random draws as in PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from tgraph.nn.conv.layer import HAS_NAMESAKES
from tgraph.nn.conv.linear import Linear, kaiming_uniform


class TypedLinear(torch.nn.Module):
    """A linear map for each type, as PyTorch Geometric's HeteroDictLinear.

    in_channels : {type: columns}, -1 to infer them from the first input. out_channels : columns of the results.

    Parameters: `lins.TYPE.weight`, `lins.TYPE.bias`.
    """

    def __init__(self, in_channels: Mapping[str, int], out_channels: int):
        super().__init__()
        lins = {kind: Linear(columns, out_channels) for kind, columns in in_channels.items()}
        self.lins: torch.nn.ModuleDict = torch.nn.ModuleDict(lins)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the parameters."""
        for lin in self.lins.values():
            lin.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """{type: result} of {type: x}."""
        return {kind: lin(x[kind]) for kind, lin in self.lins.items() if kind in x}


class RelationLinear(torch.nn.Module):
    """x W_t for rows x of type t, as PyTorch Geometric's HeteroLinear of sorted types without a bias.

    Parameter: `weight` [num_types, in_channels, out_channels].
    """

    def __init__(self, in_channels: int, out_channels: int, num_types: int):
        super().__init__()
        self.in_channels = in_channels
        self.weight: torch.nn.Parameter = Parameter(torch.empty(num_types, in_channels, out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the parameter."""
        kaiming_uniform(self.weight, self.in_channels)

    def forward(self, x: Tensor, kind: Tensor) -> Tensor:
        """Rows x [rows, in_channels] of types kind [rows], [rows, out_channels]."""
        return torch.einsum("rk,rkm->rm", x, self.weight[kind])


def parameters_by(names: Sequence[str], *shape: int) -> Any:
    """A ParameterDict of ones, PyTorch Geometric's where it is installed."""
    if HAS_NAMESAKES:
        from torch_geometric.nn.parameter_dict import ParameterDict
    else:
        from torch.nn import ParameterDict
    return ParameterDict({name: Parameter(torch.ones(shape)) for name in names})
