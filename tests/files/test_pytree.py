"""Trees of plain values and tensors, to JSON and back."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tgraph.errors import ArgumentError
from tgraph.files import pytree

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.integers() | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_trees(tree):
    tensors = {}
    assert pytree.is_plain(tree)
    form = json.loads(json.dumps(pytree.encode(tree, tensors)))
    found = pytree.decode(form, tensors, torch.device("cpu"))
    assert found == tree and repr(found) == repr(tree)


def test_trees_with_tensors():
    one, scalar = torch.rand(3), torch.tensor(math.inf)
    tensors = {}
    form = json.loads(json.dumps(pytree.encode({"a": one, "b": [one, (scalar,)], "c": np.arange(4.0)}, tensors)))
    assert len(tensors) == 3
    found = pytree.decode(form, tensors, torch.device("cpu"))
    assert found["a"] is found["b"][0] and torch.equal(found["a"], one)
    assert found["b"][1][0] == math.inf and found["c"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("value", [object(), [object()], {"a": {1}}, {(1, object()): 2}, np.array(["a"])])
def test_what_is_not_plain(value):
    assert not pytree.is_plain(value)
    with pytest.raises(ArgumentError, match="numbers, text and tensors, not"):
        pytree.encode(value, {})


def test_gradients_are_not_dropped_silently():
    with pytest.raises(ArgumentError, match=r"torch\.no_grad"):
        pytree.encode([torch.zeros(1, requires_grad=True)], {})
