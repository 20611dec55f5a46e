"""What holds for every BlockStore, and what a store on disk survives."""

import contextlib
import pickle

import pytest
import torch

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.stores import DiskStore, ReplacedError
from tgraph.stores.blocks import BlockStore, read

DTYPES = [torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool]
SHAPES = [(0,), (1,), (5000, 17), (3, 40_000), (7, 0), (300, 2, 3)]


@pytest.mark.covering(1)
@pytest.mark.parametrize(
    ("dtype", "shape"), [*((torch.float32, shape) for shape in SHAPES), *((dtype, (700, 17)) for dtype in DTYPES)]
)
def test_tensors_return_as_they_were_put(store, dtype, shape):
    tensor = (torch.rand(shape) * 100).to(dtype)
    store.put("a/b", tensor, {"note": "text"})
    stat, found = read(store, "a/b")
    assert torch.equal(found, tensor) and found.dtype == dtype
    assert (stat.shape, stat.dtype, stat.notes) == (shape, dtype, {"note": "text"})
    index = torch.randint(shape[0], (100,)) if shape[0] else torch.empty(0, dtype=torch.int64)
    assert torch.equal(store.get_rows(stat, index), tensor[index])
    assert torch.equal(BlockStore._rows(store, stat, index), tensor[index])
    assert torch.equal(BlockStore._rows(store, stat, None), tensor)
    for number, block in enumerate(store.get_blocks(stat, range(stat.num_blocks))):
        assert tuple(block.shape) == stat.block_shape(number)


def test_keys_and_deletion(store):
    for key in ("b/x", "a/x", "a/%2Ey"):
        store.put(key, torch.arange(3))
    assert store.keys() == ["a/%2Ey", "a/x", "b/x"] and store.keys("b/") == ["b/x"]
    stat = store.stat("a/x")
    assert store.delete("a/x") and not store.delete("a/x")
    assert store.stat("a/x") is None and read(store, "a/x") is None
    with pytest.raises(ReplacedError, match="a/x: replaced meanwhile"):
        store.get_rows(stat)


def test_a_version_that_is_gone_is_not_mixed_with_the_next(store):
    store.put("x", torch.zeros(9))
    stat = store.stat("x")
    store.put("x", torch.ones(9))
    with contextlib.suppress(ReplacedError):
        assert not store.get_rows(stat).any()
    assert store.stat("x") != stat
    assert read(store, "x")[1].all()


def test_a_put_in_the_place_of_a_version_that_is_gone_is_refused(store):
    store.put("x", torch.zeros(9))
    first = store.stat("x")
    store.put("x", torch.ones(9), {"note": "second"}, replacing=first)
    for present in (9, 5):
        with pytest.raises(ReplacedError, match="x: replaced meanwhile, so that nothing was put"):
            store.put("x", torch.zeros(3), replacing=first)
        assert len(read(store, "x")[1]) == present
        store.put("x", torch.ones(5))
    store.delete("x")
    with pytest.raises(ReplacedError, match="x: replaced meanwhile"):
        store.put("x", torch.zeros(3), replacing=first)
    assert store.keys() == []


@pytest.mark.parametrize("key", ["", "/x", "../x", "a//b", "a.b", "a b"])
def test_refused_keys(store, key):
    with pytest.raises(ArgumentError, match="key: expected names"):
        store.put(key, torch.zeros(1))


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.tensor(1.0), "expected rows"),
        (torch.zeros(2, dtype=torch.complex64), "complex64 cannot be stored"),
        (torch.eye(2).to_sparse(), "expected a dense tensor"),
    ],
)
def test_refused_tensors_leave_what_was_there(store, tensor, message):
    store.put("x", torch.arange(3))
    with pytest.raises(ArgumentError, match=message):
        store.put("x", tensor)
    assert read(store, "x")[1].tolist() == [0, 1, 2]


def test_stores_are_pickled(store):
    store.put("x", torch.arange(3))
    read(store, "x")
    assert read(pickle.loads(pickle.dumps(store)), "x")[1].tolist() == [0, 1, 2]


def test_a_tensor_of_a_file_is_its_readers_own(tmp_path):
    store = DiskStore(tmp_path)
    store.put("x", torch.arange(1000))
    read(store, "x")[1].zero_()
    assert torch.equal(read(store, "x")[1], torch.arange(1000))


@pytest.mark.fault
def test_a_flipped_bit_is_found_with_the_key(tmp_path):
    store = DiskStore(tmp_path)
    store.put("features/paper/x", torch.zeros(5000, 100))
    file = tmp_path / "features/paper/x.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 4
    file.write_bytes(data)
    stat = store.stat("features/paper/x")
    assert not store.get_rows(stat, torch.arange(10)).any()  # another block
    with pytest.raises(FileFormatError, match="'features/paper/x' differs between its elements"):
        store.get_rows(stat, torch.tensor([4999]))
    with pytest.raises(FileFormatError, match="features/paper/x"):
        read(store, "features/paper/x")
    data[20] ^= 4
    file.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"x.safetensors: the header is damaged"):
        DiskStore(tmp_path).stat("features/paper/x")
