"""The log and its records."""

import errno
import os

import pytest
import torch

import tgraph as tg
from tgraph.dynamic.durable import log, record
from tgraph.dynamic.runs import Run, Schema

SCHEMA = Schema("last", {"weights": torch.float32, "kind": torch.int8})


@pytest.mark.parametrize("ids", [(), torch.tensor([5, -7]), ["a", "", "é\ud800"], [""]])
@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_record_gives_its_batch(ids, count):
    run = Run(torch.arange(count) << 32 | 1, (torch.rand(count), torch.arange(count, dtype=torch.int8)), 9)
    header, parts = record.encoded(record.Batch(3, 9, run, ids), synced=2, previous=17)
    data = bytearray(b"".join(parts))
    assert len(data) == record.HEADER + header.nbytes and len(data) % 8 == 0
    assert record.decoded_header(data) == header and (header.synced, header.previous) == (2, 17)
    found = record.decoded(SCHEMA, header, data[record.HEADER :])
    assert (found.number, found.num_vertices, list(found.ids)) == (3, 9, list(ids))
    for tensor, original in zip((found.run.changes, *found.run.data), (run.changes, *run.data), strict=True):
        assert torch.equal(tensor, original)
    assert header.nbytes < 8 * count + 5 * count + 8 * 4 + 8 * len(ids) + 16
    for place in range(len(data)):
        damaged = data.copy()
        damaged[place] ^= 4
        assert place >= record.HEADER or record.decoded_header(damaged) is None
        assert place < record.HEADER or record.decoded(SCHEMA, header, damaged[record.HEADER :]) is None


def test_arcs_without_data_take_eight_bytes(tmp_path):
    with tg.dynamic.open(tmp_path) as store:
        store.insert(torch.arange(10_000), torch.arange(10_000))
        assert store.info()["bytes of log"] == log.BEGIN + record.HEADER + 80_000


@pytest.mark.skipif(not hasattr(os, "fdatasync"), reason="the test replaces it")
def test_a_sync_that_fails_ends_the_writing(tmp_path, monkeypatch):
    """Whether the batch is on the disk nobody knows: it is not published, and nothing is appended behind it."""

    def failing(file):
        raise OSError(errno.EIO, "Input/output error")

    store = tg.dynamic.open(tmp_path)
    store.insert([0], [1])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", failing)
        with pytest.raises(OSError, match="Input/output error"):
            store.insert([1], [2])
    for _ in range(2):
        with pytest.raises(OSError, match=r"an earlier write failed .*, what is on the disk is unknown; open it again"):
            store.insert([2], [3])
    assert store.version == 1 and store.snapshot().num_arcs == 1
    with pytest.raises(OSError, match="open it again"):
        store.close()
    with tg.dynamic.open(tmp_path) as store:
        assert store.version == 2
        store.insert([2], [3])
    with tg.dynamic.open(tmp_path) as store:
        assert store.snapshot().num_arcs == 3


def test_segments_are_removed_once_a_checkpoint_has_them(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SEGMENT", 500)
    with tg.dynamic.open(tmp_path) as store:
        for number in range(30):
            store.insert([number], [number + 1])
        before = [first for first, _ in log.segments(tmp_path)]
        assert len(before) > 3 and before == sorted(before) and before[0] == 1
        store.compact()
        assert log.segments(tmp_path) == []
        store.insert([1], [5])
        assert [first for first, _ in log.segments(tmp_path)] == [31]
    with tg.dynamic.open(tmp_path) as store:
        assert store.version == 31 and store.snapshot().num_arcs == 31
