"""Files of edges that several ranks convert together: the file that one process writes."""

import os
import random
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import torch
import torch.distributed as dist
from ranks import on_ranks

import tgraph as tg
from tgraph.distributed.opening import layout_of
from tgraph.errors import ArgumentError, FileFormatError, RankError
from tgraph.stream.file.block_sorter import BlockSorter
from tgraph.stream.file.blocks import BlockFile

RANKS = 3
NAMES = {
    "numbers": str,
    "few of many": lambda v: str(3 * v + 7),
    "sparse": lambda v: str(v * v * 10**12 + 7),
    "text": lambda v: f"v{v * 7 % 11}-{v}",
}


class Kind(NamedTuple):
    """Files of edges, and how they are converted."""

    names: str = "numbers"
    weights: tuple[float, ...] | None = None  # by file: what integers are multiplied by
    both_ways: bool = False  # whether each edge has its reverse in another file
    files: int = 5
    memory: str = "400kB"
    options: Mapping[str, Any] = MappingProxyType({})


KINDS = {
    "numbers": Kind(),
    "undirected, one file": Kind(files=1, options={"directed": False}),
    "two files, weights": Kind(weights=(1, 1), files=2),
    "fractions in the last file": Kind(weights=(1, 1, 0.25), files=3, options={"directed": False}),
    "few of many": Kind("few of many", weights=(0.5,) * 5),
    "sparse": Kind("sparse", options={"directed": False}),
    "text": Kind("text"),
    "text both ways": Kind("text", both_ways=True, options={"directed": False}),
    "both ways, fractions in the last": Kind(weights=(1, 1, 1, 0.25), both_ways=True, options={"directed": False}),
    "kept ids": Kind("few of many", options={"ids": "keep"}),
    "first of parallel arcs": Kind(weights=(1,) * 5, options={"multi": "first", "self_loops": "drop"}),
    "sums of parallel arcs": Kind(weights=(0.5,) * 5, options={"multi": "sum", "directed": False}),
    "compressed": Kind(memory="2MB", options={"layout": "virtual", "multi": "min"}),
    "as few blocks as can be sorted": Kind(options={"parts": None}),
}


