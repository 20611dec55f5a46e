"""Training from the disk: GraphSAGE on a graph as large as ogbn-products, the memory held to 1 GB.

Features and edges are in files; the same in memory is the comparison.

The example draws the graph: R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004), 2.4 million vertices, 62 million edges
and hubs of 15,000 neighbours, numbered by descending degree. A vertex has 100 features in 16 bits and one of 16
classes, which follows from its features and the mean of its neighbours'. 8 % of the vertices are trained on (Hamilton,
Ying and Leskovec, NeurIPS 2017, for the network and the fan-outs).

A control group of Linux holds the process to --memory; its page cache counts, too. From the disk, the neighbours are a
mapped file in a layout of half the bytes, of which the rows that a batch needs are decoded. A cache keeps the features
of the vertices of high degree; the others' are read past the page cache while the model computes. In memory, all of
the features and the CSR are tensors. PyTorch Geometric's own loader does not take part: it needs pyg-lib or
torch-sparse, neither of which the package index has for a current torch. The folder takes 1.7 GB while it is made, and
0.8 GB then.
Usage: python examples/products.py [--folder FOLDER] [--scale 1] [--memory 1e9] ...
"""

import argparse
import itertools
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

import tgraph as tg
from tgraph.sampling import Block, NeighborSampler, ahead, blocks
from tgraph.stores import BlockStore, CachedStore, DiskStore, MemoryStore

VERTICES, EDGES, COLUMNS, CLASSES, HIDDEN = 2_400_000, 62_000_000, 100, 16, 256
TRAIN, TEST, BATCH = 0.08, 0.01, 1024  # shares of the vertices, and vertices
QUADRANTS = np.repeat([0, 1, 2, 3], [141, 25, 26, 64]).astype(np.uint8)  # of 256 draws: 0.55, 0.1, 0.1 and 0.25
CHUNK = 1 << 21  # edges or rows in memory at a time
GRAPH = "graph.tg"
OTHERS = 3.9e8  # bytes that Python, torch, the batches and the model take, about
# Layers do without PyTorch Geometric, 120 MB; what is freed goes back to the system at once, in huge pages.
TUNABLES = ("hugetlb=1", "mmap_threshold=4194304", "trim_threshold=33554432", "arena_max=2")
SETTINGS = {"TGRAPH_PYG": "0", "GLIBC_TUNABLES": ":".join(f"glibc.malloc.{each}" for each in TUNABLES)}
GROUPS = Path("/sys/fs/cgroup")
PEAKS = "memory.max_usage_in_bytes", "memory.peak"  # of a control group, by its version


