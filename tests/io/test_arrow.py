"""Tables of Arrow from files, frames and queries become tensors and graphs."""

import datetime
from decimal import Decimal

import numpy as np
import pandas
import pyarrow as pa
import pytest
import torch
from pyarrow import csv, feather, parquet
from strategies import refused

import tgraph as tg
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.io.arrow import column_names, read_columns, to_tensor

TABLE = pa.table({"source": [10, 30, 10], "target": [20, 10, 30], "weight": [1.5, 2.5, 3.5], "note": ["a", "b", "c"]})


def sources(folder):
    """The same table from everywhere."""
    parquet.write_table(TABLE.slice(0, 1), folder / "part-0.parquet")
    parquet.write_table(TABLE.slice(1), folder / "part-1.parquet")
    feather.write_feather(TABLE, folder / "all.arrow", compression="uncompressed")
    csv.write_csv(TABLE, folder / "all.csv")
    yield TABLE
    yield TABLE.to_pandas()
    yield TABLE.to_reader()
    yield str(folder / "part-*.parquet")
    yield [folder / "part-0.parquet", folder / "part-1.parquet"]
    yield folder / "all.arrow"
    yield folder / "all.csv"


def test_columns_from_everywhere(tmp_path):
    for table in sources(tmp_path):
        assert column_names(table) == TABLE.column_names
        found = read_columns(table, ["weight", "source"])
        assert found.column_names == ["weight", "source"] and found.equals(TABLE.select(["weight", "source"]))


def test_queries_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    edges = TABLE  # noqa: F841  the query names it
    query = duckdb.sql("SELECT source, target, weight * 2 AS weight FROM edges ORDER BY weight")
    assert column_names(query) == ["source", "target", "weight"]
    assert read_columns(query, ["weight"]).column("weight").to_pylist() == [3, 5, 7]
    graph = tg.from_table(query)
    assert graph.vertices.tolist() == [10, 20, 30] and graph.weights.tolist() == [3, 7, 5]


def test_graphs_of_tables(tmp_path):
    for table in sources(tmp_path):
        graph = tg.Graph.from_table(table)
        assert graph.vertices.tolist() == [10, 20, 30]
        assert graph.neighbors.tolist() == [1, 2, 0] and graph.weights.tolist() == [1.5, 3.5, 2.5]
    graph = tg.from_table(TABLE, "target", "note", ids="text", weights=False, directed=False)
    assert graph.num_edges == 3 and graph.weights is None and not graph.directed
    refused("the table: no column is called target", tg.from_table, TABLE.drop_columns("target"), error=FileFormatError)
    refused("source: the table has no column 'x'", tg.from_table, TABLE, "x")


def tensor_of(values, kind=None):
    kind = pa.array(values).type if kind is None else kind
    return to_tensor(pa.chunked_array([pa.array(values[:1], kind), pa.array(values[1:], kind)]), "column")


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (pa.int8(), torch.int8),
        (pa.int64(), torch.int64),
        (pa.uint8(), torch.uint8),
        (pa.uint16(), torch.int32),
        (pa.uint32(), torch.int64),
        (pa.uint64(), torch.int64),
        (pa.float16(), torch.float16),
        (pa.float32(), torch.float32),
        (pa.float64(), torch.float64),
        (pa.bool_(), torch.bool),
        (pa.dictionary(pa.int8(), pa.int32()), torch.int32),
    ],
)
def test_numbers_keep_their_values(kind, dtype):
    values = [True, False, True] if kind == pa.bool_() else [1, 0, 7]
    if kind == pa.float16():
        values = [np.float16(each) for each in values]
    found = tensor_of(values, kind)
    assert found.dtype == dtype and found.tolist() == [float(each) for each in values]
    found[0] = 1  # memory of their own, or writable
    assert to_tensor(pa.chunked_array([], kind), "column").shape == (0,)


def test_other_kinds_of_columns():
    assert tensor_of([Decimal("1.5"), Decimal("2.25")]).tolist() == [1.5, 2.25]
    day, time = datetime.date(1970, 1, 3), datetime.datetime(1970, 1, 1, 0, 1)
    assert tensor_of([day, day]).tolist() == [2, 2] and tensor_of([time, time], pa.timestamp("s")).tolist() == [60, 60]
    matrix = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    for kind in (pa.list_(pa.float32()), pa.large_list(pa.float32()), pa.list_(pa.float32(), 2)):
        assert tensor_of(matrix, kind).tolist() == matrix
        assert to_tensor(pa.chunked_array([pa.array(matrix, kind).slice(1)]), "x").tolist() == matrix[1:]
    assert tensor_of([[[1, 2]], [[3, 4]]]).shape == (2, 1, 2)
    assert to_tensor(pa.chunked_array([], pa.list_(pa.float32(), 2)), "x").shape == (0, 2)


def test_refusals(tmp_path):
    for values, message in (
        ([1, None], "column: row 1 has no value"),
        (["a", "b"], "column: is of type string"),
        ([[1], [2], [3, 4]], "column: the list of row 2 has 2 numbers, that of row 0 1"),
        ([[1, 2], [3, None]], "column: row 1 has no value"),
    ):
        with pytest.raises(ArgumentError, match=message):
            tensor_of(values)
    refused("convert the column to double", tensor_of, [2**63, 1], pa.uint64())
    refused("the table has no 'x', only 'source'", read_columns, pandas.DataFrame({"source": [1]}), ["x"])
    refused("got int; convert it", column_names, 3)
    refused("no file matches", read_columns, str(tmp_path / "*.parquet"))
    refused(r"one format of .*, got \.txt", read_columns, tmp_path / "a.txt")
    refused("no files are given", read_columns, [])
