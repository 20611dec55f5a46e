"""Every layout holds the same arcs as the CSR it was made from, gives them back exactly, and pulls what it pulls."""

import itertools

import pytest
import torch
from backends import portable
from dag_samples import repetitive
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    FLOATS,
    INTEGERS,
    exact_weights,
    graphs,
    random_data,
    random_graph,
    refused,
    same_on_threads,
)

import tgraph as tg
from tgraph.core.rows import Selection
from tgraph.core.subgraph import Subgraph
from tgraph.core.system import devices
from tgraph.errors import ArgumentError
from tgraph.formats import COO, CSC, CSR, DCSC, DCSR, ELL, LAYOUTS, SELL, make
from tgraph.formats.dag.compressed import Compressed
from tgraph.formats.elias_fano import EliasFano
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

CLOSE = {torch.float32: 1e-4, torch.float64: 1e-11, torch.bfloat16: 3e-2, torch.float16: 4e-3}
REDUCES = ("sum", "prod", "min", "max")

# Every layout, with the options that make a difference to small graphs.
MADE = {
    "coo": ("coo", {}),
    "virtual": ("virtual", {}),
    "coo-unsorted": ("coo", {"sorted": False}),
    "csr": ("csr", {}),
    "csr-narrow": ("csr", {"narrow": True}),
    "csc": ("csc", {}),
    "dcsr": ("dcsr", {}),
    "dcsc": ("dcsc", {}),
    "ell": ("ell", {"limit": 1e9}),
    "sell": ("sell", {}),
    "sell-4": ("sell", {"C": 4, "sigma": 8}),
    "sell-16": ("sell", {"C": 16, "sigma": 1}),
    "sell-48": ("sell", {"C": 48, "sigma": 40}),
    "wsb": ("wsb", {"min_density": 0}),
    "elias_fano": ("elias_fano", {}),
}


@pytest.fixture(params=MADE)
def build(request):
    """Makes the layout of a graph."""
    name, options = MADE[request.param]
    return lambda graph: make(name, graph, **options)


def expected(graph, data, reduce, edge="copy"):
    """The portable aggregate over the stored rows, in the dtype of the data."""
    sub = Subgraph(graph, graph.everything(), "pull", None, Selection(graph.offset, graph.neighbors), False)
    weights = None if graph.weights is None else graph.weights.to(data.dtype)
    return portable.aggregate(sub, data, REDUCTIONS[reduce], edge, weights).values.to(data.dtype)


def agree(layout, graph, data, reduce, edge="copy"):
    found, wanted = layout.pull(data, reduce, edge), expected(graph, data, reduce, edge)
    assert found.dtype == data.dtype
    adds = data.is_floating_point() and (reduce in ("sum", "prod") or edge in ("add", "mul"))
    tolerance = CLOSE[data.dtype] if adds else 0
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def equal(found, wanted):
    """Two CSRs that are the same to the bit."""
    for one, other in zip(found, wanted, strict=True):
        assert (one is None) == (other is None)
        assert one is None or (one.dtype == other.dtype and torch.equal(one, other))


def csr_of(graph):
    return graph.offset, graph.neighbors, graph.weights


def wide_graph(dtype=None, seed=0):
    """Rows of every length up to several batches, isolated vertices, loops and parallel arcs."""
    return random_graph(330, 3000, seed, dtype=dtype)


DTYPES = (None, torch.float32, torch.float64, torch.int32, torch.int64)
WEIGHTED = graphs(dtypes=DTYPES) | repetitive(dtypes=DTYPES, highest=2)


# ---- what is stored -------------------------------------------------------------------------------------------------


@given(graph=WEIGHTED)
def test_every_layout_gives_the_arcs_back(graph):
    for name, options in MADE.values():
        layout = make(name, graph, **options)
        assert layout.name == name and (layout.num_vertices, layout.num_arcs) == (graph.num_vertices, graph.num_arcs)
        equal(layout.to_csr(), csr_of(graph))
        assert torch.equal(layout.out_degree(), graph.out_degree)
        assert layout.nbytes == sum(t.numel() * t.element_size() for t in layout.tensors().values())
        again = type(layout).from_tensors(layout.tensors(), layout.options())
        assert again.options() == layout.options() and again.tensors().keys() == layout.tensors().keys()
        assert again.nbytes == layout.nbytes
        equal(again.to_csr(), csr_of(graph))
        equal(layout.to(torch.device("cpu")).to_csr(), csr_of(graph))


