"""Samplers of all kinds: milliseconds for a batch, by its size, with PyTorch Geometric where it has one in plain torch.

    python -m bench.samplers [--scale 20] [--sizes 32,1024,16384] [--threads 2]

R-MAT, undirected; batches of vertices that have neighbours, which the systems sample in turn, medians over the batches.
A batch ends with the tensors of the output. Samplers around seeds have these first, and negative pairs are looked up
in the first batch of each. PyTorch Geometric's GraphSAINT and ShaDow need torch-sparse, its loaders pyg-lib: of what
runs without, it has negative pairs.
"""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable

import torch
from torch import Tensor

import tgraph as tg
from bench.command import RESULTS, parsed
from bench.machine import describe_machine
from bench.measure import timed
from bench.results import save, table
from bench.sampling import seeds_in_order
from bench.verify import require

LONG = 5.0  # seconds after which a system samples no further batches of a size

Sample = Callable[[Tensor, int], Tensor]  # (seeds, number of the batch) -> vertices, or pairs [2, k]


def around_seeds(graph: tg.Graph) -> dict[tuple[str, str], Sample]:
    """Samplers whose batches begin with the seeds, by kind and system; those of layers draw as many as seeds."""
    kinds = tg.sampling
    held = {
        "neighbours, 15 and 10": kinds.NeighborSampler(graph, [15, 10]),
        "LABOR, 15 and 10": kinds.LaborSampler(graph, [15, 10]),
        "PinSAGE, 10 of 10 walks": kinds.PinSAGESampler(graph, [10]),
    }
    found = {(kind, "tgraph"): _sampled(sampler) for kind, sampler in held.items()}
    for name, method in (("LADIES, two layers", "ladies"), ("FastGCN, two layers", "fastgcn")):
        found[name, "tgraph"] = _in_layers(kinds.LayerSampler(graph, [0], method=method))
    return found


def _sampled(sampler: tg.sampling.NeighborSampler | tg.sampling.PinSAGESampler) -> Sample:
    return lambda seeds, batch: sampler.sample(seeds, draw=batch).node


def _in_layers(sampler: tg.sampling.LayerSampler) -> Sample:
    def sample(seeds: Tensor, batch: int) -> Tensor:
        sampler.num_draws = [len(seeds)] * 2
        return sampler.sample(seeds, draw=batch).node

    return sample


def of_graph(graph: tg.Graph) -> dict[tuple[str, str], Sample]:
    """Vertices of a subgraph, of which as many are drawn as there are seeds."""
    return {
        ("GraphSAINT, vertices", "tgraph"): lambda seeds, batch: tg.sampling.saint_nodes(graph, len(seeds), batch),
        ("GraphSAINT, edges", "tgraph"): lambda seeds, batch: tg.sampling.saint_edges(graph, len(seeds), batch),
        ("GraphSAINT, walks of 2", "tgraph"): lambda seeds, batch: tg.sampling.saint_walks(graph, len(seeds), 2, batch),
    }


def negatives(graph: tg.Graph) -> dict[tuple[str, str], Sample]:
    """Pairs without an edge, as many as seeds."""
    found: dict[tuple[str, str], Sample] = {}
    for name, sampler in {
        "negatives": tg.sampling.NegativeSampler(graph),
        "negatives, by degree": tg.sampling.NegativeSampler(graph, by="degree"),
        "negatives, each once": tg.sampling.NegativeSampler(graph, distinct=True),
    }.items():
        found[name, "tgraph"] = lambda seeds, batch, sampler=sampler: sampler.sample(len(seeds), draw=batch)
    structured = tg.sampling.NegativeSampler(graph)
    found["negatives, of the seeds", "tgraph"] = lambda seeds, batch: structured.sample_for(seeds, draw=batch)
    if importlib.util.find_spec("torch_geometric"):
        from torch_geometric.utils import negative_sampling

        ends, n = graph.to_edge_index(), graph.num_vertices
        found["negatives", "PyTorch Geometric"] = lambda seeds, batch: negative_sampling(ends, n, len(seeds))
    return found


def verify(graph: tg.Graph, seeds: Tensor, kind: str, found: Tensor) -> None:
    """Seeds come first, subgraphs have vertices of the graph, and pairs no edge."""
    if found.ndim == 1:
        require(kind.startswith("GraphSAINT") or torch.equal(found[: len(seeds)], seeds), f"{kind}: seeds not first")
        require(bool(((found >= 0) & (found < graph.num_vertices)).all()), f"{kind}: no vertices")
        return
    for source, target in found[:, :100].t().tolist():
        own = graph.neighbors[graph.offset[source] : graph.offset[source + 1]]
        require(not bool((own == target).any()), f"{kind}: {source} - {target} is an edge")


def measured(graph: tg.Graph, sizes: list[int], batches: int) -> dict[tuple[str, str], list[float]]:
    """Seconds for a batch of each size, by kind and system: the medians over the batches but the first."""
    order = seeds_in_order(graph)
    systems = around_seeds(graph) | of_graph(graph) | negatives(graph)
    found: dict[tuple[str, str], list[float]] = {name: [] for name in systems}
    for size in sizes:
        seconds: dict[tuple[str, str], list[float]] = {name: [] for name in systems}
        for batch in range(batches + 1):
            seeds = order[batch * size : (batch + 1) * size].contiguous()
            for name, sample in systems.items():
                if sum(seconds[name]) > LONG:
                    continue
                taken, sampled = timed(sample, seeds, batch)
                seconds[name].append(taken)
                if batch == 0:
                    verify(graph, seeds, name[0], sampled)
        for name, each in seconds.items():
            found[name].append(statistics.median(each[1:] or each))
    return found


def main() -> None:
    options = parsed(__doc__, scale=20, sizes=[32, 1024, 16384], batches=7, threads=2, output=RESULTS)
    torch.set_num_threads(options.threads)
    graph = tg.generators.rmat(options.scale, 16)
    machine = f"{options.threads} threads; {describe_machine()['processor']}"
    found = measured(graph, options.sizes, options.batches)
    rows = [[kind, system, *(f"{1e3 * seconds:.2f}" for seconds in each)] for (kind, system), each in found.items()]
    text = table(["sampler", "system", *(f"{size} seeds" for size in options.sizes)], rows)
    save("samplers", f"{graph!r}, milliseconds for a batch, {machine}\n\n{text}", folder=options.output)


if __name__ == "__main__":
    main()
