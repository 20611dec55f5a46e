"""Random calls of all functions come to the same as in networkx: value, type, order, exception."""

import random
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
from drawing import Call
from equality import FREE, Outcome

from tgraph.networkx import functions, history
from tgraph.networkx.registry import FUNCTIONS

ALGORITHMS = nx.utils.backends._registered_algorithms
functions.load()
DRAWS = 200  # of each function, in the long run


WITHOUT = {"leiden_communities"}  # networkx has no code for it
NAMES = [name for name in sorted(FUNCTIONS) if ALGORITHMS[name].graphs and name not in WITHOUT]


def is_unique(name: str, arguments: dict[str, Any]) -> bool:
    """Whether the result is determined: hubs are, by a largest singular value that no other one equals."""
    if name != "hits" or len(arguments["G"]) < 2:
        return True
    weights = nx.to_numpy_array(arguments["G"], dtype=float)
    first, second, *_ = np.linalg.svd(weights, compute_uv=False)
    return first > 1.001 * second


def differences(name: str, draws: range) -> tuple[int, list[str]]:
    """(calls that ran here, how those of these draws differ)"""
    ran, found = 0, []
    for draw in draws:
        seed = f"{name} {draw}"
        call, other = (Call(ALGORITHMS[name], seed) for _ in range(2))
        before = history.calls().get(name, 0)
        here = Outcome(call.function, call.arguments, backend="tgraph")
        if isinstance(here.fault, NotImplementedError) and here.began is None:
            continue  # left to networkx
        there = Outcome(other.function, other.arguments, backend="networkx")
        reached = history.calls().get(name, 0) > before
        ran += reached
        try:
            assert reached or there.fault is not None, "it did not run here"
            if is_unique(name, other.arguments):
                here.same(there, free=FREE.get(name))
        except AssertionError as fault:
            found.append(f"{seed}: {' '.join(str(fault).split())[:300]}")
    return ran, found


@pytest.fixture(autouse=True)
def unwarned():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def test_as_networkx():
    found = [differences(name, range(1)) for name in NAMES]
    assert not [each for _, some in found for each in some]
    assert sum(ran for ran, _ in found) > len(NAMES) / 2


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_as_networkx_at_length(name):
    """Other calls each time; the message names them: Call(ALGORITHMS[name], "name number") is the same again."""
    start = random.randrange(10**9)
    ran, found = differences(name, range(start, start + DRAWS))
    assert not found
    assert ran