@given(graph=WEIGHTED, draw=st.data())
def test_rows(graph, draw):
    n = graph.num_vertices
    chosen = draw.draw(st.lists(st.integers(0, n - 1), max_size=6)) if n else []
    vertices = torch.tensor(chosen, dtype=torch.int64)
    selection = Selection(graph.offset, graph.neighbors, vertices)
    weights = None if graph.weights is None else graph.weights[selection.positions]
    for name, options in MADE.values():
        equal(make(name, graph, **options).rows(vertices), (selection.offset, selection.neighbors, weights))


@given(graph=WEIGHTED)
def test_transposed(graph):
    offset, neighbors, order = tg.core.building.sorting.transpose(graph.offset, graph.neighbors, permutation=True)
    reverse = (offset, neighbors, None if graph.weights is None else graph.weights[order])
    for name, options in MADE.values():
        layout = make(name, graph, **options)
        back = layout.transposed()
        equal(back.to_csr(), reverse)
        assert torch.equal(back.out_degree(), graph.in_degree)
        equal(type(back).from_tensors(back.tensors(), back.options()).to_csr(), reverse)
        equal(layout.transposed().transposed().to_csr(), csr_of(graph))


def test_each_has_its_natural_transpose():
    graph = random_graph(12, 60)
    natural = {"coo": COO, "csr": CSC, "csc": CSR, "dcsr": DCSC, "dcsc": DCSR, "ell": ELL, "sell": SELL}
    assert {name: type(make(name, graph).transposed()) for name in natural} == natural
    layout = CSR.from_graph(graph)
    assert layout.neighbors is graph.neighbors and layout.transposed().tensors() == layout.tensors()
    assert not COO.from_graph(graph).transposed().sorted
    assert COO.from_graph(graph, sorted=False).transposed().sorted
    reverse = SELL.from_graph(graph, C=4, sigma=2).transposed()
    assert reverse.options() == {"num_vertices": 12, "C": 4, "sigma": 2}


@pytest.mark.parametrize("weights", [None, torch.float32])
def test_bytes(weights):
    """Counted by hand: vertices of 3, 0, 1 and 2 arcs, and weights of 4 bytes each."""
    each = 4 if weights is None else 8
    graph = tg.Graph.from_edges([0, 0, 0, 2, 3, 3], [1, 1, 2, 0, 3, 1], num_vertices=4)
    if weights is not None:
        graph = tg.Graph(graph.offset, graph.neighbors, torch.arange(6, dtype=weights))
    assert make("coo", graph).nbytes == 6 * (4 + each)
    assert make("csr", graph).nbytes == 5 * 8 + 6 * each
    assert make("csr", graph, narrow=True).nbytes == 5 * 4 + 6 * each
    assert make("csc", graph).nbytes == 5 * 8 + 6 * each
    assert make("dcsr", graph).nbytes == 3 * 4 + 4 * 4 + 6 * each
    assert make("dcsc", graph).nbytes == 4 * 4 + 5 * 4 + 6 * each
    assert make("ell", graph).nbytes == 2 * 8 + 4 * 4 + 12 * each  # every row padded to 3
    in_order = make("sell", graph, C=2, sigma=1)
    assert in_order.nbytes == 3 * 8 + 4 * 4 + 10 * each and in_order.fill == 6 / 10  # 2 rows of 3, 2 of 2
    by_length = make("sell", graph, C=2, sigma=4)
    assert by_length.nbytes == 3 * 8 + 2 * 4 * 4 + 8 * each and by_length.fill == 6 / 8  # 2 rows of 3, 2 of 1
    assert by_length.slices.order.tolist() == [0, 3, 2, 1]


def of_edges(kind, src, dst, weights, n):
    """A layout of more vertices than a graph in CSR holds, from its tensors."""
    ends, others = (dst, src) if kind is DCSC else (src, dst)
    order = torch.argsort(ends, stable=True)
    rows, degree = ends[order].unique_consecutive(return_counts=True)
    if kind is COO:
        tensors, options = {"row_of_arc": ends[order]}, {"num_vertices": n, "sorted": True}
    else:
        offset = torch.cat((degree.new_zeros(1), degree.cumsum(0)))
        tensors, options = {"row_ids": rows, "offset": offset}, {"num_vertices": n}
    tensors["neighbors"] = others[order]
    return kind.from_tensors(tensors if weights is None else tensors | {"weights": weights[order]}, options)


