"""GraphX of Spark, through the gateway of pyspark to its JVM: what GraphFrames calls for PageRank and shortest paths.

GraphFrames itself is a Java archive that no Python package of a current version brings along. A worker is a thread of
Spark's local mode, which spares it the messages between processes. Vertices without edges are not in an edge list, and
are added to what it returns. Its breadth-first search is ShortestPaths to one landmark, the graph being undirected.
"""

from __future__ import annotations

import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bench.arrays import DAMPING, Arrays, Description
from bench.peers import Kernel, Peer


class System(Peer):
    name = "graphx"
    requirements = ("pyspark>=4,<5", "numpy")

    def __init__(self, folder: Path, arrays: Arrays, description: Description, workers: int):
        from pyspark.sql import SparkSession

        if arrays.directed:
            raise ValueError("its shortest paths lead to the source, not from it; give an undirected graph")
        options = SparkSession.builder.master(f"local[{workers}]").config("spark.driver.memory", "6g")
        self.session = options.config("spark.ui.enabled", "false").getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        super().__init__(folder, arrays, description, workers)
        self.jvm: Any = self.session.sparkContext._jvm
        self.library = self.jvm.org.apache.spark.graphx.lib
        self.int = self.jvm.scala.reflect.ClassTag.Int()

    @cached_property
    def graph(self) -> Any:
        path = self.folder / "edges.txt"
        if not path.is_file():
            rows, neighbors = self.arrays.rows, self.arrays.neighbors
            path.write_text("\n".join(f"{u} {v}" for u, v in zip(rows.tolist(), neighbors.tolist(), strict=True)))
        memory = self.jvm.org.apache.spark.storage.StorageLevel.MEMORY_ONLY()
        context, loader = self.session.sparkContext._jsc.sc(), self.jvm.org.apache.spark.graphx.GraphLoader
        graph = loader.edgeListFile(context, f"file://{path.resolve()}", False, self.threads, memory, memory)
        graph.vertices().count(), graph.edges().count()
        return graph

    def kernels(self) -> dict[str, Kernel]:
        return {
            "bfs": Kernel(self.bfs, self.depths),
            "wcc": Kernel(
                lambda _: self.made(self.library.ConnectedComponents.run(self.graph, self.int, self.int)), self.labels
            ),
            "pagerank": Kernel(self.pagerank, self.ranks),
        }

    def bfs(self, source: int) -> Any:
        landmarks = self.jvm.scala.jdk.javaapi.CollectionConverters.asScala([source]).toSeq()
        return self.made(self.library.ShortestPaths.run(self.graph, landmarks, self.int))

    def pagerank(self, rounds: int) -> Any:
        return self.made(self.library.PageRank.run(self.graph, rounds, 1 - DAMPING, self.int, self.int))

    def made(self, graph: Any) -> Any:
        """The vertices of a result, computed: Spark puts work off until something is asked for."""
        graph.vertices().count()
        return graph.vertices()

    def depths(self, vertices: Any) -> np.ndarray:
        """From lines (vertex,Map(source -> hops)), in which the map of unreached vertices is empty."""
        found = np.full(self.n, -1, dtype=np.int64)
        for vertex, value in self.pairs(vertices):
            if "->" in value:
                found[int(vertex)] = int(value.rpartition(" ")[2].rstrip(")"))
        return found

    def labels(self, vertices: Any) -> np.ndarray:
        found = np.arange(self.n)
        for vertex, value in self.pairs(vertices):
            found[int(vertex)] = int(value)
        return found

    def ranks(self, vertices: Any) -> np.ndarray:
        found = np.full(self.n, np.nan)
        for vertex, value in self.pairs(vertices):
            found[int(vertex)] = float(value)
        lone = np.isnan(found)
        found[lone] = 1 - DAMPING
        return found

    def pairs(self, vertices: Any) -> list[list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            vertices.saveAsTextFile(f"file://{folder}/out")
            files = sorted(Path(folder, "out").glob("part-*"))
            lines = [line for file in files for line in file.read_text().splitlines()]
        return [line[1:-1].split(",", 1) for line in lines]

    def close(self) -> None:
        self.session.stop()
