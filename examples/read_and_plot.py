"""Read, search, draw: a graph from a file, breadth first, and what each iteration did.

Usage: python examples/read_and_plot.py [FILE]. Without a file it writes a small sample and reads that.
"""

import gzip
import sys
import tempfile
from pathlib import Path

import tgraph as tg


def write_sample(folder: Path) -> Path:
    """An edge list with comments and arbitrary ids, compressed, as published on the web."""
    graph = tg.generators.rmat(11)
    source, target = graph.to_edge_index().tolist()
    path = folder / "sample.txt.gz"
    with gzip.open(path, "wt") as file:
        file.write("# a small scale-free graph\n# source target\n")
        file.writelines(f"{1000 + u}\t{1000 + v}\n" for u, v in zip(source, target, strict=True) if u <= v)
    return path


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else write_sample(Path(folder))
        graph = tg.read(path, directed=False)
    print(f"read {path.name}: {graph}")

    source, degree = graph.top(graph.out_degree, 1)[0]
    run = tg.run(tg.algorithms.BFS(graph.index(source)), graph, trace=True)
    print(f"from vertex {source}, the one with most edges ({degree}):")
    for depth, count in enumerate(run.values[run.values >= 0].bincount().tolist()):
        print(f"  {count} vertices at depth {depth}")

    print(run.trace.frame().to_string(index=False))
    run.trace.plot("read_and_plot.png")
    print("picture: read_and_plot.png")


if __name__ == "__main__":
    main()
