"""The commands that run algorithms, by topic: one for everything in tgraph.algorithms."""

from tgraph.cli.command import Algorithm
from tgraph.cli.topics import (
    centrality,
    cohesion,
    coloring,
    community,
    components,
    dag,
    distances,
    embeddings,
    flow,
    paths,
    sets,
    similarity,
    structure,
    walks,
)

# By the heading under which the command lists them.
TOPICS: dict[str, dict[str, Algorithm]] = {
    "Searches and paths": paths.COMMANDS,
    "Distances": distances.COMMANDS,
    "Flows": flow.COMMANDS,
    "Components": components.COMMANDS,
    "Graphs without cycles": dag.COMMANDS,
    "Colourings": coloring.COMMANDS,
    "Centralities": centrality.COMMANDS,
    "Communities": community.COMMANDS,
    "Cohesion": cohesion.COMMANDS,
    "Trees, sets and matchings": sets.COMMANDS,
    "Similarity": similarity.COMMANDS,
    "Structure": structure.COMMANDS,
    "Walks": walks.COMMANDS,
    "Embeddings": embeddings.COMMANDS,
}
