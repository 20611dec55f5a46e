"""The systems: a class each, with the calls that their users have for batches of arcs.

Made with the number of vertices and the arcs of the base; `arcs()` counts those that are there. Some keep parallel arcs
and are asked for nothing else, since no arc of the stream comes twice. Importing what is not installed raises
ImportError at the first use.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tgraph as tg
from bench.dynamic.stream import Ends


def pairs(arcs: Ends) -> list[tuple[int, int]]:
    """The arcs for a system that takes Python's numbers."""
    return list(zip(*(ends.tolist() for ends in arcs), strict=True))


class System:
    """A system of `num_vertices` vertices with the arcs of a base. count : the method of its graph that counts them."""

    count: str

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        self.n, self.threads = num_vertices, threads
        self.open()
        self.insert(base)

    def open(self) -> None:
        """Make the graph, without arcs."""

    def insert(self, arcs: Ends) -> None:
        raise NotImplementedError

    def arcs(self) -> int:
        return int(getattr(self.graph, self.count)())


class TGraph(System):
    """tgraph.dynamic.Store in memory."""

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        torch.set_num_threads(threads)
        super().__init__(num_vertices, base, threads)
        self.store.compact()

    def open(self) -> None:
        self.store = tg.dynamic.Store(num_vertices=self.n)

    def insert(self, arcs: Ends) -> None:
        self.store.insert(*arcs)

    def delete(self, arcs: Ends) -> None:
        self.store.delete(*arcs)

    def arcs(self) -> int:
        return self.store.snapshot().num_arcs


class Durable(TGraph):
    """tgraph.dynamic.open: a store on the disk, each batch synced."""

    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = tg.dynamic.open(Path(self.folder.name) / "graph.tgd", num_vertices=self.n)


class ScipyAdded(System):
    """scipy: CSR plus the CSR of a batch."""

    def open(self) -> None:
        self.matrix = self.of((np.empty(0, dtype=np.int32),) * 2)

    def of(self, arcs: Ends) -> Any:
        from scipy.sparse import csr_array

        matrix = csr_array((np.ones(len(arcs[0]), dtype=np.int8), arcs), shape=(self.n, self.n))
        matrix.sum_duplicates()
        return matrix

    def insert(self, arcs: Ends) -> None:
        self.matrix = self.matrix + self.of(arcs)

    def arcs(self) -> int:
        return int(self.matrix.nnz)


class ScipyRebuilt(ScipyAdded):
    """scipy: the CSR made anew of all arcs."""

    def open(self) -> None:
        self.given: Ends = (np.empty(0, dtype=np.int32),) * 2

    def insert(self, arcs: Ends) -> None:
        self.given = tuple(np.concatenate(both) for both in zip(self.given, arcs, strict=True))
        self.matrix = self.of(self.given)


class GraphBLAS(System):
    """python-graphblas: the union with a matrix of the batch."""

    def open(self) -> None:
        import graphblas

        graphblas.ss.config["nthreads"] = self.threads
        self.module = graphblas
        self.matrix = graphblas.Matrix(bool, self.n, self.n)

    def of(self, arcs: Ends) -> Any:
        matrix = self.module.Matrix.from_coo(*arcs, np.True_, nrows=self.n, ncols=self.n)
        matrix.wait()
        return matrix

    def insert(self, arcs: Ends) -> None:
        self.matrix(self.module.binary.any) << self.of(arcs)
        self.matrix.wait()

    def delete(self, arcs: Ends) -> None:
        self.matrix(~self.of(arcs).S, replace=True) << self.matrix
        self.matrix.wait()

    def arcs(self) -> int:
        return int(self.matrix.nvals)


class Networkit(System):
    """networkit: addEdges, which keeps parallel arcs; an edge is removed at a time."""

    count = "numberOfEdges"

    def open(self) -> None:
        import networkit

        networkit.setNumberOfThreads(self.threads)
        self.graph = networkit.Graph(self.n, directed=True)

    def insert(self, arcs: Ends) -> None:
        self.graph.addEdges(tuple(ends.astype(np.uint64) for ends in arcs))

    def delete(self, arcs: Ends) -> None:
        for source, target in pairs(arcs):
            self.graph.removeEdge(source, target)


