"""What PageRank and BFS would take on 16 to 1,024 machines: docs/scaling.md.

    python -m bench.scaling [--scales 16,18,20,22] [--table 23] [--data ../shared/data] [--output bench/results]

Partitions generated and real graphs into 2 to 1,024 parts and counts what ranks would send each other (kept in
scaling.json: what lies there is not measured again), fits and checks the laws by which volumes grow, measures how many
arcs per second a core computes, and puts both into a model of a cluster. Writes scaling.md with all tables, and the
pictures scaling-volumes.png and scaling-times.png. Hours of a core for 2**22 vertices; `--scales 16,18` takes minutes.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench.machine import describe_machine
from bench.results import table
from bench.scaling import laws, measuring, model, picture
from bench.scaling.model import Cluster, Load, Times
from bench.scaling.placing import METHODS

ROOT = Path(__file__).parents[2]
PARTS = [2**k for k in range(1, 11)]
NODES = (16, 64, 256, 1024)
BANDWIDTHS = (25e9, 100e9)
SEARCHED = 20  # the scale on which a search is timed
SCALE, CRAWL, WEB_ARCS = 30, "cnr-2000", 1e11
GENERATED = ("ebp", "hubs", "2d")  # what the model knows of R-MAT

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", type=lambda text: [int(part) for part in text.split(",")], default=[16, 18, 20, 22])
    parser.add_argument("--table", type=int, default=23, help="PageRank is timed on 2**TABLE vertices")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    rows = measuring.measured(arguments.scales, PARTS, arguments.data, arguments.output / "scaling.json")
    cluster = Cluster(*model.rates(min(max(arguments.scales), SEARCHED), arguments.table))
    text = "\n\n".join(f"## {title}\n\n{content}" for title, content in sections(rows, cluster).items())
    (arguments.output / "scaling.md").write_text(f"# Scaling\n\n{describe_machine()}\n\n{cluster}\n\n{text}\n")
    print(text)
    shown = [complete(rows), CRAWL, "web-NotreDame", "USA-road-NW"]
    names = [name for name in shown if any(row["graph"] == name for row in rows)]
    picture.volumes(rows, names, arguments.output / "scaling-volumes.png")
    picture.times(lines(rows, cluster), arguments.output / "scaling-times.png")


def sections(rows: list[Row], cluster: Cluster) -> dict[str, str]:
    """{title: table}"""
    found = {"Volumes": volumes(rows), "Laws of R-MAT": rmat_laws(rows)}
    found |= {f"R-MAT-{SCALE}": times(rows, cluster, "rmat"), f"memory of a node, R-MAT-{SCALE}": memory(rows)}
    if any(row["graph"] == CRAWL for row in rows):
        found |= {"Law of a web graph": web_laws(rows), "Web graph": times(rows, cluster, "web")}
    return found | {"Stragglers": stragglers()}


# ---- measurements and laws -------------------------------------------------------------------------------------------


def volumes(rows: list[Row]) -> str:
    """Of each graph and partition: what is sent over arcs, and in brackets the largest rank over the mean."""
    graphs = dict.fromkeys(row["graph"] for row in rows if "/" not in row["graph"])
    lines = []
    for graph in graphs:
        for method in dict.fromkeys(row["method"] for row in rows if row["graph"] == graph):
            cells = [select(rows, graph, method, parts) for parts in (4, *NODES)]
            lines.append([graph, method, *(f"{per_arc(row):.3g} ({uneven(row):.2g})" if row else "" for row in cells)])
    return table(["graph", "partition", *map(str, (4, *NODES))], lines)


def rmat_laws(rows: list[Row]) -> str:
    lines = []
    for method in GENERATED:
        for parts in NODES:
            law = laws.of_rmat(rows, method, parts)
            measured = [row for row in rows if (row["family"], row["method"], row["parts"]) == ("rmat", method, parts)]
            errors = [expected(row) / per_arc(row) - 1 for row in measured]
            ahead = laws.expected_volume(SCALE, method, parts)
            cells = [max(map(abs, errors)), ahead, law.at(SCALE), law.residual, law.ahead]
            lines.append([method, str(parts), str(len(measured)), *(f"{cell:.3g}" for cell in cells)])
    head = ["partition", "parts", "scales", "model: largest error", f"at scale {SCALE}"]
    return table([*head, f"fitted law at {SCALE}", "its residual", "its error one scale ahead"], lines)


def web_laws(rows: list[Row]) -> str:
    lines = []
    crawls = {(row["graph"], row["method"]) for row in rows if row["graph"].startswith(CRAWL)}
    for method in METHODS:
        if sum(known == method for _, known in crawls) < len(measuring.SHARES):
            continue
        law = laws.of_web(rows, method, CRAWL, min(NODES), max(NODES))
        lines.append([method, *(f"{number:.3g}" for number in (*law.coefficients, law.residual, law.ahead))])
    return table(["partition", "a", "b", "c", "residual", "error for the whole crawl"], lines)


def select(rows: list[Row], graph: str, method: str, parts: int) -> Row | None:
    return next((r for r in rows if (r["graph"], r["method"], r["parts"]) == (graph, method, parts)), None)


def complete(rows: list[Row]) -> str:
    """The R-MAT graph of which most is measured, the largest of equals."""
    graphs = {row["graph"]: row["arcs"] for row in rows if row["family"] == "rmat"}
    wanted = [row["graph"] for row in rows if row["method"] in GENERATED and row["parts"] in NODES]
    return max(graphs, key=lambda graph: (wanted.count(graph), graphs[graph]))


def per_arc(row: Row) -> float:
    return row["total"] / row["arcs"]


def uneven(row: Row) -> float:
    """The volume of the largest rank over the mean."""
    return row["largest"] * row["parts"] / row["total"]


def expected(row: Row) -> float:
    return laws.expected_volume(int(np.log2(row["vertices"])), row["method"], row["parts"])


# ---- times -----------------------------------------------------------------------------------------------------------


def load(rows: list[Row], family: str, method: str, parts: int, law: bool = False) -> Load:
    """The graph that is asked for: its volume by a law or as it is in the measured one, all else as in that."""
    name = (
        CRAWL
        if family == "web"
        else max(
            (row for row in rows if row["family"] == family and row["method"] == method and row["parts"] == parts),
            key=lambda row: row["arcs"],
        )["graph"]
    )
    row = select(rows, name, method, parts)
    assert row is not None
    if family == "rmat":
        arcs = laws.arcs_of_rmat(SCALE)
        ratio = laws.expected_volume(SCALE, method, parts)
    else:
        arcs, ratio = WEB_ARCS, per_arc(row)
        if law:
            found = laws.of_web(rows, method, CRAWL, min(NODES), max(NODES))
            ratio = found.at(np.log2(parts), np.log2(arcs))
    sent = np.array(row["levels"], dtype=float)
    shares = tuple(sent / max(row["values"], 1))
    return Load(arcs, parts, ratio * arcs, row["arcs_balance"], uneven(row), row["inside"], row["peers"], shares)


def times(rows: list[Row], cluster: Cluster, family: str) -> str:
    lines = []
    for method in GENERATED:
        for law in (False, True) if family == "web" else (False,):
            for parts in NODES:
                held = load(rows, family, method, parts, law)
                cells = [
                    method + (", law" if law else ""),
                    str(parts),
                    f"{held.volume / parts * model.VALUE / 1e6:.3g}",
                ]
                lines.append(cells + of_pagerank(held, cluster) + of_search(held, cluster))
    head = [
        "partition",
        "nodes",
        "MB of a node",
        "computing",
        *(f"travelling unhidden, {b / 1e9:.0f} GB/s" for b in BANDWIDTHS),
    ]
    head += ["latency", *(f"PageRank, {b / 1e9:.0f} GB/s" for b in BANDWIDTHS)]
    return table(head + [f"BFS, {b / 1e9:.0f} GB/s" for b in BANDWIDTHS] + ["of it latency"], lines)


def of_pagerank(held: Load, cluster: Cluster) -> list[str]:
    """Milliseconds of an iteration at each bandwidth, and what they consist of, with values in the cache and not."""
    at = [replace(cluster, bandwidth=bandwidth) for bandwidth in BANDWIDTHS]
    near = [model.iteration(held, node) for node in at]
    far = [model.iteration(held, replace(node, pagerank=cluster.uncached)) for node in at]
    both = list(zip(near, far, strict=True))
    computing = f"{1e3 * near[0].computing:.3g}..{1e3 * far[0].computing:.3g}"
    travelling = [f"{1e3 * fast.travelling:.3g}" for fast in near]
    total = [f"{1e3 * fast.total:.3g}..{1e3 * slow.total:.3g}" for fast, slow in both]
    return [computing, *travelling, f"{1e3 * near[0].latency:.2g}", *total]


def of_search(held: Load, cluster: Cluster) -> list[str]:
    found = [model.search(held, replace(cluster, bandwidth=bandwidth)) for bandwidth in BANDWIDTHS]
    return [*(f"{1e3 * each.total:.3g}" for each in found), f"{1e3 * found[0].latency:.2g}"]


def memory(rows: list[Row]) -> str:
    """Gigabytes: neighbours of 4 bytes, offsets of 8, two values of 4 for each vertex; 8 bytes for each mirror."""
    lines = []
    for method in GENERATED:
        for parts in NODES:
            held, n = load(rows, "rmat", method, parts), 2.0**SCALE
            share, mirrors = (4 * held.arcs + 16 * n) / parts, 8 * held.volume / parts
            lines.append([method, str(parts), f"{share / 1e9:.3g}", f"{mirrors / 1e9:.3g}"])
    return table(["partition", "nodes", "share, GB", "mirrors and sums, GB"], lines)


def stragglers() -> str:
    lines = []
    for parts in NODES:
        cells = [model.stragglers(parts, 0.05), model.stragglers(parts, 0.1)]
        cells += [model.stragglers(parts, 0.05, 0.5), model.stragglers(parts, 0.05, 0.5, resized=True)]
        lines.append([str(parts), *(f"{cell:.3g}" for cell in cells)])
    return table(["nodes", "noise 5 %", "noise 10 %", "5 %, one at half speed", "its part halved"], lines)


def lines(rows: list[Row], cluster: Cluster) -> dict[str, dict[str, list[tuple[int, Times]]]]:
    """What is drawn: PageRank and BFS at the lower bandwidth."""
    found: dict[str, dict[str, list[tuple[int, Times]]]] = {}
    families = {"rmat": f"R-MAT-{SCALE}", "web": "web, 100 billion arcs"}
    for family, title in families.items():
        if family == "web" and not any(row["graph"] == CRAWL for row in rows):
            continue
        for work, time in (("PageRank iteration", model.iteration), ("BFS", model.search)):
            found[f"{title}, {work}"] = {
                method: [(p, time(load(rows, family, method, p), cluster)) for p in NODES] for method in GENERATED
            }
    return found


if __name__ == "__main__":
    main()
