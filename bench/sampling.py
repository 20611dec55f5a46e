"""Neighbour sampling: sampled arcs per second, compared with the samplers of PyTorch Geometric and DGL.

    python -m bench.sampling [--scale 20] [--fanouts 15,10] [--batch 1024] [--threads 2,1]

R-MAT, batches of vertices that have neighbours; a batch ends with the tensors of the output, vertices numbered anew.
Peers are pyg-lib, torch-sparse and DGL where they are installed. All sample the same seeds in turn. The first batch of
each is verified: the seeds come first, the first hop has as many arcs as fan-out and degrees ask for, and arcs, some
of which are looked up, are those of the graph. The limit is what random reads of the neighbours alone take, one for
each sampled arc.
"""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import tgraph as tg
from bench.command import RESULTS, parsed
from bench.limits import fastest, gathering
from bench.machine import describe_machine
from bench.measure import timed
from bench.results import save, table
from bench.verify import require
from tgraph.core.system.pages import fresh

Sample = Callable[[Tensor, int], tuple[Tensor, Tensor, Tensor]]  # (seeds, number of the batch) -> node, row, col


def samplers(graph: tg.Graph, fanouts: list[int]) -> dict[str, Sample]:
    """By name; peers that are not installed are left out."""
    found: dict[str, Sample] = {}
    options: dict[str, dict[str, Any]] = {
        "": {}, ", with replacement": {"replace": True}, ", disjoint": {"disjoint": True},
        ", by weight": {"weighted": True}, ", by weight, with replacement": {"weighted": True, "replace": True},
    }  # fmt: skip
    for name, chosen in options.items():
        found[f"tgraph{name}"] = of_ours(tg.sampling.NeighborSampler(graph, fanouts, seed=1, **chosen))
    peers = {"pyg_lib": of_pyg_lib, "torch_sparse": of_torch_sparse, "dgl": of_dgl}
    for package, make in peers.items():
        if importlib.util.find_spec(package):
            found[package.replace("_", "-")] = make(graph, fanouts)
    return found


def of_ours(sampler: tg.sampling.NeighborSampler) -> Sample:
    def sample(seeds: Tensor, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        found = sampler.sample(seeds, draw=batch)
        return found.node, found.row, found.col

    return sample


def of_pyg_lib(graph: tg.Graph, fanouts: list[int]) -> Sample:
    import pyg_lib  # noqa: F401  registers the operators

    offset, neighbors = graph.offset, graph.neighbors.long()

    def sample(seeds: Tensor, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        row, col, node, *_ = torch.ops.pyg.neighbor_sample(
            *(offset, neighbors, seeds, fanouts, None, None, None, None),
            *(True, False, True, False, "uniform", True),
        )
        return node, row, col

    return sample


def of_torch_sparse(graph: tg.Graph, fanouts: list[int]) -> Sample:
    import torch_sparse  # noqa: F401  registers the operators

    offset, neighbors = graph.offset, graph.neighbors.long()

    def sample(seeds: Tensor, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        node, row, col, _ = torch.ops.torch_sparse.neighbor_sample(offset, neighbors, seeds, fanouts, False, True)
        return node, row, col

    return sample


def of_dgl(graph: tg.Graph, fanouts: list[int]) -> Sample:
    import dgl

    held = dgl.graph(("csc", (graph.offset, graph.neighbors.long(), [])), num_nodes=graph.num_vertices)
    sampler = dgl.dataloading.NeighborSampler(fanouts[::-1])

    def sample(seeds: Tensor, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        node, _, blocks = sampler.sample_blocks(held, seeds)
        ends = [block.edges() for block in blocks]
        return node, torch.cat([row for row, _ in ends]), torch.cat([col for _, col in ends])

    return sample


def verify(graph: tg.Graph, seeds: Tensor, sampled: tuple[Tensor, Tensor, Tensor], fanout: int) -> None:
    """The seeds come first, they have as many arcs as the fan-out allows, and arcs are those of the graph."""
    node, row, col = sampled
    require(torch.equal(node[: len(seeds)], seeds), "the seeds are not first")
    degree = graph.out_degree[seeds]
    drawn = torch.bincount(col[col < len(seeds)], minlength=len(seeds))
    require(bool((drawn >= degree.clamp(max=fanout)).all()), "vertices have too few arcs")
    some = torch.arange(0, len(row), 997)
    for source, target in zip(node[row[some]].tolist(), node[col[some]].tolist(), strict=True):
        own = graph.neighbors[graph.offset[target] : graph.offset[target + 1]]
        require(bool((own == source).any()), f"{source} -> {target} is no arc")


def random_reads(graph: tg.Graph, count: int, threads: int) -> float:
    """Neighbours at random places read per second."""
    read = gathering(graph.neighbors.view(torch.float32), torch.randint(graph.num_arcs, (count,)), threads)
    return count / fastest(read, 7)


def seeds_in_order(graph: tg.Graph) -> Tensor:
    """The vertices with neighbours, in random order."""
    own = (graph.out_degree > 0).nonzero().squeeze(1)
    return own[torch.randperm(len(own), generator=torch.Generator().manual_seed(0))]


def measured(graph: tg.Graph, fanouts: list[int], batch: int, batches: int, threads: int) -> list[tuple[str, float]]:
    """Sampled arcs per second of each system, the median over batches, which the systems sample in turn."""
    torch.set_num_threads(threads)
    order = seeds_in_order(graph)
    rates: dict[str, list[float]] = {}
    systems = samplers(graph, fanouts)
    for number in range(batches):
        seeds = order[number * batch : (number + 1) * batch].contiguous()
        for name, sample in systems.items():
            seconds, found = timed(sample, seeds, number)
            if number == 0:
                verify(graph, seeds, found, fanouts[0])
            rates.setdefault(name, []).append(len(found[1]) / seconds)
    found = [(name, statistics.median(rate[1:])) for name, rate in rates.items()]
    return [*found, ("random reads alone", random_reads(graph, 1 << 22, threads))]


def main() -> None:
    options = parsed(__doc__, scale=20, fanouts=[15, 10], batch=1024, batches=40, threads=[2, 1], output=RESULTS)
    made = tg.generators.rmat(options.scale, 16)
    weights = torch.rand(made.num_arcs, generator=torch.Generator().manual_seed(1))
    neighbors, held = (fresh(each.shape, each.dtype).copy_(each) for each in (made.neighbors, weights))
    graph = tg.Graph(made.offset, neighbors, held, directed=False)
    rows = [
        [str(threads), name, f"{rate / 1e6:.1f}"]
        for threads in options.threads
        for name, rate in measured(graph, options.fanouts, options.batch, options.batches, threads)
    ]
    about = f"{graph!r}, fan-outs {options.fanouts}, batches of {options.batch}; {describe_machine()['processor']}"
    text = table(["threads", "system", "million arcs per second"], rows)
    save("sampling", f"{about}\n\n{text}", folder=options.output)


if __name__ == "__main__":
    main()
