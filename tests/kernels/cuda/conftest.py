"""Where the tests of CUDA kernels run them: on the host by the shim, and on a GPU where there is one."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from built import forget_old
from host import Host
from pull_samples import SMALL

from tgraph.kernels.cuda import bins, loop, runtime, union_find

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == HERE and ("host" in item.fixturenames or on_the_shim(item)):
            item.add_marker("emulated")


def on_the_shim(item):
    """Whether a test asks for the host by its `device`, which is not told among its fixtures."""
    return hasattr(item, "callspec") and item.callspec.params.get("device") == "shim"


@pytest.fixture(scope="session", autouse=True)
def recent_only():
    """What was compiled for tests is removed after some time."""
    forget_old()


@pytest.fixture(scope="session")
def host():
    """The launcher of the shim; its kernels are compiled once for all tests."""
    if shutil.which("g++") is None:
        pytest.skip("the shim is compiled by g++, which is missing")
    return Host()


@pytest.fixture(scope="module")
def host_launch(host):
    """The shim alone, for all examples of a property."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "launch", host.launch)
        yield


@pytest.fixture(params=["shim", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    """The torch device on which a test that takes it shall compute, once with each launcher: the CPU, where the shim
    runs the kernels, and the first GPU."""
    if request.param == "shim":
        monkeypatch.setattr(runtime, "launch", request.getfixturevalue("host").launch)
        return torch.device("cpu")
    skip_without_gpu()
    return torch.device("cuda", 0)


@pytest.fixture
def launcher(request, device):
    """Where kernels of frontiers and relaxations run: its `device`, and on the host its `seed`, which draws the order
    of their threads."""
    if device.type == "cuda":
        return SimpleNamespace(device=device, seed=0)
    host = request.getfixturevalue("host")
    host.prepare([*loop.instantiations(), *union_find.instantiations()])
    host.device, host.seed = device, 0
    return host


@pytest.fixture
def small_bins(monkeypatch):
    """Bins whose borders small graphs pass."""
    for name, value in SMALL.items():
        monkeypatch.setattr(bins, name, value)


def skip_without_gpu():
    if (reason := runtime.unavailable()) is not None:
        pytest.skip(reason)
