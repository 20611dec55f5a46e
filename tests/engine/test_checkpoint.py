"""Runs that are killed again and again and go on from their checkpoints give what runs give that were left alone."""

import errno
import os
import random

import numpy as np
import pytest
import torch
from faults import killed
from hypothesis import given
from hypothesis import strategies as st
from strategies import Any, graphs, grid, random_graph

import tgraph as tg
from tgraph.algorithms import BFS, HITS, SSSP, WCC, PageRank
from tgraph.engine import compiled_loop, identity
from tgraph.engine.checkpoint import Keeper
from tgraph.errors import ArgumentError, FileFormatError, NotConvergedError
from tgraph.files import atomic_write, checksummed
from tgraph.stream.run import fixpoint
from tgraph.stream.run.opening import within


class Killed(Exception):
    """In place of the signal, for tests in one process."""


@pytest.fixture
def killing(monkeypatch):
    """A function that lets runs be killed: the first after one iteration, or slice of a loop, each of which is written,
    the second after two more, and so on, so that all come to their end."""
    monkeypatch.setattr(compiled_loop, "SLICE", 0.0)
    monkeypatch.setattr(fixpoint, "SLICE", 0.0)
    offer = Keeper.offer

    def arm(first=1):
        after = [first, first]

        def counted(self, latest):
            offer(self, latest)
            after[0] -= 1
            if not after[0]:
                after[1] += 1
                after[0] = after[1]
                raise Killed

        monkeypatch.setattr(Keeper, "offer", counted)

    return arm


def until_done(make, graph, path, **options):
    """The Run of a program that is begun anew after every kill, and how often it was killed."""
    kills = 0
    while True:
        try:
            run = tg.run(make(), graph, checkpoint=tg.Checkpoint(path, seconds=0), **options)
        except Killed:
            kills += 1
            assert path.exists() and kills < 1000
        else:
            assert not path.exists() and not list(path.parent.glob(".*"))
            return run, kills


