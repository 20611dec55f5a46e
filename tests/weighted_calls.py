"""Calls of every function that reads weights, with an arc whose weight is NaN, infinite, 0 or negative: what they make
of it is the table of docs/weights.md, which `python tests/weighted_calls.py` writes anew.

A function that takes `weighted` or `weights` reads weights, and so does one that answers otherwise for other weights.
"""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import Any

import torch

import tgraph as tg

PAGE = Path(__file__).parents[1] / "docs" / "weights.md"
TABLE = re.compile(r"(?ms)^\| function \|.*?(?=^\n|\Z)")
VALUES = {"NaN": math.nan, "inf": math.inf, "-inf": -math.inf, "0": 0.0, "negative": -2.0}

NAMES = ["a", "b", "c", "d", "e", "f"]
ODD = (1, 2)  # the arc of the weight in question, past which there is no way
WEIGHTS = {(0, 1): 3.0, ODD: 10.0, (2, 3): 2.0, (2, 4): 7.0, (2, 5): 9.0, (3, 4): 3.0, (3, 5): 8.0, (4, 5): 4.0}
OTHERS = {ends: 20 - weight for ends, weight in WEIGHTS.items()}

# Arguments by the names of parameters, and by the names of functions.
ARGUMENTS: dict[str, Any] = {
    "source": 0,
    "target": 5,
    "heuristic": torch.zeros(6),
    "labels": torch.tensor([0, 0, 1, 1, 2, 2]),
    "communities": torch.tensor([0, 0, 0, 1, 1, 1]),
    "group": torch.tensor([0, 0, 0, 1, 1, 1]),
    "values": torch.arange(6.0),
    "vertices": torch.arange(3),
    "generation": torch.arange(6),
    "start": torch.arange(6),
    "length": 4,
    "count": 3,
    "key": 7,
    "k": 2,
    "distance": torch.zeros(1, 6),
    "left": torch.zeros(1, 6),
    "right": torch.zeros(1, 6),
    "mate": torch.tensor([1, 0, 3, 2, 5, 4]),
    "sums": torch.zeros(8),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "node2vec": {"dimensions": 2, "length": 4, "walks": 1, "window": 2},
    "eigenvector": {"max_iterations": 10_000},
    "katz": {"alpha": 0.01},
    "simrank": {"tol": 1e-2},
}
ADDS = {"quotient_graph"}  # whose graph has other weights, but the same arcs


def readers() -> dict[str, Any]:
    """The functions of `tg.algorithms` that read weights, by name."""
    found = {name: getattr(tg.algorithms, name) for name in sorted(tg.algorithms.__all__)}
    found = {name: function for name, function in found.items() if inspect.isfunction(function)}
    return {name: each for name, each in found.items() if name in ADDS or takes_weights(each) or _differs(name, each)}


def takes_weights(function: Any) -> bool:
    return not {"weighted", "weights"}.isdisjoint(inspect.signature(function).parameters)


def _differs(name: str, function: Any) -> bool:
    """Whether other weights give another answer: copies of weights alone are none."""
    if next(iter(inspect.signature(function).parameters)) != "graph":
        return False
    first, second = (answer(name, function, graph(True, weights), False) for weights in (WEIGHTS, OTHERS))
    if isinstance(first, tg.errors.ArgumentError):  # of directed graphs
        first, second = (answer(name, function, graph(False, weights), False) for weights in (WEIGHTS, OTHERS))
    return repr(first) != repr(second)


def graph(directed: bool, weights: dict[tuple[int, int], float]) -> tg.Graph:
    """Six vertices whose ids are letters, with the arcs that have a weight."""
    src, dst = zip(*weights, strict=True)
    held = torch.tensor(list(weights.values()), dtype=torch.float64)
    return tg.Graph.from_edges(src, dst, held, vertices=NAMES, directed=directed)


def answer(name: str, function: Any, given: tg.Graph, with_weights: bool = True) -> Any:
    """The result of a function in lists and words, or the error that it raises."""
    arguments = dict(OPTIONS.get(name, {}))
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("graph", "other"):
            arguments[parameter.name] = given
        elif parameter.name == "weighted":
            arguments["weighted"] = True
        elif parameter.name == "weights":
            arguments["weights"] = given.weights
        elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            arguments.setdefault(parameter.name, ARGUMENTS[parameter.name])
    try:
        return _plain(function(**arguments), given, with_weights)
    except tg.errors.TGraphError as error:
        return error


def _plain(result: Any, given: tg.Graph, with_weights: bool) -> Any:
    """In lists and words, and of what there is for each arc all but that of the arc in question."""
    if isinstance(result, tg.Graph):
        weights = result.weights.tolist() if with_weights and result.weights is not None else []
        return [result.to_edge_index().tolist(), *(_plain(each, given, with_weights) for each in weights)]
    if isinstance(result, torch.Tensor):
        if result.shape[:1] == (given.num_arcs,):
            source, target = given.to_edge_index()
            result = result[(torch.minimum(source, target) != ODD[0]) | (torch.maximum(source, target) != ODD[1])]
        return _plain(result.tolist(), given, with_weights)
    if isinstance(result, (list, tuple)) or inspect.isgenerator(result):
        return [_plain(each, given, with_weights) for each in result]
    return f"{result:.5g}" if isinstance(result, float) else result


def makes_of(name: str, function: Any) -> list[str]:
    """The fate of an arc of each weight in a function: "refuses" it, "drops" it, or "counts" it."""
    words: dict[str, set[str]] = {value: set() for value in VALUES}
    for directed in (True, False):
        ordinary = answer(name, function, graph(directed, WEIGHTS))
        if isinstance(ordinary, tg.errors.ArgumentError):
            continue  # this kind of graph is not the function's
        without = answer(name, function, graph(directed, {ends: w for ends, w in WEIGHTS.items() if ends != ODD}))
        for value, weight in VALUES.items():
            found = answer(name, function, graph(directed, {**WEIGHTS, ODD: weight}))
            if repr(found) == repr(without):
                words[value] |= {"drops"} if repr(found) != repr(ordinary) else set()
            elif isinstance(found, tg.errors.ArgumentError) and not isinstance(found, tg.errors.NegativeCycleError):
                assert f"weights: {weight} at position" in str(found) and "arc 'b' -> 'c'; " in str(found), found
                words[value].add("refuses")
            else:
                words[value].add("counts")
    assert not any("refuses" in found and len(found) > 1 for found in words.values()), (name, words)
    return ["counts" if "counts" in found or not found else found.pop() for found in words.values()]


def table() -> str:
    """A row for each function."""
    lines = [f"| function | {' | '.join(VALUES)} |", "|---" * (1 + len(VALUES)) + "|"]
    for name, function in readers().items():
        lines.append(f"| `{name}` | {' | '.join(makes_of(name, function))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    assert TABLE.search(text), "the page has no table"
    PAGE.write_text(TABLE.sub(lambda _: table(), text, count=1), encoding="utf-8")
