"""Temporary files that killed processes leave."""

import os
import subprocess
import sys

from tgraph.files import atomic_write


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
