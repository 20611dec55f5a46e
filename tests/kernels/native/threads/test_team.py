"""The threads of the compiled kernels: forks, many callers at once, memory that runs out, interruptions, processors."""

import contextlib
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import interpreters
import pytest
import torch

import tgraph as tg
from tgraph.core.direction import THRESHOLDS
from tgraph.core.system import native

kernels = native.load()
pytestmark = pytest.mark.skipif(kernels is None, reason="the compiled kernels are not installed")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has this")
preloaded = os.environ.get("LD_PRELOAD", "")
unsanitized = pytest.mark.skipif(
    "san.so" in preloaded,
    reason="sanitizers end where no memory is left, and slow threads down too much to tell a crowd",
)
without_tsan = pytest.mark.skipif("tsan.so" in preloaded, reason="ThreadSanitizer has no threads in a child of a fork")


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def run_script(script, **environment):
    """The words that a script prints in a separate process, which must succeed."""
    answer = interpreters.run(script, env=os.environ | environment)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.split()


@on_linux
@without_tsan
def test_a_child_of_a_fork_has_threads_of_its_own():
    script = """
import os, torch, tgraph as tg
torch.set_num_threads(2)
graph = tg.generators.rmat(16)
before = tg.algorithms.bfs(graph, 0)
child = os.fork()
if child == 0:
    import signal
    signal.alarm(300)  # ends a child that waits for threads that are not there
    os._exit(0 if torch.equal(tg.algorithms.bfs(graph, 0), before) else 1)
print(os.waitpid(child, 0)[1], torch.equal(tg.algorithms.bfs(graph, 0), before))
"""
    assert run_script(script) == ["0", "True"]


@on_linux
@without_tsan
def test_forks_while_other_threads_call_kernels():
    script = """
import os, signal, threading, torch
from tgraph.core.system import native
kernels = native.load()
torch.set_num_threads(3)
label = torch.arange(200_000)
offset, neighbors = torch.arange(200_001), (torch.arange(200_000).int() - 1).clamp(min=0)
stop = threading.Event()
def join():  # copied and looked at by numpy: torch's OpenMP is not made for forks while other threads use it
    own = torch.from_numpy(label.numpy().copy())
    return kernels.join(offset, neighbors, None, 1, False, own) and not own.numpy().any()
def work():
    while not stop.is_set():
        assert join()
threads = [threading.Thread(target=work) for _ in range(3)]
[thread.start() for thread in threads]
ends = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        os._exit(0 if join() else 1)
    ends.append(os.waitpid(child, 0)[1])
stop.set()
[thread.join() for thread in threads]
print(any(ends))
"""
    assert run_script(script) == ["False"]


def test_many_callers_at_once_with_changing_numbers_of_threads():
    src, dst = torch.randint(5000, (2, 200_000), generator=torch.Generator().manual_seed(0)).unbind()
    graph = tg.Graph.from_edges(src, dst, torch.rand(200_000), num_vertices=5000)
    data = torch.rand(5000, 3)
    expected = tg.aggregate(graph, data, "sum"), tg.algorithms.sssp(graph, 1)

    def call(i):
        kernels.limit_threads(1 + i % 5)
        try:
            return tg.aggregate(graph, data, "sum"), tg.algorithms.sssp(graph, 1)
        finally:
            kernels.limit_threads(2**31 - 1)

    torch.set_num_threads(4)
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(call, range(120)):
            assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_a_process_ends_while_its_threads_compute():
    """A call that would never end: pairs of vertices exchange their labels for ever."""
    script = """
import threading, torch
from tgraph.core.system import native
kernels = native.load()
torch.set_num_threads(3)
n = 400_000
offset, neighbors, labels = torch.arange(n + 1), torch.arange(n) ^ 1, torch.arange(n)
vote = lambda rounds: kernels.vote(offset, neighbors, None, None, labels.clone(), labels.clone(), rounds)
threading.Thread(target=vote, args=(1 << 62,), daemon=True).start()
vote(10)
print("ended")
"""
    assert run_script(script) == ["ended"]


def test_the_main_thread_sets_the_number_of_threads_for_all():
    asked, answers, found = threading.Semaphore(0), threading.Semaphore(0), []

    def ask():
        for _ in range(3):
            asked.acquire()
            found.append(kernels.thread_count())
            answers.release()

    thread = threading.Thread(target=ask)
    thread.start()
    for count in (2, 1, 3):
        torch.set_num_threads(count)
        asked.release()
        answers.acquire()
    thread.join()
    assert found == [2, 1, 3]


# ---- Memory


