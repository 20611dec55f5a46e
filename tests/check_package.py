"""The archives in dist/ (make package-test): what they hold, and that each works in an empty environment, away from the
repository, the wheel where there is no compiler."""

import os
import shutil
import subprocess
import sys
import tarfile
import textwrap
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BESIDE = ("pytest", "networkx", "scipy")  # what the smoke tests use besides
MEGABYTE = 10**6


def only(pattern: str) -> Path:
    (found,) = (ROOT / "dist").glob(pattern)
    return found


def test_the_wheel_holds_what_runs_and_nothing_else():
    wheel = only("*.whl")
    assert wheel.stat().st_size < 6 * MEGABYTE
    assert not sys.platform.startswith("linux") or "manylinux" in wheel.name
    assert sys.version_info < (3, 12) or "-cp312-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    folders = {name.split("/")[0].removesuffix(".dist-info") for name in names}
    assert {folder.split("-")[0] for folder in folders} == {"tgraph", "_tgraph_networkx"}  # no libraries were copied in
    needed = ["py.typed", "drawing/page.html", "algorithms/paths/bfs.py", "kernels/cuda/src/base/common.cuh"]
    assert {f"tgraph/{name}" for name in needed} <= set(names)
    assert any(name.startswith("tgraph/_native") for name in names)
    assert {"LICENSE", "nanobind.txt", "robin_map.txt"} <= {
        name.rsplit("/", 1)[1] for name in names if "licenses" in name
    }
    assert not [name for name in names if name.endswith((".cpp", ".hpp")) or "/tests/" in name]


def test_the_source_archive_is_complete():
    archive = only("*.tar.gz")
    assert archive.stat().st_size < 2 * MEGABYTE
    with tarfile.open(archive) as opened:
        held = {name.split("/", 1)[1] for name in opened.getnames() if "/" in name}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    left_out = (".ci/", ".github/", "bench/", "examples/", "tests/docs/", "tests/kernels/cuda/")
    left_out += tuple(f"tests/test_{name}" for name in ("bench", "clusters", "examples", "gpu_check", "scaling"))
    left_out += ("tests/test_training_examples", "tests/networkx/test_users")
    kept = {name for name in tracked if name and not name.startswith(left_out)}
    assert kept - held - {".gitignore"} == set()
    assert not [name for name in held if name.startswith("build/") or name.endswith((".so", ".pyc"))]


@pytest.fixture
def environment(tmp_path):
    """A function that installs an archive into an empty environment, with or without a compiler, and returns a function
    that runs a command of it in an empty folder, with its output."""

    def install(archive, has_compiler):
        venv.create(tmp_path / "env", with_pip=True)
        own, folder = tmp_path / "env" / "bin", tmp_path / "empty"
        folder.mkdir()
        shutil.copy(ROOT / "tests" / "test_smoke.py", folder)
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TGRAPH"))}
        variables |= {"PATH": f"{own}{os.pathsep}{os.environ['PATH']}"}
        if not has_compiler:
            variables |= {"PATH": str(own), "CXX": "", "CC": ""}

        def run(*command):
            done = subprocess.run(
                [own / command[0], *command[1:]], cwd=folder, env=variables, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            return done.stdout

        constrained = ("pip", "install", "-q", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt"))
        run(*constrained, str(archive), *BESIDE)
        return run

    return install


# One runtime of OpenMP in the process, that of torch, and several threads in the kernels.
THREADS = """
import os, re, sys
import torch, tgraph as tg
from pathlib import Path
from tgraph.core.system import native

kernels = native.load()
assert Path(tg.__file__).is_relative_to(sys.prefix) and Path(kernels.__file__).is_relative_to(sys.prefix)
graph = tg.generators.rmat(16)
torch.set_num_threads(1)
alone = tg.algorithms.pagerank(graph)
torch.set_num_threads(2)
assert kernels.thread_count() == min(2, len(os.sched_getaffinity(0)))
assert torch.equal(tg.algorithms.pagerank(graph), alone) and torch.rand(1 << 20).sum() > 0
mapped = set(re.findall(r"/[^ \\n]*lib(?:gomp|iomp|omp)[-.\\w]*", Path("/proc/self/maps").read_text()))
print(len(mapped), *mapped)
"""


def works(run, has_kernels=True):
    """Whether the demo and the smoke tests pass there, with the compiled kernels."""
    load = "from tgraph.core.system import native; print(native.load() is not None)"
    assert run("python", "-W", "ignore", "-c", load).strip() == str(has_kernels)
    assert "PageRank" in run("tgraph", "demo")
    run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_smoke.py")


def test_the_wheel_needs_no_compiler(environment):
    run = environment(only("*.whl"), has_compiler=False)
    works(run)
    if sys.platform.startswith("linux"):
        number, *mapped = run("python", "-c", textwrap.dedent(THREADS)).split()
        assert number == "1" and "torch" in mapped[0]


def test_the_source_archive_is_compiled(environment):
    works(environment(only("*.tar.gz"), has_compiler=True))


def test_the_source_archive_installs_without_a_compiler(environment):
    run = environment(only("*.tar.gz"), has_compiler=False)
    works(run, has_kernels=False)


def test_the_tests_of_the_source_archive_are_found(tmp_path):
    with tarfile.open(only("*.tar.gz")) as opened:
        opened.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True)
    assert done.returncode == 0 and "error" not in done.stdout.splitlines()[-1], done.stdout[-3000:]
