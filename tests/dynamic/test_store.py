"""Stores of graphs that change, against a dictionary of lists."""

import gc
import pickle
import threading
import weakref
from collections import defaultdict

import networkx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tgraph as tg
from tgraph.dynamic import tiers
from tgraph.errors import ArgumentError, UnknownVertexError

VERTICES = st.integers(0, 7)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["insert", "upsert", "delete", "vertices", "arcs", "compact", "snapshot", "neighbors", "pieces"]
        ),
        st.lists(st.tuples(VERTICES, VERTICES), max_size=10),
    ),
    max_size=12,
)


class Model:
    """Arcs as {(source, target): [(weight, time), ...]}."""

    def __init__(self, multi, directed):
        self.multi, self.directed, self.arcs = multi, directed, defaultdict(list)

    def ways(self, pair):
        return {pair} if self.directed else {pair, pair[::-1]}

    def insert(self, pair, weight, time):
        for way in self.ways(pair):
            held = self.arcs[way]
            if self.multi == "keep" or not held:
                held.append((weight, time))
            else:
                held[0] = (weight + (held[0][0] if self.multi == "sum" else 0), time)

    def delete(self, pair):
        for way in self.ways(pair):
            self.arcs[way] = []

    def listed(self):
        return [(*pair, *data) for pair, held in sorted(self.arcs.items()) for data in held]


def listed(store, graph):
    data = store.arc_data(graph)
    rows = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.offset.diff())
    assert list(graph.arc_columns) == ["times"]
    columns = (rows, graph.neighbors, data["weights"], graph.arc_columns["times"])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def apply(store, model, step, pairs, number):
    src, dst = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    weights = [float(number + i) for i in range(len(pairs))]
    if step in ("insert", "upsert"):
        for pair in pairs if step == "upsert" else ():
            model.delete(pair)
        for pair, weight in zip(pairs, weights, strict=True):
            model.insert(pair, weight, number)
        getattr(store, step)(src, dst, weights, times=[number] * len(pairs))
    elif step == "delete":
        for pair in pairs:
            model.delete(pair)
        store.delete(src, dst)
    elif step == "vertices":
        gone = [vertex for vertex in src if vertex < store.num_vertices]
        for pair in [pair for pair in model.arcs if set(pair) & set(gone)]:
            model.arcs[pair] = []
        store.delete_vertices(gone)
    elif step == "arcs":
        graph = store.snapshot()
        arcs = [place for place in src if place < graph.num_arcs]
        for arc in [listed(store, graph)[place] for place in set(arcs)]:
            if model.multi == "keep":
                for way in model.ways(arc[:2]):
                    if arc[2:] in model.arcs[way]:
                        model.arcs[way].remove(arc[2:])
            else:
                model.delete(arc[:2])
        store.delete_arcs(arcs, graph)
    elif step == "compact":
        store.compact()


class Largest(tg.Relaxation):
    """The largest vertex from which each is reached."""

    reduce, edge = "max", "copy"

    def init(self, graph):
        return torch.arange(graph.num_vertices), graph.everything()


def labels(graph, mode="auto"):
    return tg.run(Largest(), graph, mode=mode).values


@pytest.mark.covering(1)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("multi", ["last", "sum", "keep"])
@given(steps=STEPS)
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_snapshots_are_what_a_dictionary_holds(multi, directed, steps):
    """Those taken at each batch, read at the end or at once; rows are the same before the runs are merged."""
    store = tg.dynamic.Store(torch.float64, times=torch.int64, multi=multi, directed=directed, num_vertices=2)
    model, taken = Model(multi, directed), []
    for number, (step, pairs) in enumerate(steps):
        before = store.version
        apply(store, model, step, pairs, number * 100)
        assert store.version == before + (step in ("insert", "upsert", "delete", "vertices", "arcs"))
        taken.append((store.snapshot(), model.listed()))
        if step == "snapshot":
            assert listed(store, taken[-1][0]) == taken[-1][1]
        if step == "neighbors":  # merged without the arc data
            assert taken[-1][0].neighbors.tolist() == [arc[1] for arc in taken[-1][1]]
            continue
        if step == "pieces":  # merged, or along the CSR and the runs
            src, dst = [arc[0] for arc in taken[-1][1]], [arc[1] for arc in taken[-1][1]]
            whole = tg.Graph.from_edges(src, dst, num_vertices=store.num_vertices)
            for search in (tg.algorithms.wcc, lambda graph: tg.algorithms.bfs(graph, 1), labels):
                assert torch.equal(search(taken[-1][0]), search(whole))
            continue
        offset, neighbors, data = store.neighbors(torch.arange(store.num_vertices))
        rows = torch.repeat_interleave(torch.arange(store.num_vertices), offset.diff())
        columns = (rows, neighbors, data["weights"], data["times"])
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == model.listed()
    for graph, arcs in taken:
        assert listed(store, graph) == arcs
        assert graph.num_arcs == len(arcs)
        graph.validate()


