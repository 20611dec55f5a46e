"""Original ids and the way back, for integers and for labels of any kind."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import tgraph as tg
from tgraph.core.ids import VertexIds
from tgraph.errors import ArgumentError, TGraphError, UnknownVertexError

INTEGERS = st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=20)
LABELS = st.lists(
    st.text(max_size=3) | st.tuples(st.integers(0, 3), st.integers(0, 3)) | st.none(), unique=True, max_size=12
)


@given(INTEGERS, st.data())
def test_integers_there_and_back(values, data):
    for given_as in (values, torch.tensor(values, dtype=torch.int64), np.array(values, dtype=np.int64)):
        ids = VertexIds(given_as)
        assert len(ids) == len(values)
        if values or not isinstance(given_as, list):
            assert ids.are_integers and ids.values.dtype == torch.int64
        order = torch.tensor(data.draw(st.permutations(range(len(values)))), dtype=torch.int64)
        taken = ids.take(order)
        assert list(taken) == [values[i] for i in order.tolist()]
        if values:
            assert ids.find(taken).tolist() == order.tolist() == ids.find(taken.tolist()).tolist()


def test_booleans_and_large_integers_are_labels():
    for values in ([True, False], [0, 2**63]):
        ids = VertexIds(values)
        assert not ids.are_integers and ids.find(values).tolist() == [0, 1]
        assert [type(label) for label in ids.take(torch.tensor([1, 0]))] == [type(value) for value in values]


@given(LABELS, st.data())
def test_labels_there_and_back(values, data):
    ids = VertexIds(values)
    order = data.draw(st.permutations(range(len(values))))
    taken = ids.take(torch.tensor(order, dtype=torch.int64))
    assert taken == [values[i] for i in order]
    assert ids.find(taken).tolist() == order
    ids.check_unique()


@pytest.mark.parametrize(
    ("values", "wanted", "words"),
    [
        ([10, 20, 30], [20, 25], ("25", "3 vertices", "10, 20, 30")),
        ([30, 20, 10], [99], ("99", "30, 20, 10")),
        ([30, 20, 10], [-(2**63)], (str(-(2**63)),)),
        ([10, 20], ["ten"], ("'ten'", "integers")),
        ([10, 20], [10.5], ("10.5",)),
        (["a", "b"], ["b", "c"], ("'c'", "2 vertices", "'a', 'b'")),
        (["1", "2"], [1], ("1", "'1', '2'")),
        ([], [4], ("4", "no vertices")),
    ],
)
def test_an_unknown_id_is_named(values, wanted, words):
    ids = VertexIds(values if values else torch.empty(0, dtype=torch.int64))
    with pytest.raises(UnknownVertexError) as caught:
        ids.find(wanted)
    for word in words:
        assert word in str(caught.value), caught.value
    assert isinstance(caught.value, KeyError) and isinstance(caught.value, TGraphError)
    assert not str(caught.value).startswith(("'", '"'))  # as KeyError would print it


def test_a_position_in_a_graph_is_no_id():
    ids = VertexIds([10, 20, 30])
    with pytest.raises(UnknownVertexError):
        ids.find([0])


@pytest.mark.parametrize("values", [[5, 6, 5], ["a", "b", "a"], [("x", 1), ("x", 1)]])
def test_an_id_that_stands_twice(values):
    with pytest.raises(ArgumentError, match=rf"{values[-1]!r}.*twice".replace("(", r"\(").replace(")", r"\)")):
        VertexIds(values).check_unique()


@pytest.mark.parametrize("bad", [torch.ones(2), torch.ones(2, 2, dtype=torch.int64), torch.tensor([True, False])])
def test_tensors_that_are_no_ids(bad):
    with pytest.raises(ArgumentError, match=r"vertices.*integer"):
        VertexIds(bad)


def test_narrow_integers_become_int64():
    for dtype in (np.int8, np.uint16, np.int32):
        assert VertexIds(np.array([3, 1], dtype=dtype)).values.tolist() == [3, 1]
    assert VertexIds(torch.tensor([3, 1], dtype=torch.uint8)).values.dtype == torch.int64


def test_ids_that_do_not_fit_int64():
    with pytest.raises(ArgumentError, match=r"vertices.*int64"):
        VertexIds(np.array([2**63 + 1], dtype=np.uint64))
    big = VertexIds([2**70, 5])
    assert big.find([2**70]).tolist() == [0]


def test_an_id_that_is_numpy_or_bool_is_still_found():
    assert VertexIds([10, 20]).find(np.array([20])).tolist() == [1]
    assert VertexIds(["a", True]).find([True]).tolist() == [1]


def test_a_graph_translates_with_them():
    graph = tg.Graph.from_edges([0, 1], [1, 2], vertices=["a", ("b", 1), None])
    assert graph.ids(1) == ("b", 1) and graph.index(("b", 1)) == 1
    assert graph.index(["a", None]).tolist() == [0, 2]
    assert graph.index("a") == 0
    assert graph.ids(torch.tensor([2, 0])) == [None, "a"]
    numbered = tg.Graph.from_edges([7, 100], [100, -3], ids="compact")
    assert numbered.ids(torch.tensor([0, 2])).tolist() == [-3, 100]
    assert numbered.index(100) == 2 and numbered.index(torch.tensor([7, -3])).tolist() == [1, 0]
    plain = tg.Graph.from_edges([0, 1], [1, 2])
    assert plain.index(2) == 2 and plain.ids(2) == 2 and plain.ids([1, 2]).tolist() == [1, 2]
    with pytest.raises(UnknownVertexError, match="5"):
        plain.index(5)
