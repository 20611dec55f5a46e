"""A history of batches of which each is known by its number, and the arcs that a graph has after it."""

import random

import torch

VERTICES = 60


def batch(number):
    """(what to do, sources, targets, weights) of the batch that makes version `number`."""
    draw = random.Random(number)
    count = draw.choice([0, 1, 2, 5, 20, 60, 200])
    ends = [[min(int(draw.expovariate(0.1)), VERTICES - 1) for _ in range(count)] for _ in range(2)]
    kind = draw.choice(["insert", "insert", "insert", "upsert", "delete", "vertices"])
    return kind, *ends, [float(number * 1000 + place) for place in range(count)]


def apply(store, number):
    """Do the batch to a store with weights and 60 vertices; returns the version."""
    kind, src, dst, weights = batch(number)
    if kind in ("insert", "upsert"):
        return getattr(store, kind)(src, dst, weights)
    return store.delete(src, dst) if kind == "delete" else store.delete_vertices(src[:2])


class History:
    """The arcs after each batch, {(source, target): weight} with the weight of the last of parallel arcs."""

    def __init__(self):
        self.number, self.arcs = 0, {}

    def after(self, number):
        """The arcs after a batch, ascending, as (source, target, weight). Numbers have to ascend, too."""
        while self.number < number:
            self.number += 1
            kind, src, dst, weights = batch(self.number)
            for pair, weight in zip(zip(src, dst, strict=True), weights, strict=True):
                if kind in ("insert", "upsert"):
                    self.arcs[pair] = weight
                elif kind == "delete":
                    self.arcs.pop(pair, None)
            if kind == "vertices":
                self.arcs = {pair: weight for pair, weight in self.arcs.items() if not set(pair) & set(src[:2])}
        return sorted((*pair, weight) for pair, weight in self.arcs.items())


def listed(graph):
    """The arcs of a graph, as those of `History.after`."""
    rows = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.offset.diff())
    return list(zip(rows.tolist(), graph.neighbors.tolist(), graph.weights.tolist(), strict=True))
