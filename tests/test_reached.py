"""`make quick` runs the tests that a change reaches."""

import subprocess

import pytest
import reached as selection
from reached import FILES, MODULES, ROOT, TESTS, beside, changes, defining, reached, twins


def names(*changed):
    return {path.relative_to(TESTS).as_posix() for path in reached(changed)}


@pytest.mark.parametrize(
    ("changed", "some", "others"),
    [
        ("algorithms/paths/bfs.py", {"algorithms/paths/test_bfs.py", "test_smoke.py"}, {"io/test_read.py"}),
        ("tgraph/formats/dcsr.py", {"formats/test_layouts.py", "test_layering.py"}, {"dynamic/test_store.py"}),
        ("tgraph/io/convert.py", {"io/test_convert.py"}, {"sampling/test_saint.py"}),
        ("tgraph/kernels/native/sampling/draws.hpp", {"sampling/test_neighbor_sampler.py"}, {"drawing/test_draw.py"}),
        ("tgraph/pages/report.py", {"pages/test_report.py", "test_smoke.py"}, {"model/test_program.py"}),
        ("tgraph/markup/page.css", {"markup/test_page.py"}, {"test_licences.py"}),
        ("tests/strategies.py", {"model/test_operators.py"}, {"test_licences.py"}),
        ("tests/io/test_read.py", {"io/test_read.py"}, {"io/test_convert.py"}),
        ("docs/guide.md", {"test_docstrings.py"}, {"model/test_operators.py"}),
        ("CONTRIBUTING.md", {"test_contributing.py"}, {"test_smoke.py"}),
        ("bench/gpu_check.py", {"test_gpu_check.py"}, {"io/test_read.py"}),
    ],
)
def test_what_is_near_and_not_what_is_far(changed, some, others):
    assert (ROOT / changed).exists()
    found = names(changed)
    assert some <= found and not others & found
    assert all((TESTS / each).exists() for each in others)


def test_a_header_stands_for_all_that_include_it():
    assert names("tgraph/kernels/native/threads/team.hpp") > names("tgraph/kernels/native/threads/team.cpp")


@pytest.mark.parametrize("changed", ["tests/conftest.py", "pyproject.toml"])
def test_everything(changed):
    assert reached([changed, "CHANGELOG.md"]) == set(FILES)


def test_kernels_stand_for_the_portable_ones_that_others_import():
    assert twins("tgraph.kernels.native.sampling.neighbors") == {"tgraph.kernels.operators.sampling.neighbors"}


def test_each_module_has_tests():
    without = {name for name, path in MODULES.items() if name.startswith("tgraph.") and not beside(path)}
    bottom = {f"tgraph.{name}" for name in ("deferred", "errors", "interrupts", "progress", "terminal")}
    assert without == bottom | {"tgraph.__main__"}
    assert {"test_progress.py", "test_smoke.py"} <= names("tgraph/progress.py") & names("tgraph/errors.py")


def test_a_name_that_packages_pass_on():
    assert defining("tgraph.read") == "tgraph.io"
    assert defining("tgraph.algorithms.bfs") == "tgraph.algorithms.paths.bfs"
    assert defining("tgraph.run") == "tgraph.engine.run"
    assert defining("torch.run") is None


def test_changes_since_a_commit(tmp_path, monkeypatch, capsys):
    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    for name in ("old.py", "gone.py", "some name.py"):
        (tmp_path / name).write_text("1\n")
    (tmp_path / ".gitignore").write_text("*.so\n")
    git("add", ".")
    git("commit", "-m", "first")
    assert changes("HEAD", tmp_path) == []
    git("checkout", "-b", "work")
    (tmp_path / "old.py").write_text("2\n")
    git("commit", "-am", "second")
    (tmp_path / "some name.py").write_text("2\n")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "new.py").touch()
    (tmp_path / "a.so").touch()
    assert changes("HEAD", tmp_path) == ["gone.py", "new.py", "some name.py"]
    assert changes("main", tmp_path) == ["gone.py", "new.py", "old.py", "some name.py"]
    monkeypatch.setattr(selection, "changes", lambda base: ["tests/io/test_read.py"])
    selection.main()
    said = capsys.readouterr()
    assert said.out == "tests/io/test_read.py\n"
    assert said.err == f"1 files differ from HEAD and reach 1 of {len(FILES)} files of tests\n"
