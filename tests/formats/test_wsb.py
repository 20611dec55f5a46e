"""Tiles with bitmaps: what they are made of, with the compiled kernels and without, and where they pay."""

import pytest
import scipy.sparse
import torch
from hypothesis import given
from strategies import graphs, random_graph

import tgraph as tg
from tgraph.core.system import native
from tgraph.errors import ArgumentError
from tgraph.formats import CSR, WSB
from tgraph.kernels.native.aggregation import tiles as compiled
from tgraph.kernels.operators.aggregation import tiles as portable
from tgraph.kernels.operators.aggregation.tiles import HEIGHT, WIDTH

needs_native = pytest.mark.skipif(native.load() is None, reason="the native kernels are not installed")
WEIGHTED = graphs(dtypes=(None, torch.float32, torch.int64))


def cliques(count, size=16):
    """Disjoint ones with self-loops."""
    return tg.Graph.from_edges(*torch.block_diag(*[torch.ones(size, size)] * count).nonzero().T)


def tiled(graph, **options):
    return WSB.from_graph(graph, min_density=0, **options)


def same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert (one is None) == (other is None)
        assert one is None or (one.dtype == other.dtype and torch.equal(one, other))


# ---- what is stored -------------------------------------------------------------------------------------------------


def test_tiles_by_hand(kernels):
    """Row 0 has columns 1, 1 and 5, row 2 has 0 to 7 and 9, and row 17 has 3."""
    src, dst = [0, 0, 0, *[2] * 9, 17], [1, 1, 5, *range(8), 9, 3]
    graph = tg.Graph.from_edges(src, dst, torch.arange(13.0) + 1, num_vertices=18)
    tiles = tiled(graph).tiles
    assert tiles.offset.tolist() == [0, 2, 3]
    assert tiles.columns.tolist() == [0, 1, 1, 2, 3, 4, 5, 6, *[7] + [9] * 7, *[3] * 8]
    rows = torch.zeros((3, 16), dtype=torch.uint8)
    rows[0, 0], rows[0, 2], rows[1, 2], rows[2, 1] = 0b01000110, 0b11111011, 0b11, 1
    assert torch.equal(tiles.rows, rows)
    assert tiles.start.tolist() == [0, 10, 12, 13]
    assert tiles.weights.tolist() == graph.weights.tolist()  # each row has but one tile that follows another row's


@needs_native
@given(graph=WEIGHTED)
def test_compiled_and_portable_make_and_list_the_same(graph):
    csr = (graph.offset, graph.neighbors, graph.weights)
    tiles = compiled.tiles_of(*csr)
    same(tiles[:-1], portable.tiles_of.portable(*csr)[:-1])
    same(compiled.arcs_of(tiles, 0, len(tiles.offset) - 1), csr)
    same(portable.arcs_of(tiles, None), csr)
    assert torch.equal(compiled.degrees(tiles), graph.out_degree)
    assert torch.equal(portable.tile_degrees.portable(tiles), graph.out_degree)


@needs_native
@pytest.mark.parametrize("dtype", [None, torch.float64])
def test_large_windows(dtype):
    """Hubs, and windows of many tiles and of none."""
    graph = random_graph(900, 20_000, dtype=dtype)
    csr = (graph.offset, graph.neighbors, graph.weights)
    tiles = compiled.tiles_of(*csr)
    same(tiles[:-1], portable.tiles_of.portable(*csr)[:-1])
    part = compiled.arcs_of(tiles, 3, 7)
    assert torch.equal(part[1], graph.neighbors[graph.offset[3 * HEIGHT] : graph.offset[7 * HEIGHT]])
    wide = (graph.offset, graph.neighbors.long(), graph.weights)
    same(compiled.arcs_of(compiled.tiles_of(*wide), 0, len(tiles.offset) - 1), wide)


def test_bits():
    words = torch.tensor([0, 1, -1, 2**63 - 1, -(2**63), 0x0123456789ABCDEF])
    assert portable.count_bits(words).tolist() == [0, 1, 64, 63, 1, 32]
    bitmap, bits = torch.tensor([-1, -1]), torch.tensor([0, 1, 63, 64, 127])
    assert portable.count_before(bitmap, torch.zeros_like(bits), bits).tolist() == bits.tolist()


# ---- pulling --------------------------------------------------------------------------------------------------------


