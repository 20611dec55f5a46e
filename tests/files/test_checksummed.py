"""Files whose every byte is under a checksum."""

import json
import random

import pytest
import torch
from safetensors import safe_open

from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import checksummed

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


@pytest.mark.parametrize("notes", [{"piece": "0"}, {"piece": "-1"}, {"sums": "{}"}, {"sums": "[]"}, {"sums": "5"}])
def test_sealed_headers_of_invalid_content(notes, tmp_path):
    checksummed.write(tmp_path / "a.tg", {"a": torch.arange(5)}, {})
    raw = (tmp_path / "a.tg").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    header["__metadata__"] |= notes
    (tmp_path / "b.tg").write_bytes(checksummed.seal(header) + raw[8 + length :])
    with pytest.raises(FileFormatError, match="the header is damaged"):
        checksummed.contents(tmp_path / "b.tg", "")
