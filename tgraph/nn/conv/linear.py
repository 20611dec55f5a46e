"""Linear maps of layers, and initialisation: names, shapes and random draws as in PyTorch Geometric."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter, UninitializedParameter

from tgraph.errors import ArgumentError
from tgraph.nn.hugepage_ops import linear_map

INITIALIZERS = (None, "glorot", "uniform", "kaiming_uniform")


class Linear(torch.nn.Module):
    """x' = x W^T + b.

    in_channels : columns of x, or -1 to infer them from the first input.
    out_channels : columns of x'. bias : whether to add b.
    weight_initializer : "glorot" (Glorot and Bengio, AISTATS 2010), or None, "uniform" or "kaiming_uniform", for the
        uniform distribution on +- 1 / sqrt(in_channels) of torch.nn.Linear.
    bias_initializer : "zeros", or None for the same distribution.

    Parameters: `weight` [out_channels, in_channels] and `bias` [out_channels].
    Raises ArgumentError for an unknown initializer.

    >>> layer = tg.nn.Linear(-1, 4)
    >>> layer(torch.ones(3, 8)).shape, layer.weight.shape
    (torch.Size([3, 4]), torch.Size([4, 8]))
    """

    weight: Parameter | UninitializedParameter
    bias: Parameter | None
    argument: str = "x"  # the name of the features in errors

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        bias: bool = True,
        weight_initializer: str | None = None,
        bias_initializer: str | None = None,
    ):
        super().__init__()
        if weight_initializer not in INITIALIZERS:
            raise ArgumentError(f"weight_initializer: {weight_initializer!r} is not one of {INITIALIZERS}")
        if bias_initializer not in (None, "zeros"):
            raise ArgumentError(f"bias_initializer: {bias_initializer!r} is neither None nor 'zeros'")
        self.in_channels: int = in_channels
        self.out_channels: int = out_channels
        self.weight_initializer, self.bias_initializer = weight_initializer, bias_initializer
        known = in_channels > 0
        self.weight = Parameter(torch.empty(out_channels, in_channels)) if known else UninitializedParameter()
        self.register_parameter("bias", Parameter(torch.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the parameters; of a lazy layer, at the first input."""
        if self.in_channels <= 0:
            return
        if self.weight_initializer == "glorot":
            glorot(self.weight)
        elif self.weight_initializer == "uniform":
            uniform(self.weight, self.in_channels)
        else:
            kaiming_uniform(self.weight, self.in_channels)
        if self.bias is not None and self.bias_initializer == "zeros":
            zeros(self.bias)
        elif self.bias is not None:
            uniform(self.bias, self.in_channels)

    def forward(self, x: Tensor) -> Tensor:
        """x' [..., out_channels] of `x` [..., in_channels]."""
        if isinstance(self.weight, UninitializedParameter):
            self._materialize(x.shape[-1])
            self.reset_parameters()
        return linear_map(x, self.weight, self.bias, self.argument)

    def _materialize(self, in_channels: int) -> None:
        self.in_channels = in_channels
        weight: Any = self.weight
        weight.materialize((self.out_channels, in_channels))

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        if isinstance(self.weight, UninitializedParameter) and not keep_vars:  # has no values to detach
            destination[f"{prefix}weight"] = self.weight
            if self.bias is not None:
                destination[f"{prefix}bias"] = self.bias.detach()
        else:
            super()._save_to_state_dict(destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        """Adopt the sizes of the state, also those of an uninitialised weight."""
        weight = state_dict.get(f"{prefix}weight")
        if isinstance(weight, UninitializedParameter):
            self.in_channels, self.weight = -1, UninitializedParameter()
        elif weight is not None and isinstance(self.weight, UninitializedParameter):
            self._materialize(weight.shape[-1])
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def __prepare_scriptable__(self) -> torch.nn.Module:
        """A torch.nn.Linear with the same parameters, for torch.jit.script to compile instead."""
        twin = torch.nn.Linear(self.in_channels, self.out_channels, bias=False, device="meta")
        twin._parameters.update(self._parameters)
        return twin.train(self.training)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, bias={self.bias is not None})"


def edge_linear(edge_dim: int, out_channels: int, **options: Any) -> Linear:
    """The linear map of edge features; its errors name edge_attr."""
    made = Linear(edge_dim, out_channels, **options)
    made.argument = "edge_attr"
    return made


@torch.no_grad()
def glorot(parameter: Tensor | None) -> None:
    """Fill uniformly from +- sqrt(6 / (rows + columns)), the sizes of the last two dimensions."""
    if parameter is not None:
        bound = math.sqrt(6.0 / (parameter.shape[-2] + parameter.shape[-1]))
        parameter.uniform_(-bound, bound)


@torch.no_grad()
def uniform(parameter: Tensor, fan: int) -> None:
    """Fill uniformly from +- 1 / sqrt(fan)."""
    bound = 1.0 / math.sqrt(fan)
    parameter.uniform_(-bound, bound)


@torch.no_grad()
def kaiming_uniform(parameter: Tensor, fan: int) -> None:
    """As `uniform`, with the rounding of the formula of He et al. (ICCV 2015) for leaky ReLUs of slope sqrt(5)."""
    bound = math.sqrt(6 / ((1 + math.sqrt(5) ** 2) * fan))
    parameter.uniform_(-bound, bound)


@torch.no_grad()
def zeros(parameter: Tensor | None) -> None:
    """Fill with zeros."""
    if parameter is not None:
        parameter.zero_()


def reset(module: Any) -> None:
    """Reset the parameters of a module, or of its children if it has no reset_parameters."""
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()
    elif isinstance(module, torch.nn.Module):
        for child in module.children():
            reset(child)
