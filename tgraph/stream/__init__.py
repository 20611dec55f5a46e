"""Out-of-core graphs and features: blocks of arcs are read from files one after the other."""

from tgraph.stream.features.aggregation import aggregate
from tgraph.stream.features.applying import apply
from tgraph.stream.features.full_batch import Network
from tgraph.stream.features.matrix import FeatureFile
from tgraph.stream.features.permuting import permute
from tgraph.stream.file.convert import convert
from tgraph.stream.file.writing import write_partitioned
from tgraph.stream.partitioning.cuts import partition
from tgraph.stream.run.opening import open

__all__ = [
    "FeatureFile",
    "Network",
    "aggregate",
    "apply",
    "convert",
    "open",
    "partition",
    "permute",
    "write_partitioned",
]
