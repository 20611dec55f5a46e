"""Graphs that are spread over the processes of a torch.distributed group."""

from tgraph.distributed import by_row, reducing  # noqa: F401  they compute the operators of spread data
from tgraph.distributed.opening import gather, open, spread
from tgraph.distributed.ownership import Ownership
from tgraph.distributed.sharded import Sharded, from_local

__all__ = ["Ownership", "Sharded", "from_local", "gather", "open", "spread"]
