"""Keys, names, rows and notes that come from strangers, given to every store."""

import os

import pytest
import torch

from tgraph.errors import ArgumentError, RowError, TGraphError
from tgraph.stores import EDGES, DiskStore, FeatureStore, GraphStore

KEYS = [
    "../outside/victim", "../../x", "/etc/passwd", "a/../../x", "a/./b", "..", ".", "", "/", "a//b", "a\0b", "a\nb",
    "a b", "a.b", "a\\b", "C:x", "%s", "é", "x" * 401, "a/" + "x" * 300, "'; DROP TABLE x; --", "*", "a\ud800",
    "\x1b[2J", 7, None, b"x", ("a",), ["a"],
]  # fmt: skip
NAMES = [
    "../up", "..", ".", "/", "a/b", "a,b", "~", "%2E", "a\0b", "new\nline", "'; DROP TABLE t_heads; --", '"', "`",
    "*?[", "{x}", "%s", "é", "\u202e", "\x1b]0;t\x07", "CON", " ", "a" * 60, "FLUSHALL\r\n", "\\", "$1", ":x", "_",
    "None",
]  # fmt: skip
VALID = "%s"  # which is a key
WRONG_ROWS = [[-1], [4], [0, 10**12], [-(2**63)], [2, -3, 1]]
NO_ROWS = [
    torch.tensor([True, False, True, True]), torch.tensor([0.5]), torch.tensor(1), torch.zeros(1, 1, dtype=torch.int64),
    [0], 0, slice(1), "0", torch.tensor([1j]),
]  # fmt: skip


@pytest.fixture(params=["memory", "disk", "direct", "lmdb", "rocksdb", "cached", "redis", "postgres"])
def store(request, make, tmp_path):
    """A store of each kind, empty."""
    return DiskStore(tmp_path / "store", direct=True) if request.param == "direct" else make(request.param)


def test_keys_that_are_no_names_are_refused_by_whatever_takes_one(store, tmp_path):
    DiskStore(tmp_path / "outside").put("victim", torch.arange(3))
    store.put("x", torch.zeros(2))
    for key in [key for key in KEYS if key != VALID]:
        for ask in (
            store.stat,
            store.delete,
            lambda key: store.put(key, torch.zeros(2)),
            lambda key: store.stat_many([key]),
        ):
            with pytest.raises(ArgumentError, match="key: expected"):
                ask(key)
    assert store.keys() == ["x"]
    assert len(DiskStore(tmp_path / "outside").keys()) == 1


def test_rows_that_are_not_there_are_refused(store):
    x = torch.arange(8.0).view(4, 2)
    store.put("b", x)
    stat = store.stat("b")
    for rows in WRONG_ROWS:
        index = torch.tensor(rows)
        place = next(place for place, row in enumerate(rows) if not 0 <= row < 4)
        for ask in (store.get_rows, lambda stat, index: store.get_many([(stat, None), (stat, index)])):
            with pytest.raises(
                RowError, match=f"index: {rows[place]} at position {place} is no row of 'b', which has 4"
            ):
                ask(stat, index)
    for index in NO_ROWS:
        with pytest.raises(ArgumentError, match="index: expected row numbers"):
            store.get_rows(stat, index)
    for number in (-1, stat.num_blocks, 10**9):
        with pytest.raises(RowError, match=f"numbers: {number} is no block"):
            store.get_blocks(stat, [0, number])
    for kind in (torch.int32, torch.uint8, torch.int8):
        assert torch.equal(store.get_rows(stat, torch.tensor([3, 0], dtype=kind)), x[[3, 0]])


def test_names_of_any_kind_are_stored_and_found_again(store):
    features, edges = FeatureStore(store), GraphStore(store)
    for number, name in enumerate(NAMES):
        features[name, name, None] = torch.full((2,), number)
        features[(name, name, name), name, None] = torch.full((1,), -number)
        edges[(name, name, name), "coo", False, (2, 2)] = torch.tensor([0]), torch.tensor([1])
    attributes = [(attr.group_name, attr.attr_name) for attr in features.get_all_tensor_attrs()]
    assert sorted(each for each in attributes if isinstance(each[0], str)) == sorted((name, name) for name in NAMES)
    for number, name in enumerate(NAMES):
        assert features[name, name, None].tolist() == [number] * 2
        assert features[(name, name, name), name, None].tolist() == [-number]
        assert edges[(name, name, name), "coo"][0].tolist() == [0]
    assert {attr.edge_type for attr in edges.get_all_edge_attrs()} == {(name, name, name) for name in NAMES}
    for name in NAMES:
        assert features.remove_tensor(name, name, None)
    with pytest.raises(TGraphError):
        features["a\ud800", "x", None] = torch.zeros(1)


def test_notes_of_any_kind_return_as_they_were(store):
    notes = {name: name for name in [*NAMES, "\ud800"]}
    store.put("x", torch.zeros(1), notes)
    assert store.stat("x").notes == notes


def test_beginnings_of_any_kind_are_those_of_no_key(store):
    store.put("x", torch.zeros(1))
    for beginning in ("../", "%", "_", "X", "\0", "'", "*", "\ud800", "é"):
        assert store.keys(beginning) == []


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="the system has no symbolic links")
def test_a_link_does_not_lead_out_of_the_folder_of_a_store(tmp_path):
    outside, store = DiskStore(tmp_path / "outside"), DiskStore(tmp_path / "store")
    outside.put("victim", torch.arange(3))
    store.put("x", torch.zeros(2))
    os.symlink(tmp_path / "outside", tmp_path / "store" / "link")
    os.symlink(tmp_path / "outside" / "victim.safetensors", tmp_path / "store" / "single.safetensors")
    for ask in (store.stat, store.delete, lambda key: store.put(key, torch.zeros(2))):
        with pytest.raises(ArgumentError, match="link"):
            ask("link/victim")
    with pytest.raises(ArgumentError, match="link"):
        store.stat("single")
    assert outside.get_rows(outside.stat("victim")).tolist() == [0, 1, 2]
    os.symlink(tmp_path / "store", tmp_path / "alias")
    alias = DiskStore(tmp_path / "alias")
    alias.put("y", torch.ones(1))
    assert store.get_rows(store.stat("y")).tolist() == [1]
    assert store.delete("single") and EDGES and outside.stat("victim") is not None
