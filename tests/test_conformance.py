"""Published and third-party results on real graphs: LDBC Graphalytics, libgrape-lite, LAGraph and igraph.

The files are in ../shared/data next to the repository; without them these tests are skipped. They are read by the
loader that lies there, so that a fault in `tgraph.io` cannot hide one here.
"""

import functools
import gzip
import json

import numpy as np
import pytest
import scipy.io
import torch
from collected import DATA, graph_of
from strategies import MODES

import tgraph as tg

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the folder of real graphs {DATA} is not there")

LDBC = DATA / "conformance" / "ldbc-graphalytics"
GRAPE = DATA / "conformance" / "p2p-31"
LAGRAPH = DATA / "conformance" / "lagraph"
NEVER = 9223372036854775807  # Graphalytics: not reached by a breadth-first search
LARGEST = 1_000_000  # rows; larger graphs would take too long here


def words(path):
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [line.split() for line in text.splitlines() if line.strip()]


@functools.cache
def results(path, read=float):
    """{vertex: value} of a result file."""
    return {int(vertex): read(value) for vertex, value in words(path)}


def edge_file(path, vertex_path, directed):
    """A Graphalytics graph, in the order of its vertex file."""
    vertices = torch.tensor([int(line[0]) for line in words(vertex_path)])
    rows = words(path)
    index = {vertex: i for i, vertex in enumerate(vertices.tolist())}
    src, dst = ([index[int(row[side])] for row in rows] for side in (0, 1))
    weights = torch.tensor([float(row[2]) for row in rows], dtype=torch.float64) if len(rows[0]) > 2 else None
    return tg.Graph.from_edges(src, dst, weights, vertices=vertices, directed=directed)


@functools.cache
def ldbc(name):
    """(graph, parameters): `parameters("bfs.source-vertex")` looks up the properties file."""
    lines = [line.split("=") for line in (LDBC / f"{name}.properties").read_text().splitlines() if "=" in line]
    properties = {key.strip().removeprefix(f"graph.{name}."): value.strip() for key, value in lines}
    graph = edge_file(LDBC / f"{name}.e", LDBC / f"{name}.v", properties["directed"] == "true")
    assert graph.num_vertices == int(properties["meta.vertices"])
    return graph, properties.__getitem__


@functools.cache
def grape():
    return edge_file(GRAPE / "p2p-31.e.gz", GRAPE / "p2p-31.v.gz", False)


def in_order(graph, expected):
    assert set(expected) == set(graph.ids(torch.arange(graph.num_vertices)).tolist())
    return [expected[vertex] for vertex in graph.ids(torch.arange(graph.num_vertices)).tolist()]