@given(graph=graphs(min_vertices=1, dtypes=(None, torch.float64)))
def test_sums_are_those_of_scipy(graph):
    values = torch.ones(graph.num_arcs, dtype=torch.float64) if graph.weights is None else graph.weights
    matrix = scipy.sparse.csr_matrix((values, graph.neighbors, graph.offset), (graph.num_vertices,) * 2)
    data = torch.arange(3.0 * graph.num_vertices, dtype=torch.float64).view(-1, 3)
    layout, edge = tiled(graph), "copy" if graph.weights is None else "mul"
    for other, expected in ((layout, matrix @ data.numpy()), (layout.transposed(), matrix.T @ data.numpy())):
        torch.testing.assert_close(other.pull(data, "sum", edge), torch.from_numpy(expected))
        torch.testing.assert_close(portable.multiply(other.tiles, data), torch.from_numpy(expected))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_products_in_pieces(monkeypatch, dtype):
    """Pieces that end in the middle of a window, and windows that lie in one."""
    graph = random_graph(330, 3000, dtype=dtype)
    data = torch.rand((330, 5), dtype=torch.float64).to(dtype)
    layout = tiled(graph)
    whole = portable.multiply(layout.tiles, data)
    monkeypatch.setattr(portable, "CHUNK", 3 * HEIGHT * 5)
    torch.testing.assert_close(portable.multiply(layout.tiles, data), whole)
    exact = tg.Graph(graph.offset, graph.neighbors, graph.weights.double())
    wanted = CSR.from_graph(exact).pull(data.double(), "sum", "mul")
    tolerance = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(dtype, 1e-4)
    torch.testing.assert_close(whole.double(), wanted, rtol=tolerance, atol=tolerance)


@needs_native
def test_rows_are_listed_in_pieces(monkeypatch):
    graph = random_graph(330, 3000, dtype=torch.float32)
    data = torch.rand((330, 5))
    for reduce, edge, dtype in (("max", "mul", torch.float32), ("sum", "add", torch.bfloat16)):
        whole = tiled(graph).pull(data.to(dtype), reduce, edge)
        with monkeypatch.context() as patch:
            patch.setattr(portable, "LISTED", 3)
            assert torch.equal(tiled(graph).pull(data.to(dtype), reduce, edge), whole)


def test_sums_of_16_bits_round_once(kernels):
    """256 and 128 ones are more than bfloat16 counts to one by one; the layout gets them as they are."""
    assert WSB.rounds_once
    graph = cliques(1, 384)
    data = torch.ones((384, 8), dtype=torch.bfloat16)
    held = graph.to_format("wsb")
    assert (tg.aggregate(held, data) == 384).all()
    means = tg.aggregate(held, torch.full((384, 8), 1000.0, dtype=torch.float16), "mean")
    assert (means == 1000).all()  # whose sum no float16 holds


@pytest.mark.covering(1)
@pytest.mark.parametrize("directed", [True, False])
def test_gradients_are_sums_of_the_transpose(kernels, directed):
    graph = random_graph(40, 200, dtype=torch.float64)
    graph = graph if directed else graph.to_undirected()
    held = graph.to_format("wsb", min_density=0)
    assert (held.transpose() is held) == (not directed)
    data = torch.rand((40, 9), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: tg.aggregate(held, x, edge="mul"), data)
    assert "arcs" not in held.caches


# ---- what pays, and what is refused ---------------------------------------------------------------------------------


def test_density():
    full = WSB.from_graph(cliques(3))
    assert full.fill == 1 and full.nbytes == 3 * 2 * 48 + 4 * 8
    assert full.nbytes < cliques(3).nbytes / 9
    assert tiled(tg.Graph.from_edges([0], [0], num_vertices=40)).fill == 1 / (HEIGHT * WIDTH)
    assert tiled(tg.Graph.from_edges([], [], num_vertices=40)).fill == 1


def test_sparse_tiles_are_refused_but_for_the_transpose():
    star = tg.Graph.from_edges([0] * 160, list(range(160)))
    with pytest.raises(ArgumentError, match=r"8.0 arcs each, a density of 0.062 where 0.125 .*min_density="):
        WSB.from_graph(star)
    rows = tg.Graph.from_edges(list(range(160)), [0] * 160)
    assert WSB.from_graph(rows).transposed().fill == 1 / 16
    assert WSB.from_graph(star, min_density=0.05).num_arcs == 160


