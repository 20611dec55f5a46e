"""Real graphs, which lie in ../shared/data beside the repository where they are there at all."""

import importlib.util
from pathlib import Path

import tgraph as tg

DATA = Path(__file__).parents[2] / "shared" / "data"


def load(name: str) -> dict:
    """What the reader of that folder gives: src, dst, weight and directed."""
    spec = importlib.util.spec_from_file_location("shared_data_load", DATA / "load.py")
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    return loader.load(name)


def graph_of(name: str, weighted: bool = False) -> tg.Graph:
    """The graph without parallel arcs, with consecutive vertices."""
    found = load(name)
    return tg.Graph.from_edges(
        found["src"],
        found["dst"],
        found["weight"] if weighted else None,
        ids="compact",
        multi="first",
        directed=found["directed"],
    )
