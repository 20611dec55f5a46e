"""The graph files of a folder: which are read, which are refused and why, and which differ from another parser's graph.

    python -m bench.files FOLDER [--json]
    python -m bench.files --edges 500000 [--rounds 5] [--formats .graphml,.el]

Vertices, edges, the direction and the sum of weights are compared with those by igraph, where it can be imported,
networkx and scipy. The exit status is 1 where a file differs from all, or ends in an error that is not tgraph's.

With --edges, files of a random graph with weights and names, 16 edges to a vertex, are written in each format and timed
in turn: tgraph beside igraph, or beside networkx where igraph does not read the format; 1,200,000 edges are 100 MB of
GraphML. An edge list, of numbers alone, is read beside the bare parse of pyarrow.csv; the aim is twice its time.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
import warnings
from collections import Counter
from functools import partial
from math import isclose, isnan, nan
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import scipy.io
import torch
from pyarrow import csv

import tgraph
from bench.measure import timed
from tgraph.errors import TGraphError
from tgraph.files.archives import is_archive
from tgraph.files.byte_stream import stem
from tgraph.io.edges import edges_of

KNOWN = {".dat", *(extension for extensions in tgraph.io.FORMATS.values() for extension in extensions)}
read_adjlist = partial(nx.read_adjlist, create_using=nx.DiGraph)
NETWORKX = {".graphml": nx.read_graphml, ".gexf": nx.read_gexf, ".net": nx.read_pajek, ".adjlist": read_adjlist}
NETWORKX |= {".g6": nx.read_graph6, ".s6": nx.read_sparse6, ".gml": lambda path: nx.read_gml(path, label="id")}
NETWORKX[".json"] = lambda path: node_link(json.loads(path.read_text()))
MIXED = re.compile(  # marks of the direction of edges, in GraphML and Pajek
    rb'<edge [^>]*\bdirected=("true"|"false")|(?i:^\s*\*(arcs|edges)\b.*\n(?:%.*\n)*\s*\d)', re.MULTILINE
)
SPEED = (".graphml", ".gml", ".net", ".gexf", ".json", ".el")
Figures = tuple[int, int, bool, float]  # vertices, edges, directed, sum of weights or NaN where edges are without


def by_tgraph(path: Path) -> Figures:
    graph = tgraph.read(path)
    weights = edges_of(graph)[2]
    return graph.num_vertices, graph.num_edges, graph.directed, nan if weights is None else float(weights.sum())


def node_link(data: dict[str, Any]) -> nx.Graph:
    assert all("id" in node for node in data["nodes"])  # networkx gives others an id of its own, beside those of edges
    return nx.node_link_graph(data, edges="links" if "links" in data else "edges")


def read_igraph(path: Path) -> Any:
    import igraph

    return igraph.Graph.Read_Lgl(str(path), directed=False) if path.suffix == ".lgl" else igraph.Graph.Read(str(path))


def read_networkx(path: Path) -> nx.Graph:
    return NETWORKX[path.suffix.lower()](path)


def read_pyarrow(path: Path) -> pa.Table:
    """A lower bound for readers built on pyarrow: two integer columns from text."""
    names, spaced = csv.ReadOptions(column_names=["source", "target"]), csv.ParseOptions(delimiter=" ")
    integers = csv.ConvertOptions(column_types=dict.fromkeys(names.column_names, pa.int64()))
    return csv.read_csv(path, names, spaced, integers)


def by_pyarrow(path: Path) -> Figures:
    ends = read_pyarrow(path)
    return 1 + max(int(column.to_numpy().max()) for column in ends.columns), len(ends), True, nan


def by_igraph(path: Path) -> Figures:
    graph = read_igraph(path)
    weighted = "weight" in graph.es.attributes()
    return graph.vcount(), graph.ecount(), graph.is_directed(), sum(graph.es["weight"]) if weighted else nan


def by_networkx(path: Path) -> Figures:
    graph = read_networkx(path)
    weights = [value for *_, value in graph.edges(data="weight")]
    return len(graph), graph.number_of_edges(), graph.is_directed(), nan if None in weights else sum(weights)


def by_scipy(path: Path) -> Figures:
    rows, columns, *_, symmetry = scipy.io.mminfo(path)
    entries = scipy.sparse.coo_array(scipy.io.mmread(path, spmatrix=False))  # of both triangles
    if symmetry == "symmetric":
        return rows, (entries.nnz + (entries.row == entries.col).sum()) // 2, False, nan
    return rows if rows == columns else rows + columns, entries.nnz, rows == columns, nan


def outcome(path: Path) -> tuple[str, str]:
    """("read", "refused", "wrong" or "broken", details)"""
    try:
        mine = by_tgraph(path)
    except (TGraphError, OSError) as error:
        return "refused", str(error).replace(str(path), "FILE")
    except Exception as error:
        return "broken", f"{type(error).__name__}: {error}"
    theirs: dict[str, Figures] = {}  # igraph has the vertices 0..largest in an edge list
    edge_list = path.suffix in tgraph.io.FORMATS["edgelist"]
    if len({b"".join(each).lower() for each in MIXED.findall(path.read_bytes())}) > 1:
        return "read", str(mine)  # no other parser has edges of both kinds
    for parser in (by_scipy,) if path.suffix == ".mtx" else (by_igraph, by_networkx)[edge_list:]:
        try:
            theirs[parser.__name__] = parser(path)
        except Exception:  # a file that another parser refuses is compared with the others
            continue
    theirs = {name: each for name, each in theirs.items() if each[1]}  # some read what is not there as nothing
    agrees = not theirs or any(
        mine[:3] == each[:3] and (isnan(mine[3] + each[3]) or isclose(mine[3], each[3], rel_tol=1e-6))
        for each in theirs.values()
    )
    return ("read", str(mine)) if agrees else ("wrong", f"{mine} instead of {theirs}")


def in_turn(path: Path, rounds: int) -> str:
    """A line with the medians of the seconds that tgraph and another parser take for a file."""
    mine = by_tgraph(path)
    others = ((by_igraph, read_igraph), (by_networkx, read_networkx))
    for figures, read in ((by_pyarrow, read_pyarrow),) if path.suffix == ".el" else others:
        try:
            theirs = figures(path)
        except Exception:  # it reads no such format, or cannot be imported
            continue
        assert theirs[:2] == mine[:2], f"{path.name}: {theirs} instead of {mine}"
        taken = [[timed(each, path)[0] for each in (tgraph.read, read)] for _ in range(rounds)]
        ours, other = (statistics.median(each) for each in zip(*taken, strict=True))
        name = read.__name__.removeprefix("read_")
        return f"{path.stat().st_size / 1e6:6.1f} MB, tgraph {ours:.2f} s, {name} {other:.2f} s: {ours / other:.2f}"
    return "no other parser reads it"


def speed(edges: int, rounds: int, formats: list[str]) -> None:
    """Print the line of each format."""
    n = max(edges // 16, 1)
    ends = torch.randint(n, (2, edges), generator=torch.Generator().manual_seed(0))
    names = [f"n{i}" for i in range(n)]
    graph = tgraph.Graph.from_edges(*ends, torch.arange(edges) % 100, num_vertices=n, vertices=names)
    with tempfile.TemporaryDirectory() as folder:
        for extension in formats:
            path = Path(folder) / f"a{extension}"
            tgraph.write(tgraph.Graph.from_edges(*ends) if extension == ".el" else graph, path)
            print(f"{extension:8} {in_turn(path, rounds)}", flush=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--edges", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--formats", type=lambda text: text.split(","), default=[*SPEED])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.edges:
        speed(arguments.edges, arguments.rounds, arguments.formats)
        return
    if arguments.folder is None:
        parser.error("give a FOLDER, or --edges")
    files = sorted(each for each in arguments.folder.rglob("*") if each.is_file())
    graphs = [each for each in files if stem(each).suffix.lower() in KNOWN or is_archive(each)]
    found = {str(each.relative_to(arguments.folder)): outcome(each) for each in graphs}
    counts = Counter(kind for kind, _ in found.values())
    refused = [f"{kind:8} {name}: {detail}" for name, (kind, detail) in found.items() if kind != "read"]
    text = "\n".join((*sorted(refused, key=lambda line: line.split(": ", 1)[1]), str(counts)))
    print(json.dumps({"counts": counts, "files": found}) if arguments.json else text)
    sys.exit(bool(counts["wrong"] + counts["broken"]))


if __name__ == "__main__":
    main()
