"""Stores in folders: opened again, by whom, as what, and read beside a writer."""

import json
import multiprocessing
import os
import threading

import pytest
import torch
from dynamic_history import VERTICES, History, apply, listed

import tgraph as tg
from tgraph.dynamic import tiers
from tgraph.dynamic.durable import log, manifest
from tgraph.errors import ArgumentError, BusyError, FileFormatError

FORK = multiprocessing.get_context("fork")


def test_a_store_goes_on_where_it_was(tmp_path):
    """Whether it was closed before or after a checkpoint, with all that it was made with."""
    made = {"times": torch.int16, "arc_data": {"kind": torch.uint8}, "multi": "keep", "directed": False, "ids": "any"}
    with tg.dynamic.open(tmp_path / "s", torch.bfloat16, **made) as store:
        store.insert(["a", "b"], ["b", "é"], [1, 2], [3, 4], {"kind": [5, 6]})
        expected = store.arc_data(store.snapshot())
        store.compact()
        assert store.info()["bytes of log"] == 0
        store.insert(["c"], ["a"], [7], [8], {"kind": [9]})
    for _ in range(2):
        with tg.dynamic.open(tmp_path / "s") as store:
            assert store.version == 2 and list(store.snapshot().vertices) == ["a", "b", "é", "c"]
            assert (store.multi, store.directed, store.info()["bytes dropped"]) == ("keep", False, 0)
            assert store.columns == {
                "weights": torch.bfloat16,
                "times": torch.int16,
                "kind": torch.uint8,
            }
            data = store.arc_data(store.snapshot())
            for name, added in (("weights", 7), ("times", 8), ("kind", 9)):
                assert sorted(data[name].tolist()) == sorted([*expected[name].tolist(), added, added])
    with tg.dynamic.open(tmp_path / "s", torch.bfloat16, **made) as store:
        store.insert(["d"], ["é"], [1], [1], {"kind": [1]})
        assert list(store.snapshot().vertices)[-1] == "d"


@pytest.mark.parametrize("memory", [1, None])
def test_what_was_written_in_any_way_is_there_again(tmp_path, memory, monkeypatch):
    """In memory, and in files that are made and merged block by block."""
    monkeypatch.setattr(tiers, "LARGE", 64)
    monkeypatch.setattr(tiers, "_LEAST", 300)
    monkeypatch.setattr("tgraph.dynamic.durable.merging.BLOCK", 50)
    history, taken = History(), []
    with tg.dynamic.open(tmp_path, torch.float64, num_vertices=VERTICES, memory=memory, sync="never") as store:
        for number in range(1, 80):
            assert apply(store, number) == number
            if number % 20 == 0:
                taken.append((store.snapshot(), history.after(number)))
        store.compact()
    with tg.dynamic.open(tmp_path, memory=memory, verify=False) as store:
        assert listed(store.snapshot()) == history.after(79)
        for number in range(80, 120):
            apply(store, number)
        assert listed(store.snapshot()) == history.after(119)
        store.compact()
    for graph, arcs in taken:
        assert listed(graph) == arcs
    with tg.dynamic.open(tmp_path) as store:
        assert listed(store.snapshot()) == history.after(119)


def test_integer_ids_are_those_of_before(tmp_path):
    ids = torch.randperm(1000, generator=torch.Generator().manual_seed(1)) * 10**12
    with tg.dynamic.open(tmp_path, ids="any") as store:
        store.insert(ids[:400], ids[400:800])
        store.compact()
        store.insert(ids[:400], ids[600:])
    with tg.dynamic.open(tmp_path) as store:
        assert store.snapshot().vertices.tolist() == store.snapshot().ids(torch.arange(1000)).tolist()
        assert set(store.snapshot().vertices.tolist()) == set(ids.tolist())
        store.delete(ids[:400], ids[600:])
        assert store.snapshot().num_arcs == 400


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"weights": torch.float64}, "weights: .* was made with torch.float32, not torch.float64; leave it out"),
        ({"times": torch.int64}, "times: .* was made with None, not torch.int64"),
        ({"directed": False}, "directed: .* was made with True, not False"),
        ({"multi": "sum"}, "multi: .* was made with 'last', not 'sum'"),
        ({"ids": "any"}, "ids: .* was made with 'index', not 'any'"),
        ({"arc_data": {"x": torch.int8}}, "arc_data: .* was made with {}, not {'x': torch.int8}"),
        ({"num_vertices": 3}, "num_vertices: .* was made with 0, not 3"),
        ({"mode": "w"}, "mode: 'w' is not one of 'a', 'r'"),
        ({"sync": "often"}, "sync: 'often' is not one of 'always', 'never'"),
        ({"memory": "much"}, "memory: 'much' is no amount of memory"),
    ],
)
def test_arguments_that_contradict_the_folder_are_refused_by_name(tmp_path, arguments, said):
    tg.dynamic.open(tmp_path, torch.float32).close()
    with pytest.raises(ArgumentError, match=said):
        tg.dynamic.open(tmp_path, **arguments)
    tg.dynamic.open(tmp_path, torch.float32, directed=True).close()


