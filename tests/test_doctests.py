"""The public interface has examples in its docstrings, and they give what they say."""

import doctest
from importlib import util
from types import ModuleType

import pytest
import torch
import torch.distributed as dist
from public_interface import PUBLIC, defined_in

import tgraph as tg

# What examples need beside TGraph and what it depends on, by what their names begin with: packages, and servers.
PACKAGES = {
    "tgraph.from_networkx": "networkx",
    "tgraph.Graph.to_networkx": "networkx",
    "tgraph.from_scipy": "scipy",
    "tgraph.Graph.to_scipy": "scipy",
    "tgraph.from_igraph": "igraph",
    "tgraph.Graph.to_igraph": "igraph",
    "tgraph.from_pyg": "torch_geometric",
    "tgraph.Graph.to_pyg": "torch_geometric",
    "tgraph.io.npz.read": "scipy",
    "tgraph.nn.Acceleration": "torch_geometric",
    "tgraph.nn.accelerate": "torch_geometric",
    "tgraph.nn.restore": "torch_geometric",
    "tgraph.pyg.Cluster": "pymetis",
    "tgraph.stores.LadybugStore": "ladybug",
    "tgraph.stores.LmdbStore": "lmdb",
    "tgraph.stores.RocksDbStore": "rocksdict",
}
SERVERS = {"tgraph.stores.RedisStore": "Redis", "tgraph.stores.PostgresStore": "PostgreSQL"}

# Names that need no example, by what they begin with, and why.
WITHOUT = {
    "tgraph.formats.LAYOUTS": "a table",
    "tgraph.stores.EDGES": "a constant",
    "tgraph.formats.Layout.": "what a layout tells the engine",
    "tgraph.formats.csr.CSR.": "what a layout tells the engine",
    "tgraph.formats.dcsr.DCSR.": "what a layout tells the engine",
    "tgraph.Trace.add_rounds": "what a backend tells the engine",
    "tgraph.Trace.note": "what a backend tells the engine",
    "tgraph.pyg.HGTSampler.sample_from_edges": "raises an error alone",
    "tgraph.errors.TGraphError.": "parts of a message",
}
OF_LAYERS = ("forward", "reset_parameters")  # the classes have examples

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples() -> dict[str, doctest.DocTest]:
    """{name: its example}; an object that has several names has the first of these."""
    finder = doctest.DocTestFinder(recurse=False)
    names = {id(value): name for name, value in reversed(PUBLIC.items()) if not isinstance(value, ModuleType)}
    tests = (test for name in names.values() for test in finder.find(PUBLIC[name], name, module=False, globs={}))
    return {test.name: test for test in tests if test.examples}


EXAMPLES = examples()
MODULES = sorted({defined_in(PUBLIC[name]) for name in EXAMPLES})


def test_every_public_name_has_an_example():
    ids = {id(PUBLIC[name]) for name in EXAMPLES}
    assert not [name for name, value in PUBLIC.items() if id(value) not in ids and not goes_without(name, value)]


def goes_without(name: str, value: object) -> bool:
    of_layer = name.startswith("tgraph.nn.") and name.rpartition(".")[2] in OF_LAYERS
    return isinstance(value, ModuleType) or of_layer or name.startswith(tuple(WITHOUT))


def test_exceptions_are_names():
    pytest.importorskip("torch_geometric", reason="names of what builds on it are among them")
    assert not [beginning for beginning in WITHOUT if not any(name.startswith(beginning) for name in PUBLIC)]
    needing = (*PACKAGES, *SERVERS)
    assert not [beginning for beginning in needing if not any(name.startswith(beginning) for name in EXAMPLES)]


@pytest.fixture
def ranks(module, monkeypatch):
    """A process group of one rank, for examples that run on any number; what torchrun says, for one that makes it."""
    if module == "tgraph.distributed.ranks.process_group":
        for name, value in {"RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "localhost", "MASTER_PORT": 0}.items():
            monkeypatch.setenv(name, str(value))
    elif module.startswith("tgraph.distributed."):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


@pytest.mark.filterwarnings("ignore::UserWarning")  # of formats that do not hold all that a graph has
@pytest.mark.parametrize("native", [True, pytest.param(False, marks=pytest.mark.thorough)], ids=["as-is", "portable"])
@pytest.mark.parametrize("module", MODULES)
def test_examples(module, native, tmp_path, monkeypatch, ranks, untuned):
    """Each in an empty folder, with whatever kernels are installed, and without."""
    if not native:
        monkeypatch.setenv("TGRAPH_NATIVE", "0")
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    tests = {name: test for name, test in EXAMPLES.items() if defined_in(PUBLIC[name]) == module}
    needs = {name: missing(name) for name in tests}
    for name in (name for name in tests if not needs[name]):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        tests[name].globs = {"tg": tg, "torch": torch}
        runner.run(tests[name], out=report.append)
    assert not runner.failures, "".join(report)
    if any(needs.values()):
        pytest.skip("; ".join(f"{name} needs {need}" for name, need in needs.items() if need))


def missing(name: str) -> str | None:
    """What the example of this name needs and is not there."""
    for beginning, package in PACKAGES.items():
        if name.startswith(beginning) and util.find_spec(package) is None:
            return f"the package {package}"
    return next((f"a {server} server" for beginning, server in SERVERS.items() if name.startswith(beginning)), None)
