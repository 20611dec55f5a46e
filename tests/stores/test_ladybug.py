"""A Ladybug database read by loaders: its tables are what Cypher says they are."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from strategies import refused

from tgraph.errors import ArgumentError
from tgraph.stores import BlockStore, FeatureStore, GraphStore, MemoryStore
from tgraph.stores.blocks import read

ladybug = pytest.importorskip("ladybug")
from tgraph.stores import LadybugStore  # noqa: E402

PAPERS, AUTHORS = 60, 20
CITES, WRITES = ("paper", "cites", "paper"), ("author", "writes", "paper")


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """Papers with text as keys, three of which were deleted; authors with integers."""
    folder = tmp_path_factory.mktemp("ladybug")
    random = np.random.default_rng(0)
    x = pa.FixedSizeListArray.from_arrays(pa.array(random.random(PAPERS * 4, dtype=np.float32)), 4)
    names = [f"p'{i}" for i in range(PAPERS)]
    tables = {
        "paper": {"doi": names, "year": random.integers(1990, 2020, PAPERS), "title": names, "x": x},
        "author": {"number": np.arange(AUTHORS) * 7, "is`known": random.random(AUTHORS) < 0.5},
        "cites": {"a": random.choice(names, 300), "b": random.choice(names, 300), "w": random.random(300)},
        "writes": {"a": random.integers(AUTHORS, size=90) * 7, "b": random.choice(names, 90)},
    }
    path = str(folder / "papers.lbug")
    with ladybug.Database(path) as opened, ladybug.Connection(opened) as connection:
        connection.execute("CREATE NODE TABLE paper(doi STRING PRIMARY KEY, year INT64, title STRING, x FLOAT[4])")
        connection.execute("CREATE NODE TABLE author(number INT64 PRIMARY KEY, `is``known` BOOL)")
        connection.execute("CREATE REL TABLE cites(FROM paper TO paper, w DOUBLE)")
        connection.execute("CREATE REL TABLE writes(FROM author TO paper)")
        for name, columns in tables.items():
            parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
            connection.execute(f"COPY {name} FROM '{folder}/{name}.parquet'")
        connection.execute('MATCH (p:paper) WHERE p.doi IN ["p\'0", "p\'7", "p\'30"] DETACH DELETE p')
    return path, {name: pa.table(columns) for name, columns in tables.items()}


def rows(table, column, keys):
    """The values of a column by keys."""
    known = dict(zip(table.column(0).to_pylist(), table.column(column).to_pylist(), strict=True))
    return torch.tensor([known[key] for key in keys])


def test_features_are_those_of_the_tables(database):
    path, tables = database
    store = LadybugStore(path)
    assert store.keys("features/paper/") == ["features/paper/x", "features/paper/year"]
    papers = store.ids("paper")
    assert len(papers) == PAPERS - 3
    features, keys = FeatureStore(store), papers.of(range(PAPERS - 3))
    for name in ("x", "year"):
        expected = rows(tables["paper"], name, keys)
        assert torch.equal(features["paper", name, None], expected)
        for index in (torch.tensor([5, 3, 5]), torch.randint(PAPERS - 3, (200,))):  # looked up, and of all
            assert torch.equal(features["paper", name, index], expected[index])
        stat = store.stat(f"features/paper/{name}")
        assert torch.equal(BlockStore._rows(store, stat, torch.tensor([50, 2])), expected[[50, 2]])
    known = features["author", "is`known", None]
    assert torch.equal(known, rows(tables["author"], "is`known", store.ids("author").of(range(AUTHORS))))


def test_edges_are_those_of_the_tables(database):
    path, tables = database
    store = LadybugStore(path)
    graph, papers, gone = GraphStore(store), store.ids("paper"), {"p'0", "p'7", "p'30"}
    assert {attr.edge_type for attr in graph.get_all_edge_attrs()} == {CITES, WRITES}
    for kind, size in (CITES, (PAPERS - 3, PAPERS - 3)), (WRITES, (AUTHORS, PAPERS - 3)):
        row, offset = graph[kind, "csc", True, size]
        col = torch.arange(len(offset) - 1).repeat_interleave(offset.diff())
        table = tables[kind[1]]
        found = zip(store.ids(kind[0]).of(row), papers.of(col), strict=True)
        pairs = zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True)
        assert sorted(found) == sorted(pair for pair in pairs if not gone & set(pair))
    row, offset = graph[CITES, "csc", True, (PAPERS - 3, PAPERS - 3)]
    col = torch.arange(len(offset) - 1).repeat_interleave(offset.diff())
    table = tables["cites"]
    triples = zip(*(table[name].to_pylist() for name in ("a", "b", "w")), strict=True)
    weights = FeatureStore(store)[CITES, "w", None].tolist()
    found = sorted(zip(papers.of(row), papers.of(col), weights, strict=True))
    assert found == sorted(triple for triple in triples if not gone & set(triple[:2]))


# A worker that is forked beside the threads of the database ends in a segmentation fault now and then.
@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_loaders_read_as_from_memory(database, workers):
    from tgraph.pyg import NeighborLoader

    store, memory = LadybugStore(database[0]), MemoryStore()
    for key in list(store.keys()):
        stat, tensor = read(store, key)
        memory.put(key, tensor, stat.notes)
    batches = []
    for each in (pickle.loads(pickle.dumps(store)), memory):
        torch.manual_seed(1)
        options = {"num_workers": workers, "batch_size": 20, "weight_attr": None}
        seeds = ("paper", torch.arange(PAPERS - 3))
        batches.append(list(NeighborLoader((FeatureStore(each), GraphStore(each)), [4, 3], seeds, **options)))
    for one, other in zip(*batches, strict=True):
        assert torch.equal(one["paper"].n_id, other["paper"].n_id) and torch.equal(one["paper"].x, other["paper"].x)
        assert torch.equal(one[CITES].edge_index, other[CITES].edge_index) and torch.equal(one[CITES].w, other[CITES].w)


def test_the_database_is_not_written(database):
    store = LadybugStore(database[0])
    with pytest.raises(ArgumentError, match="open for reading"):
        FeatureStore(store)["paper", "x", None] = torch.zeros(PAPERS - 3, 4)
    refused("open for reading", store.delete, "features/paper/x")
    with pytest.raises(KeyError, match="no tensor 'title'"):
        FeatureStore(store)["paper", "title", None]
    refused("no node table 'venue'", store.ids, "venue")
    assert repr(store) == f"LadybugStore({database[0]!r})" and store.stat("features/paper") is None
