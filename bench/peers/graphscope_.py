"""GraphScope: libgrape-lite in C++, a process of MPI for each worker, behind a coordinator that clients call.

Its workers log the time of each query, which a call exceeds by what the coordinator takes to load and unload it.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bench.arrays import DAMPING, Arrays, Description
from bench.peers import Kernel, Peer, integers

if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in a container, where Open MPI wants to be told
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# Processes of Open MPI that wait keep cores busy that others need who take turns with them, unless they yield.
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")


class System(Peer):
    name = "graphscope"
    logged = r"Query time: ([\d.e-]+) seconds"
    requirements = ("graphscope==0.29.0", "numpy<2", "pyarrow<17", "setuptools<81")

    def __init__(self, folder: Path, arrays: Arrays, description: Description, workers: int):
        import graphscope

        super().__init__(folder, arrays, description, workers)
        self.module = graphscope
        graphscope.set_option(show_log=True, log_level="INFO")
        self.session = graphscope.session(cluster_type="hosts", num_workers=workers)

    @cached_property
    def graph(self) -> Any:
        import pandas

        source, target, _ = self.arrays.edges()
        vertices = pandas.DataFrame({"id": np.arange(self.n, dtype=np.int64)})
        edges = pandas.DataFrame({"source": source.astype(np.int64), "target": target.astype(np.int64)})
        graph = self.session.g(directed=self.arrays.directed).add_vertices(vertices, "v")
        return graph.add_edges(edges, "e", src_label="v", dst_label="v")

    def kernels(self) -> dict[str, Kernel]:
        module, graph = self.module, self.graph
        return {
            "bfs": Kernel(lambda source: module.bfs(graph, src=source), lambda found: integers(self.column(found))),
            "wcc": Kernel(lambda _: module.wcc(graph), self.column),
            "pagerank": Kernel(lambda rounds: module.pagerank(graph, delta=DAMPING, max_round=rounds), self.column),
        }

    def column(self, found: Any) -> np.ndarray:
        """A result [n], in the order of the vertices."""
        rows = found.to_dataframe({"id": "v.id", "r": "r"})
        values = np.empty(self.n, dtype=rows["r"].dtype)
        values[rows["id"].to_numpy()] = rows["r"].to_numpy()
        return values

    def close(self) -> None:
        self.session.close()
