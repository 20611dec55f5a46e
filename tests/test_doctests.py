"""The examples in the docstrings of the public interface give what they say."""

import doctest
from importlib import util
from types import ModuleType

import pytest
import torch
from public_interface import PUBLIC, defined_in

import tgraph as tg
from tgraph.kernels import tuned

# The packages beside TGraph's own that examples need, by what their names begin with.
NEEDS = {
    "tgraph.Graph.from_networkx": "networkx",
    "tgraph.Graph.to_networkx": "networkx",
    "tgraph.Graph.from_scipy": "scipy",
    "tgraph.Graph.to_scipy": "scipy",
    "tgraph.io.npz.read": "scipy",
    "tgraph.nn.Acceleration": "torch_geometric",
    "tgraph.nn.accelerate": "torch_geometric",
    "tgraph.nn.restore": "torch_geometric",
    "tgraph.pyg.ClusterData": "pymetis",
    "tgraph.pyg.ClusterLoader": "pymetis",
    "tgraph.stores.LadybugStore": "ladybug",
    "tgraph.stores.LmdbStore": "lmdb",
    "tgraph.stores.RocksDbStore": "rocksdict",
}

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples() -> dict[str, list[doctest.DocTest]]:
    """{module: the examples of what it defines}; those of an object that has several names are there once."""
    finder = doctest.DocTestFinder(recurse=False)
    names = {id(value): name for name, value in reversed(PUBLIC.items()) if not isinstance(value, ModuleType)}
    found: dict[str, list[doctest.DocTest]] = {}
    for name in sorted(names.values()):
        for test in finder.find(PUBLIC[name], name, module=False, globs={"tg": tg, "torch": torch}):
            if test.examples:
                found.setdefault(defined_in(PUBLIC[name]), []).append(test)
    return found


EXAMPLES = examples()


@pytest.fixture
def untuned(tmp_path, monkeypatch):
    """What `tune` chooses in an example holds within it."""
    monkeypatch.setenv("TGRAPH_CACHE", str(tmp_path / "cache"))
    yield
    tuned.forget()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("module", EXAMPLES)
def test_examples(module, tmp_path, monkeypatch, untuned):
    monkeypatch.chdir(tmp_path)
    report, runner, left_out = [], doctest.DocTestRunner(optionflags=OPTIONS), []
    for test in EXAMPLES[module]:
        if package := missing(test.name):
            left_out.append(f"{test.name} needs {package}")
        else:
            runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)
    if left_out:
        pytest.skip("; ".join(left_out))


def missing(name: str) -> str | None:
    """The package that the example of this name needs and that is not installed."""
    needed = next((package for beginning, package in NEEDS.items() if name.startswith(beginning)), None)
    return needed if needed and util.find_spec(needed) is None else None
