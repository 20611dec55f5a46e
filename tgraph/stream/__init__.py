"""Graphs that are larger than the memory: parts of their arcs, read one after the other."""

from tgraph.stream.aggregation import aggregate
from tgraph.stream.applying import apply
from tgraph.stream.converting import convert
from tgraph.stream.features import FeatureFile
from tgraph.stream.opening import open
from tgraph.stream.partition import partition
from tgraph.stream.permuting import permute
from tgraph.stream.writing import write_partitioned

__all__ = ["FeatureFile", "aggregate", "apply", "convert", "open", "partition", "permute", "write_partitioned"]