def assert_alike(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for name in expected:
            assert_alike(found[name], expected[name])
    else:
        assert found.dtype == expected.dtype and torch.equal(found, expected)


class Spreading(tg.Program):
    """Sums that go out from two vertices over a frontier, with attributes of every plain kind that change on the way,
    and first values that are others every time."""

    def __init__(self, rounds=6):
        self.rounds = rounds

    def init(self, graph):
        self.left, self.history, self.seen = self.rounds, {"sizes": [2], 0: (None, True)}, np.zeros(2)
        self.factor = torch.tensor(0.5)
        self.kept = object()
        values = torch.zeros(graph.num_vertices, device=graph.device)
        values[:2] = 1
        return {"mass": values, "noise": torch.rand_like(values)}, graph.select([0, 1])

    def compute(self, sub, values, active):
        received = tg.aggregate(sub, values["mass"], "sum")
        mass, changed = tg.update(values["mass"], active, received, lambda old, new: old + self.factor * new)
        self.left, self.factor = self.left - 1, self.factor * 0.7
        self.history["sizes"].append(len(changed))
        self.seen = self.seen + np.array([1, len(active)])
        return {"mass": mass, "noise": values["noise"]}, changed

    def finish(self, values):
        assert isinstance(self.seen, np.ndarray) and self.history[0] == (None, True)
        sizes = torch.tensor([*self.history["sizes"], self.left, *self.seen.tolist()], device=values["mass"].device)
        return {"mass": values["mass"], "sizes": sizes}


MAKERS = {
    "pagerank": PageRank,
    "pagerank of some": lambda: PageRank(
        personalization={0: 1, 3: 2}, dangling="ignore", tol=1e-6, dtype=torch.float64
    ),
    "pagerank by blocks": lambda: PageRank(method="gauss-seidel"),
    "pagerank by weights": lambda: PageRank(weighted=True, tol=None, max_iterations=7),
    "hits": lambda: HITS(tol=None, max_iterations=9),
    "bfs": lambda: BFS(3),
    "bfs of several": lambda: BFS([0, 5, 7]),
    "bfs of three hops": lambda: BFS(np.array([0]), max_depth=3),
    "sssp": lambda: SSSP(1),
    "sssp of several": lambda: SSSP(torch.tensor([1, 2])),
    "wcc": WCC,
    "sums": Spreading,
}
GRAPHS = {
    "directed": lambda: random_graph(60, 300, dtype=torch.float32),
    "grid": lambda: grid(7, 9, torch.int32),
    "streamed": lambda: within(random_graph(1000, 5000, dtype=torch.float32), "100kB", None),
    "compressed": lambda: random_graph(60, 300, dtype=torch.float32).to_format("csr", narrow=True),
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("backend", ["auto", "portable"])
def test_killed_again_and_again(tmp_path, killing, name, kind, backend):
    graph = GRAPHS[kind]()
    expected = tg.run(MAKERS[name](), graph, backend=backend)
    killing()
    found, kills = until_done(MAKERS[name], graph, tmp_path / "run.ckpt", backend=backend)
    assert kills
    assert_alike(found.values, expected.values)
    assert found.residual == expected.residual and found.converged
    if kind != "streamed" and name != "sssp":  # the order of blocks and buckets is theirs
        assert found.iterations == expected.iterations


@pytest.mark.gpu
@pytest.mark.parametrize("name", MAKERS)
def test_killed_on_a_gpu(tmp_path, killing, name):
    """And on the CPU instead, for the last stretch."""
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    graph, path = GRAPHS["directed"](), tmp_path / "run.ckpt"
    expected = tg.run(MAKERS[name](), graph)
    killing()
    found, kills = until_done(MAKERS[name], graph.to("cuda"), path)
    assert kills
    torch.testing.assert_close(found.values, expected.values, check_device=False)
    left_behind(path, MAKERS[name](), graph.to("cuda"), killing, after=1)
    found = tg.run(MAKERS[name](), graph, checkpoint=path)
    torch.testing.assert_close(found.values, expected.values)


@given(
    graph=graphs(min_vertices=1, dtypes=(torch.int64, torch.float64), lowest=0),
    reduce=st.sampled_from(["min", "max"]),
    edge=st.sampled_from(["copy", "add", "mul", "min", "max"]),
    backend=st.sampled_from(["auto", "portable"]),
    data=st.data(),
)
def test_any_relaxation(tmp_path, killing, graph, reduce, edge, backend, data):
    """From first frontiers that leave out vertices which would have something to send, and for a number of rounds."""
    endless = edge == "mul" or (edge == "add" and reduce == "max")
    rounds = data.draw(st.sampled_from([2] if endless else [None, 2]))
    vertex = st.integers(0, graph.num_vertices - 1)
    active = data.draw(st.none() | st.lists(vertex, min_size=1, unique=True))
    values = torch.arange(graph.num_vertices).to(graph.weight_dtype)

    def program():
        return Any(reduce, edge, values, active=active, rounds=rounds)

    expected = tg.run(program(), graph, backend=backend)
    killing()
    found, _ = until_done(program, graph, tmp_path / "run.ckpt", backend=backend)
    assert torch.equal(found.values, expected.values)
    assert found.iterations == expected.iterations or rounds is None


def test_a_graph_without_vertices(tmp_path, killing):
    killing()
    run, kills = until_done(PageRank, tg.Graph.from_edges([], []), tmp_path / "run.ckpt")
    assert not kills and run.values.shape == (0,)


def test_algorithms_take_a_checkpoint(tmp_path):
    graph, path = random_graph(50, 200, dtype=torch.float32), tmp_path / "run.ckpt"
    al = tg.algorithms
    for algorithm in (al.pagerank, al.wcc, al.hits):
        assert_alike(dict(enumerate(algorithm(graph, checkpoint=path))), dict(enumerate(algorithm(graph))))
    for search in (al.bfs, al.sssp):
        assert_alike(search(graph, 0, checkpoint=str(path)), search(graph, 0))
    assert not path.exists()
    with pytest.raises(ArgumentError, match=r"checkpoint: is of one run.*tgraph\.run"):
        al.betweenness(graph, checkpoint=path)
    for algorithm in (al.triangle_count, al.core_number, al.cdlp, al.local_clustering):
        with pytest.raises(TypeError, match="checkpoint"):
            algorithm(graph, checkpoint=path)


# ---- what belongs to what -------------------------------------------------------------------------------------------


def test_a_checkpoint_belongs_to_the_columns_of_its_graph():
    one, other = (tg.Graph.from_edges([0], [1], columns={"x": [x], "text": ["a"]}) for x in (1, 2))
    (name, _), *_ = dict(identity.digest(one)).items() - dict(identity.digest(other)).items()
    assert name == "its column 'x'"


def left_behind(path, program, graph, killing, after=4, **options):
    """The checkpoint of a run that was killed after so many iterations."""
    killing(after)
    with pytest.raises(Killed):
        tg.run(program, graph, checkpoint=tg.Checkpoint(path, seconds=0), **options)
    assert path.exists()
    killing(10**9)


OTHERS = {
    "the program": (lambda graph: (HITS(), graph)),
    "its damping": (lambda graph: (PageRank(damping=0.5, personalization=personal(0)), graph)),
    "its personalization": (lambda graph: (PageRank(personalization=personal(1)), graph)),
    "its dtype": (lambda graph: (PageRank(personalization=personal(0), dtype=torch.float64), graph)),
    "the number of vertices": (lambda graph: (PageRank(personalization=personal(0, 61)), random_graph(61, 300))),
    "the number of arcs": (lambda graph: (PageRank(personalization=personal(0)), random_graph(60, 301))),
    "directed": (
        lambda graph: (
            PageRank(personalization=personal(0)),
            tg.Graph(graph.offset, graph.neighbors, graph.weights, directed=False),
        )
    ),
    "the digest": (lambda graph: (PageRank(personalization=personal(0)), random_graph(60, 300, seed=1))),
    "the digest of": (
        lambda graph: (
            PageRank(personalization=personal(0)),
            tg.Graph(graph.offset, graph.neighbors, graph.weights + 1),
        )
    ),
}


def personal(vertex, size=60):
    return torch.zeros(size).index_fill(0, torch.tensor(vertex), 1)


@pytest.mark.parametrize("what", OTHERS)
def test_the_checkpoint_of_another_run_is_refused(tmp_path, killing, what):
    graph, path = random_graph(60, 300, dtype=torch.float32), tmp_path / "run.ckpt"
    left_behind(path, PageRank(personalization=personal(0)), graph, killing)
    before = path.read_bytes()
    program, other = OTHERS[what](graph)
    with pytest.raises(ArgumentError, match=rf"run\.ckpt is of another run: {what}.* was .* is .*; delete the file"):
        tg.run(program, other, checkpoint=path)
    assert path.read_bytes() == before
    tg.run(PageRank(personalization=personal(0)), graph, checkpoint=path)


def test_a_program_that_ran_before_resumes_too(tmp_path, killing):
    graph, path, program = random_graph(60, 300), tmp_path / "run.ckpt", WCC()
    expected = tg.run(program, graph)
    left_behind(path, BFS(0), grid(9, 9), killing, backend="portable")
    path.unlink()
    killing()
    found, kills = until_done(lambda: program, graph, path)
    assert kills and torch.equal(found.values, expected.values)


def test_a_streamed_graph_is_identified_by_its_blocks(tmp_path, killing):
    path, graph = tmp_path / "run.ckpt", random_graph(300, 3000)
    paths = []
    for seed in (0, 1):
        paths.append(tmp_path / f"{seed}.tg")
        tg.stream.file.writing.write_partitioned(random_graph(300, 3000, seed=seed), paths[-1], 4)
    held, other = (tg.open(each, memory="60kB") for each in paths)
    left_behind(path, PageRank(), held, killing)
    with pytest.raises(ArgumentError, match="the digest of the graph was"):
        tg.run(PageRank(), other, checkpoint=path)
    found = tg.run(PageRank(), tg.open(paths[0], memory="90kB"), checkpoint=path)
    assert_alike(found.values, tg.run(PageRank(), held).values)
    torch.testing.assert_close(found.values, tg.run(PageRank(), graph).values)


def test_parameters_are_kept_once_they_are_written_into(tmp_path, killing):
    """Tensors that a program was given are identified, not stored."""
    graph, path = random_graph(60, 300, dtype=torch.float32), tmp_path / "run.ckpt"
    left_behind(path, PageRank(personalization=personal(0)), graph, killing)
    names = [tensor.shape for tensor in checksummed.read(path, "")[0].values()]
    assert [shape for shape in names if shape] == [torch.Size([60])]  # beside what a backend carries as a number
    path.unlink()

    class Writing(Spreading):
        def __init__(self, given):
            super().__init__()
            self.given = given

        def compute(self, sub, values, active):
            self.given += 1
            return super().compute(sub, values, active)

        def finish(self, values):
            return {"given": self.given}

    killing()
    found, kills = until_done(lambda: Writing(torch.zeros(2)), graph, path)
    assert kills and found.values["given"].tolist() == [6, 6]


def test_more_iterations_go_on_where_too_few_ended(tmp_path):
    graph, path = random_graph(60, 300), tmp_path / "run.ckpt"
    expected = tg.run(PageRank(tol=1e-7), graph)
    with pytest.raises(NotConvergedError) as caught:
        tg.run(PageRank(tol=1e-7, max_iterations=5), graph, checkpoint=path)
    assert caught.value.run.iterations == 5 and path.exists()
    run = tg.run(PageRank(tol=1e-7), graph, checkpoint=path, trace=True)
    assert_alike(run.values, expected.values)
    assert run.iterations == expected.iterations and len(run.trace) == run.iterations - 5
    with pytest.raises(NotConvergedError):
        tg.run(SSSP(0), graph, checkpoint=path, max_iterations=2)
    assert_alike(tg.run(SSSP(0), graph, checkpoint=path).values, tg.run(SSSP(0), graph).values)


# ---- faults ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def sample(tmp_path, killing):
    path = tmp_path / "run.ckpt"
    left_behind(path, Spreading(), random_graph(900, 3000), killing)
    return path


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(50))
def test_a_flipped_bit_is_named(sample, seed):
    chance = random.Random(seed)
    data = bytearray(sample.read_bytes())
    place = chance.randrange(len(data) if seed % 3 else 4096)
    data[place] ^= 1 << chance.randrange(8)
    sample.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"run\.ckpt: .*delete the file to begin the run again"):
        tg.run(Spreading(), random_graph(900, 3000), checkpoint=sample)
    assert sample.read_bytes() == data


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(20))
def test_a_truncated_file_is_named(sample, seed):
    size = sample.stat().st_size
    os.truncate(sample, random.Random(seed).choice([0, 7, 4096, size - 1, random.Random(seed).randrange(size)]))
    with pytest.raises(FileFormatError, match=r"run\.ckpt: .*delete the file to begin the run again"):
        tg.run(Spreading(), random_graph(900, 3000), checkpoint=sample)


