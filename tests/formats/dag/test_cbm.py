"""The Compressed Binary Matrix: rows as deltas to other rows, against the dense matrix."""

import pickle
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists, random_graph, refused, thread_count

from tgraph.core.graph import Graph
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.formats.dag import branches
from tgraph.formats.dag.cbm import CBM

COMPILED = pytest.param("", marks=pytest.mark.skipif(native.load() is None, reason="needs the compiled kernels"))


@pytest.fixture(params=[COMPILED, "0"], ids=["native", "portable"])
def builder(request, monkeypatch):
    if request.param:
        monkeypatch.setenv("TGRAPH_NATIVE", request.param)


@st.composite
def binary_graphs(draw):
    """Graphs without parallel arcs, whose rows are often alike: a few rows, each copied with some arcs flipped."""
    directed = draw(st.booleans())
    n, edges = draw(edge_lists())
    if n and draw(st.booleans()):
        patterns = draw(st.lists(st.sets(st.integers(0, n - 1)), min_size=1, max_size=3))
        flips = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=n))
        edges = {(u, v) for u in range(n) for v in patterns[u % len(patterns)]} ^ flips
    return from_edges(n, edges, directed)


def from_edges(n, edges, directed=True):
    ends = torch.tensor(sorted(edges), dtype=torch.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], num_vertices=n, directed=directed, multi="first")


def near_copies(groups, copies, ones, seed=0, directed=True):
    """Rows in groups that differ by a few columns only, their numbers shuffled."""
    random = torch.Generator().manual_seed(seed)
    n = groups * copies
    number = torch.randperm(n, generator=random)
    base = torch.rand(groups, n, generator=random).argsort(1)[:, :ones].repeat_interleave(copies, 0)
    base[:, :2] = torch.randint(n, (n, 2), generator=random)
    src = number.repeat_interleave(ones)
    return Graph.from_edges(src, base.flatten(), num_vertices=n, directed=directed, multi="first")


def dense(graph, dtype=torch.float64):
    matrix = torch.zeros(graph.num_vertices, graph.num_vertices, dtype=dtype)
    rows = torch.repeat_interleave(torch.arange(graph.num_vertices), graph.out_degree)
    matrix[rows, graph.neighbors.long()] = 1
    return matrix


def parents(layout):
    """The row that each row refers to, int64 [n], and -1 without one."""
    dag, n = layout.dag, layout.num_vertices
    refers = dag.children >= n
    parent = torch.full((n,), -1)
    parent[dag.row_of_arc[refers].long()] = dag.children[refers].long() - n
    return parent


def savings(graph, layout):
    """(row, ones that its parent saves), of the rows that have one."""
    parent = parents(layout)
    deltas = layout.dag.offset.diff().long() - (parent >= 0).long()
    return [int(s) for s in (graph.out_degree - deltas)[parent >= 0]]


def lightest_tree(graph, price):
    """The cost of a minimum spanning tree of all rows and the empty one, by Prim's algorithm."""
    matrix = dense(graph, torch.int64)
    cost, left, total = matrix.sum(1), set(range(len(matrix))), 0
    while left:
        row = min(left, key=lambda v: int(cost[v]))
        left.remove(row)
        total += int(cost[row])
        cost = torch.minimum(cost, (matrix != matrix[row]).sum(1) + price)
    return total


def assert_same_arcs(layout, graph):
    offset, neighbors, weights = layout.to_csr()
    assert weights is None and offset.dtype == torch.int64 and neighbors.dtype == graph.neighbors.dtype
    assert torch.equal(offset, graph.offset) and torch.equal(neighbors, graph.neighbors)


@given(binary_graphs(), st.integers(1, 3), st.sampled_from([None, None, 0, 1, 2]))
def test_the_rows_come_back(graph, alpha, max_depth):
    for choice in ("", "0"):
        with pytest.MonkeyPatch.context() as patch:
            if choice:
                patch.setenv("TGRAPH_NATIVE", choice)
            layout = CBM.from_graph(graph, alpha=alpha, max_depth=max_depth)
            assert_same_arcs(layout, graph)
            assert (layout.num_vertices, layout.num_arcs) == (graph.num_vertices, graph.num_arcs)
            assert torch.equal(layout.out_degree(), graph.out_degree)


