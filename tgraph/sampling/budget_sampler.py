"""HGSampling (Hu, Dong, Wang and Sun, "Heterogeneous graph transformer", WWW 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError
from tgraph.sampling.output import EdgeType, SamplerOutput
from tgraph.sampling.relations import Arcs, gather_arcs
from tgraph.sampling.seeds import Seeded, checked_vertices


class BudgetSampler(Seeded):
    """Samples equally many vertices of each type in each hop, preferring sources of many sampled vertices.

    The budget of a vertex is the sum, over its out-neighbours sampled so far in each relation, of 1 / in-degree. A hop
    draws vertices of a type by squared budgets, without replacement. A batch has all arcs between its vertices.

    Parameters
    ----------
    graph : by type of edges, (source, relation, destination), a Graph or a Csr with destinations as rows.
    num_samples : vertices of each type in each hop, or a dictionary of such lists by type; other types get none.
    num_vertices : by type, for types without edges.
    seed : with the number of the call, determines the draws.

    Raises ArgumentError for numbers of samples that are negative, and of types that the graph does not have.

    >>> writes = ("author", "writes", "paper")
    >>> graph = tg.Graph.from_edges([0, 0, 1], [0, 1, 1])
    >>> sampler = tg.sampling.BudgetSampler({writes: graph}, [2])
    >>> sampler.sample({"paper": torch.tensor([1])}).node["author"].sort().values
    tensor([0, 1])
    """

    def __init__(
        self,
        graph: Mapping[EdgeType, Graph | Csr],
        num_samples: Sequence[int] | Mapping[str, Sequence[int]],
        *,
        num_vertices: Mapping[str, int] | None = None,
        seed: int = 0,
    ):
        self._arcs = {kind: Arcs.of(arcs, "in", False, None, None, f"graph[{kind!r}]") for kind, arcs in graph.items()}
        self._sizes = dict(num_vertices or {})
        for (source, _, target), arcs in self._arcs.items():
            for end, size in ((source, arcs.num_sources), (target, arcs.num_rows)):
                self._sizes[end] = max(self._sizes.get(end, 0), size)
        self.node_types: list[str] = list(self._sizes)
        self.edge_types: list[EdgeType] = list(self._arcs)
        by_type = num_samples if isinstance(num_samples, Mapping) else dict.fromkeys(self.node_types, num_samples)
        for kind, counts in by_type.items():
            if kind not in self._sizes:
                raise ArgumentError(f"num_samples: the graph has no vertices {kind!r}, only {self.node_types}")
            if any(count < 0 for count in counts):
                raise ArgumentError(f"num_samples[{kind!r}]: must not be negative, got {list(counts)}")
        self.num_samples: Mapping[str, Sequence[int]] | dict[str, Sequence[int]] = by_type
        self.seed: int = seed

    def sample(self, seeds: Mapping[str, Tensor], *, draw: int | None = None) -> SamplerOutput:
        """The vertices and arcs sampled around `seeds`, indices of vertices by type.

        draw : the number of the call, by default counted; with the sampler's seed, determines the draws. Raises
        ArgumentError for seeds out of range.

        >>> writes = ("author", "writes", "paper")
        >>> sampler = tg.sampling.BudgetSampler({writes: tg.Graph.from_edges([0, 0, 1], [0, 1, 1])}, [2])
        >>> sample = sampler.sample({"paper": torch.tensor([0])})
        >>> sample.node["author"], sample.row[writes], sample.col[writes]
        (tensor([0]), tensor([0]), tensor([0]))
        """
        node = {
            kind: [checked_vertices(seeds.get(kind, ()), self._sizes[kind], f"seeds[{kind!r}]")]
            for kind in self.node_types
        }
        if unknown := [kind for kind in seeds if kind not in node]:
            raise ArgumentError(f"seeds: the graph has no vertices {unknown[0]!r}, only {self.node_types}")
        budgets, drawn = {kind: _Budget() for kind in self.node_types}, self._key(draw)
        for hop in range(max(map(len, self.num_samples.values()), default=0)):
            for kind, found in node.items():
                self._spread(kind, found[-1], budgets)
            key = random.key(drawn, hop)
            for number, (kind, counts) in enumerate(self.num_samples.items()):
                count = counts[hop] if hop < len(counts) else 0
                node[kind].append(budgets[kind].drawn(count, torch.cat(node[kind]), random.key(key, number)))
            for found in node.values():
                found += [found[0][:0]] * (hop + 2 - len(found))
        return self._output({kind: torch.cat(found) for kind, found in node.items()}, node)

    def _spread(self, kind: str, vertices: Tensor, budgets: dict[str, _Budget]) -> None:
        """Add to the budgets of the in-neighbours of these vertices."""
        vertices = vertices.unique()
        for (source, _, target), arcs in self._arcs.items():
            if target == kind:
                place, arc = gather_arcs(arcs.offset, vertices)
                degree = arcs.offset[vertices + 1] - arcs.offset[vertices]
                budgets[source].add(arcs.neighbors[arc].to(torch.int64), 1 / degree[place].double())

    def _output(self, node: dict[str, Tensor], hops: dict[str, list[Tensor]]) -> SamplerOutput:
        ends = {kind: arcs.between(node[kind[0]], node[kind[2]]) for kind, arcs in self._arcs.items()}
        row, col, arc = ({kind: found[i] for kind, found in ends.items()} for i in range(3))
        edge = {kind: self._arcs[kind].numbered(found) for kind, found in arc.items()}
        return SamplerOutput(node, row, col, edge, None, {kind: [len(hop) for hop in hops[kind]] for kind in node})


class _Budget:
    """The positive budgets of the vertices of one type."""

    def __init__(self) -> None:
        self.vertex = torch.empty(0, dtype=torch.int64)
        self.value = torch.empty(0, dtype=torch.float64)

    def add(self, vertex: Tensor, value: Tensor) -> None:
        self.vertex, inverse = torch.cat((self.vertex, vertex)).unique(return_inverse=True)
        values = torch.cat((self.value, value))
        self.value = values.new_zeros(len(self.vertex)).index_add_(0, inverse, values)

    def drawn(self, count: int, sampled: Tensor, key: int) -> Tensor:
        """`count` different vertices other than the sampled ones, by the squares of their budgets: the largest random
        keys (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", IPL 2006)."""
        left = ~torch.isin(self.vertex, sampled)
        vertex, value = self.vertex[left], self.value[left]
        if len(vertex) <= count:
            return vertex
        keys = (random.uniform(key, vertex) + 2.0**-54).log() / value**2
        return vertex[keys.topk(count).indices]
