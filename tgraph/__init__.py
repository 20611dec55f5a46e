"""TGraph: a tensor-centric graph framework on torch.

A graph is a handful of tensors; a program is INIT and a loop of TENSORIZE and COMPUTE over five operators.

Importing this package imports nothing else, not even torch: a name brings its module when it is first accessed.
"""

from typing import TYPE_CHECKING

from tgraph import deferred
from tgraph.core.system import beside

if TYPE_CHECKING:
    from tgraph import distributed, drawing, dynamic, errors, generators, nn, primitives, progress, sampling
    from tgraph.core import random
    from tgraph.core.frontier import Frontier
    from tgraph.core.graph import Graph
    from tgraph.core.subgraph import Received, Subgraph
    from tgraph.core.system.native import one_torch_thread
    from tgraph.drawing.draw import draw
    from tgraph.engine.checkpoint import Checkpoint
    from tgraph.engine.run import run
    from tgraph.engine.run_each import run_each
    from tgraph.engine.state import Run
    from tgraph.engine.together import together
    from tgraph.engine.tracing.trace import Trace
    from tgraph.io import read, verify, write
    from tgraph.io.arrow import from_table
    from tgraph.io.convert import from_edge_index, from_networkx, from_pandas, from_scipy
    from tgraph.io.libraries import from_dgl, from_igraph, from_pyg
    from tgraph.model import backends
    from tgraph.model.multiply import multiply
    from tgraph.model.operators import aggregate, explain, neighbor_select, reconstruct, update, vertex_select
    from tgraph.model.program import Program, Relaxation
    from tgraph.model.segments import TopK
    from tgraph.stream.run.opening import open
    from tgraph.tuning.advice import advise
    from tgraph.tuning.backends import Tuned, tune
    from tgraph.tuning.findings import ModelAdvice
    from tgraph.tuning.layout_advice import Advice

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "Checkpoint",
    "Frontier",
    "Graph",
    "ModelAdvice",
    "Program",
    "Received",
    "Relaxation",
    "Report",
    "Run",
    "Subgraph",
    "TopK",
    "Trace",
    "Tuned",
    "advise",
    "aggregate",
    "algorithms",
    "backends",
    "distributed",
    "draw",
    "drawing",
    "dynamic",
    "errors",
    "explain",
    "from_dgl",
    "from_edge_index",
    "from_igraph",
    "from_networkx",
    "from_pandas",
    "from_pyg",
    "from_scipy",
    "from_table",
    "generators",
    "multiply",
    "neighbor_select",
    "nn",
    "one_torch_thread",
    "open",
    "primitives",
    "progress",
    "random",
    "read",
    "reconstruct",
    "report",
    "run",
    "run_each",
    "sampling",
    "together",
    "tune",
    "update",
    "verify",
    "vertex_select",
    "write",
]

# The modules of these names. Algorithms and reports, which stand above, are written against the names, as a user would
# write them.
_HOMES = {
    "Advice": "tgraph.tuning.layout_advice",
    "Checkpoint": "tgraph.engine.checkpoint",
    "Frontier": "tgraph.core.frontier",
    "Graph": "tgraph.core.graph",
    "ModelAdvice": "tgraph.tuning.findings",
    "Program": "tgraph.model.program",
    "Received": "tgraph.core.subgraph",
    "Relaxation": "tgraph.model.program",
    "Report": "tgraph.pages",
    "Run": "tgraph.engine.state",
    "Subgraph": "tgraph.core.subgraph",
    "TopK": "tgraph.model.segments",
    "Trace": "tgraph.engine.tracing.trace",
    "Tuned": "tgraph.tuning.backends",
    "advise": "tgraph.tuning.advice",
    "aggregate": "tgraph.model.operators",
    "algorithms": "tgraph",
    "backends": "tgraph.model",
    "distributed": "tgraph",
    "draw": "tgraph.drawing.draw",
    "drawing": "tgraph",
    "dynamic": "tgraph",
    "errors": "tgraph",
    "explain": "tgraph.model.operators",
    "from_dgl": "tgraph.io.libraries",
    "from_edge_index": "tgraph.io.convert",
    "from_igraph": "tgraph.io.libraries",
    "from_networkx": "tgraph.io.convert",
    "from_pandas": "tgraph.io.convert",
    "from_pyg": "tgraph.io.libraries",
    "from_scipy": "tgraph.io.convert",
    "from_table": "tgraph.io.arrow",
    "generators": "tgraph",
    "multiply": "tgraph.model.multiply",
    "neighbor_select": "tgraph.model.operators",
    "nn": "tgraph",
    "one_torch_thread": "tgraph.core.system.native",
    "open": "tgraph.stream.run.opening",
    "primitives": "tgraph",
    "progress": "tgraph",
    "random": "tgraph.core",
    "read": "tgraph.io",
    "reconstruct": "tgraph.model.operators",
    "report": "tgraph.pages",
    "run": "tgraph.engine.run",
    "run_each": "tgraph.engine.run_each",
    "sampling": "tgraph",
    "together": "tgraph.engine.together",
    "tune": "tgraph.tuning.backends",
    "update": "tgraph.model.operators",
    "verify": "tgraph.io",
    "vertex_select": "tgraph.model.operators",
    "write": "tgraph.io",
}
# Other packages, which are in reach.
_PACKAGES = ("core", "engine", "files", "formats", "io", "kernels", "markup", "model", "stores", "stream", "tuning")

__getattr__, __dir__ = deferred.at_first_access(globals(), _HOMES | dict.fromkeys(_PACKAGES, __name__))

# What modules attach to those below them when they are imported.
deferred.attached_by(
    {
        "tgraph.kernels": ("BACKENDS",),
        "tgraph.core.derived_graphs": (
            *("Graph.to_undirected", "Graph.as_undirected", "Graph.without_self_loops"),
            *("Graph.subgraph", "Graph.permute", "Graph.with_columns", "Graph.weighted_by"),
        ),
        "tgraph.io.convert": (
            *("Graph.from_networkx", "Graph.to_networkx", "Graph.from_scipy", "Graph.to_scipy"),
            *("Graph.from_edge_index", "Graph.to_edge_index", "Graph.from_pandas", "Graph.to_pandas"),
        ),
        "tgraph.io.libraries": (
            *("Graph.from_igraph", "Graph.to_igraph", "Graph.from_pyg", "Graph.to_pyg", "Graph.from_dgl"),
        ),
        "tgraph.io.arrow": ("Graph.from_table",),
        "tgraph.formats": ("Graph.to_format",),
        "tgraph.formats.reordering": ("Graph.reorder",),
        "tgraph.stream.run.opening": ("run.place",),
        "tgraph.stream.file.blocks": ("tg.open_partitioned",),
    }
)

beside.find_algorithms()
