"""Where the tests of CUDA kernels run them: on the host by the shim, and on a GPU where there is one."""

import shutil

import pytest
import torch
from host import Host

from tgraph.kernels.cuda import runtime


@pytest.fixture(scope="session")
def host():
    """The launcher of the shim, whose kernels stay compiled for all tests."""
    if shutil.which("g++") is None:
        pytest.skip("the shim is compiled by g++, which is missing")
    return Host()


@pytest.fixture(params=["shim", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    """The torch device on which a test that takes it shall compute, once with each launcher: the CPU, where the shim
    runs the kernels, and the first GPU."""
    if request.param == "shim":
        monkeypatch.setattr(runtime, "launch", request.getfixturevalue("host").launch)
        return torch.device("cpu")
    skip_without_gpu()
    return torch.device("cuda", 0)


def skip_without_gpu():
    if (reason := runtime.unavailable()) is not None:
        pytest.skip(reason)
