"""Graphs that are larger than the memory: parts of their arcs, read one after the other."""

from tgraph.stream.converting import convert
from tgraph.stream.opening import open
from tgraph.stream.partition import partition
from tgraph.stream.writing import write_partitioned

__all__ = ["convert", "open", "partition", "write_partitioned"]