def test_memory_follows_the_rows_that_hold_an_arc():
    n, src, dst = 10**9, torch.tensor([7, 999_999_999, 7]), torch.tensor([5, 7, 5])
    weights = torch.tensor([1.0, 2.0, 3.0])
    for kind in (COO, DCSR, DCSC):
        layout = of_edges(kind, src, dst, weights, n)
        assert layout.nbytes < 100 and layout.num_arcs == 3
        for held in (layout, kind.from_tensors(layout.tensors(), layout.options()), layout.transposed().transposed()):
            offset, neighbors, weight = held.rows(torch.tensor([999_999_999, 8, 7, 0]))
            assert offset.tolist() == [0, 1, 1, 3, 3]
            assert neighbors.tolist() == [7, 5, 5] and weight.tolist() == [2, 1, 3]
        assert layout.transposed().rows(torch.tensor([5]))[1].tolist() == [7, 7]


def test_more_vertices_than_int32_numbers():
    n, src, dst = 2**31 + 5, torch.tensor([2**31 + 4, 3]), torch.tensor([1, 2**31 + 3])
    for kind in (COO, DCSR, DCSC):
        layout = of_edges(kind, src, dst, None, n)
        assert layout.rows(torch.tensor([2**31 + 4, 3]))[1].tolist() == [1, 2**31 + 3]
        assert layout.tensors()["neighbors"].dtype == torch.int64


# ---- pulling --------------------------------------------------------------------------------------------------------


@settings(max_examples=min(30, settings().max_examples))
@given(graph=graphs(dtypes=(None, torch.float32, torch.int32)), draw=st.data())
def test_pulls_of_any_graph(graph, draw):
    dtype = draw.draw(st.sampled_from(FLOATS if graph.weights is not None else FLOATS + INTEGERS))
    columns = draw.draw(st.sampled_from((1, 2, 3, 5)))
    data = exact_weights(draw.draw, graph.num_vertices * columns, dtype).view(-1, columns)
    edges = EDGE_OPERATIONS if graph.weights is not None else ("copy",)
    reduce, edge = draw.draw(st.sampled_from(REDUCES)), draw.draw(st.sampled_from(tuple(edges)))
    for name, options in MADE.values():
        agree(make(name, graph, **options), graph, data, reduce, edge)


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_every_dtype_reduction_and_edge_operation(build, kernels, dtype):
    graph = wide_graph(torch.float32 if dtype.is_floating_point else dtype)
    layout = build(graph)
    for reduce, edge, columns in itertools.product(REDUCES, EDGE_OPERATIONS, (1, 3)):
        if dtype.is_floating_point and reduce == "prod" and edge != "copy":
            continue  # beyond all numbers
        data = random_data((graph.num_vertices, columns), dtype)
        if reduce == "prod":
            data = 1 + (data - 1) / 64 if dtype.is_floating_point else data | 1
        agree(layout, graph, data, reduce, edge)


@pytest.mark.covering(1)
@pytest.mark.parametrize("columns", [1, 2, 7, 16, 33, 64, 100, 129])
def test_every_width(build, kernels, columns):
    graph = wide_graph(torch.float32)
    for dtype, edge in ((torch.float32, "mul"), (torch.float64, "copy"), (torch.bfloat16, "copy")):
        for reduce in ("sum", "min"):
            agree(build(graph), graph, random_data((graph.num_vertices, columns), dtype), reduce, edge)


@pytest.mark.covering(2)
@pytest.mark.parametrize("columns", [1, 4])
def test_nan_and_infinity_reach_their_neighbours_only(build, kernels, columns):
    """Padding refers to vertex 0, whose messages must arrive along its arcs only."""
    graph = wide_graph(torch.float32, seed=1)
    for bad, reduce in itertools.product((torch.nan, torch.inf, -torch.inf), REDUCES):
        data = random_data((graph.num_vertices, columns), torch.float32) / 8 + 0.9
        data[0], data[17, 0] = bad, torch.nan
        for edge in ("copy", "mul", "add") if reduce != "prod" else ("copy",):
            agree(build(graph), graph, data, reduce, edge)


def test_columns_that_lie_apart(build):
    graph = wide_graph()
    data = random_data((5, graph.num_vertices), torch.float32).T
    agree(build(graph), graph, data, "sum")
    agree(build(graph), graph, data[:, ::2], "max")
    found = build(graph).pull(data.clone().requires_grad_(), "sum")
    assert not found.requires_grad


def test_nothing_to_pull(build, kernels):
    for n, m in ((0, 0), (1, 0), (1, 3), (40, 0)):
        graph = tg.Graph.from_edges([0] * m, [0] * m, torch.ones(m), num_vertices=n)
        for reduce, columns in itertools.product(REDUCES, (0, 1, 3)):
            assert build(graph).pull(torch.ones(n, columns), reduce, "mul").shape == (n, columns)
            if columns and n:
                agree(build(graph), graph, torch.full((n, columns), 2.0), reduce, "mul")


