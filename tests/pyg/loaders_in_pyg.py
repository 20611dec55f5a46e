"""A plugin of pytest for the tests of PyTorch Geometric, which replaces its loaders by those of tgraph.pyg.

    PYTHONPATH=tests/pyg pytest -p loaders_in_pyg FOLDER

Tests that ask for pyg-lib, torch-sparse or METIS run, since ours need them not; what they compute themselves with
torch-sparse's SparseTensor is done by a small stand-in. Citation networks are those of ../shared/data. The summary
counts the batches that TGraph sampled; a run without any fails.
"""

import functools
import random
from pathlib import Path

import pytest
import torch
import torch_geometric.typing

torch_geometric.typing.WITH_PYG_LIB = True  # before its decorators are imported, which read it

import torch_geometric.datasets  # noqa: E402
import torch_geometric.loader  # noqa: E402
import torch_geometric.loader.link_neighbor_loader  # noqa: E402
import torch_geometric.loader.neighbor_loader  # noqa: E402
import torch_geometric.sampler.neighbor_sampler  # noqa: E402
import torch_geometric.testing.decorators as decorators  # noqa: E402

import tgraph.pyg as ours  # noqa: E402
from tgraph.sampling.relations import Arcs  # noqa: E402

DATA = Path(__file__).parents[3] / "shared" / "data"

OTHERWISE = {
    "test_homogeneous_neighbor_sampler_weighted_backwards[remote]": pytest.mark.xfail(
        reason="expects NotImplementedError for weights in stores, which ours sample by", strict=True
    ),
    "test_cpu_affinity_neighbor_loader": pytest.mark.skip(
        "fails with PyTorch Geometric's loader, too, and what its workers leave ends the run"
    ),
}

sampled = 0


class SparseTensor:
    """Entries by row and column, with what the tests ask of those of torch-sparse."""

    def __init__(self, row, col, value, sparse_sizes=None, is_sorted=False):
        self.size = max(int(row.max()), int(col.max())) + 1 if sparse_sizes is None else sparse_sizes[0]
        order = (row * self.size + col).argsort(stable=True)
        self.entries = row[order], col[order], value[order]
        self.storage = self

    row, col, value = (property(lambda self, i=i: lambda: self.entries[i]) for i in range(3))

    def coo(self):
        return self.entries

    def csr(self):
        row, col, value = self.entries
        return torch.searchsorted(row, torch.arange(self.size + 1)), col, value

    def cpu(self):
        return self

    def nnz(self):
        return len(self.entries[0])

    def t(self):
        row, col, value = self.entries
        return SparseTensor(col, row, value, (self.size, self.size))

    def __getitem__(self, index):
        found = [torch.full((self.size,), -1).scatter_(0, i, torch.arange(len(i))) for i in index]
        row, col = (place[end] for place, end in zip(found, self.entries, strict=False))
        kept = (row >= 0) & (col >= 0)
        return SparseTensor(row[kept], col[kept], self.entries[2][kept], (self.size, self.size))


def pytest_configure(config):
    config.addinivalue_line("markers", "dataset: needs a graph that is downloaded, or in ../shared/data")
    for name in ("WITH_EDGE_TIME_NEIGHBOR_SAMPLE", "WITH_WEIGHTED_NEIGHBOR_SAMPLE"):
        setattr(torch_geometric.typing, name, True)
    has_package = decorators.has_package
    decorators.has_package = lambda package: package.startswith(("pyg_lib", "torch_sparse")) or has_package(package)
    torch_geometric.testing.withMETIS = lambda test: test
    with_package = torch_geometric.testing.withPackage
    both = pytest.mark.skip("compares pyg-lib with torch-sparse")
    torch_geometric.testing.withPackage = lambda *names: both if len(names) == 2 else with_package(*names)
    torch_geometric.typing.SparseTensor = SparseTensor
    loader, sampler = torch_geometric.loader, torch_geometric.sampler
    for name in ours.__all__:
        if hasattr(loader, name):
            setattr(loader, name, getattr(ours, name))
    for module in (sampler, sampler.neighbor_sampler, loader.neighbor_loader, loader.link_neighbor_loader):
        module.NeighborSampler = ours.NeighborSampler
    torch_geometric.datasets.Planetoid.url = property(lambda self: folder_of(self.name))
    count_samples()


def folder_of(name):
    """The files of a citation network."""
    folder = DATA / f"planetoid-{name.lower()}"
    if not folder.exists():
        pytest.skip(f"{name} is not in ../shared/data")
    return str(folder)


def pytest_collection_modifyitems(items):
    for item in items:
        for name in {item.name, item.originalname} & OTHERWISE.keys():
            item.add_marker(OTHERWISE[name])


def pytest_runtest_setup():
    random.seed(0)  # by which some data sets of tests are drawn, so that not all of them meet what is asserted


def count_samples():
    for owner, name in ((ours.NeighborSampler, "_sample"), (Arcs, "between")):
        setattr(owner, name, counted(getattr(owner, name)))


def counted(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        global sampled
        sampled += 1
        return function(*args, **kwargs)

    return call


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"TGraph sampled {sampled} batches")


def pytest_sessionfinish(session):
    if not sampled and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
