"""A plugin of pytest for the tests of PyTorch Geometric, which replaces its neighbour loaders by those of tgraph.pyg.

    PYTHONPATH=tests/pyg pytest -p loaders_in_pyg FOLDER

Tests that ask for pyg-lib run, since ours need it not. The summary counts the batches that TGraph sampled; a run
without any fails.
"""

import functools

import pytest
import torch_geometric.typing

torch_geometric.typing.WITH_PYG_LIB = True  # before its decorators are imported, which read it

import torch_geometric.loader  # noqa: E402
import torch_geometric.loader.link_neighbor_loader  # noqa: E402
import torch_geometric.loader.neighbor_loader  # noqa: E402
import torch_geometric.sampler.neighbor_sampler  # noqa: E402
import torch_geometric.testing.decorators as decorators  # noqa: E402

import tgraph.pyg as ours  # noqa: E402

sampled = 0


def pytest_configure():
    for name in ("WITH_EDGE_TIME_NEIGHBOR_SAMPLE", "WITH_WEIGHTED_NEIGHBOR_SAMPLE"):
        setattr(torch_geometric.typing, name, True)
    has_package = decorators.has_package
    decorators.has_package = lambda package: package.startswith("pyg_lib") or has_package(package)
    loader, sampler = torch_geometric.loader, torch_geometric.sampler
    loader.NeighborLoader, loader.LinkNeighborLoader = ours.NeighborLoader, ours.LinkNeighborLoader
    for module in (sampler, sampler.neighbor_sampler, loader.neighbor_loader, loader.link_neighbor_loader):
        module.NeighborSampler = ours.NeighborSampler
    count_samples()


def count_samples():
    sample = ours.NeighborSampler._sample

    @functools.wraps(sample)
    def counted(self, *args, **kwargs):
        global sampled
        sampled += 1
        return sample(self, *args, **kwargs)

    ours.NeighborSampler._sample = counted


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"TGraph sampled {sampled} batches")


def pytest_sessionfinish(session):
    if not sampled and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