@on_linux
@unsanitized
def test_memory_that_runs_out_in_a_thread_is_an_error_of_the_caller():
    """Two chunks of sources fill their buckets at once, each with as much as is left."""
    script = """
import resource, threading, torch
from tgraph.core.system import native
from tgraph.core.direction import THRESHOLDS
kernels = native.load()
torch.set_num_threads(2)
hubs, leaves = 128, 1 << 16
n = hubs + hubs * leaves
offset = torch.full((n + 1,), hubs * leaves)
offset[: hubs + 1] = torch.arange(hubs + 1) * leaves
neighbors = torch.arange(hubs, n, dtype=torch.int32)
weights = torch.ones(len(neighbors))
def relaxation():
    values = torch.full((n,), float("inf"), dtype=torch.float64)
    values[:hubs] = 0
    return values, kernels.Relaxation(
        [(offset, neighbors)], weights, 0.0, None, values, 1, -1, True, 1, 0,
        THRESHOLDS, torch.arange(hubs), 8.0)
def call():
    values, first = relaxation()
    first.advance(1, 1.0)  # the threads are there from now on
    values, second = relaxation()
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (8 << 20),) * 2)
    try:
        second.advance(1 << 30, 100.0)
        print("no error")
    except MemoryError:
        print("MemoryError")
caller = threading.Thread(target=call)  # whose stack need not grow
caller.start()
caller.join()
"""
    assert run_script(script) == ["MemoryError"]


@on_linux
@unsanitized
def test_cores_need_no_more_memory_with_more_threads():
    script = """
import resource, torch
from tgraph.core.system import native
kernels = native.load()
n, degree = 1 << 21, 2
offset = torch.arange(n + 1) * degree
around = torch.arange(n)
neighbors = torch.stack(((around - 1) % n, (around + 1) % n), 1).sort(1).values.flatten().int()
torch.set_num_threads(64)
core = torch.empty(n, dtype=torch.int64)
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (256 << 20),) * 2)
kernels.peel(offset, neighbors, None, None, core)
torch.set_num_threads(1)
print(bool((core == degree).all()))
"""
    assert run_script(script) == ["True"]


# ---- Interruptions


class Interrupted(Exception):
    """Raised by the handler of a signal."""


@pytest.fixture
def soon_interrupted():
    """A signal arrives shortly after the call, and its handler raises."""

    def handle(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handle)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.05)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def dense():
    """10 million arcs, each either way, between few vertices."""
    src, dst = torch.randint(1 << 13, (2, 5_000_000), generator=torch.Generator().manual_seed(0)).unbind()
    return tg.Graph.from_edges(src, dst, num_vertices=1 << 13, directed=False)


