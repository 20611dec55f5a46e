"""Tables put into stores: ids numbered by one dictionary, features in its order, edges by destination."""

import pandas
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from strategies import refused

from tgraph.errors import ArgumentError
from tgraph.stores import DiskStore, FeatureStore, GraphStore, Ids, MemoryStore, put_edges, put_features

CITES = ("paper", "cites", "paper")
PAPERS = pa.table(
    {"doi": ["c", "a", "d", "b"], "year": [3, 1, 4, 2], "x": [[3.0, 0.3], [1.0, 0.1], [4.0, 0.4], [2.0, 0.2]]}
)
CITATIONS = pa.table({"citing": ["a", "b", "a", "d"], "cited": ["b", "c", "c", "a"], "weight": [1.0, 2.0, 3.0, 4.0]})


def stored(graph, kind, size):
    """The edges, as a set of pairs of numbers in the order that the store has."""
    row, offset = graph[kind, "csc", True, size]
    return list(zip(row.tolist(), torch.arange(len(offset) - 1).repeat_interleave(offset.diff()).tolist(), strict=True))


@pytest.mark.parametrize("make", [MemoryStore, DiskStore])
def test_papers_and_citations(tmp_path, make):
    parquet.write_table(PAPERS.slice(0, 3), tmp_path / "papers-0.parquet")
    parquet.write_table(PAPERS.slice(3), tmp_path / "papers-1.parquet")
    store = MemoryStore() if make is MemoryStore else DiskStore(tmp_path / "store")
    features, edges, papers = FeatureStore(store), GraphStore(store), Ids()
    put_features(features, "paper", str(tmp_path / "papers-*.parquet"), id="doi", ids=papers)
    put_edges(edges, CITES, CITATIONS, "citing", "cited", ids=papers, features=features, columns={"w": "weight"})
    assert papers.of([0, 1, 2, 3]) == ["c", "a", "d", "b"] and papers.numbers(["b", "a"]).tolist() == [3, 1]
    assert features["paper", "year", None].tolist() == [3, 1, 4, 2]
    assert features["paper", "x", [1]].tolist() == [[1.0, 0.1]]
    pairs = stored(edges, CITES, (4, 4))
    named = [tuple(papers.of(pair)) for pair in pairs]
    weights = dict(zip(named, features[CITES, "w", None].tolist(), strict=True))
    assert weights == {("a", "b"): 1, ("b", "c"): 2, ("a", "c"): 3, ("d", "a"): 4}
    papers.save(store, "paper")
    assert Ids.load(store, "paper").of(range(4)) == ["c", "a", "d", "b"]


def test_a_table_in_another_order_than_the_dictionary():
    papers = Ids()
    papers.add(["a", "b", "c", "d"])
    features = FeatureStore()
    put_features(features, "paper", PAPERS, {"both": ["year", "x"]}, id="doi", ids=papers)
    expected = torch.tensor([[1, 1.0, 0.1], [2, 2.0, 0.2], [3, 3.0, 0.3], [4, 4.0, 0.4]], dtype=torch.float64)
    assert torch.equal(features["paper", "both", None], expected)


def test_queries_of_duckdb_are_loaded_from():
    duckdb = pytest.importorskip("duckdb")
    from tgraph.pyg import NeighborLoader

    papers, citations = PAPERS, CITATIONS  # noqa: F841  the queries name them
    features, edges, ids = FeatureStore(), GraphStore(), Ids()
    put_features(features, "paper", duckdb.sql("SELECT doi, x::FLOAT[2] AS x FROM papers"), id="doi", ids=ids)
    query = duckdb.sql("SELECT citing, cited FROM citations WHERE weight > 1")
    put_edges(edges, CITES, query, "citing", "cited", ids=ids)
    (batch,) = NeighborLoader((features, edges), [-1], input_nodes=("paper", ids.numbers(["c"])), batch_size=1)
    assert sorted(ids.of(batch["paper"].n_id)) == ["a", "b", "c"]
    assert torch.equal(batch["paper"].x, features["paper", "x", None][batch["paper"].n_id])


def test_integer_ids_and_ends_of_two_types():
    users, items = Ids(), Ids()
    table = pandas.DataFrame({"user": [900, 7, 900], "item": [5, 5, 2**40]})
    graph = GraphStore()
    kind = ("user", "buys", "item")
    put_edges(graph, kind, table, "user", "item", ids=(users, items), unknown="add")
    assert stored(graph, kind, (2, 2)) == [(0, 0), (1, 0), (0, 1)] and items.of([1]) == [2**40]
    store = MemoryStore()
    items.save(store)
    assert Ids.load(store).numbers([2**40, 5]).tolist() == [1, 0]
    known = Ids()
    known.add([900])
    put_edges(graph, kind, table, "user", "item", ids=(known, items), unknown="drop")
    assert stored(graph, kind, (1, 2)) == [(0, 0), (0, 1)]


def test_numbers_of_vertices_without_a_dictionary():
    graph, table = GraphStore(), {"source": [3, 0], "target": [1, 1]}
    put_edges(graph, None, pa.table(table))
    assert stored(graph, None, (4, 4)) == [(3, 1), (0, 1)]
    put_edges(graph, None, pa.table(table), size=(9, 9))
    assert stored(graph, None, (9, 9)) == [(3, 1), (0, 1)]
    features = FeatureStore()
    put_features(features, None, pa.table({"x": [1.5, 2.5]}))
    assert features[None, "x", None].tolist() == [1.5, 2.5]


def test_nothing_is_written_of_what_does_not_fit():
    features, graph, ids = FeatureStore(), GraphStore(), Ids()
    twice = pa.concat_tables([PAPERS, PAPERS.slice(1, 1)])
    refused("doi: 'a' occurs 2 times", put_features, features, "paper", twice, id="doi", ids=ids)
    with pytest.raises(ArgumentError, match="doi: 'd' occurs 0 times"):
        put_features(features, "paper", PAPERS.filter([True, True, False, True]), id="doi", ids=ids)
    refused("neither", put_features, features, "paper", PAPERS, id="doi")
    refused("year: is of type string", put_features, features, "paper", pa.table({"year": ["a"]}))
    more = pa.table({"citing": ["a", "e"], "cited": ["b", "b"]})
    refused("ids: row 1 has 'e', not among the 4 known ids", put_edges, graph, CITES, more, "citing", "cited", ids=ids)
    refused("size", put_edges, graph, CITES, pa.table({"source": [0], "target": [3]}), size=(4, 2))
    with pytest.raises(ArgumentError, match="features: give the store"):
        put_edges(graph, CITES, CITATIONS, "citing", "cited", ids=ids, columns=["weight"])
    refused("unknown", put_edges, graph, CITES, CITATIONS, unknown="keep")
    assert not features.get_all_tensor_attrs() and not graph.get_all_edge_attrs()


def test_dictionaries_refuse_other_ids():
    ids = Ids()
    ids.add(["a"])
    for given, message in (([1], "earlier ids are large_string"), ([1.5], "text or integers"), (["a", None], "row 1")):
        with pytest.raises(ArgumentError, match=message):
            ids.add(given)
    refused("numbers: 1 is none of 0 to 0", ids.of, [1])
    refused("no ids of 'paper'", Ids.load, MemoryStore(), "paper", error=KeyError)
    assert len(ids) == 1 and repr(ids) == "Ids(1 of large_string)"
