"""What notebooks show of graphs, runs and traces costs the same for all, and is text."""

from types import MappingProxyType

import pytest
import torch
from page_graphs import hostile
from streams import streamed

import tgraph as tg
from tgraph.algorithms import BFS


class Untouched:
    """Raises where anything but its size is asked for."""

    num_vertices, num_arcs, nbytes, weight_dtype = 10**9, 10**12, 10**13, torch.float32
    device = torch.device("cpu")
    csr_tensors = MappingProxyType({})
    name = "untouched"

    @property
    def layout(self):
        return self

    def __getattr__(self, name):
        raise AssertionError(f"{name} was asked for")


def test_a_graph_is_not_looked_at():
    text = tg.Graph.of_storage(Untouched(), directed=False)._repr_html_()
    assert "1,000,000,000, ids are 0 to n - 1" in text and "1,000,000,000,000 arcs, undirected" in text
    assert "untouched, 10000.0 GB, cpu" in text and "float32" in text
    held = streamed(tg.generators.rmat(6))
    before = held.layout.counts
    assert "streamed" in held._repr_html_() and held.layout.counts == before and not held.caches


def test_labels_are_not_shown():
    assert "hacked" not in hostile()._repr_html_() and "labels" in hostile()._repr_html_()


class Unread(torch.Tensor):
    """Raises where its elements are asked for."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        assert "__get__" in repr(func), f"{func} was called"
        return super().__torch_function__(func, types, args, kwargs)


def test_a_run_is_told_by_the_shape_of_its_values():
    values = torch.zeros(3, 2).as_subclass(Unread)
    text = tg.Run({"<x>": values}, 4, False, 0.5)._repr_html_()
    assert "&lt;x&gt;: float32 [3, 2] on cpu" in text and "4, not converged" in text and "0.5" in text
    run = tg.run(BFS(0), tg.generators.path(4), trace=True)
    assert "int32 [4] on cpu" in run._repr_html_() and "see .trace" in run._repr_html_()
    assert "Trace of BFS" in run.trace._repr_html_() and "4 vertices, 6 arcs" in run.trace._repr_html_()
    assert "streamed" not in run.trace._repr_html_()


def test_advice_is_preformatted():
    advice = tg.advise(tg.generators.path(4), layouts=("coo",), timer=lambda call: 1.0)
    assert advice._repr_html_().startswith("<pre>layout") and "recommended" in advice._repr_html_()


@pytest.mark.parametrize("name", ["Graph", "Run", "Trace", "Advice", "ModelAdvice", "Report"])
def test_all_of_them_have_one(name):
    assert callable(getattr(tg, name)._repr_html_)
