"""The graph files of a folder: which are read, which are refused and why, and which differ from another parser's graph.

    python -m bench.files FOLDER [--json]

Vertices, edges, the direction and the sum of weights are compared with those by igraph, where it can be imported,
networkx and scipy. The exit status is 1 where a file differs from all, or ends in an error that is not tgraph's.
"""

import argparse
import json
import sys
import warnings
from collections import Counter
from math import isclose, isnan, nan
from pathlib import Path

import networkx as nx
import scipy.io

import tgraph
from tgraph.errors import TGraphError
from tgraph.files.archives import is_archive
from tgraph.files.byte_stream import stem
from tgraph.io.edges import edges_of

KNOWN = {".dat", *(extension for extensions in tgraph.io.FORMATS.values() for extension in extensions)}
NETWORKX = {".graphml": nx.read_graphml, ".gexf": nx.read_gexf, ".net": nx.read_pajek, ".adjlist": nx.read_adjlist}
NETWORKX |= {".g6": nx.read_graph6, ".s6": nx.read_sparse6, ".gml": lambda path: nx.read_gml(path, label="id")}
NETWORKX[".json"] = lambda path: nx.node_link_graph(json.loads(path.read_text()), edges="links")
Figures = tuple[int, int, bool, float]  # vertices, edges, directed, sum of weights or NaN where edges are without


def by_tgraph(path: Path) -> Figures:
    graph = tgraph.read(path)
    weights = edges_of(graph)[2]
    return graph.num_vertices, graph.num_edges, graph.directed, nan if weights is None else float(weights.sum())


def by_igraph(path: Path) -> Figures:
    import igraph

    graph = igraph.Graph.Read_Lgl(str(path), directed=False) if path.suffix == ".lgl" else igraph.Graph.Read(str(path))
    weighted = "weight" in graph.es.attributes()
    return graph.vcount(), graph.ecount(), graph.is_directed(), sum(graph.es["weight"]) if weighted else nan


def by_networkx(path: Path) -> Figures:
    graph = NETWORKX[path.suffix](path)
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
    for parser in (by_scipy,) if path.suffix == ".mtx" else (by_igraph, by_networkx)[edge_list:]:
        try:
            theirs[parser.__name__] = parser(path)
        except Exception:  # a file that another parser refuses is compared with the others
            continue
    theirs = {name: each for name, each in theirs.items() if each[1] or not mine[1]}
    agrees = not theirs or any(
        mine[:3] == each[:3] and (isnan(mine[3] + each[3]) or isclose(mine[3], each[3], rel_tol=1e-6))
        for each in theirs.values()
    )
    return ("read", str(mine)) if agrees else ("wrong", f"{mine} instead of {theirs}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    files = sorted(each for each in arguments.folder.rglob("*") if each.is_file())
    graphs = [each for each in files if stem(each).suffix.lower() in KNOWN or is_archive(each)]
    found = {str(each.relative_to(arguments.folder)): outcome(each) for each in graphs}
    counts = Counter(kind for kind, _ in found.values())
    refused = [f"{kind:8} {name}: {detail}" for name, (kind, detail) in found.items() if kind != "read"]
    text = "\n".join((*sorted(refused, key=lambda line: line.split(": ", 1)[1]), str(counts)))
    print(json.dumps({"counts": counts, "files": found}) if arguments.json else text)
    sys.exit(bool(counts["wrong"] + counts["broken"]))
