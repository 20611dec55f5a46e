"""The CUDA `aggregate` against the portable one: every dtype, reduction, edge operation, bin and selection."""

import itertools
import math
import mmap

import pytest
import torch
from backends import portable
from hypothesis import given, settings
from hypothesis import strategies as st
from native_samples import pull
from pull_samples import BORDERS, CLOSE, rows_of_degrees, subgraphs
from strategies import graphs, random_data, random_graph

import tgraph as tg
from tgraph.core.subgraph import arc_weights, whole
from tgraph.kernels.call import Call
from tgraph.kernels.cuda import aggregation, runtime
from tgraph.kernels.cuda import pull as kernels
from tgraph.kernels.cuda.bins import DegreeBins, bins_of, find_bins
from tgraph.kernels.cuda.pull import TYPES, Layout, Rows, layout_of
from tgraph.kernels.reductions import EDGE_OPERATIONS, REDUCTIONS

DTYPES = tuple(TYPES)
FLOATS = (torch.float32, torch.float64)
NARROW_INTEGERS = (torch.bool, torch.uint8, torch.int8, torch.int16)
COLUMNS = ((), (1,), (3,), (4,), (8,), (33,))


def prepare(device, host, *dtypes):
    """Compile all kernels of some dtypes at once."""
    if device.type == "cpu":
        names = {TYPES[dtype] for dtype in dtypes}
        host.prepare(kernel for kernel in kernels.instantiations() if kernel.types[0] in names)


def agree(sub, here, data, reduce, edge="copy", weights=None, dtype=None):
    """The same is received in `here`, the subgraph on the device, as the portable backend computes for `sub`."""
    reduction, device = REDUCTIONS[reduce], here.graph.device
    expected = portable.aggregate(sub, data, reduction, edge, arc_weights(sub, data, edge, weights), dtype)
    data = data.to(device)
    held = arc_weights(here, data, edge, weights.to(device) if isinstance(weights, torch.Tensor) else weights)
    assert aggregation.refuses(Call("aggregate", data, reduction, edge, held, dtype=dtype)) is None
    found = aggregation.aggregate(here, data, reduction, edge, held, dtype)
    assert (found.vertices is None) == (expected.vertices is None)
    assert found.vertices is None or torch.equal(found.vertices.cpu(), expected.vertices)
    adds = expected.values.is_floating_point() and reduce in ("sum", "mean", "prod")
    tolerance = CLOSE[expected.values.dtype] if adds else 0
    torch.testing.assert_close(found.values.cpu(), expected.values, rtol=tolerance, atol=tolerance, equal_nan=True)
    return found.values


def agree_on(graph, device, *arguments, mode="pull"):
    """The same for the whole graph."""
    there = graph.to(device)
    agree(whole(graph, graph.everything(), mode), whole(there, there.everything(), mode), *arguments)


def pairs(graph, device):
    """Subgraphs of every kind, on the CPU and on the device."""
    return list(zip(subgraphs(graph), subgraphs(graph.to(device)), strict=True))


# ---- the same as the portable operators -----------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", COLUMNS)
def test_rows_around_every_border(device, host, small_bins, dtype, columns):
    prepare(device, host, dtype)
    graph = rows_of_degrees(BORDERS, dtype)
    data = random_data((len(BORDERS), *columns), dtype)
    for reduce in ("sum", "min", "max", "prod"):
        for edge in ("copy", "mul"):
            agree_on(graph, device, data, reduce, edge)
    agree_on(graph, device, data, "mean")


@pytest.mark.parametrize("columns", [(), (4,), (5,)])
def test_the_borders_that_graphs_have(device, host, columns):
    prepare(device, host, torch.float32)
    degrees = [0, 4, 5, 32, 33, 512, 513, 2048, 2049, 7000]
    graph = rows_of_degrees(degrees, torch.float32)
    for reduce, edge in (("sum", "copy"), ("mean", "mul"), ("min", "add"), ("max", "copy")):
        agree_on(graph, device, random_data((10, *columns), torch.float32), reduce, edge)


