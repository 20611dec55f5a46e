"""What every format makes of every graph: the same, or an ArgumentError before anything is written."""

import warnings

import pytest
import torch
from io_samples import arcs

import tgraph as tg
from tgraph.errors import ArgumentError
from tgraph.io import _ALL_COLUMNS, _ARC_COLUMNS, FORMATS

NAMES = ["ann", "b & <c>", "ü'", "0x1", "e", "-"]


def graph(src, dst, weights=None, columns=None, of_vertices=None, **options):
    made = tg.Graph.from_edges(src, dst, weights, columns=columns, **{"num_vertices": 6} | options)
    return made.with_columns(vertices=of_vertices) if of_vertices else made


PATH = [0, 1, 2, 3, 4], [1, 2, 3, 4, 5]
MESSY = [0, 0, 1, 1, 3, 1, 0], [1, 1, 0, 1, 3, 4, 3]  # parallel edges, also back and forth, self-loops, two isolated
OF_EDGES = {"i": [1, 2, 3, 4, -5], "x": [0.5, float("inf"), -1e300, 2.0, 1e-7], "t": ["a", '<"&', "", "7", " ü "]}
OF_VERTICES = {"flag": [True, False] * 3, "some": ["a", None, "b", "", "x y", "true"], "n": [1, None, 3, 4, 5, 6]}
GRAPHS = {
    "path": ((*PATH,), {}),
    "nothing": (([], []), {}),
    "no vertex": (([], []), {"num_vertices": 0}),
    "messy": (MESSY, {}),
    "whole weights": ((*PATH, [3, -1, 0, 2**53 + 1, 7]), {}),
    "real weights": ((*PATH, [0.1, -2.0, 1e-300, 1e300, 4.0]), {}),
    "odd weights": ((*PATH, [float("inf"), float("-inf"), 0.0, 1e20, float("nan")]), {}),
    "messy weights": ((*MESSY, [1, 2, 3, 4, 5, 6, 7]), {}),
    "integers": (PATH, {"vertices": torch.tensor([3, 5, 100, 101, 2**40, 2**62])}),
    "labels": (PATH, {"vertices": NAMES}),
    "quotes": (PATH, {"vertices": ['Bo"b', '"', '""x"', "a", "b", "c"]}),
    "digits": (PATH, {"vertices": list("123456")}),
    "data": (PATH, {"columns": OF_EDGES, "of_vertices": OF_VERTICES}),
    "weights and data": ((*PATH, [1, 2, 3, 4, 5]), {"columns": {"t": list("abcde")}, "vertices": list("uvwxyz")}),
}
BY_NUMBER = {"matrixmarket": 1, "metis": 1, "dimacs": 1, "graph6": 0, "gapbs": 0}  # and the first
EDGES_ONLY = ("edgelist", "csv", "parquet", "feather")
NO_DIRECTION = ("csv",)


def plain(columns):
    lists = {name: column.tolist() for name, column in columns.items()}
    return {name: [int(v) if isinstance(v, bool) else v for v in values] for name, values in lists.items()}


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("format", FORMATS)
def test_graphs_come_back(format, directed, tmp_path):
    written = 0
    for number, (name, (ends, options)) in enumerate(GRAPHS.items()):
        given = graph(*ends, directed=directed, **options)
        path = tmp_path / f"{number}{FORMATS[format][0]}"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                tg.write(given, path)
            except ArgumentError as refusal:
                assert not list(tmp_path.glob(f"*{number}.*")), "written in part"
                assert len(str(refusal)) < 300
                continue
        written += 1
        takes = {"directed": directed} if format in NO_DIRECTION else {}
        found = tg.read(path, **takes, **({"columns": True} if format in EDGES_ONLY and given.arc_columns else {}))
        notes = " ".join(str(each.message) for each in said)
        assert found.directed == directed, name
        if format not in EDGES_ONLY or "isolated" not in notes:
            assert format == "metis" or found.num_vertices == given.num_vertices, name
        expected = given
        if format in BY_NUMBER:
            assert given.vertices is None or "original ids" in notes or format == "matrixmarket", name
            first, shown = BY_NUMBER[format], torch.arange(given.num_vertices)
            expected = tg.Graph(given.offset, given.neighbors, given.weights, shown + first, directed)
        if format == "pajek" and given.arc_columns and given.weights is None:  # the third number is the weight
            expected = tg.Graph(given.offset, given.neighbors, torch.ones(given.num_arcs).long(), directed=directed)
        assert repr(arcs(found)) == repr(arcs(expected)), name
        if format in _ALL_COLUMNS:
            assert plain(found.vertex_columns) == plain(given.vertex_columns), name
        if format in _ARC_COLUMNS:
            assert plain(found.arc_columns) == plain(given.arc_columns), name
        else:
            assert not given.arc_columns or "left out" in notes, name
    assert written >= 3 or (format, directed) in {("metis", True), ("lgl", True), ("dl", False)}
