"""The compiled operators on dicts against those in Python."""

from collections import OrderedDict

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import refused

from tgraph.core.dispatch import BACKENDS, PORTABLE
from tgraph.io.columns import Column, dicts_of
from tgraph.kernels.operators.dicts import MISSING

KEYS = st.one_of(st.integers(0, 5), st.booleans(), st.text(max_size=1), st.tuples(st.integers(0, 1)))
VALUES = st.one_of(st.integers(-(2**64), 2**64), st.floats(), st.booleans(), st.none(), st.just(np.float64(1.5)))


@pytest.fixture(params=["native", "portable"])
def run(request):
    operators = BACKENDS[request.param].operators
    if request.param == "native" and operators["dict_keys"].refuses([]) is not None:
        pytest.skip("no compiled kernels")
    return lambda name, *arguments: operators[name].run(*arguments)


def outcome(backend, name, *arguments):
    try:
        return BACKENDS[backend].operators[name].run(*arguments)
    except Exception as fault:
        return type(fault)


def comparable(found):
    if isinstance(found, (tuple, list)):
        return [comparable(each) for each in found]
    if isinstance(found, torch.Tensor):
        return found.dtype, repr(found.tolist())
    return found if not isinstance(found, np.ndarray) else [(type(each), repr(each)) for each in found]


@given(dicts=st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=6), data=st.data())
def test_compiled_as_in_python(dicts, data):
    keys = [key for each in dicts for key in each]
    index = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    taken = torch.tensor(data.draw(st.lists(st.booleans(), min_size=len(keys), max_size=len(keys))), dtype=torch.bool)
    calls = [
        ("dict_keys", dicts, index, len(index), len(keys)),
        ("dict_keys", dicts, None, 6, len(keys)),
        ("dict_values", dicts, None, len(keys)),
        ("dict_offsets", dicts),
        ("are_numbered", dicts),
        ("dicts_of_rows", *written(dicts, index)),
        ("dict_values", dicts, taken, int(taken.sum())),
        *(("dict_column", dicts, name) for name in (0, "a", (0,), True)),
    ]
    for name, *arguments in calls:
        found, expected = (comparable(outcome(backend, name, *arguments)) for backend in ("native", "portable"))
        assert found == expected


def written(dicts, index):
    """The arguments that give these dicts again."""
    ends = torch.tensor([0, *map(len, dicts)]).cumsum(0)
    key_of = [index[key] for each in dicts for key in each]
    values = [value for each in dicts for value in each.values()]
    return ends, list(index), torch.tensor(key_of, dtype=torch.int32), values[::-1], torch.arange(len(values)).flip(0)


@given(dicts=st.lists(st.dictionaries(KEYS, VALUES, max_size=9), max_size=6))
def test_dicts_of_rows(dicts):
    index = {key: place for place, key in enumerate(dict.fromkeys(key for each in dicts for key in each))}
    for backend in ("native", "portable"):
        found = outcome(backend, "dicts_of_rows", *written(dicts, index))
        assert comparable([list(each.items()) for each in found]) == comparable([list(each.items()) for each in dicts])


@given(rows=st.lists(st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=3)), data=st.data())
def test_columns_of_entries(rows, data):
    count = sum(map(len, rows))
    taken = data.draw(st.none() | st.lists(st.booleans(), min_size=count, max_size=count))
    taken = None if taken is None else torch.tensor(taken, dtype=torch.bool)
    for name in (0, "a", (0,), True):
        arguments = rows, taken, count if taken is None else int(taken.sum()), name
        found, expected = (comparable(outcome(each, "entry_column", *arguments)) for each in ("native", "portable"))
        assert found == expected


def test_dicts_of_lists(run):
    kind = type("Kind", (dict,), {"__slots__": (), "__setitem__": None})
    for each in (dict, kind):
        found = run("dicts_of_columns", ["a", 2], [[1, MISSING, 3], [None, "x", MISSING]], each, MISSING)
        assert found == [{"a": 1, 2: None}, {2: "x"}, {"a": 3}] and {type(one) for one in found} == {each}
        assert run("dicts_of_columns", ["a"], [[]], each, MISSING) == []


def test_keys_that_equal_others(run):
    """A neighbour need not be the very object that the node is."""
    names = ["node" + str(i) for i in range(300)]
    index = {name: place for place, name in enumerate(names)}
    rows = [{"".join(list(name)): 0} for name in names] + [{name: 0} for name in names]
    assert run("dict_keys", rows, index, 300, 600).tolist() == [*range(300), *range(300)]
    assert run("dict_keys", [{1.0: 0}, {True: 0}], {1: 0}, 1, 2).tolist() == [0, 0]


def test_numbered(run):
    assert run("are_numbered", [{}, {0: 1}, {0: 1, 1: 1}]) and run("are_numbered", [])
    for other in ({1: 1}, {1: 1, 0: 1}, {False: 1}, {"a": 1}, {2**70: 1}, {0.0: 1}):
        assert not run("are_numbered", [{0: 1}, other])


