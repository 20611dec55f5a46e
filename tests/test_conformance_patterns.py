"""Published results for triangles, clustering, cores and label propagation, on the data of `test_conformance`."""

import numpy as np
import pytest
from test_conformance import DATA, GRAPE, LDBC, grape, in_order, lagraph, ldbc, matrix, results

import tgraph as tg

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the folder of real graphs {DATA} is not there")


@pytest.mark.parametrize("name", ["example-directed", "test-lcc-undirected"])
def test_graphalytics_lcc(name, backend):
    graph, _ = ldbc(name)
    found = tg.algorithms.local_clustering(graph, backend=backend)
    np.testing.assert_allclose(found.numpy(), in_order(graph, results(LDBC / f"{name}-LCC")), rtol=1e-6)


@pytest.mark.parametrize("name", ["example-directed", "test-cdlp-undirected"])
def test_graphalytics_cdlp(name, backend):
    graph, parameter = ldbc(name)
    rounds = int(parameter("cdlp.max-iterations"))
    found = tg.algorithms.cdlp(graph, iterations=rounds, backend=backend)
    assert graph.ids(found).tolist() == in_order(graph, results(LDBC / f"{name}-CDLP", int))


def test_gnutella_lcc_and_cdlp(backend):
    """libgrape-lite on SNAP's p2p-Gnutella31 as an undirected graph."""
    graph = grape()
    found = tg.algorithms.local_clustering(graph, backend=backend)
    np.testing.assert_allclose(found.numpy(), in_order(graph, results(GRAPE / "p2p-31-LCC.gz")), rtol=1e-6)
    labels = graph.ids(tg.algorithms.cdlp(graph, iterations=10, backend=backend))
    assert labels.tolist() == in_order(graph, results(GRAPE / "p2p-31-CDLP.gz", int))


@pytest.mark.parametrize(("name", "count"), lagraph("triangle_count"))
def test_lagraph_triangles(name, count, backend):
    assert tg.algorithms.triangle_count(matrix(name), backend=backend) == count


@pytest.mark.parametrize(("name", "largest"), lagraph("max_core"))
def test_lagraph_cores(name, largest, backend):
    assert int(tg.algorithms.core_number(matrix(name), backend=backend).max()) == largest


@pytest.mark.parametrize(("name", "expected"), lagraph("cdlp"))
def test_lagraph_cdlp(name, expected, backend):
    assert tg.algorithms.cdlp(matrix(name), iterations=100, backend=backend).tolist() == expected["labels_0based"]