def test_sums_do_not_depend_on_the_threads(build):
    graph = random_graph(600, 40_000)  # whose hub is longer than what one thread takes at a time
    for columns in (1, 16):
        data = random_data((graph.num_vertices, columns), torch.float32)
        same_on_threads(lambda data=data: build(graph).pull(data, "sum"))


def test_devices_whose_scatters_have_no_order(build, monkeypatch):
    """The ways that other devices take, with what they lack."""
    monkeypatch.setenv("TGRAPH_NATIVE", "0")
    monkeypatch.setattr(devices, "is_sequential", lambda tensor: False)
    graph = wide_graph(torch.float32)
    for reduce, edge in (("sum", "mul"), ("max", "copy"), ("prod", "copy")):
        agree(build(graph), graph, random_data((graph.num_vertices, 3), torch.float32) / 8 + 0.9, reduce, edge)


def test_many_arcs_are_reduced_in_pieces(monkeypatch):
    monkeypatch.setattr("tgraph.kernels.operators.aggregation.rows.CHUNK", 100)
    graph = wide_graph(torch.float32)
    for reduce in ("sum", "min"):
        agree(COO.from_graph(graph, sorted=False), graph, random_data((330, 3), torch.bfloat16), reduce, "mul")


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_unknown_names_and_options():
    graph = random_graph(12, 60)
    refused(r"'bsr' is not one of .*'csr'", make, "bsr", graph)
    refused(r"height: .* takes 'C', 'sigma'", make, "sell", graph, height=4)
    refused("takes no options", make, "dcsr", graph, narrow=True)
    refused("takes 'narrow'", make, "csc", graph, wide=True)
    for options in ({"C": 0}, {"sigma": 0}, {"C": 2.5}, {"C": -1}):
        refused("C|sigma", make, "sell", graph, **options)
    refused("limit", make, "ell", graph, limit=0)
    assert set(LAYOUTS) >= {"coo", "csr", "csc", "dcsr", "dcsc", "ell", "sell"}


def test_ell_refuses_a_hub():
    star = tg.Graph.from_edges([0] * 99, list(range(1, 100)))
    refused(r"9900 entries for 99 arcs.*'sell'.*limit=", make, "ell", star)
    agree(make("ell", star, limit=100), star, torch.ones(100, 1), "sum")


def test_data_that_does_not_fit(build):
    graph = random_graph(12, 60)
    layout, weighted = build(graph), build(random_graph(12, 60, dtype=torch.float32))
    refused("data: expected", layout.pull, torch.ones(12), "sum")
    refused("data: expected", layout.pull, torch.ones(11, 1), "sum")
    refused("'mean'", layout.pull, torch.ones(12, 1), "mean")
    refused("'sub'", layout.pull, torch.ones(12, 1), "sum", "sub")
    refused("needs weights", layout.pull, torch.ones(12, 1), "sum", "mul")
    refused("on meta", layout.pull, torch.ones(12, 1, device="meta"), "sum")
    assert weighted.refuses("sum", "mul", torch.float32) is None and layout.refuses("sum", "mul", torch.float32)
    if isinstance(layout, Compressed):  # which converts both
        return
    refused("bool", layout.pull, torch.ones(12, 1, dtype=torch.bool), "max")
    refused("convert the data", weighted.pull, torch.ones(12, 1, dtype=torch.int64), "sum", "mul")


def test_rows_of_no_vertex(build):
    layout = build(random_graph(12, 60))
    refused("vertices: 12 at position 1", layout.rows, torch.tensor([0, 12]))
    refused("vertices: -1 at position 0", layout.rows, torch.tensor([-1]))
    refused("int64", layout.rows, torch.tensor([1.0]))


