"""One kind of graph of one size: a process of its own, so that its memory is freed.

python -m bench.networkx.worker KIND EDGES LIMIT FUNCTIONS RESULT.json SKIP
"""

from __future__ import annotations

import json
import signal
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx

from bench.measure import timed
from bench.networkx.cases import CASES, Case
from bench.networkx.given import Given, build
from bench.verify import WrongResult
from tgraph.networkx import history
from tgraph.networkx.interface import backend

SYSTEMS = ("tgraph", "graphblas", "parallel")
BUDGET = 1.0  # seconds for the calls of one cell after the first
REPEAT = 7


class OutOfTime(Exception):
    """A call took longer than the limit."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise OutOfTime after so many seconds of Python."""

    def stop(*_: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def repeated(call: Callable[[], Any], times: int = REPEAT) -> tuple[float, Any]:
    """The median of some calls, and the result of the last."""
    taken: list[float] = []
    result = None
    while len(taken) < times and sum(taken) < BUDGET:
        result = None  # freed before, not during, the next call
        seconds, result = timed(call)
        taken.append(seconds)
    return statistics.median(taken), result


def forget(G: nx.Graph) -> None:
    """Forget what was converted."""
    G.__networkx_cache__.clear()


def first_and_later(case: Case, given: Given, **options: Any) -> tuple[float, float, Any]:
    """Seconds of a call that converts the graph, and of one that finds it converted; the result."""
    G, first = given.G, []
    for _ in range(3):
        forget(G)
        seconds, result = timed(lambda: case.run(G, given, **options))
        first.append(seconds)
        if seconds > BUDGET / 3:
            break
    later, result = repeated(lambda: case.run(G, given, **options))
    return statistics.median(first), later, result


def measure(case: Case, given: Given, limit: float) -> dict[str, Any]:
    """The cells of a call: seconds and verdicts by system."""
    cell: dict[str, Any] = {"case": case.label, "name": case.name, "kind": case.kind, "systems": {}}
    cell["networkx"], expected = attempt(limit, lambda: by_networkx(case, given))
    for system in SYSTEMS:
        cell["systems"][system], found = attempt(limit, partial(by_backend, case, given, system))
        if system == "tgraph" and "later" in cell["systems"]["tgraph"]:
            cell["systems"]["tgraph"]["verdict"] = verdict(case, given, found, expected)
        del found
    del expected
    cell["auto"] = {state: by_itself(case, given, cell, state) for state in ("first", "later")}
    forget(given.G)
    return cell


def attempt(limit: float, call: Callable[[], tuple[dict[str, Any], Any]]) -> tuple[dict[str, Any], Any]:
    """A cell and a result, or why there is none."""
    try:
        with limited(limit):
            return call()
    except OutOfTime:
        return {"beyond": limit}, None
    except Exception as fault:
        return {"refused": f"{type(fault).__name__}: {fault}".splitlines()[0][:120]}, None


def by_networkx(case: Case, given: Given) -> tuple[dict[str, Any], Any]:
    seconds, result = timed(lambda: case.run(given.G, given))
    if seconds < BUDGET / 2:
        seconds, result = repeated(lambda: case.run(given.G, given))
    return {"later": seconds}, result


def by_backend(case: Case, given: Given, system: str) -> tuple[dict[str, Any], Any]:
    if system not in nx.utils.backends.backends:
        return {"refused": "not installed"}, None
    if not hasattr(nx.utils.backends._load_backend(system), case.name):
        return {"refused": "not among its functions"}, None
    before = history.calls().get(case.name, 0)
    first, later, result = first_and_later(case, given, backend=system)
    if system == "tgraph" and history.calls().get(case.name, 0) == before:
        raise AssertionError("ours did not run")
    return {"first": first, "later": later}, result


def verdict(case: Case, given: Given, found: Any, expected: Any) -> str:
    if expected is None:
        return "not compared"
    try:
        case.agree(given, found, expected)
    except WrongResult as fault:
        return f"WRONG: {fault}"
    return "verified"


def by_itself(case: Case, given: Given, cell: dict[str, Any], state: str) -> dict[str, Any]:
    """Whether tgraph runs the call where it is the user's first choice and the graph is not ("first") or is converted;
    and where calls are short, how many times longer networkx takes."""
    G, ours, theirs = given.G, cell["systems"]["tgraph"], cell["networkx"]
    forget(G)
    if state == "later" and "later" in ours:
        case.run(G, given, backend="tgraph")
    if theirs.get("later", BUDGET) >= BUDGET / 2:
        runs = "later" in ours and answer(case, given)
        return {"runs": runs, "ratio": theirs["later"] / ours[state] if runs and "later" in theirs else None}
    ratios, before = [], history.calls().get(case.name, 0)
    while len(ratios) < REPEAT:
        if state == "first":
            forget(G)
        nx.config.backend_priority.algos = ["tgraph"]
        seconds, _ = timed(lambda: case.run(G, given))
        nx.config.backend_priority.algos = []
        ratios.append(timed(lambda: case.run(G, given))[0] / seconds)
    return {"runs": history.calls().get(case.name, 0) > before, "ratio": statistics.median(ratios)}


def answer(case: Case, given: Given) -> bool:
    """Whether the backend tells networkx to leave the call to it."""
    said: list[Any] = []

    def ask(*args: Any, **named: Any) -> list[Any]:
        said.extend((backend.can_run(case.name, args, named), backend.should_run(case.name, args, named)))
        return []

    case.call(ask, given.G, given)
    return all(word is True for word in said)


def main(kind: str, edges: int, limit: float, functions: list[str], output: Path, skip: list[str]) -> None:
    """Measure the cases of these functions, or all, but for those of the labels in `skip`."""
    warnings.simplefilter("ignore")
    chosen = [case for case in CASES if case.kind == kind and edges <= case.most]
    chosen = [case for case in chosen if (not functions or case.name in functions) and case.label not in skip]
    if not chosen:
        return
    given = build(kind, edges)
    print(f"{kind}: {given.nodes:,} nodes, {given.edges:,} edges", flush=True)
    cells = []
    for case in chosen:
        cell = {"edges": given.edges, "nodes": given.nodes, "asked": edges} | measure(case, given, limit)
        cells.append(cell)
        output.write_text(json.dumps(cells))
        print(f"  {case.label}: {said(cell)}", flush=True)


def said(cell: dict[str, Any]) -> str:
    """A cell in words."""
    parts = []
    for system, found in [("networkx", cell["networkx"]), *cell["systems"].items()]:
        if "later" in found:
            first = f"{found['first'] * 1e3:.3g} then " if "first" in found else ""
            parts.append(f"{system} {first}{found['later'] * 1e3:.3g} ms{' ' + found.get('verdict', '')}".rstrip())
        else:
            parts.append(f"{system}: {found.get('refused') or 'beyond the limit'}")
    runs = "/".join("tgraph" if cell["auto"][state]["runs"] else "networkx" for state in ("first", "later"))
    return "; ".join([*parts, f"auto: {runs}"])


if __name__ == "__main__":
    kind, edges, limit, functions, output, skip = sys.argv[1:]
    main(kind, int(edges), float(limit), functions.split(",") if functions else [], Path(output), json.loads(skip))
