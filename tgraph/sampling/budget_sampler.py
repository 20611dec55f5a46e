"""Vertices of several types sampled by budgets (HGSampling: Hu, Dong, Wang and Sun, "Heterogeneous graph transformer",
WWW 2020)."""

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


class BudgetSampler:
    """Samples as many vertices of each type in each hop, those first that many sampled ones have arcs from.

    A vertex has a budget: for each sampled vertex that receives from it, in each relation, 1 / the arcs of that one. A
    hop draws vertices of a type by the squares of their budgets, each at most once. A batch has all arcs between its
    vertices.

    Parameters
    ----------
    graph : by type of edges, (source, relation, destination), a Graph or a Csr whose rows are destinations.
    num_samples : vertices of each type in each hop, or a dictionary of such lists by type; others get none.
    num_vertices : by type, for types that no edges have.
    seed : with the number of the call, determines what is drawn.

    Raises ArgumentError for numbers of samples that are negative, and of types that the graph does not have.

    >>> writes = ("author", "writes", "paper")
    >>> graph = tg.Graph.from_edges([0, 0, 1], [0, 1, 1])
    >>> sampler = tg.sampling.BudgetSampler({writes: graph}, [2])
    >>> sampler.sample({"paper": torch.tensor([1])}).node["author"].sort().values
    tensor([0, 1])
    """

    node_types: list[str]
    edge_types: list[EdgeType]
    num_samples: Mapping[str, Sequence[int]] | dict[str, Sequence[int]]
    seed: int

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
            for end, size in ((source, arcs.num_sources), (target, len(arcs.offset) - 1)):
                self._sizes[end] = max(self._sizes.get(end, 0), size)
        self.node_types, self.edge_types = list(self._sizes), list(self._arcs)
        by_type = num_samples if isinstance(num_samples, Mapping) else dict.fromkeys(self.node_types, num_samples)
        for kind, counts in by_type.items():
            if kind not in self._sizes:
                raise ArgumentError(f"num_samples: the graph has no vertices {kind!r}, only {self.node_types}")
            if any(count < 0 for count in counts):
                raise ArgumentError(f"num_samples[{kind!r}]: must not be negative, got {list(counts)}")
        self.num_samples, self.seed = by_type, seed
        self._calls = 0

    def sample(self, seeds: Mapping[str, Tensor], *, draw: int | None = None) -> SamplerOutput:
        """The vertices and arcs sampled around `seeds`, indices of vertices by type.

        draw : the number of the call, which with the sampler's seed determines what is drawn; by default that of the
        previous call and one more. Raises ArgumentError for seeds that are no vertices.

        >>> writes = ("author", "writes", "paper")
        >>> sampler = tg.sampling.BudgetSampler({writes: tg.Graph.from_edges([0, 0, 1], [0, 1, 1])}, [2])
        >>> sample = sampler.sample({"paper": torch.tensor([0])})
        >>> sample.node["author"], sample.row[writes], sample.col[writes]
        (tensor([0]), tensor([0]), tensor([0]))
        """
        if draw is None:
            draw = self._calls
            self._calls += 1
        node = {kind: [self._checked(kind, seeds.get(kind))] for kind in self.node_types}
        if unknown := [kind for kind in seeds if kind not in node]:
            raise ArgumentError(f"seeds: the graph has no vertices {unknown[0]!r}, only {self.node_types}")
        budgets = {kind: _Budget() for kind in self.node_types}
        for hop in range(max(map(len, self.num_samples.values()), default=0)):
            for kind, found in node.items():
                self._spread(kind, found[-1], budgets)
            key = random.key(random.key(self.seed, draw), hop)
            for number, (kind, counts) in enumerate(self.num_samples.items()):
                count = counts[hop] if hop < len(counts) else 0
                node[kind].append(budgets[kind].drawn(count, torch.cat(node[kind]), random.key(key, number)))
            for found in node.values():
                found += [found[0][:0]] * (hop + 2 - len(found))
        return self._output({kind: torch.cat(found) for kind, found in node.items()}, node)

    def _spread(self, kind: str, vertices: Tensor, budgets: dict[str, _Budget]) -> None:
        """Add to the budgets of those that these vertices receive from."""
        vertices = vertices.unique()
        for (source, _, target), arcs in self._arcs.items():
            if target == kind:
                place, arc = gather_arcs(arcs.offset, vertices)
                degree = arcs.offset[vertices + 1] - arcs.offset[vertices]
                budgets[source].add(arcs.neighbors[arc].to(torch.int64), 1 / degree[place].double())

    def _output(self, node: dict[str, Tensor], hops: dict[str, list[Tensor]]) -> SamplerOutput:
        ends = {kind: arcs.between(node[kind[0]], node[kind[2]]) for kind, arcs in self._arcs.items()}
        row, col, arc = ({kind: found[i] for kind, found in ends.items()} for i in range(3))
        numbers = {kind: arcs.number for kind, arcs in self._arcs.items()}
        edge = {kind: found if (number := numbers[kind]) is None else number[found] for kind, found in arc.items()}
        return SamplerOutput(node, row, col, edge, None, {kind: [len(hop) for hop in hops[kind]] for kind in node})

    def _checked(self, kind: str, seeds: Tensor | None) -> Tensor:
        index = torch.as_tensor([] if seeds is None else seeds).to(torch.int64)
        if index.ndim != 1:
            raise ArgumentError(f"seeds[{kind!r}]: expected [k], got {list(index.shape)}")
        wrong = (index < 0) | (index >= self._sizes[kind])
        if bool(wrong.any()):
            got = int(index[wrong][0])
            raise ArgumentError(f"seeds[{kind!r}]: vertices are 0 to {self._sizes[kind] - 1}, got {got}")
        return index


class _Budget:
    """The budgets of the vertices of one type: those that have some."""

    def __init__(self) -> None:
        self.vertex = torch.empty(0, dtype=torch.int64)
        self.value = torch.empty(0, dtype=torch.float64)

    def add(self, vertex: Tensor, value: Tensor) -> None:
        self.vertex, inverse = torch.cat((self.vertex, vertex)).unique(return_inverse=True)
        values = torch.cat((self.value, value))
        self.value = values.new_zeros(len(self.vertex)).index_add_(0, inverse, values)

    def drawn(self, count: int, sampled: Tensor, key: int) -> Tensor:
        """`count` different vertices other than the sampled ones, by the squares of their budgets: those with the
        largest of random keys (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", IPL 2006)."""
        left = ~torch.isin(self.vertex, sampled)
        vertex, value = self.vertex[left], self.value[left]
        if len(vertex) <= count:
            return vertex
        keys = (random.uniform(key, vertex) + 2.0**-54).log() / value**2
        return vertex[keys.topk(count).indices]
