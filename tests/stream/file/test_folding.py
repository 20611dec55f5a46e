"""Partitioned files with compressed blocks: the same graph, the same answers, fewer bytes, and damage that is named."""

import itertools

import pytest
import torch
from backends import native as compiled
from backends import portable
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FLOATS, INTEGERS, Any, graphs, random_graph, thread_count
from streams import cliques, streamed
from test_blocks import assert_blocks_hold, assert_same, bounds_of, write_sample
from test_streamed import BLOCKS, DECODED, ENOUGH, IN_BLOCKS, same

import tgraph as tg
from tgraph.core.system import native
from tgraph.errors import ArgumentError, FileFormatError, MemoryBudgetError
from tgraph.stream.file import container, folding, writing
from tgraph.stream.file.blocks import BlockFile
from tgraph.stream.file.convert import convert
from tgraph.stream.file.folding import Folded, fold, folded_error, unfold
from tgraph.stream.file.writing import write_partitioned
from tgraph.stream.partitioning.parts import Parts

al = tg.algorithms


GRAPHS = {
    "random": lambda directed: random_graph(40, 200, directed=directed),
    "cliques": lambda directed: cliques(5, 9, directed=directed),
    "hub": lambda directed: tg.Graph.from_edges(
        torch.tensor([0, 0, 1]).repeat_interleave(100), torch.arange(100).repeat(3), directed=directed
    ),
}


@pytest.fixture
def compressed(tmp_path):
    """compressed(graph, blocks): the graph opened from a file of compressed blocks, with room for some of them."""
    opened = []

    def write(graph, blocks=7, buffers=2, slack=0):
        path = tmp_path / f"{len(opened)}.tg"
        write_partitioned(graph, path, blocks, layout="virtual")
        opened.append(BlockFile(path))
        return streamed(graph, buffers=buffers, source=opened[-1], slack=slack)

    yield write
    for file in opened:
        file.close()


# ---- answers --------------------------------------------------------------------------------------------------------


SHAPES = [("random", 7, True), ("random", 7, False), ("hub", 7, True), ("hub", 7, False)]
SHAPES += [("cliques", 1, True), ("cliques", 7, True)]
MORE = [
    ("cliques", 2, False),
    ("cliques", 64, False),
    ("cliques", 1, False),
    ("cliques", 7, False),
    ("cliques", 2, True),
    ("cliques", 64, True),
]


@pytest.mark.parametrize(
    ("name", "blocks", "directed"), [*SHAPES, *(pytest.param(*each, marks=pytest.mark.thorough) for each in MORE)]
)
def test_answers_are_those_in_memory(compressed, name, directed, blocks):
    graph = GRAPHS[name](directed)
    held = compressed(graph, blocks)
    for algorithm in IN_BLOCKS.values():
        same(algorithm(held), algorithm(graph))
    assert "arcs" not in held.caches
    held = compressed(graph, blocks, slack=ENOUGH)
    for algorithm in DECODED.values() if blocks == 7 else ():
        same(algorithm(held), algorithm(graph))


@settings(max_examples=15)
@given(graph=graphs(min_vertices=1), blocks=st.sampled_from(BLOCKS), buffers=st.integers(1, 4))
def test_answers_on_any_graph(compressed, graph, blocks, buffers):
    held = compressed(graph, blocks, buffers)
    for name in ("bfs", "bfs by pulls", "wcc", "pagerank", "search tree"):
        same(IN_BLOCKS[name](held), IN_BLOCKS[name](graph))


@pytest.mark.covering(1)
@pytest.mark.parametrize("blocks", [1, 7, 64])
@pytest.mark.parametrize("name", GRAPHS)
def test_every_reduction_of_every_dtype(compressed, name, blocks):
    graph = GRAPHS[name](True)
    held = compressed(graph, blocks)
    chance = torch.Generator().manual_seed(4)
    for dtype in (*INTEGERS, *FLOATS):
        data = torch.randint(0, 3, (graph.num_vertices, 3), generator=chance).to(dtype)
        for reduce in ("sum", "mean", "min", "max", "prod"):
            if reduce == "mean" and not dtype.is_floating_point:
                continue
            if reduce == "prod":
                data = data.clamp(max=1)
            found, wanted = tg.aggregate(held, data, reduce), tg.aggregate(graph, data, reduce)
            torch.testing.assert_close(found, wanted, rtol=1e-2 if dtype.itemsize < 4 else 1e-6, atol=0)
    marked = torch.rand(graph.num_vertices, generator=chance) < 0.1
    for reduce in ("any", "all"):
        assert torch.equal(tg.aggregate(held, marked, reduce), tg.aggregate(graph, marked, reduce))