def test_folders_that_are_no_store_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        tg.dynamic.open(tmp_path / "none", mode="r")
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ArgumentError, match=r"path: .* is no store, it has no manifest.json, but letter.txt"):
        tg.dynamic.open(tmp_path)
    with pytest.raises(ArgumentError, match="weights: expected an integer or floating dtype"):
        tg.dynamic.open(tmp_path / "s", torch.bool)
    assert not (tmp_path / "s" / "manifest.json").exists()


def test_formats_of_later_releases_are_refused_with_the_remedy(tmp_path, monkeypatch):
    with tg.dynamic.open(tmp_path) as store, monkeypatch.context() as patch:
        patch.setattr(log, "FORMAT", 2)
        store.insert([0], [1])
    with pytest.raises(
        FileFormatError, match=r"log-0.*: version 2 of the log, this release reads 1; open it with a newer"
    ):
        tg.dynamic.open(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(manifest, "FORMAT", 7)
        store._compaction.contents.manifest.write(tmp_path)
    with pytest.raises(
        FileFormatError, match="a store of version 7, this release reads 1; open it with a newer release"
    ):
        tg.dynamic.open(tmp_path, mode="r")


def opened_later(path, said):
    try:
        tg.dynamic.open(path)
    except BusyError as fault:
        said.put(str(fault))
    with tg.dynamic.open(path, timeout=60) as store:
        said.put(store.insert([5], [6]))


def test_a_second_process_that_writes_waits_or_is_told_who_does(tmp_path):
    said = FORK.Queue()
    with tg.dynamic.open(tmp_path) as store:
        other = FORK.Process(target=opened_later, args=(tmp_path, said))
        other.start()
        assert f"process {os.getpid()} on " in said.get(timeout=60)
        store.insert([0], [1])
    assert said.get(timeout=60) == 2
    other.join(60)
    with tg.dynamic.open(tmp_path) as store:
        assert store.version == 2


def refused(store, said):
    try:
        store.insert([1], [2])
    except ArgumentError as fault:
        store.close()
        said.put(str(fault))


def test_a_forked_process_may_read_but_not_write(tmp_path):
    said = FORK.Queue()
    with tg.dynamic.open(tmp_path) as store:
        store.insert([0], [1])
        other = FORK.Process(target=refused, args=(store, said))
        other.start()
        assert f"opened by process {os.getpid()}" in said.get(timeout=60)
        other.join(60)
        assert store.insert([1], [2]) == 2
        with pytest.raises(BusyError):  # the other did not let go of the lock
            tg.dynamic.open(tmp_path)


def test_a_reader_goes_on_when_it_is_asked_to(tmp_path):
    """Through batches, checkpoints, segments of the log that are removed, and ids that come."""
    with tg.dynamic.open(tmp_path, ids="any") as store:
        store.insert(["a"], ["b"])
        reader = tg.dynamic.open(tmp_path, mode="r")
        first = reader.snapshot()
        for number in range(2, 9):
            store.insert([f"v{number}"], ["a"])
            if number in (4, 5, 7):
                store.compact()
            if number % 2:
                assert reader.refresh() == reader.version == number
                assert list(reader.snapshot().vertices) == ["a", "b", *(f"v{n}" for n in range(2, number + 1))]
        assert reader.refresh() == store.refresh() == 8
        assert first.num_arcs == 1 and list(first.vertices) == ["a", "b"]
        for change in (reader.insert, reader.delete):
            with pytest.raises(ArgumentError, match='opened with mode="r" to read; open it with mode="a"'):
                change(["a"], ["b"])
    reader.close()


def test_a_reader_merges_runs_of_its_own(tmp_path):
    """When it is opened, and when it goes on: rows are read from few, whatever the writer has merged."""
    with tg.dynamic.open(tmp_path, weights=torch.float32) as store:
        store.insert([0], [1], [0.0])
        reader = tg.dynamic.open(tmp_path, mode="r")
        for number in range(1, 4 * tiers.FANOUT):
            store.insert(torch.arange(2000), torch.full((2000,), number), torch.full((2000,), float(number)))
            if number == 2 * tiers.FANOUT:
                reader.refresh()
        with tg.dynamic.open(tmp_path, mode="r") as other:
            assert reader.refresh() == other.version == store.version
            for one in (reader, other):
                assert len(one.info()["runs"]) < 2 * tiers.FANOUT
                offset, neighbors, data = one.neighbors([7, 1999])
                assert offset.tolist() == [0, 4 * tiers.FANOUT - 1, 2 * (4 * tiers.FANOUT - 1)]
                assert torch.equal(neighbors.float(), data["weights"])
                assert torch.equal(one.snapshot().neighbors, store.snapshot().neighbors)
        reader.close()


def test_labels_that_no_file_holds_are_refused_and_change_nothing(tmp_path):
    with tg.dynamic.open(tmp_path, ids="any") as store:
        with pytest.raises(ArgumentError, match=r"ids: a file holds integers or text, not the label \(1, 2\)"):
            store.insert(["a", (1, 2)], ["b", "c"])
        assert store.insert([7], [8]) == 1 and store.snapshot().vertices.tolist() == [7, 8]


@pytest.mark.skipif(not hasattr(os, "fdatasync"), reason="the tests replace it")
def test_writers_share_a_sync(tmp_path, monkeypatch):
    """Those that come while one goes on are all on the disk after the next; each waits for one that began after it."""
    begun, ended, entered, go_on, sync = [], [], threading.Event(), threading.Event(), os.fdatasync

    def slow(file):
        begun.append(store._log.number)
        entered.set()
        assert go_on.wait(60)
        sync(file)
        ended.append(begun[-1])

    with tg.dynamic.open(tmp_path) as store:
        store.insert([0], [1])
        monkeypatch.setattr(os, "fdatasync", slow)
        writers = [threading.Thread(target=store.insert, args=([number], [number + 1])) for number in range(9)]
        writers[0].start()
        assert entered.wait(60)
        for writer in writers[1:]:
            writer.start()
        while store._log.number < 10:
            pass
        assert store.version == 1 and not ended
        go_on.set()
        for writer in writers:
            writer.join()
        assert store.version == 10 and ended == [2, 10]


@pytest.mark.skipif(not hasattr(os, "fdatasync"), reason="the tests replace it")
def test_without_sync_the_disk_is_not_waited_for(tmp_path, monkeypatch):
    store = tg.dynamic.open(tmp_path, sync="never")
    calls = []
    monkeypatch.setattr(os, "fdatasync", calls.append)
    store.insert([0], [1])
    assert store.version == 1 and not calls
    monkeypatch.undo()
    store.close()


def test_an_empty_manifest_of_a_killed_process_is_no_store(tmp_path):
    (tmp_path / f".manifest.json.{2**22 + 1}.part").write_bytes(b"")
    with tg.dynamic.open(tmp_path) as store:
        store.insert([0], [1])
    assert not list(tmp_path.glob(".*"))
    assert json.loads((tmp_path / "manifest.json").read_bytes()).keys() == {"checksum", "manifest"}


def test_a_folder_that_is_read_as_a_file_and_a_file_that_is_opened_as_a_folder(tmp_path):
    tg.dynamic.open(store := tmp_path / "web.tgd").close()
    (tmp_path / "empty.tg").mkdir()
    (tmp_path / "edges.el").write_text("0 1\n")
    for ask in (
        tg.read,
        tg.verify,
        lambda path: tg.open(path, memory="1MB"),
        lambda path: tg.stream.convert(path, tmp_path / "out.tg", parts=2),
        lambda path: tg.write(tg.generators.path(3), path),
    ):
        with pytest.raises(ArgumentError, match=r"web\.tgd is the folder of a store; tgraph.dynamic.open opens it"):
            ask(store)
        with pytest.raises(ArgumentError, match=r"empty\.tg is a folder; name a file in it"):
            ask(tmp_path / "empty.tg")
    for ask in (tg.dynamic.open, lambda path: tg.dynamic.open(path, mode="r"), tg.dynamic.verify):
        with pytest.raises(ArgumentError, match=r"edges\.el is a file, and a store is a folder; tgraph\.read"):
            ask(tmp_path / "edges.el")