def test_keys(run):
    assert run("dict_keys", [{2: 0, 0: 0}, {}, {1: 0}], None, 3, 3).tolist() == [2, 0, 1]
    assert run("dict_keys", [{"b": 0}, {"a": 0}], {"a": 0, "b": 1}, 2, 2).tolist() == [1, 0]
    assert run("dict_keys", [{1 + 0j: 0}, {True: 0, 0.0: 0}], None, 2, 3).tolist() == [1, 1, 0]
    with pytest.raises(KeyError):
        run("dict_keys", [{"c": 0}], {"a": 0}, 1, 1)


@pytest.mark.parametrize(
    ("values", "dtype"), [([1, 2], torch.int64), ([1.5, 2.0], torch.float64), ([True, False], torch.bool)]
)
def test_columns_of_one_kind_are_tensors(run, values, dtype):
    found, present = run("dict_column", [{"w": value} for value in values], "w")
    assert found.dtype == dtype and found.tolist() == values and present is None
    found, present = run("dict_column", [{"w": values[0]}, {}], "w")
    assert found.dtype == dtype and found[0].item() == values[0] and present.tolist() == [True, False]


@pytest.mark.parametrize("values", [[1, 2.5], [2**63, 1], [None], ["a", 1], [True, 1], [np.int64(3)]])
def test_other_columns_are_objects(run, values):
    found, present = run("dict_column", [{"w": value} for value in values] + [{}], "w")
    assert found.tolist() == [*values, MISSING] and present is None
    assert list(map(type, found.tolist())) == [*map(type, values), type(MISSING)]


def test_a_column_that_nobody_has(run):
    assert run("dict_column", [{}, {"v": 1}], "w") is None and run("dict_column", [], "w") is None


def test_numbers():
    def numbers(*values, default=1):
        return Column(
            *PORTABLE.operators["dict_column"].run([{"w": v} if v != "" else {} for v in values], "w")
        ).numbers(default)

    assert numbers(1, 2).tolist() == [1, 2] and numbers(1, 2).dtype == torch.int64
    assert numbers(1, "").tolist() == [1, 1] and numbers(1, "").dtype == torch.int64
    assert numbers(1, "", default=0.5).tolist() == [1.0, 0.5]
    assert numbers(1, 2.5).tolist() == [1.0, 2.5] and numbers(True, 2).tolist() == [1, 2]
    assert numbers(np.float32(0.5), "").dtype == torch.float64
    refused(r"beyond 2\*\*53", numbers, 2**60, 0.5, error=OverflowError)
    with pytest.raises(OverflowError):
        numbers(2**70)
    refused("'heavy' is not a number", numbers, "heavy", 1, error=TypeError)


def test_dicts_of_columns():
    columns = {"w": Column(torch.tensor([1, 2])), "v": Column(torch.tensor([0.5, 0]), torch.tensor([True, False]))}
    assert dicts_of(columns, 2) == [{"w": 1, "v": 0.5}, {"w": 2}] and dicts_of({}, 2) == [{}, {}]
    assert dicts_of({"w": columns["w"]}, 1, np.array([1])) == [{"w": 2}]


def test_dicts_of_other_classes(run):
    """A class of dicts may tell other entries than its table holds."""
    kind = type("Kind", (dict,), {})
    rows = [{"a": {"w": 1}}, kind(b={"w": 2})]
    assert run("dict_keys", rows, {"a": 0, "b": 1}, 2, 2).tolist() == [0, 1]
    assert run("dict_values", rows, None, 2) == [{"w": 1}, {"w": 2}] and run("dict_offsets", rows).tolist() == [0, 1, 2]
    assert run("entry_column", rows, None, 2, "w")[0].tolist() == [1, 2] and not run("are_numbered", rows)
    assert run("entry_column", [{"a": {"w": 1}, "b": kind(w=2)}], None, 2, "w")[0].tolist() == [1, 2]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{}, {1: {0: {"w": 1.0}}}],
        [{1: {0: {"w": 1.0}, 1: {}}, 2: {0: {"w": 2.0}}}, {0: {0: {"w": 3.0}}}],
        [{k: {0: {"w": float(k)}, "key": {"w": 2.5}} for k in range(40)} for _ in range(3)],
        [{1: OrderedDict({0: {"w": 1}})}],
        [{1: {0: {"w": "text"}}, 2: {0: {"w": 1}}}],
    ],
)
def test_dicts_by_key(rows, run):
    inner = [each for row in rows for each in row.values()]
    lengths, numbered = run("inner_lengths", rows, len(inner))
    assert lengths.tolist() == list(map(len, inner))
    assert numbered == all(list(each) == list(range(len(each))) for each in inner)
    for taken in (None, torch.arange(len(inner)) % 2 == 0):
        chosen = [each for i, each in enumerate(inner) if taken is None or taken[i]]
        expected = [edge.get("w", MISSING) for each in chosen for edge in each.values()]
        found = run("inner_column", rows, taken, len(expected), "w")
        if found is None:
            assert all(value is MISSING for value in expected)
        else:
            assert Column(*found).tolist() == expected