@given(binary_graphs(), st.integers(1, 3))
def test_never_more_operations_than_csr(graph, alpha):
    layout = CBM.from_graph(graph, alpha=alpha)
    assert bool((layout.dag.offset.diff() <= graph.out_degree).all())
    assert layout.nbytes <= 4 * (graph.num_vertices + 1) + 4 * graph.num_arcs + 24


@given(binary_graphs(), st.sampled_from([torch.float64, torch.int64, torch.float32]), st.integers(0, 3))
def test_pull_is_the_product(graph, dtype, columns):
    layout, matrix = CBM.from_graph(graph), dense(graph, dtype)
    data = torch.randint(-9, 9, (graph.num_vertices, columns)).to(dtype)
    assert torch.equal(layout.pull(data, "sum"), matrix @ data)
    assert torch.equal(layout.transposed().pull(data, "sum"), matrix.T @ data)
    left, right = torch.randint(1, 5, (2, graph.num_vertices)).to(dtype)
    assert torch.equal(layout.multiply(data, left, right), left[:, None] * (matrix @ (right[:, None] * data)))
    assert torch.equal(layout.multiply(data, right=right), matrix @ (right[:, None] * data))


@pytest.mark.parametrize("columns", [1, 2, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_long_chains_of_parents(dtype, columns):
    """Each row has one column more than the one before: a chain, whose virtual vertices in the transpose need each
    other one by one."""
    row, column = torch.tril_indices(60, 60)
    graph = Graph.from_edges(row, column, num_vertices=60)
    layout, data = CBM.from_graph(graph), torch.arange(60 * columns).reshape(60, columns).to(dtype)
    assert len(layout.dag.children) < 130
    assert torch.equal(layout.pull(data, "sum"), dense(graph, dtype) @ data)
    assert torch.equal(layout.transposed().pull(data, "sum"), dense(graph, dtype).T @ data)


@given(binary_graphs())
def test_the_transpose_is_a_layout(graph):
    back = CBM.from_graph(graph).transposed()
    assert_same_arcs(back, graph.transpose())
    assert_same_arcs(back.transposed(), graph)
    assert torch.equal(back.out_degree(), graph.in_degree)
    assert_same_arcs(CBM.from_tensors(back.tensors(), back.options()), graph.transpose())


@given(binary_graphs(), st.data())
def test_some_rows(graph, data):
    vertex = st.integers(0, max(graph.num_vertices - 1, 0))
    vertices = torch.tensor(data.draw(st.lists(vertex, max_size=5 if graph.num_vertices else 0)), dtype=torch.int64)
    matrix = dense(graph)
    for layout, expected in ((CBM.from_graph(graph), matrix), (CBM.from_graph(graph).transposed(), matrix.T)):
        offset, neighbors, _ = layout.rows(vertices)
        assert offset[0] == 0 and len(offset) == len(vertices) + 1
        for v, first, last in zip(vertices.tolist(), offset[:-1].tolist(), offset[1:].tolist(), strict=True):
            assert neighbors[first:last].tolist() == expected[v].nonzero().flatten().tolist()


@pytest.mark.thorough
@pytest.mark.parametrize("directed", [True, False])
def test_a_larger_graph(builder, directed):
    for graph in (near_copies(40, 30, 12, directed=directed), random_graph_without_copies(directed)):
        layout = CBM.from_graph(graph)
        layout.dag.check()
        assert_same_arcs(layout, graph)
        data = torch.randint(-9, 9, (graph.num_vertices, 5))
        assert torch.equal(layout.pull(data, "sum"), dense(graph, torch.int64) @ data)


def random_graph_without_copies(directed):
    found = random_graph(300, 3000, directed=directed)
    src = torch.repeat_interleave(torch.arange(300), found.out_degree)
    return Graph.from_edges(src, found.neighbors, num_vertices=300, directed=directed, multi="first")


@pytest.mark.skipif(native.load() is None, reason="needs the compiled kernels")
def test_the_forest_is_lightest_where_every_pair_is_counted():
    for seed in range(4):
        graph = near_copies(5, 12, 9, seed)
        found = CBM.from_graph(graph, max_depth=None)
        forest = branches_of(graph, price=1)
        assert forest == lightest_tree(graph, 1)
        assert (
            len(found.dag.children) + found.num_vertices * (found.dag.order is not None) <= forest + graph.num_vertices
        )


def branches_of(graph, price):
    """What the rows cost by the forest that the compiled builder finds."""
    from tgraph.kernels.native.compressed import cbm as compiled

    rows, columns = (compiled.Matrix(g.offset, g.neighbors) for g in (graph, graph.transpose()))
    parent, _ = compiled.find_parents(rows, columns, price, torch.tensor([0, graph.num_vertices]))
    more, less = compiled.count_deltas(rows, parent)
    return int((more + less + price * (parent >= 0)).sum())


def test_identical_rows_take_one_parent_each(builder):
    columns = torch.arange(0, 20, 2)
    graph = Graph.from_edges(torch.arange(20).repeat_interleave(10), columns.repeat(20), num_vertices=20)
    layout = CBM.from_graph(graph)
    assert len(layout.dag.children) == 10 + 19
    assert layout.dag.order is None and (parents(layout) >= 0).sum() == 19


def test_a_clique_takes_two_deltas_a_row(builder):
    size = 16
    u, v = torch.triu_indices(size, size, 1)
    layout = CBM.from_graph(Graph.from_edges(u, v, directed=False))
    assert len(layout.dag.children) == (size - 1) + 3 * (size - 1)


def test_copies_of_a_clique_compress_alike(builder):
    size, copies = 16, 5
    u, v = torch.triu_indices(size, size, 1)
    shift = size * torch.arange(copies)[:, None]
    layout = CBM.from_graph(Graph.from_edges((u + shift).flatten(), (v + shift).flatten(), directed=False))
    assert len(layout.dag.children) == copies * 4 * (size - 1)


def test_rows_that_nothing_is_like_stay_plain(builder):
    graph = Graph.from_edges(torch.arange(9), torch.arange(1, 10), num_vertices=10)
    layout = CBM.from_graph(graph)
    assert torch.equal(layout.dag.children, graph.neighbors) and set(layout.tensors()) == {"offset", "children"}


@pytest.mark.parametrize("alpha", [1, 2, 4, 8])
def test_alpha_is_the_least_saving(builder, alpha):
    graph = near_copies(10, 20, 14)
    layout = CBM.from_graph(graph, alpha=alpha)
    found = savings(graph, layout)
    assert found and min(found) >= alpha
    assert_same_arcs(layout, graph)


def test_a_large_alpha_leaves_plain_rows():
    graph = near_copies(10, 20, 14)
    assert not savings(graph, CBM.from_graph(graph, alpha=2**70))


@pytest.mark.parametrize("max_depth", [0, 1, 2, 5])
def test_max_depth_bounds_the_way_to_a_plain_row(builder, max_depth):
    graph = near_copies(4, 60, 14)
    assert int(branches.depths(parents(CBM.from_graph(graph))).max()) > 1 or max_depth
    layout = CBM.from_graph(graph, max_depth=max_depth)
    assert int(branches.depths(parents(layout)).max()) <= max_depth
    assert_same_arcs(layout, graph)


def test_the_number_of_threads_does_not_show():
    graph = near_copies(200, 30, 12, directed=False)
    found = []
    for count in (1, 2):
        with thread_count(count):
            found.append(CBM.from_graph(graph))
    for name, tensor in found[0].tensors().items():
        assert torch.equal(tensor, found[1].tensors()[name])


def test_branches_become_tasks(monkeypatch):
    """With small tasks: a path, a star and single rows; the Dag checks what its tasks and phases promise."""
    monkeypatch.setattr(branches, "LEAST_WORK", 8)
    path = torch.arange(-1, 99)
    star = torch.cat((torch.tensor([-1]), torch.full((199,), 100)))
    parent = torch.cat((path, star, torch.full((50,), -1)))
    work = torch.full_like(parent, 2)
    bounded = branches.bound_work(parent, work, work)
    assert 0 < int((bounded[:100] < 0).sum()) <= 20
    assert torch.equal(bounded[100:], parent[100:])
    schedule = branches.schedule(bounded, work)
    order, tasks = schedule.order, schedule.tasks.tolist()
    position = torch.empty_like(order).index_copy_(0, order, torch.arange(len(order)))
    assert schedule.phases == (0, 1, 350) and order[0] == 100
    assert tasks[:2] == [0, 1] and tasks[-1] == 350 and max(b - a for a, b in pairwise(tasks)) < 40
    task = torch.searchsorted(schedule.tasks, position, right=True)
    for row in (bounded >= 0).nonzero().flatten().tolist():
        above = int(bounded[row])
        assert position[above] < position[row]
        assert task[above] == task[row] or above == 100


def test_blocks_cover_the_rows():
    assert branches.blocks(torch.tensor([0])).tolist() == [0]
    assert branches.blocks(torch.tensor([0, 3, 3])).tolist() == [0, 2]
    many = torch.arange(0, 2**20 + 1, 2**10)
    assert branches.blocks(many).tolist() == list(range(0, 2**10 + 1, 2**5))


def test_many_blocks(monkeypatch, builder):
    monkeypatch.setattr(branches, "LEAST_ARCS", 64)
    u, v = torch.triu_indices(16, 16, 1)
    shift = 16 * torch.arange(30)[:, None]
    graph = Graph.from_edges((u + shift).flatten(), (v + shift).flatten(), directed=False)
    layout = CBM.from_graph(graph)
    layout.dag.check()
    assert_same_arcs(layout, graph)


def test_stored_and_loaded():
    layout = CBM.from_graph(near_copies(10, 20, 14))
    again = CBM.from_tensors(layout.tensors(), layout.options())
    assert again.nbytes == layout.nbytes == sum(t.nbytes for t in layout.tensors().values())
    for found in (again, layout.to(torch.device("cpu")), pickle.loads(pickle.dumps(layout))):
        for left, right in zip(found.to_csr()[:2], layout.to_csr()[:2], strict=True):
            assert torch.equal(left, right)


def test_tensors_that_do_not_fit_are_refused():
    layout = CBM.from_graph(near_copies(10, 20, 14))
    tensors, options = layout.tensors(), layout.options()
    damaged = tensors["children"].clone()
    damaged[0] = 10**6
    refused("children: 1000000 at position 0", CBM.from_tensors, {**tensors, "children": damaged}, options)
    refused("'offset' of the layout 'cbm' is missing", CBM.from_tensors, {"children": damaged}, options)
    refused("weights", CBM.from_tensors, {**tensors, "weights": damaged}, options)


def test_refused_calls():
    layout = CBM.from_graph(near_copies(10, 20, 14))
    data = torch.ones(layout.num_vertices, 1)
    for reduce in ("min", "max", "prod"):
        assert "'sum' alone" in layout.refuses(reduce, "copy", torch.float32)
        with pytest.raises(ArgumentError, match="subtracts"):
            layout.pull(data, reduce)
    with pytest.raises(ArgumentError, match="no weights for 'mul'"):
        layout.pull(data, "sum", "mul")
    assert layout.refuses("sum", "copy", torch.float32) is None


def test_refused_graphs():
    src, dst = torch.tensor([0, 1, 1]), torch.tensor([1, 2, 2])
    refused(r"the arc \(1, 2\) occurs more than once.*multi='first'", CBM.from_graph, Graph.from_edges(src, dst))
    refused("drop the weights", CBM.from_graph, Graph.from_edges(src[:2], dst[:2], torch.ones(2)))
    with pytest.raises(ArgumentError, match="row 0 descends at position 1"):
        CBM.from_graph(Graph(torch.tensor([0, 2, 2]), torch.tensor([1, 0], dtype=torch.int32)))
    graph = Graph.from_edges(src[:2], dst[:2])
    refused("alpha: 0", CBM.from_graph, graph, alpha=0)
    refused("max_depth", CBM.from_graph, graph, max_depth=-1)
