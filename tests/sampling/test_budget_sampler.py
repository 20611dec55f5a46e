"""Vertices by budgets: as many of each type as wanted, by the squares of their budgets, and all arcs between them."""

import scipy.stats
import torch
from strategies import refused

from tgraph.core.csr import Csr
from tgraph.sampling import BudgetSampler

KINDS = {
    ("author", "writes", "paper"): (30, 50),
    ("paper", "cites", "paper"): (50, 50),
    ("paper", "of", "author"): (50, 30),
}


def types():
    """(the ends of the edges of each type, their Csr)"""
    generator = torch.Generator().manual_seed(0)
    edges, graphs = {}, {}
    for kind, sizes in KINDS.items():
        source, target = (torch.randint(size, (200,), generator=generator) for size in sizes)
        order = target.argsort(stable=True)
        edges[kind] = source, target
        offset = torch.searchsorted(target[order], torch.arange(sizes[1] + 1))
        graphs[kind] = Csr(offset, source[order], order, sizes[0])
    return edges, graphs


def test_a_batch_has_all_arcs_between_its_vertices():
    edges, graphs = types()
    sampler = BudgetSampler(graphs, {"paper": [5, 4], "author": [3]}, seed=1)
    found = sampler.sample({"paper": torch.tensor([3, 9])}, draw=4)
    assert found.num_sampled_nodes == {"author": [0, 3, 0], "paper": [2, 5, 4]}
    assert found.node["paper"][:2].tolist() == [3, 9]
    for kind, (source, target) in edges.items():
        one, other = found.node[kind[0]], found.node[kind[2]]
        assert len(one.unique()) == len(one)
        inside = torch.isin(source, one) & torch.isin(target, other)
        assert found.edge[kind].sort().values.tolist() == inside.nonzero().squeeze(1).tolist()
        assert torch.equal(one[found.row[kind]], source[found.edge[kind]])
        assert torch.equal(other[found.col[kind]], target[found.edge[kind]])
    again = BudgetSampler(graphs, {"paper": [5, 4], "author": [3]}, seed=1).sample(
        {"paper": torch.tensor([3, 9])}, draw=4
    )
    assert torch.equal(found.node["paper"], again.node["paper"])


def test_vertices_by_the_squares_of_their_budgets():
    edges, graphs = types()
    sampler = BudgetSampler(graphs, {"author": [1]}, seed=1)
    seeds = torch.arange(4)
    source, target = edges["author", "writes", "paper"]
    wanted = target < 4
    budget = torch.zeros(30).double()
    budget.index_add_(0, source[wanted], 1 / torch.bincount(target, minlength=50)[target[wanted]].double())
    counts = torch.zeros(30)
    for draw in range(300):
        counts[sampler.sample({"paper": seeds}, draw=draw).node["author"]] += 1
    likely = budget > 0
    expected = budget[likely] ** 2 / (budget**2).sum() * 300
    assert bool((counts[~likely] == 0).all()) and scipy.stats.chisquare(counts[likely].double(), expected).pvalue > 1e-4


def test_refusals():
    _, graphs = types()
    refused("no vertices 'venue'", BudgetSampler, graphs, {"venue": [1]})
    refused("negative", BudgetSampler, graphs, [1, -1])
    refused("0 to 49", lambda: BudgetSampler(graphs, [1]).sample({"paper": torch.tensor([50])}))
