"""Files that are replaced as a whole, and the temporary ones that killed processes leave."""

import os
import subprocess
import sys
import threading

import pytest

import tgraph as tg
from tgraph.files import atomic_write

WRITTEN = ["tg", "el", "csv", "npz", "parquet", "mtx", "graph", "el.gz", "el.xz", "el.zst"]


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


def test_no_process_is_asked_where_that_would_end_it(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_write.sys, "platform", "win32")
    monkeypatch.delattr(os, "kill")
    (left := tmp_path / ".a.tg.1.part").write_text("")
    atomic_write.remove_leftovers(tmp_path / "a.tg", "part")
    assert left.exists()


def test_threads_that_write_one_file_leave_one_of_theirs(tmp_path):
    graphs, faults = [tg.generators.path(50), tg.generators.path(70)], []

    def write(graph):
        try:
            for _ in range(20):
                tg.write(graph, tmp_path / "same.tg")
        except OSError as fault:
            faults.append(fault)

    threads = [threading.Thread(target=write, args=(graph,)) for graph in graphs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert tg.verify(tmp_path / "same.tg") and tg.read(tmp_path / "same.tg").num_vertices in (50, 70)
    assert os.listdir(tmp_path) == ["same.tg"]


@pytest.mark.parametrize("extension", WRITTEN)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_names_may_be_as_long_as_the_system_has_them(tmp_path, extension):
    path = tmp_path / f"{'x' * (254 - len(extension))}.{extension}"
    tg.write(tg.generators.cycle(5), path)
    assert tg.read(path).num_vertices == 5
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="the system has no symbolic links")
def test_a_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path, monkeypatch):
    (victim := tmp_path / "victim").write_text("mine")
    monkeypatch.setattr(atomic_write.secrets, "token_hex", lambda count: "known")
    os.symlink(victim, tmp_path / f"{atomic_write.prefix(tmp_path / 'out.el')}known.part")
    with pytest.raises(FileExistsError):
        tg.write(tg.generators.path(3), tmp_path / "out.el")
    assert victim.read_text() == "mine"


def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        tg.write(tg.generators.path(3), tmp_path / "out.el")
    finally:
        os.umask(before)
    if sys.platform != "win32":
        assert (tmp_path / "out.el").stat().st_mode & 0o777 == 0o640
