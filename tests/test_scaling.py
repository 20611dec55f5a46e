"""Volumes are counted right, laws find what they were made from, and times are those that the model says."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import arcs, graphs

import tgraph as tg

sys.path.append(str(Path(__file__).parents[1]))

from bench.scaling import __main__ as scaling
from bench.scaling import laws, measuring, model, placing, volumes


def slow_count(into, owner, rank, parts):
    """(values, sums, inside): sets of the vertices that ranks read and add to, arc by arc."""
    read, added = ([[set() for _ in range(parts)] for _ in range(parts)] for _ in range(2))
    inside = [0] * parts
    for place, (target, source, *_) in enumerate(arcs(into)):
        r = int(rank[place])
        if owner[source] != r:
            read[r][owner[source]].add(source)
        if owner[target] != r:
            added[r][owner[target]].add(target)
        inside[r] += bool(owner[source] == r and owner[target] == r)
    return [[len(found) for found in row] for row in read], [[len(found) for found in row] for row in added], inside


@settings(max_examples=3 * settings().max_examples)
@given(graphs(), st.integers(1, 5), st.integers(0, 99), st.sampled_from([1, 4, 2**25]))
def test_volumes_are_those_of_sets(graph, parts, seed, window):
    """Whatever the owners and ranks, and however few arcs are looked at together."""
    random = torch.Generator().manual_seed(seed)
    owner = torch.randint(parts, (graph.num_vertices,), generator=random, dtype=torch.int16)
    rank = torch.randint(parts, (graph.num_arcs,), generator=random, dtype=torch.int16)
    number = torch.randint(3, (graph.num_vertices,), generator=random)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(volumes, "WINDOW", window)
        found = volumes.count(graph, owner, rank, parts, number if len(number) else None)
    values, sums, inside = slow_count(graph, owner.tolist(), rank, parts)
    assert found.values.tolist() == values and found.sums.tolist() == sums and found.inside.tolist() == inside
    assert int(found.levels.sum()) == (int(found.values.sum()) if len(number) else 0)
    assert found.arcs.tolist() == torch.bincount(rank, minlength=parts).tolist()


def test_a_link_carries_what_is_sent_and_what_is_received_at_once():
    values, sums = torch.tensor([[0, 3], [1, 0]]), torch.tensor([[0, 0], [4, 0]])
    found = volumes.Volumes(torch.ones(2), torch.zeros(2), values, sums, torch.empty(0))
    assert found.total == 8 and found.by_rank.tolist() == [7, 7] and found.peers == 1


@pytest.mark.parametrize("method", list(placing.METHODS))
def test_every_partition_is_measured(method):
    """On a path of 64 in four parts: no part needs more than the two ends beside it."""
    if method == "metis":
        pytest.importorskip("pymetis")
    path = tg.generators.path(64)
    found = placing.measure(path, method, 4, torch.arange(64))
    assert int(found.arcs.sum()) == path.num_arcs and int(found.inside.sum()) <= path.num_arcs
    assert found.total <= (6 if method != "2d" else 12) and int(found.values.diagonal().sum()) == 0


@pytest.mark.parametrize(("method", "bound"), [("ebp", 0.02), ("2d", 0.02), ("hubs", 0.05)])
def test_the_model_of_rmat_expects_what_is_counted(method, bound):
    graph = tg.generators.rmat(13, 16)
    assert laws.arcs_of_rmat(13) == pytest.approx(graph.num_arcs, rel=0.01)
    for parts in (4, 32):
        found = placing.measure(graph, method, parts).total / graph.num_arcs
        assert laws.expected_volume(13, method, parts) == pytest.approx(found, rel=bound)


def test_a_law_finds_what_the_numbers_were_made_from():
    x = np.array([[parts, scale] for parts in (4.0, 6.0) for scale in (16.0, 18.0, 20.0)])
    y = 2 ** (1 + 0.5 * x[:, 0] - 0.25 * x[:, 1])
    law = laws.Law.fit(x, y, x[:, 1] == 20)
    assert law.coefficients == pytest.approx([1, 0.5, -0.25]) and law.residual < 1e-9 > law.ahead
    assert law.at(8, 30) == pytest.approx(2 ** (1 + 4 - 7.5))
    assert laws.Law.fit(x, y * np.array([1, 1, 1.1] * 2), x[:, 1] == 20).ahead == pytest.approx(1 - 1 / 1.1)


def test_time_is_computing_what_it_does_not_hide_and_latency():
    cluster = model.Cluster(1e9, 1e9, 1e9, bandwidth=1e9, efficiency=0.5, cores=2, parallel=0.5)
    load = model.Load(arcs=8e9, parts=4, volume=1e9, arcs_balance=1.5, volume_balance=2, inside=0.25, peers=3)
    found = model.iteration(load, cluster)
    assert found.computing == pytest.approx(3)  # 2e9 arcs at 1e9 per second, half as many again
    assert found.travelling == pytest.approx(2 * 2 - 0.25 * 3)  # 1 GB at 0.5 GB/s, twice at one rank
    assert found.latency == pytest.approx(3 * cluster.message + 4 * cluster.hop)


def test_a_search_sends_ids_or_a_bitmap():
    cluster = model.Cluster(pagerank=1, bfs=1e12, uncached=1, bandwidth=1, efficiency=1)
    load = model.Load(1e6, 2, 800, 1, 1, 0, 1, levels=(0.01, 0.99))
    assert model.search(load, cluster).travelling == pytest.approx((4 * 8 + 800 / 8) / 2)


def test_the_slowest_rank_counts_unless_its_part_is_smaller():
    assert model.stragglers(8, 0) == 1 and model.stragglers(8, 0, 0.5) == 2
    assert model.stragglers(8, 0, 0.5, resized=True) == pytest.approx(8 / 7.5)
    assert 1 < model.stragglers(8, 0.05) < model.stragglers(64, 0.05) < model.stragglers(64, 0.1)


def test_the_page_is_computed_and_nothing_is_measured_twice(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(scaling, "PARTS", [2, 4, 8])
    monkeypatch.setattr(scaling, "NODES", (4, 8))
    monkeypatch.setattr(
        sys, "argv", ["scaling", "--scales", "8,9", "--table", "8", "--data", str(tmp_path), "--output", str(tmp_path)]
    )
    threads = torch.get_num_threads()
    scaling.main()
    assert "cnr-2000 is left out" in capsys.readouterr().out
    rows = json.loads((tmp_path / "scaling.json").read_text())
    assert {(row["method"], row["parts"]) for row in rows} >= {(m, p) for m in ("ebp", "hubs", "2d") for p in (2, 4, 8)}
    assert (tmp_path / "scaling.md").read_text().count("R-MAT-30") >= 2
    assert all((tmp_path / f"scaling-{name}.png").stat().st_size > 10_000 for name in ("volumes", "times"))
    monkeypatch.setattr(measuring, "row", None)
    scaling.main()
    torch.set_num_threads(threads)
