"""What all tests share: how hypothesis runs, and the fixtures that repeat a test for every mode and backend."""

import gc
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import torch
from browsers import browser, visit  # noqa: F401
from covering import chosen
from hypothesis import HealthCheck, settings

# Small graphs gain nothing from threads, and on a busy machine every parallel loop waits for a core. Tests of
# parallel code ask for threads themselves.
torch.set_num_threads(1)
os.environ["TGRAPH_CPUS"] = "64"  # so that they get them on any machine

# What is collected and imported, a million objects, lives until the end: searching it for garbage again and again while
# it grows would take as long as the collection itself.
gc.disable()


def pytest_collection_modifyitems(items):
    """Of the combinations of parameters of a test that is marked `covering`, those that are not needed are thorough."""
    marked = {}
    for item in items:
        if mark := item.get_closest_marker("covering"):
            marked.setdefault((item.nodeid.partition("[")[0], *mark.args), []).append(item)
    for (_, strength), combinations in marked.items():
        for item, taken in zip(
            combinations, chosen([each.callspec.params for each in combinations], strength), strict=True
        ):
            if not taken:
                item.add_marker("thorough")


def pytest_collection_finish():
    """From here on there is garbage, among what is made from here on."""
    gc.freeze()
    gc.enable()


# No test depends on how fast the machine is; those whose examples share a fixture reset what they change.
UNCHECKED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("tgraph", deadline=None, print_blob=True, suppress_health_check=UNCHECKED)
# What `make test` and CI take: few examples, the same each time, so that what fails is what was changed.
# `make test-all` draws many others.
settings.register_profile("quick", settings.get_profile("tgraph"), max_examples=15, derandomize=True)
settings.load_profile("tgraph")


@pytest.fixture(scope="session", autouse=True)
def empty_cache(tmp_path_factory):
    """No choice that tgraph.tune has stored for the present user, nor one that a test leaves to those after it."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TGRAPH_CACHE", str(folder))
        yield
    assert not (folder / "tuned.json").exists(), "a test that tunes takes the fixture `untuned`"


@pytest.fixture
def untuned(tmp_path, monkeypatch):
    """The folder of a cache of the test's own: choices of tgraph.tune hold for that test."""
    from tgraph.kernels import tuned  # once the environment is set

    folder = tmp_path / "cache"
    monkeypatch.setenv("TGRAPH_CACHE", str(folder))
    tuned.forget()
    yield folder
    tuned.forget()


@pytest.fixture(params=["native", "portable"])
def kernels(request, monkeypatch):
    """With the compiled kernels, and without."""
    from tgraph.core.system import native  # once the environment is set

    if request.param == "portable":
        monkeypatch.setenv("TGRAPH_NATIVE", "0")
    elif native.load() is None:
        pytest.skip("the native kernels are not installed")


@pytest.fixture(scope="session", params=["auto", "push", "pull"])
def mode(request):
    """The direction of a run."""
    return request.param


@pytest.fixture(scope="session", params=["auto", "portable"])
def backend(request):
    """The choices of a backend that serve every call: "auto" takes the native kernels where these serve; chosen by
    name, they and the others refuse some calls."""
    return request.param


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """Runs an example in this process, its temporary files in a folder that vanishes, and returns what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(script: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        runpy.run_path(str(Path(__file__).parents[1] / "examples" / script), run_name="__main__")
        return capsys.readouterr().out

    return run


@pytest.fixture
def mounted():
    """A function that mounts a file system of a size such as "1m" and returns its folder; called again, the same one
    has that size from then on. It is where other users find it: a server may run as one."""
    folder = Path(tempfile.mkdtemp(prefix="tgraph-disk-"))

    def mount(size):
        options = f"{'remount,' if os.path.ismount(folder) else ''}size={size}"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", os.fspath(folder)]
        if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("no file system can be mounted here")
        return folder

    yield mount
    if os.path.ismount(folder):
        subprocess.run(["umount", "-l", os.fspath(folder)], check=True)  # which some stores keep open
    folder.rmdir()