@pytest.mark.parametrize("density", [-0.1, 1.1, "much", float("nan")])
def test_no_density(density):
    with pytest.raises(ArgumentError, match="min_density: expected a share"):
        WSB.from_graph(cliques(1), min_density=density)


def test_rows_that_descend():
    graph = tg.Graph(torch.tensor([0, 2, 2]), torch.tensor([1, 0]))
    with pytest.raises(ArgumentError, match=r"a row of it descends.*from_csr"):
        WSB.from_graph(graph)


def test_faults_of_stored_tensors():
    layout = tiled(random_graph(40, 300, dtype=torch.float32))
    tensors, options = layout.tensors(), layout.options()
    beyond = tensors["bitmap"].clone()
    beyond[-1] ^= 1 << 60  # a row of the last window that there is not
    falling = tensors["columns"].flip(0)
    later = tensors["start"].clone()
    later[1] += 1
    for fault, damaged in {
        "bitmap: has arcs of rows beyond the last, 39": {"bitmap": beyond},
        "columns: do not ascend": {"columns": falling},
        "start: does not count": {"start": later},
        "columns: expected 8": {"columns": tensors["columns"][:-8]},
    }.items():
        arcs = int(portable.count_bits(damaged.get("bitmap", tensors["bitmap"])).sum())
        with pytest.raises(ArgumentError, match=fault):
            WSB.from_tensors({**tensors, **damaged}, {**options, "num_arcs": arcs})
    for lacking in ("start", "weights"):
        with pytest.raises(ArgumentError, match="start: weights have it"):
            WSB.from_tensors({name: tensors[name] for name in tensors if name != lacking}, options)
    with pytest.raises(ArgumentError, match="bitmap: has 300 arcs, expected 299"):
        WSB.from_tensors(tensors, {**options, "num_arcs": 299})


@needs_native
def test_kernels_refuse_what_they_cannot_read():
    kernels, tiles = native.load(), tiled(cliques(2)).tiles
    offset, neighbors = cliques(2).offset, cliques(2).neighbors
    columns, bitmap = tiles.columns.clone(), tiles.bitmap.clone()
    data = torch.ones(64)
    counts, listed = torch.empty(2, dtype=torch.int64), torch.empty_like(neighbors)
    for call, *given_ in (
        (kernels.count_tile_columns, offset.flip(0), neighbors, counts),
        (kernels.count_tile_columns, offset, neighbors[:-1], counts),
        (kernels.count_tile_columns, offset, neighbors, counts[:1]),
        (kernels.fill_tiles, offset, neighbors, tiles.offset[:-1], columns, bitmap, None),
        (kernels.fill_tiles, offset, neighbors, tiles.offset, columns[:-1], bitmap, None),
        (kernels.fill_tiles, offset, neighbors, tiles.offset, columns, bitmap, counts),
        (kernels.count_tile_rows, tiles.offset, bitmap[:-1], 0, counts),
        (kernels.count_tile_rows, tiles.offset, bitmap, 2, counts),
        (kernels.count_tile_rows, tiles.offset, bitmap, -1, counts),
        (kernels.list_tile_rows, tiles.offset, columns[:-1], bitmap, None, 0, offset, listed, None),
        (kernels.list_tile_rows, tiles.offset, columns, bitmap, None, 1, offset, listed, None),
        (kernels.list_tile_rows, tiles.offset, columns, bitmap, None, 0, offset, listed, torch.empty(512).long()),
        (kernels.sum_tiles_float32, tiles.offset, columns[:-1], bitmap, None, None, data, 2, torch.empty(64)),
        (kernels.sum_tiles_float32, tiles.offset, columns, bitmap, None, None, data, 2, torch.empty(62)),
        (kernels.sum_tiles_float32, tiles.offset, columns, bitmap, None, None, data, 3, torch.empty(64)),
        (kernels.sum_tiles_float32, tiles.offset, columns, bitmap, None, torch.ones(512), data, 2, torch.empty(64)),
        (kernels.sum_tiles_float32, tiles.offset, columns, bitmap, counts, torch.ones(512), data, 2, torch.empty(64)),
    ):
        with pytest.raises(ValueError, match="expected"):
            call(*given_)
