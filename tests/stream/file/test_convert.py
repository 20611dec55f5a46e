"""Edge lists larger than memory to partitioned files: equal to the graph that is built in memory."""

import errno
import os
import random
import subprocess
import sys
import warnings

import pytest
import torch
from faults import killed
from hypothesis import given
from hypothesis import strategies as st
from test_blocks import assert_blocks_hold, assert_same

import tgraph as tg
from tgraph.core.building.symmetry import Mirror
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.stream.file import block_sorter, edge_reader
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.convert import convert

SMALL = "64kB"  # of memory: many runs and buckets


def assert_converted(path, target, parts=3, memory=SMALL, **options):
    """The file holds the graph that `tgraph.read` makes, in both sections, and nothing else is left in the folder."""
    convert(path, target, parts=parts, memory=memory, **options)
    expected = tg.read(path, **options)
    assert_same(tg.read(target), expected)
    with BlockFile(target) as file:
        assert_blocks_hold(file, "rows", expected)
        if expected.directed:
            assert_blocks_hold(file, "transpose", expected.transpose())
        assert len(file.blocks()) == parts
    assert {entry.name for entry in target.parent.iterdir()} == {path.name, target.name}


@pytest.fixture
def small_steps(monkeypatch):
    """Runs and buckets of a few arcs."""
    monkeypatch.setattr(edge_reader, "_PER_EDGE", 4000)
    monkeypatch.setattr(block_sorter, "_PER_ARC", {False: 600, True: 600})


NAMES = {
    "numbers": lambda v: str(v),
    "sparse": lambda v: str(v * v * 10**14 + 7),
    "text": lambda v: f"v{v * 7 % 11}-{v}",
}


@st.composite
def lists(draw):
    """The text of an edge list."""
    n = draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    ends = draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=40))
    name = NAMES[draw(st.sampled_from(list(NAMES)))]
    weights = draw(st.sampled_from([None, st.integers(-5, 5), st.integers(-20, 20).map(lambda w: w / 4)]))
    lines = [f"{name(u)} {name(v)}" + ("" if weights is None else f" {draw(weights)}") for u, v in ends]
    if draw(st.booleans()):  # both ways
        fields = [line.split() for line in lines]
        lines += [" ".join((v, u, *rest)) for u, v, *rest in fields if u != v]
    return "\n".join(lines) + "\n"


@given(
    text=lists(),
    parts=st.sampled_from([1, 2, 7]),
    directed=st.sampled_from([None, False]),
    multi=st.sampled_from(["keep", "keep", "first", "sum", "min", "max"]),
    self_loops=st.sampled_from(["keep", "drop"]),
)
def test_equals_what_is_built_in_memory(tmp_path_factory, text, parts, directed, multi, self_loops):
    folder = tmp_path_factory.mktemp("list")
    path = folder / "some.txt"
    path.write_text(text)
    options = {"directed": directed, "multi": multi, "self_loops": self_loops}
    assert_converted(path, folder / "some.tg", parts, memory="100kB", **options)


