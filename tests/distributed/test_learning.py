"""Layers and aggregates on graphs that are spread over ranks compute what one process does, with the same gradients."""

from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks, said_of
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

import tgraph as tg
from tgraph.distributed import Ownership, Sharded, from_local, spread
from tgraph.distributed.layout import Distributed
from tgraph.distributed.parts.part import Part
from tgraph.distributed.parts.splitting import Rows, part_of
from tgraph.nn import GATConv, GATv2Conv, GCNConv, GINConv, GraphConv, SAGEConv, TransformerConv

COLUMNS = 6
LAYERS: dict[str, Callable[[], torch.nn.Module]] = {
    "GCN": lambda: GCNConv(COLUMNS, 4),
    "GCN, wider": lambda: GCNConv(COLUMNS, 9),
    "GCN, improved": lambda: GCNConv(COLUMNS, 4, improved=True),
    "GCN without loops": lambda: GCNConv(COLUMNS, 4, add_self_loops=False),
    "GCN, not normalised": lambda: GCNConv(COLUMNS, 4, normalize=False),
    "GCN against arcs": lambda: GCNConv(COLUMNS, 4, flow="target_to_source"),
    "SAGE": lambda: SAGEConv(COLUMNS, 5),
    "SAGE, projected": lambda: SAGEConv(COLUMNS, 5, project=True, normalize=True),
    "SAGE max": lambda: SAGEConv(COLUMNS, 5, aggr="max"),
    "SAGE min": lambda: SAGEConv(COLUMNS, 5, aggr="min"),
    "GAT": lambda: GATConv(COLUMNS, 4, heads=2),
    "GAT with residual": lambda: GATConv(COLUMNS, 4, heads=3, concat=False, residual=True, add_self_loops=False),
    "GAT against arcs": lambda: GATConv(COLUMNS, 4, flow="target_to_source"),
    "GATv2": lambda: GATv2Conv(COLUMNS, 4, heads=2),
    "GATv2, shared": lambda: GATv2Conv(COLUMNS, 4, heads=2, share_weights=True, add_self_loops=False),
    "Transformer": lambda: TransformerConv(COLUMNS, 4, heads=2),
    "Transformer with beta": lambda: TransformerConv(COLUMNS, 4, heads=2, beta=True),
    "GIN": lambda: GINConv(torch.nn.Linear(COLUMNS, 4), train_eps=True),
    "Graph": lambda: GraphConv(COLUMNS, 4),
}
REDUCTIONS = [
    *[(reduce, edge) for reduce in ("sum", "mean", "min", "max") for edge in ("copy", "mul")],
    ("sum", "add"),
    ("prod", "copy"),
]


def random_graph(directed: bool, weighted: bool, num_vertices: int = 40, num_arcs: int = 150) -> tg.Graph:
    """With self-loops, parallel edges, and vertices without arcs."""
    random = torch.Generator().manual_seed(7)
    ends = torch.randint(0, num_vertices - 8, (2, num_arcs), generator=random)
    weights = torch.rand(num_arcs, generator=random) if weighted else None
    return tg.Graph.from_edges(*ends, weights=weights, num_vertices=num_vertices, directed=directed)


def spread_at(graph: tg.Graph, starts: tuple[int, ...]) -> tg.Graph:
    """The graph of which each rank has these vertices, maybe none."""
    ownership = Ownership(starts)

    def read(section: str) -> Part:
        stored = graph if section == "rows" else graph.transpose()
        offset = stored.offset[ownership.first : ownership.end + 1]
        rows = Rows(ownership.first, offset, stored.neighbors, stored.weights)
        return part_of(ownership, lambda: [rows], stored.neighbors.dtype, stored.weight_dtype, graph.directed)

    return tg.Graph.of_storage(Distributed(read, graph.directed), directed=graph.directed)


def cases() -> Iterator[tuple[str, tg.Graph, tg.Graph]]:
    """(name, the graph in one process, the same spread over the ranks)"""
    ranks = dist.get_world_size()
    for method, directed, weighted in (("ebp", True, False), ("wcp", False, True)):
        graph = random_graph(directed, weighted)
        name = f"{method} {'directed' if directed else 'undirected'} {'weighted' if weighted else ''}"
        yield name, tg.stream.partition(graph, ranks, method).apply(graph).to_csr(), spread(graph, method=method)
    graph = random_graph(True, ranks == 3)
    starts = {2: (0, 0, 40), 3: (0, 25, 25, 40)}[ranks]
    yield "a rank without vertices", graph, spread_at(graph, starts)


