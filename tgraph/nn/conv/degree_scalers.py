"""Several aggregators at once, each scaled by functions of the degree: Corso et al., "Principal neighbourhood
aggregation for graph nets", NeurIPS 2020."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from tgraph.nn.conv.layer import HAS_NAMESAKES

AGGREGATORS = ("sum", "mean", "min", "max", "var", "std")

# The factor of each scaler, from the degree and the averages over the training set of degrees and of their logarithms.
SCALERS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor | None]] = {
    "identity": lambda degree, mean, mean_log: None,
    "amplification": lambda degree, mean, mean_log: (degree + 1).log() / mean_log,
    "attenuation": lambda degree, mean, mean_log: mean_log / (degree.clamp(min=1) + 1).log(),
    "linear": lambda degree, mean, mean_log: degree / mean,
    "inverse_linear": lambda degree, mean, mean_log: mean / degree.clamp(min=1),
}

LEAST = 1e-5  # smaller variances count as 0, where the square root has no derivative


class _Scalers(torch.nn.Module):
    """PyTorch Geometric's DegreeScalerAggregation without its forward, where PyTorch Geometric is missing."""

    avg_deg_lin: Tensor
    avg_deg_log: Tensor

    def __init__(self, aggregators: Sequence[str], scalers: Sequence[str], deg: Tensor, train_norm: bool):
        super().__init__()
        self.aggregators, self.scaler = aggregators, scalers
        degree, count = torch.arange(len(deg), device=deg.device), deg.float()
        total = int(count.sum())
        self.init_avg_deg_lin = float((degree * count).sum()) / total
        self.init_avg_deg_log = float(((degree + 1).log() * count).sum()) / total
        for name in ("avg_deg_lin", "avg_deg_log"):
            empty = torch.empty(1)
            if train_norm:
                self.register_parameter(name, torch.nn.Parameter(empty))
            else:
                self.register_buffer(name, empty)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the averages to those of `deg`."""
        self.avg_deg_lin.data.fill_(self.init_avg_deg_lin)
        self.avg_deg_log.data.fill_(self.init_avg_deg_log)

    def __repr__(self) -> str:
        return "DegreeScalerAggregation()"


def degree_scalers(aggregators: Sequence[str], scalers: Sequence[str], deg: Tensor, train_norm: bool) -> Any:
    """PyTorch Geometric's DegreeScalerAggregation, or a module with the same state."""
    if not HAS_NAMESAKES:
        return _Scalers(aggregators, scalers, deg, train_norm)
    from torch_geometric.nn.aggr import DegreeScalerAggregation

    return DegreeScalerAggregation(list(aggregators), list(scalers), deg, train_norm)


def names_of(module: Any) -> list[str]:
    """The names of the aggregators of a module of `degree_scalers`; for unknown classes, from the class name."""
    if isinstance(module, _Scalers):
        return list(module.aggregators)
    each = getattr(module.aggr, "aggrs", (module.aggr,))
    return [type(one).__name__.removesuffix("Aggregation").lower() for one in each]


def scaled(module: Any, received: Tensor, degree: Tensor) -> Tensor:
    """The aggregates [n, ..., columns] times each scaler, concatenated by columns. degree : [n]."""
    column = degree.to(received.dtype).reshape(-1, *(1,) * (received.dim() - 1))
    factors = [SCALERS[name](column, module.avg_deg_lin, module.avg_deg_log) for name in module.scaler]
    return torch.cat([received if factor is None else received * factor for factor in factors], -1)


def aggregated(names: Sequence[str], data: Tensor, reduce: Callable[[Tensor, str], Tensor]) -> dict[str, Tensor]:
    """{name: result} of each aggregator. reduce : computes "sum", "mean", "min" and "max" of data like `data`."""
    found: dict[str, Tensor] = {}
    wanted = set(names)
    if wanted & {"var", "std"}:
        wanted |= {"mean", "var"}
        found["square"] = reduce(data * data, "mean")
    for name in ("sum", "mean", "min", "max"):
        if name in wanted:
            found[name] = reduce(data, name)
    if "var" in wanted:
        found["var"] = found["square"] - found["mean"] * found["mean"]
    if "std" in wanted:
        root = found["var"].clamp(min=LEAST).sqrt()
        found["std"] = root.masked_fill(root <= math.sqrt(LEAST), 0)
    return {name: found[name] for name in names}