def test_no_other_file_is_overwritten(tmp_path):
    graph, path = random_graph(60, 300), tmp_path / "some.tg"
    tg.write(graph, path)
    checksummed.write(tmp_path / "other", {}, {})
    for other in (path, tmp_path / "other"):
        before = other.read_bytes()
        with pytest.raises(FileFormatError, match=r"delete the file .* or name another path"):
            tg.run(PageRank(), graph, checkpoint=other)
        assert other.read_bytes() == before


@pytest.mark.parametrize(
    ("checkpoint", "named"),
    [
        (3, "expected a path"),
        ("{folder}", "a folder"),
        ("{folder}/none/run.ckpt", "no folder .*none"),
        (tg.Checkpoint("run.ckpt", seconds=-1), "seconds"),
        (tg.Checkpoint("run.ckpt", seconds="often"), "seconds"),
        (tg.Checkpoint(None), "expected a path"),
    ],
)
def test_wrong_checkpoints(tmp_path, checkpoint, named):
    if isinstance(checkpoint, str):
        checkpoint = checkpoint.format(folder=tmp_path)
    with pytest.raises(ArgumentError, match=f"checkpoint: .*{named}"):
        tg.run(WCC(), random_graph(5, 9), checkpoint=checkpoint)


def test_what_no_checkpoint_can_keep(tmp_path):
    class Complex(Spreading):
        def init(self, graph):
            return torch.zeros(graph.num_vertices, dtype=torch.complex64), graph.everything()

    graph, checkpoint = random_graph(30, 60, dtype=torch.float32), tg.Checkpoint(tmp_path / "run.ckpt", seconds=0)
    with pytest.raises(ArgumentError, match="complex64"):
        tg.run(Complex(), graph, checkpoint=checkpoint)
    graph.weights.requires_grad_()
    with pytest.raises(ArgumentError, match="not their gradients"):
        tg.run(PageRank(weighted=True), graph, checkpoint=checkpoint)


