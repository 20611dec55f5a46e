"""GraphSAGE on a graph as large as ogbn-products, its features and edges in files and the memory held to 1 GB, against
the same in memory.

The example draws the graph: R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004), 2.4 million vertices, 62 million edges
and hubs of 15,000 neighbours, numbered by descending degree, so that what is read often lies together. A vertex has 100
features and one of 16 classes, which follows from its features and the mean of its neighbours'. 8 % of the vertices are
trained on (Hamilton, Ying and Leskovec, NeurIPS 2017, for the network and the fan-outs).

A control group of Linux holds the process to --memory; its page cache counts, too. PyTorch Geometric's own loader does
not take part: it needs pyg-lib or torch-sparse, neither of which the package index has for a current torch. The folder
takes 2.5 GB while it is made, and 1.5 GB then.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

import tgraph as tg
from tgraph.pyg import NeighborLoader
from tgraph.stores import DiskStore, FeatureStore, GraphStore, MemoryStore

VERTICES, EDGES, COLUMNS, CLASSES, HIDDEN = 2_400_000, 62_000_000, 100, 16, 256
TRAIN, TEST, BATCH = 0.08, 0.01, 1024  # shares of the vertices, and vertices
QUADRANTS = np.repeat([0, 1, 2, 3], [141, 25, 26, 64]).astype(np.uint8)  # of 256 draws: 0.55, 0.1, 0.1 and 0.25
CHUNK = 1 << 21  # edges or rows in memory at a time
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


def draw_graph(n: int, count: int, folder: Path) -> tuple[Tensor, Tensor, Tensor]:
    """(number of each vertex by descending degree, offset [n + 1], neighbours [2 count] in a file): a counting sort."""
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
    return number, offset, neighbors


def draw_features(number: Tensor, graph: tg.Graph, folder: Path) -> tuple[Tensor, Tensor]:
    """(features [n, COLUMNS] in a file, classes [n]). Vertices near each other have similar features, and the class is
    the largest of CLASSES sums over the features of a vertex and over the means of its neighbours'."""
    n, random = len(number), torch.Generator().manual_seed(0)
    x = in_file(folder / "x", n * COLUMNS, torch.float32).view(n, COLUMNS)
    center, own, near = (torch.randn((k, COLUMNS), generator=random) for k in (CLASSES, CLASSES, CLASSES))
    of_own, of_near = torch.empty(n, CLASSES), torch.empty(n, CLASSES)
    place = torch.empty_like(number).scatter_(0, number, torch.arange(n))  # where R-MAT had each vertex
    for first in range(0, n, CHUNK // 8):
        rows = slice(first, first + CHUNK // 8)
        x[rows] = torch.randn((len(place[rows]), COLUMNS), generator=random) + center[place[rows] * CLASSES // n]
        of_own[rows], of_near[rows] = x[rows] @ own.T, x[rows] @ near.T
    return x, (of_own + 2 * tg.aggregate(graph, of_near, "mean")).argmax(1)


def in_file(path: Path, size: int, dtype: torch.dtype) -> Tensor:
    """A tensor [size] that is written to a file rather than kept in memory."""
    return torch.from_file(str(path), shared=True, size=size, dtype=dtype)


def make(store: DiskStore, scale: float) -> None:
    """Draw the graph, the features, the classes and the vertices to train and to test on, unless they are there."""
    found = store.stat("test")
    if found is not None and found.notes["scale"] == str(scale):
        return
    n, count = round(VERTICES * scale), round(EDGES * scale)
    with tempfile.TemporaryDirectory(dir=store.path) as folder:
        number, offset, neighbors = draw_graph(n, count, Path(folder))
        GraphStore(store)[None, "csc", True, (n, n)] = neighbors, offset.int()
        x, y = draw_features(number, tg.Graph.from_csr(offset, neighbors, directed=False), Path(folder))
        features = FeatureStore(store)
        features[None, "x", None], features[None, "y", None] = x, y
    split = torch.randperm(n, generator=torch.Generator().manual_seed(1))
    store.put("train", split[: round(TRAIN * n)])
    store.put("test", split[-round(TEST * n) :], {"scale": str(scale)})


class Sage(torch.nn.Module):
    """A layer of GraphSAGE for each hop, computed for the vertices that later layers need."""

    def __init__(self, hops: int):
        super().__init__()
        columns = [COLUMNS, *[HIDDEN] * (hops - 1), CLASSES]
        self.layers = torch.nn.ModuleList(map(tg.nn.SAGEConv, columns[:-1], columns[1:]))

    def forward(self, batch: Data) -> Tensor:
        """Scores of the seeds of a batch."""
        x, hops = batch.x, len(self.layers)
        for depth, layer in enumerate(self.layers, start=1):
            x = x if depth == 1 else F.dropout(x.relu(), 0.2, self.training)
            vertices = sum(batch.num_sampled_nodes[: hops - depth + 1])
            arcs = sum(batch.num_sampled_edges[: hops - depth + 1])
            x = layer((x, x[:vertices]), batch.edge_index[:, :arcs])
        return x


def train(store: DiskStore, options: argparse.Namespace) -> dict[str, float]:
    """Seconds of each epoch, the share of the test vertices that is right, and the bytes that the process had."""
    seeds, test = (store.get_rows(store.stat(key)) for key in ("train", "test"))
    kept = store if options.keep == "disk" else in_memory(store)
    data, hops = (FeatureStore(kept), GraphStore(kept)), [int(k) for k in options.fanouts.split(",")]
    torch.manual_seed(0)
    ahead = options.ahead if options.keep == "disk" else None  # several wait for the disk at the same time
    loader = NeighborLoader(data, hops, input_nodes=seeds, batch_size=BATCH, shuffle=True, prefetch=ahead)
    model = Sage(len(hops))
    optimizer, seconds = torch.optim.Adam(model.parameters(), lr=0.003), []
    for _ in range(options.epochs):
        begun = time.perf_counter()
        for batch in itertools.islice(loader, options.batches):
            optimizer.zero_grad()
            F.cross_entropy(model(batch), batch.y[: batch.batch_size]).backward()
            optimizer.step()
        seconds.append(time.perf_counter() - begun)
    model.eval()
    right = 0
    with torch.no_grad():
        for batch in NeighborLoader(data, hops, input_nodes=test, batch_size=BATCH, prefetch=ahead):
            right += int((model(batch).argmax(1) == batch.y[: batch.batch_size]).sum())
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a page of a file counts for each map of it
    return {"seconds": seconds, "accuracy": right / len(test), "peak": peak}


def in_memory(store: DiskStore) -> MemoryStore:
    """All tensors of a store in memory."""
    kept = MemoryStore()
    for stat in map(store.stat, store.keys()):
        kept.put(stat.key, store.get_rows(stat).clone(), stat.notes)
    return kept


@contextmanager
def control_group(memory: int) -> Iterator[Path | None]:
    """A control group within our own that may have so much memory, page cache included; None where the system lets us
    make none."""
    lines = Path("/proc/self/cgroup").read_text().splitlines() if GROUPS.exists() else []
    own = {names: path[1:] for _, names, path in (line.split(":", 2) for line in lines)}
    for name, root, limit in (("memory", GROUPS / "memory", "memory.limit_in_bytes"), ("", GROUPS, "memory.max")):
        group = root / own.get(name, "") / f"tgraph-{os.getpid()}"
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


def run(keep: str, arguments: list[str], group: Path | None = None) -> dict[str, float]:
    """What `train` returns, of a process of its own, which belongs to the control group."""
    command = [sys.executable, __file__, *arguments, "--keep", keep]
    if group is not None:
        command = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"), *command]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    epochs = " ".join(f"{second:.1f}" for second in found["seconds"])
    peak, right = f"{found['peak'] / 1e9:.2f} GB resident", 100 * found["accuracy"]
    for file in PEAKS if group is not None else ():
        if (group / file).exists():
            peak = f"{int((group / file).read_text()) / 1e9:.2f} GB with the page cache"
    print(f"{keep}: {epochs} s per epoch, at most {peak}, {right:.1f} % right", flush=True)
    return found


def compare(options: argparse.Namespace, folder: Path) -> None:
    """Train from memory and from the disk."""
    begun = time.perf_counter()
    make(DiskStore(folder), options.scale)
    size = sum(path.stat().st_size for path in folder.rglob("*.safetensors"))
    print(f"graph and features take {size / 1e9:.2f} GB, made in {time.perf_counter() - begun:.0f} s", flush=True)
    arguments = ["--folder", str(folder), "--fanouts", options.fanouts, "--epochs", str(options.epochs)]
    arguments += ["--ahead", str(options.ahead)]
    arguments += ["--batches", str(options.batches)] if options.batches else []
    memory = run("memory", arguments)
    for path in folder.rglob("*.safetensors"):  # from the page cache, where they count for the system
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
        print(json.dumps(train(DiskStore(options.folder), options)))
    elif options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        compare(options, options.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare(options, Path(folder))


if __name__ == "__main__":
    main()