@pytest.mark.parametrize("dtype", [*DTYPES, *NARROW_INTEGERS])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_every_selection(device, host, dtype, reduce):
    prepare(device, host, *DTYPES if dtype in NARROW_INTEGERS else (dtype,), torch.int32, torch.float32)
    graph = random_graph(12, 60)
    for shape in ((), (2, 5)):
        for sub, here in pairs(graph, device):
            agree(sub, here, random_data((12, *shape), dtype), reduce)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("edge", [edge for edge in EDGE_OPERATIONS if edge != "copy"])
def test_weights(device, host, small_bins, dtype, edge):
    """One for all, one per arc, one per head, one per column, and such as are spread."""
    prepare(device, host, dtype, torch.float32)
    graph, random = rows_of_degrees((0, 3, 7, 90, 200, 0), dtype), random_data
    m = graph.num_arcs
    reductions = ("sum", "mean", "min", "prod") if dtype.is_floating_point else ("sum", "min", "prod")
    for shape, wide in [
        ((), ()),
        ((3,), ()),
        ((8,), (8,)),
        ((4, 8), (4,)),
        ((4, 3), (4,)),
        ((4, 3), (1, 3)),
        ((1,), (4,)),
    ]:
        for reduce in reductions:
            given = random((6, *shape), dtype), reduce, edge, random((m, *wide), dtype)
            agree_on(graph, device, *given, mode="push" if reduce == "sum" else "pull")
    agree_on(graph, device, random((6, 3), dtype), "sum", edge, 2, mode="push")
    agree_on(graph, device, random((6, 3), dtype), "sum", edge, 0.5)
    agree_on(graph, device, random((6, 3), dtype), "any", edge, 0.5)


@pytest.mark.parametrize("edge", ["copy", "mul"])
def test_mixed_dtypes(device, host, edge):
    prepare(device, host, *DTYPES)
    graph = random_graph(12, 60, dtype=torch.float32)
    for data, weights in itertools.product((*DTYPES, torch.bool), (*FLOATS, torch.int32, torch.int64, torch.bfloat16)):
        others = None if edge == "copy" else random_data((graph.num_arcs,), weights)
        for sub, here in pairs(graph, device)[:2]:
            agree(sub, here, random_data((12, 3), data), "sum", edge, others)
            agree(sub, here, random_data((12,), data), "sum", edge, others, torch.float64)
            if data.is_floating_point:
                agree(sub, here, random_data((12, 3), data), "mean", edge, others, torch.float64)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_every_narrow_number_goes_through_unchanged(device, host, dtype):
    """Normal ones, those below, infinite ones and NaN; and what float32 rounds to them."""
    prepare(device, host, dtype)
    numbers = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype)
    n, wide = len(numbers), 2048
    columns = numbers.view(-1, wide)
    ring = torch.arange(len(columns))
    graph = tg.Graph.from_edges(ring, (ring + 1) % len(ring)).to(device)
    found = _aggregate(graph, columns.to(device), "max").cpu().roll(-1, 0)
    assert torch.equal(found.isnan(), columns.isnan())
    assert torch.equal(found[~columns.isnan()], columns[~columns.isnan()])
    pairs = tg.Graph.from_edges(ring.repeat(2), torch.cat((ring, (ring + 1) % len(ring)))).to(device)
    sums = (columns.float() + columns.float().roll(1, 0)).to(dtype)
    assert n == sums.numel()
    assert torch.equal(_aggregate(pairs, columns.to(device), "sum").cpu().nan_to_num(7.0), sums.nan_to_num(7.0))


@pytest.mark.parametrize("dtype", [*FLOATS, torch.float16, torch.bfloat16])
def test_nan_and_infinities(device, host, small_bins, dtype):
    prepare(device, host, dtype)
    graph = rows_of_degrees((0, 1, 5, 30, 90, 200, 1), dtype)
    for number, columns in itertools.product((torch.nan, torch.inf, -torch.inf), ((), (8,))):
        data = random_data((7, *columns), dtype)
        data[4] = number
        for reduce in ("sum", "mean", "min", "max", "prod"):
            agree_on(graph, device, data, reduce)
        for edge in ("min", "max"):
            agree_on(graph, device, data, "max", edge)


