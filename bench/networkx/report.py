"""The results as Markdown."""

from __future__ import annotations

import statistics
from typing import Any

from bench.networkx.worker import SYSTEMS
from bench.results import named
from bench.results import table as as_table

LEGEND = """\
Milliseconds of networkx and of later calls on tgraph, then how many times longer networkx takes than each backend: for
tgraph on a first call, which converts the graph, and on later ones, which find it converted; for the others on later
calls. "auto" is the same where tgraph is the first choice of the user and the call says nothing, before and after the
graph has been converted for another call: 1 where it declines, and networkx runs. ">" where networkx was ended after
{limit:g} s: at least so many times, and not in the medians. Each result of tgraph is verified against networkx's, but
those marked "?", where networkx did not end. Results of graphblas-algorithms may be objects that compute later.
"""


def markdown(results: dict[str, Any]) -> str:
    """The whole report."""
    cells = results["cells"]
    about = named(results["machine"] | results["versions"])
    parts = ["# Functions of networkx", f"{results['date']}. {about}.", LEGEND.format(limit=results["limit"])]
    parts.append(summary(cells))
    for asked in sorted({cell["asked"] for cell in cells}):
        own = [cell for cell in cells if cell["asked"] == asked]
        parts += [f"## {asked:,} edges", table(own), absent(own)]
    return "\n\n".join(part for part in parts if part)


def ratio(cell: dict[str, Any], system: str, state: str) -> float | None:
    """The time of networkx over that of a system; None where it or networkx has no time."""
    seconds, found = cell["networkx"].get("later"), cell["systems"][system].get(state)
    return seconds / found if seconds and found else None


def at_least(cell: dict[str, Any], system: str, state: str) -> float | None:
    """A bound below of the same where networkx was ended."""
    seconds, found = cell["networkx"].get("beyond"), cell["systems"][system].get(state)
    return seconds / found if seconds and found else None


def auto(cell: dict[str, Any], state: str) -> float:
    """The speed-up of a user whose first choice is tgraph: 1 where networkx runs."""
    found = cell["auto"][state]
    if not found["runs"]:
        return 1.0
    return found["ratio"] or at_least(cell, "tgraph", state) or float("nan")


def summary(cells: list[dict[str, Any]]) -> str:
    """A line for each size."""
    heads = ["edges", "calls", "ours", "median, first", "median, converted", "with bounds", "below 1, converted"]
    heads += ["auto, worst first", "auto, worst converted"]
    rows = []
    for asked in sorted({cell["asked"] for cell in cells}):
        own = [cell for cell in cells if cell["asked"] == asked]
        later = {cell["case"]: found for cell in own if (found := ratio(cell, "tgraph", "later"))}
        first = [found for cell in own if (found := ratio(cell, "tgraph", "first"))]
        bounds = [found for cell in own if (found := at_least(cell, "tgraph", "later"))]
        ours = sum("later" in cell["systems"]["tgraph"] for cell in own)
        slow = sorted((value, name) for name, value in later.items() if value < 1)
        said = [f"{asked:,}", str(len(own)), str(ours), _median(first), _median(list(later.values()))]
        below = ", ".join(f"{name} {value:.2g}" for value, name in slow)
        said += [_median([*later.values(), *bounds]), below or "none"]
        for state in ("first", "later"):
            worst = min(own, key=lambda cell: auto(cell, state))
            said.append(f"{auto(worst, state):.2g} ({worst['case']})")
        rows.append(said)
    return as_table(heads, rows)


def _median(values: list[float]) -> str:
    return f"{statistics.median(values):.3g}" if values else ""


def table(cells: list[dict[str, Any]]) -> str:
    """A line for each call."""
    others = SYSTEMS[1:]
    heads = ["call", "graph", "networkx, ms", "tgraph, ms", "first", "converted", "auto", *others]
    rows = []
    for cell in cells:
        ours, theirs = cell["systems"]["tgraph"], cell["networkx"]
        plain = f"{theirs['later'] * 1e3:.3g}" if "later" in theirs else _why(theirs)
        own = f"{ours['later'] * 1e3:.3g}{_mark(ours)}" if "later" in ours else _why(ours)
        speed = [_speed(cell, "tgraph", state) for state in ("first", "later")]
        by_itself = " / ".join(f"{auto(cell, state):.3g}" for state in ("first", "later"))
        rest = [_speed(cell, system, "later") for system in others]
        rows.append([cell["case"], cell["kind"], plain, own, *speed, by_itself, *rest])
    return as_table(heads, rows)


def _why(found: dict[str, Any]) -> str:
    if "beyond" in found:
        return f"> {found['beyond'] * 1e3:g}"
    return "" if found["refused"].startswith("not ") else found["refused"].partition(":")[0]


def _mark(ours: dict[str, Any]) -> str:
    verdict = ours["verdict"]
    return "" if verdict == "verified" else " ?" if verdict == "not compared" else f" {verdict}"


def _speed(cell: dict[str, Any], system: str, state: str) -> str:
    if (found := ratio(cell, system, state)) is not None:
        return f"{found:.3g}"
    bound = at_least(cell, system, state)
    return f"> {bound:.3g}" if bound else ""


def absent(cells: list[dict[str, Any]]) -> str:
    """The calls that a system declines, by its reason, unless it has no such function."""
    found: dict[str, list[str]] = {}
    for cell in cells:
        for system, own in cell["systems"].items():
            if "refused" in own and (system == "tgraph" or not own["refused"].startswith("not among")):
                found.setdefault(f"{system}: {own['refused']}", []).append(cell["case"])
    return "\n".join(f"- {reason}: {', '.join(names)}" for reason, names in found.items())