def test_columns_are_merged_when_they_are_read():
    """Hops read none; what a later version is made of is there in time, and nothing else is kept after that."""
    store = tg.dynamic.Store(torch.float32, arc_data={"kind": torch.int8}, directed=False)
    for kind in range(3):
        store.insert([0, 1], [1, 2 + kind], [1.0 + kind, 2.0], data={"kind": [kind, kind]})
        graph = store.snapshot()
        assert tg.algorithms.bfs(graph, 2).tolist()[:3] == [2, 1, 0] and tg.algorithms.wcc(graph).sum() == 0
        columns = graph.storage.version.arcs().data
        assert columns._made == [None, None]
    assert graph.weights.tolist() == [3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    assert columns._made[1] is None and graph.arc_columns["kind"].tolist() == [2, 2, 0, 1, 2, 0, 1, 2]
    assert columns._sources is None


def test_components_and_hops_merge_nothing_until_something_is_deleted():
    store = tg.dynamic.Store(torch.float32, num_vertices=3)
    for src, dst, expected in (
        ([2], [1], [0, 1, 1]),
        ([0, 0], [1, 4], [0, 0, 0, 3, 0]),
        ([5], [5], [0, 0, 0, 3, 0, 5]),
    ):
        store.insert(src, dst, torch.ones(len(src)))
        graph = store.snapshot()
        for _ in range(2):
            assert tg.algorithms.wcc(graph).tolist() == expected
            assert tg.algorithms.bfs(graph, 2, mode="push").tolist()[:3] == [-1, 1, 0]
        assert not graph.storage.version.is_merged
    store.delete([0], [4])
    assert tg.algorithms.wcc(store.snapshot()).tolist() == [0, 0, 0, 3, 4, 5]
    assert graph.num_arcs == 4 and tg.algorithms.wcc(graph).tolist() == expected and len(graph.storage.pieces()) == 1


@pytest.mark.parametrize("mode", ["auto", "push", "pull"])
@pytest.mark.parametrize("directed", [True, False])
def test_searches_go_along_the_csr_and_the_runs_on_all_threads(directed, mode):
    """With rows in one of them alone, and in as many rounds as on the whole; a pull along the arcs of a directed graph
    has them merged."""
    n, draw = 40_000, torch.Generator().manual_seed(5)
    src, dst = (torch.rand(2, 400_000, generator=draw).square() * n).long()
    store = tg.dynamic.Store(directed=directed, num_vertices=n // 2, multi="keep")
    for begin in range(0, len(src), 100_000):
        store.insert(src[begin : begin + 100_000], dst[begin : begin + 100_000])
        if begin == 200_000:
            store.compact()
    whole = tg.Graph.from_edges(src, dst, num_vertices=store.num_vertices, directed=directed)
    for program in (tg.algorithms.BFS(0), tg.algorithms.BFS([3, 11]), tg.algorithms.BFS(0, max_depth=2), Largest()):
        graph = store.snapshot()
        found, expected = (tg.run(program, each, mode=mode) for each in (graph, whole))
        assert torch.equal(found.values, expected.values) and found.iterations == expected.iterations
        if not directed or mode != "auto":
            assert graph.storage.version.is_merged == (directed and mode == "pull")
        store.insert([0], [0])


@pytest.mark.parametrize("multi", ["last", "sum", "keep"])
def test_batches_of_many_sizes_are_merged_as_they_come(multi, monkeypatch):
    """By the writer, by the thread and at the end: as `Graph.from_edges` of all arcs."""
    monkeypatch.setattr(tiers, "LARGE", 256)
    monkeypatch.setattr(tiers, "_LEAST", 4096)
    generator = torch.Generator().manual_seed(3)
    store, given = tg.dynamic.Store(torch.int64, multi=multi), []
    for size in [1, 1, 2, 3, 5, 100, 1000, 30, 7, 5000, 1, 200] * 12:
        batch = (torch.rand(2, size, generator=generator).square() * 300).long()
        weights = torch.randint(0, 1000, (size,), generator=generator)
        given.append((*batch, weights))
        store.insert(*given[-1])
    src, dst, weights = map(torch.cat, zip(*given, strict=True))
    if multi == "last":
        src, dst, weights = src.flip(0), dst.flip(0), weights.flip(0)
    expected = tg.Graph.from_edges(src, dst, weights, multi={"last": "first"}.get(multi, multi), num_vertices=300)
    graph = store.snapshot()
    assert torch.equal(graph.offset, expected.offset[: graph.num_vertices + 1])
    assert torch.equal(graph.neighbors, expected.neighbors)
    assert torch.equal(graph.weights, expected.weights)
    facts = store.info()
    assert facts["version"] == len(given)
    assert facts["write amplification"] >= 1
    store.close()


def test_readers_beside_writers_see_whole_batches():
    """Each batch inserts or deletes a cycle through the same vertices; a snapshot has all of its arcs or none."""
    store, faults, done = tg.dynamic.Store(num_vertices=512), [], threading.Event()
    cycle = torch.randperm(512, generator=torch.Generator().manual_seed(1))

    def write():
        for _ in range(60):
            store.insert(cycle, cycle.roll(1))
            store.delete(cycle, cycle.roll(1))

    def read():
        while not done.is_set():
            graph = store.snapshot()
            rows = store.neighbors(cycle[:10])
            if graph.num_arcs not in (0, 512) or len(rows[1]) not in (0, 10):
                faults.append(graph.num_arcs)

    readers, writers = ([threading.Thread(target=target) for _ in range(2)] for target in (read, write))
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert not faults
    assert store.version == 240
    store.close()


def test_programs_layers_and_samplers_take_snapshots():
    edges = networkx.gnm_random_graph(60, 200, seed=2, directed=True)
    store = tg.dynamic.Store(torch.float32)
    ends = torch.tensor(list(edges.edges)).T
    for part in ends.split(17, 1):
        store.insert(*part, weights=torch.ones(part.shape[1]))
    graph = store.snapshot()
    ranks = tg.algorithms.pagerank(graph)
    expected = networkx.pagerank(edges, tol=1e-9)
    assert all(abs(float(ranks[v]) - rank) < 1e-5 for v, rank in expected.items() if v < graph.num_vertices)
    output = tg.sampling.NeighborSampler(store.snapshot(), [3, 2], seed=1).sample(torch.arange(5))
    assert len(output.row)
    layer = tg.nn.GCNConv(4, 2)
    data = torch.ones(graph.num_vertices, 4, requires_grad=True)
    layer(data, store.snapshot()).sum().backward()
    assert data.grad is not None
    again = pickle.loads(pickle.dumps(store.snapshot()))
    assert torch.equal(again.neighbors, graph.neighbors)


def test_ids_of_any_kind_are_numbered_as_they_come():
    store = tg.dynamic.Store(ids="any")
    store.insert(["b", "a"], ["a", "c"])
    first = store.snapshot()
    store.insert(["d", "a"], ["b", "c"])
    assert first.num_vertices == 3 and list(first.vertices) == ["b", "a", "c"]
    assert list(store.snapshot().vertices) == ["b", "a", "c", "d"]
    store.delete(["d"], ["b"])
    assert store.snapshot().num_arcs == 2
    with pytest.raises(UnknownVertexError, match="dst: no vertex is called 'x', at position 1"):
        store.delete(["a", "b"], ["c", "x"])
    with pytest.raises(ArgumentError, match="src: the ids of this store are labels, these are integers"):
        store.insert([1], [2])


@given(
    batches=st.lists(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3)), max_size=6), max_size=8)
)
@settings(max_examples=settings().max_examples, deadline=None)
def test_integer_ids_are_numbered_as_they_come(batches):
    store, order = tg.dynamic.Store(ids="any", multi="keep"), {}
    for batch in batches:
        store.insert([pair[0] for pair in batch], [pair[1] for pair in batch])
        for pair in batch:
            for vertex in pair:
                order.setdefault(vertex, len(order))
    graph = store.snapshot()
    assert graph.num_vertices == len(order)
    if order:
        assert graph.vertices.tolist() == list(order)
    arcs = sorted((order[u], order[v]) for batch in batches for u, v in batch)
    rows = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.offset.diff())
    assert list(zip(rows.tolist(), graph.neighbors.tolist(), strict=True)) == arcs