@pytest.mark.covering(1)
@pytest.mark.parametrize("reduce", ["min", "max"])
@pytest.mark.parametrize("mode", ["auto", "push", "pull"])
@pytest.mark.parametrize("rounds", [None, 2])
def test_any_relaxation(compressed, reduce, mode, rounds):
    graph = cliques(4, 6, directed=True)
    held = compressed(graph)
    values = torch.arange(graph.num_vertices)
    program = Any(reduce, "copy", values, rounds=rounds)
    assert torch.equal(tg.run(program, held, mode=mode).values, tg.run(program, graph, mode=mode).values)


def test_gradients_and_rows(compressed):
    graph = cliques(4, 8, directed=True)
    held = compressed(graph, slack=ENOUGH)
    data, twin = (torch.rand(33, 4, generator=torch.Generator().manual_seed(1)).requires_grad_() for _ in range(2))
    tg.aggregate(held, data, "sum").square().sum().backward()
    tg.aggregate(graph, twin, "sum").square().sum().backward()
    same(data.grad, twin.grad)
    vertices = torch.tensor([5, 3, 3, 31, 32])
    found, wanted = held.layout.rows(vertices), graph.to_format("csr", narrow=True).layout.rows(vertices)
    assert all(torch.equal(a, b.to(a.dtype)) for a, b in zip(found[:2], wanted[:2], strict=True))


@pytest.mark.parametrize("vertices", [0, 1, 5])
@pytest.mark.parametrize("directed", [True, False])
def test_a_graph_without_arcs(compressed, vertices, directed):
    graph = tg.Graph.from_edges([], [], num_vertices=vertices, directed=directed)
    held = compressed(graph)
    assert torch.equal(al.wcc(held), torch.arange(vertices))
    same(al.pagerank(held), al.pagerank(graph))
    assert_same(held.layout.source.graph(), graph)


def test_without_compiled_kernels(compressed, monkeypatch):
    graph = cliques(4, 6)
    wanted = {name: algorithm(graph) for name, algorithm in IN_BLOCKS.items()}
    monkeypatch.setattr(native, "load", lambda: None)
    held = compressed(graph)
    for name, algorithm in IN_BLOCKS.items():
        same(algorithm(held), wanted[name])


# ---- files ----------------------------------------------------------------------------------------------------------


@given(data=st.data())
def test_round_trip(tmp_path_factory, data):
    """Any bounds (empty blocks and split rows among them), order and ids, parallel arcs in their place."""
    graph = data.draw(graphs())
    n = graph.num_vertices
    if n and data.draw(st.booleans()):
        graph = tg.Graph(graph.offset, graph.neighbors, None, [f"v{v}" for v in range(n)], graph.directed)
    parts = Parts(data.draw(st.sampled_from([None, torch.randperm(n)])), data.draw(bounds_of(graph.num_arcs)))
    path = tmp_path_factory.mktemp("blocks") / "some.tg"
    write_partitioned(graph, path, parts, layout="virtual")
    expected = parts.apply(graph)
    with BlockFile(path) as file:
        assert file.layout == "virtual"
        assert_blocks_hold(file, "rows", expected)
        if graph.directed:
            assert_blocks_hold(file, "transpose", expected.transpose())
        assert_same(file.graph(), expected)
    assert_same(tg.read(path), expected)


def test_fewer_bytes_are_read(compressed, tmp_path):
    graph = cliques(60, 20)
    write_partitioned(graph, tmp_path / "plain.tg", 5)
    with BlockFile(tmp_path / "plain.tg") as file:
        plain = sum(extent.nbytes for extent in file.index)
    held = compressed(graph, 5, buffers=5)
    al.pagerank(held, tol=None, max_iterations=3)
    assert held.layout.counts.loads == 5 and 3 * held.layout.counts.nbytes < plain


