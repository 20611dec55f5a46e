"""Heterogeneous graph transformer: Hu et al., "Heterogeneous graph transformer", WWW 2020."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from tgraph.errors import ArgumentError
from tgraph.nn.conv.attention_base import in_one_dtype
from tgraph.nn.conv.layer import Layer
from tgraph.nn.conv.namesakes import namesake
from tgraph.nn.conv.typed_linear import RelationLinear, TypedLinear, parameters_by
from tgraph.nn.relations import EdgeType, joined_adjacency
from tgraph.primitives import attention

Namesake: Any = namesake("HGTConv")


class HGTConv(Layer, Namesake):
    """Attention over neighbours by all relations, with keys and values of each, as PyTorch Geometric's HGTConv.

    A vertex i of type t gets y_i = W_t gelu(sum of alpha_ij v_j) + b_t; where y_i and x_i have equally many columns,
    s y_i + (1 - s) x_i, s = sigmoid(skip_t). alpha_ij is the softmax over j, of any relation r, of
    p_r q_i k_j / sqrt(columns of a head); k_j and v_j are the key and value by the type of j, times W_r.

    in_channels : columns of x, or {type of vertices: columns}; -1 to infer them from the first input.
    out_channels : columns of the results, a multiple of `heads`. metadata : (types of vertices, types of edges), each
    of these (type of sources, relation, type of targets). heads : number of heads. kwargs : those of `MessagePassing`.

    Parameters: weight and bias of `kqv_lin.lins.TYPE` and `out_lin.lins.TYPE`; `k_rel.weight` and `v_rel.weight`
    [heads * relations, columns, columns]; `skip.TYPE` [1]; `p_rel.RELATION` [1, heads].

    >>> writes = ("author", "writes", "paper")
    >>> layer = tg.nn.HGTConv(8, 4, (["author", "paper"], [writes]), heads=2)
    >>> x = {"author": torch.ones(2, 8), "paper": torch.ones(3, 8)}
    >>> layer(x, {writes: torch.tensor([[0, 1, 1], [0, 1, 2]])})["paper"].shape
    torch.Size([3, 4])
    """

    attends = True
    edge_types: Sequence[EdgeType]
    in_channels: dict[str, int] | Mapping[str, int]

    def __init__(
        self,
        in_channels: int | Mapping[str, int],
        out_channels: int,
        metadata: tuple[Sequence[str], Sequence[EdgeType]],
        heads: int = 1,
        **kwargs: Any,
    ):
        super().__init__("add", node_dim=0, **kwargs)
        if out_channels % heads:
            raise ArgumentError(f"heads: {heads} do not divide out_channels={out_channels} evenly")
        if self.flow != "source_to_target":
            raise ArgumentError(f"flow: {self.flow!r}; HGTConv follows the types of edges, reverse these instead")
        kinds, self.edge_types = metadata
        self.node_types: Sequence[str] = kinds
        self.out_channels: int = out_channels
        self.heads: int = heads
        self.in_channels = dict.fromkeys(kinds, in_channels) if isinstance(in_channels, int) else in_channels
        self.edge_types_map: dict[EdgeType, int] = {kind: number for number, kind in enumerate(self.edge_types)}
        self.dst_node_types: set[str] = {kind[-1] for kind in self.edge_types}
        columns, relations = out_channels // heads, heads * len(self.edge_types)
        self.kqv_lin: TypedLinear = TypedLinear(self.in_channels, 3 * out_channels)
        self.out_lin: TypedLinear = TypedLinear(dict.fromkeys(kinds, out_channels), out_channels)
        self.k_rel: RelationLinear = RelationLinear(columns, columns, relations)
        self.v_rel: RelationLinear = RelationLinear(columns, columns, relations)
        self.skip: Any = parameters_by(kinds, 1)
        self.p_rel: Any = parameters_by(["__".join(kind) for kind in self.edge_types], 1, heads)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        super().reset_parameters()
        with torch.no_grad():
            for parameter in (*self.skip.parameters(), *self.p_rel.parameters()):
                parameter.fill_(1)

    def forward(self, x_dict: Mapping[str, Tensor], edge_index_dict: Mapping[EdgeType, Any]) -> dict[str, Tensor]:
        """{type: x' [n, out_channels]} of the types that are targets of edges in the metadata.

        x_dict : {type: x [n, columns]}. edge_index_dict : {type of edges: integers [2, E], a sparse matrix adj_t, or a
        tgraph.Graph}. Raises ArgumentError for unknown types of edges and arguments of inconsistent shapes or types.
        """
        if self._is_observed():
            return Namesake.forward(self, x_dict, edge_index_dict)
        if unknown := [kind for kind in edge_index_dict if kind not in self.edge_types_map]:
            raise ArgumentError(f"edge_index_dict: the metadata have no edges of type {unknown[0]}")
        heads = self.heads, self.out_channels // self.heads
        joined = {kind: each.unflatten(1, (3, *heads)) for kind, each in self.kqv_lin(x_dict).items()}
        sizes = {kind: each.shape[0] for kind, each in joined.items()}
        query = torch.cat([each[:, 1] for each in joined.values()])
        if edge_index_dict:
            received = self._attended(joined, query, sizes, edge_index_dict)
        else:
            received = torch.zeros_like(query)
        parts = zip(sizes, received.flatten(1).split(list(sizes.values())), strict=True)
        ends = {kind: torch.nn.functional.gelu(part) for kind, part in parts if kind in self.dst_node_types}
        mapped = self.out_lin(ends)
        return {kind: self._with_own(kind, mapped[kind], x_dict[kind]) for kind in ends}

    def _with_own(self, kind: str, out: Tensor, x: Tensor) -> Tensor:
        """The result for vertices of a type, mixed with their x where both have equally many columns."""
        if out.shape[-1] != x.shape[-1]:
            return out
        share = self.skip[kind].sigmoid()
        return share * out + (1 - share) * x

    def _attended(self, joined: Any, query: Tensor, sizes: dict[str, int], edge_index_dict: Any) -> Tensor:
        """The attention-weighted sums at all vertices, [vertices of all types, heads, columns]."""
        keys, values = zip(*(self._of_relation(kind, joined[kind[0]]) for kind in edge_index_dict), strict=True)
        adjacency = joined_adjacency(edge_index_dict, sizes)
        query, key, value = in_one_dtype(query, torch.cat(keys), torch.cat(values))
        return attention.dot(adjacency.arcs(of_edges=False), query, key, value)

    def _of_relation(self, kind: EdgeType, joined: Tensor) -> tuple[Tensor, Tensor]:
        """Keys, times their weight, and values by a relation of its sources, [n, heads, columns] each."""
        number, relations = self.edge_types_map[kind], len(self.edge_types)
        key_map, value_map = (each.weight[number::relations] for each in (self.k_rel, self.v_rel))  # of each head
        key_map = key_map * self.p_rel["__".join(kind)].reshape(-1, 1, 1)
        key, value = joined[:, 0].transpose(0, 1), joined[:, 2].transpose(0, 1)
        return torch.bmm(key, key_map).transpose(0, 1), torch.bmm(value, value_map).transpose(0, 1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(-1, {self.out_channels}, heads={self.heads})"
