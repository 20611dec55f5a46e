"""TGraph: a tensor-centric graph framework on torch.

A graph is a handful of tensors; a program is INIT and a loop of TENSORIZE and COMPUTE over five operators.
"""

import importlib
from typing import Any

from tgraph import distributed, drawing, dynamic, errors, generators, nn, primitives, progress, sampling
from tgraph.core import derived_graphs, random  # noqa: F401  derived_graphs attaches methods of Graph
from tgraph.core.frontier import Frontier
from tgraph.core.graph import Graph
from tgraph.core.subgraph import Received, Subgraph
from tgraph.core.system import beside
from tgraph.core.system.native import one_torch_thread
from tgraph.drawing.draw import draw
from tgraph.engine.checkpoint import Checkpoint
from tgraph.engine.run import run
from tgraph.engine.run_each import run_each
from tgraph.engine.state import Run
from tgraph.engine.tracing.trace import Trace
from tgraph.io import read, verify, write
from tgraph.io.arrow import from_table
from tgraph.io.convert import from_edge_index, from_networkx, from_pandas, from_scipy
from tgraph.model.multiply import multiply
from tgraph.model.operators import aggregate, explain, neighbor_select, reconstruct, update, vertex_select
from tgraph.model.program import Program, Relaxation
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
    "Trace",
    "Tuned",
    "advise",
    "aggregate",
    "algorithms",
    "distributed",
    "draw",
    "drawing",
    "dynamic",
    "errors",
    "explain",
    "from_edge_index",
    "from_networkx",
    "from_pandas",
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
    "tune",
    "update",
    "verify",
    "vertex_select",
    "write",
]


def __getattr__(name: str) -> Any:
    """`tgraph.algorithms` and `tgraph.report`, which are written against the names above, as a user would write it."""
    if name == "algorithms":
        return globals().setdefault(name, importlib.import_module("tgraph.algorithms"))
    if name in ("Report", "report"):
        return globals().setdefault(name, getattr(importlib.import_module("tgraph.pages"), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


beside.find_algorithms()