def test_snapshots_at_a_time_and_of_a_window():
    store = tg.dynamic.Store(torch.float32, times=torch.float64, multi="keep")
    store.insert([0, 0, 1], [1, 1, 2], [1, 2, 3], times=[0.5, 1.5, 2.5])
    assert store.snapshot(at=1.5).weights.tolist() == [1, 2]
    window = store.snapshot(since=1.0, at=2.5)
    assert window.weights.tolist() == [2, 3] and window.num_vertices == 3
    window.validate()
    with pytest.raises(ArgumentError, match="keeps no times"):
        tg.dynamic.Store().snapshot(at=1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda store: store.insert([0, 1], [1]), "src and dst: expected equal lengths, got 2 and 1"),
        (lambda store: store.insert(3, 4), r"src: expected a sequence, got 3; pass \[3\]"),
        (lambda store: store.insert([0], [1]), "weights: the store keeps torch.int32 for each arc; give 1"),
        (lambda store: store.insert([0], [1], [1.5]), "weights: the store keeps torch.int32, these are torch.float64"),
        (lambda store: store.insert([0], [1], [2**40]), "weights: 1099511627776 at position 0 does not fit"),
        (lambda store: store.insert([0], [1], [1], times=[2]), "times: the store keeps no such arc data"),
        (lambda store: store.insert([0, -4], [1, 1], [1, 1]), "src: -4 at position 1 is no vertex"),
        (lambda store: store.insert([0], [2**31 - 1], [1]), "dst: 2147483647 at position 0 is no vertex"),
        (lambda store: store.insert([0.5], [1], [1]), "src: vertex numbers are integers"),
        (lambda store: store.neighbors([5]), "vertices: 5 at position 0 is no vertex index 0..1"),
        (lambda store: store.delete_arcs([1], store.snapshot()), "arcs: 1 at position 0 is no arc 0..0 of graph"),
        (lambda store: store.arc_data(tg.Graph.from_edges([0], [1])), "graph: expected a snapshot of a store"),
        (lambda store: tg.dynamic.Store(multi="first"), "multi: 'first' is not one of 'last', 'sum', 'keep'"),
        (lambda store: tg.dynamic.Store("float"), "weights: expected an integer or floating dtype"),
        (lambda store: tg.dynamic.Store(arc_data={"times": torch.int8}), "arc_data: 'times' has an argument"),
    ],
)
def test_mistakes_are_named_and_change_nothing(call, said):
    store = tg.dynamic.Store(torch.int32)
    store.insert([0], [1], [7])
    with pytest.raises(ArgumentError, match=said):
        call(store)
    assert store.version == 1 and store.snapshot().weights.tolist() == [7]