def test_sums_of_int32_do_not_wrap_and_those_of_int64_do(device, host, small_bins):
    prepare(device, host, torch.int32, torch.int64)
    graph = rows_of_degrees((0, 4, 100, 500))
    for dtype in (torch.int32, torch.int64):
        data = torch.full((4,), torch.iinfo(dtype).max, dtype=dtype)
        weights = torch.full((graph.num_arcs,), 3, dtype=dtype)
        for reduce in ("sum", "prod", "min", "max"):
            agree_on(graph, device, data, reduce)
            agree_on(graph, device, data, reduce, "mul", weights)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("columns", [(), (3,), (0,)])
def test_graphs_without_arcs(device, host, n, columns):
    prepare(device, host, torch.float32)
    graph = tg.Graph.from_edges([], [], num_vertices=n).to(device)
    for reduce in REDUCTIONS:
        found = _aggregate(graph, torch.ones((n, *columns), device=device), reduce)
        identity = 0 if reduce == "mean" else REDUCTIONS[reduce].identity(torch.float32)
        assert found.shape == (n, *columns) and bool((found == identity).all())
    if n:
        loop = tg.Graph.from_edges([0], [0], [2.0], num_vertices=n).to(device)
        assert bool((_aggregate(loop, torch.ones((n, *columns), device=device), "sum")[0] == 1).all())


@settings(max_examples=30)
@given(graphs(dtypes=(torch.float32,)), st.sampled_from(list(REDUCTIONS)), st.sampled_from([(), (3,)]))
def test_any_graph(host, graph, reduce, columns):
    prepare(torch.device("cpu"), host, torch.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "launch", host.launch)
        for mode in ("pull", "push"):
            data = random_data((graph.num_vertices, *columns), torch.float32)
            agree_on(graph, graph.device, data, reduce, mode=mode)


def test_neighbors_of_int64(device, host, small_bins):
    prepare(device, host, torch.float32, torch.int64)
    graph = rows_of_degrees(BORDERS, torch.float32)
    reverse = graph.transpose()
    held = tg.neighbor_select(tg.Graph(reverse.offset, reverse.neighbors, reverse.weights), None)
    held.stored_neighbors = held.stored_neighbors.to(device, torch.int64)
    held.stored_offset = held.stored_offset.to(device)
    here = pull(graph.to(device), graph.to(device).everything())
    here.selection = held
    for columns, dtype in itertools.product(((), (3,), (4,)), (torch.float32, torch.int64)):
        for reduce in ("sum", "min", "prod"):
            agree(pull(graph, graph.everything()), here, random_data((len(BORDERS), *columns), dtype), reduce)


def test_data_that_is_not_contiguous_or_not_aligned(device, host):
    prepare(device, host, torch.float32)
    graph = rows_of_degrees((0, 3, 7, 40), torch.float32)
    wide = random_data((8, 16), torch.float32)
    for data in (
        wide[::2, ::2],
        wide[:4, 3:7],
        wide.flatten()[1:33].view(4, 8),
        wide[:4].t()[:4],
        wide[:1].expand(4, -1),
    ):
        for edge in ("copy", "mul"):
            agree_on(graph, device, data, "sum", edge)
            own = random_data((graph.num_arcs * data.shape[1] + 1,), torch.float32)[1:].view(-1, data.shape[1])
            agree_on(graph, device, data, "sum", edge, own)


def _aggregate(graph, data, reduce):
    sub = whole(graph, graph.everything(), "pull")
    return aggregation.aggregate(sub, data, REDUCTIONS[reduce], "copy", None).values


