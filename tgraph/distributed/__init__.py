"""Graphs that are spread over the processes of a torch.distributed group."""

from tgraph.distributed import by_row, checkpoint, reducing  # noqa: F401  operators of spread data, and its files
from tgraph.distributed.converting import convert
from tgraph.distributed.failures import together
from tgraph.distributed.features import FeatureRows
from tgraph.distributed.opening import gather, open, spread
from tgraph.distributed.ownership import Ownership
from tgraph.distributed.process_group import init_process_group
from tgraph.distributed.sharded import Sharded, from_local

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
