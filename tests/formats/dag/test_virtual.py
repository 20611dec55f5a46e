"""The layout "virtual": exact whatever the graph, the same from both builders, and as small as its rules promise."""

import itertools

import pytest
import torch
from backends import portable
from dag_samples import repetitive
from hypothesis import given
from hypothesis import strategies as st
from strategies import grid, random_graph, refused, thread_count

from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.formats.dag.grammar import Grammar
from tgraph.formats.dag.virtual import Virtual
from tgraph.kernels.native.compressed import pairing as compiled

WEIGHTS = (None, torch.float32, torch.int64, torch.uint8, torch.float16)
needs_kernels = pytest.mark.skipif(native.load() is None, reason="the compiled kernels are not there")


def same(found, expected):
    """Whether two results are equal, None to None, and of one dtype."""
    return all(
        (a is None and b is None) or (a is not None and b is not None and a.dtype == b.dtype and torch.equal(a, b))
        for a, b in zip(found, expected, strict=True)
    )


def arcs_of(graph):
    return graph.offset, graph.neighbors, graph.weights


def cliques(size, copies, seed=None):
    """Disjoint cliques; with a seed, of randomly numbered vertices."""
    pairs = torch.tensor(list(itertools.combinations(range(size), 2)))
    ends = torch.cat([pairs + i * size for i in range(copies)])
    if seed is not None:
        number = torch.randperm(size * copies, generator=torch.Generator().manual_seed(seed))
        ends = number[ends]
    return Graph.from_edges(ends[:, 0], ends[:, 1], num_vertices=size * copies, directed=False)


def csr_bytes(graph):
    return 4 * graph.num_arcs + 8 * (graph.num_vertices + 1)


# ---- exactness ------------------------------------------------------------------------------------------------------


@given(repetitive(dtypes=WEIGHTS, highest=2), st.integers(0, 3), st.integers(0, 4))
def test_every_arc_comes_back_in_its_place(graph, min_gain, max_depth):
    layout = Virtual.from_graph(graph, min_gain=min_gain, max_depth=max_depth)
    assert same(layout.to_csr(), arcs_of(graph))
    assert layout.out_degree().tolist() == graph.out_degree.tolist()
    assert (layout.num_vertices, layout.num_arcs) == (graph.num_vertices, graph.num_arcs)
    layout.dag.check()


@given(repetitive(dtypes=(None, torch.int64), highest=2), st.integers(0, 9))
def test_both_builders_make_the_same_grammar(graph, max_depth):
    if native.load() is None:
        pytest.skip("the compiled kernels are not there")
    arguments = (graph.offset, graph.neighbors, graph.num_vertices, max_depth)
    assert same(compiled.replace_pairs(*arguments), portable.replace_pairs(*arguments))


@needs_kernels
@pytest.mark.parametrize(
    "graph",
    [cliques(40, 12, seed=1), cliques(300, 1), random_graph(500, 20_000, directed=False), grid(60, 60)],
    ids=["cliques", "one clique", "hub", "grid"],
)
def test_both_builders_make_the_same_layout(graph, monkeypatch):
    fast = Virtual.from_graph(graph)
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    slow = Virtual.from_graph(graph)
    assert fast.options() == slow.options()
    assert same(fast.tensors().values(), slow.tensors().values())
    assert same(slow.to_csr(), arcs_of(graph))


@needs_kernels
def test_the_number_of_threads_changes_nothing():
    graph = random_graph(3000, 150_000, directed=False)
    layouts = []
    for threads in (1, 2, 5):
        with thread_count(threads):
            layouts.append(Virtual.from_graph(graph))
    assert same(layouts[0].tensors().values(), layouts[1].tensors().values())
    assert same(layouts[0].tensors().values(), layouts[2].tensors().values())
    assert same(layouts[0].to_csr(), arcs_of(graph))