# ---- argreduce ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("columns", [(), (3,), (8,)])
@pytest.mark.parametrize("reduce", ["min", "max"])
def test_the_first_of_equal_messages_is_chosen(device, host, small_bins, dtype, columns, reduce):
    prepare(device, host, dtype)
    graph = rows_of_degrees(BORDERS, dtype)
    data = torch.randint(3, (len(BORDERS), *columns), generator=torch.Generator().manual_seed(1)).to(dtype)
    worst = REDUCTIONS[reduce].identity(dtype)
    everything = [data, data.masked_fill(data == 0, torch.nan), torch.full_like(data, worst)]
    for values, edge in zip(everything, ("copy", "add", "mul"), strict=True):
        sub = pull(graph, graph.everything())
        weights = torch.ones(graph.num_arcs, dtype=dtype)
        there = pull(graph.to(device), graph.to(device).everything())
        best, arcs = best_arcs(there, values.to(device), reduce, edge, weights.to(device))
        expected = portable.aggregate(sub, values, REDUCTIONS[reduce], edge, weights).values
        assert torch.equal(best.cpu().nan_to_num(7.0), expected.nan_to_num(7.0))
        messages = values[sub.neighbors] + (edge == "add")
        assert torch.equal(arcs.cpu(), first_argreduce(sub.offset, messages, expected))


def best_arcs(sub, data, reduce, edge="copy", weights=None):
    """The min or max and its argmin or argmax: (values, arcs), both of the shape of the data."""
    rows, worst = aggregation.rows_of(sub, None)[0], REDUCTIONS[reduce].identity(data.dtype)
    weights = None if edge == "copy" else weights[:, None]
    columns = data if data.dim() > 1 else data[:, None]
    best, arcs = kernels.pull(rows, columns, reduce, edge, weights, identity=worst, argreduce=True)
    return best.view(data.shape), arcs.view(data.shape)


def first_argreduce(offset, messages, best):
    """For each row the first arc whose message is the best, -1 where there is none."""
    won = torch.full(best.shape, -1)
    for row in range(len(offset) - 1):
        segment = messages[offset[row] : offset[row + 1]]
        if len(segment):
            equal = (segment == best[row]) | (segment.isnan() & best[row].isnan())
            won[row] = offset[row] + equal.to(torch.int8).argmax(0)
    return won


def test_inactive_sources_are_not_chosen(device, host, small_bins):
    prepare(device, host, torch.float32)
    graph = rows_of_degrees(BORDERS).to(device)
    heard = torch.arange(len(BORDERS), device=device) % 3 == 0
    sub = pull(graph, graph.select(heard))
    arcs = best_arcs(sub, torch.zeros(len(BORDERS), device=device), "min")[1]
    assert bool(heard[sub.neighbors[arcs[arcs >= 0]]].all())
    silent = pull(graph, graph.nothing())
    best, arcs = best_arcs(silent, torch.zeros(len(BORDERS), device=device), "max")
    assert bool((arcs == -1).all()) and bool((best == -torch.inf).all())


# ---- how the work is shared -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max"])
def test_the_order_of_blocks_and_threads_does_not_matter(host, monkeypatch, small_bins, reduce):
    prepare(torch.device("cpu"), host, torch.float32)
    monkeypatch.setattr(runtime, "launch", host.launch)
    graph = rows_of_degrees(BORDERS)
    results = []
    for seed, columns in itertools.product((0, 1, 2), ((), (4,), (33,))):
        monkeypatch.setattr(host, "seed", seed)
        results.append(_aggregate(graph, random_data((len(BORDERS), *columns), torch.float32), reduce))
    for first, *others in zip(results[:3], results[3:6], results[6:], strict=True):
        assert all(torch.equal(first, other) for other in others)