class Igraph(System):
    """igraph: add_edges, which keeps parallel arcs, and delete_edges."""

    count = "ecount"

    def open(self) -> None:
        import igraph

        self.graph = igraph.Graph(self.n, directed=True)

    def insert(self, arcs: Ends) -> None:
        self.graph.add_edges(np.stack(arcs, 1))

    def delete(self, arcs: Ends) -> None:
        self.graph.delete_edges(pairs(arcs))


class Rustworkx(System):
    """rustworkx: add_edges_from_no_data and remove_edges_from."""

    count = "num_edges"

    def open(self) -> None:
        import rustworkx

        self.graph = rustworkx.PyDiGraph(multigraph=False)
        self.graph.add_nodes_from(range(self.n))

    def insert(self, arcs: Ends) -> None:
        self.graph.add_edges_from_no_data(pairs(arcs))

    def delete(self, arcs: Ends) -> None:
        self.graph.remove_edges_from(pairs(arcs))


class NetworkX(System):
    """networkx: add_edges_from and remove_edges_from."""

    count = "number_of_edges"

    def open(self) -> None:
        import networkx

        self.graph = networkx.DiGraph()
        self.graph.add_nodes_from(range(self.n))

    def insert(self, arcs: Ends) -> None:
        self.graph.add_edges_from(pairs(arcs))

    def delete(self, arcs: Ends) -> None:
        self.graph.remove_edges_from(pairs(arcs))


class Raphtory(System):
    """raphtory: load_edges of an Arrow table, the number of the batch as time."""

    count = "count_edges"

    def open(self) -> None:
        import raphtory

        self.graph, self.batch = raphtory.Graph(), 0

    def insert(self, arcs: Ends) -> None:
        import pyarrow

        src, dst = (ends.astype(np.uint64) for ends in arcs)
        time = np.full(len(src), self.batch, dtype=np.int64)
        self.graph.load_edges(pyarrow.table({"time": time, "src": src, "dst": dst}), "time", "src", "dst")
        self.batch += 1


class Ladybug(System):
    """ladybug: COPY of an Arrow table, which keeps parallel arcs, into a database on the disk."""

    def open(self) -> None:
        import ladybug

        self.folder = tempfile.TemporaryDirectory()
        self.database = ladybug.Database(str(Path(self.folder.name) / "graph"))
        self.connection = ladybug.Connection(self.database, num_threads=self.threads)
        self.connection.execute("CREATE NODE TABLE V(id INT64 PRIMARY KEY)")
        self.connection.execute("CREATE REL TABLE E(FROM V TO V)")
        self.copy("V", {"id": np.arange(self.n)})

    def copy(self, table: str, columns: dict[str, Any]) -> None:
        import pyarrow

        self.connection.execute(f"COPY {table} FROM $given", {"given": pyarrow.table(columns)})

    def insert(self, arcs: Ends) -> None:
        self.copy("E", {"src": arcs[0].astype(np.int64), "dst": arcs[1].astype(np.int64)})

    def arcs(self) -> int:
        return int(self.connection.execute("MATCH ()-[e:E]->() RETURN COUNT(*)").get_next()[0])


SYSTEMS: dict[str, Any] = {
    "tgraph": TGraph,
    "tgraph, durable": Durable,
    "scipy, added": ScipyAdded,
    "scipy, rebuilt": ScipyRebuilt,
    "graphblas": GraphBLAS,
    "networkit": Networkit,
    "igraph": Igraph,
    "rustworkx": Rustworkx,
    "networkx": NetworkX,
    "raphtory": Raphtory,
    "ladybug": Ladybug,
}
SMALL_ONLY = ("igraph", "rustworkx", "networkx", "raphtory", "ladybug")  # they take gigabytes, or minutes for the base