@pytest.mark.fault
def test_a_disk_that_is_full_costs_the_checkpoint_and_not_the_run(tmp_path, killing, monkeypatch):
    graph, path = random_graph(60, 300), tmp_path / "run.ckpt"
    expected = tg.run(PageRank(), graph)
    left_behind(path, PageRank(), graph, killing)
    before, seen = path.read_bytes(), []

    def no_room(file, nbytes):
        seen.append((nbytes, path.read_bytes() == before))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic_write, "reserve", no_room)
    with pytest.warns(UserWarning, match=r"the last one stays.*\d+ bytes are needed, \d+ are free.*run\.ckpt"):
        run = tg.run(PageRank(), graph, checkpoint=tg.Checkpoint(path, seconds=0))
    assert_alike(run.values, expected.values)
    assert len(seen) > 3 and all(kept for _, kept in seen) and not path.exists()


def test_progress_and_time(tmp_path, capsys, monkeypatch):
    """Written when due, not before; the progress bar resumes at the iterations done."""
    graph, path, clock = random_graph(60, 300), tmp_path / "run.ckpt", [0.0]
    written = []
    monkeypatch.setattr("tgraph.engine.checkpoint.time.monotonic", lambda: clock[0])
    save = Keeper.save
    monkeypatch.setattr(Keeper, "save", lambda self: written.append(clock[0]) or save(self))

    class Timed(PageRank):
        def residual(self, before, after):
            clock[0] += 1.0
            return super().residual(before, after)

    with pytest.raises(NotConvergedError):
        tg.run(Timed(max_iterations=9), graph, checkpoint=tg.Checkpoint(path, seconds=3))
    assert written == [3, 6, 9, 9]
    tg.run(Timed(), graph, checkpoint=path, progress=True)
    assert "Timed: 9" in capsys.readouterr().err