def test_the_budget_holds_a_block_that_is_written_out(compressed):
    graph = cliques(60, 20)
    source = compressed(graph, 5).layout.source
    largest = max(extent.end_arc - extent.first_arc for extent in source.index)
    assert source.working_bytes >= 4 * largest
    with pytest.raises(MemoryBudgetError) as caught:
        tg.open(source.path, memory=source.working_bytes)
    assert caught.value.needed > source.working_bytes + 24 * graph.num_vertices


def test_an_edge_list_is_converted_to_compressed_blocks(tmp_path):
    src, dst = torch.arange(12).repeat(20), torch.arange(240)
    tg.write(tg.Graph.from_edges(src, dst % 30, multi="first"), tmp_path / "edges.txt")
    for parts in (1, 6):
        convert(tmp_path / "edges.txt", tmp_path / "some.tg", parts=parts, memory="1MB", layout="virtual")
        write_partitioned(tg.read(tmp_path / "edges.txt"), tmp_path / "same.tg", parts, layout="virtual")
        assert (tmp_path / "some.tg").read_bytes() == (tmp_path / "same.tg").read_bytes()


@pytest.mark.parametrize("layout", ["virtual", "cbm", "csr"])
def test_what_is_not_compressed_is_refused(tmp_path, layout):
    graph = random_graph(20, 50, dtype=torch.float32 if layout == "virtual" else None)
    with pytest.raises(ArgumentError, match="weights=False" if layout == "virtual" else f"'virtual'.*{layout}"):
        write_partitioned(graph, tmp_path / "some.tg", 2, layout=layout)
    with open(tmp_path / "edges.wel", "w") as file:
        file.write("0 1 2.5\n1 2 3.5\n")
    with pytest.raises(ArgumentError, match="layout: "):
        convert(tmp_path / "edges.wel", tmp_path / "some.tg", layout=layout)
    assert {entry.name for entry in tmp_path.iterdir()} == {"edges.wel"}


def test_versions(tmp_path, monkeypatch):
    graph = cliques(3, 5)
    write_partitioned(graph, tmp_path / "plain.tg", 2)
    write_partitioned(graph, tmp_path / "compressed.tg", 2, layout="virtual")
    monkeypatch.setattr(container.tg, "COLUMNS", container.VERSION)  # what does not know them yet
    assert_same(tg.read(tmp_path / "plain.tg"), graph)
    with pytest.raises(FileFormatError, match=r"compressed\.tg: format version 4 is newer than 3.*upgrade"):
        BlockFile(tmp_path / "compressed.tg")


# ---- damage ---------------------------------------------------------------------------------------------------------


def test_a_damaged_block_is_named_and_nothing_computed(tmp_path):
    sample = write_sample(tmp_path / "sample.tg", "virtual")
    held = tg.open(sample, memory="1MB")
    with sample.open("r+b") as file:
        for block in (2, 6):  # one of each section
            file.seek(held.layout.source.index[block].position + 70)
            file.write(b"\xff\xff")
    for algorithm in (al.wcc, al.pagerank, lambda graph: al.bfs(graph, 0)):
        with pytest.raises(FileFormatError, match=r"sample\.tg.*block [26]"):
            algorithm(held)


def changed(tensor, place, value):
    """The tensor with another value at a place."""
    tensor = tensor.clone()
    tensor[place] = value
    return tensor


WRONG = {
    "a vertex that there is not": lambda it: it._replace(entries=changed(it.entries, -1, 10**6)),
    "a negative one": lambda it: it._replace(entries=changed(it.entries, -1, -1)),
    "a virtual row of itself": lambda it: it._replace(entries=changed(it.entries, 0, 31)),
    "offsets that descend": lambda it: it._replace(offset=changed(it.offset, 1, 10**6)),
    "an end elsewhere": lambda it: it._replace(offset=changed(it.offset, -1, 10**6)),
    "levels in disorder": lambda it: it._replace(levels=(0, it.levels[-1] + 1, it.levels[-1])),
    "fewer arcs": lambda it: Folded(it.offset.clamp(max=len(it.entries) - 1), it.entries[:-1], it.levels),
}


