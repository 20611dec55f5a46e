"""A plugin of pytest for the tests of PyTorch Geometric, which replaces its layers by those of tg.nn.

    TGRAPH_LAYERS=plain|accelerated PYTHONPATH=tests/nn pytest -p in_pyg FOLDER

plain : the names of PyTorch Geometric's layers refer to those of tg.nn in each of its modules, `models.basic_gnn` among
them, which imports them by name. accelerated : `tgraph.nn.accelerate` is called on each of its layers as soon as it is
made, those without a layer in tg.nn too. The summary counts the calls of layers of tg.nn, or reductions of lazy
messages, and the tests with any; a run without any fails.
"""

import functools
import os
import pkgutil
import sys
from collections import Counter

import pytest
import torch_geometric.nn

import tgraph as tg
from tgraph.nn.conv import hgt_conv
from tgraph.nn.conv.layer import MESSAGES, MessagePassing
from tgraph.nn.lazy import layer as lazy_layer

NAMES = (
    *("APPNP", "EdgeConv", "GATConv", "GATv2Conv", "GCNConv", "GINConv", "GINEConv", "GraphConv", "HGTConv"),
    *("PNAConv", "ResGatedGraphConv", "RGCNConv", "SAGEConv", "SGConv", "TransformerConv"),
)
OTHERS = (
    "torch_geometric.explain",
    "torch_geometric.utils",
    "torch_geometric.contrib.nn",
    "torch_geometric.contrib.explain",
)

computed: Counter[str] = Counter()
running = ""


def pytest_configure():
    way = os.environ.get("TGRAPH_LAYERS", "plain")
    {"plain": replace_names, "accelerated": accelerate_each}[way]()
    count_calls()


def replace_names():
    allow_derived_messages()
    for package in ("torch_geometric.nn", *OTHERS):
        __import__(package)
        for module in pkgutil.walk_packages(sys.modules[package].__path__, f"{package}."):
            try:
                __import__(module.name)
            except Exception:  # an optional dependency is missing; the tests do not need it
                continue
    theirs = {getattr(torch_geometric.nn, name): getattr(tg.nn, name) for name in NAMES}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "torch_geometric":
            for key, value in list(vars(module).items()):
                if isinstance(value, type) and value in theirs:
                    setattr(module, key, theirs[value])


def allow_derived_messages():
    """tg.nn refuses layers with messages of their own; those that tests derive compute as PyTorch Geometric's do."""

    def of_class(cls, **kwargs):
        if any(step in vars(cls) for step in MESSAGES):
            cls._is_observed = lambda self: True

    MessagePassing.__init_subclass__ = classmethod(of_class)


def accelerate_each():
    for layer in vars(torch_geometric.nn.conv).values():
        if isinstance(layer, type) and issubclass(layer, torch_geometric.nn.MessagePassing):
            accelerate_when_made(layer)


def accelerate_when_made(layer):
    init = layer.__init__

    @functools.wraps(init)
    def made(self, *args, **kwargs):
        init(self, *args, **kwargs)
        if type(self) is layer:
            tg.nn.accelerate(self)

    layer.__init__ = made


def count_calls():
    """Every computation of tg.nn derives an adjacency, or reduces lazy messages."""
    count(MessagePassing, "_adjacency")
    count(hgt_conv, "joined_adjacency")
    count(lazy_layer, "reduced_terms")


def count(owner, name):
    function = getattr(owner, name)

    @functools.wraps(function)
    def counted(*args, **kwargs):
        computed[running] += 1
        return function(*args, **kwargs)

    setattr(owner, name, counted)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    global running
    running = item.nodeid
    return (yield)


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"layers of TGraph computed {computed.total()} times, in {len(computed)} tests")


def pytest_sessionfinish(session):
    if not computed and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
