"""Graph algorithms by topic, each one short file on the public API of tgraph, the way a user would write it.

Every name of a topic is a name of this package, too: `tg.algorithms.bfs` is `tg.algorithms.paths.bfs`.
"""

import tgraph as tg
from tgraph.algorithms import (
    centrality,
    cohesion,
    coloring,
    community,
    components,
    dag,
    distances,
    embeddings,
    flow,
    matching,
    paths,
    sets,
    similarity,
    structure,
    trees,
    walks,
)
from tgraph.algorithms.centrality import *  # noqa: F403
from tgraph.algorithms.cohesion import *  # noqa: F403
from tgraph.algorithms.coloring import *  # noqa: F403
from tgraph.algorithms.community import *  # noqa: F403
from tgraph.algorithms.components import *  # noqa: F403
from tgraph.algorithms.dag import *  # noqa: F403
from tgraph.algorithms.distances import *  # noqa: F403
from tgraph.algorithms.embeddings import *  # noqa: F403
from tgraph.algorithms.flow import *  # noqa: F403
from tgraph.algorithms.matching import *  # noqa: F403
from tgraph.algorithms.paths import *  # noqa: F403
from tgraph.algorithms.sets import *  # noqa: F403
from tgraph.algorithms.similarity import *  # noqa: F403
from tgraph.algorithms.structure import *  # noqa: F403
from tgraph.algorithms.trees import *  # noqa: F403
from tgraph.algorithms.walks import *  # noqa: F403

__all__: list[str] = []
__all__ += centrality.__all__
__all__ += cohesion.__all__
__all__ += coloring.__all__
__all__ += community.__all__
__all__ += components.__all__
__all__ += distances.__all__
__all__ += embeddings.__all__
__all__ += flow.__all__
__all__ += matching.__all__
__all__ += dag.__all__
__all__ += paths.__all__
__all__ += sets.__all__
__all__ += trees.__all__
__all__ += similarity.__all__
__all__ += structure.__all__
__all__ += walks.__all__

tg.primitives.calls.all_as_one(__name__)
