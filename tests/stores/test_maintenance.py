"""Stores are copied, verified and exchanged with files, whatever they are."""

import numpy as np
import pytest
import safetensors.torch
import torch
from strategies import refused

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.stores import DiskStore, GraphStore, MemoryStore, copy, get_file, put_file, verify
from tgraph.stores.blocks import BLOCK, read


def filled(store):
    tensors = {
        "features/~/x": torch.rand(3000, 100),
        "features/~/y": torch.arange(3000, dtype=torch.int32),
        "features/~/z": torch.rand(0, 4).bfloat16(),
        "other": torch.rand(5, 2, 2) > 0.5,
    }
    for key, tensor in tensors.items():
        store.put(key, tensor, {"key": key})
    return tensors


def holds(store, tensors):
    same = store.keys() == sorted(tensors)
    return same and all(torch.equal(read(store, key)[1], tensor) for key, tensor in tensors.items())


def test_copies_have_the_notes(store, tmp_path):
    tensors = filled(source := MemoryStore())
    nbytes = sum(tensor.nbytes for tensor in tensors.values())
    assert copy(source, store) == nbytes and holds(store, tensors)
    target = DiskStore(tmp_path / "target")
    assert copy(store, target, progress=True) == nbytes and holds(target, tensors)
    assert all(target.stat(key).notes == {"key": key} for key in tensors)
    part = MemoryStore()
    assert copy(store, part, "features/~/y") == 12_000
    assert part.keys() == ["features/~/y"]
    refused("has no tensor whose key begins with 'z'", copy, store, part, "z")
    refused("has no tensor", verify, MemoryStore())
    assert verify(store) == []


def test_files_of_several_tensors(store, tmp_path):
    tensors, path = filled(store), tmp_path / "all.safetensors"
    assert get_file(store, path) == sorted(tensors)
    assert all(torch.equal(found, tensors[key]) for key, found in safetensors.torch.load_file(path).items())
    assert sorted(put_file(target := MemoryStore(), path)) == sorted(tensors)
    assert holds(target, tensors) and target.stat("other").notes == {"key": "other"}
    assert get_file(store, path, "features/~/y") == ["features/~/y"]
    assert put_file(store, path, "more") == ["more/features/~/y"]
    assert torch.equal(read(store, "more/features/~/y")[1], tensors["features/~/y"])


def test_files_of_other_programs(store, tmp_path):
    x = torch.rand(10, 3)
    safetensors.torch.save_file({"x": x, "y": x + 1}, tmp_path / "a.safetensors", {"notes": "[of theirs"})
    assert sorted(put_file(store, tmp_path / "a.safetensors")) == ["x", "y"]
    assert holds(store, {"x": x, "y": x + 1})
    np.save(tmp_path / "rows.npy", np.asfortranarray(x.numpy()))
    assert put_file(store, tmp_path / "rows.npy") == ["rows"]
    assert put_file(store, tmp_path / "rows.npy", "a/b") == ["a/b"]
    assert holds(store, {"x": x, "y": x + 1, "rows": x, "a/b": x})
    assert get_file(store, tmp_path / "out.npy", "a/b") == ["a/b"]
    assert np.array_equal(np.load(tmp_path / "out.npy"), x)


def test_edges_pass_through_a_file(tmp_path):
    edges = torch.randint(20, (2, 100))
    source, target = GraphStore(MemoryStore()), GraphStore(MemoryStore())
    source[None, "coo", False, (20, 20)] = tuple(edges)
    get_file(source.store, tmp_path / "edges.safetensors")
    put_file(target.store, tmp_path / "edges.safetensors")
    assert torch.equal(torch.stack(target[None, "coo"]), edges)
    assert target.get_all_edge_attrs()[0].size == (20, 20)


def test_refused_files(tmp_path):
    filled(store := MemoryStore())
    before = store.keys()
    np.save(tmp_path / "text.npy", np.array(["a", "b"]))
    np.save(tmp_path / "number.npy", np.array(1.0))
    (tmp_path / "damaged.npy").write_bytes(b"no array")
    for name, fault, message in (
        ("x.csv", ArgumentError, r"path: expected a file .npy or .safetensors, got .*x.csv"),
        ("text.npy", ArgumentError, "holds <U1, not a dtype of torch"),
        ("number.npy", ArgumentError, "expected rows"),
        ("damaged.npy", FileFormatError, "not an array"),
    ):
        with pytest.raises(fault, match=message):
            put_file(store, tmp_path / name)
    for name, key, message in (
        ("x.csv", "other", "expected a file"),
        ("x.npy", "features/", "key: expected names"),
        ("x.npy", "features/w", "has no tensor 'features/w'"),
        ("x.npy", "features/~/z", "a .npy file cannot hold torch.bfloat16"),
        ("x.safetensors", "none", "begins with 'none'"),
    ):
        with pytest.raises(ArgumentError, match=message):
            get_file(store, tmp_path / name, key)
    assert store.keys() == before and not list(tmp_path.glob("x.*"))


@pytest.mark.fault
def test_all_damaged_blocks_are_named(tmp_path):
    tensors = filled(store := DiskStore(tmp_path))
    read(store, "features/~/x")
    file, head = tmp_path / "features/~/x.safetensors", tmp_path / "features/~/y.safetensors"
    data = bytearray(file.read_bytes())
    begin = len(data) - tensors["features/~/x"].nbytes
    for position in (0, 5 * BLOCK, 5 * BLOCK + 9, len(data) - begin - 1):
        data[begin + position] ^= 16
    file.write_bytes(data)
    damaged = bytearray(head.read_bytes())
    damaged[30] ^= 1
    head.write_bytes(damaged)
    found = [str(fault) for fault in verify(store)]
    assert len(found) == 4
    rows = store.stat("features/~/x").rows
    assert f"'features/~/x' differs between its elements 0 and {100 * rows - 1}" in found[0]
    assert "y.safetensors: the header is damaged" in found[3]
    assert verify(store, "other") == []