def test_empty_batches_say_nothing_of_the_kind_of_ids():
    store = tg.dynamic.Store(ids="any")
    store.insert([], [])
    store.insert(["a"], ["b"])
    store.insert([], [])
    store.delete([], [])
    assert store.snapshot().num_arcs == 1 and list(store.snapshot().vertices) == ["a", "b"]
    integers = tg.dynamic.Store(ids="any")
    integers.insert([7], [9])
    integers.insert([], [])
    assert integers.snapshot().vertices.tolist() == [7, 9]


def test_all_that_is_written_is_counted():
    """Two batches of 3, merged into the CSR by a snapshot that the third batch begins with, and at last by hand."""
    store = tg.dynamic.Store()
    store.insert([0, 1, 2], [1, 2, 3])
    store.insert([3, 4, 5], [4, 5, 6])
    assert store.info()["write amplification"] == 1
    assert store.snapshot().num_arcs == 6
    store.insert([6, 7], [7, 8])
    assert store.info()["write amplification"] == (8 + 6) / 8
    store.compact()
    assert store.info()["write amplification"] == (8 + 6 + 8) / 8


def test_arcs_of_another_store_are_not_deleted():
    first, second = tg.dynamic.Store(), tg.dynamic.Store()
    for store in (first, second):
        store.insert([0], [1])
    with pytest.raises(ArgumentError, match="graph: a snapshot of another store"):
        first.delete_arcs([0], second.snapshot())


