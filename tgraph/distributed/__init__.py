"""Graphs distributed over the processes of a torch.distributed group."""

from tgraph.distributed.converting import convert
from tgraph.distributed.data import by_row, reducing, turned  # noqa: F401  operators of sharded data
from tgraph.distributed.data.sharded import Sharded, from_local
from tgraph.distributed.features import FeatureRows
from tgraph.distributed.opening import gather, open, spread
from tgraph.distributed.operators import cohesion, communities, components, paths, rounds, structure, triangles  # noqa: F401
from tgraph.distributed.programs import checkpoint  # noqa: F401  files of sharded data
from tgraph.distributed.ranks.failures import together
from tgraph.distributed.ranks.ownership import Ownership
from tgraph.distributed.ranks.process_group import init_process_group

__all__ = [
    "FeatureRows",
    "Ownership",
    "Sharded",
    "convert",
    "from_local",
    "gather",
    "init_process_group",
    "open",
    "spread",
    "together",
]