def differs(found: Tensor, wanted: Tensor) -> bool:
    return found.shape != wanted.shape or not torch.allclose(found, wanted, atol=1e-5, rtol=1e-5)


def learn() -> dict[str, Any]:
    """What a rank has found: starting one takes longer than all that it is asked to do."""
    wrong = []
    for name, graph, parts in cases():
        wrong += [f"{name}: {each}" for each in compare_layers(graph, parts)]
        wrong += [f"{name}: {each}" for each in compare_aggregates(graph, parts)]
    return {"wrong": wrong, "second": second_derivatives(), "losses": train(), "refused": refuse()}


@pytest.fixture(scope="module", params=[pytest.param(2, marks=pytest.mark.thorough), 3])
def found(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return on_ranks(request.param, learn)


def compare_layers(graph: tg.Graph, parts: tg.Graph, names: Collection[str] = tuple(LAYERS)) -> Iterator[str]:
    held = parts.layout.ownership
    for name in names:
        torch.manual_seed(3)
        layer = LAYERS[name]().to(graph.device)
        x, seen = torch.randn(graph.num_vertices, COLUMNS).to(graph.device), {}
        for kind, given, where in (("one", x, graph), ("parts", held.own(x), parts)):
            given = given.clone().requires_grad_()
            out = layer(given, where)
            random = torch.randn(graph.num_vertices, out.shape[1], generator=torch.Generator().manual_seed(1))
            random = random.to(graph.device)
            (out * (random if kind == "one" else held.own(random))).sum().backward()
            gradients = [parameter.grad.clone() for parameter in layer.parameters()]
            layer.zero_grad()
            if kind == "parts":
                gradients = [held.sum(gradient) for gradient in gradients]
            seen[kind] = [out.detach(), given.grad, *gradients]
        (out, into, *gradients), (own, own_into, *own_gradients) = seen["one"], seen["parts"]
        if differs(own, held.own(out)):
            yield f"{name}: outputs"
        if differs(own_into, held.own(into)):
            yield f"{name}: gradients of x"
        if any(map(differs, own_gradients, gradients)):
            yield f"{name}: gradients of parameters"


def compare_aggregates(
    graph: tg.Graph, parts: tg.Graph, reductions: Collection[tuple[str, str]] = tuple(REDUCTIONS)
) -> Iterator[str]:
    held = parts.layout.ownership
    random = torch.Generator().manual_seed(2)
    x = torch.randint(-3, 4, (graph.num_vertices, 3), generator=random) / 2  # ties, whose gradient goes to the first
    x, factor = x.to(graph.device), torch.randn(graph.num_vertices, 3, generator=random).to(graph.device)
    for reduce, edge in reductions:
        weights = None if graph.weights is not None else 2.0
        whole, own = x.clone().requires_grad_(), held.own(x).clone().requires_grad_()
        wanted = tg.aggregate(graph, whole, reduce, edge=edge, weights=weights)
        found = tg.aggregate(parts, own, reduce, edge=edge, weights=weights)
        plain = tg.aggregate(parts, held.own(x), reduce, edge=edge, weights=weights)
        reached = held.own(graph.in_degree > 0)
        if differs(found[reached], held.own(wanted)[reached]) or differs(plain[reached], found[reached]):
            yield f"{reduce} {edge}: values"
        sum_of = lambda received, by: (received.where(received.isfinite(), 0) * by).sum()  # noqa: E731
        sum_of(wanted, factor).backward()
        sum_of(found, held.own(factor)).backward()
        if differs(own.grad, held.own(whole.grad)):
            yield f"{reduce} {edge}: gradients"
        spread_x = from_local(held.own(x).clone().requires_grad_(), held)
        again = tg.aggregate(parts, spread_x, reduce, edge=edge, weights=weights)
        if not isinstance(again, Sharded) or not torch.equal(again.to_local(), found):
            yield f"{reduce} {edge}: spread data"


def test_layers_and_aggregates_equal_those_of_one_process(found):
    assert [rank["wrong"] for rank in found] == [[]] * len(found)


def second_derivatives() -> list[bool]:
    graph = random_graph(True, False)
    parts = spread(graph)
    held = parts.layout.ownership
    graph = tg.stream.partition(graph, held.num_ranks, "ebp").apply(graph).to_csr()
    x, right = (
        torch.randn(2, graph.num_vertices, 2, generator=torch.Generator().manual_seed(4), dtype=torch.float64),
        [],
    )
    for reduce in ("mean", "max"):
        seconds = []
        for where, given in ((graph, x), (parts, held.own(x[0])[None].expand(2, -1, -1))):
            values = given[0].clone().requires_grad_()
            received = tg.aggregate(where, values, reduce)
            squares = received.where(received.isfinite(), 0) ** 3
            (first,) = torch.autograd.grad(squares.sum(), values, create_graph=True)
            seconds.append(torch.autograd.grad((first**2).sum(), values)[0])
        right.append(torch.allclose(held.own(seconds[0]), seconds[1]))
    return right


def test_gradients_can_be_differentiated_again(found):
    assert [rank["second"] for rank in found] == [[True, True]] * len(found)


def train(rounds: int = 5) -> tuple[list[float], list[float]]:
    """The losses of one process and of the ranks."""
    graph = random_graph(False, False)
    parts = spread(graph)
    held = parts.layout.ownership
    graph = tg.stream.partition(graph, held.num_ranks, "ebp").apply(graph).to_csr()
    x = torch.randn(graph.num_vertices, COLUMNS, generator=torch.Generator().manual_seed(4))
    label = torch.arange(graph.num_vertices) % 3
    losses = []
    for where, own in ((graph, lambda each: each), (parts, held.own)):
        torch.manual_seed(0)
        model: torch.nn.Module = TwoLayers()
        spreads = where is parts
        model = DistributedDataParallel(model) if spreads else model
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        found = []
        for _ in range(rounds):
            optimizer.zero_grad()
            out = model(own(x), where)
            loss = torch.nn.functional.cross_entropy(out, own(label), reduction="sum") / len(label)
            (loss * held.num_ranks if spreads else loss).backward()
            optimizer.step()
            found.append(float(held.sum(loss.detach()) if spreads else loss))
        losses.append(found)
    return losses[0], losses[1]


class TwoLayers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GCNConv(COLUMNS, 8), GATConv(8, 3)

    def forward(self, x: Tensor, graph: tg.Graph) -> Tensor:
        return self.second(self.first(x, graph).relu(), graph)


def test_training_with_data_parallel_parameters_is_that_of_one_process(found):
    for one, parts in (rank["losses"] for rank in found):
        assert one == pytest.approx(parts, rel=1e-4) and one[-1] < one[0]


def refuse() -> list[str]:
    parts = spread(random_graph(True, False))
    own = parts.layout.ownership.num_own
    x, edge_data = torch.zeros(own, COLUMNS), torch.zeros(parts.num_arcs)
    return said_of(
        lambda: GCNConv(COLUMNS, 2)(x, parts, edge_data),
        lambda: GATConv(COLUMNS, 2)(x, parts, return_attention_weights=True),
        lambda: GATConv(COLUMNS, 2, edge_dim=1)(x, parts, edge_data[:, None]),
        lambda: GCNConv(COLUMNS, 2, aggr="max")(x, parts),
        lambda: SAGEConv(COLUMNS, 2)(torch.zeros(own + 1, COLUMNS), parts),
        lambda: tg.nn.EdgeConv(torch.nn.Linear(2 * COLUMNS, 2))(x, parts),
        lambda: tg.aggregate(parts, x.requires_grad_(), edge="mul"),
    )


def test_what_needs_single_arcs_is_refused(found):
    for said in (rank["refused"] for rank in found):
        assert [each.split(":")[0] for each in said[:4]] == [
            "edge_weight",
            "return_attention_weights",
            "edge_attr",
            "aggr",
        ]
        assert "does not fit x" in said[4] and "spread over" in said[5] and "has none" in said[6]