@on_linux
@pytest.mark.parametrize("threads", [1, 2])
class TestInterruptions:
    """A kernel that was not interrupted would have written its results, or would never end."""

    def test_triangles(self, dense, soon_interrupted, threads):
        torch.set_num_threads(threads)
        found = torch.full((dense.num_vertices,), -1)
        with pytest.raises(Interrupted):
            soon_interrupted()
            kernels.count_triangles(dense.offset, dense.neighbors, found, True)
        assert (found == -1).all()

    def test_cores(self, soon_interrupted, threads):
        torch.set_num_threads(threads)
        n = 1 << 22
        around = torch.arange(n)
        steps = torch.tensor([-3, -2, -1, 1, 2, 3])
        neighbors = ((around[:, None] + steps) % n).sort(1).values.flatten().int()
        core = torch.full((n,), -1)
        with pytest.raises(Interrupted):
            soon_interrupted()
            while True:
                core.fill_(-1)
                kernels.peel(torch.arange(n + 1) * 6, neighbors, None, None, core)
        # A kernel that was interrupted has written nothing; the handler may also have run after one that had ended.
        assert core.unique().numel() == 1

    def test_label_propagation(self, soon_interrupted, threads):
        """Two vertices exchange their labels for ever."""
        torch.set_num_threads(threads)
        offset, neighbors = torch.arange(3), torch.tensor([1, 0], dtype=torch.int32)
        labels = torch.tensor([0, 1], dtype=torch.int32)
        with pytest.raises(Interrupted):
            soon_interrupted()
            kernels.vote(offset, neighbors, None, None, labels, labels.clone(), 1 << 62)

    def test_sweeps(self, dense, soon_interrupted, threads):
        torch.set_num_threads(threads)
        n, searches = dense.num_vertices, 400
        depth = (torch.arange(n * searches) % n >= n // 2).to(torch.int32)
        order, level_offset = torch.empty(n * searches, dtype=torch.int64), torch.empty(3, dtype=torch.int64)
        kernels.group_levels(depth, order, level_offset)
        sums, values = torch.zeros(2, n * searches, dtype=torch.float64).unbind()
        arcs = dense.offset, dense.neighbors
        ones = torch.ones_like(sums)
        with pytest.raises(Interrupted):
            soon_interrupted()
            kernels.sweep(*arcs, *arcs, order, level_offset, False, ones, sums, values)
        assert not values.view(searches, n).all(1).all()


# ---- Bucketed shortest paths


def test_buckets_are_emptied_by_any_number_of_threads():
    """The number of threads changes between slices of a relaxation; which come in time is chance, hence the tries."""
    graph = tg.generators.grid2d(150, 150, weighted=True)
    offset, neighbors, weights = graph.offset, graph.neighbors, graph.weights

    def distances(counts):
        values = torch.full((graph.num_vertices,), float("inf"), dtype=torch.float64)
        values[7] = 0
        torch.set_num_threads(max(counts))
        relaxation = kernels.Relaxation(
            [(offset, neighbors)],
            weights,
            0.0,
            None,
            values,
            1,
            -1,
            True,
            1,
            0,
            THRESHOLDS,
            torch.tensor([7]),
            200.0,
        )
        state, rounds = 1, 0
        while state == 1:
            torch.set_num_threads(counts[rounds % len(counts)])
            state = relaxation.advance(1, 10.0)
            rounds += 1
        assert rounds > 5
        return values

    alone = distances([1])
    assert alone.isfinite().all()
    for counts in 3 * [[3, 1], [4, 2, 1, 3], [2, 4]]:
        assert torch.equal(distances(counts), alone)


class Threads(tg.Program):
    """Notes how many threads torch and the kernels have while a run computes."""

    rounds = 1

    def init(self, graph):
        return torch.zeros(graph.num_vertices), graph.everything()

    def compute(self, sub, data, active):
        self.torch, self.kernels = torch.get_num_threads(), kernels.thread_count()
        if self.fails:
            raise KeyError("as any program may")
        return tg.update(data, active, tg.aggregate(sub, data, "sum"))


@unsanitized
@pytest.mark.thorough
@on_linux
@pytest.mark.skipif(
    not list((Path(torch.__file__).parent / "lib").glob("libgomp*")), reason="torch has an OpenMP of another kind"
)
def test_an_idle_team_of_openmp_is_there_while_others_compute():
    """GNU's OpenMP then lets torch's threads sleep soon; it goes when no kernel has looked for a while."""
    script = """
import os, subprocess, sys, time, torch, tgraph as tg
from tgraph.core.system import native
torch.set_num_threads(2)
kernels, graph = native.load(), tg.generators.rmat(14)
data = torch.ones(graph.num_vertices, 64)
busy = f"while __import__('os').getppid() == {os.getpid()}: pass"

def team():
    found = 0
    for task in os.listdir("/proc/self/task"):
        try:
            found += open(f"/proc/self/task/{task}/comm").read() == "tgraph idle\\n"
        except OSError:  # it has just ended
            pass
    return found

tg.aggregate(graph, data, "sum")
loops = [subprocess.Popen([sys.executable, "-c", busy]) for _ in os.sched_getaffinity(0)]

def wait_for(condition, call=lambda: None):
    end = time.monotonic() + 200
    while not condition() and time.monotonic() < end:
        call()
        time.sleep(0.001)
    return condition()

print(wait_for(lambda: team() == 2, lambda: tg.aggregate(graph, data, "sum")))
print(kernels.used_by_others() > 0)
for loop in loops:
    loop.kill()
print(wait_for(lambda: team() == 0))
"""
    assert run_script(script) == ["True"] * 3


@on_linux
@unsanitized
@pytest.mark.thorough
def test_where_no_thread_can_be_made_a_crowd_ends_nobody():
    """GNU's OpenMP would end the process."""
    script = """
import os, resource, subprocess, sys, time, torch, tgraph as tg
from tgraph.core.system import native
torch.set_num_threads(2)
graph = tg.generators.rmat(14)
data = torch.ones(graph.num_vertices, 64)
tg.aggregate(graph, data, "sum")
busy = f"while __import__('os').getppid() == {os.getpid()}: pass"
loops = [subprocess.Popen([sys.executable, "-c", busy]) for _ in os.sched_getaffinity(0)]
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (12 << 20),) * 2)
end, calls = time.monotonic() + 200, 0
while calls < 100 and time.monotonic() < end:
    calls += native.load().used_by_others() > 0  # so that calls mind the crowd
    try:
        tg.aggregate(graph, data, "sum")
    except (MemoryError, RuntimeError):
        pass
for loop in loops:
    loop.kill()
print("alive", calls)
"""
    assert run_script(script) == ["alive", "100"]


@on_linux
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize(
    ("one_thread", "backend", "expected"), [(True, "auto", 1), (False, "auto", 2), (True, "portable", 2)]
)
def test_torch_has_one_thread_while_a_program_that_declares_it_runs(one_thread, backend, expected, fails):
    """But not where torch is the backend."""
    graph, program = tg.generators.rmat(10), Threads()
    program.fails, program.one_torch_thread = fails, one_thread
    with contextlib.suppress(KeyError):
        tg.run(program, graph, backend=backend)
    assert (program.torch, program.kernels) == (expected, 2)
    assert (torch.get_num_threads(), kernels.thread_count()) == (2, 2)


@on_linux
@pytest.mark.parametrize(("backend", "expected"), [("auto", 1), ("portable", 2)])
def test_torch_has_one_thread_between_the_sweeps_of_betweenness(monkeypatch, backend, expected):
    threads, sweep = set(), tg.primitives.level_accumulate.sweep

    def noting(*arguments, **options):
        threads.add((torch.get_num_threads(), kernels.thread_count()))
        return sweep(*arguments, **options)

    monkeypatch.setattr(tg.primitives.level_accumulate, "sweep", noting)
    tg.algorithms.betweenness(tg.generators.rmat(6), [0, 1], backend=backend)
    assert threads == {(expected, 2)}
    assert torch.get_num_threads() == 2
