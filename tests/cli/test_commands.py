"""The `tgraph` command: what it prints and writes, and how it fails."""

import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pandas
import pytest
import torch
from faults import heed_interrupts
from typer.testing import CliRunner

import tgraph as tg
from tgraph.cli import app
from tgraph.cli.topics import TOPICS
from tgraph.errors import TGraphError
from tgraph.files.byte_stream import stem

PROGRAMS = ("bfs", "sssp", "wcc", "pagerank", "hits")
FUNCTIONS = ("betweenness", "triangles", "clustering", "cores", "communities")
ALGORITHMS = PROGRAMS + FUNCTIONS
DATA = Path(__file__).parents[3] / "shared" / "data"
EDGES = "# a comment\n10 20 3\n10 30 1\n30 20 1\n20 40 5\n50 60 2\n"


@pytest.fixture
def file(tmp_path) -> Path:
    """Two components with arbitrary ids; vertex 10 has the largest out-degree."""
    path = tmp_path / "small.wel"
    path.write_text(EDGES)
    return path


def tgraph(*arguments, codes: tuple[int, ...] = (0,), given: str | None = None) -> str:
    """Run the command in this process and return what it printed, on stderr where it is to fail."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], given, catch_exceptions=False)
    assert result.exit_code in codes, result.output
    return result.stderr if codes[0] > 1 else result.stdout


def fails(*arguments) -> str:
    """Run a command that must fail for its use or data, with one line on stderr; return the line."""
    message = tgraph(*arguments, codes=(2, 3))
    assert message.startswith("tgraph: ") and message.count("\n") == 1 and message.endswith("\n"), message
    return message


def column(path: Path, name: str) -> dict:
    table = pandas.read_csv(path) if path.suffix == ".csv" else pandas.read_parquet(path)
    return dict(zip(table["vertex"], table[name], strict=True))


# ---- algorithms ---------------------------------------------------------------------------------------------------


def test_bfs_starts_at_the_vertex_of_largest_out_degree_and_reports_it(file):
    shown = tgraph("bfs", file)
    assert f"{file}: 6 vertices, 5 edges, directed, read in" in shown
    assert "from vertex 10, the one of largest out-degree" in shown
    assert re.search(r"iterations 3, direction switches \d, time [\d.]+ [mµ]?s, .+ edges/s", shown)
    assert "reached 4 of 6 vertices, depth 2" in shown


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_bfs_writes_depths_by_original_id(file, tmp_path, extension):
    output = tmp_path / f"depth.{extension}"
    assert f"result: {output}" in tgraph("bfs", file, "--source", 30, "--output", output)
    assert column(output, "depth") == {10: -1, 20: 1, 30: 0, 40: 2, 50: -1, 60: -1}


def test_bfs_options(file):
    assert "reached 3 of 6 vertices, depth 1" in tgraph("bfs", file, "--max-depth", 1)
    assert "reached 4 of 6 vertices, depth 2" in tgraph("bfs", file, "--undirected", "--source", 40, "--mode", "pull")


def test_sssp_uses_the_weights_unless_disabled(file, tmp_path):
    output = tmp_path / "distance.csv"
    assert "the farthest at distance 7" in tgraph("sssp", file, "--output", output)
    assert column(output, "distance") == {10: 0, 20: 2, 30: 1, 40: 7, 50: -1, 60: -1}
    assert "the farthest at distance 2" in tgraph("sssp", file, "--weights", "none")
    assert "the farthest at distance 7" in tgraph("sssp", file, "--weights", 3, "--delta", 1)


def test_wcc_names_components_by_original_id(file, tmp_path):
    output = tmp_path / "component.csv"
    assert "2 components, the largest of 4 of 6 vertices" in tgraph("wcc", file, "--output", output)
    assert column(output, "component") == {10: 10, 20: 10, 30: 10, 40: 10, 50: 50, 60: 50}


@pytest.mark.parametrize("options", [(), ("--weighted",)])
def test_pagerank_is_that_of_networkx(file, tmp_path, options):
    output = tmp_path / "rank.parquet"
    shown = tgraph("pagerank", file, "--tol", 1e-6, "--output", output, *options)
    assert "top 5: 40 (" in shown
    digraph = nx.parse_edgelist(EDGES.splitlines(), create_using=nx.DiGraph, nodetype=int, data=(("weight", int),))
    expected = nx.pagerank(digraph, tol=1e-10, weight="weight" if options else None)
    assert column(output, "rank") == pytest.approx(expected, abs=1e-5)


def test_hits_writes_both_scores(file, tmp_path):
    output = tmp_path / "scores.csv"
    shown = tgraph("hits", file, "--output", output)
    assert re.search(r"top 5 hubs: 10, .*; authorities: 20, ", shown)
    table = pandas.read_csv(output)
    assert list(table.columns) == ["vertex", "hub", "authority"]
    assert table[["hub", "authority"]].sum().tolist() == pytest.approx([1, 1], abs=1e-5)


@pytest.mark.parametrize("name", ["louvain", "leiden", "ecg", "label-propagation"])
def test_communities_are_named_by_their_smallest_vertices(name, file, tmp_path):
    output = tmp_path / "found.csv"
    shown = tgraph(name, file, "--undirected", "--output", output, "--seed", "3")
    assert "2 communities, the largest of 4 of 6 vertices, modularity 0.3200 of" in shown
    assert column(output, "community") == {10: 10, 20: 10, 30: 10, 40: 10, 50: 50, 60: 50}


# What is no command, and why.
NO_COMMAND = {
    "louvain_levels": "louvain gives the last of them",
    "modularity": "of a partition, which the commands of communities print",
    "partition_quality": "of a partition",
    "community_cuts": "of a partition",
    "astar_path": "its bounds are a tensor",
    "shortest_path_length": "path tells it",
    "maximum_flow_value": "flow tells it",
    "minimum_cut_value": "cut tells it",
    "information": "another name of current-flow-closeness",
    "average_clustering": "clustering tells it",
    "matching_weight": "of a matching, which the command tells",
    "soft_shortest_paths": "for gradients",
    "k_core": "a part of what cores tells",
    "k_shell": "a part of what cores tells",
    "k_truss": "a part of what trusses tells",
    "k_clique_count": "its number of vertices has no default",
    "maximal_clique_sizes": "a part of what cliques tells",
    "maximum_spanning_forest": "spanning-forest with other weights",
    **dict.fromkeys(
        ("jaccard", "overlap", "sorensen", "cosine", "common_neighbors", "adamic_adar", "resource_allocation"),
        "of given pairs; similar has the best by each of these measures",
    ),
    "preferential_attachment": "of given pairs",
    **dict.fromkeys(
        ("compose", "intersection", "difference", "symmetric_difference", "disjoint_union", "union"), "of two graphs"
    ),
    **dict.fromkeys(("k_hop", "induced_subgraph"), "of given vertices; ego has those around one"),
    **dict.fromkeys(("quotient_graph", "attribute_assortativity", "numeric_assortativity"), "of data of the vertices"),
    **dict.fromkeys(("power_law_fit", "power_law_p_value", "PowerLaw"), "degrees tells it"),
    "all_pairs": "an iterator over more than fits",
    "biconnected_edges": "biconnected tells the vertices",
    "is_dag": "cycle tells it",
    "dag_longest_path_length": "longest-path tells it",
    "is_bipartite": "odd-cycle tells it",
}


def test_every_algorithm_is_a_command():
    runs = {row.run for commands in TOPICS.values() for row in commands.values()}
    public = {plain(name) for name in tg.algorithms.__all__ if not name.startswith("Plain")}  # programs, not options
    assert set(map(plain, runs)) == public - {plain(name) for name in NO_COMMAND}


def plain(name: str) -> str:
    """The same for a program and the function that runs it."""
    return name.lower().replace("_", "")


# Of the graph of EDGES without directions: 10, 20 and 30 are a triangle, 40 hangs on it, 50 and 60 are apart.
FOUND = {
    "betweenness": ({10: 0, 20: 2, 30: 0, 40: 0, 50: 0, 60: 0}, "top 5: 20 (2), 10 (0)"),
    "triangles": ({10: 1, 20: 1, 30: 1, 40: 0, 50: 0, 60: 0}, "1 triangle; top 5: 10 (1)"),
    "clustering": ({10: 1, 20: 1 / 3, 30: 1, 40: 0, 50: 0, 60: 0}, "0.3889 on average; top 5: 10 (1), 30 (1), 20 (0.3"),
    "core": ({10: 2, 20: 2, 30: 2, 40: 1, 50: 1, 60: 1}, "core numbers up to 2, that of 3 of 6 vertices"),
    "community": ({10: 10, 20: 10, 30: 10, 40: 10, 50: 60, 60: 50}, "3 communities, the largest of 4 of 6 vertices"),
}


@pytest.mark.parametrize(("name", "found"), list(zip(FUNCTIONS, FOUND, strict=True)))
def test_functions_write_what_they_find(name, found, file, tmp_path):
    output, options = tmp_path / "found.csv", {"betweenness": ["--no-normalized"], "communities": ["--iterations", "9"]}
    shown = tgraph(name, file, "--undirected", "--output", output, "--backend", "auto", *options.get(name, []))
    values, line = FOUND[found]
    assert column(output, found) == pytest.approx(values)
    assert re.search(r"\ntime [\d.]+ [mµ]?s\n", shown) and line in shown


def test_paths_by_original_id(file, tmp_path):
    output = tmp_path / "path.csv"
    shown = tgraph("path", file, "--source", 10, "--target", 40, "--output", output)
    assert "2 arcs: 10 -> 20 -> 40" in shown and "all edges count alike (--weighted: by their weights)" in shown
    assert pandas.read_csv(output)["vertex"].tolist() == [10, 20, 40]
    shown = tgraph("path", file, "--target", 40, "--weighted")
    assert "3 arcs: 10 -> 30 -> 20 -> 40" in shown and "alike" not in shown
    assert "there is no path" in tgraph("path", file, "--target", 50)
    assert "--target: name a vertex" in fails("path", file)
    shown = tgraph("paths", file, "--target", 40, "--weighted", "--count", 3, "--output", output)
    assert "length 7, 3 arcs: 10 -> 30 -> 20 -> 40\nlength 8, 2 arcs: 10 -> 20 -> 40" in shown
    assert pandas.read_csv(output)["path"].tolist() == [0] * 4 + [1] * 3
    assert "a flow of 4 along 4 arcs" in tgraph("flow", file, "--target", 40, "--output", output)
    assert pandas.read_csv(output)["flow"].tolist() == [3, 1, 4, 1]
    assert "a cut of capacity 4, 5 of 6 vertices" in tgraph("cut", file, "--target", 20, "--output", output)
    assert "4 of 5 arcs" not in tgraph("predecessors", file, "--output", output)
    assert pandas.read_csv(output).to_numpy().tolist() == [[20, 10], [30, 10], [40, 20]]
    assert "reached 4 of 6 vertices, distances 0 to 7" in tgraph("bellman-ford", file, "--output", output)
    assert pandas.read_csv(output).to_numpy().tolist() == [[10, 0, 10], [20, 2, 30], [30, 1, 10], [40, 7, 20]]
    assert "reached 4 of 6 vertices, the narrowest path 1" in tgraph("widest", file)
    assert "no cycle" in tgraph("negative-cycle", file)
    file.write_text(EDGES + "20 10 -9\n")
    assert "a cycle of 2 vertices has a negative weight: " in tgraph("negative-cycle", file)
    assert "has a negative weight" in fails("bellman-ford", file)


def test_distances(file, tmp_path):
    file.write_text("10 20\n20 30\n30 40\n")
    output = tmp_path / "found.csv"
    assert "diameter 3" in tgraph("diameter", file, "--undirected", "--output", output)
    assert pandas.read_csv(output)["diameter"].tolist() == [3]
    assert "radius 2" in tgraph("radius", file, "--undirected")
    assert "radius 2, diameter 3" in tgraph("eccentricity", file, "--undirected", "--output", output)
    assert column(output, "eccentricity") == {10: 3, 20: 2, 30: 2, 40: 3}
    assert "2 of 4 vertices: 20, 30" in tgraph("center", file, "--undirected", "--output", output)
    assert pandas.read_csv(output)["vertex"].tolist() == [20, 30]
    assert "2 of 4 vertices: 10, 40" in tgraph("periphery", file, "--undirected")
    assert "no path leads from vertex 20 to 10" in fails("diameter", file)


def test_components_by_original_id(file, tmp_path):
    output = tmp_path / "found.csv"

    def written(*arguments):
        tgraph(*arguments, "--output", output)
        return pandas.read_csv(output).to_numpy().tolist()

    assert "6 components, the largest of 1 of 6 vertices" in tgraph("scc", file)
    assert "6 strongly connected components, 5 arcs between them" in tgraph("condensation", file, "--output", output)
    assert written("attracting", file) == [[40, 40], [60, 60]]
    assert "3 biconnected components, the largest of 3 of 6" in tgraph("biconnected", file, "--undirected")
    assert written("biconnected", file, "--undirected")[:3] == [[0, 10], [0, 20], [0, 30]]
    assert "1 of 6 vertices: 20" in tgraph("articulation", file, "--undirected", "--output", output)
    assert "2 of 5 edges: 20 - 40, 50 - 60" in tgraph("bridges", file, "--undirected")
    assert written("bridges", file, "--undirected") == [[20, 40], [50, 60]]


def test_graphs_without_cycles_by_original_id(file, tmp_path):
    output = tmp_path / "found.csv"
    assert "6 of 6 vertices: 10, 50, 30, 60, 20, 40" in tgraph("topological", file)
    assert "4 generations, the largest of 2 of 6" in tgraph("generations", file, "--output", output)
    assert column(output, "generation") == {10: 0, 20: 2, 30: 1, 40: 3, 50: 0, 60: 1}
    assert "3 arcs: 10 -> 30 -> 20 -> 40" in tgraph("longest-path", file)
    assert "2 arcs: 10 -> 20 -> 40" in tgraph("longest-path", file, "--weighted")
    assert "there is no such cycle" in tgraph("cycle", file)
    assert "7 of 5 arcs" in tgraph("transitive-closure", file, "--output", output)
    assert "4 of 5 arcs" in tgraph("transitive-reduction", file)
    file.write_text(EDGES + "40 10 1\n")
    assert "a cycle of 3 of 6 vertices: 10, 20, 40" in tgraph("cycle", file)
    assert "it has a cycle" in fails("topological", file)


def test_colours_by_original_id(file, tmp_path):
    output = tmp_path / "found.csv"
    for options in ([], ["--strategy", "smallest_last"], ["--strategy", "random_sequential", "--seed", 2]):
        assert "3 colours" in tgraph("color", file, "--undirected", "--output", output, *options)
    assert "a cycle of 3 of 6 vertices: " in tgraph("odd-cycle", file)
    assert "not bipartite" in fails("bipartite", file)
    file.write_text("1 2\n2 3\n")
    assert "2 colours" in tgraph("bipartite", file, "--output", output)
    assert column(output, "side") == {1: 0, 2: 1, 3: 0}


def test_betweenness_draws_sources(file):
    shown = tgraph("betweenness", file, "--undirected", "--k", 6, "--seed", 1, "--endpoints")
    assert shown.splitlines()[-1] == tgraph("betweenness", file, "--undirected", "--endpoints").splitlines()[-1]
    assert "k: 7 of the 6 vertices cannot be drawn" in fails("betweenness", file, "--k", 7)


@pytest.mark.parametrize("output", ["found.csv", "found.parquet"])
def test_values_of_edges(file, tmp_path, output):
    shown = tgraph("edge-betweenness", file, "--undirected", "--no-normalized", "--output", tmp_path / output)
    assert "top 5: 20 - 40 (3), 10 - 20 (2)" in shown
    read = pandas.read_csv if output.endswith("csv") else pandas.read_parquet
    table = read(tmp_path / output).set_index(["source", "target"])["betweenness"]
    assert table.to_dict() == {(10, 20): 2, (10, 30): 1, (20, 30): 2, (20, 40): 3, (50, 60): 1}


CENTRALITIES = (
    "degree",
    "closeness",
    "harmonic",
    "eigenvector",
    "katz",
    "laplacian",
    "subgraph",
    "load",
    "percolation",
)


@pytest.mark.parametrize("name", CENTRALITIES)
def test_centralities_rank_the_hub_of_a_star_first(name, tmp_path):
    path, output = tmp_path / "star.el", tmp_path / "found.csv"
    path.write_text("7 1\n7 2\n7 3\n7 4\n")
    assert "top 5: 7 (" in tgraph(name, path, "--undirected", "--output", output)
    assert len(column(output, name)) == 5


# ---- what was read ------------------------------------------------------------------------------------------------


TABLE = "from,to,cost,name\n1,2,5,x\n"


@pytest.mark.parametrize(
    ("name", "text", "options", "said"),
    [
        ("t.csv", TABLE, [], "edges from columns 'from', 'to', no weights; left out: column 'cost' "
         "(--weights cost takes weights from there), column 'name'"),
        ("t.csv", TABLE, ["--weights", "cost"], "weights from column 'cost' (--weights none: without); left "
         "out: column 'name'"),
        ("t.txt", "1 2 5 9\n", [], "edges from columns 1, 2, weights from column 3 (--weights none: without); left "
         "out: column 4 (--weights 4 takes"),
        ("t.txt", "1 2 5 9\n", ["--weights", "none"], "no weights; left out: columns 3, 4 (--weights 3 or --weights 4"),
        ("t.txt", "1 2\n", [], "edges from columns 1, 2, no weights"),
        ("t.gr", "p sp 2 1\na 1 2 5\n", [], "with weights (--weights none: without)"),
    ],
)  # fmt: skip
def test_the_columns_read_are_reported(name, text, options, said, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    result = CliRunner().invoke(app, ["sssp", str(path), *options])
    assert said in result.stdout.splitlines()[0] and result.stderr == ""
    hops = "counting hops: the graph has no weights" in result.stdout.splitlines()[-1]
    assert hops == ("no weights" in said)


def test_verify(file, tmp_path):
    tgraph("convert", file, tmp_path / "some.tg")
    assert re.search(r"some.tg: [\d.]+ kB as they were written, verified in", tgraph("verify", tmp_path / "some.tg"))
    content = bytearray((tmp_path / "some.tg").read_bytes())
    content[-1] ^= 1
    (tmp_path / "some.tg").write_bytes(content)
    assert "the checksum of the tensor 'neighbors' differs" in fails("verify", tmp_path / "some.tg")
    assert "only .tg files have checksums" in fails("verify", file)


def test_vertices_with_text_ids(tmp_path):
    path, output = tmp_path / "names.txt", tmp_path / "component.csv"
    path.write_text("ann bob\nbob 7\ncid dan\n")
    assert "from vertex ann" in tgraph("bfs", path)
    assert "reached 1 of 5 vertices" in tgraph("bfs", path, "--source", "7")  # a name that looks like a number
    tgraph("wcc", path, "--output", output)
    assert column(output, "component")["dan"] == "cid"


def test_a_report_and_a_trace_are_pages(file, tmp_path):
    shown = tgraph("report", file, "--output", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.search(r"report\.html: written in", shown) and f"<bdi>{Path(file).name}</bdi>" in page
    assert "6 vertices and 5 edges" in page
    tgraph("report", file, "--output", tmp_path / "report.html", "--title", "<Roads>")
    assert "<bdi>&lt;Roads&gt;</bdi>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "trace: " in tgraph("bfs", file, "--trace", tmp_path / "trace.html")
    assert "Trace of BFS" in (tmp_path / "trace.html").read_text(encoding="utf-8")


def test_trace_and_progress(file, tmp_path):
    picture = tmp_path / "trace.png"
    result = CliRunner().invoke(app, ["bfs", str(file), "--trace", str(picture), "--progress"])
    assert result.exit_code == 0 and f"trace: {picture}" in result.stdout
    assert "BFS" in result.stderr and "small.wel" in result.stderr, "a bar for reading and one for the run"
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_graphs_without_edges(algorithm, tmp_path):
    path = tmp_path / "isolated.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 0\n")
    assert "3 vertices, 0 edges" in tgraph(algorithm, path)


# ---- other commands -----------------------------------------------------------------------------------------------


def test_info(tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text("1 2 0.5\n1 2 2\n2 2 1\n9 1 1\n")
    lines = dict(re.findall(r"(?m)^([a-z -]+): +(.*)$", tgraph("info", path)))
    assert lines["self-loops"] == "1" and lines["parallel edges"] == "1" and lines["isolated vertices"] == "0"
    assert lines["out-degree"] == "1.33 on average, 2 at most (vertex 1)"
    assert lines["weights"] == "float64, 0.5 to 2"
    assert lines["vertex ids"] == "integers, such as 1, 2, 9"
    undirected = tgraph("info", path, "--undirected")
    assert re.search(r"parallel edges: +1\n", undirected), "an undirected edge is counted once"


def test_info_of_a_graph_that_streams(tmp_path):
    path, blocks = tmp_path / "grid.tg", tmp_path / "blocks.tg"
    graph = tg.generators.rmat(8, 8, 1, directed=True, weighted=True)
    tg.write(graph, path)
    tgraph("partition", path, "--parts", "8", "--output", blocks)
    shown = tgraph("info", blocks, "--memory", "100kB")
    assert "layout:             streamed" in shown
    expected = tgraph("info", path).splitlines()
    for line in expected[1:]:
        assert line in shown or line.startswith(("layout", "memory"))


def test_convert_keeps_the_graph(file, tmp_path):
    container = tmp_path / "small.tg"
    assert f"{container}: 6 vertices, 5 edges, directed" in tgraph("convert", file, container)
    graph = tg.read(container)
    assert graph.vertices.tolist() == [10, 20, 30, 40, 50, 60] and graph.weights.tolist() == [3, 1, 5, 1, 2]


def test_convert_warns_in_one_line_of_what_is_lost(tmp_path):
    tg.write(tg.Graph.from_edges([0], [1], num_vertices=3), tmp_path / "in.tg")
    result = CliRunner().invoke(app, ["convert", str(tmp_path / "in.tg"), str(tmp_path / "out.el")])
    assert result.exit_code == 0
    assert result.stderr.startswith("tgraph: warning: ") and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("rmat", "--scale", 6, "--seed", 3), tg.generators.rmat(6, seed=3)),
        (("rmat", "--scale", 5, "--directed", "--weighted"), tg.generators.rmat(5, directed=True, weighted=True)),
        (("uniform", "--scale", 6, "--edge-factor", 4), tg.generators.uniform(6, 4)),
        (("grid", "--rows", 3, "--columns", 4, "--weighted"), tg.generators.grid2d(3, 4, weighted=True)),
        (("erdos-renyi", "--n", 50, "--p", 0.1, "--directed"), tg.generators.erdos_renyi(50, 0.1, directed=True)),
        (("regular", "--n", 20, "--degree", 3), tg.generators.random_regular(20, 3)),
        (("hyperbolic", "--n", 50, "--degree", 2.5), tg.generators.hyperbolic(50, 2.5)[0]),
        (("lfr", "--n", 200, "--max-degree", 20), tg.generators.lfr(200, max_degree=20)[0]),
    ],
)
def test_generate(arguments, expected, tmp_path):
    kind, *options = arguments
    tgraph("generate", kind, tmp_path / "made.tg", *options)
    made = tg.read(tmp_path / "made.tg")
    assert torch.equal(made.offset, expected.offset) and torch.equal(made.neighbors, expected.neighbors)
    assert made.directed == expected.directed and (made.weights is None) == (expected.weights is None)


def test_demo_on_a_file(file, tmp_path):
    picture = tmp_path / "five.svg"
    shown = tgraph("demo", file, "--picture", picture)
    rows = re.findall(r"(?m)^(BFS|SSSP|WCC|PageRank|HITS) +(\d+) +(\d+) +[\d.]+ [mµ]?s +[\d.]+ ?[kMG]? +(.+)$", shown)
    assert [row[0] for row in rows] == ["BFS", "SSSP", "WCC", "PageRank", "HITS"]
    assert rows[1][3] == "reached 4 of 6 vertices, the farthest at distance 7"
    assert "edges/s: the edges that leave the active vertices" in shown
    drawn = picture.read_text()
    assert drawn.startswith("<?xml") and "</svg>" in drawn


def test_demo_without_a_file_generates_a_graph(tmp_path):
    shown = tgraph("demo", "--picture", tmp_path / "demo.png")
    assert "a generated scale-free graph (R-MAT): 65536 vertices" in shown
    assert (tmp_path / "demo.png").stat().st_size > 10_000


def test_a_run_that_does_not_converge_has_a_row_too(tmp_path):
    path = tmp_path / "made.tg"
    tg.write(tg.generators.grid2d(1, 200), path)  # a path: its largest eigenvalues are close, so that HITS is slow
    assert re.search(r"HITS +1000, not converged", tgraph("demo", path, "--picture", tmp_path / "demo.png"))


def test_help_and_version():
    shown = tgraph()
    for command in (*ALGORITHMS, "info", "convert", "generate", "demo", "doctor"):
        assert command in shown
    assert tgraph("--version") == f"tgraph {tg.__version__}\n"
    assert "--source <" in tgraph("bfs", "--help") and "--source <" not in tgraph("wcc", "--help")


# ---- partitions ---------------------------------------------------------------------------------------------------


def test_partition_prints_every_part_and_draws_them(file, tmp_path):
    picture = tmp_path / "parts.png"
    shown = tgraph("partition", file, "--parts", "2", "--directed", "--picture", picture)
    assert re.search(r"ebp: 2 parts in [\d.]+ [mµ]?s\n", shown)
    assert "part  vertices  arcs  arcs inside  arcs out\n0            1     2            0         2\n" in shown
    assert "1            5     3            3         0\nbalance 1.200, cut 2 of 5 arcs (40.00%)\n" in shown
    assert f"picture: {picture}\n" in shown and picture.stat().st_size > 10_000


@pytest.mark.parametrize("method", ["ebp", "wcp", "metis"])
def test_partition_by_every_method(method, tmp_path):
    path = tmp_path / "grid.tg"
    tg.write(tg.generators.grid2d(20, 20), path)
    shown = tgraph("partition", path, "--parts", "4", "--method", method, "--seed", "3")
    rows = [[int(cell.replace(",", "")) for cell in row.split()] for row in re.findall(r"(?m)^\d .*$", shown)]
    part, vertices, arcs, inside, outside = zip(*rows, strict=True)
    assert part == (0, 1, 2, 3) and sum(vertices) == 400 and sum(arcs) == 1520
    assert f"cut {sum(outside)} of 1520 arcs" in shown and sum(inside) + sum(outside) == 1520
    assert f"balance {max(arcs) / 380:.3f}" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--parts", "0"), "Invalid value for '--parts'"),
        (("--parts", "2", "--method", "best"), "--method: 'best' is not one of ebp, wcp, metis"),
        (("--parts", "2", "--picture", "parts.txt"), "none of the extensions of a picture"),
        ((), "Missing option '--parts'"),
    ],
)
def test_partition_mistakes(file, options, message):
    assert message in fails("partition", file, *options)


@pytest.mark.parametrize("method", ["ebp", "wcp"])
def test_blocks_are_written_and_read_within_a_memory(method, tmp_path):
    path, blocks, table = tmp_path / "grid.tg", tmp_path / "blocks.tg", tmp_path / "table.csv"
    tg.write(tg.generators.grid2d(30, 30), path)
    shown = tgraph("partition", path, "--parts", "8", "--method", method, "--output", blocks)
    assert f"blocks: {blocks}\n" in shown
    held = tg.open(blocks, "100kB")
    assert held.layout.source.num_blocks == 8
    for algorithm in PROGRAMS:
        options = ("--memory", "100kB", "--checkpoint", tmp_path / "run.ckpt", "--progress")
        shown = tgraph(algorithm, blocks, *options, "--output", table)
        assert "900 vertices, 3480 arcs, opened\n" in shown
        found = pandas.read_csv(table)
        assert tgraph(algorithm, path, "--memory", "300kB").splitlines()[0].endswith("3480 arcs, opened")
        tgraph(algorithm, path, "--output", table)
        expected = pandas.read_csv(table).set_index("vertex")
        if algorithm == "pagerank":
            assert (found.set_index("vertex").sort_index() - expected.sort_index()).abs().max().max() < 1e-6
        if algorithm == "wcc":
            assert found["component"].nunique() == 1
    assert {entry.name for entry in tmp_path.iterdir()} == {"grid.tg", "blocks.tg", "table.csv"}


def test_files_of_edges_as_blocks(tmp_path):
    (tmp_path / "a.el").write_text("1 2\n2 3\n")
    (tmp_path / "b.el").write_text("3 9\n")
    out = tmp_path / "blocks.tg"
    shown = tgraph("convert", tmp_path / "a.el", tmp_path / "b.el", out)
    assert shown.startswith(f"{out}: 4 vertices, 3 arcs in 1 blocks, of 2 files, converted in ")
    assert tg.read(out).vertices.tolist() == [1, 2, 3, 9]
    assert "3 arcs in 3 blocks" in tgraph("convert", tmp_path / "a.el", tmp_path / "b.el", out, "--parts", "3")
    assert "of 1 file," in tgraph("convert", tmp_path / "a.el", out, "--memory", "1MB", "--undirected")
    assert tg.read(out).num_arcs == 4 and "opened" in tgraph("wcc", out, "--memory", "1MB")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("convert", "{file}", "{folder}/some.npz", "--parts", "2"), "several files or processes ask for one"),
        (("convert", "{file}", "{folder}/some.tg", "--parts", "2", "--reorder", "degree"), "--format, --reorder: "),
        (("convert", "{file}", "{folder}/some.tg", "--memory", "100"), "--memory: 100 bytes cannot hold the ids"),
        (("bfs", "{file}", "--memory", "1MB"), "--memory: {file} is no .tg file; tgraph convert or tgraph partition"),
        (("bfs", "{folder}/plain.tg", "--memory", "1MB", "--multi", "sum"), "--memory: a .tg file is read as"),
        (("bfs", "{folder}/blocks.tg", "--memory", "little"), "memory: 'little' is no amount"),
        (("bfs", "{folder}/blocks.tg", "--memory", "100"), "needs at least"),
        (("bfs", "{file}", "--checkpoint", "{folder}/none/run"), "{folder}/none/run cannot be written"),
        (("partition", "{file}", "--parts", "2", "--output", "{folder}/blocks.npz"), "--output: a partitioned graph"),
    ],
)
def test_mistakes_with_blocks(file, tmp_path, command, message):
    tg.write(tg.generators.grid2d(30, 30), tmp_path / "plain.tg")
    tgraph("partition", file, "--parts", "2", "--output", tmp_path / "blocks.tg")
    places = {"file": file, "folder": tmp_path}
    assert message.format(**places) in fails(*(part.format(**places) for part in command))


# ---- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("bfs", "{file}", "--source", "11"), "no vertex is called 11"),
        (("bfs", "{file}", "--source", "x"), "not integers"),
        (("bfs", "{file}", "--source", "9" * 30), "9999"),
        (("bfs", "{folder}/none.txt"), "none.txt: No such file or directory"),
        (("bfs", "{folder}/broken.txt"), "broken.txt, line 2"),
        (("bfs", "{folder}/graph.xyz"), "unknown extension '.xyz'"),
        (("bfs", "{folder}"), "tgraph: "),
        (("bfs", "{file}", "--format", "xyz"), "'xyz' is not one of"),
        (("bfs", "{file}", "--device", "nowhere"), "--device: 'nowhere' cannot be used here"),
        (("bfs", "{file}", "--device", "meta"), "--device: 'meta' cannot be used here"),
        (("bfs", "{file}", "--output", "{folder}/x.txt"), "none of the extensions .parquet, .csv"),
        (("bfs", "{file}", "--output", "{folder}/no/x.csv"), "no folder"),
        (("bfs", "{file}", "--trace", "{folder}/x.txt"), "extensions of a picture"),
        (("report", "{file}", "--output", "{folder}/x.txt"), "extensions of a page, .html, .htm"),
        (("bfs", "{file}", "--backend", "abacus"), "backend: 'abacus'"),
        (("bfs", "{file}", "--mode", "sideways"), "sideways"),
        (("bfs", "{file}", "--multi", "some"), "multi: 'some'"),
        (("bfs", "{file}", "--weights", "load"), "weight"),
        (("bfs", "{file}", "--max-depth", "-1"), "--max-depth"),
        (("bfs", "{file}", "--nonsense"), "--nonsense"),
        (("bfs",), "Missing argument"),
        (("--nonsense",), "--nonsense"),
        (("nonsense",), "nonsense"),
        (("bfs", "{folder}/empty.mtx"), "no vertex to start from"),
        (("sssp", "{folder}/negative.txt"), "need weights that are not negative"),
        (("pagerank", "{file}", "--max-iterations", "1"), "has not converged after 1 iterations"),
        (("convert", "{file}", "{folder}/graph.xyz"), "unknown extension '.xyz'"),
        (("convert", "{file}", "{folder}/no/graph.tg"), "no folder"),
        (("convert", "{file}"), "Missing argument"),
        (("generate", "rmat", "{folder}/x.tg", "--scale", "99"), "scale: 99"),
        (("generate",), "Missing command"),
        (("demo", "{folder}/none.txt"), "none.txt: No such file or directory"),
        (("demo", "--picture", "{folder}/x.gifx"), "extensions of a picture"),
        (("info",), "Missing argument"),
        (("bridges", "{file}"), "directed, and this is for undirected graphs; read it with --undirected"),
        (("random-walks", "{folder}/plain.txt", "--weighted"), "--weighted: the graph has no weights; leave --"),
        (("louvain", "{folder}/plain.txt", "--undirected", "--weighted"), "leave --weighted out, or name them by --we"),
        (("diameter", "{file}"), "so that distances have no bound; write a component of it to a file, and take that"),
        (("bfs", "{file}", "--max-depth", "1", "--backend", "scatter"), "; use --backend auto"),
    ],
)  # fmt: skip
def test_a_mistake_gives_one_line_and_exit_code_2(arguments, part, file, tmp_path):
    (tmp_path / "broken.txt").write_text("1 2\n3\n")
    (tmp_path / "negative.txt").write_text("1 2 -1\n")
    (tmp_path / "plain.txt").write_text("1 2\n")
    (tmp_path / "empty.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n0 0 0\n")
    assert part in fails(*(argument.format(file=file, folder=tmp_path) for argument in arguments))


def test_outputs_are_checked_before_any_work(tmp_path):
    missing = tmp_path / "none.txt"  # were the file opened first, the message would be about it
    for option in ("--output", "--trace"):
        assert "x.txt" in fails("wcc", missing, option, tmp_path / "x.txt")
    assert "unknown extension" in fails("convert", missing, tmp_path / "x.xyz")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_output(file, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    assert "Permission denied" in fails("wcc", file, "--output", locked / "x.csv")


def test_a_failed_write_leaves_no_part_of_a_file(file, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device", "x.csv")

    monkeypatch.setattr(pandas.DataFrame, "to_csv", fail)
    before = sorted(tmp_path.iterdir())
    assert fails("wcc", file, "--output", tmp_path / "x.csv") == "tgraph: x.csv: No space left on device\n"
    assert sorted(tmp_path.iterdir()) == before


def test_an_internal_error_keeps_its_traceback(file, monkeypatch):
    def fail(*arguments, **options):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(tg, "run", fail)
    with pytest.raises(ZeroDivisionError):
        tgraph("wcc", file)


# ---- as a process -------------------------------------------------------------------------------------------------

COMMAND = (sys.executable, "-m", "tgraph")


def test_the_installed_command(file):
    """Also where the home is not there, and Python writes no bytecode."""
    environment = os.environ | {"HOME": "/proc/nohome", "PYTHONDONTWRITEBYTECODE": "1"}
    pipes = {"capture_output": True, "text": True, "cwd": file.parent, "env": environment}
    done = subprocess.run([*COMMAND, "wcc", str(file)], **pipes)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout.endswith("2 components, the largest of 4 of 6 vertices\n")


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_interrupt_gives_one_line_and_exit_code_130(tmp_path):
    """With damping 1 the ranks of a star oscillate, so that the run never ends."""
    star = tmp_path / "star.el"
    star.write_text("0 1\n0 2\n0 3\n")
    endless = ["pagerank", str(star), "--undirected", "--damping", "1", "--tol", "0", "--max-iterations", str(10**9)]
    command = [*COMMAND, *endless, "--progress"]  # which says that it runs
    with subprocess.Popen(command, preexec_fn=heed_interrupts, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            seen = b""
            while b"active]" not in seen:
                seen += (more := os.read(process.stderr.fileno(), 1 << 16))
                assert more, seen
            process.send_signal(signal.SIGINT)
            seen += process.communicate(timeout=60)[1]
        finally:
            process.kill()
    bars = re.compile(r"|(star\.el|PageRank): .*")
    said = [line for line in re.split(r"[\r\n]+", seen.decode()) if not bars.fullmatch(line)]
    assert (process.returncode, said) == (130, ["tgraph: interrupted"])


def test_an_interrupt_of_imports_that_lose_it(tmp_path):
    """A package that clears whatever is raised while it is imported."""
    (tmp_path / "typer.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept BaseException:\n    pass\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    options = {"preexec_fn": heed_interrupts, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([*COMMAND, "doctor"], **options)
    assert (done.returncode, done.stderr, done.stdout) == (130, "tgraph: interrupted\n", "")


# ---- real graphs --------------------------------------------------------------------------------------------------


# Third columns that are times, not weights; and the files that belong to one .e.
TIMES = ("CollegeMsg.txt.gz", "sx-mathoverflow.txt.gz")
SAME_GRAPH = (".v", ".properties")
# The scores of meshes and roads settle slowly, and the paths from all vertices take as many searches.
PATIENCE = {"hits": ["--max-iterations", "10"], "betweenness": ["--k", "2"]}
REFUSALS = {"sssp": "shortest paths need weights that are not negative", "hits": "HITS has not converged"}


def folders_of_graphs() -> list[str]:
    return sorted(path.name for path in DATA.iterdir() if path.is_dir()) if DATA.is_dir() else []


def graphs_in(folder: Path) -> Iterator[tuple[Path, tg.Graph]]:
    """The files that the reader understands, of less than a million edges."""
    known = {suffix for suffixes in tg.io.FORMATS.values() for suffix in suffixes if suffix not in SAME_GRAPH}
    for path in sorted(folder.rglob("*")):
        if stem(path).suffix not in known or path.stat().st_size > 5e6:
            continue
        with contextlib.suppress(TGraphError):  # what the reader makes of malformed files is tested with the reader
            graph = tg.read(path)
            if graph.num_vertices > 0 and graph.num_edges < 1_000_000:
                yield path, graph


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the folder of real graphs {DATA} is not there")
@pytest.mark.parametrize("folder", folders_of_graphs())
def test_algorithms_on_real_graphs(folder, tmp_path):
    """They succeed, or refuse the graph with a reason: a negative weight, scores that do not converge. The first reads
    the file itself, the others a copy that is read in no time."""
    for path, graph in itertools.islice(graphs_in(DATA / folder), 4):
        columns = ["--weights", "none"] if path.name in TIMES else []
        copy = tmp_path / "copy.tg"
        tg.write(tg.read(path, weights=False) if columns else graph, copy)
        for algorithm in ALGORITHMS:
            source = [str(path), *columns] if algorithm == ALGORITHMS[0] else [str(copy)]
            command = [algorithm, *source, *PATIENCE.get(algorithm, [])]
            result = CliRunner().invoke(app, command, catch_exceptions=False)
            refused = result.exit_code == 3 and REFUSALS.get(algorithm, "no reason") in result.stderr
            assert result.exit_code == 0 or refused, (path, command, result.output)


# Files with results of igraph in a reference.json of their folder.
REFERENCED = (
    "MIT8/MIT8.edgelist.gz",
    "USA-road-BAY/BAY.gr.xz",
    "USA-road-d.NY/USA-road-d.NY.gr.gz",
    "blogcatalog/edges.csv.gz",
    "ca-HepPh/CA-HepPh.txt.gz",
    "ego-Facebook/facebook_combined.txt.gz",
    "email-Enron/email-Enron.txt.gz",
    "soc-Epinions1/soc-Epinions1.txt.gz",
    "wiki-Vote/wiki-Vote.txt.gz",
)


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the folder of real graphs {DATA} is not there")
@pytest.mark.parametrize("name", REFERENCED)
def test_findings_on_real_graphs_are_those_of_igraph(name):
    path = DATA / name
    reference = json.loads((path.parent / "reference.json").read_text())
    size = f"of {reference['nodes']} vertices"
    components = f"{reference['wcc']} component" + "s" * (reference["wcc"] > 1)
    assert f"{components}, the largest of {reference['wcc_largest']} {size}" in tgraph("wcc", path)
    for search, direction in (("bfs_out", "--directed"), ("bfs_undirected", "--undirected")):
        if search in reference:
            expected = reference[search]
            shown = tgraph("bfs", path, direction, "--source", expected["source_original_id"])
            assert f"reached {expected['reached']} {size}, depth {expected['depth']}" in shown


# ---- layouts ------------------------------------------------------------------------------------------------------


def test_advise_prints_a_table_and_a_recommendation(file):
    shown = tgraph("advise", file, "--features", "4")
    assert "sum of 4 ms" in shown and "recommended: " in shown
    assert all(name in shown for name in tg.formats.LAYOUTS)


def test_convert_to_a_layout_and_an_order(file, tmp_path):
    out = tmp_path / "small.tg"
    shown = tgraph("convert", file, out, "--layout", "sell", "--reorder", "degree")
    assert re.search(r"layout sell: [\d.]+ ?k?B, in place of [\d.]+ ?k?B", shown)
    graph = tg.read(out)
    assert graph.layout.name == "sell" and graph.order is not None
    assert "layout:             sell" in tgraph("info", out)
    found, expected = (tgraph("sssp", path, "--source", "10").splitlines()[-1] for path in (out, file))
    assert found == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["x.npz", "--layout", "sell"], "only .tg files keep a layout, not x.npz"),
        (["x.tg", "--layout", "rle"], "--layout: 'rle' is not one of coo"),
        (["x.tg", "--reorder", "alphabet"], "--reorder: 'alphabet' is not one of"),
    ],
)
def test_convert_names_what_it_cannot_do(file, tmp_path, options, message):
    assert message in tgraph("convert", file, tmp_path / options[0], *options[1:], codes=(2,))
