"""Graph algorithms by topic, each one short file on the public API of tgraph, the way a user would write it.

Every name of a topic is a name of this package, too: `tg.algorithms.bfs` is `tg.algorithms.paths.bfs`.
"""

import inspect
import sys

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


for _topic in (
    *(centrality, cohesion, coloring, community, components, dag, distances, embeddings, flow, matching, paths, sets),
    *(similarity, structure, trees, walks),
):
    tg.core.building.memory.guard(vars(_topic))
tg.core.building.memory.guard(globals())


def _called_as_one() -> None:
    """Have each function called by all processes over which a graph is spread as one, wherever it is found."""
    here = sys.modules[__name__]
    topics = [topic for topic in vars(here).values() if inspect.ismodule(topic) and topic.__name__.startswith(__name__)]
    for name in __all__:
        function = getattr(here, name)
        if inspect.isfunction(function):
            called = tg.primitives.calls.as_one(function)
            for place in (here, sys.modules[function.__module__], *topics):
                if getattr(place, name, None) is function:
                    setattr(place, name, called)


_called_as_one()
