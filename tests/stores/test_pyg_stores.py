"""Feature and graph stores of PyTorch Geometric; its own tests run by `make pyg`."""

import threading

import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData, TensorAttr

from tgraph import stores
from tgraph.errors import ArgumentError
from tgraph.pyg import NeighborLoader
from tgraph.stores import EDGES, FeatureStore, GraphStore, MemoryStore
from tgraph.stores.names import to_key

CITES = ("paper", "cites", "paper")


@pytest.mark.covering(1)
@pytest.mark.parametrize("group", [None, "paper", "a/b. ~,%ü", CITES, EDGES])
def test_all_kinds_of_indices(store, group):
    features, x = FeatureStore(store), torch.rand(50, 3)
    features[group, "x", None] = x
    for index in (
        *(None, slice(None), slice(3, 40, 4), slice(-5, None), slice(9, 3), 7, -1, torch.tensor(4), np.int64(3)),
        *(torch.tensor([3, 3, -1, 0]), torch.tensor([], dtype=torch.int64), np.array([4, 2]), x[:, 0] > 0.5),
        *(torch.tensor([1, 2], dtype=torch.int32), [5, 6]),
    ):
        expected = x if index is None else x[index]
        assert torch.equal(features.get_tensor(group, "x", index), expected), index
    for index in (50, -51, torch.tensor([0, 50]), torch.tensor([[1]]), torch.rand(3), "x"):
        with pytest.raises(IndexError, match="index:"):
            features.get_tensor(group, "x", index)
    assert isinstance(features.get_tensor(group, "x", np.array([1]), convert_type=True), np.ndarray)
    assert features.get_tensor_size(group, "x") == (50, 3)
    assert features.get_tensor_size(group, "y") is None
    with pytest.raises(KeyError, match="'y'"):
        features.get_tensor(group, "y", None)
    both = features.multi_get_tensor([TensorAttr(group, "x", 2), TensorAttr(group, "x", slice(2))])
    assert torch.equal(both[0], x[2]) and torch.equal(both[1], x[:2])
    assert features.remove_tensor(group, "x", None) and not features.remove_tensor(group, "x", None)


def test_attributes_are_listed_anew(store):
    features = FeatureStore(store)
    for group in ("paper", CITES, EDGES):
        features[group, "x", None] = torch.zeros(3)
    for _ in range(2):
        listed = features.get_all_tensor_attrs()
        assert sorted((attr.group_name for attr in listed), key=str) == [CITES, "paper"]
        assert not any(attr.is_set("index") for attr in listed)
        for attr in listed:
            attr.index = torch.arange(2)
    assert [attr.attr_name for attr in features.edge_attributes(None)] == ["x"]
    assert [attr.group_name for attr in features.edge_attributes(CITES)] == [CITES]


def test_rows_are_changed(store):
    features, x = FeatureStore(store), torch.zeros(10, 2)
    order = torch.randperm(10)
    features["paper", "y", order] = torch.arange(10)
    assert torch.equal(features["paper", "y", order], torch.arange(10))
    features["paper", "x", None] = x
    features["paper", "x", torch.tensor([3, 1])] = torch.tensor([[1.0, 2], [3, 4]])
    features["paper", "x", slice(8, None)] = torch.ones(2, 2)
    features["paper", "x", 0] = torch.tensor([5.0, 6.0])
    expected = torch.zeros(10, 2)
    expected[3], expected[1], expected[8:], expected[0] = *torch.tensor([[1.0, 2], [3, 4]]), 1, torch.tensor([5.0, 6])
    assert torch.equal(features["paper", "x", None], expected)
    for rows in (torch.zeros(2, 3), torch.zeros(1, 2), torch.zeros(2, 2).double()):
        with pytest.raises(ArgumentError, match="features/paper/x: expected torch"):
            features["paper", "x", torch.tensor([0, 1])] = rows
    with pytest.raises(ArgumentError, match="no tensor is stored"):
        features["paper", "z", torch.tensor([0, 2])] = torch.zeros(2)
    assert torch.equal(features["paper", "x", None], expected)
    features["paper", "x", None] = np.ones((4, 1))
    assert features["paper", "x", None].dtype == torch.float64