def test_weights_of_equal_bits_share_and_others_do_not():
    rows, width = 40, 16
    src, dst = torch.arange(rows).repeat_interleave(width), torch.arange(width).repeat(rows)
    weights = torch.full((width,), float("nan")).repeat(rows)
    weights[::2] = -0.0
    alike = Virtual.from_graph(Graph.from_edges(src, dst, weights, num_vertices=rows))
    assert len(alike.dag.children) == rows + width  # one virtual vertex for all rows
    assert torch.equal(alike.to_csr()[2].view(torch.int32), weights.view(torch.int32))
    different = Virtual.from_graph(Graph.from_edges(src, dst, torch.arange(rows * width), num_vertices=rows))
    assert different.dag.num_virtual == 0


# ---- what it computes -----------------------------------------------------------------------------------------------


@given(repetitive(dtypes=(None, torch.float64), highest=3), st.integers(1, 3), st.booleans())
def test_pull_is_the_dense_product(graph, columns, reverse):
    layout, n = Virtual.from_graph(graph), graph.num_vertices
    row = torch.repeat_interleave(torch.arange(n), graph.offset.diff())
    ends, layout = (
        ((graph.neighbors.long(), row), layout.transposed())
        if reverse
        else (
            (row, graph.neighbors.long()),
            layout,
        )
    )
    data = torch.randint(-5, 6, (n, columns), generator=torch.Generator().manual_seed(n)).double()
    ones = torch.ones(graph.num_arcs, dtype=torch.float64)
    for edge, weights in (("copy", ones), ("mul", graph.weights)):
        if weights is not None:
            dense = torch.zeros(n, n, dtype=torch.float64).index_put_(ends, weights, accumulate=True)
            assert torch.equal(layout.pull(data, "sum", edge), dense @ data)
    received = torch.full((n, columns), float("inf"), dtype=torch.float64)
    received.scatter_reduce_(0, ends[0][:, None].expand(-1, columns), data[ends[1]], "amin")
    assert torch.equal(layout.pull(data, "min"), received)


@pytest.mark.parametrize("kernels", [True, False])
@given(graph=repetitive(dtypes=(torch.float64,), highest=3))
def test_parallel_arcs_keep_the_order_of_their_weights(kernels, graph):
    layout = Virtual.from_graph(graph)
    with pytest.MonkeyPatch.context() as patch:
        if not kernels:
            patch.setenv("TGRAPH_NATIVE", "0")
        assert same(layout.to_csr(), arcs_of(graph))


def test_what_a_weighted_transpose_refuses():
    graph = random_graph(20, 60, dtype=torch.float64)
    layout = Virtual.from_graph(graph)
    assert layout.refuses("max", "mul", torch.float64) is None
    assert "distribute" in layout.transposed().refuses("max", "mul", torch.float64)
    refused("distribute", lambda: layout.transposed().pull(torch.ones(20, 1).double(), "max", "mul"))
    refused("weights", lambda: Virtual.from_graph(grid(3, 3)).pull(torch.ones(9, 1), "sum", "mul"))


# ---- rules ----------------------------------------------------------------------------------------------------------


@given(repetitive(), st.integers(0, 3), st.integers(0, 5))
def test_rules_nest_no_deeper_than_allowed_and_are_used_more_than_once(graph, min_gain, max_depth):
    dag = Virtual.from_graph(graph, min_gain=min_gain, max_depth=max_depth).dag
    assert len(dag.phases) <= max_depth + 2
    uses = torch.bincount(dag.children, minlength=dag.num_nodes)[dag.num_vertices : dag.num_rows]
    length = dag.offset.diff()[: dag.num_virtual]
    assert ((uses >= 2) & (length >= 2)).all()


