"""Sorting, merging and splicing changes: the kernels against torch, and both against a dictionary of lists."""

import sys
import threading
import time
from collections import defaultdict

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tgraph.core.dispatch import BACKENDS, is_available
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.kernels.operators import changes as portable

NAMES = [name for name in ("portable", "native") if is_available(name)]
BATCHES = st.lists(
    st.tuples(st.booleans(), st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)), max_size=5
)


def operators(backend):
    return {name: BACKENDS[backend].operators[name].run for name in ("sort_changes", "merge_changes", "locate_changes")}


class Model:
    """Arcs as {(row, column): [weight, ...]}."""

    def __init__(self, parallel):
        self.parallel, self.arcs = parallel, defaultdict(list)

    def apply(self, there, pairs, weights):
        for pair, weight in zip(pairs, weights, strict=True):
            held = self.arcs[pair]
            if not there:
                held.clear()
            elif self.parallel == "keep" or not held:
                held.append(weight)
            else:
                held[0] = weight if self.parallel == "last" else held[0] + weight

    def csr(self, num_rows):
        rows = [[] for _ in range(num_rows)]
        for (row, column), held in sorted(self.arcs.items()):
            rows[row] += [(column, weight) for weight in held]
        return [[arc[0] for arc in row] for row in rows], [weight for row in rows for _, weight in row]


def settle(changes, weights, parallel):
    """The weights of parallel arcs added up."""
    if parallel != "sum" or not len(changes):
        return changes, weights
    single, group = torch.unique_consecutive(changes, return_inverse=True)
    return single, torch.zeros(len(single), dtype=weights.dtype).index_add_(0, group, weights)


def merged(run, older, newer, parallel):
    changes, order = run([older[0], newer[0]], parallel, True)
    return settle(changes, torch.cat((older[1], newer[1]))[order], parallel)


def spliced(backend, base, run, parallel, num_rows):
    offset, neighbors, weights = base
    changed, located = operators(backend)["locate_changes"](offset, neighbors, run[0], parallel, num_rows)
    splice = BACKENDS[backend].operators["splice"].run
    items = run[1].clone()
    if parallel == "sum":
        to = located.added_to()
        items[to] += weights[located.place[to]]
    return changed, splice(neighbors, None, located), splice(weights, items, located)


def runs_of(backend, batches, parallel):
    number = 0
    for there, pairs in batches:
        weights = torch.arange(number, number + len(pairs), dtype=torch.float64)
        number += len(pairs)
        rows, columns = torch.tensor(pairs, dtype=torch.int64).view(-1, 2).T.contiguous()
        changes, items, _ = operators(backend)["sort_changes"](rows, columns, there, parallel, True)
        yield settle(changes, weights[items.long()], parallel), (there, pairs, weights.tolist())


@pytest.mark.covering(1)
@pytest.mark.parametrize("backend", NAMES)
@pytest.mark.parametrize("parallel", portable.PARALLEL)
@given(batches=BATCHES, kept=st.integers(0, 5))
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_runs_merged_and_spliced_are_what_a_dictionary_holds(backend, parallel, batches, kept):
    """The first batches are spliced one after the other, the later ones merged first."""
    model, base, run = Model(parallel), (torch.zeros(1, dtype=torch.int64), torch.empty(0, dtype=torch.int32)), None
    base = (*base, torch.empty(0, dtype=torch.float64))
    for i, (changes, batch) in enumerate(runs_of(backend, batches, parallel)):
        model.apply(*batch)
        if i < kept:
            base = spliced(backend, base, changes, parallel, 7)
        else:
            merge = operators(backend)["merge_changes"]
            run = changes if run is None else merged(merge, run, changes, parallel)
    if run is not None:
        base = spliced(backend, base, run, parallel, 7)
    rows, weights = model.csr(7)
    offset = base[0].tolist() + [len(base[1])] * (8 - len(base[0]))
    assert [base[1][offset[v] : offset[v + 1]].tolist() for v in range(7)] == rows
    assert base[2].tolist() == weights