@pytest.mark.parametrize("columns", [(), (9,), (140,), (300,)])
def test_grids_that_are_too_large_for_one_launch(device, host, monkeypatch, small_bins, columns):
    monkeypatch.setattr(kernels, "MAX_GRID", (2**31 - 1 if device.type == "cuda" else 3, 2))
    prepare(device, host, torch.float32)
    graph = rows_of_degrees(BORDERS * 3, torch.float32)
    for reduce, edge in (("sum", "mul"), ("max", "copy")):
        agree_on(graph, device, random_data((len(BORDERS) * 3, *columns), torch.float32), reduce, edge)


def test_a_launch_that_nothing_needs_is_left_out(host, monkeypatch):
    prepare(torch.device("cpu"), host, torch.float32)
    launched = []
    monkeypatch.setattr(runtime, "launch", lambda kernel, *rest: launched.append(kernel.name))
    _aggregate(rows_of_degrees([3] * 8), torch.ones(8), "sum")
    assert launched == ["pull_rows"]
    launched.clear()
    _aggregate(rows_of_degrees([0, 3, 20, 100, 600]), torch.ones(5), "sum")
    assert launched == ["pull_rows"] * 3 + ["pull_tiles"]
    launched.clear()
    _aggregate(rows_of_degrees([0, 3, 20, 100, 2500]), torch.ones(5, 128), "sum")
    assert launched == ["pull_rows", "pull_tiles", "join_tiles"]


def test_threads_read_16_bytes_where_they_can():
    def layout(dtype, columns, heads=None, reduce="sum", offset=0):
        data = torch.empty(4 * columns + offset, dtype=dtype)[offset:].view(4, columns)
        return layout_of(data, None if heads is None else torch.empty((7, heads), dtype=dtype), reduce)

    assert layout(torch.float32, 1) == Layout(1, 1)
    assert layout(torch.float32, 12) == Layout(4, 4)
    assert layout(torch.float32, 12, offset=1) == Layout(1, 16)
    assert layout(torch.float32, 13) == Layout(1, 16)
    assert layout(torch.float32, 512) == Layout(4, 32)
    assert layout(torch.bfloat16, 128) == Layout(8, 16)
    assert layout(torch.float64, 128, heads=1) == layout(torch.float64, 128, heads=128) == Layout(2, 32)
    assert layout(torch.float32, 24, heads=3) == Layout(4, 8)
    assert layout(torch.float32, 24, heads=12) == Layout(1, 32)
    assert layout(torch.float32, 128, reduce="prod") == Layout(1, 32)


def test_bins_are_found_once_for_each_graph():
    graph = rows_of_degrees([3, 0, 700, 5, 9000])
    sub, reverse = whole(graph, graph.everything(), "pull"), graph.transpose()
    found = aggregation.rows_of(sub, None)[0].bins
    assert found is aggregation.rows_of(sub, None)[0].bins
    assert reverse.caches["cuda_degree_bins"] == found.nbytes > 0
    first = [bins_of(reverse, reverse.offset[:4], torch.int32) for _ in range(2)]
    assert first[0] is first[1] is not found and first[0].num_rows == 3
    assert found.rows.tolist() == [0, 1, 3] and found.counts == (2, 1, 0)
    assert found.tiles.tolist()[0] == [2, 3, 703, -1] and found.hubs.tolist() == [[4, 0, 5, 9000]]
    assert found.num_slots == 5 and len(found.tiles) == 6
    assert found.tiles[1:, 1].tolist() == [708 + 2048 * i for i in range(5)] and found.tiles[-1, 2] == 9708
    backwards = whole(graph, graph.everything(), "push")
    assert aggregation.rows_of(backwards, None)[0].bins is found
    assert find_bins(reverse.offset[:1], torch.int32).num_rows == 0


def test_a_row_has_no_more_tiles_than_can_be_joined_at_once(small_bins):
    found = find_bins(torch.tensor([0, 100_000, 100_041]), torch.int32)
    assert found.hubs.tolist() == [[0, 0, 5, 100_000]]
    assert found.tiles[:5, 2].tolist() == [20_000, 40_000, 60_000, 80_000, 100_000]
    assert found.tiles[5].tolist() == [1, 100_000, 100_041, -1]