# ---- kill -9 --------------------------------------------------------------------------------------------------------

RUNNING = """
import numpy as np
import tgraph as tg
from tgraph.engine import compiled_loop
from tgraph.algorithms import BFS, PageRank
from tgraph.stream.run import fixpoint
compiled_loop.SLICE = fixpoint.SLICE = 0.01
folder, name = sys.argv[1:]
graph = tg.open(f"{folder}/graph.tg", memory="5MB")
program = PageRank(tol=None, max_iterations=40) if name == "pagerank" else BFS(0)
limit = 10**6 if name == "bfs in rounds" else None

def work():
    run = tg.run(program, graph, max_iterations=limit, checkpoint=tg.Checkpoint(f"{folder}/run.ckpt", seconds=0.01))
    np.save(f"{folder}/new.npy", run.values.numpy())
    os.replace(f"{folder}/new.npy", f"{folder}/{name}.npy")
"""


def kill_while_running(tmp_path, name, waits):
    """Kill a run on a graph in a file, which resumes each time from its checkpoint until it is done, and then begins
    anew. Returns how often it resumed."""
    side = 300 if name == "bfs" else 120
    graph = random_graph(40_000, 400_000) if name == "pagerank" else grid(side, side)
    tg.stream.file.writing.write_partitioned(graph, tmp_path / "graph.tg", 24)
    program = PageRank(tol=None, max_iterations=40) if name == "pagerank" else BFS(0)
    expected = tg.run(program, tg.open(tmp_path / "graph.tg", memory="5MB")).values
    resumed, finished = 0, 0
    for was_killed in killed(RUNNING, [tmp_path, name], [*waits, 600]):
        resumed += was_killed and (tmp_path / "run.ckpt").exists()
        if not was_killed:
            found = torch.from_numpy(np.load(tmp_path / f"{name}.npy"))
            assert torch.equal(found, expected) and not (tmp_path / "run.ckpt").exists()
            finished += 1
    assert finished
    assert not list(tmp_path.glob(".*"))
    return resumed


# How long a run is left alone at most, in seconds: less than it takes. A search block by block takes the least.
PATIENCE = {"pagerank": 0.3, "bfs in rounds": 0.3, "bfs": 0.08}


@pytest.mark.fault
@pytest.mark.parametrize("name", ["pagerank", pytest.param("bfs in rounds", marks=pytest.mark.thorough)])
def test_a_killed_run_resumes(tmp_path, name):
    kill_while_running(tmp_path, name, [PATIENCE[name]] * 3)


@pytest.mark.fault
@pytest.mark.soak
@pytest.mark.parametrize("name", PATIENCE)
def test_killed_at_20_moments(tmp_path, name):
    chance = random.Random(0)
    assert kill_while_running(tmp_path, name, [chance.uniform(0, PATIENCE[name]) for _ in range(20)])
