"""A torch_sparse.SparseTensor for an edge_index: the package's own where it is installed, or its twin."""

import contextlib
import gc
import weakref

import pytest
import torch
from nn_samples import agree, built, close, edges, features, layers

from tgraph import nn
from tgraph.core.building import sorting
from tgraph.errors import ArgumentError
from tgraph.nn.edge_index import adjacency_of


class Storage:
    """As torch_sparse.SparseStorage: sorted by row, then column, what is not given derived at first use."""

    def __init__(self, row, rowptr, col, value, sparse_sizes):
        self._row, self._rowptr, self._col, self._value, self._sizes = row, rowptr, col, value, sparse_sizes

    def rowptr(self):
        if self._rowptr is None:
            counts = torch.bincount(self._row, minlength=self._sizes[0])
            self._rowptr = torch.cat((counts.new_zeros(1), counts.cumsum(0)))
        return self._rowptr

    def row(self):
        if self._row is None:
            self._row = sorting.expand_rows(self._rowptr)
        return self._row

    def col(self):
        return self._col

    def value(self):
        return self._value

    def sparse_sizes(self):
        return self._sizes


class SparseTensor:
    """The public methods of torch_sparse.SparseTensor (Fey and Lenssen, 2019) that describe a matrix."""

    def __init__(self, row=None, rowptr=None, col=None, value=None, sparse_sizes=None, is_sorted=False):
        if row is not None and not is_sorted:
            order = torch.argsort(row * sparse_sizes[1] + col, stable=True)
            row, col, value = row[order], col[order], None if value is None else value[order]
        self.storage = Storage(row, rowptr, col, value, sparse_sizes)

    def coo(self):
        return self.storage.row(), self.storage.col(), self.storage.value()

    def csr(self):
        return self.storage.rowptr(), self.storage.col(), self.storage.value()

    def sparse_sizes(self):
        return self.storage.sparse_sizes()

    def t(self):
        row, col, value = self.coo()
        return type(self)(row=col, col=row, value=value, sparse_sizes=self.sparse_sizes()[::-1])

    def set_value(self, value, layout=None):
        changed = type(self)(sparse_sizes=self.sparse_sizes())
        changed.storage = Storage(
            self.storage.row(), self.storage.rowptr(), self.storage.col(), value, self.sparse_sizes()
        )
        return changed


with contextlib.suppress(ImportError, OSError):
    from torch_sparse import SparseTensor


def adj_t(edge_index, sizes, value=None):
    return SparseTensor(row=edge_index[1], col=edge_index[0], value=value, sparse_sizes=sizes)


def stored(matrix):
    row, column, _ = matrix.coo()
    return torch.stack((column, row))


def without_loops(kind):
    edge_index, n = edges(kind)
    return edge_index[:, edge_index[0] != edge_index[1]], n


@pytest.mark.parametrize("name", layers())
def test_layers_take_one(name):
    for kind in ("empty", "hub", "multi"):
        edge_index, n = without_loops(kind)
        matrix = adj_t(edge_index, (n, n))
        agree(layers()[name], layers()[name], features(n, 6), stored(matrix), given=matrix)


def test_its_transpose_goes_the_other_way():
    edge_index, n = edges("hub")
    matrix, layer, x = adj_t(edge_index, (n, n)), layers()["SAGEConv"], features(n, 6)
    close(layer(x, matrix.t()), layer(x, edge_index.flip(0)))
    with pytest.raises(ArgumentError, match="transpose the sparse matrix"):
        built(nn, "SAGEConv", (6, 4), {"flow": "target_to_source"})(x, matrix)


def test_its_values_weigh_a_convolution():
    edge_index, n = without_loops("hub")
    weight = features(edge_index.shape[1]).abs() + 0.1
    layer, x = layers()["GCNConv"], features(n, 6)
    matrix = adj_t(edge_index, (n, n), weight)
    close(layer(x, matrix), layer(x, edge_index, weight))
    recorded = matrix.set_value(matrix.storage.value().clone().requires_grad_(), layout="coo")
    layer(x, recorded).sum().backward()
    expected = matrix.storage.value().clone().requires_grad_()
    layer(x, stored(matrix), expected).sum().backward()
    close(recorded.storage.value().grad, expected.grad)


def test_self_loops_are_replaced():
    edge_index, n = edges("loops")
    weight = features(edge_index.shape[1]).abs() + 0.1
    layer, x, keep = built(nn, "GCNConv", (6, 4), {"improved": True}), features(n, 6), edge_index[0] != edge_index[1]
    close(layer(x, adj_t(edge_index, (n, n), weight)), layer(x, edge_index[:, keep], weight[keep]))


def test_other_values_on_the_same_arcs_are_noticed():
    edge_index, n = without_loops("hub")
    weight = features(edge_index.shape[1]).abs() + 0.1
    layer, x = layers()["GCNConv"], features(n, 6)
    matrix = adj_t(edge_index, (n, n), weight)
    before = layer(x, matrix)
    other = matrix.set_value(matrix.storage.value() ** 2, layout="coo")
    assert other.storage.col() is matrix.storage.col()
    close(layer(x, other), layer(x, stored(matrix), other.storage.value()))
    close(layer(x, matrix), before)
    matrix.storage.value().square_()
    close(layer(x, matrix), layer(x, other))


def test_weights_come_back_as_one():
    edge_index, n = without_loops("hub")
    for name in ("GATConv", "GATv2Conv", "TransformerConv"):
        layer, x, matrix = layers()[name], features(n, 6), adj_t(edge_index, (n, n))
        out, found = layer(x, matrix, return_attention_weights=True)
        expected, (ends, alpha) = layer(x, stored(matrix), return_attention_weights=True)
        close(out, expected)
        found = found if isinstance(found, SparseTensor) else found[0]
        assert found.sparse_sizes() == (n, n)
        row, column, value = found.coo()
        dense, other = (torch.zeros(n, n, 2, dtype=torch.float64) for _ in range(2))
        close(dense.index_put((row, column), value, True), other.index_put((ends[1], ends[0]), alpha, True))


def test_two_sets_of_vertices():
    edge_index = torch.stack([torch.randint(0, size, (40,)) for size in (12, 7)])
    pair = features(12, 4), features(7, 6, seed=2)
    matrix = adj_t(edge_index, (7, 12))
    layer = built(nn, "SAGEConv", ((4, 6), 3), {})
    close(layer(pair, matrix), layer(pair, edge_index))
    with pytest.raises(ArgumentError, match="12 sources does not fit"):
        layer((pair[1][:, :4], pair[1]), matrix)


def test_nothing_outlives_it():
    edge_index, n = without_loops("hub")
    matrix = adj_t(edge_index, (n, n), torch.ones(edge_index.shape[1], dtype=torch.float64))
    layers()["GCNConv"](features(n, 6), matrix)
    held = weakref.ref(adjacency_of(matrix, (n, n)))
    del matrix
    gc.collect()
    assert held() is None