@pytest.mark.parametrize("name", WRONG)
def test_blocks_that_were_written_wrong_are_named(tmp_path, monkeypatch, name):
    """With valid checksums too: no entry is followed out of range."""
    graph = cliques(5, 6)
    assert graph.num_vertices == 31
    monkeypatch.setattr(writing, "fold", lambda *rows: WRONG[name](fold(*rows)))
    write_partitioned(graph, tmp_path / "wrong.tg", 1, layout="virtual")
    held = tg.open(tmp_path / "wrong.tg", memory="1MB")
    with pytest.raises(FileFormatError, match=r"wrong\.tg: block 0"):
        al.wcc(held)


# ---- folding --------------------------------------------------------------------------------------------------------


@given(data=st.data())
def test_unfolding_undoes_folding(data):
    """Rows over the vertices of a larger graph, in any order, parallel arcs among them."""
    words = data.draw(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=6), min_size=1, max_size=4))
    rows = data.draw(st.lists(st.lists(st.sampled_from(words), max_size=4), max_size=12))
    rows = [list(itertools.chain(*row)) for row in rows]
    offset = torch.tensor([0, *(len(row) for row in rows)]).cumsum(0)
    dtype = data.draw(st.sampled_from([torch.int32, torch.int64]))
    neighbors = torch.tensor(list(itertools.chain(*rows)), dtype=dtype)
    folded = fold(offset, neighbors, 31)
    assert folded_error(folded, 31) is None and len(folded.levels) <= folding.MAX_DEPTH + 1
    assert len(folded.entries) + folded.levels[-1] <= len(neighbors)
    for backend in (portable, compiled) if native.load() is not None else (portable,):
        given = folded.offset.long(), folded.entries, 31, folded.levels[-1]
        found = backend.unfold_rows(*given, len(neighbors))
        assert torch.equal(found[0], offset) and torch.equal(found[1], neighbors) and found[1].dtype == dtype
        assert backend.unfold_rows(*given, len(neighbors) + 1) is None


@pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
def test_unfolding_beside_a_thread_that_reads():
    """The threads of a team may be allowed more than the one that calls them."""
    rows = 120_000
    offset, entries = torch.arange(rows + 1), torch.arange(rows, dtype=torch.int32).flip(0)
    with thread_count(3), native.one_thread_less():
        found = compiled.unfold_rows(offset, entries, rows, 0, rows)
    assert found is not None and torch.equal(found[0], offset) and torch.equal(found[1], entries)


def test_rows_too_many_to_number_stay_as_they_are(monkeypatch):
    graph = cliques(5, 6)
    most = torch.iinfo(torch.int32).max
    for folded in (fold(graph.offset, graph.neighbors, most), _with_few_symbols(graph, monkeypatch)):
        assert folded.levels == (0,) and torch.equal(folded.entries, graph.neighbors)
        found = unfold(folded, most, graph.num_arcs)
        assert torch.equal(found[0], graph.offset) and torch.equal(found[1], graph.neighbors)


def _with_few_symbols(graph, monkeypatch):
    monkeypatch.setattr(folding, "_SYMBOLS", graph.num_arcs)
    return fold(graph.offset, graph.neighbors, graph.num_vertices)


@pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not there")
@pytest.mark.parametrize(
    ("offset", "entries", "num_virtual", "num_arcs"),
    [
        ([0, 1, 2], [4, 4], 1, 1),  # a virtual row of itself
        ([0, 1, 2], [-1, 0], 0, 2),
        ([0, 2, 1], [0, 0], 0, 1),
        ([0, 1, 9], [0, 0], 0, 2),
        ([-5, 1, 2], [0, 0], 0, 2),
        (list(range(0, 402, 2)), [0, 0] + [4 + i // 2 for i in range(398)], 199, 7),  # 2^199 arcs
        (list(range(302)), [0] + [4 + i for i in range(300)], 300, 1),  # deeper than any fold
    ],
)
def test_the_compiled_kernel_follows_nothing_out_of_range(offset, entries, num_virtual, num_arcs):
    offset, entries = torch.tensor(offset), torch.tensor(entries, dtype=torch.int32)
    assert compiled.unfold_rows(offset, entries, 4, num_virtual, num_arcs) is None
