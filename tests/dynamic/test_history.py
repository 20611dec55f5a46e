"""Levels over time."""

import pytest
import torch
from strategies import refused

import tgraph as tg


def test_what_a_store_held_is_seen_from_the_beginning_to_the_end(tmp_path):
    store = tg.dynamic.Store(torch.float32, num_vertices=1000)
    with tg.dynamic.History(store, seconds=0.001) as history:
        for number in range(200):
            ends = torch.randint(1000, (2, 300), generator=torch.Generator().manual_seed(number))
            store.insert(*ends, torch.rand(300))
    store.close()
    first, last = history.moments[0], history.moments[-1]
    assert (first.version, first.runs, first.bytes_of_runs) == (0, (), 0)
    assert last.version == 200
    for one, other in zip(history.moments, history.moments[1:], strict=False):
        assert one.seconds <= other.seconds and one.version <= other.version
    assert last.bytes_of_runs == 12 * sum(last.runs)  # an integer of 8 bytes and a weight of 4 for each change
    levels = history._levels()
    for place, moment in enumerate(history.moments):
        assert sum(level[place] for level in levels.values()) == pytest.approx(
            (moment.bytes_of_csr + moment.bytes_of_runs) / 1e6
        )
    history.plot(tmp_path / "levels.png")
    assert (tmp_path / "levels.png").read_bytes()[:4] == b"\x89PNG"


def test_nothing_is_drawn_of_nothing(tmp_path):
    store = tg.dynamic.Store()
    refused("nothing was seen", lambda: tg.dynamic.History(store).plot(tmp_path / "levels.png"))
    refused("seconds: expected more than 0, got 0", tg.dynamic.History, store, 0)
