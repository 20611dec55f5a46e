"""What keeps the comparison with other systems honest: wrong results are caught, ratios taken right."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from strategies import thread_count

import tgraph as tg

sys.path.append(str(Path(__file__).parents[1]))

from bench import (
    cold_sampling,
    command,
    gapbs,
    gpu,
    library,
    limits,
    measure,
    peers,
    programs,
    report,
    serial,
    store_systems,
    stores,
    verify,
)
from bench.arrays import Arrays
from bench.dynamic import own, worker
from bench.dynamic.stream import Stream

PRINTED = """Graph has 10 nodes and 20 undirected edges for degree: 2
Trial Time:          0.00512
Trial Time:          0.00300
BFS Tree has 9 nodes and 39 edges
Average Time:        0.00406
"""


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def arrays(request):
    return Arrays.of(tg.generators.rmat(7, 4, directed=request.param, weighted=True))


def graph_of(arrays):
    tensors = (torch.from_numpy(array) for array in (arrays.offset, arrays.neighbors, arrays.weights))
    return tg.Graph(*tensors, directed=arrays.directed)


def results(arrays):
    """{check: (argument, a right result)}"""
    graph, source = graph_of(arrays), int(arrays.degree.argmax())
    return {
        verify.Depths: (source, tg.algorithms.bfs(graph, source).numpy()),
        verify.Distances: (source, tg.algorithms.sssp(graph, source).numpy()),
        verify.Components: (None, tg.algorithms.wcc(graph).numpy()),
        verify.Ranks: (None, tg.algorithms.pagerank(graph, tol=1e-4, dangling="ignore").numpy()),
        verify.Scores: ((source,), np.where(np.arange(len(arrays.degree)) == source, 0, dependencies(arrays, source))),
    }


def dependencies(arrays, source):
    networkx = pytest.importorskip("networkx")
    kind = networkx.DiGraph if arrays.directed else networkx.Graph
    graph = networkx.empty_graph(arrays.num_vertices, create_using=kind)
    graph.add_edges_from(zip(arrays.rows.tolist(), arrays.neighbors.tolist(), strict=True))
    scores = networkx.betweenness_centrality_subset(graph, [source], list(graph))
    return np.array([scores[vertex] for vertex in graph]) * (1 if arrays.directed else 2)


CHECKS = [verify.Depths, verify.Distances, verify.Components, verify.Ranks, verify.Scores]


@pytest.mark.parametrize("check", CHECKS)
def test_a_right_result_passes_and_a_wrong_one_never_does(arrays, check, tmp_path):
    argument, result = results(arrays)[check]
    vertex = int(np.argsort(result)[-2])  # reached, of high rank, but not the source
    wrong = result.copy()
    wrong[vertex] = result[0] if check is verify.Components else result[vertex] + 1
    with pytest.raises(verify.WrongResult):  # by proof
        check(arrays, tmp_path)("other", argument, wrong)
    check(arrays, tmp_path)("tgraph", argument, result)
    with pytest.raises(verify.WrongResult):  # by comparison with what was proved, which lies in the folder
        check(arrays, tmp_path)("other", argument, wrong)


@pytest.mark.parametrize("fault", ["too near", "too far", "missed"])
def test_a_search_that_is_wrong_at_one_vertex_is_caught(arrays, fault, tmp_path):
    source, depth = results(arrays)[verify.Depths]
    vertex = int(depth.argmax())
    depth[vertex] = {"too near": depth[vertex] - 1, "too far": depth[vertex] + 1, "missed": -1}[fault]
    with pytest.raises(verify.WrongResult):
        verify.Depths(arrays, tmp_path)("other", source, depth)


def test_labels_are_checked_step_by_step(tmp_path):
    graph = tg.Graph.from_edges([0, 0, 1, 3], [1, 2, 2, 4], directed=False)
    arrays = Arrays(graph.offset.numpy(), graph.neighbors.numpy(), graph.neighbors.numpy(), False)
    check = verify.LabelSteps(arrays, tmp_path)
    check.prove(np.arange(5), np.array([1, 0, 0, 4, 3]))
    with pytest.raises(verify.WrongResult):
        check.prove(np.arange(5), np.array([2, 0, 0, 4, 3]))


def test_without_a_proof_two_systems_have_to_agree():
    check = verify.Agreement(None, None)
    for name, count in (("a", 5), ("b", 5), ("c", 6)):
        check(name, None, np.asarray(count))
    assert [check.verdict(name).partition(":")[0] for name in "abc"] == ["verified", "verified", "WRONG"]
    with pytest.raises(verify.WrongResult):
        check("a", None, np.asarray(4))


def test_ratios_are_taken_block_by_block():
    ours, peer = {0: [1.0, 2.0, 9.0], 1: [4.0], 2: [1.0]}, {0: [6.0], 1: [4.0, 4.0]}
    assert measure.ratio(peer, ours) == measure.Spread(2.0, 1.0, 3.0)
    assert measure.ratio(peer, {7: [1.0]}) is None


def test_contestants_are_interleaved_and_failures_isolated():
    order = []

    def contestant(name, fails_at=None):
        def call(argument):
            order.append((name, argument))
            if argument == fails_at:
                raise ValueError("no")

        return measure.Called(name, call, lambda argument, result: None)

    settings = measure.Settings(repeat=1)
    samples = measure.interleave([contestant("a"), contestant("b", fails_at=2)], [1, 2, 3], settings)
    assert [name for name, argument in order if argument == 1] == ["a", "a", "b", "b", "a", "a", "b", "b"]
    assert sorted(samples["a"].blocks) == [0, 1, 2] and samples["a"].error is None
    assert samples["b"].error == "ValueError: no" and ("b", 3) not in order


def test_calls_take_turns_and_the_first_are_not_counted():
    order = []
    taken = measure.in_turns({name: lambda name=name: order.append(name) for name in "ab"}, 2, warm=1)
    assert "".join(order) == "ababab" and [len(seconds) for seconds in taken.values()] == [2, 2]
    samples = {
        "tgraph": measure.Samples({0: [0.001]}),
        "b": measure.Samples({0: [0.003]}),
        "c": measure.Samples({}, "no"),
    }
    found = measure.against(samples)
    assert found["c"] == {"error": "no"} and found["b"] == {"ms": 3.0, "ratio": pytest.approx(3)}
    assert measure.against({"b": samples["b"]}) == {"b": {"ms": 3.0, "ratio": None}}


def test_options_have_the_types_of_their_defaults(monkeypatch, capsys):
    def given(*words):
        monkeypatch.setattr(sys, "argv", ["bench", *words])
        known = {"parts": ("a", "b", "c"), "kind": ("x", "y")}
        return vars(
            command.parsed(
                "", known, scale=20, limit=1.5, sizes=[1, 2], parts=["a"], kind=str, quick=False, folder=Path
            )
        )

    nothing = {"scale": 20, "limit": 1.5, "sizes": [1, 2], "parts": ["a"], "kind": None, "quick": False, "folder": None}
    assert given() == nothing
    words = ["--scale", "3", "--limit", "2", "--sizes", "5,4", "--parts", "c,b", "--quick", "--folder", "f"]
    assert given(*words) == nothing | {
        "scale": 3, "limit": 2.0, "sizes": [5, 4], "parts": ["b", "c"], "quick": True, "folder": Path("f")
    }  # fmt: skip
    assert given("--sizes", "")["sizes"] == []
    for wrong, fault in ((["--parts", "a,d"], "d is none of a, b, c"), (["--kind", "z"], "invalid choice: 'z'")):
        with pytest.raises(SystemExit):
            given(*wrong)
        assert fault in capsys.readouterr().err


def test_a_function_of_a_system_is_called_by_its_name():
    """With the argument of the block in the form of the system, after the graph that is asked for."""
    graph = tg.generators.grid2d(3, 3, weighted=True)
    ours = SimpleNamespace(name="tgraph", graph=graph, weighted=graph)
    assert library.Call("shortest_path_length").bound(ours)(library.Ends(0, 8)) == 4
    assert len(library.Row("", {"tgraph": "wcc"}).bound(ours)(None)) == 9
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    peer = SimpleNamespace(name="scipy", matrix=graph.to_scipy())
    found = library.Call("dijkstra", of="matrix", by="indices", unweighted=True).bound(peer)(0)
    assert found.tolist() == csgraph.dijkstra(peer.matrix, indices=0, unweighted=True).tolist() and found[8] == 4


def test_slow_calls_are_made_less_often():
    settings = measure.Settings(repeat=3, budget=4, slow=2)
    assert measure.plan(0.01, 8, settings) == (8, True, 3)
    assert measure.plan(0.2, 8, settings) == (8, True, 1)
    assert measure.plan(1.0, 8, settings) == (4, False, 1)
    assert measure.plan(2.5, 8, settings) == (0, False, 0)


def test_output_of_gapbs_is_read():
    assert gapbs.trial_times(PRINTED) == [0.00512, 0.003]
    assert gapbs.numbers(r"BFS Tree has (\d+) nodes and (\d+) edges", PRINTED) == (9, 39)
    assert gapbs.top("Read Time: 1\n12:0.5\n3:1e-05\nTotal Error: 2\n") == {12: 0.5, 3: 1e-05}
    with pytest.raises(verify.WrongResult):
        gapbs.numbers(r"(\d+) triangles", PRINTED)


@pytest.mark.parametrize("suffix", ["sg", "wsg"])
def test_a_graph_for_gapbs_has_its_layout(arrays, suffix, tmp_path):
    path = tmp_path / f"graph.{suffix}"
    gapbs.write_graph(arrays, path)
    data, n, m = path.read_bytes(), arrays.num_vertices, arrays.num_arcs
    assert data[0] == arrays.directed
    assert np.frombuffer(data, np.int64, 2, offset=1).tolist() == [m, n]
    assert np.array_equal(np.frombuffer(data, np.int64, n + 1, offset=17), arrays.offset)
    columns = 2 if suffix == "wsg" else 1
    arcs = np.frombuffer(data, np.int32, columns * m, offset=17 + 8 * (n + 1)).reshape(m, columns)
    assert np.array_equal(arcs[:, 0], arrays.neighbors) and np.array_equal(arcs[:, -1:], arcs[:, columns - 1 :])
    assert suffix == "sg" or np.array_equal(arcs[:, 1], arrays.weights)
    assert len(data) == 17 + (1 + arrays.directed) * (8 * (n + 1) + 4 * columns * m)


def test_depths_are_found_from_a_search_tree(arrays):
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    from scipy.sparse import csr_array

    source, depth = results(arrays)[verify.Depths]
    matrix = csr_array((np.ones(arrays.num_arcs), arrays.neighbors, arrays.offset), shape=(arrays.num_vertices,) * 2)
    order, parent = csgraph.breadth_first_order(matrix, source)
    assert np.array_equal(peers.depths_from_tree(order, parent, arrays.num_vertices), depth)


def test_a_limit_is_work_over_what_was_measured():
    probe = limits.Limits(1, bandwidth=100.0, gathers={4 << 20: 10.0, 64 << 20: 1.0})
    assert limits.Work("", streamed=200, gathered=30, table=1 << 20).seconds(probe) == (2.0, 3.0)
    assert limits.Work("", streamed=200, gathered=30, table=1 << 30).seconds(probe) == (2.0, 30.0)


def test_a_report_marks_faster_and_wrong_systems():
    cell = {"kernel": "bfs", "error": None, "verdict": "verified", "note": ""}
    graph = {"name": "g", "num_vertices": 1, "num_arcs": 2, "directed": False}
    run = {
        "threads": 1, "graph": graph, "skipped": [], "prepare": {"tgraph": 1.0},
        "limits": {"bandwidth": 1e9, "gathers": {"4194304": 1e9}},
        "bounds": {"bfs": {"formula": "n", "streamed": 0.0, "gathered": 0.001}},
        "cells": [
            cell | {"system": "tgraph", "blocks": [[0, [0.002]], [1, [0.002]]]},
            cell | {"system": "gapbs", "blocks": [[0, [0.001]], [1, [0.004]]]},
            cell | {"system": "igraph", "blocks": [[0, [0.001]]], "verdict": "WRONG: other systems"},
            cell | {"system": "scipy", "blocks": [], "error": "WrongResult: 3 vertices differ"},
        ],
    }  # fmt: skip
    results = {"date": "", "machine": {}, "versions": {}, "runs": [run], "problems": []}
    row = next(line for line in report.markdown(json.loads(json.dumps(results))).splitlines() if "| BFS" in line)
    assert row == "| BFS | 1 | 2 | 1.25 (0.5..2) | wrong | wrong | 1 | 50% |"

    faster = run | {"threads": 2, "cells": [cell | {"system": "tgraph", "blocks": [[0, [0.0016]]]}]}
    assert "| g | BFS | 1 | 2 | 1.25 |" in report.markdown(results | {"runs": [faster, run]}).splitlines()

    sizes = [run | {"graph": graph | {"name": name}} for name in ("rmat-8", "rmat-10", "grid-8")]
    shown = report.markdown(results | {"runs": sizes}).splitlines()
    assert {"| 2^8 | 1.25 / 1.25 |", "| 2^10 | 1.25 / - |"} <= set(shown)


def test_the_comparison_on_a_gpu_runs_on_a_cpu_as_well(tmp_path, monkeypatch):
    options = ["--device", "cpu", "--scale", "5", "--degree", "4", "--features", "1,3", "--heads", "3", "--repeat", "1"]
    monkeypatch.setattr(gpu, "COPIED", 1 << 16)
    monkeypatch.setattr(sys, "argv", ["gpu", *options, "--output", str(tmp_path)])
    gpu.main()
    rows = json.loads((tmp_path / "gpu-cpu.json").read_text())["rows"]
    assert len({(row["graph"], row["task"]) for row in rows}) == 2 * (2 * 2 + 4 + 3 * 2)
    assert not [row for row in rows if row["note"] or not row["milliseconds"]]


@pytest.mark.thorough
def test_stores_are_compared_with_what_one_would_write_without_them(tmp_path, monkeypatch):
    options = ["--rows", "2000", "--columns", "3", "--batch", "50", "--turns", "1", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["stores", *options, "--output", str(tmp_path)])
    threads = torch.get_num_threads()
    stores.main()
    torch.set_num_threads(threads)
    rows = [line.split(" | ") for line in (tmp_path / "stores.md").read_text().splitlines() if line.startswith("| ")][
        2:
    ]
    assert all(rate != "0" for row in rows for rate in row[3:6] if rate.strip())
    kinds = [kind for kind in store_systems.KINDS if store_systems.missing(kind) is None]
    assert len(rows) == sum({"rocksdb": 1, "lmdb": 2}.get(kind, 3) for kind in kinds)


def test_a_store_with_wrong_rows_is_not_timed():
    system = store_systems.System("wrong", lambda tensor: None, lambda: torch.zeros(9, 2), lambda index: index)
    with pytest.raises(verify.WrongResult, match="wrong: read other rows"):
        stores.measured([system], torch.ones(9, 2), 3, 1)
    system.read = lambda: torch.ones(9, 2)
    with pytest.raises(verify.WrongResult, match="wrong: other rows than those at the index"):
        stores.measured([system], torch.ones(9, 2), 3, 1)


def test_a_wrong_aggregation_is_not_timed():
    expected = torch.tensor([1.0, -torch.inf])
    assert gpu.difference(torch.tensor([1.0, 0.0]), expected) == ""
    assert gpu.difference(torch.tensor([1.1, 0.0]), expected) == "WRONG: 1 of 2 differ"
    assert gpu.measured("g", "sum", "x", lambda: torch.tensor([1.1, 0.0]), expected, 1).milliseconds is None


def test_what_is_left_by_amdahls_law():
    """Of 10 seconds 8 are in regions, which chunks spread over 3; of the 2 others torch spreads one over a quarter."""
    found = {"seconds": 10.0, "inside": 8.0, "outside": 2.0, "threads": 4, "places": [{"spread": 2.5}, {"spread": 0.5}]}
    assert serial.speed_ups(found, (0.0, 0.0)) == {"torch": 0.0, "amdahl": 10 / 4, "chunked": 10 / 5}
    assert serial.speed_ups(found, (1.0, 0.25)) == {"torch": 1.0, "amdahl": 10 / 3.25, "chunked": 10 / 4.25}


def test_regions_are_counted_for_the_threads_that_they_ask_for():
    with thread_count(4):
        graph = tg.generators.rmat(14, 16)
        row = serial.counted(lambda: tg.algorithms.pagerank(graph, tol=None, max_iterations=5), 4)
    assert 0 < row["inside"] < row["seconds"]
    assert all(1 < place["threads"] <= 4 and place["spread"] <= place["seconds"] for place in row["places"])
    assert "power.cpp" in serial.regions(row) and "pagerank" in serial.markdown(
        [{"algorithm": "pagerank"} | row | serial.speed_ups(row, (0.0, 0.0))]
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads past the system's cache are those of Linux")
def test_batches_from_a_file_that_is_not_in_memory_are_verified(tmp_path, monkeypatch, capsys):
    options = ["--scale", "8", "--batch", "16", "--batches", "2", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["cold_sampling", *options])
    monkeypatch.setattr(cold_sampling, "random_reads", lambda *_: 1.0)  # not every file system knows O_DIRECT
    cold_sampling.main()
    assert "| tgraph |" in capsys.readouterr().out
    write, other = tg.write, tg.generators.rmat(8, 16, seed=1)
    monkeypatch.setattr(tg, "write", lambda graph, path: write(other, path))
    with pytest.raises(verify.WrongResult, match="a batch from the file is not the one from memory"):
        cold_sampling.main()


@pytest.mark.thorough
def test_graphs_that_change_are_compared(tmp_path):
    """Each system that is installed has the arcs that it was given, and what a store is used for is verified."""
    stream = Stream.make(tmp_path, 8)
    for name in ("tgraph", "scipy, added", "scipy, rebuilt", "networkx"):
        found = worker.run(stream, name, 500, 1, 10, deletes=False)
        assert found["arcs"] == stream.num_arcs - stream.base and found["kept"] == stream.num_arcs
    for name in ("tgraph", "networkx"):
        assert worker.run(stream, name, 500, 1, 10, deletes=True)["kept"] == 0
    assert [len(row) for row in own.analytics(stream, 1)] == [9] * 5
    assert [row[0] for row in own.sampling(stream, 3)][1:3] == ["static", "snapshot"]


@pytest.mark.thorough
def test_programs_run_in_every_engine(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["programs", "--scale", "6", "--times", "6", "--programs", "Hops,triangles"])
    with pytest.raises(SystemExit, match="False"):
        programs.main()
    _, _, hops, triangles = (line.split(" | ") for line in capsys.readouterr().out.splitlines())
    assert hops[2:-1] == ["✓"] * 8 and float(hops[-1].strip(" |")) > 0
    assert triangles[2:-1] == ["✓"] * 5 + ["all arcs at once", "✓", "single arcs"]


def test_lines_are_counted_by_room():
    root = Path(__file__).parents[1]
    if subprocess.run(["git", "rev-parse"], cwd=root, capture_output=True).returncode:
        pytest.skip("it is no clone")
    done = subprocess.run([sys.executable, "-m", "bench.lines"], cwd=root, capture_output=True, text=True, check=True)
    rooms = {tuple(line.split()[:2]): int(line.split()[-1].replace(",", "")) for line in done.stdout.splitlines()}
    assert rooms["Python", "tgraph/core"] > 1000 and rooms["C++", "tgraph/kernels"] > 1000
    assert rooms["Python", "in"] == sum(n for (kind, room), n in rooms.items() if kind == "Python" and room != "in")


def test_the_commands_of_the_documentation_are_there():
    """Each measurement that a page, the Makefile or an options line names is a module, and its options are known."""
    root = Path(__file__).parents[1]
    pages = [*(root / "docs").glob("*.md"), *root.glob("*.md"), root / "Makefile"]
    text = "\n".join(page.read_text() for page in pages if page.name not in ("CHANGELOG.md", "scaling.md"))
    commands = re.findall(r"\bbench\.([\w.]*\w)((?: --[\w-]+)?)", text)
    assert len(commands) > 20
    for name, option in set(commands):
        path = root / "bench" / name.replace(".", "/")
        file = path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__main__.py"
        assert file.is_file(), name
        assert option.strip(" -").replace("-", "_") in file.read_text(), (name, option)