# ---- more than 2^31 elements ----------------------------------------------------------------------------------------


def sparse(count, dtype):
    """A tensor of zeros that takes no memory until it is written."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    return torch.frombuffer(mmap.mmap(-1, count * dtype.itemsize, flags=flags), dtype=dtype)


def one_row(row, num_rows, tiles=()):
    """Bins of one row, which is reduced by a warp or by tiles; the others are not."""
    rows = torch.tensor([row] if not tiles else [], dtype=torch.int32)
    long = torch.tensor(tiles, dtype=torch.int64).view(-1, 4)
    return DegreeBins(num_rows, rows, (0, 0, len(rows)), long, torch.empty((0, 4), dtype=torch.int64), 0)


@pytest.fixture
def shim(host, monkeypatch):
    prepare(torch.device("cpu"), host, torch.float32)
    monkeypatch.setattr(runtime, "launch", host.launch)


@pytest.mark.parametrize("columns", [96, 97])
def test_data_of_more_than_2_to_31_numbers(shim, columns):
    n = 2**31 // columns + 5
    data = sparse(n * columns, torch.float32).view(n, columns)
    data[n - 1], data[n - 3] = 1, 2
    neighbors = torch.tensor([n - 1, n - 3, n - 1], dtype=torch.int32)
    for tiles in ((), ((0, 0, 3, -1),)):
        rows = Rows(torch.tensor([0, 3]), neighbors, one_row(0, 1, tiles))
        assert bool((kernels.pull(rows, data, "sum")[0] == 4).all())


@pytest.mark.parametrize("heads", [1, 4])
def test_more_than_2_to_31_arcs(shim, heads):
    m = 2**31 // heads + 8  # in one case their number, in the other that of their weights
    neighbors, weights = sparse(m, torch.int32), sparse(m * heads, torch.float32).view(m, heads)
    weights[-4:], neighbors[-1] = 3, 1
    offset, data = torch.tensor([0, m - 4, m]), torch.tensor([1.0, 10.0])[:, None].expand(2, 4)
    for tiles in ((), ((1, m - 4, m, -1),)):
        rows = Rows(offset, neighbors, one_row(1, 2, tiles))
        assert bool((kernels.pull(rows, data, "sum", "mul", weights)[0][1] == 39).all())
        best, arcs = kernels.pull(rows, data, "max", "mul", weights, identity=-math.inf, argreduce=True)
        assert bool((best[1] == 30).all()) and bool((arcs[1] == m - 1).all())


@pytest.mark.parametrize("columns", [96, 97])
def test_results_of_more_than_2_to_31_numbers(shim, monkeypatch, columns):
    n = 2**31 // columns + 5
    result = sparse(n * columns, torch.float32).view(n, columns)
    offset = sparse(n + 1, torch.int64)
    offset[n] = 3
    neighbors, data = torch.tensor([0, 1, 1], dtype=torch.int32), torch.tensor([[1.0], [10.0]]).expand(2, columns)
    allocate = torch.empty
    monkeypatch.setattr(
        torch, "empty", lambda size, **given: result if size == (n, columns) else allocate(size, **given)
    )
    for tiles in ((), ((n - 1, 0, 3, -1),)):
        found = kernels.pull(Rows(offset, neighbors, one_row(n - 1, n, tiles)), data, "sum")[0]
        assert bool((found[n - 1] == 21).all())
        result[n - 1] = 0


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_refusals():
    data, weights = torch.ones(4), torch.ones(7)

    def refusal(data, reduce="sum", edge="copy", weights=None):
        return aggregation.refuses(Call("aggregate", data, REDUCTIONS[reduce], edge, weights))

    assert refusal(data) is None and refusal(data, "sum", "mul", weights) is None
    assert "any" in refusal(data, "any", "mul", weights)
    assert "int64" in refusal(data.long(), "mean", "mul", weights.long())
    assert "int16" in refusal(data.short(), "min", "mul", weights.short())
    assert "float8" in refusal(data.to(torch.float8_e5m2))