def test_rows_that_writers_change_at_the_same_time_are_all_kept(store):
    features = FeatureStore(store)
    features["paper", "x", None] = torch.zeros(40)

    def work(first):
        for row in range(first, 40, 4):
            features["paper", "x", row] = torch.tensor(1.0)

    writers = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert bool(features["paper", "x", None].all())


@pytest.mark.parametrize("group", [("a", "b"), 5, "", ("a", None, "b")])
def test_refused_names(store, group):
    with pytest.raises(ArgumentError, match="expected a name, None or a type of edges"):
        FeatureStore(store).put_tensor(torch.zeros(2), group, "x", None)
    with pytest.raises(ArgumentError, match="expected a name"):
        GraphStore(store).put_edge_index((torch.zeros(2).long(), torch.zeros(2).long()), group, "coo")
    assert store.keys() == []


LONG = torch.tensor([0, 1, 2])


@pytest.mark.parametrize(
    ("pair", "options", "message"),
    [
        ((LONG, LONG.int()), {"layout": "coo"}, "expected int64 or int32 twice"),
        ((LONG.float(), LONG.float()), {"layout": "coo"}, "expected int64 or int32 twice"),
        ((LONG, LONG[:2]), {"layout": "coo"}, r"expected \[m\] and \[m\]"),
        ((LONG, -LONG), {"layout": "coo"}, "-2 is no vertex"),
        ((LONG, LONG), {"layout": "coo", "size": (3, 2)}, r"size is \(3, 2\)"),
        ((LONG, LONG.flip(0)), {"layout": "coo", "is_sorted": True}, "destinations do not ascend"),
        ((LONG, LONG), {"layout": "csr"}, "offsets ascend from 0 to the number of edges, 3"),
        ((torch.tensor([0, 2, 1, 3]), LONG), {"layout": "csr"}, "offsets ascend"),
        ((torch.tensor([0, 1, 3]), LONG), {"layout": "csr", "size": (3, 3)}, r"size is \(3, 3\)"),
        ((LONG, torch.tensor([0, 3])), {"layout": "csc", "size": (2, 1)}, r"size is \(2, 1\)"),
        ((LONG,), {"layout": "coo"}, "expected two tensors"),
    ],
)
def test_refused_edges(store, pair, options, message):
    with pytest.raises(ArgumentError, match=message):
        GraphStore(store).put_edge_index(pair, edge_type=CITES, **options)
    assert store.keys() == []


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("kind", [None, "cites", CITES])
def test_layouts_are_kept_beside_each_other(store, dtype, kind):
    edges = GraphStore(store)
    pairs = {"coo": ([0, 1, 1], [1, 0, 2]), "csr": ([0, 1, 3], [1, 0, 2]), "csc": ([1, 0, 1], [0, 1, 2, 3])}
    for layout, pair in pairs.items():
        edges[kind, layout, False, (2, 3)] = tuple(torch.tensor(part, dtype=dtype) for part in pair)
    for layout, pair in pairs.items():
        found = edges[kind, layout]
        assert [part.tolist() for part in found] == list(pair) and found[0].dtype == dtype
    assert {(attr.edge_type, attr.layout.value, attr.size) for attr in edges.get_all_edge_attrs()} == {
        (kind, layout, (2, 3)) for layout in pairs
    }
    with pytest.raises(KeyError):
        edges[kind, "coo", False, (4, 4)]
    del edges[kind, "coo"]
    with pytest.raises(KeyError):
        edges[kind, "coo"]


@pytest.mark.covering(1)
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_from_stores(store, workers):
    features, edges = FeatureStore(store), GraphStore(store)
    x, edge_index = torch.rand(100, 4), torch.randint(100, (2, 1000))
    features[None, "x", None] = x
    edges.put_edge_index(tuple(edge_index), edge_type=None, layout="coo", size=(100, 100))
    loader = NeighborLoader(
        (features, edges), [4, 3], input_nodes=torch.arange(100), batch_size=30, num_workers=workers
    )
    batches = list(loader)
    assert len(batches) == 4
    for batch in batches:
        assert torch.equal(batch.x, x[batch.n_id])
        assert torch.equal(batch.n_id[batch.edge_index], edge_index[:, batch.e_id])