@pytest.mark.parametrize("backend", NAMES)
def test_rows_of_what_runs_insert(backend):
    generator = torch.Generator().manual_seed(1)
    runs = [torch.randint(0, 9_000 << 32, (size,), generator=generator).sort().values | 1 for size in (0, 5, 40_000)]
    rows = BACKENDS[backend].operators["inserted_rows"].run
    offset, neighbors = rows(runs, 9_001)
    place = torch.cat([portable.rows_of(run) for run in runs]).sort(stable=True)
    assert torch.equal(offset, torch.searchsorted(place.values, torch.arange(9_002)))
    assert torch.equal(neighbors, torch.cat([portable.columns_of(run) for run in runs])[place.indices].int())
    assert rows([runs[1], runs[2] & ~1], 9_001) is None


@pytest.mark.covering(1)
@pytest.mark.skipif("native" not in NAMES, reason="no compiled kernels")
@pytest.mark.parametrize("parallel", portable.PARALLEL)
@pytest.mark.parametrize(("size", "vertices"), [(100, 10), (300_000, 1 << 20), (300_000, 500), (200_000, 3)])
def test_kernels_and_torch_agree(parallel, size, vertices):
    """On runs long enough for several threads, with hubs, deletions and arcs that are there already."""
    generator = torch.Generator().manual_seed(size + vertices)

    def batch(count, there=True):
        squared = torch.rand(2, count, generator=generator).square() * vertices
        return (*squared.to(torch.int32), there, parallel)

    def run(backend):
        sort, merge = operators(backend)["sort_changes"], operators(backend)["merge_changes"]
        older, newer, gone = (sort(*each, False)[0] for each in batches)
        older, newer, gone = (each.unique() if parallel == "sum" else each for each in (older, newer, gone))
        together, order = merge([older, newer], parallel, True)
        back, _ = merge([gone, together], parallel, False)
        away, _ = merge([together, gone, newer], parallel, False)
        if parallel == "sum":
            together, back, away = (each.unique_consecutive() for each in (together, back, away))
        base = (torch.zeros(1, dtype=torch.int64), torch.empty(0, dtype=torch.int32))
        base = spliced(backend, (*base, torch.empty(0)), (older, older.float()), parallel, vertices)
        changed = [spliced(backend, base, (each, each.float()), parallel, vertices) for each in (newer, back, away)]
        return [together, order, back, away, *base, *(tensor for each in changed for tensor in each)]

    batches = [batch(size), batch(size // 3), batch(size // 2, there=False)]
    for ours, theirs in zip(run("native"), run("portable"), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("backend", NAMES)
@pytest.mark.parametrize(
    ("rows", "columns", "said"), [([0, -1], [0, 0], "src: -1 at position 1"), ([0], [2**31 - 1], "dst: 2147483647")]
)
def test_numbers_that_are_no_vertices_are_refused(backend, rows, columns, said):
    with pytest.raises(ArgumentError, match=said):
        operators(backend)["sort_changes"](torch.tensor(rows), torch.tensor(columns), True, "last", False)


@pytest.mark.parametrize("backend", NAMES)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.bfloat16, torch.float64])
def test_data_of_any_width_is_spliced(backend, dtype):
    base = torch.tensor([1, 2, 3], dtype=dtype)
    offset, neighbors = torch.tensor([0, 3]), torch.tensor([2, 4, 6], dtype=torch.int32)
    changes, *_ = operators(backend)["sort_changes"](
        torch.zeros(3, dtype=torch.int32), torch.tensor([1, 4, 9]).int(), True, "last", False
    )
    _, located = operators(backend)["locate_changes"](offset, neighbors, changes, "last", 1)
    items = torch.tensor([7, 8, 9], dtype=dtype)
    out = BACKENDS[backend].operators["splice"].run(base, items, located)
    assert out.tolist() == [7, 1, 8, 3, 9]


@pytest.mark.skipif("native" not in NAMES, reason="no compiled kernels")
@pytest.mark.parametrize("parallel", ["last", "keep"])
@given(batches=BATCHES, settled=st.integers(0, 3), rows=st.lists(st.integers(0, 9), max_size=12))
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_rows_are_read_alike(parallel, batches, settled, rows):
    """Of a CSR with fewer rows and of runs over it, in any order and several times: by the kernel and in torch, and as
    what a dictionary holds."""
    model, runs, rows = Model(parallel), [], torch.tensor(rows, dtype=torch.int64)
    base = torch.zeros(1, dtype=torch.int64), torch.empty(0, dtype=torch.int32), torch.empty(0, dtype=torch.float64)
    for i, (changes, batch) in enumerate(runs_of("native", batches, parallel)):
        model.apply(*batch)
        if i < settled:
            base = spliced("native", base, changes, parallel, 7)
        else:
            runs.append(portable.Readable(changes[0], changes[1:]))
    ours, theirs = (BACKENDS[name].operators["read_rows"].run(base, runs, rows, parallel) for name in NAMES)
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype and torch.equal(one, other)
    expected, _ = model.csr(10)
    split = ours[1].split(ours[0].diff().tolist())
    assert [row.tolist() for row in split] == [expected[row] for row in rows]


@pytest.mark.parametrize("backend", NAMES)
@pytest.mark.parametrize(
    ("vertices", "are"), [([], True), ([0, 4, 2], True), ([5], False), ([-1], False), ([2, 2**40], False)]
)
def test_vertices_are_told_from_other_numbers(backend, vertices, are):
    numbers = torch.tensor(vertices, dtype=torch.int64)
    assert BACKENDS[backend].operators["are_vertices"].run(numbers, 5) is are
    assert BACKENDS[backend].operators["are_vertices"].run(numbers[::2], 0) is (not vertices)


@pytest.mark.skipif("native" not in NAMES, reason="no compiled kernels")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("count", [3, 1000])
def test_many_rows_with_data_of_any_width_are_read_alike(count, dtype):
    """So many that other threads get the lock of the interpreter, and few; from more runs than are searched at once."""
    generator = torch.Generator().manual_seed(count)
    runs = []
    for _ in range(20):
        rows, columns = torch.randint(50, (2, 300), generator=generator)
        changes, order, _ = operators("native")["sort_changes"](rows, columns, True, "last", True)
        runs.append(portable.Readable(changes, (torch.arange(300).to(dtype)[order.long()],)))
    base = torch.zeros(1, dtype=torch.int64), torch.empty(0, dtype=torch.int32), torch.empty(0, dtype=dtype)
    wanted = torch.randint(60, (count,), generator=generator)
    for _ in range(2):  # what the kernel keeps of the runs is used again
        ours, theirs = (BACKENDS[name].operators["read_rows"].run(base, runs, wanted, "last") for name in NAMES)
        assert all(
            one.dtype == other.dtype and torch.equal(one, other) for one, other in zip(ours, theirs, strict=True)
        )


@pytest.mark.skipif("native" not in NAMES, reason="no compiled kernels")
def test_what_takes_microseconds_keeps_the_lock_of_the_interpreter():
    """Else a reader waits after each step until a thread that computes lets it go again."""
    kernels, moved, done = native.load(), [0], threading.Event()

    def count():
        while not done.is_set():
            moved[0] += 1
            time.sleep(0)  # lets the other go on

    changes = torch.arange(200) << 32 | 1
    run = kernels.ReadableRun(changes, [])
    offset, none, wanted = torch.zeros(1, dtype=torch.int64), torch.empty(0, dtype=torch.int32), torch.arange(10)
    out = torch.empty(10, dtype=torch.int64)
    calls = {
        "read_rows": lambda: kernels.read_rows(offset, none, [], [run] * 20, wanted, 0),
        "are_vertices": lambda: kernels.are_vertices(wanted, 10),
        "sort_changes": lambda: kernels.sort_changes(wanted, wanted, True, 0, out, None),
    }
    interval = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    thread.start()
    try:
        sys.setswitchinterval(100.0)  # the other thread gets the lock only where a call lets it go
        found = {}
        for name, call in calls.items():
            found[name] = []
            for _ in range(4):
                before = moved[0]
                for _ in range(2000):
                    call()
                found[name].append(moved[0] - before)
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()
    assert not any(map(min, found.values())), found  # now and then something else lets it go
