"""Sampling: arcs of neighbours per second, and milliseconds for a batch of samplers of all kinds.

    python -m bench.sampling [--parts neighbours,kinds] [--scale 20] [--fanouts 15,10] [--batch 1024] [--threads 2,1]
                             [--sizes 32,1024,16384]

R-MAT, batches of vertices that have neighbours, which the systems sample in turn; a batch ends with the tensors of the
output, vertices numbered anew; medians over the batches but the first, which is verified.
neighbours : peers are pyg-lib, torch-sparse and DGL where they are installed. The seeds come first, the first hop has
as many arcs as fan-out and degrees ask for, and arcs, some of which are looked up, are those of the graph. The limit is
what random reads of the neighbours alone take, one for each sampled arc.
kinds : batches of several sizes. Samplers around seeds have these first, and negative pairs are looked up. PyTorch
Geometric's GraphSAINT and ShaDow need torch-sparse, its loaders pyg-lib: of what runs without, it has negative pairs.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

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

K = TypeVar("K")
PARTS = ("neighbours", "kinds")
LONG = 5.0  # seconds after which a system samples no further batches
BATCHES = 7  # of each kind and size

Sample = Callable[
    [Tensor, int], Any
]  # (seeds, number of the batch) -> (node, row, col), or of kinds nodes or pairs [2, k]


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
            *(offset, neighbors, seeds, fanouts, None, None, None, None), *(True, False, True, False, "uniform", True)
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


def in_batches(
    systems: Mapping[K, Sample], graph: tg.Graph, size: int, batches: int, check: Callable[[K, Tensor, Any], None]
) -> dict[K, list[tuple[float, int]]]:
    """Seconds and arcs of each batch but the first, which is checked."""
    order = seeds_in_order(graph)
    found: dict[K, list[tuple[float, int]]] = {name: [] for name in systems}
    for number in range(batches + 1):
        seeds = order[number * size : (number + 1) * size].contiguous()
        for name, sample in systems.items():
            if sum(seconds for seconds, _ in found[name]) > LONG:
                continue
            seconds, sampled = timed(sample, seeds, number)
            if number == 0:
                check(name, seeds, sampled)
            found[name].append((seconds, len(sampled[1]) if isinstance(sampled, tuple) else 0))
    return {name: taken[1:] or taken for name, taken in found.items()}


def neighbours(options: argparse.Namespace) -> tuple[str, list[list[str]]]:
    """Sampled arcs per second of each system, by the number of threads."""
    made, batch = tg.generators.rmat(options.scale, 16), options.batch
    weights = torch.rand(made.num_arcs, generator=torch.Generator().manual_seed(1))
    neighbors, held = (fresh(each.shape, each.dtype).copy_(each) for each in (made.neighbors, weights))
    graph = tg.Graph(made.offset, neighbors, held, directed=False)
    rows = [["threads", "system", "million arcs per second"]]
    for threads in options.threads:
        torch.set_num_threads(threads)
        taken = in_batches(
            samplers(graph, options.fanouts),
            *(graph, batch, options.batches),
            lambda _, seeds, found: verify(graph, seeds, found, options.fanouts[0]),
        )
        rates = {name: statistics.median(arcs / seconds for seconds, arcs in each) for name, each in taken.items()}
        rates["random reads alone"] = random_reads(graph, 1 << 22, threads)
        rows += [[str(threads), name, f"{rate / 1e6:.1f}"] for name, rate in rates.items()]
    return f"{graph!r}, fan-outs {options.fanouts}, batches of {batch}", rows


# ---- kinds


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


def verify_kind(graph: tg.Graph, seeds: Tensor, kind: str, found: Tensor) -> None:
    """Seeds come first, subgraphs have vertices of the graph, and pairs no edge."""
    if found.ndim == 1:
        require(kind.startswith("GraphSAINT") or torch.equal(found[: len(seeds)], seeds), f"{kind}: seeds not first")
        require(bool(((found >= 0) & (found < graph.num_vertices)).all()), f"{kind}: no vertices")
        return
    for source, target in found[:, :100].t().tolist():
        own = graph.neighbors[graph.offset[source] : graph.offset[source + 1]]
        require(not bool((own == target).any()), f"{kind}: {source} - {target} is an edge")


def kinds(options: argparse.Namespace) -> tuple[str, list[list[str]]]:
    """Milliseconds for a batch of each size, by kind and system."""
    graph = tg.generators.rmat(options.scale, 16)
    torch.set_num_threads(options.threads[0])
    systems = around_seeds(graph) | of_graph(graph) | negatives(graph)
    rows = {name: [*name] for name in systems}
    for size in options.sizes:
        check = lambda name, seeds, found: verify_kind(graph, seeds, name[0], found)  # noqa: E731
        for name, taken in in_batches(systems, graph, size, BATCHES, check).items():
            rows[name].append(f"{1e3 * statistics.median(seconds for seconds, _ in taken):.2f}")
    head = ["sampler", "system", *(f"{size} seeds" for size in options.sizes)]
    return f"{graph!r}, milliseconds for a batch, {options.threads[0]} threads", [head, *rows.values()]


def main() -> None:
    options = parsed(
        __doc__,
        known={"parts": PARTS},
        parts=PARTS, scale=20, fanouts=[15, 10], batch=1024, batches=40, threads=[2, 1], sizes=[32, 1024, 16384],
        output=RESULTS,
    )  # fmt: skip
    text = []
    for part in options.parts:
        about, (head, *rows) = {"neighbours": neighbours, "kinds": kinds}[part](options)
        text.append(f"{about}; {describe_machine()['processor']}\n\n{table(head, rows)}")
    save("sampling", "\n\n".join(text), folder=options.output)


if __name__ == "__main__":
    main()
