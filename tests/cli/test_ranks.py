"""The command in two processes of torchrun: what one process prints and writes."""

import io
import os
import socket
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pandas
import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks

import tgraph as tg
from tgraph.cli import main
from tgraph.stream import write_partitioned

Said = tuple[int, str, str]  # exit code, stdout, stderr


def environment() -> dict[str, str]:
    """What torchrun tells two processes, but for their numbers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}


def started(*arguments: object) -> list[Said]:
    """What the command says in each of two processes, started as torchrun does."""
    shared = environment()
    begun = [
        subprocess.Popen(
            [sys.executable, "-m", "tgraph", *map(str, arguments)],
            env=os.environ | shared | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=120) for process in begun]
    return [(process.returncode, *each) for process, each in zip(begun, said, strict=True)]


def called(*arguments: object, others: tuple[object, ...] | None = None) -> list[Said]:
    """The same in processes that are there already. `others` : the arguments of the second one, where they differ."""
    return on_ranks(2, command, environment(), [list(map(str, given)) for given in (arguments, others or arguments)])


def command(shared: dict[str, str], arguments: list[list[str]]) -> Said:
    rank, before, given = dist.get_rank(), dict(os.environ), sys.argv
    dist.destroy_process_group()  # the command makes its own
    os.environ.update(shared | {"RANK": str(rank)})
    sys.argv = ["tgraph", *arguments[rank]]
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = given
        os.environ.clear()
        os.environ.update(before)
    return int(ended.value.code or 0), out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    graph = tg.generators.rmat(9, weighted=True)
    path = tmp_path_factory.mktemp("blocks") / "blocks.tg"
    write_partitioned(graph, path, 4)
    return path


@pytest.mark.parametrize("run", [called, pytest.param(started, marks=pytest.mark.thorough)])
def test_result_of_one_process(file, tmp_path, run):
    out, picture = tmp_path / "ranks.parquet", tmp_path / "ranks.svg"
    first, second = run("pagerank", file, "--output", out, "--trace", picture, "--progress")
    assert first[0] == second[0] == 0, first[2] + second[2]
    assert second[1:] == ("", "")
    assert "opened by 2 ranks" in first[1]
    assert f"result: {out}" in first[1]
    graph = tg.read(file)
    rank = tg.algorithms.pagerank(graph)
    table = pandas.read_parquet(out)
    assert table["vertex"].tolist() == list(range(graph.num_vertices))
    assert torch.allclose(torch.tensor(table["rank"].tolist()), rank, rtol=1e-5)
    assert f"top 5: {graph.top(rank, 1)[0][0]} " in first[1]
    assert "iterations" in first[2]  # the progress
    rows = first[1].splitlines()
    header = next(place for place, row in enumerate(rows) if row.startswith("rank  computing"))
    assert [row.split()[0] for row in rows[header + 1 : header + 3]] == ["0", "1"]
    assert "rank 1" in picture.read_text()


def test_groups_are_counted(file, tmp_path):
    out = tmp_path / "groups.csv"
    first, second = called("wcc", file, "--output", out)
    assert first[0] == second[0] == 0, first[2] + second[2]
    label = tg.algorithms.wcc(tg.read(file))
    assert pandas.read_csv(out).iloc[:, 1].tolist() == label.tolist()
    sizes = label.unique(return_counts=True)[1]
    assert f"{len(sizes):,} components, the largest of {int(sizes.max()):,} of 512 vertices" in first[1]


def test_parts_are_read_within_a_memory(tmp_path):
    write_partitioned(tg.generators.rmat(9, weighted=True), file := tmp_path / "blocks.tg", 16)
    whole, parts = (called("bfs", file, "--progress", *more)[0] for more in ((), ("--memory", "52kB")))
    assert whole[0] == parts[0] == 0, parts[2]
    assert "of them loaded" in parts[2] and "of them loaded" not in whole[2]
    assert [row for row in parts[1].splitlines() if "reached" in row] == [
        row for row in whole[1].splitlines() if "reached" in row
    ]
    first, second = called("bfs", file, "--memory", "1kB")
    assert first[0] == second[0] == 2 and "needs at least" in first[2] and "start more ranks" in first[2]


def test_files_of_edges_as_blocks(tmp_path):
    (tmp_path / "a.el").write_text("".join(f"{i} {i * 7 % 90}\n" for i in range(300)))
    (tmp_path / "b.el").write_text("".join(f"{i * 5 % 300} {i}\n" for i in range(200)))
    given = ("convert", tmp_path / "a.el", tmp_path / "b.el", tmp_path / "blocks.tg", "--parts", "4", "--undirected")
    first, second = called(*given)
    assert first[0] == second[0] == 0, first[2] + second[2]
    assert "300 vertices, 9" in first[1] and "arcs in 4 blocks, of 2 files, converted in " in first[1]
    assert first[1].endswith(" by 2 ranks\n") and second[1:] == ("", "")
    tg.stream.convert([tmp_path / "a.el", tmp_path / "b.el"], tmp_path / "one.tg", parts=4, directed=False)
    assert (tmp_path / "blocks.tg").read_bytes() == (tmp_path / "one.tg").read_bytes()


def test_the_doctor_examines_the_group():
    first, second = called("doctor")
    assert first[0] == second[0] == 0, first[2] + second[2]
    assert second[1:] == ("", "")
    facts = first[1].partition("\nprocess group\n")[2].splitlines()
    said = dict(row.strip().split("  ", 1) for row in facts)
    assert said["backend"].strip() == "gloo"
    assert "2 on 1 host (" in said["ranks"] and ": ranks 0 to 1)" in said["ranks"]
    assert f"the same: tgraph {tg.__version__}, torch {torch.__version__}" in said["versions"]
    assert said["kernels"].strip() == "the same"
    assert any(name.startswith("threads on ") and "2 of 2 ranks on " in row for name, row in said.items())
    assert "8 bytes from each to each" in said["latency"] and "B/s out of each rank" in said["bandwidth"]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("louvain", "FILE"), "start the command without torchrun"),
        (("bfs", "edges.txt"), "edges.txt is no .tg file"),
        (
            ("generate", "random-edges", "out.tg", "--n", "3", "--m", "2"),
            "runs in one process; start it without torchrun",
        ),
    ],
)
def test_mistakes_are_told_once(file, tmp_path, arguments, said):
    (tmp_path / "edges.txt").write_text("0 1\n")
    places = {"FILE": file, "edges.txt": tmp_path / "edges.txt", "out.tg": tmp_path / "out.tg"}
    first, second = called(*(places.get(each, each) for each in arguments))
    assert first[0] == second[0] == (3 if arguments[0] == "louvain" else 2)
    assert first[2].count("tgraph: ") == 1
    assert said in first[2]
    assert "tgraph: " not in second[2]


@pytest.mark.thorough
def test_what_one_rank_fails_of(file, tmp_path):
    """A file that only the second process lacks: the first one says so."""
    first, second = called("bfs", file, others=("bfs", tmp_path / "other.tg"))
    assert first[0] == second[0] == 2
    assert "other.tg" in first[2]
    assert "tgraph: " not in second[2]