def assert_equivalent(labels, expected):
    """The same partition: each label on one side goes with one label on the other."""
    pairs = set(zip(labels, expected, strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


# ---- LDBC Graphalytics and libgrape-lite: exact, equivalent, or within 1e-4 ------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["example-directed", "test-bfs-undirected"])
def test_graphalytics_bfs(name, mode):
    graph, parameter = ldbc(name)
    depth = tg.algorithms.bfs(graph, graph.index(int(parameter("bfs.source-vertex"))), mode=mode)
    assert [NEVER if hop < 0 else hop for hop in depth.tolist()] == in_order(graph, results(LDBC / f"{name}-BFS", int))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["example-directed", "test-sssp-undirected"])
def test_graphalytics_sssp(name, mode):
    graph, parameter = ldbc(name)
    dist = tg.algorithms.sssp(graph, graph.index(int(parameter("sssp.source-vertex"))), mode=mode)
    np.testing.assert_allclose(dist.numpy(), in_order(graph, results(LDBC / f"{name}-SSSP")), rtol=1e-4)


@pytest.mark.parametrize("name", ["example-directed", "test-pr-undirected"])
def test_graphalytics_pagerank(name, backend):
    graph, parameter = ldbc(name)
    rounds = int(parameter("pr.num-iterations"))
    damping = float(parameter("pr.damping-factor"))
    options = {"damping": damping, "tol": None, "max_iterations": rounds, "backend": backend}
    expected = in_order(graph, results(LDBC / f"{name}-PR"))
    for dtype, tolerance in ((torch.float64, 1e-6), (torch.float32, 1e-4)):
        np.testing.assert_allclose(
            tg.algorithms.pagerank(graph, dtype=dtype, **options).numpy(), expected, rtol=tolerance
        )


@pytest.mark.parametrize("name", ["example-directed", "test-wcc-undirected"])
def test_graphalytics_wcc(name):
    graph, _ = ldbc(name)
    assert_equivalent(tg.algorithms.wcc(graph).tolist(), in_order(graph, results(LDBC / f"{name}-WCC", int)))


@pytest.mark.parametrize("mode", MODES)
def test_gnutella_bfs_and_sssp(mode):
    """libgrape-lite on SNAP's p2p-Gnutella31 as an undirected graph with made weights, from vertex 6."""
    graph = grape()
    source = graph.index(6)
    depth = tg.algorithms.bfs(graph, source, mode=mode)
    assert [NEVER if hop < 0 else hop for hop in depth.tolist()] == in_order(
        graph, results(GRAPE / "p2p-31-BFS.gz", int)
    )
    dist = tg.algorithms.sssp(graph, source, mode=mode)
    np.testing.assert_allclose(dist.numpy(), in_order(graph, results(GRAPE / "p2p-31-SSSP.gz")), rtol=1e-4)


def test_gnutella_pagerank_and_wcc():
    graph = grape()
    ranks = tg.algorithms.pagerank(graph, tol=None, max_iterations=10)
    np.testing.assert_allclose(ranks.numpy(), in_order(graph, results(GRAPE / "p2p-31-PR.gz")), rtol=1e-4)
    labels = tg.algorithms.wcc(graph).tolist()
    assert_equivalent(labels, in_order(graph, results(GRAPE / "p2p-31-WCC.gz", int)))


# ---- LAGraph --------------------------------------------------------------------------------------------------------


def matrix(name):
    """A symmetric matrix of LAGraph's collection as an undirected graph of its pattern."""
    stored = scipy.io.mmread(LAGRAPH / name).tocoo()
    upper = stored.row <= stored.col
    return tg.Graph.from_edges(stored.row[upper], stored.col[upper], num_vertices=stored.shape[0], directed=False)


def lagraph(measure):
    return json.loads((LAGRAPH / "expected.json").read_text())[measure].items() if DATA.is_dir() else []


@pytest.mark.parametrize(("name", "count"), lagraph("connected_components"))
def test_lagraph_components(name, count):
    assert len(tg.algorithms.wcc(matrix(name)).unique()) == count


@pytest.mark.parametrize(("name", "expected"), lagraph("pagerank"))
def test_lagraph_pagerank(name, expected):
    ranks = tg.algorithms.pagerank(matrix(name), damping=expected["damping"], tol=1e-10, max_iterations=1000)
    assert np.abs(ranks.numpy() - expected["rank"]).max() < expected["abs_tol"]


# ---- igraph on the graphs of the collection -------------------------------------------------------------------------


def referenced():
    """The graphs that are small enough and have results by igraph."""
    folders = [path for path in sorted(DATA.glob("*/reference.json")) if json.loads(path.read_text())["rows"] < LARGEST]
    return [path.parent.name for path in folders]


@pytest.fixture(scope="module", params=referenced())
def collected(request):
    """(directed or undirected graph, the undirected one, results): without duplicates, as igraph had it. Tests run
    graph by graph, so that each is read once."""
    graph = graph_of(request.param)
    undirected = graph.to_undirected().without_self_loops()
    return graph, undirected, json.loads((DATA / request.param / "reference.json").read_text())


def test_components_equal_igraph(collected):
    graph, undirected, expected = collected
    assert graph.num_vertices == expected["nodes"]
    assert undirected.num_edges == expected["undirected_no_loops"]
    for variant in (graph, undirected):
        labels, sizes = tg.algorithms.wcc(variant).unique(return_counts=True)
        assert (len(labels), int(sizes.max())) == (expected["wcc"], expected["wcc_largest"])
    assert int(undirected.out_degree.max()) == expected["max_degree"]


def test_searches_equal_igraph(collected):
    graph, undirected, expected = collected
    searches = [(undirected, expected["bfs_undirected"])]
    if "bfs_out" in expected:
        searches.append((graph, expected["bfs_out"]))
    for searched, found in searches:
        source = graph.index(found["source_original_id"])
        every = [tg.algorithms.bfs(searched, source, mode=mode) for mode in MODES]
        assert all(torch.equal(every[0], depth) for depth in every)
        reached = every[0][every[0] >= 0].long()
        assert (len(reached), int(reached.max()), int(reached.sum())) == (
            found["reached"],
            found["depth"],
            found["sum_of_distances"],
        )
        assert torch.equal(tg.algorithms.sssp(searched, source), every[0].long())


def test_pagerank_equals_igraph(collected):
    graph, undirected, expected = collected
    for variant, key in ((graph, "pagerank_d0.85_top10"), (undirected, "pagerank_undirected_d0.85_top10")):
        if key in expected:
            ranks = tg.algorithms.pagerank(variant, tol=1e-10, max_iterations=500, dtype=torch.float64)
            vertices = graph.index([vertex for vertex, _ in expected[key]])
            top = [rank for _, rank in expected[key]]
            np.testing.assert_allclose(ranks[vertices].numpy(), top, rtol=1e-5)
            np.testing.assert_allclose([rank for _, rank in variant.top(ranks, 10)], top, rtol=1e-5)


def test_triangles_and_cores_equal_igraph(collected):
    graph, undirected, expected = collected
    for variant in (graph, undirected):
        assert tg.algorithms.triangle_count(variant) == expected["triangles"]
    assert int(tg.algorithms.core_number(undirected).max()) == expected["max_core"]
    clustering = tg.algorithms.local_clustering(undirected)
    np.testing.assert_allclose(float(clustering.mean()), expected["avg_local_clustering_zero_for_deg_lt_2"], rtol=1e-9)
