"""TGraph: a tensor-centric graph framework on torch.

A graph is a handful of tensors; a program is INIT and a loop of TENSORIZE and COMPUTE over five operators.
"""

from tgraph import errors, nn, primitives
from tgraph.core import beside, generators
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Received, Subgraph
from tgraph.engine.checkpoint import Checkpoint
from tgraph.engine.run import Run, run
from tgraph.engine.run_each import run_each
from tgraph.engine.trace import Trace
from tgraph.io import read, verify, write
from tgraph.model.operators import aggregate, explain, neighbor_select, reconstruct, update, vertex_select
from tgraph.model.program import Program, Relaxation
from tgraph.stream.run.opening import open
from tgraph.tune.advice import advise
from tgraph.tune.findings import ModelAdvice
from tgraph.tune.layout_advice import Advice
from tgraph.tune.tuning import Tuned, tune

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
    "Run",
    "Subgraph",
    "Trace",
    "Tuned",
    "advise",
    "aggregate",
    "algorithms",
    "errors",
    "explain",
    "from_edge_index",
    "from_networkx",
    "from_pandas",
    "from_scipy",
    "generators",
    "neighbor_select",
    "nn",
    "open",
    "primitives",
    "read",
    "reconstruct",
    "run",
    "run_each",
    "tune",
    "update",
    "verify",
    "vertex_select",
    "write",
]

from_networkx = Graph.from_networkx
from_scipy = Graph.from_scipy
from_edge_index = Graph.from_edge_index
from_pandas = Graph.from_pandas

beside.find_algorithms()
from tgraph import algorithms  # noqa: E402  written against the names above, as a user would write it
