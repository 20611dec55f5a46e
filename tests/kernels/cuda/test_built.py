"""What tests compile is kept, for as long as nothing that it was made from changes."""

import os
import shutil
import time

import built
import host
import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(built, "FOLDER", tmp_path)
    return tmp_path


def test_a_file_is_made_once(folder):
    made = []

    def make(path):
        made.append(path)
        path.write_text("done")

    for _ in range(2):
        assert built.built("some/file.txt", make).read_text() == "done"
    assert len(made) == 1 and [path.name for path in folder.rglob("*.*")] == ["file.txt"]


def test_what_fails_leaves_nothing(folder):
    def fail(path):
        path.write_text("half")
        raise RuntimeError("no compiler")

    with pytest.raises(RuntimeError, match="no compiler"):
        built.built("some/file.txt", fail)
    assert not list(folder.rglob("*.*"))


def test_files_that_are_unused_for_weeks_are_removed(folder):
    for name, days in (("old.txt", built.DAYS + 1), ("new.txt", built.DAYS - 1)):
        path = built.built(name, lambda path: path.write_text("done"))
        os.utime(path, (0, time.time() - days * 24 * 3600))
    built.built("asked.txt", lambda path: path.write_text("done"))
    built.forget_old()
    assert sorted(path.name for path in folder.iterdir()) == ["asked.txt", "new.txt"]


@pytest.mark.skipif(shutil.which("g++") is None, reason="the shim is compiled by g++, which is missing")
def test_a_library_depends_on_sources_headers_and_flags(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "HERE", tmp_path)
    shim = tmp_path / "shim.hpp"
    shim.write_text("// one\n")
    first = host.made_from("text", "relaxation/frontier.cu")
    assert host.made_from("text", "relaxation/frontier.cu") == first
    others = [host.made_from("other", "relaxation/frontier.cu"), host.made_from("text", "aggregation/sell.cu")]
    monkeypatch.setattr(host, "FLAGS", [*host.FLAGS, "-O0"])
    others.append(host.made_from("text", "relaxation/frontier.cu"))
    shim.write_text("// two\n")
    others.append(host.made_from("text", "relaxation/frontier.cu"))
    assert len({first, *others}) == 5
