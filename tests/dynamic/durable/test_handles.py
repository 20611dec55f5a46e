"""Open files and memory that the system has no more of, while a store in a folder is written and read."""

import json

import pytest
from interpreters import run

resource = pytest.importorskip("resource", reason="the system has no limits of processes")

BEGINNING = """
import json, os, resource, sys, time
import torch
import tgraph as tg

def handles():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

def batch(number):
    return torch.randint(3000, (2, 1500), generator=torch.Generator().manual_seed(number))

def same(graph, batches):
    expected = tg.Graph.from_edges(*torch.cat(batches, 1), multi="first", num_vertices=graph.num_vertices)
    return torch.equal(graph.to_csr().neighbors, expected.neighbors)

def give_up(limit, value):
    resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))

before = handles()
store = tg.dynamic.open(sys.argv[1], memory="100kB", sync="never")
batches, refused, told = [batch(1000), batch(1001)], [], {}
store.insert(*batches[0])
store.compact()  # which imports what it takes
store.insert(*batches[1])  # which begins a file
"""
ENDING = """
store.close()
with tg.dynamic.open(sys.argv[1]) as again:
    told["outlasts"] = same(again.snapshot(), batches)
print(json.dumps(told))
"""
LACKING = """
soft, waits, taken = resource.getrlimit(resource.{limit})[0], set(), []
give_up(resource.{limit}, {value})
if resource.{limit} == resource.RLIMIT_NOFILE:
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
for number in range(30):
    try:
        store.insert(*batch(number))
        batches.append(batch(number))
    except (OSError, MemoryError, RuntimeError) as fault:
        refused.append(str(fault))
    waits.add(str(store._compaction.room.lacking))
give_up(resource.{limit}, soft)
for each in taken:
    os.close(each)
told["waits"], told["refused"] = sorted(waits), refused
store.insert(*batch(60))
batches.append(batch(60))
store.compact()
told["waits at last"] = store.info()["waits for room"]
told["same"] = same(store.snapshot(), batches)
"""
KEPT = """
kept, most = [], 0
for number in range(60):
    store.insert(*batch(number))
    batches.append(batch(number))
    kept.append((number, store.snapshot()))
    most = max(most, handles() - before)
for number, graph in kept[::6]:
    tg.algorithms.bfs(graph, 0)
    most = max(most, handles() - before)
told["most"] = most
told["streamed"] = kept[-1][1].layout is not None
told["same"] = all(same(graph, batches[: number + 3]) for number, graph in kept[::20])
"""


def told(folder, code):
    outcome = run(BEGINNING + code + ENDING, folder)
    assert outcome.returncode == 0, outcome.stderr
    return json.loads(outcome.stdout)


@pytest.mark.thorough
def test_open_files_that_the_system_lacks_are_waited_out(tmp_path):
    found = told(tmp_path / "store", LACKING.format(limit="RLIMIT_NOFILE", value="100"))
    assert found["same"] and found["outlasts"] and found["waits at last"] is None
    assert any("Too many open files" in said for said in [*found["waits"], *found["refused"]])
    assert all("Too many open files" in said for said in found["refused"])


@pytest.mark.thorough
@pytest.mark.parametrize("more", [1 << 20, 1 << 22, 1 << 24, 1 << 26])
def test_memory_that_the_system_lacks_is_waited_out(tmp_path, more):
    value = (
        f'1024 * int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmSize"))) + {more}'
    )
    found = told(tmp_path / "store", LACKING.format(limit="RLIMIT_AS", value=value))
    assert found["same"] and found["outlasts"] and found["waits at last"] is None


def test_files_that_are_open_do_not_grow_with_snapshots_and_runs(tmp_path):
    found = told(tmp_path / "store", KEPT)
    assert found["most"] <= 64
    assert found["same"] and found["outlasts"] and found["streamed"]
