"""The registry of operators on tensors: which backend computes a call, and what is recorded of that."""

import pytest
import torch
from strategies import refused

from tgraph.core.building import sorting
from tgraph.core.dispatch import BACKENDS, Operator, is_available, operator, refusal, setup_operator, watched
from tgraph.core.system import native
from tgraph.errors import ArgumentError

needs_kernels = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not installed")


@pytest.fixture
def double(monkeypatch):
    """An operator that a second backend offers for integers, and the name of the one that computed."""
    is_available("native")  # which registers what backends implement, once
    for backend in BACKENDS.values():
        monkeypatch.setattr(backend, "operators", dict(backend.operators))
    made = Operator("double", lambda values, times=2: ("portable", values * times))
    integers = lambda values, times=2: None if not values.is_floating_point() else "it has no floats"  # noqa: E731
    BACKENDS["native"].offer("double", lambda values, times=2: ("native", values * times), integers)
    return made


def test_the_first_backend_that_does_not_refuse_computes(double):
    whole, real = torch.ones(2, dtype=torch.int64), torch.ones(2)
    assert double(whole)[0] == "native" and double(real)[0] == "portable"
    assert double(whole, times=3)[1].tolist() == [3, 3] and double(real, times=3)[1].tolist() == [3, 3]
    assert refusal("native", "double", real) == "it has no floats" and refusal("native", "double", whole) is None
    assert refusal("cuda", "double", whole) == "it has no double"


def test_choices_are_recorded_with_reasons(double):
    with watched() as outer:
        double(torch.ones(2))
        with watched() as inner:
            double(torch.ones(2, dtype=torch.int64))
    assert [str(choice) for choice in inner] == ["double: native serves it"]
    assert [str(choice) for choice in outer] == [
        "double: portable serves it (native does not: it has no floats)",
        "double: native serves it",
    ]
    assert outer[0].is_by("portable") and outer[1] is inner[0]


def test_what_is_done_once_for_a_graph_is_not_recorded(double):
    @setup_operator
    def _triple(values):
        return values * 3

    @operator
    def _fourfold(values):
        """Four times the values."""
        return values * 4

    with watched() as choices:
        assert _triple(torch.ones(1)).item() == 3 and _fourfold(torch.ones(1)).item() == 4
    assert [choice.operator for choice in choices] == ["fourfold"]
    assert {"triple", "fourfold"} <= BACKENDS["portable"].operators.keys()


@needs_kernels
def test_the_environment_is_read_at_every_call(monkeypatch):
    offset, neighbors = torch.tensor([0, 2, 2]), torch.tensor([0, 1], dtype=torch.int32)
    assert is_available("native") and refusal("native", "has_parallel_arcs", offset, neighbors) is None
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    assert not is_available("native") and "TGRAPH_NATIVE=0" in refusal("native", "has_parallel_arcs", offset, neighbors)
    assert not sorting.has_parallel_arcs(offset, neighbors)


@needs_kernels
def test_every_tensor_operator_of_a_backend_has_a_portable_implementation():
    """So that it computes whatever the others refuse; those on graphs may be optional."""
    optional = {"fixpoint", "rowrounds", "segment_argreduce", "scatter_argreduce"}
    for backend in BACKENDS.values():
        assert backend.operators.keys() - BACKENDS["portable"].operators.keys() <= optional


def test_a_trace_takes_the_portable_implementation(double):
    compiled = torch.compile(lambda values: double(values)[1], backend="eager", fullgraph=True)
    assert compiled(torch.ones(2, dtype=torch.int64)).tolist() == [2, 2]


def test_a_backend_by_its_name(double):
    whole, real = torch.ones(2, dtype=torch.int64), torch.ones(2)
    assert double.with_backend("auto")(whole)[0] == "native" and double.with_backend("portable")(whole)[0] == "portable"
    with watched() as choices:
        assert double.with_backend("native")(whole, times=3)[1].tolist() == [3, 3]
    assert [str(choice) for choice in choices] == ["double: native serves it"]
    with pytest.raises(ArgumentError, match=r"backend: 'native' does not serve double: it has no floats; use .*'auto'"):
        double.with_backend("native")(real)
    refused(r"backend: 'cuda' does not serve double: it has no double", lambda: double.with_backend("cuda")(real))
    refused(r"backend: 'abacus' is not one of 'auto', 'layout'", double.with_backend, "abacus")


def test_a_backend_by_its_name_checks_the_rows(double):
    @operator
    def _rows(offset, neighbors):
        return neighbors

    for backend in ("auto", "portable"):
        with pytest.raises(ArgumentError, match="neighbors"):
            _rows.with_backend(backend)(torch.tensor([0, 1]), torch.tensor([7], dtype=torch.int32))
