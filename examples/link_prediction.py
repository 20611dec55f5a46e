"""Which edges does a graph lack? GraphSAGE on sampled edges (Hamilton, Ying and Leskovec, NeurIPS 2017) against the
index of Adamic and Adar.

A tenth of the edges is held out. A vertex has a vector that is learned; the network tells the edges of a batch from as
many pairs without an edge, which LinkNeighborLoader draws anew. What counts is how often a held-out edge scores higher
than a pair without an edge (the area under the ROC curve). Usage: python examples/link_prediction.py [FILE] ...
"""

import argparse

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

import tgraph as tg
from tgraph.pyg import LinkNeighborLoader

COLUMNS = 64


class Sage(torch.nn.Module):
    """Two layers on learned vectors of the vertices; a pair scores the product of what its ends have then."""

    def __init__(self, n: int):
        super().__init__()
        self.vertices = torch.nn.Embedding(n, COLUMNS)
        self.first, self.second = tg.nn.SAGEConv(COLUMNS, COLUMNS), tg.nn.SAGEConv(COLUMNS, COLUMNS)

    def forward(self, vertices: Tensor, edge_index: Tensor, pairs: Tensor) -> Tensor:
        """Scores [k] of pairs [2, k] of places in `vertices`."""
        x = self.first(self.vertices(vertices), edge_index).relu()
        x = self.second(F.dropout(x, 0.3, self.training), edge_index)
        return (x[pairs[0]] * x[pairs[1]]).sum(1)


def drawn() -> tg.Graph:
    """Twenty communities of 100 vertices with some 12 neighbours each, two thirds of them within."""
    inside, outside = 0.08, 0.002
    chance = torch.full((20, 20), outside).fill_diagonal_(inside)
    return tg.generators.stochastic_block_model([100] * 20, chance.tolist())


def trained(data: Data, options: argparse.Namespace) -> Sage:
    """The network that tells the edges of the graph from other pairs."""
    each_once = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    fanouts = [int(count) for count in options.fanouts.split(",")]
    loader = LinkNeighborLoader(
        data, fanouts, edge_label_index=each_once, neg_sampling="binary", batch_size=options.batch, shuffle=True
    )
    model = Sage(data.num_nodes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=1e-5)
    for _ in range(options.epochs):
        for batch in loader:
            optimizer.zero_grad()
            scores = model(batch.n_id, batch.edge_index, batch.edge_label_index)
            F.binary_cross_entropy_with_logits(scores, batch.edge_label).backward()
            optimizer.step()
    return model.eval()


def area(edges: Tensor, others: Tensor) -> float:
    """How often a score of `edges` is larger than one of `others`, ties counting half (area under the ROC curve)."""
    others = others.sort().values
    below, through = (torch.searchsorted(others, edges, right=right) for right in (False, True))
    return float((below + through).double().mean()) / (2 * len(others))


def draw(scores: dict[str, tuple[Tensor, Tensor]], path: str) -> None:
    """The ROC curve of each {name: (scores of held-out edges, scores of other pairs)}."""
    figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    for name, (edges, others) in scores.items():
        thresholds = torch.cat((edges, others)).unique()
        wrong, right = (1 - torch.searchsorted(each.sort().values, thresholds) / len(each) for each in (others, edges))
        axes.plot(torch.cat((wrong, torch.zeros(1))), torch.cat((right, torch.zeros(1))), label=name)
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="a guess")
    axes.set(xlabel="share of the pairs without an edge", ylabel="share of the held-out edges", aspect="equal")
    axes.legend(title="area under the curve", loc="lower right")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Predict edges that were held out.")
    parser.add_argument("file", nargs="?", help="an undirected graph; one is drawn without it")
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=1024, help="edges in a batch")
    parser.add_argument("--fanouts", default="10,5", help="neighbours of each vertex, hop by hop")
    options = parser.parse_args()
    torch.manual_seed(0)
    whole = tg.read(options.file, directed=False) if options.file else drawn()
    edges = whole.without_self_loops().to_edge_index()
    edges = edges[:, edges[0] < edges[1]].unique(dim=1)
    edges = edges[:, torch.randperm(edges.shape[1])]
    held, kept = edges.tensor_split([edges.shape[1] // 10], dim=1)
    others = tg.sampling.negative_edges(whole, held.shape[1])
    print(f"{whole}\n{held.shape[1]:,} edges are held out")

    data = Data(edge_index=torch.cat((kept, kept.flip(0)), dim=1), num_nodes=whole.num_vertices)
    model = trained(data, options)
    with torch.no_grad():
        found, wrong = (model(torch.arange(data.num_nodes), data.edge_index, pairs) for pairs in (held, others))
    graph = tg.Graph.from_edges(*kept, num_vertices=whole.num_vertices, directed=False)
    index, index_wrong = (tg.algorithms.adamic_adar(graph, pairs.T) for pairs in (held, others))
    ours, usual = area(found, wrong), area(index, index_wrong)
    print(f"a held-out edge scores higher than a pair without an edge: {ours:.3f} GraphSAGE, {usual:.3f} Adamic-Adar")
    assert ours > usual
    print("checked: the network is better than the index")
    scores = {f"GraphSAGE: {ours:.3f}": (found, wrong), f"Adamic-Adar: {usual:.3f}": (index, index_wrong)}
    draw(scores, "link_prediction.png")
    print("picture: link_prediction.png")


if __name__ == "__main__":
    main()
