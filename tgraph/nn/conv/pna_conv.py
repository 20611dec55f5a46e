"""Principal neighbourhood aggregation (Corso et al., "Principal neighbourhood aggregation ...", NeurIPS 2020)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import ModuleList, Sequential

from tgraph.errors import ArgumentError
from tgraph.nn.adjacency import Adjacency
from tgraph.nn.conv.aggregation import aggregate
from tgraph.nn.conv.attention_base import edges_attended
from tgraph.nn.conv.degree_scalers import AGGREGATORS, SCALERS, aggregated, degree_scalers, names_of, scaled
from tgraph.nn.conv.layer import Layer, check_features, plain_weight
from tgraph.nn.conv.linear import Linear, edge_linear
from tgraph.nn.conv.messages import at_sources, at_targets, reduced
from tgraph.nn.conv.namesakes import namesake

Namesake: Any = namesake("PNAConv")


class PNAConv(Layer, Namesake):
    """x'_i = W [post(x_i, scalers x aggregators of pre(x_i, x_j, W_e e_ij))] + b over the neighbours j of i, for each
    tower, as PyTorch Geometric's PNAConv.

    in_channels : columns of x. out_channels : columns of x'.
    aggregators : of "sum", "mean", "min", "max", "var", "std". scalers : of "identity", "amplification", "attenuation",
    "linear", "inverse_linear". deg : the number of vertices of each in-degree in the training set, [degrees].
    edge_dim : columns of edge_attr, or None. towers : number of towers, each of out_channels / towers columns.
    pre_layers, post_layers : number of linear maps in `pre` and `post`, with the activation `act` (a name of
    torch.nn or a function) between, made with `act_kwargs`. divide_input : whether each tower gets a part of the
    columns of x, instead of all. train_norm : whether the averages of the degrees are parameters.
    kwargs : those of `MessagePassing`.

    With one layer in `pre` and no edge features, no messages are materialised: the map is a sum of maps of sources and
    targets, and the latter shifts the mean, minimum and maximum and does not change the variance.

    Parameters: weight and bias of `edge_encoder` with edge features, of `pre_nns` and `post_nns` for each tower, of
    `lin`; state: `aggr_module.avg_deg_lin` [1] and `avg_deg_log` [1].

    >>> graph = tg.generators.star(4)
    >>> layer = tg.nn.PNAConv(8, 4, ["mean", "max"], ["identity", "amplification"], deg=graph.in_degree.bincount())
    >>> layer(torch.ones(5, 8), graph).shape
    torch.Size([5, 4])
    """

    reduces_by: str = "DegreeScalerAggregation"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        aggregators: Sequence[str],
        scalers: Sequence[str],
        deg: Tensor,
        edge_dim: int | None = None,
        towers: int = 1,
        pre_layers: int = 1,
        post_layers: int = 1,
        divide_input: bool = False,
        act: str | Callable[[Tensor], Tensor] | None = "relu",
        act_kwargs: dict[str, Any] | None = None,
        train_norm: bool = False,
        **kwargs: Any,
    ):
        for argument, names, known in (("aggregators", aggregators, AGGREGATORS), ("scalers", scalers, tuple(SCALERS))):
            if unknown := [name for name in names if name not in known]:
                raise ArgumentError(f"{argument}: {unknown[0]!r} is not one of {', '.join(map(repr, known))}")
        for name, columns in (("out_channels", out_channels), ("in_channels", in_channels)):
            if columns % towers and (name == "out_channels" or divide_input):
                raise ArgumentError(f"towers: {towers} do not divide {name}={columns} evenly")
        super().__init__(node_dim=0, **kwargs)
        self.aggr_module: Any = degree_scalers(aggregators, scalers, deg, train_norm)
        self.aggr: str = str(self.aggr_module)
        self.in_channels: int = in_channels
        self.out_channels: int = out_channels
        self.edge_dim: int | None = edge_dim
        self.towers: int = towers
        self.divide_input: bool = divide_input
        self.F_in: int = in_channels // towers if divide_input else in_channels
        self.F_out: int = out_channels // towers
        if edge_dim is not None:
            self.edge_encoder: Linear = edge_linear(edge_dim, self.F_in)

        def network(columns: int, wide: int, layers: int) -> Sequential:
            parts: list[Any] = [Linear(columns, wide)]
            for _ in range(layers - 1):
                parts += [_activation(act, act_kwargs), Linear(wide, wide)]
            return Sequential(*parts)

        ends, reductions = 3 if edge_dim else 2, len(aggregators) * len(scalers)
        self.pre_nns: torch.nn.ModuleList = ModuleList()
        self.post_nns: torch.nn.ModuleList = ModuleList()
        for _ in range(towers):
            self.pre_nns.append(network(ends * self.F_in, self.F_in, pre_layers))
            self.post_nns.append(network((reductions + 1) * self.F_in, self.F_out, post_layers))
        self.lin: Linear = Linear(out_channels, out_channels)
        self.reset_parameters()

    def forward(self, x: Tensor, edge_index: Any, edge_attr: Tensor | None = None) -> Tensor:
        """x' [n, out_channels].

        x : [n, in_channels]. edge_index : integers [2, E], a sparse matrix adj_t, or a tgraph.Graph.
        edge_attr : [E, edge_dim], given with edge_dim. Raises ArgumentError for inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x, edge_index, edge_attr)
        check_features(x, self.in_channels, self.lin.weight)
        adjacency = self._adjacency(edge_index, (x, x))
        _, edge_attr = edges_attended(adjacency, edge_attr, False, 0.0, self.flow)
        if (edge_attr is None) != (self.edge_dim is None):
            raise ArgumentError("edge_attr and edge_dim: a layer with edge_dim needs edge_attr, one without takes none")
        own = x.view(-1, self.towers, self.F_in) if self.divide_input else x[:, None].expand(-1, self.towers, -1)
        received = self._received(adjacency, own, edge_attr)
        joined = torch.cat((own, scaled(self.aggr_module, received, adjacency.degree)), -1)
        return self.lin(torch.cat([nn(joined[:, tower]) for tower, nn in enumerate(self.post_nns)], 1))

    def _received(self, adjacency: Adjacency, x: Tensor, edge_attr: Tensor | None) -> Tensor:
        """The aggregators of the messages, [n, towers, aggregators * F_in]."""
        names, shift, parts = names_of(self.aggr_module), None, [self._parted(nn) for nn in self.pre_nns]
        plain = [part for part in parts if part is not None]
        if len(plain) < len(parts):
            data = self._made(adjacency, x, edge_attr)
        else:
            weight, bias = (torch.stack(each) for each in zip(*plain, strict=True))
            of_target, of_source, *of_edge = weight.split(self.F_in, 2)  # each [towers, F_in, F_in]
            shift = torch.einsum("ntk,tmk->ntm", x, of_target) + bias
            data = torch.einsum("ntk,tmk->ntm", x, of_source)
            if set(names) <= {"var", "std"}:  # invariant to shifts, but the gradient by the bias is 0 and not None
                data = data + bias
            if edge_attr is not None:
                edge = torch.einsum("ek,tmk->etm", self.edge_encoder(edge_attr), of_edge[0])
                data = at_sources(adjacency, data) + adjacency.in_row_order(edge)
        sends = shift is not None and edge_attr is None

        def reduce(data: Tensor, name: str) -> Tensor:
            if not sends:
                return reduced(adjacency, data, name)
            return aggregate(adjacency, data.flatten(1), name).unflatten(1, (self.towers, self.F_in))

        found = aggregated(names, data, reduce)
        if shift is not None:
            found = {name: _shifted(adjacency, name, each, shift) for name, each in found.items()}
        return torch.cat([found[name] for name in names], -1)

    @staticmethod
    def _parted(nn: Any) -> tuple[Tensor, Tensor] | None:
        """Weight and bias of a network of one linear map, otherwise None."""
        weight = plain_weight(nn[0]) if len(nn) == 1 else None
        return None if weight is None else (weight, nn[0].bias)

    def _made(self, adjacency: Adjacency, x: Tensor, edge_attr: Tensor | None) -> Tensor:
        """The messages, [E, towers, F_in] in the order of the rows."""
        ends = [at_targets(adjacency, x), at_sources(adjacency, x)]
        if edge_attr is not None:
            edge = adjacency.in_row_order(self.edge_encoder(edge_attr))
            ends.append(edge[:, None].expand(-1, self.towers, -1))
        joined = torch.cat(ends, -1)
        return torch.stack([nn(joined[:, tower]) for tower, nn in enumerate(self.pre_nns)], 1)

    def __repr__(self) -> str:
        sizes = f"{self.in_channels}, {self.out_channels}, towers={self.towers}, edge_dim={self.edge_dim}"
        return f"{type(self).__name__}({sizes})"


def _shifted(adjacency: Adjacency, name: str, received: Tensor, shift: Tensor) -> Tensor:
    """An aggregate [n, towers, columns] after adding `shift` of the target to each message."""
    if name in ("var", "std"):
        return received
    if name == "sum":
        return received + shift * adjacency.degree.to(shift.dtype)[:, None, None]
    unreached = adjacency.unreached
    received = received + shift
    return received if unreached is None else received.masked_fill(unreached[:, None], 0)


def _activation(act: str | Callable[[Tensor], Tensor] | None, options: dict[str, Any] | None) -> Any:
    """The activation of torch.nn of a name in any case, as PyTorch Geometric resolves it."""
    if act is None:
        return torch.nn.Identity()
    if not isinstance(act, str):
        return act
    for name in dir(torch.nn.modules.activation):
        if name.lower() == act.lower().replace("_", ""):
            return getattr(torch.nn.modules.activation, name)(**(options or {}))
    raise ArgumentError(f"act: {act!r} is no activation of torch.nn; give a function")
