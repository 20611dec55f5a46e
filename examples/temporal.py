"""Who writes to whom next? Each message is predicted from the latest ones before it, and from nothing later.

A FILE has a message in each line: from, to, seconds. Without one, messages are drawn: people answer what they were
written. The network (Hamilton, Ying and Leskovec, NeurIPS 2017) sees, for either end of a message, the people of the
latest messages to them and the latest to these, sampled by LinkNeighborLoader as of that time, and tells messages from
pairs drawn at random. It is trained on the first 85 % of the messages and tested on the others.
Usage: python examples/temporal.py [FILE] [--epochs 5]
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

import tgraph as tg
from tgraph.pyg import LinkNeighborLoader

COLUMNS, BATCH = 32, 512


def messages(file: str | None, people: int = 300, count: int = 8000) -> Data:
    """Messages by time, an edge each."""
    if file is not None:
        source, target, time = torch.from_numpy(np.loadtxt(file, dtype=np.int64, ndmin=2)).T
        order = time.argsort(stable=True)
        names, ends = torch.stack((source, target))[:, order].unique(return_inverse=True)
        return Data(edge_index=ends, time=time[order], num_nodes=len(names))
    ends = torch.randint(people, (2, count))
    for number in range(20, count):
        if float(torch.rand(())) < 0.9:  # somebody answers one of the latest messages
            ends[:, number] = ends[:, int(torch.randint(number - 20, number, ()))].flip(0)
    return Data(edge_index=ends, time=torch.arange(count), num_nodes=people)


class Sage(torch.nn.Module):
    """Two layers on learned vectors of the people; a pair scores by what both ends have then."""

    def __init__(self, people: int):
        super().__init__()
        self.people = torch.nn.Embedding(people, COLUMNS)
        self.first, self.second = (tg.nn.SAGEConv(COLUMNS, COLUMNS) for _ in range(2))

    def forward(self, batch: Data) -> Tensor:
        """Scores [k] of the pairs of a batch."""
        x = self.first(self.people(batch.n_id), batch.edge_index).relu()
        x = self.second(x, batch.edge_index)
        source, target = x[batch.edge_label_index]
        return (source * target).sum(1)


def check_times(batch: Data) -> None:
    """Every message of the tree around an end is earlier than the message that is predicted."""
    latest = torch.empty(int(batch.batch.max()) + 1, dtype=torch.int64)
    latest[batch.batch[batch.edge_label_index[0]]] = batch.edge_label_time
    assert bool((batch.time <= latest[batch.batch[batch.edge_index[1]]]).all())


def draw(scores: Tensor, is_message: Tensor, path: str) -> None:
    """How the network scores messages, and how pairs drawn at random."""
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    low, high = scores.quantile(torch.tensor([0.01, 0.99])).tolist()
    for name, chosen in {"messages": is_message, "pairs drawn at random": ~is_message}.items():
        axes.hist(scores[chosen], bins=60, range=(low, high), alpha=0.6, label=name)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel="score: above 0 the network says that one writes to the other", ylabel="pairs")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Predict messages from those before.")
    parser.add_argument("file", nargs="?", help="messages: from, to, seconds; drawn without it")
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    torch.manual_seed(0)
    data = messages(options.file)
    split = int(0.85 * data.num_edges)
    print(f"{data.num_edges:,} messages between {data.num_nodes:,} people, of which {split:,} are learned from")

    def loader(first: int, last: int) -> LinkNeighborLoader:
        return LinkNeighborLoader(
            data,
            [8, 4],
            edge_label_index=data.edge_index[:, first:last],
            edge_label_time=data.time[first:last] - 1,
            time_attr="time",
            temporal_strategy="last",
            neg_sampling="binary",
            batch_size=BATCH,
            shuffle=True,
        )

    model = Sage(data.num_nodes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(options.epochs):
        for batch in loader(0, split):
            check_times(batch)
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(model(batch), batch.edge_label).backward()
            optimizer.step()
    found = []
    with torch.no_grad():
        for batch in loader(split, data.num_edges):
            check_times(batch)
            found.append(torch.stack((model(batch), batch.edge_label)))
    scores, label = torch.cat(found, 1)
    right = float(((scores > 0) == (label > 0)).double().mean())
    print(f"{100 * right:.1f} % of {len(scores):,} pairs right, half of which are messages")
    assert right > 0.6
    print("checked: no message was predicted from later ones")
    draw(scores, label > 0, "temporal.png")
    print("picture: temporal.png")


if __name__ == "__main__":
    main()
