"""The systems: a class each, with the calls that their users have for batches of arcs.

Made with the number of vertices and the arcs of the base; `arcs()` counts what is there. Those that keep parallel arcs
are asked for nothing else, since no arc of the stream comes twice; `merges` says which look for them. Importing what is
not installed raises ImportError at the first use.
"""

from __future__ import annotations

import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tgraph as tg
from bench.dynamic.stream import Ends


class TGraph:
    """tgraph.dynamic.Store in memory."""

    merges = True

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        torch.set_num_threads(threads)
        self.store = self.opened(num_vertices)
        self.insert(base)
        self.store.compact()

    def opened(self, num_vertices: int) -> tg.dynamic.Store:
        return tg.dynamic.Store(num_vertices=num_vertices)

    def insert(self, arcs: Ends) -> None:
        self.store.insert(*arcs)

    def delete(self, arcs: Ends) -> None:
        self.store.delete(*arcs)

    def arcs(self) -> int:
        return self.store.snapshot().num_arcs


class ScipyAdded:
    """scipy: CSR plus the CSR of a batch."""

    merges = True

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        self.shape = num_vertices, num_vertices
        self.matrix = self.of(base)

    def of(self, arcs: Ends) -> Any:
        from scipy.sparse import csr_array

        matrix = csr_array((np.ones(len(arcs[0]), dtype=np.int8), arcs), shape=self.shape)
        matrix.sum_duplicates()
        return matrix

    def insert(self, arcs: Ends) -> None:
        self.matrix = self.matrix + self.of(arcs)

    def arcs(self) -> int:
        return int(self.matrix.nnz)


class ScipyRebuilt(ScipyAdded):
    """scipy: the CSR made anew of all arcs."""

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        self.given = base
        super().__init__(num_vertices, base, threads)

    def insert(self, arcs: Ends) -> None:
        old, new = self.given, arcs
        self.given = np.concatenate((old[0], new[0])), np.concatenate((old[1], new[1]))
        self.matrix = self.of(self.given)


class GraphBLAS:
    """python-graphblas: the union with a matrix of the batch."""

    merges = True

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        import graphblas

        graphblas.ss.config["nthreads"] = threads
        self.module, self.n = graphblas, num_vertices
        self.matrix = self.of(base)

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


class Networkit:
    """networkit: addEdges; an edge is removed at a time."""

    merges = False

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        import networkit

        networkit.setNumberOfThreads(threads)
        self.graph = networkit.Graph(num_vertices, directed=True)
        self.insert(base)

    def insert(self, arcs: Ends) -> None:
        self.graph.addEdges(tuple(ends.astype(np.uint64) for ends in arcs))

    def delete(self, arcs: Ends) -> None:
        for source, target in zip(*(ends.tolist() for ends in arcs), strict=True):
            self.graph.removeEdge(source, target)

    def arcs(self) -> int:
        return int(self.graph.numberOfEdges())


class Igraph:
    """igraph: add_edges and delete_edges."""

    merges = False

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        import igraph

        self.graph = igraph.Graph(num_vertices, directed=True)
        self.insert(base)

    def insert(self, arcs: Ends) -> None:
        self.graph.add_edges(np.stack(arcs, 1))

    def delete(self, arcs: Ends) -> None:
        self.graph.delete_edges(list(zip(*(ends.tolist() for ends in arcs), strict=True)))

    def arcs(self) -> int:
        return int(self.graph.ecount())


class Rustworkx:
    """rustworkx: add_edges_from_no_data and remove_edges_from."""

    merges = True

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        import rustworkx

        self.graph = rustworkx.PyDiGraph(multigraph=False)
        self.graph.add_nodes_from(range(num_vertices))
        self.insert(base)

    def insert(self, arcs: Ends) -> None:
        self.graph.add_edges_from_no_data(list(zip(*(ends.tolist() for ends in arcs), strict=True)))

    def delete(self, arcs: Ends) -> None:
        self.graph.remove_edges_from(list(zip(*(ends.tolist() for ends in arcs), strict=True)))

    def arcs(self) -> int:
        return int(self.graph.num_edges())


class NetworkX:
    """networkx: add_edges_from and remove_edges_from."""

    merges = True

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        import networkx

        self.graph = networkx.DiGraph()
        self.graph.add_nodes_from(range(num_vertices))
        self.insert(base)

    def insert(self, arcs: Ends) -> None:
        self.graph.add_edges_from(zip(*(ends.tolist() for ends in arcs), strict=True))

    def delete(self, arcs: Ends) -> None:
        self.graph.remove_edges_from(zip(*(ends.tolist() for ends in arcs), strict=True))

    def arcs(self) -> int:
        return int(self.graph.number_of_edges())


class Raphtory:
    """raphtory: load_edges of an Arrow table, the number of the batch as time."""

    merges = True

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        import raphtory

        self.graph, self.batch = raphtory.Graph(), 0
        self.insert(base)

    def insert(self, arcs: Ends) -> None:
        import pyarrow

        src, dst = (ends.astype(np.uint64) for ends in arcs)
        time = np.full(len(src), self.batch, dtype=np.int64)
        self.graph.load_edges(pyarrow.table({"time": time, "src": src, "dst": dst}), "time", "src", "dst")
        self.batch += 1

    def arcs(self) -> int:
        return int(self.graph.count_edges())


class Ladybug:
    """ladybug: COPY of an Arrow table into a database on the disk."""

    merges = False

    def __init__(self, num_vertices: int, base: Ends, threads: int):
        import ladybug

        self.folder = tempfile.TemporaryDirectory()
        self.database = ladybug.Database(str(Path(self.folder.name) / "graph"))
        self.connection = ladybug.Connection(self.database, num_threads=threads)
        self.connection.execute("CREATE NODE TABLE V(id INT64 PRIMARY KEY)")
        self.connection.execute("CREATE REL TABLE E(FROM V TO V)")
        self.copy("V", {"id": np.arange(num_vertices)})
        self.insert(base)

    def copy(self, table: str, columns: dict[str, Any]) -> None:
        import pyarrow

        self.connection.execute(f"COPY {table} FROM $given", {"given": pyarrow.table(columns)})

    def insert(self, arcs: Ends) -> None:
        self.copy("E", {"src": arcs[0].astype(np.int64), "dst": arcs[1].astype(np.int64)})

    def arcs(self) -> int:
        return int(self.connection.execute("MATCH ()-[e:E]->() RETURN COUNT(*)").get_next()[0])


class Durable(TGraph):
    """tgraph.dynamic.open: a store on the disk, each batch synced."""

    def opened(self, num_vertices: int) -> tg.dynamic.Store:
        return tg.dynamic.open(self.path, num_vertices=num_vertices)

    @cached_property
    def path(self) -> Path:
        self.folder = tempfile.TemporaryDirectory()
        return Path(self.folder.name) / "graph.tgd"


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