def write_files(folder: Path, kind: Kind) -> list[Path]:
    """Some hundred edges, with a hub, loops and parallel ones, cut into files of different sizes."""
    chance, name = random.Random(4), NAMES[kind.names]
    ends = [(3 if i % 5 == 0 else chance.randrange(60), int(60 * chance.random() ** 2)) for i in range(900)]
    cuts = [0, *sorted(chance.sample(range(1, 900), kind.files - 1)), 900]
    values = [chance.randrange(40) for _ in ends]
    lists = [list(zip(ends, values, strict=True))[cuts[i] : cuts[i + 1]] for i in range(kind.files)]
    if kind.both_ways:
        half = kind.files // 2
        lists = [[each for number in part for each in lists[number]] for part in ([*range(half)], [*range(half, 5)])]
        lists = [lists[0], lists[1], [((v, u), w) for (u, v), w in lists[1]], [((v, u), w) for (u, v), w in lists[0]]]
        lists = [[each for each in part if each[0][0] != each[0][1]] for part in lists]
    paths = []
    for number, part in enumerate(lists):
        path = folder / f"{number}.el"
        factor = None if kind.weights is None else kind.weights[number]
        rows = [f"{name(u)} {name(v)}" + ("" if factor is None else f" {w * 4 * factor:g}") for (u, v), w in part]
        path.write_text("\n".join([f"# file {number}", *rows]) + "\n")
        paths.append(path)
    return paths


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder for each kind, with what one process writes, one.tg, and what ranks write, all.tg."""
    folder = tmp_path_factory.mktemp("lists")
    for name, kind in KINDS.items():
        (folder / name).mkdir()
        paths = write_files(folder / name, kind)
        tg.stream.convert(paths, folder / name / "one.tg", memory=kind.memory, **{"parts": 7, **kind.options})
    (folder / "faulty").mkdir()
    (folder / "faulty" / "good.el").write_text("0 1\n" * 50)
    (folder / "faulty" / "bad.el").write_text("0 1\n" * 40 + "0 x\n")
    on_ranks(RANKS, convert_all, folder)
    return folder


def convert_all(folder: Path) -> None:
    for name, kind in KINDS.items():
        paths = sorted((folder / name).glob("*.el"))
        given = {"parts": 7, "memory": kind.memory, **kind.options}
        tg.distributed.convert(paths, folder / name / "all.tg", **given)
        assert (folder / name / "all.tg").exists(), "no rank is done before the file is there"
    check_blocks_for_ranks(paths, folder / "numbers" / "for ranks.tg")
    with pytest.raises(ArgumentError, match="parts is 3 on rank 0 and 4 on rank 1"):
        tg.distributed.convert(paths, folder / "other.tg", parts=3 + dist.get_rank())
    files = [folder / "faulty" / name for name in ("good.el", "bad.el")]
    with pytest.raises((FileFormatError, RankError), match=r"bad\.el.*line 41"):
        tg.distributed.convert(files, folder / "faulty" / "all.tg")


def check_blocks_for_ranks(paths: list[Path], out: Path) -> None:
    """Of as many blocks as there are ranks, each rank has one."""
    tg.distributed.convert(paths, out, parts=RANKS, memory="2MB")
    held = layout_of(tg.distributed.open(out)).ownership
    with BlockFile(out) as file:
        starts = [file.index[number].first_row for number in file.blocks()]
    assert list(held.starts) == [0, *starts[1:], file.num_vertices]


@pytest.mark.parametrize("name", KINDS)
def test_equals_what_one_process_writes(folder, name):
    one, whole = folder / name / "one.tg", folder / name / "all.tg"
    tg.verify(whole)
    left, right = tg.read(one), tg.read(whole)
    assert right.directed == left.directed and right.weight_dtype == left.weight_dtype
    assert torch.equal(right.offset, left.offset) and torch.equal(right.neighbors, left.neighbors)
    assert left.weights is None or torch.equal(right.weights, left.weights)
    if KINDS[name].options.get("parts", 7) is not None:
        assert whole.read_bytes() == one.read_bytes()
    with BlockFile(whole) as file:
        assert len(file.blocks()) % RANKS == (7 % RANKS if KINDS[name].options.get("parts", 7) else 0)


@pytest.mark.parametrize("name", KINDS)
def test_equals_the_list_of_all_files(folder, name, tmp_path):
    """One process reads several files as it reads one that holds them all."""
    options = {key: value for key, value in KINDS[name].options.items() if key not in ("parts", "layout")}
    path = tmp_path / "all.el"
    path.write_text("".join(each.read_text() for each in sorted((folder / name).glob("*.el"))))
    left, right = tg.read(path, **options), tg.read(folder / name / "one.tg")
    assert torch.equal(right.offset, left.offset) and torch.equal(right.neighbors.long(), left.neighbors.long())
    assert right.directed == left.directed and right.weight_dtype == left.weight_dtype
    assert left.weights is None or torch.equal(right.weights, left.weights)
    assert (left.vertices is None) == (right.vertices is None)
    assert left.vertices is None or list(left.vertices) == list(right.vertices)


def test_nothing_is_left_behind(folder):
    assert {path.name for path in folder.iterdir()} == {*KINDS, "faulty"}
    assert {path.name for path in (folder / "faulty").iterdir()} == {"good.el", "bad.el"}
    for name in KINDS:
        assert {path.suffix for path in (folder / name).iterdir()} == {".el", ".tg"}


@pytest.mark.parametrize(
    ("texts", "options", "said"),
    [
        (("0 1\n", "a b\n"), {}, "1.el has another kind of ids than .*0.el; ids='text'"),
        (("0 1\n", "0 1 5\n"), {}, "1.el has another choice of weights than .*weights=False"),
        (("0 1\n", "# Undirected graph\n0 1\n"), {}, "1.el has another direction than .*directed="),
        ((), {}, "path_in: no file is given"),
    ],
)
def test_files_that_make_no_list(tmp_path, texts, options, said):
    paths = [tmp_path / f"{number}.el" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    with pytest.raises(ArgumentError, match=said):
        tg.stream.convert(paths, tmp_path / "all.tg", **options)


def test_without_a_process_group(tmp_path):
    with pytest.raises(ArgumentError, match=r"group: torch\.distributed has no process group yet"):
        tg.distributed.convert([], tmp_path / "all.tg")


def test_files_without_edges(tmp_path):
    (tmp_path / "none.el").write_text("# Directed graph without edges\n")
    (tmp_path / "some.el").write_text("4 5\n")
    tg.stream.convert([tmp_path / "none.el", tmp_path / "some.el"], tmp_path / "all.tg")
    assert tg.read(tmp_path / "all.tg").vertices.tolist() == [4, 5]
    tg.stream.convert([tmp_path / "none.el"] * 2, tmp_path / "all.tg")
    assert tg.read(tmp_path / "all.tg").num_vertices == 0


@pytest.mark.thorough
def test_a_rank_that_dies(tmp_path):
    """The others learn of it and take the temporary files away; the file that was there stays as it was."""
    paths = write_files(tmp_path, Kind())
    tg.stream.convert(paths[:1], tmp_path / "all.tg")
    before = (tmp_path / "all.tg").read_bytes()
    with pytest.raises(AssertionError, match="rank 1 was lost without a message"):
        on_ranks(2, die, paths, tmp_path / "all.tg")
    assert (tmp_path / "all.tg").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"all.tg", *(path.name for path in paths)}


def die(paths: list[Path], out: Path) -> None:
    if dist.get_rank() == 1:
        BlockSorter._sorted = lambda *_: os._exit(1)  # as if it were killed while it sorts
    tg.distributed.convert(paths, out, parts=4)
