"""Communities: groups of vertices with more edges among them than between them."""

from tgraph.algorithms.community.cdlp import cdlp
from tgraph.algorithms.community.ecg import ecg
from tgraph.algorithms.community.label_propagation import label_propagation, semi_synchronous_label_propagation
from tgraph.algorithms.community.leiden import leiden
from tgraph.algorithms.community.louvain import louvain, louvain_levels
from tgraph.algorithms.community.modularity import community_cuts, modularity, partition_quality

__all__ = [
    "cdlp",
    "community_cuts",
    "ecg",
    "label_propagation",
    "leiden",
    "louvain",
    "louvain_levels",
    "modularity",
    "partition_quality",
    "semi_synchronous_label_propagation",
]
