"""Sealed files, trees of plain values, and what is left of killed processes."""

import json
import math
import os
import random
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.io import atomic_write, checksummed, pytree

TENSORS = {
    "wide": torch.arange(5),
    "scalar": torch.tensor(2.5),
    "none": torch.empty(0, 3, dtype=torch.float16),
    "marks": torch.tensor([[True, False], [True, True]]),
    "brain": torch.rand(3, 2).to(torch.bfloat16).T,
}


def test_round_trip(tmp_path):
    path = tmp_path / "some"
    checksummed.write(path, TENSORS, {"note": 'with "checksum": "0000000000000000" in it'})
    tensors, notes = checksummed.read(path, "fetch it again")
    assert notes["note"] == 'with "checksum": "0000000000000000" in it'
    for name, expected in TENSORS.items():
        assert tensors[name].dtype == expected.dtype and torch.equal(tensors[name], expected)
    with safe_open(path, framework="pt") as file:
        assert all(torch.equal(file.get_tensor(name), expected) for name, expected in TENSORS.items())
    checksummed.write(path, {}, {})
    assert checksummed.read(path, "")[0] == {} and list(tmp_path.iterdir()) == [path]


def test_complex_numbers_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match=r"x: no such file holds torch.complex64"):
        checksummed.write(tmp_path / "some", {"x": torch.zeros(2, dtype=torch.complex64)}, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.fault
def test_every_byte_is_under_a_checksum(tmp_path):
    """A bit of every byte of the header and of the data, and a file that ends at any of them."""
    path, other = tmp_path / "some", tmp_path / "other"
    checksummed.write(path, TENSORS, {"note": "text"})
    data, chance = path.read_bytes(), random.Random(0)
    places = [*range(0, len(data), 7), *range(len(data) - 100, len(data))]
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << chance.randrange(8)
        for content in (damaged, data[:place]):
            other.write_bytes(content)
            with pytest.raises(FileFormatError, match=r"other: .*fetch it again"):
                checksummed.read(other, "fetch it again")


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.integers() | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_trees(tree):
    tensors = {}
    assert pytree.is_plain(tree)
    form = json.loads(json.dumps(pytree.encode(tree, tensors)))
    found = pytree.decode(form, tensors, torch.device("cpu"))
    assert found == tree and repr(found) == repr(tree)


def test_trees_with_tensors():
    one, scalar = torch.rand(3), torch.tensor(math.inf)
    tensors = {}
    form = json.loads(json.dumps(pytree.encode({"a": one, "b": [one, (scalar,)], "c": np.arange(4.0)}, tensors)))
    assert len(tensors) == 3
    found = pytree.decode(form, tensors, torch.device("cpu"))
    assert found["a"] is found["b"][0] and torch.equal(found["a"], one)
    assert found["b"][1][0] == math.inf and found["c"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("value", [object(), [object()], {"a": {1}}, {(1, object()): 2}, np.array(["a"])])
def test_what_is_not_plain(value):
    assert not pytree.is_plain(value)
    with pytest.raises(ArgumentError, match="numbers, text and tensors, not"):
        pytree.encode(value, {})


def test_gradients_are_not_dropped_silently():
    with pytest.raises(ArgumentError, match=r"torch\.no_grad"):
        pytree.encode([torch.zeros(1, requires_grad=True)], {})


def test_only_the_leftovers_of_the_dead_are_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path = tmp_path / "a[1].tg"
    kept = [
        f".a[1].tg.{os.getpid()}.part",
        f".a.tg.{ended.pid}.part",
        ".a[1].tg.x.part",
        "a[1].tg",
        f"{ended.pid}.part",
    ]
    for name in [*kept, f".a[1].tg.{ended.pid}.part"]:
        (tmp_path / name).write_text("")
    (tmp_path / f".a[1].tg.{ended.pid}.x1_b.converting").mkdir()
    atomic_write.remove_leftovers(path, "part")
    atomic_write.remove_leftovers(path, "converting")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(kept)