def damages(layout):
    """(tensors, options) with one fault each."""
    tensors, options = layout.tensors(), layout.options()
    for name, tensor in tensors.items():
        yield {other: tensors[other] for other in tensors if other != name}, options
        yield {**tensors, name: tensor[:-1]}, options
        yield {**tensors, name: tensor[:, None]}, options
        yield {**tensors, name: tensor.to("meta")}, options
        if name == "weights":
            yield {**tensors, name: tensor.bool()}, options
            continue
        yield {**tensors, name: tensor.float()}, options
        for wrong, place in itertools.product((-1, 2**31 - 1, -(2**31)), (0, len(tensor) // 2, -1)):
            damaged = tensor.clone()
            damaged[place] = wrong
            yield {**tensors, name: damaged}, options
    yield {**tensors, "other": next(iter(tensors.values()))}, options
    for name in set(options) & {"num_vertices", "C", "sigma"}:
        yield tensors, {other: options[other] for other in options if other != name}
        yield tensors, {**options, name: -1}
        yield tensors, {**options, name: "many"}
    yield tensors, {**options, "num_vertices": 1}


def test_damaged_tensors_are_refused(build):
    layout = build(random_graph(40, 300, dtype=torch.float32))
    if isinstance(layout, (Compressed, EliasFano)):
        pytest.skip("tests of its own damage it")
    optional = {"weights", "order"}
    for tensors, options in damages(layout):
        if optional & (layout.tensors().keys() - tensors.keys()) and options == layout.options():
            continue  # arcs without weights, or rows in order, are sound
        with pytest.raises(ArgumentError) as caught:
            type(layout).from_tensors(tensors, options)
        assert str(caught.value)


@pytest.mark.parametrize("name", [None, *LAYOUTS])
def test_what_a_storage_in_memory_answers(name):
    graph = tg.generators.cycle(16)
    storage = (graph if name is None else graph.to_format(name)).storage
    values = torch.ones(16)
    assert storage.name == (name or "csr") and storage.spread_out(values) is values
    assert storage.is_main_rank and not storage.streams and not storage.is_distributed
    storage.reserve(values, in_place=True)
    for context in (storage.spreading(), storage.together({}), storage.calling("aggregate"), storage.recording(None)):
        with context as entered:
            assert entered is None


def test_faults_of_one_layout():
    graph = random_graph(40, 300)
    sell, dcsr, coo = SELL.from_graph(graph, C=4, sigma=8), DCSR.from_graph(graph), COO.from_graph(graph)
    twice = sell.slices.order.clone()
    twice[0] = twice[1]
    damaged = {**sell.tensors(), "order": twice}
    refused("order: row .* comes not exactly once", SELL.from_tensors, damaged, sell.options())
    longer = sell.slices.length.clone()
    longer[3] += 1000
    damaged = {**sell.tensors(), "length": longer}
    refused("length: .* position 3", SELL.from_tensors, damaged, sell.options())
    refused("multiple of its height|one more than", SELL.from_tensors, sell.tensors(), {**sell.options(), "C": 3})
    uneven = sell.slices.offset.clone()
    uneven[1] -= 1
    damaged = {**sell.tensors(), "offset": uneven}
    refused("offset: slice 0 is no multiple of its height, 4", SELL.from_tensors, damaged, sell.options())
    falls = dcsr.row_ids.flip(0)
    refused("row_ids: does not ascend", DCSR.from_tensors, {**dcsr.tensors(), "row_ids": falls}, dcsr.options())
    flipped = {**coo.tensors(), "row_of_arc": coo.row_of_arc.flip(0)}
    refused("sorted=False", COO.from_tensors, flipped, coo.options())
    assert not COO.from_tensors(flipped, {**coo.options(), "sorted": False}).sorted


def test_strided_tensors_are_settled_at_the_entrance(build):
    """Views and other strides of the tensors of a layout."""
    layout = build(random_graph(40, 200, dtype=torch.float32))
    strided = {name: torch.stack((tensor, tensor), 1)[:, 0] for name, tensor in layout.tensors().items()}
    made = type(layout).from_tensors(strided, layout.options())
    assert all(tensor.is_contiguous() for tensor in made.tensors().values())
    data = random_data((40, 3), torch.float32)
    assert torch.equal(made.pull(data, "sum"), layout.pull(data, "sum"))


@pytest.mark.parametrize("make", [lambda *arcs: CSR(*arcs), lambda *arcs: COO(40, arcs[1], *arcs[1:], sorted=False)])
def test_constructors_settle_strided_tensors(make):
    graph = random_graph(40, 200, dtype=torch.float32)
    strided = [torch.stack((part, part), 1)[:, 0] for part in (graph.offset, graph.neighbors, graph.weights)]
    assert all(tensor.is_contiguous() for tensor in make(*strided).tensors().values())


@pytest.mark.parametrize("layout", ["sell", "dcsr", "virtual"])
def test_a_fresh_layout_compiles(layout):
    graph = tg.Graph.from_edges([0, 1, 2], [1, 2, 0]).to_format(layout)
    data = torch.rand(3, 2)
    torch.compiler.reset()
    compiled = torch.compile(lambda data: tg.aggregate(graph, data), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(data), tg.aggregate(graph, data))