def test_a_snapshot_of_another_version_has_other_arc_numbers():
    store = tg.dynamic.Store()
    store.insert([0], [1])
    graph = store.snapshot()
    store.insert([0], [2])
    with pytest.raises(ArgumentError, match="a snapshot of version 1, the store is at 2"):
        store.delete_arcs([0], graph)


def test_a_closed_store_takes_no_changes():
    with tg.dynamic.Store() as store:
        store.insert([0], [1])
    with pytest.raises(ArgumentError, match="the store is closed"):
        store.insert([1], [2])
    assert store.snapshot().num_arcs == 1


def test_chunks_of_any_kind_are_inserted_one_by_one():
    """The next is asked for when the one before is committed."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    store = tg.dynamic.Store(torch.float32, times=torch.int64, arc_data={"kind": torch.int8})
    columns = {"src": [0, 1], "dst": [1, 2], "weight": [1.0, 2.0], "times": [3, 4], "kind": [5, 6]}
    table = pyarrow.table(columns)

    def chunks():
        for place, chunk in enumerate(
            [([7], [8], [9], [1], {"kind": [2]}), columns, pandas.DataFrame(columns), table, *table.to_batches()]
        ):
            assert store.version == place
            yield chunk

    assert store.insert_from(chunks()) == 5
    assert store.snapshot().num_arcs == 3
    assert {name: values.tolist() for name, values in store.arc_data(store.snapshot()).items()} == {
        "weights": [1, 2, 9],
        "times": [3, 4, 1],
        "kind": [5, 6, 2],
    }
    graph = store.snapshot()
    assert tg.aggregate(graph, torch.ones(9), edge="mul", weights="kind").tolist() == [0, 5, 6, 0, 0, 0, 0, 0, 2]
    assert store.snapshot(since=4).arc_columns["kind"].tolist() == [6]
    graph.arc_columns["kind"].zero_()
    assert store.snapshot().weighted_by("kind").weights.tolist() == [5, 6, 2]
    with pytest.warns(tg.io.ColumnsLeftOut, match=r"the chunk: columns \['hue'\] left out"):
        store.insert_from([{**columns, "hue": [1, 2]}])
    with pytest.raises(ArgumentError, match=r"weights: the store keeps .*; in chunk 1, and those before it are in"):
        store.insert_from([table, ([0], [1])])
    assert store.version == 7


def test_columns_of_arrow_and_pandas():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    store = tg.dynamic.Store(ids="any")
    store.insert(pyarrow.array(["a", "b"]), pyarrow.chunked_array([["b"], ["c"]]))
    store.insert(pandas.Series(["c"]), pandas.Series(["d"], dtype="category"))
    store.insert(pyarrow.array(["a"]).dictionary_encode(), pyarrow.array(["e"], pyarrow.large_string()))
    assert list(store.snapshot().vertices) == ["a", "b", "c", "d", "e"]
    numbers = tg.dynamic.Store(torch.float32)
    numbers.insert(pyarrow.array([0, 1], pyarrow.uint32()), pandas.Series([1, 2], dtype="Int64"), pyarrow.array([1, 2]))
    assert numbers.snapshot().weights.tolist() == [1, 2]
    for missing in (pyarrow.array([None, 1]), pandas.Series([None, 1]), pandas.Series([pandas.NA, 1], dtype="Int64")):
        with pytest.raises(ArgumentError, match="src: there is no value at position 0; fill it, or drop the arc"):
            numbers.insert(missing, [1, 2], [1, 2])
        with pytest.raises(ArgumentError, match="weights: there is no value at position 0"):
            numbers.insert([1, 2], [1, 2], missing)


def test_what_is_derived_from_a_version_is_kept_until_the_next_batch():
    """By one graph, which no store keeps longer."""
    store = tg.dynamic.Store(num_vertices=4)
    store.insert([0, 1], [1, 2])
    first = store.snapshot()
    assert store.snapshot() is first and store.snapshot(None, None) is first
    store.insert([2], [3])
    assert store.snapshot() is not first and (first.num_arcs, store.snapshot().num_arcs) == (2, 3)
    before = weakref.ref(store.snapshot().storage.version)
    store.compact()
    gc.collect()
    assert before() is None and store.snapshot().num_arcs == 3
