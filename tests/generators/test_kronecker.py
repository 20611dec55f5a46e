"""Synthetic graphs: the same on every machine, and of the shape of their models."""

import zlib

import pytest
import torch

from tgraph.core.building import sorting
from tgraph.errors import ArgumentError
from tgraph.generators import chunks, grid2d, rmat, uniform
from tgraph.generators.kronecker import _rmat_edges


def checksum(graph) -> int:
    """CRC-32 over the little-endian bytes of all tensors."""
    tensors = (graph.offset, graph.neighbors, graph.weights)
    data = b"".join(t.numpy().astype(f"<i{t.element_size()}").tobytes() for t in tensors if t is not None)
    return zlib.crc32(data)


# Computed once. They change only if the generators do, and then every published measurement on them is void.
GOLDEN = [
    (lambda: rmat(0), 0xECBB4B55),
    (lambda: rmat(8), 0x61B283A4),
    (lambda: rmat(11, 7, seed=5, directed=True, weighted=True), 0xAA5852F7),
    (lambda: rmat(13, weighted=True), 0x9F8880F0),
    (lambda: uniform(8), 0x7512AF37),
    (lambda: uniform(11, 7, seed=5, directed=True, weighted=True), 0xAD024DB1),
    (lambda: uniform(13, weighted=True), 0x4EAB7B9C),
    (lambda: grid2d(5, 7), 0x952BC9B9),
    (lambda: grid2d(100, 30, seed=3, weighted=True), 0xC075827C),
]


@pytest.mark.parametrize(("build", "expected"), GOLDEN)
def test_graphs_are_the_same_on_every_machine(build, expected):
    assert checksum(build()) == expected


def splitmix64(state: int) -> int:
    """The reference: one output of splitmix64 for a state that has been advanced."""
    mask = 2**64 - 1
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & mask
    state = (state ^ state >> 27) * 0x94D049BB133111EB & mask
    return state ^ state >> 31


def test_rmat_edges_follow_the_recursive_definition():
    """Edge by edge and level by level, in plain integers."""
    scale, key = 5, 99
    src, dst = _rmat_edges(key, scale, 10, 60)
    for edge in range(10, 60):
        u = v = 0
        for level in range(scale):
            number = edge * ((scale + 1) // 2) + level // 2
            word = splitmix64((key + (number + 1) * 0x9E3779B97F4A7C15) % 2**64)
            draw = (word >> 32 if level % 2 == 0 else word % 2**32) / 2**32
            u = 2 * u + (draw >= 0.57 + 0.19)
            v = 2 * v + (0.57 <= draw < 0.57 + 0.19 or draw >= 0.57 + 0.19 + 0.19)
        assert (src[edge - 10], dst[edge - 10]) == (u, v)


@pytest.mark.parametrize("generate", [rmat, uniform])
def test_edges_do_not_depend_on_how_they_are_cut_into_chunks(generate, monkeypatch):
    whole = generate(9, seed=2, weighted=True)
    monkeypatch.setattr(chunks, "CHUNK", 100)
    assert checksum(generate(9, seed=2, weighted=True)) == checksum(whole)


def test_rmat_is_skewed_and_uniform_is_not():
    skewed, even = rmat(13), uniform(13)
    assert skewed.out_degree.max() > 40 * skewed.out_degree.double().mean()
    assert even.out_degree.max() < 3 * even.out_degree.double().mean()
    assert (skewed.out_degree == 0).sum() > 8192 * 0.2
    hubs = skewed.out_degree.topk(50).indices.double()
    assert 0.3 < hubs.mean() / 8192 < 0.7  # shuffled ids: the hubs are not the lowest


@pytest.mark.parametrize("generate", [rmat, uniform])
@pytest.mark.parametrize("directed", [False, True])
def test_sizes_and_simplicity(generate, directed):
    graph = generate(10, 8, directed=directed)
    assert graph.num_vertices == 1024 and graph.directed == directed and graph.weights is None
    assert 0.6 * 8192 < graph.num_edges <= 8192
    assert graph.num_self_loops == 0
    sorting.merge_parallel(graph.offset, graph.neighbors, None, "error")
    if not directed:
        assert torch.equal(sorting.transpose(graph.offset, graph.neighbors)[1], graph.neighbors)


@pytest.mark.parametrize("generate", [rmat, uniform])
def test_seeds_give_different_graphs(generate):
    assert len({checksum(generate(8, seed=seed)) for seed in (0, 1, -1, 2**64 - 2)}) == 4


@pytest.mark.parametrize("build", [lambda: rmat(10, weighted=True), lambda: uniform(10, weighted=True)])
def test_weights_are_even_in_their_range_and_symmetric(build):
    graph = build()
    weights = graph.weights
    assert weights.dtype == torch.int32
    assert weights.min() == 1 and weights.max() == 255 and 124 < weights.double().mean() < 132
    order = sorting.transpose(graph.offset, graph.neighbors, permutation=True)[2]
    assert torch.equal(weights[order], weights)


def test_directed_weights_tell_the_directions_apart():
    graph = uniform(6, 30, directed=True, weighted=True)
    dense = torch.zeros(64, 64, dtype=torch.int32)
    dense[sorting.expand_rows(graph.offset), graph.neighbors.long()] = graph.weights
    both = (dense > 0) & (dense.T > 0)
    assert both.any() and (dense[both] != dense.T[both]).double().mean() > 0.9


def test_weights_leave_the_structure_as_it_is():
    plain, weighted = rmat(9), rmat(9, weighted=True)
    assert torch.equal(plain.offset, weighted.offset) and torch.equal(plain.neighbors, weighted.neighbors)


@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (0, 5), (1, 1), (1, 6), (4, 1), (3, 4)])
def test_grid2d(rows, columns):
    graph = grid2d(rows, columns)
    expected = [
        [v for v in (v - columns, v - (c > 0), v + (c < columns - 1), v + columns) if 0 <= v < rows * columns]
        for r in range(rows)
        for c, v in [(c, r * columns + c) for c in range(columns)]
    ]
    expected = [sorted({u for u in row if u != v}) for v, row in enumerate(expected)]
    assert graph.num_vertices == rows * columns and not graph.directed
    assert [row.tolist() for row in graph.neighbors.split(graph.offset.diff().tolist())] == expected


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: rmat(-1), "scale: -1 is not in 0..31"),
        (lambda: uniform(32), "scale: 32 is not in 0..31"),
        (lambda: rmat(3, -2), "edge_factor: -2 is negative"),
        (lambda: grid2d(-1, 3), "rows, columns: got -1 x 3"),
    ],
)
def test_wrong_arguments(build, message):
    with pytest.raises(ArgumentError, match=message):
        build()