def random_lines(n, m, weights=None, hub=5):
    random = torch.Generator().manual_seed(0)
    ends = torch.randint(0, n, (m, 2), generator=random)
    ends[: m // hub, 0] = 3
    values = torch.randint(0, 50, (m,), generator=random).tolist()
    if weights is None:
        return "".join(f"{u}\t{v}\n" for u, v in ends.tolist())
    return "".join(f"{u}\t{v}\t{w * weights}\n" for (u, v), w in zip(ends.tolist(), values, strict=True))


@pytest.mark.covering(1)
@pytest.mark.parametrize("weights", [None, 1, 0.25])
@pytest.mark.parametrize("directed", [True, False])
def test_many_runs_and_buckets(tmp_path, small_steps, directed, weights):
    path = tmp_path / "some.txt"
    path.write_text(random_lines(300, 3000, weights=weights))
    assert_converted(path, tmp_path / "some.tg", 40, memory="1MB", directed=directed)
    assert_converted(path, tmp_path / "some.tg", 40, memory="1MB", directed=directed, multi="sum", self_loops="drop")


def test_fractions_after_integers(tmp_path):
    """Weights that turn out to be fractions after megabytes of integers."""
    path = tmp_path / "some.wel"
    path.write_text(random_lines(200, 300_000, weights=1) + "1 2 0.5\n")
    convert(path, tmp_path / "some.tg", memory="300MB")
    assert_same(tg.read(tmp_path / "some.tg"), tg.read(path))


def test_comments_between_the_lines(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("# Undirected graph\n5  7\n# a comment\n 7 9 \n")
    assert_converted(path, tmp_path / "some.tg", 2)


@pytest.mark.parametrize("header", ["source,target,weight", "id,to,from,weight"])
def test_columns_by_name(tmp_path, header):
    path = tmp_path / "some.csv"
    names = header.split(",")
    rows = [",".join(str(10 * i + len(name)) for name in names) for i in range(9)]
    path.write_text("\n".join([header, *rows]) + "\n")
    assert_converted(path, tmp_path / "some.tg", 2)


@pytest.mark.parametrize("text", ["# Directed graph without edges\n", "# Undirected graph without edges\n"])
def test_no_edges(tmp_path, text):
    path = tmp_path / "some.txt"
    path.write_text(text)
    assert_converted(path, tmp_path / "some.tg", 2)


def test_compressed_and_kept_ids(tmp_path):
    path = tmp_path / "some.el.gz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tg.write(tg.generators.grid2d(5, 5), path)
    assert_converted(path, tmp_path / "some.tg", 2, ids="keep")


def test_blocks_are_as_few_as_can_be_sorted(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text(random_lines(100, 5000))
    blocks = []
    for memory in ("2MB", "400kB"):
        convert(path, tmp_path / "some.tg", memory=memory)
        with BlockFile(tmp_path / "some.tg") as file:
            blocks.append(len(file.blocks()))
    assert blocks[0] == 1 and blocks[1] in range(2, 6)


def test_progress(tmp_path, capsys):
    path = tmp_path / "some.txt"
    path.write_text(random_lines(100, 500))
    convert(path, tmp_path / "some.tg", progress=True)
    shown = capsys.readouterr().err
    assert all(step in shown for step in ("some.txt", "scatter rows", "sort rows", "scatter transpose"))


# ---- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"parts": 0}, "parts: "),
        ({"memory": "little"}, "memory: "),
        ({"memory": 5000}, r"memory: 5000 bytes are too few for 100 vertices.*at least 9600"),
        ({"memory": "30kB", "parts": 1}, r"memory: .* to sort 5000 arcs.*more parts"),
        ({"directions": 2}, "directions: no option"),
        ({"multi": "error"}, "multi: the arc"),
    ],
)
def test_wrong_options_leave_nothing_behind(tmp_path, options, named):
    path = tmp_path / "some.txt"
    path.write_text(random_lines(100, 5000))
    with pytest.raises(ArgumentError, match=named):
        convert(path, tmp_path / "some.tg", **options)
    assert list(tmp_path.iterdir()) == [path]


def test_other_formats_are_refused(tmp_path):
    tg.write(tg.generators.grid2d(3, 3), tmp_path / "some.tg")
    with pytest.raises(ArgumentError, match=r"path_in: .*read it with tgraph\.read"):
        convert(tmp_path / "some.tg", tmp_path / "other.tg")


def test_a_faulty_line_is_named(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text(random_lines(100, 500) + "1 x\n")
    with pytest.raises(FileFormatError, match="line 501"):
        convert(path, tmp_path / "some.tg")
    assert list(tmp_path.iterdir()) == [path]


def test_too_many_sparse_ids(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("".join(f"{v * 10**9} {v * 10**9 + 1}\n" for v in range(3000)))
    with pytest.raises(ArgumentError, match=r"memory: 100000 bytes cannot hold the ids.*ids='keep'"):
        convert(path, tmp_path / "some.tg", memory=100_000)


@pytest.mark.fault
def test_a_disk_that_is_full(tmp_path, mounted):
    small_disk = mounted("256k")
    path = tmp_path / "some.txt"
    path.write_text(random_lines(100, 30_000))
    with pytest.raises(OSError, match=r"bytes are needed, \d+ are free.*some\.tg") as caught:
        convert(path, small_disk / "some.tg")
    assert caught.value.errno == errno.ENOSPC
    assert not list(small_disk.iterdir())


CONVERTING = """
import pyarrow.csv
from tgraph.stream.file.convert import convert

def work():
    while True:
        convert(sys.argv[1], sys.argv[2], parts=8, memory="3MB")
"""


def kill_while_converting(tmp_path, waits):
    """Kill conversions over a file, which is whole all the time; the next one removes what they have left."""
    path, target = tmp_path / "some.txt", tmp_path / "some.tg"
    path.write_text(random_lines(3000, 60_000))
    convert(path, target, parts=2)
    expected, kills = tg.read(path), 0
    for was_killed in killed(CONVERTING, [path, target], waits):
        assert_same(tg.read(target), expected)
        kills += was_killed
    assert kills == len(waits)
    convert(path, target)
    assert {entry.name for entry in tmp_path.iterdir()} == {path.name, target.name}


@pytest.mark.fault
def test_kill_leaves_a_whole_file(tmp_path):
    kill_while_converting(tmp_path, [0.05, 0.3])


@pytest.mark.fault
@pytest.mark.soak
def test_kill_at_20_moments(tmp_path):
    chance = random.Random(0)
    kill_while_converting(tmp_path, [chance.uniform(0, 1) for _ in range(20)])


def test_mirrored_lists():
    src, dst, weights = torch.tensor([[0, 1, 2, 5], [1, 0, 2, 5], [4, 4, 1, 1]]).numpy()
    for values, complete in ((None, True), (weights, True), (weights + (src < dst), False)):
        mirror = Mirror()
        mirror.note(src[:2], dst[:2], None if values is None else values[:2])
        mirror.note(src[2:], dst[2:], None if values is None else values[2:])
        assert mirror.complete == complete
    mirror = Mirror()
    mirror.note(src[1:], dst[1:], None)
    assert not mirror.complete
    real = Mirror()
    real.note(src[:2], dst[:2], torch.tensor([0.0, -0.0]).double().numpy())
    assert real.complete


MEASURED = """
import pathlib, sys
import pyarrow.csv, torch
from tgraph.stream.file.convert import convert

def peak():  # getrusage would begin with the peak of the process that started this one
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])

convert(sys.argv[1] + "/small.txt", sys.argv[1] + "/small.tg", memory="100MB")
before = peak()
convert(sys.argv[1] + "/large.txt", sys.argv[1] + "/large.tg", memory="100MB")
print(peak() - before)
"""


@pytest.mark.thorough
def test_memory_stays_bounded(tmp_path):
    """A list of 12 million edges, which take 192 MB as an array, within 100 MB and what libraries hold."""
    (tmp_path / "small.txt").write_text(random_lines(100, 500))
    lines = random_lines(200_000, 1_000_000, hub=100)
    with open(tmp_path / "large.txt", "w") as file:
        for _ in range(12):
            file.write(lines)
    command = [sys.executable, "-c", MEASURED, os.fspath(tmp_path)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown < 130_000_000


@pytest.mark.parametrize("name", ["e.el", "./e.el", "hard.el", "soft.tg", "folder/../e.el"])
def test_a_file_that_is_read_is_not_replaced_by_whatever_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "e.el").write_text("0 1\n1 2\n")
    os.link("e.el", "hard.el")
    os.symlink("e.el", "soft.tg")
    for sources in ("e.el", ["other.el", "e.el"]):
        (tmp_path / "other.el").write_text("5 6\n")
        with pytest.raises(ArgumentError, match=r"path_out: .* is the file e.el that is read"):
            convert(sources, name, parts=2)
    assert (tmp_path / "e.el").read_text() == "0 1\n1 2\n"
