"""Neighbours by personalised PageRank, and the subgraphs between them (Zeng et al., "Decoupling the depth and scope of
graph neural networks", NeurIPS 2021)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tgraph.core.csr import Csr
from tgraph.core.graph import Graph
from tgraph.core.rows import offset_of
from tgraph.errors import ArgumentError
from tgraph.kernels.operators.sampling.push import push_residuals
from tgraph.sampling.output import SamplerOutput
from tgraph.sampling.relations import Arcs
from tgraph.sampling.seeds import checked_vertices


class PPRSampler:
    """Selects the neighbours of a vertex with the highest personalised PageRank, approximated by pushing residuals; a
    batch has a tree for each seed, with all arcs between its vertices. The result is deterministic.

    The score of a vertex is the probability that a walk from the seed against the direction of arcs, ended at each step
    with probability `alpha`, ends there.

    Parameters
    ----------
    graph : a Graph, or a square Csr with destinations as rows.
    num_neighbors : the largest number of vertices beside each seed; fewer where fewer have a positive score.
    alpha : the probability to end, above 0, below 1. epsilon : the error of a score per arc of its vertex; a seed takes
        at most 1 / (alpha * epsilon) steps along arcs.

    Raises ArgumentError for numbers out of range.

    >>> graph = tg.generators.barbell(4, 0)
    >>> sampler = tg.sampling.PPRSampler(graph, 3)
    >>> sampler.sample([0]).node
    tensor([0, 3, 1, 2])
    """

    def __init__(self, graph: Graph | Csr, num_neighbors: int, *, alpha: float = 0.15, epsilon: float = 1e-4):
        if num_neighbors < 0:
            raise ArgumentError(f"num_neighbors: must not be negative, got {num_neighbors}")
        if not 0 < alpha < 1:
            raise ArgumentError(f"alpha: must be above 0 and below 1, got {alpha}")
        if not 0 < epsilon < 1:
            raise ArgumentError(f"epsilon: must be above 0 and below 1, got {epsilon}")
        self._arcs = Arcs.of(graph, "in", False, None, None, "graph")
        if self._arcs.num_sources != self._arcs.num_rows:
            raise ArgumentError("graph: walks need the same vertices as rows and as columns")
        self.num_neighbors: int = num_neighbors
        self.alpha: float = float(alpha)
        self.epsilon: float = float(epsilon)

    def scores(self, seeds: Tensor | Sequence[int]) -> Csr:
        """The neighbours of each of the `seeds` as a row, with their scores in descending order as weights, float64.
        Raises ArgumentError for seeds out of range.

        >>> scores = tg.sampling.PPRSampler(tg.generators.barbell(4, 0), 3).scores([0, 7])
        >>> scores.neighbors.view(2, 3), scores.weights.round(decimals=2)[:3]
        (tensor([[3, 1, 2],
                [4, 5, 6]]), tensor([0.1900, 0.1700, 0.1700], dtype=torch.float64))
        """
        size = self._arcs.num_rows
        index = checked_vertices(seeds, size, "seeds")
        arcs = self._arcs.offset, self._arcs.neighbors
        found, vertices, scores = push_residuals(*arcs, index, self.alpha, self.epsilon, self.num_neighbors)
        return Csr.unchecked(offset_of(found), vertices, None, size, scores)

    def sample(self, seeds: Tensor | Sequence[int], *, draw: int | None = None) -> SamplerOutput:
        """The subgraphs around `seeds`, a tree for each, in `batch`; raises ArgumentError as `scores` does.

        draw : for the interface of other samplers; has no effect.

        >>> sample = tg.sampling.PPRSampler(tg.generators.barbell(4, 0), 3).sample([0, 7])
        >>> sample.node, sample.batch
        (tensor([0, 7, 3, 1, 2, 4, 5, 6]), tensor([0, 1, 0, 0, 0, 1, 1, 1]))
        """
        index = checked_vertices(seeds, self._arcs.num_rows, "seeds")
        rows = self.scores(index)
        tree = torch.cat((torch.arange(len(index)), rows.row_of_arc()))
        node = torch.cat((index, rows.neighbors))
        row, col, arc = self._arcs.between(node, node, (tree, tree))
        sizes = [len(index), len(rows.neighbors)]
        return SamplerOutput(node, row, col, self._arcs.numbered(arc), tree, sizes)
