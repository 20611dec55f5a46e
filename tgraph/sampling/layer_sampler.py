"""Layer-wise sampling by importance: LADIES (Zou et al., "Layer-dependent importance sampling for training deep and
large graph convolutional networks", NeurIPS 2019) and FastGCN (Chen, Ma and Xiao, "FastGCN: fast learning with graph
convolutional networks via importance sampling", ICLR 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from tgraph.core import random
from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import gather_rows
from tgraph.errors import ArgumentError
from tgraph.kernels.portable.sampling.members import arcs_from
from tgraph.kernels.portable.sampling.places import number_vertices
from tgraph.sampling.output import SamplerOutput
from tgraph.sampling.relations import Arcs
from tgraph.sampling.seeds import checked_vertices

_STRETCH = 1 << 22  # arcs that are looked at together


class LayerSampler:
    """Samples as many sources in each hop, for all vertices of the hop before together, so that batches grow with the
    number of layers only; all arcs from these sources are taken.

    With A the matrix of what a vertex v receives from u, the draws are with replacement, by the squares of the entries:
    "ladies" draws u by the sum of A[v, u]^2 over the vertices v of the hop before, "fastgcn" over all vertices. An
    arc from u, which s draws took t times with probability p each, has the weight A[v, u] t / (s p): the expected sum
    of what a vertex receives along the sampled arcs is that along all of its arcs.

    Parameters
    ----------
    graph : a Graph, or a square Csr whose rows are destinations.
    num_draws : of sources, in each hop; different ones are fewer, and fewer still have an arc with "fastgcn".
    weighted : whether A are the weights of the graph, such as those of a normalised GCN; otherwise A[v, u] is 1 / the
        arcs along which v receives, as in a mean.
    normalize : whether the weights of the arcs of each vertex are scaled to the sum that all its arcs have in A, as
        LADIES proposes: less variance, but no longer the expected sum.
    seed : with the number of the call, determines what is drawn, on any number of threads.

    Raises ArgumentError for another `method`, negative numbers of draws, and graphs without weights, or with some that
    are not finite, where `weighted`.
    """

    def __init__(
        self,
        graph: Graph | Csr,
        num_draws: Sequence[int],
        *,
        method: Literal["ladies", "fastgcn"] = "ladies",
        weighted: bool = False,
        normalize: bool = False,
        seed: int = 0,
    ):
        if method not in ("ladies", "fastgcn"):
            raise ArgumentError(f"method: expected 'ladies' or 'fastgcn', got {method!r}")
        if any(count < 0 for count in num_draws):
            raise ArgumentError(f"num_draws: must not be negative, got {list(num_draws)}")
        self._arcs, weights = Arcs.with_values(graph, "in")
        self._entries = _checked(weights) if weighted else None
        if self._arcs.num_sources != len(self._arcs.offset) - 1:
            raise ArgumentError("graph: layers need the same vertices as rows and as columns")
        self.num_draws, self.method, self.normalize, self.seed = list(num_draws), method, normalize, seed
        self._running = self._mass_of_all().cumsum(0) if method == "fastgcn" else None
        self._calls = 0

    def sample(self, seeds: Tensor | Sequence[int], *, draw: int | None = None) -> SamplerOutput:
        """The vertices and arcs sampled for `seeds`, indices of vertices: `weight` has those of the arcs, of the dtype
        of the graph's where `weighted`, else float32. Vertices that earlier hops reached keep their arcs.

        draw : the number of the call, which with the sampler's seed determines what is drawn; by default that of the
        previous call and one more. Raises ArgumentError for seeds that are no vertices.
        """
        if draw is None:
            draw = self._calls
            self._calls += 1
        key = random.key(self.seed, draw)
        node = checked_vertices(seeds, len(self._arcs.offset) - 1, "seeds")
        sizes, counts, begin = [len(node)], [], 0
        rows, columns, arcs = [node[:0]], [node[:0]], [node[:0]]
        weights = [torch.empty(0, dtype=torch.float32 if self._entries is None else self._entries.dtype)]
        for hop, draws in enumerate(self.num_draws):
            end = len(node)
            found, arc, weight = self._layer(node[begin:], draws, random.key(key, hop))
            place, node = number_vertices(node, self._arcs.neighbors[arc].long())
            rows.append(place)
            columns.append(torch.arange(begin, end).repeat_interleave(found))
            arcs.append(arc)
            weights.append(weight.to(weights[0].dtype))
            sizes.append(len(node) - end)
            counts.append(len(arc))
            begin = end
        row, col, edge, weight = (torch.cat(parts) for parts in (rows, columns, arcs, weights))
        number = self._arcs.number
        return SamplerOutput(node, row, col, edge if number is None else number[edge], None, sizes, counts, weight)

    def _layer(self, rows: Tensor, count: int, key: int) -> tuple[Tensor, Tensor, Tensor]:
        """The arcs of rows from the sources that are drawn for them: (how many of each, numbers, weights float64)."""
        drawn, total = self._of_layer(rows, count, key) if self._running is None else self._of_all(count, key)
        sources, times = drawn.unique(return_counts=True)
        found, arc, place = arcs_from(self._arcs.offset, self._arcs.neighbors, rows, sources)
        value = self._values(rows, found, arc)
        if self._running is None:
            mass = torch.zeros(len(sources), dtype=torch.float64).index_add_(0, place, value.square())
        else:
            mass = self._running[sources] - torch.where(sources > 0, self._running[sources - 1], 0)
        weight = value * (times * total / (max(count, 1) * mass))[place]
        return found, arc, self._scaled(weight, found, rows) if self.normalize else weight

    def _of_layer(self, rows: Tensor, count: int, key: int) -> tuple[Tensor, float]:
        """(`count` sources of the arcs of rows, drawn by the squares of these, the sum of all squares)"""
        number = torch.arange(count)
        if self._entries is None:  # the squares of a row are the same, and sum to 1 / its arcs
            degree = self._degree(rows)
            running = torch.where(degree > 0, 1 / degree.double(), 0).cumsum(0)
            found = _places(running, random.uniform(key, 2 * number))
            within = random.below(key, 2 * number[: len(found)] + 1, degree[found])
            arc = self._arcs.offset[rows[found]] + within
        else:
            every = gather_rows(self._arcs.offset, rows)[1]
            running = self._entries[every].double().square().cumsum(0)
            arc = every[_places(running, random.uniform(key, 2 * number))]
        return self._arcs.neighbors[arc].long(), float(running[-1]) if len(running) else 0.0

    def _of_all(self, count: int, key: int) -> tuple[Tensor, float]:
        """(`count` vertices drawn by the squares of all that they send, the sum of all squares)"""
        assert self._running is not None
        found = _places(self._running, random.uniform(key, 2 * torch.arange(count)))
        return found, float(self._running[-1]) if len(self._running) else 0.0

    def _mass_of_all(self) -> Tensor:
        """The sum of the squares of what each vertex sends, float64 [n]."""
        offset, neighbors = self._arcs.offset, self._arcs.neighbors
        mass = torch.zeros(self._arcs.num_sources, dtype=torch.float64)
        for begin in range(0, len(neighbors), _STRETCH):
            arc = torch.arange(begin, min(begin + _STRETCH, len(neighbors)))
            rows, count = (torch.searchsorted(offset, arc, right=True) - 1).unique_consecutive(return_counts=True)
            mass.index_add_(0, neighbors[arc].long(), self._values(rows, count, arc).square())
        return mass

    def _values(self, rows: Tensor, count: Tensor, arc: Tensor) -> Tensor:
        """The entries of arcs, of which so many are in each row, float64."""
        if self._entries is None:
            return (1 / self._degree(rows).double()).repeat_interleave(count, output_size=len(arc))
        return self._entries[arc].double()

    def _degree(self, rows: Tensor) -> Tensor:
        return self._arcs.offset[rows + 1] - self._arcs.offset[rows]

    def _scaled(self, weight: Tensor, count: Tensor, rows: Tensor) -> Tensor:
        """The weights of sampled arcs, so many of each row, scaled to sum to what all arcs of their row sum to; as they
        are where they cancel out."""
        row = torch.arange(len(rows)).repeat_interleave(count)
        sampled = torch.zeros(len(rows), dtype=torch.float64).index_add_(0, row, weight)
        whole = torch.ones_like(sampled)
        if self._entries is not None:
            bounds, arc = gather_rows(self._arcs.offset, rows)
            every = torch.arange(len(rows)).repeat_interleave(bounds.diff())
            whole = torch.zeros_like(sampled).index_add_(0, every, self._entries[arc].double())
        return weight * torch.where(sampled != 0, whole / sampled, 1)[row]


def _checked(weights: Tensor | None) -> Tensor:
    """Weights to draw by."""
    if weights is None:
        raise ArgumentError("graph: has no weights to sample by; give it weights, or leave weighted=False")
    weights = weights.detach() if weights.is_floating_point() else weights.double()
    if len(wrong := (~weights.isfinite()).nonzero()):
        place = int(wrong[0])
        raise ArgumentError(
            f"graph: arcs are sampled by finite weights, weights[{place}] is {weights[place].item()}; replace it, or "
            "leave weighted=False"
        )
    return weights


def _places(running: Tensor, share: Tensor) -> Tensor:
    """Where the running sums of masses pass shares of all, int64; nowhere without any mass. None has mass 0."""
    if not len(running) or not running[-1] > 0:
        return share[:0].long()
    last = torch.searchsorted(running, running[-1])  # rounding may lead beyond it
    return torch.searchsorted(running, share * running[-1], right=True).clamp(max=last)
