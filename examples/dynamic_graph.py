"""A network that grows while it is used: messages go into a store in order of time, PageRank and components follow, and
a network that is trained window by window says who writes to whom next.

A FILE has a message in each line: from, to, seconds, such as CollegeMsg or sx-mathoverflow of SNAP. Without one,
messages are drawn: people answer what they were written, or write to somebody of their group, and later to others.
Batch after batch is inserted. At the end of each window two things guess its pairs among as many pairs drawn at random,
from what was there before it: GraphSAGE (Hamilton, Ying and Leskovec, NeurIPS 2017) on the edges of the last windows,
and the product of the ranks that were followed. Then the network learns from the window.
Usage: python examples/dynamic_graph.py [FILE] [--batch 200] [--windows 10] [--epochs 12]
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

import tgraph as tg

COLUMNS, PAST = 32, 3  # numbers of a vector; windows that count as the present


def messages(file: str | None, people: int = 400, count: int = 6000) -> tuple[Tensor, Tensor, Tensor]:
    """(from, to, time) of messages in order of time, int64 [k] each."""
    if file is not None:
        rows = torch.from_numpy(np.loadtxt(file, dtype=np.int64, ndmin=2)).T
        source, target, time = rows[:, rows[2].argsort(stable=True)]
        return source, target, time
    source = (torch.rand(count) * torch.linspace(people // 8, people, count)).long()  # new ones come with time
    target = (source + 8 * torch.randint(1, 6, (count,))) % people  # of the same group
    strange = torch.rand(count) < torch.linspace(-0.002, 0.006, count)
    target[strange] = torch.randint(people, (int(strange.sum()),))
    for number in range(50, count):
        if float(torch.rand(())) < 0.3:  # somebody answers one of the latest messages
            other = int(torch.randint(number - 50, number, ()))
            source[number], target[number] = target[other].item(), source[other].item()
    return source, target, torch.arange(count)


class Sage(torch.nn.Module):
    """Two layers on learned vectors; a pair scores by what both ends have then."""

    def __init__(self, people: int):
        super().__init__()
        self.people = torch.nn.Embedding(people, COLUMNS)
        self.first, self.second = (tg.nn.SAGEConv(COLUMNS, COLUMNS) for _ in range(2))

    def forward(self, graph: tg.Graph, pairs: Tensor) -> Tensor:
        """Scores [k] of pairs [2, k] of vertices."""
        x = self.people(torch.arange(graph.num_vertices))
        x = self.second(self.first(x, graph).relu(), graph)
        return (x[pairs[0]] * x[pairs[1]]).sum(1)


def area(true: Tensor, drawn: Tensor) -> float:
    """How often a score of `true` is larger than one of `drawn`, ties counting half (area under the ROC curve)."""
    drawn = drawn.sort().values
    below, through = (torch.searchsorted(drawn, true, right=right) for right in (False, True))
    return float((below + through).double().mean()) / (2 * len(drawn))


def learn(model: Sage, optimizer: torch.optim.Optimizer, graph: tg.Graph, true: Tensor, epochs: int) -> None:
    """Tell the pairs of a window from others, drawn anew in each epoch, by the edges before it."""
    model.train()
    for _ in range(epochs):
        optimizer.zero_grad()
        drawn = torch.stack((true[0], torch.randint(graph.num_vertices, true.shape[1:])))
        scores = model(graph, torch.cat((true, drawn), 1))
        wanted = torch.cat((torch.ones(true.shape[1]), torch.zeros(true.shape[1])))
        F.binary_cross_entropy_with_logits(scores, wanted).backward()
        optimizer.step()


def draw(rows: list[dict[str, float]], path: str) -> None:
    """Components and the largest rank by messages so far, and how well pairs were guessed."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    count = [row["messages"] for row in rows]
    left.plot(count, [100 * row["largest"] for row in rows], label="people in the largest component, %")
    left.plot(count, [row["components"] for row in rows], label="components")
    left.plot(count, [1000 * row["rank"] for row in rows], label="largest rank, in thousandths")
    right.plot(count, [row["sage"] for row in rows], marker="o", label="GraphSAGE on the last windows")
    right.plot(count, [row["ranks"] for row in rows], marker="o", label="product of ranks")
    right.axhline(0.5, color="grey", linewidth=0.8)
    right.set(ylabel="area under the ROC curve", ylim=(0.35, 1.0))
    for axes in (left, right):
        axes.set_xlabel("messages so far")
        axes.legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Follow a network of messages, and predict them window by window.")
    parser.add_argument("file", nargs="?", help="messages: from, to, seconds; drawn without it")
    parser.add_argument("--batch", type=int, default=200, help="messages inserted at a time")
    parser.add_argument("--windows", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=12, help="steps of training in each window")
    options = parser.parse_args()
    torch.manual_seed(0)
    source, target, time = messages(options.file)
    store = tg.dynamic.Store(times=torch.int64, directed=False, ids="any")
    ranks = tg.dynamic.follow(tg.algorithms.PageRank(tol=1e-4), store)
    components = tg.dynamic.follow(tg.algorithms.WCC(), store)
    model = Sage(len(torch.cat((source, target)).unique()))  # a vector for each who will come
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    cuts = torch.linspace(0, len(source), options.windows + 1).long().tolist()
    rows, updates = [], []
    for window in range(options.windows):
        first, last = cuts[window], cuts[window + 1]
        since = int(time[cuts[max(window - PAST, 0)]])
        before = store.snapshot(since=since) if window else None
        rank_before = ranks.values.clone()
        for begin in range(first, last, options.batch):
            part = slice(begin, min(begin + options.batch, last))
            store.insert(source[part], target[part], times=time[part])
            updates += [ranks.update(), components.update()]

        graph, label = store.snapshot(), components.values
        size = torch.bincount(label)
        row = {"messages": float(last), "components": float((size > 0).sum()), "rank": float(ranks.values.max())}
        row |= {"largest": float(size.max()) / graph.num_vertices, "sage": 0.5, "ranks": 0.5}
        if before is not None:  # of people who were there before the window
            pairs = torch.stack((graph.index(source[first:last].tolist()), graph.index(target[first:last].tolist())))
            true = pairs[:, (pairs < before.num_vertices).all(0) & (pairs[0] != pairs[1])]
            drawn = torch.stack((true[0], torch.randint(before.num_vertices, true.shape[1:])))
            with torch.no_grad():
                row["sage"] = area(*(model(before, each) for each in (true, drawn)))
            row["ranks"] = area(*(rank_before[each].prod(0) for each in (true, drawn)))
            learn(model, optimizer, before, true, options.epochs)
        rows.append(row)
        print(
            f"{last:9,} messages, {graph.num_vertices:7,} people, {row['components']:5.0f} components, "
            f"{100 * row['largest']:5.1f} % in the largest; pairs guessed: {row['sage']:.2f} GraphSAGE, "
            f"{row['ranks']:.2f} ranks"
        )

    afresh = [update.recomputed for update in updates if update.recomputed is not None]
    print(f"{len(updates):,} updates, {len(afresh)} of them from nothing")
    assert torch.equal(components.values, tg.algorithms.wcc(store.snapshot()))
    exact = tg.algorithms.pagerank(store.snapshot(), tol=1e-9, max_iterations=1000, dtype=torch.float64)
    assert float((ranks.values - exact).abs().sum()) < 1e-4 * 0.85 / 0.15
    later = rows[len(rows) // 2 :]
    assert sum(row["sage"] for row in later) > 0.6 * len(later)
    print("checked: components are those from nothing, ranks within their tolerance, and pairs are better than guessed")
    draw(rows, "dynamic_graph.png")
    print("picture: dynamic_graph.png")


if __name__ == "__main__":
    main()
