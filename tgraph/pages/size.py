"""The size and kind of a graph."""

from __future__ import annotations

import torch

import tgraph as tg
from tgraph.core.system.text import in_bytes
from tgraph.markup.labels import Markup, label
from tgraph.markup.page import Fact, Section, number
from tgraph.pages.study import Study


def size(study: Study) -> Section:
    """Vertices, edges, kind, weights, ids and memory."""
    graph = study.graph
    n, edges = graph.num_vertices, graph.num_edges
    kind = "directed" if graph.directed else "undirected"
    values: dict[str, float] = {"vertices": n, "edges": edges, "directed": graph.directed}
    facts = [Fact("Vertices", f"{n:,}", _ids(graph)), Fact("Edges", f"{edges:,}", kind)]
    if n > 1:
        values["density"] = density = edges / (n * (n - 1) / (1 if graph.directed else 2))
        facts.append(Fact("Density", number(density), "of all pairs are joined" if density <= 1 else "edges per pair"))
    if n:
        values["isolated"] = isolated = _isolated(study)
        facts.append(Fact("Isolated vertices", f"{isolated:,}", "" if not study.streams else "without out-edges"))
    values |= {"self-loops": graph.num_self_loops, "parallel edges": graph.num_parallel_edges}
    facts += [
        Fact("Self-loops", f"{graph.num_self_loops:,}"),
        Fact("Parallel edges", f"{graph.num_parallel_edges:,}", "beyond one for each pair"),
    ]
    if graph.directed and not study.streams and graph.num_arcs:
        values["reciprocity"] = mutual = tg.algorithms.reciprocity(graph)
        facts.append(Fact("Reciprocity", number(mutual), "of arcs have their reverse"))
    facts.append(_weights(graph))
    layout = "CSR" if graph.layout is None else f"layout {graph.layout.name}"
    facts.append(Fact("Memory", in_bytes(graph.nbytes), f"{layout}, on {graph.device}"))
    lead = "" if n else "The graph has no vertices: there is nothing to measure."
    notes = []
    if graph.weight_dtype is not None:
        notes.append("The following sections ignore weights.")
    return Section("size", "Size", lead, facts=facts, notes=notes, values=values)


def _isolated(study: Study) -> int:
    graph = study.graph
    alone = graph.out_degree == 0
    return int((alone if study.streams else alone & (graph.in_degree == 0)).sum())


def _weights(graph: tg.Graph) -> Fact:
    if graph.weight_dtype is None:
        return Fact("Weights", "none")
    smallest, largest, mean = graph.weight_statistics
    kind = str(graph.weight_dtype).removeprefix("torch.")
    return Fact("Weights", f"{number(smallest)} to {number(largest)}", f"{kind}, {number(float(mean))} on average")


def _ids(graph: tg.Graph) -> Markup | str:
    if graph.vertices is None:
        return f"ids 0 to {graph.num_vertices - 1:,}" if graph.num_vertices else ""
    kind = "integer ids" if isinstance(graph.vertices, torch.Tensor) else "labels"
    some = Markup(", ").join(label(name) for name in graph.vertices[:2].tolist())
    return Markup(f"{kind}, such as {some}")
