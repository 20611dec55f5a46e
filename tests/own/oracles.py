"""What the values of programs are checked by: scipy, networkx, dense matrices, and what makes a choice a right one. A
check raises AssertionError for (graph, values) that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import networkx as nx
import torch
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csgraph
from torch import Tensor
from torch.testing import assert_close

import tgraph as tg

Check = Callable[[tg.Graph, Any], None]
DAMPING = 0.85


def equals(expected: Callable[[tg.Graph], Any]) -> Check:
    """The values, or each of several, are those of a function of the graph."""

    def check(graph: tg.Graph, values: Any) -> None:
        found = expected(graph)
        for one, other in zip(values, found, strict=True) if isinstance(values, tuple) else [(values, found)]:
            assert_close(one.double(), torch.as_tensor(other).double(), rtol=1e-6, atol=1e-8)

    return check


def dense(graph: tg.Graph) -> Tensor:
    """1 where u -> v is an arc, [n, n]."""
    return torch.from_numpy(graph.to_scipy().toarray()).ne(0).double()


def weighted(graph: tg.Graph) -> Tensor:
    return torch.from_numpy(graph.to_scipy().toarray()).double()


def divided(matrix: Tensor, by: Tensor) -> Tensor:
    return torch.where(by > 0, matrix / by, 0)


# ---- searches --------------------------------------------------------------------------------------------------------


def hops(graph: tg.Graph, sources: Any = 0) -> Tensor:
    return torch.from_numpy(csgraph.shortest_path(graph.to_scipy(), indices=sources, unweighted=True))


def searches(graph: tg.Graph) -> Tensor:
    return hops(graph, [0, 1, 2, 3]).T


def parents(graph: tg.Graph) -> Tensor:
    (source, target), level = graph.to_edge_index(), hops(graph)
    ahead = (level[source] + 1 == level[target]).nonzero()[:, 0]
    least = torch.full((len(level),), len(level)).scatter_reduce(0, target[ahead], source[ahead], "amin")
    least[0] = 0
    return torch.where(level < torch.inf, least, -1)


def distance(graph: tg.Graph) -> Any:
    return csgraph.dijkstra(graph.to_scipy(), indices=0)


def reached(graph: tg.Graph, arcs: Callable[[Tensor], Tensor]) -> Tensor:
    """1 for what is reached by the arcs that a function of the weights names."""
    matrix = arcs(weighted(graph)).logical_and(dense(graph)).numpy()
    return torch.zeros(len(matrix)).index_fill(0, torch.from_numpy(csgraph.breadth_first_order(matrix, 0)[0]).long(), 1)


def widest(graph: tg.Graph) -> Tensor:
    """The greatest weight that leaves the vertex within reach, of the weights 1 to 9."""
    width = sum(reached(graph, lambda weights, least=least: weights >= least) for least in range(1, 10))
    width[width == 0] = -torch.inf
    width[0] = torch.inf
    return width


def reliable(graph: tg.Graph) -> Tensor:
    matrix = graph.to_scipy()
    matrix.data = (1 + graph.weights).log().numpy()
    return torch.from_numpy(csgraph.dijkstra(matrix, indices=0)).neg().exp()


def paths(graph: tg.Graph) -> tuple[Tensor, Tensor]:
    """Hops, and the number of shortest paths, of each vertex."""
    counted = nx.algorithms.centrality.betweenness._single_source_shortest_path_basic(graph.to_networkx(), 0)[2]
    return hops(graph), torch.tensor([float(counted[vertex]) for vertex in range(graph.num_vertices)])


def arrival(graph: tg.Graph) -> Tensor:
    """Connections in the order in which they depart (Dibbelt et al. 2013)."""
    time = [0.0] + [torch.inf] * (graph.num_vertices - 1)
    for at, u, v in sorted(zip(graph.weights.tolist(), *graph.to_edge_index().tolist(), strict=True)):
        if time[u] <= at:
            time[v] = min(time[v], at + 1)
    return torch.tensor(time)


def walkers(graph: tg.Graph, at: Tensor) -> None:
    step = dense(graph)
    step += torch.diag((step.sum(1) == 0).double())
    assert bool(torch.linalg.matrix_power(step, 4)[torch.arange(len(at)), at].gt(0).all())
    assert len(at.unique()) > len(at) // 20


def strong(graph: tg.Graph, part: Tensor) -> None:
    count, expected = csgraph.connected_components(graph.to_scipy(), connection="strong")
    pairs = torch.stack([part, torch.from_numpy(expected).long()]).unique(dim=1)
    assert pairs.shape[1] == count == len(part.unique())


# ---- iterations ------------------------------------------------------------------------------------------------------


def components(graph: tg.Graph) -> Tensor:
    count, label = csgraph.connected_components(graph.to_scipy(), directed=False)
    label = torch.from_numpy(label).long()
    return torch.full((count,), len(label)).scatter_reduce(0, label, torch.arange(len(label)), "amin")[label]


def surfing(graph: tg.Graph, home: Tensor) -> Tensor:
    """The matrix of PageRank, where walks begin anew by `home`."""
    arcs = dense(graph)
    degree = arcs.sum(1, keepdim=True)
    follow = torch.where(degree > 0, divided(arcs, degree), home)
    return (DAMPING * follow + (1 - DAMPING) * home).T


def power(matrix: Tensor, rounds: int, start: Tensor) -> Tensor:
    return torch.linalg.matrix_power(matrix, rounds) @ start


def ranks(graph: tg.Graph) -> Tensor:
    home = torch.full((graph.num_vertices,), 1 / graph.num_vertices).double()
    return power(surfing(graph, home), 10, home)


def personal(graph: tg.Graph) -> Tensor:
    home = torch.eye(graph.num_vertices).double()[0]
    return power(surfing(graph, home), 10, home)


def rank_deltas(graph: tg.Graph, rank: Tensor) -> None:
    """The system of PageRank that loses what has nowhere to go, to what may be left at each vertex."""
    arcs = dense(graph)
    follow = divided(arcs, arcs.sum(1, keepdim=True)).T
    expected = torch.linalg.solve(torch.eye(len(arcs)) - DAMPING * follow, torch.full((len(arcs),), 0.15).double())
    assert float((rank - expected).abs().sum()) < len(arcs) * 1e-3 * DAMPING / (1 - DAMPING)


def hubs(graph: tg.Graph) -> Tensor:
    arcs = dense(graph)
    hub = power(arcs @ arcs.T, 20, torch.ones(len(arcs)).double())
    return hub / hub.sum()


def salsa(graph: tg.Graph) -> Tensor:
    arcs = dense(graph)
    step = divided(arcs, arcs.sum(0)) @ divided(arcs, arcs.sum(1, keepdim=True)).T
    return power(step, 20, torch.full((len(arcs),), 1 / len(arcs)).double())


def katz(graph: tg.Graph) -> Tensor:
    arcs = dense(graph)
    return torch.linalg.solve(torch.eye(len(arcs)) - arcs.T / (1 + arcs.sum(0).max()), torch.ones(len(arcs)).double())


def labels(graph: tg.Graph) -> Tensor:
    arcs = dense(graph)
    fixed = (torch.arange(len(arcs)) % 5 == 0).double()
    label, mean = fixed, divided(arcs, arcs.sum(0)).T
    for _ in range(6):
        label = torch.where(fixed > 0, 1, mean @ label)
    return label


def softmax(graph: tg.Graph) -> Tensor:
    value, absent = (torch.arange(graph.num_vertices) % 7).double(), dense(graph).eq(0)
    for _ in range(3):
        value = torch.maximum(value, value[:, None].masked_fill(absent, -torch.inf).logsumexp(0) / 2)
    return value


def sweep(graph: tg.Graph) -> Tensor:
    arcs = dense(graph)
    degree = arcs.sum(1)
    order = (personal(graph) / degree.clamp(min=1)).argsort(descending=True, stable=True)
    inside, volume = arcs[order][:, order].cumsum(0).cumsum(1).diagonal(), degree[order].cumsum(0)
    smaller = torch.minimum(volume, arcs.sum() - volume)
    return ((volume - inside) / smaller)[smaller > 0].min()


def beliefs(program: Any) -> Check:
    """Marginals of a tree are exact."""

    def check(graph: tg.Graph, belief: Tensor) -> None:
        assert_close(belief.sum(1), torch.ones(len(belief)))
        tree = tg.Graph.from_edges([0, 0, 1, 1, 2, 2], [1, 2, 3, 4, 5, 6], directed=False)
        written = program(*tree.to_edge_index())
        found, states = tg.run(written, tree).values, torch.tensor(list(product(range(3), repeat=7)))
        source, target = tree.to_edge_index()
        score = written.prior[torch.arange(7), states].sum(1)
        score = (score + (states[:, source] == states[:, target]).sum(1) / 2).softmax(0)
        expected = torch.stack([((states == state) * score[:, None]).sum(0) for state in range(3)], 1)
        assert_close(found, expected)

    return check


# ---- choices ---------------------------------------------------------------------------------------------------------


def core(graph: tg.Graph) -> Tensor:
    degree = dict(nx.k_core(graph.to_networkx(), 3).degree())
    return torch.tensor([degree.get(vertex, 0) for vertex in range(graph.num_vertices)])


def independent(graph: tg.Graph, inside: Tensor) -> None:
    near = dense(graph) @ inside.double()
    assert bool(((inside == 1) == (near == 0)).all()) and set(inside.tolist()) == {0, 1}


def colours(graph: tg.Graph, colour: Tensor) -> None:
    source, target = graph.to_edge_index()
    assert bool((colour[source] != colour[target]).all()) and bool((colour >= 0).all())
    assert bool((colour <= graph.out_degree).all())


def forest(graph: tg.Graph) -> Any:
    return csgraph.minimum_spanning_tree(graph.to_scipy()).sum()


def matching(step: float) -> Check:
    def check(graph: tg.Graph, sale: Tensor) -> None:
        weights = weighted(graph)
        best = weights[linear_sum_assignment(weights.numpy(), maximize=True)].sum()
        owner, vertex = sale[:, 0].long(), torch.arange(len(weights))
        taken = owner >= 0
        assert bool((weights[owner[taken], vertex[taken]] > 0).all()) and len(owner[taken].unique()) == taken.sum()
        assert best - step * len(weights) <= weights[owner[taken], vertex[taken]].sum() <= best

    return check


def triangles(graph: tg.Graph) -> int:
    return sum(nx.triangles(graph.to_networkx()).values()) // 3


# ---- gradients -------------------------------------------------------------------------------------------------------


def learned(program: Any, formula: Callable[[Any, Tensor], Tensor]) -> Check:
    """The values, with their gradients, of a formula of what the program learns and of the matrix."""

    def expected(graph: tg.Graph) -> tuple[Tensor, ...]:
        written = program()
        written.init(graph)
        values = formula(written, weighted(graph))
        return (values, *torch.autograd.grad(values.square().sum(), written.learned))

    return equals(expected)


def heat(program: Any, matrix: Tensor) -> Tensor:
    arcs, heat = matrix.ne(0).double(), program.heat
    mean = divided(arcs, arcs.sum(0)).T
    for _ in range(6):
        heat = heat + program.step * (mean @ heat - heat)
    return heat


def sage(program: Any, matrix: Tensor) -> Tensor:
    arcs = matrix.ne(0).double()
    count = arcs.sum(0)
    x, weight = divided(arcs, count).T @ program.x, divided(matrix, count).sum(0)
    return program.x + torch.cat([x, weight[:, None]], 1) @ program.weight


def attention(program: Any, matrix: Tensor) -> Tensor:
    power = (program.x @ program.x.T).tanh().masked_fill(matrix == 0, -torch.inf)
    return divided(power.exp(), power.exp().sum(0)).T @ program.x


def roughness(program: Any, matrix: Tensor) -> Tensor:
    return ((program.x[:, None] - program.x).square() * matrix.ne(0)).sum(0)