def test_a_batch_asks_once_for_all_tensors():
    """All features of vertices in one call, all of edges in another."""

    class Traced(MemoryStore):
        def get_many(self, wanted):
            calls.append([stat.key for stat, _ in wanted])
            return super().get_many(wanted)

    calls, store = [], Traced()
    features, edges = FeatureStore(store), GraphStore(store)
    kinds = CITES, ("paper", "names", "paper")
    for name in ("x", "y", "z"):
        features["paper", name, None] = torch.arange(100)
    for kind in kinds:
        edges[kind, "coo", False, (100, 100)] = tuple(torch.randint(100, (2, 400)))
        features[kind, "weight", None] = torch.arange(400)
    loader = NeighborLoader((features, edges), [3], input_nodes=("paper", torch.arange(100)), batch_size=50, prefetch=0)
    calls.clear()
    batches = list(loader)
    of_vertices = [f"features/paper/{name}" for name in "xyz"]
    of_edges = sorted(to_key("features", kind, "weight") for kind in kinds)
    assert [sorted(call) for call in calls] == [of_vertices, of_edges] * 2
    for batch in batches:
        assert all(torch.equal(batch["paper"][name], batch["paper"].n_id) for name in "xyz")
        assert all(torch.equal(batch[kind].weight, batch[kind].e_id) for kind in kinds)


@pytest.mark.parametrize("kind", ["redis", "postgres"])
@pytest.mark.parametrize("cached", [False, True])
def test_servers_are_asked_twice_for_any_number_of_tensors(make, kind, cached, monkeypatch):
    store, asked = make(kind), []
    features = FeatureStore(stores.CachedStore(store, "1MB") if cached else store)
    x = {name: torch.rand(3000, 10) for name in "abcd"}
    for name, values in x.items():
        features[None, name, None] = values
    ask = type(store)._ask
    monkeypatch.setattr(type(store), "_ask", lambda self, *given: asked.append(given[0]) or ask(self, *given))
    index = torch.randint(3000, (500,))
    found = features.multi_get_tensor([TensorAttr(None, name, index) for name in x])
    assert all(torch.equal(values, x[name][index]) for name, values in zip(x, found, strict=True))
    assert asked == [", ".join(f"features/~/{name}" for name in x)] * 2  # their heads, then their rows


def with_flag(batch):
    """A transform of the user's, which finds features of edges."""
    batch.has_edge_features = "edge_attr" in (batch[CITES] if isinstance(batch, HeteroData) else batch)
    return batch


@pytest.mark.covering(1)
@pytest.mark.parametrize("layout", ["coo", "csc"])
@pytest.mark.parametrize("kind", [None, CITES])
def test_features_weights_and_times_of_edges(store, kind, layout):
    features, edges = FeatureStore(store), GraphStore(store)
    group = "paper" if kind else None
    row, col = torch.randint(100, (1000,)), torch.randint(100, (1000,))
    if layout == "csc":
        col = col.sort().values
    colptr = torch.searchsorted(col.sort().values, torch.arange(101))
    edges[kind, layout, False, (100, 100)] = (row, col if layout == "coo" else colptr)
    weight, time = (torch.rand(1000) > 0.5).float(), torch.randint(50, (1000,))
    features[group, "x", None] = torch.rand(100, 4)
    for name, values in (("edge_attr", torch.arange(1000)), ("weight", weight), ("when", time)):
        features[kind or EDGES, name, None] = values
    seeds = torch.arange(100)
    options = {"num_neighbors": [3, 3], "input_nodes": ("paper", seeds) if kind else seeds, "batch_size": 50}
    late = torch.full((100,), 20)
    for more in ({"weight_attr": "weight"}, {"time_attr": "when", "input_time": late}):
        for batch in NeighborLoader((features, edges), **options, **more, transform=with_flag):
            assert batch.has_edge_features
            found, nodes = (batch[CITES], batch["paper"].n_id) if kind else (batch, batch.n_id)
            assert torch.equal(found.edge_attr, found.e_id) and torch.equal(found.weight, weight[found.e_id])
            assert torch.equal(nodes[found.edge_index], torch.stack((row, col))[:, found.e_id])
            assert bool(found.weight.all()) if "weight_attr" in more else bool((found.when <= 20).all())