def edges_of(n: int, count: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Both ends of the edges, a chunk at a time, the same at each call; each edge once in either direction."""
    levels = max(1, (n - 1).bit_length())
    for number, first in enumerate(range(0, count, CHUNK)):
        random, size = np.random.default_rng(number), min(CHUNK, count - first)
        ends = np.zeros((2, size), dtype=np.int64)
        for _ in range(levels):
            quadrant = QUADRANTS[random.integers(256, size=size, dtype=np.uint8)]
            ends = 2 * ends + (quadrant >> 1, quadrant & 1)
        source, target = torch.from_numpy(ends * n >> levels)
        yield torch.cat((source, target)), torch.cat((target, source))


def draw_graph(n: int, count: int, folder: Path) -> tuple[Tensor, tg.Graph]:
    """(number of each vertex by descending degree, the graph): a counting sort."""
    degree = torch.zeros(n, dtype=torch.int64)
    for _, target in edges_of(n, count):
        degree += torch.bincount(target, minlength=n)
    order = degree.argsort(descending=True)
    number = torch.empty_like(order).scatter_(0, order, torch.arange(n))
    offset = torch.cat((torch.zeros(1, dtype=torch.int64), degree[order].cumsum(0)))
    neighbors, begins = in_file(folder / "neighbors", 2 * count, torch.int32), offset[:-1].clone()
    for source, target in edges_of(n, count):
        target, order = number[target].sort(stable=True)
        counts = torch.bincount(target, minlength=n)
        within = torch.arange(len(target)) - (counts.cumsum(0) - counts)[target]
        neighbors[begins[target] + within] = number[source[order]].int()
        begins += counts
    rows = tg.Graph.from_csr(offset, neighbors, directed=True).transpose()  # the same, each row in ascending order
    return number, tg.Graph.from_csr(rows.offset, rows.neighbors, directed=False)


def draw_features(number: Tensor, graph: tg.Graph, folder: Path) -> tuple[Tensor, Tensor]:
    """(features [n, COLUMNS] in a file, classes [n]). Vertices near each other have similar features, and the class is
    the largest of CLASSES sums over the features of a vertex and over the means of its neighbours'."""
    n, random = len(number), torch.Generator().manual_seed(0)
    x = in_file(folder / "x", n * COLUMNS, torch.float16).view(n, COLUMNS)
    center, own, near = (torch.randn((k, COLUMNS), generator=random) for k in (CLASSES, CLASSES, CLASSES))
    of_own, of_near = torch.empty(n, CLASSES), torch.empty(n, CLASSES)
    place = torch.empty_like(number).scatter_(0, number, torch.arange(n))  # where R-MAT had each vertex
    for first in range(0, n, CHUNK // 8):
        rows = slice(first, first + CHUNK // 8)
        drawn = torch.randn((len(place[rows]), COLUMNS), generator=random) + center[place[rows] * CLASSES // n]
        of_own[rows], of_near[rows], x[rows] = drawn @ own.T, drawn @ near.T, drawn
    return x, (of_own + 2 * tg.aggregate(graph, of_near, "mean")).argmax(1)


def in_file(path: Path, size: int, dtype: torch.dtype) -> Tensor:
    """A tensor [size] that is written to a file rather than kept in memory."""
    return torch.from_file(str(path), shared=True, size=size, dtype=dtype)


def make(store: DiskStore, scale: float) -> None:
    """Draw the graph, the features, the classes and the vertices to train and to test on, unless they are there."""
    found = store.stat("degree")
    if found is not None and found.notes["scale"] == str(scale):
        return
    n, count = round(VERTICES * scale), round(EDGES * scale)
    with tempfile.TemporaryDirectory(dir=store.path) as folder:
        number, graph = draw_graph(n, count, Path(folder))
        tg.write(graph.to_format("elias_fano"), store.path / GRAPH)
        x, y = draw_features(number, graph, Path(folder))
        store.put("x", x)
        store.put("y", y.to(torch.int16))
    split = torch.randperm(n, generator=torch.Generator().manual_seed(1))
    store.put("train", split[: round(TRAIN * n)])
    store.put("test", split[-round(TEST * n) :])
    store.put("degree", graph.in_degree.int(), {"scale": str(scale)})


class Sage(torch.nn.Module):
    """A layer of GraphSAGE for each hop, computed for the vertices that later layers need."""

    def __init__(self, hops: int):
        super().__init__()
        columns = [COLUMNS, *[HIDDEN] * (hops - 1), CLASSES]
        self.layers = torch.nn.ModuleList(map(tg.nn.SAGEConv, columns[:-1], columns[1:]))

    def forward(self, x: Tensor, hops: list[Block]) -> Tensor:
        """Scores of the seeds of a batch."""
        for depth, (layer, block) in enumerate(zip(self.layers, hops, strict=True)):
            x = F.dropout(x.relu(), 0.2, self.training) if depth else x
            x = layer((x, x[: len(block.destination)]), block.csr)
        return x


class Adam:
    """Kingma and Ba, "Adam: A method for stochastic optimization", ICLR 2015. That of torch.optim imports the compiler
    of torch, which takes 70 MB."""

    def __init__(self, parameters: Iterable[torch.nn.Parameter], rate: float):
        self.parameters, self.rate, self.decay, self.steps = list(parameters), rate, (0.9, 0.999), 0
        self.mean, self.square = ([torch.zeros_like(each) for each in self.parameters] for _ in range(2))

    @torch.no_grad()
    def step(self) -> None:
        """Change the parameters by their gradients, which are gone then."""
        self.steps += 1
        first, second = self.decay
        for each, mean, square in zip(self.parameters, self.mean, self.square, strict=True):
            assert each.grad is not None
            mean.lerp_(each.grad, 1 - first)
            square.mul_(second).addcmul_(each.grad, each.grad, value=1 - second)
            scale = (square / (1 - second**self.steps)).sqrt_().add_(1e-8)
            each.addcdiv_(mean, scale, value=-self.rate / (1 - first**self.steps))
            each.grad = None


def opened(options: argparse.Namespace) -> tuple[BlockStore, tg.Graph]:
    """The features and the graph, in memory or on the disk."""
    graph = tg.read(options.folder / GRAPH)
    if options.keep == "memory":
        disk, kept = DiskStore(options.folder), MemoryStore()
        kept.put("x", disk.get_rows(disk.stat("x")).clone())
        return kept, graph.to_csr()
    disk = DiskStore(options.folder, direct=True)
    cache = CachedStore(disk, max(0, int(options.memory - OTHERS - graph.layout.nbytes)))
    cache.pin("x", disk.get_rows(disk.stat("degree")), share=1)
    return cache, graph


class Batches:
    """Neighbourhoods of vertices, with their features and classes."""

    def __init__(self, options: argparse.Namespace):
        self.store, graph = opened(options)
        self.x, self.ahead = self.store.stat("x"), options.ahead if options.keep == "disk" else 0
        self.sampler = NeighborSampler(graph, [int(k) for k in options.fanouts.split(",")])
        disk = DiskStore(options.folder)
        self.y = disk.get_rows(disk.stat("y"))

    def __call__(self, vertices: Tensor, count: int | None = None) -> Iterator[tuple[Tensor, list[Block], Tensor]]:
        """(x, blocks, classes of the seeds) for the vertices in batches, of which those of the disk are read ahead."""
        return ahead(self.batch, enumerate(itertools.islice(vertices.split(BATCH), count)), self.ahead)

    def batch(self, given: tuple[int, Tensor]) -> tuple[Tensor, list[Block], Tensor]:
        """The batch of these vertices and this number."""
        number, seeds = given
        sample = self.sampler.sample(seeds, draw=number)
        return self.store.get_rows(self.x, sample.node), blocks(sample), self.y[seeds].long()


def train(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds of each epoch, the share of the test vertices that is right, and the bytes that the process had."""
    disk, batches = DiskStore(options.folder), Batches(options)
    seeds, test = (disk.get_rows(disk.stat(key)) for key in ("train", "test"))
    torch.manual_seed(0)
    model = Sage(options.fanouts.count(",") + 1)
    optimizer, seconds, busy = Adam(model.parameters(), rate=0.003), [], []
    for _ in range(options.epochs):
        begun, used = time.perf_counter(), time.process_time()
        for x, hops, y in batches(seeds[torch.randperm(len(seeds))], options.batches):
            F.cross_entropy(model(x, hops), y).backward()
            optimizer.step()
            del x, hops  # before the next one is waited for
        seconds.append(time.perf_counter() - begun)
        busy.append(time.process_time() - used)
    model.eval()
    right = 0
    with torch.no_grad():
        for x, hops, y in batches(test):
            right += int((model(x, hops).argmax(1) == y).sum())
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a page of a file counts for each map of it
    cache = str(batches.store.stats()) if isinstance(batches.store, CachedStore) else ""
    return {"seconds": seconds, "busy": busy, "accuracy": right / len(test), "peak": peak, "cache": cache}


@contextmanager
def control_group(memory: int, suffix: str = "") -> Iterator[Path | None]:
    """A control group within our own that may have so much memory, page cache included; None where the system lets us
    make none. A process that makes several gives their names a `suffix` each."""
    lines = Path("/proc/self/cgroup").read_text().splitlines() if GROUPS.exists() else []
    own = {names: path[1:] for _, names, path in (line.split(":", 2) for line in lines)}
    for name, root, limit in (("memory", GROUPS / "memory", "memory.limit_in_bytes"), ("", GROUPS, "memory.max")):
        group = root / own.get(name, "") / f"tgraph-{os.getpid()}{suffix}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            with open(group / limit, "r+") as file:
                file.write(str(memory))
            yield group
            return
        except FileNotFoundError:
            continue
        finally:
            group.rmdir()
    yield None


def run(keep: str, arguments: list[str], group: Path | None = None) -> dict[str, Any]:
    """What `train` returns, of a process of its own, which belongs to the control group."""
    command = [sys.executable, __file__, *arguments, "--keep", keep]
    if group is not None:
        command = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"), *command]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, env=os.environ | SETTINGS).stdout)
    epochs = " ".join(f"{second:.2f}" for second in found["seconds"])
    busy = " ".join(f"{second:.2f}" for second in found["busy"])
    peak, right = f"{found['peak'] / 1e9:.2f} GB resident", 100 * found["accuracy"]
    for file in PEAKS if group is not None else ():
        if (group / file).exists():
            peak = f"{int((group / file).read_text()) / 1e9:.2f} GB with the page cache"
    print(f"{keep}: {epochs} s per epoch, {busy} of processors, at most {peak}, {right:.1f} % right", flush=True)
    if found["cache"]:
        print(f"cache: {found['cache']}")
    return found


def compare(options: argparse.Namespace, folder: Path) -> None:
    """Train from memory and from the disk."""
    begun = time.perf_counter()
    make(DiskStore(folder), options.scale)
    files = [folder / GRAPH, *folder.rglob("*.safetensors")]
    size = sum(path.stat().st_size for path in files)
    print(f"graph and features take {size / 1e9:.2f} GB, made in {time.perf_counter() - begun:.0f} s", flush=True)
    arguments = ["--folder", str(folder), "--fanouts", options.fanouts, "--epochs", str(options.epochs)]
    arguments += ["--ahead", str(options.ahead), "--memory", str(options.memory)]
    arguments += ["--batches", str(options.batches)] if options.batches else []
    memory = run("memory", arguments)
    for path in files:  # from the page cache, where they count for the system
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with control_group(round(options.memory)) as group:
        print(f"held to {options.memory / 1e9:g} GB by {group}" if group else "not held: no control group can be made")
        disk = run("disk", arguments, group)
    ratio = statistics.median(disk["seconds"]) / statistics.median(memory["seconds"])
    print(f"an epoch from the disk takes {ratio:.2f} times as long")
    assert abs(disk["accuracy"] - memory["accuracy"]) < 0.02
    print("checked: as many vertices are right")


def main() -> None:
    parser = argparse.ArgumentParser(description="GraphSAGE on a large graph, from the disk and from memory.")
    parser.add_argument("--folder", type=Path, help="for the graph and the features, which stay; else a temporary one")
    parser.add_argument("--scale", type=float, default=0.01, help="of the graph; 1 is as large as ogbn-products")
    parser.add_argument("--fanouts", default="15,10", help="neighbours of each vertex, hop by hop")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batches", type=int, help="of each epoch; all of them without it")
    parser.add_argument("--memory", type=float, default=1e9, help="bytes for the process that reads from the disk")
    parser.add_argument("--ahead", type=int, default=2, help="batches that threads prepare while one is computed on")
    parser.add_argument("--keep", choices=("memory", "disk"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which removes the folder and the control group
    if options.keep:
        print(json.dumps(train(options)))
    elif options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        compare(options, options.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare(options, Path(folder))


if __name__ == "__main__":
    main()