def test_rules_that_do_not_pay_are_written_where_they_are_used():
    """Of 0 1 2 3 | 0 1 2 3 | 0 1 the rule for 0 1 2 3 is used twice, that for 0 1 three times, that for 2 3 twice."""
    grammar = Grammar.by_depth(
        torch.tensor([0, 1, 2, 3]), torch.tensor([6, 6, 4]), 4, torch.tensor([[0, 1], [2, 3], [4, 5]])
    )
    assert grammar.levels == (0, 2, 3)
    assert grammar.inlined(1).tolist() == [False, False, False, False, True, True, False]
    offset, symbols, kept, levels = grammar.write(grammar.inlined(1))
    assert symbols.tolist() == [0, 1, 2, 3, 6, 6, 0, 1]
    assert (offset.tolist(), kept.tolist(), levels) == ([0, 4, 5, 6, 8], [6], (0, 1))
    assert grammar.inlined(2)[4:].all()  # (2 - 1) * (4 - 1) - 1 is no more than 2
    assert not grammar.inlined(0)[6]


def test_a_clique_costs_its_vertices_times_the_depth_of_a_binary_tree():
    """A row of a clique misses one vertex, so it consists of the subtrees of a balanced tree off the path to that
    one."""
    size = 256
    layout = Virtual.from_graph(cliques(size, 1), max_depth=16)
    assert same(layout.to_csr(), arcs_of(cliques(size, 1)))
    assert len(layout.dag.children) <= size * 8 + 2 * size
    assert layout.nbytes * 20 < csr_bytes(cliques(size, 1))


def test_copies_of_a_row_share_one_virtual_vertex():
    width, rows = 64, 500
    graph = Graph.from_edges(torch.arange(rows).repeat_interleave(width), torch.arange(width).repeat(rows))
    dag = Virtual.from_graph(graph).dag
    assert (dag.num_virtual, len(dag.children)) == (1, width + rows)
    assert dag.nbytes == 4 * (width + rows) + 4 * (1 + rows + 1)


def test_cliques_of_vertices_anywhere_compress_as_well():
    near, far = (Virtual.from_graph(cliques(48, 20, seed)).nbytes for seed in (None, 3))
    assert far < 1.25 * near
    assert near * 4 < csr_bytes(cliques(48, 20))


@pytest.mark.parametrize(
    "graph",
    [grid(1, 4000), grid(50, 50), random_graph(4000, 9000), Graph.from_edges([], [], num_vertices=0)],
    ids=["path", "grid", "random", "empty"],
)
def test_what_does_not_repeat_is_stored_as_it_is(graph):
    layout = Virtual.from_graph(graph)
    assert layout.nbytes <= csr_bytes(graph)
    assert same(layout.to_csr(), arcs_of(graph))


def test_long_runs_of_one_neighbour():
    graph = Graph.from_edges([0] * 999 + [1] * 7, [1] * 1006, num_vertices=2)
    layout = Virtual.from_graph(graph)
    assert same(layout.to_csr(), arcs_of(graph))
    assert len(layout.dag.children) < 60


# ---- storing, and what is wrong -------------------------------------------------------------------------------------


def test_damaged_tensors_are_refused():
    layout = Virtual.from_graph(cliques(20, 2))
    tensors, options = layout.tensors(), layout.options()
    with pytest.raises(ArgumentError, match="'children' of the layout 'virtual' is missing"):
        Virtual.from_tensors({"offset": tensors["offset"]}, options)
    refused("'order' belongs to no layout", Virtual.from_tensors, {**tensors, "order": tensors["offset"]}, options)
    refused("num_arcs", Virtual.from_tensors, tensors, {**options, "num_arcs": 5})
    for place, value in ((0, -1), (0, 10**6), (0, layout.num_vertices), (-1, layout.dag.num_rows)):
        children = tensors["children"].clone()
        children[place] = value
        with pytest.raises(ArgumentError, match=r"children|num_arcs"):
            Virtual.from_tensors({**tensors, "children": children}, options)


def test_options_and_neighbours_out_of_range():
    graph = grid(2, 2)
    for options in ({"min_gain": -1}, {"max_depth": -1}, {"max_depth": 256}, {"min_gain": 0.5}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            Virtual.from_graph(graph, **options)
    with pytest.raises(ArgumentError, match="no vertex"):
        Virtual.from_graph(Graph(torch.tensor([0, 2, 2]), torch.tensor([0, 7], dtype=torch.int32)))
