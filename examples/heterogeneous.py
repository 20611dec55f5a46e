"""Papers, authors and venues: the field of a paper, from its words and from who wrote, published and cited what.

The example draws the network. Words alone tell the field of a paper in few cases; of authors and venues only the papers
are known. Two ways to use them: GraphSAGE for each type of edges (`to_hetero` of PyTorch Geometric) on batches of
NeighborLoader, and the heterogeneous graph transformer (Hu, Dong, Wang and Sun, WWW 2020) on those of HGTLoader.
Usage: python examples/heterogeneous.py [--papers 2000] [--epochs 10]
"""

import argparse
from collections.abc import Iterable

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import HeteroData
from torch_geometric.nn import to_hetero
from torch_geometric.transforms import ToUndirected

import tgraph as tg
from tgraph.pyg import HGTLoader, NeighborLoader

FIELDS, WORDS, HIDDEN, BATCH = 8, 64, 32, 64
Features, Edges = dict[str, Tensor], dict[tuple[str, str, str], Tensor]


def network(papers: int) -> HeteroData:
    """Papers of FIELDS fields, half as many authors, 5 venues of each field; nine edges in ten are within a field."""
    data, sizes = HeteroData(), {"paper": papers, "author": papers // 2, "venue": 5 * FIELDS}
    field = torch.arange(papers) % FIELDS  # and so of authors and venues
    usual = torch.rand(FIELDS, WORDS) < 0.1
    data["paper"].x = (torch.rand(papers, WORDS) < 0.05 + 0.15 * usual[field]).float()
    data["paper"].y = field
    for kind in ("author", "venue"):
        data[kind].x = torch.zeros(sizes[kind], 1)

    def chosen(kind: str, count: int) -> Tensor:
        """For each paper `count` vertices of a type."""
        number, of = torch.randint(sizes[kind] // FIELDS, (papers, count)), field[:, None].expand(-1, count)
        other = torch.randint(FIELDS, (papers, count))
        return (number * FIELDS + torch.where(torch.rand(papers, count) < 0.9, of, other)).view(-1)

    paper = torch.arange(papers)
    data["author", "writes", "paper"].edge_index = torch.stack((chosen("author", 2), paper.repeat_interleave(2)))
    data["paper", "is_in", "venue"].edge_index = torch.stack((paper, chosen("venue", 1)))
    data["paper", "cites", "paper"].edge_index = torch.stack((paper, chosen("paper", 1)))
    return ToUndirected(merge=False)(data)


class Sage(torch.nn.Module):
    """Two layers, which `to_hetero` repeats for each type of edges."""

    def __init__(self):
        super().__init__()
        self.first, self.second = tg.nn.SAGEConv((-1, -1), HIDDEN), tg.nn.SAGEConv((-1, -1), FIELDS)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


class Transformer(torch.nn.Module):
    """Two layers of attention over all types of edges at once, and a dense one."""

    def __init__(self, metadata: tuple[list[str], list[tuple[str, str, str]]]):
        super().__init__()
        self.first, self.second = (tg.nn.HGTConv(columns, HIDDEN, metadata, heads=4) for columns in (-1, HIDDEN))
        self.last = torch.nn.Linear(HIDDEN, FIELDS)

    def forward(self, x: Features, edges: Edges) -> Features:
        return {"paper": self.last(self.second(self.first(x, edges), edges)["paper"])}


class Words(torch.nn.Module):
    """Two dense layers on the words of the papers, to compare with."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(WORDS, HIDDEN), torch.nn.Linear(HIDDEN, FIELDS)

    def forward(self, x: Features, edges: Edges) -> Features:
        return {"paper": self.second(self.first(x["paper"]).relu())}


def confusion(model: torch.nn.Module, train: Iterable[HeteroData], test: Iterable[HeteroData], epochs: int) -> Tensor:
    """Confusion matrix of the papers to test on after training: their field (row), and the field found (column)."""
    with torch.no_grad():  # layers find out how many columns there are
        batch = next(iter(train))
        model(batch.x_dict, batch.edge_index_dict)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for batch in train:
            optimizer.zero_grad()
            size, y = batch["paper"].batch_size, batch["paper"].y
            F.cross_entropy(model(batch.x_dict, batch.edge_index_dict)["paper"][:size], y[:size]).backward()
            optimizer.step()
    count = torch.zeros(FIELDS, FIELDS)
    with torch.no_grad():
        for batch in test:
            size, y = batch["paper"].batch_size, batch["paper"].y
            found = model(batch.x_dict, batch.edge_index_dict)["paper"].argmax(1)[:size]
            count.index_put_((y[:size], found), torch.ones(size), accumulate=True)
    return count


def draw(found: dict[str, Tensor], path: str) -> None:
    """Which field is taken for which, by each way."""
    figure, panels = plt.subplots(1, len(found), figsize=(9, 3.4), sharey=True, layout="constrained")
    for axes, (name, count) in zip(panels, found.items(), strict=True):
        image = axes.imshow((count / count.sum(1, keepdim=True)).numpy(), vmin=0, vmax=1, cmap="Blues")
        axes.set(title=name, xlabel="field found", xticks=range(FIELDS), yticks=range(FIELDS))
    panels[0].set_ylabel("field of the paper")
    figure.colorbar(image, ax=panels, label="share of the papers")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="The fields of papers, in a network of three types of vertices.")
    parser.add_argument("--papers", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    torch.manual_seed(0)
    data = network(options.papers)
    for kind in data.node_types:
        print(f"{data[kind].num_nodes:,} {kind}s", end=", ")
    print(f"{sum(edges.shape[1] for edges in data.edge_index_dict.values()):,} arcs of {len(data.edge_types)} types")
    train, test = torch.randperm(options.papers).split([options.papers // 2, options.papers - options.papers // 2])

    def neighbors(papers: Tensor) -> NeighborLoader:
        return NeighborLoader(data, [8, 8], input_nodes=("paper", papers), batch_size=BATCH, shuffle=True)

    def budgets(papers: Tensor) -> HGTLoader:
        return HGTLoader(data, [128, 128], input_nodes=("paper", papers), batch_size=BATCH, shuffle=True)

    ways = {
        "words alone": (Words(), neighbors),
        "GraphSAGE": (to_hetero(Sage(), data.metadata()), neighbors),
        "transformer": (Transformer(data.metadata()), budgets),
    }
    found, right = {}, {}
    for name, (model, loader) in ways.items():
        found[name] = confusion(model, loader(train), loader(test), options.epochs)
        right[name] = float(found[name].diagonal().sum() / len(test))
        print(f"{name:12}{100 * right[name]:6.1f} % of {len(test):,} papers right")
    assert min(right["GraphSAGE"], right["transformer"]) > right["words alone"] + 0.1
    print("checked: the network tells more than the words")
    draw(found, "heterogeneous.png")
    print("picture: heterogeneous.png")


if __name__ == "__main__":
    main()
