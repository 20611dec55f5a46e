"""Programs as a user writes them, each a few lines, with what their values are checked by and the best way of writing
the same: `PROGRAMS`. They are for graphs of which vertex 0 has the most arcs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import choices
import iterations
import learned
import oracles
import searches
import torch

import tgraph as tg


@dataclass(frozen=True)
class Written:
    """what : the class of a program, or a function(graph, **options) that runs some. check : raises AssertionError for
    (graph, values) that are wrong. best : the same by `tg.algorithms`, of a graph. weighted : weights are a part of it.
    given : the arguments of the class, of the graph in CSR. with_what : classes that the function runs."""

    title: str
    what: Any
    check: Callable[[tg.Graph, Any], None]
    best: Callable[[tg.Graph], Any] | None = None
    weighted: bool = False
    directed: bool = True
    given: Callable[[tg.Graph], tuple[Any, ...]] = lambda graph: ()
    with_what: tuple[Any, ...] = ()

    @property
    def lines(self) -> int:
        """The lines of code, without docstrings and empty ones."""
        return sum(map(lines, (self.what, *self.with_what)))

    def run(self, graph: tg.Graph, stored: tg.Graph, **options: Any) -> Any:
        """The values on a graph in an engine, `stored` in CSR in memory; with gradients where the program learns."""
        if inspect.isfunction(self.what):
            return self.what(graph, **options)
        program = self.what(*self.given(stored))
        values = tg.run(program, graph, **options).values
        if not hasattr(program, "learned"):
            return values
        gradients = torch.autograd.grad(values.square().sum(), program.learned)
        return (values.detach(), *gradients)


def lines(what: Any) -> int:
    source = inspect.getsource(what)
    text = "\n".join(f'"""{each.__doc__}"""' for each in (what,) if each.__doc__)
    return sum(1 for line in source.replace(text, "").splitlines() if line.strip())


def against(of: Any, formula: Any, title: str, **options: Any) -> Written:
    return Written(title, of, oracles.learned(of, formula), **options)


al, equals, undirected, weighted = tg.algorithms, oracles.equals, {"directed": False}, {"weighted": True}
WRITTEN = [
    Written("breadth-first search", searches.Hops, equals(oracles.hops), lambda g: al.bfs(g, 0)),
    Written("the same, with parents", searches.Parents, equals(oracles.parents), lambda g: al.bfs(g, 0, parents=True)),
    Written("from four sources", searches.Searches, equals(oracles.searches), lambda g: al.bfs(g, [0, 1, 2, 3])),
    Written("shortest paths", searches.Distance, equals(oracles.distance), lambda g: al.sssp(g, 0), **weighted),
    Written(
        "the same, a `Relaxation`",
        searches.ShortestPaths,
        equals(oracles.distance),
        lambda g: al.sssp(g, 0),
        **weighted,
    ),
    Written("widest paths", searches.Widest, equals(oracles.widest), lambda g: al.widest_path(g, 0), **weighted),
    Written("most reliable paths", searches.Reliable, equals(oracles.reliable), **weighted),
    Written(
        "counting shortest paths, two columns", searches.CountPaths, equals(lambda g: torch.stack(oracles.paths(g), 1))
    ),
    Written(
        "the same, a dict",
        searches.CountPathsApart,
        lambda g, found: equals(oracles.paths)(g, (found["hops"], found["paths"])),
    ),
    Written("earliest arrival", searches.Arrival, equals(oracles.arrival), **weighted),
    Written(
        "reachability by labels", searches.Labelled, equals(lambda g: oracles.reached(g, lambda w: w < 6)), **weighted
    ),
    Written("random walkers", searches.Walkers, oracles.walkers, lambda g: al.random_walks(g, length=4)),
    Written("strong components", searches.strong, oracles.strong, al.scc, with_what=(searches.Strong,)),
    Written("components", iterations.Components, equals(oracles.components), al.wcc, **undirected),
    Written("weak components", iterations.WeakComponents, equals(oracles.components), al.wcc),
    Written("PageRank", iterations.Ranks, equals(oracles.ranks), lambda g: al.pagerank(g, tol=None, max_iterations=10)),
    Written(
        "PageRank by deltas", iterations.RankDeltas, oracles.rank_deltas, lambda g: al.pagerank(g, dangling="ignore")
    ),
    Written(
        "personalised PageRank",
        iterations.Personal,
        equals(oracles.personal),
        lambda g: al.pagerank(g, tol=None, max_iterations=10, personalization={0: 1.0}),
    ),
    Written("HITS", iterations.Hubs, equals(oracles.hubs), lambda g: al.hits(g, tol=None, max_iterations=20)),
    Written("SALSA", iterations.Salsa, equals(oracles.salsa)),
    Written(
        "Katz centrality",
        iterations.Katz,
        equals(oracles.katz),
        lambda g: al.katz(g, alpha=1 / (1 + float(g.in_degree.max()))),
    ),
    Written("spread of fixed labels", iterations.Labels, equals(oracles.labels)),
    Written("smooth maximum", iterations.Softmax, equals(oracles.softmax)),
    Written(
        "loopy belief propagation",
        iterations.SumProduct,
        oracles.beliefs(iterations.SumProduct),
        given=lambda g: tuple(g.to_edge_index()),
        **undirected,
    ),
    Written(
        "conductance sweep", iterations.sweep, equals(oracles.sweep), **undirected, with_what=(iterations.Personal,)
    ),
    Written("3-core by peeling", choices.Core, equals(oracles.core), al.core_number, **undirected),
    Written(
        "independent set, Luby", choices.Independent, oracles.independent, al.maximal_independent_set, **undirected
    ),
    Written("colours, Jones and Plassmann", choices.Colours, oracles.colours, al.greedy_color, **undirected),
    Written(
        "spanning forest, Boruvka",
        choices.Boruvka,
        equals(oracles.forest),
        al.minimum_spanning_forest,
        directed=False,
        **weighted,
    ),
    Written("matching by an auction", choices.Auction, oracles.matching(choices.Auction.step), **weighted),
    Written("triangles by a product", choices.triangles, equals(oracles.triangles), al.triangle_count, **undirected),
    against(learned.Heat, oracles.heat, "heat, with gradients"),
    against(learned.Sage, oracles.sage, "GraphSAGE with features of arcs", **weighted),
    against(learned.Attention, oracles.attention, "attention"),
    against(learned.Roughness, oracles.roughness, "function of both ends"),
]
PROGRAMS = {each.what.__name__: each for each in WRITTEN}
