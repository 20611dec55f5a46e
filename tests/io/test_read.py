"""Choosing a format, and the real graphs through `tgraph.read` compared with their reference loader."""

import os
import subprocess
import sys
import warnings

import interpreters
import numpy as np
import pytest
import torch
from io_samples import DATA, assert_fault, assert_same, loader, needs_data, round_trip
from strategies import refused

import tgraph
from tgraph.errors import ArgumentError
from tgraph.io import FORMATS

ONE = {"directed": False}
WEIGHTS = {"adjlist": None, "graph6": None}  # formats without
REAL = {  # graph: (file, options)
    "CollegeMsg": ("CollegeMsg.txt.gz", {"weights": False}),
    "MIT8": ("MIT8.edgelist.gz", ONE),
    "blogcatalog": ("edges.csv.gz", ONE),
    "ca-GrQc": ("ca-GrQc.txt.gz", {"directed": False, "skip": 1}),
    "ca-HepPh": ("CA-HepPh.txt.gz", ONE),
    "cit-HepTh": ("arxiv-cit-hep-th.jlg", {"format": "edgelist", "skip": 1}),
    "ego-Facebook": ("facebook_combined.txt.gz", ONE),
    "email-Enron": ("email-Enron.txt.gz", ONE),
    "soc-Epinions1": ("soc-Epinions1.txt.gz", {}),
    "sx-mathoverflow": ("sx-mathoverflow.txt.gz", {"weights": False}),
    "wiki-Vote": ("wiki-Vote.txt.gz", {}),
    "USA-road-BAY": ("BAY.gr.xz", {}),
    "USA-road-d.NY": ("USA-road-d.NY.gr.gz", {}),
    "planetoid-cora": ("cora.clean.npz", {}),
    "planetoid-citeseer": ("citeseer.clean.npz", {}),
    "planetoid-pubmed": ("pubmed.clean.npz", {}),
    "amazon-photo": ("amazon-photo.clean.npz", {}),
    "coauthor-cs": ("coauthor-cs.clean.npz", {}),
}
LARGE = ("USA-road-d.NY", "sx-mathoverflow", "soc-Epinions1")  # another graph of the same format is read in any case


@needs_data
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough if name in LARGE else ()) for name in REAL]
)
def test_real_graphs(name):
    file, options = REAL[name]
    graph = tgraph.read(DATA / name / file, **options)
    expected = loader().load(name)
    src, dst = expected["src"], expected["dst"]
    mirrored = not graph.directed and np.array_equal(np.sort(src * 2**32 + dst), np.sort(dst * 2**32 + src))
    loops = int((src == dst).sum())
    assert graph.num_edges == ((len(src) + loops) // 2 if mirrored else len(src))
    named = len(np.union1d(src, dst))
    if graph.vertices is None:  # isolated vertices count too
        assert graph.num_vertices >= named and int((graph.out_degree + graph.in_degree > 0).sum()) == named
    else:
        assert graph.num_vertices == named and np.array_equal(graph.vertices.numpy(), np.union1d(src, dst))
    if expected["weight"] is not None:
        assert int(graph.weights.sum()) == int(expected["weight"].sum())
    graph.validate()


@needs_data
@pytest.mark.slow
def test_web_graphs():
    assert tgraph.read(DATA / "cnr-2000" / "cnr-2000.csr.npz").num_edges == 3216152
    graph = tgraph.read(DATA / "web-NotreDame" / "web-NotreDame.txt.gz")
    assert (graph.num_vertices, graph.num_edges) == (325729, 1497134)


def test_unknown_extension(tmp_path):
    with pytest.raises(ArgumentError, match=r"'graph.vna' has the unknown extension '.vna'.*\.mtx.*format=edgelist"):
        tgraph.read(tmp_path / "graph.vna")
    (tmp_path / "graph.vnaa").write_text("graph [ node [ id 4 ] ]")
    assert tgraph.read(tmp_path / "graph.vnaa").vertices.tolist() == [4]
    refused("format: 'xml' is not one of edgelist", tgraph.read, tmp_path / "graph.vna", format="xml")
    refused("unknown extension", tgraph.write, tgraph.Graph.from_edges([0], [1]), tmp_path / "graph")


@pytest.mark.parametrize("extension", [".tg", ".npz", ".parquet", ".pq"])
def test_binary_files_are_not_compressed_once_more(tmp_path, extension):
    graph = tgraph.Graph.from_edges([0], [1])
    with pytest.raises(ArgumentError, match=f"write 'graph{extension}' instead"):
        tgraph.write(graph, tmp_path / f"graph{extension}.gz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["a.wel", "a.csv", "a.parquet", "a.mtx", "a.e"])
@pytest.mark.parametrize("directed", [True, False])
def test_half_precision_weights_keep_their_values(tmp_path, dtype, name, directed):
    weights = torch.tensor([1.1, -65504.0, 2.0**-14], dtype=dtype)
    graph = tgraph.Graph.from_edges([0, 1, 2], [1, 2, 0], weights, directed=directed)
    found = round_trip(graph, tmp_path / name, directed=directed)
    assert found.weights.to(dtype).tolist() == graph.weights.tolist()  # text has as many digits as float32 needs


@pytest.mark.parametrize("format", FORMATS)
def test_under_another_default_device(tmp_path, format):
    graph = tgraph.Graph.from_edges(
        [0, 1, 2], [1, 2, 4], WEIGHTS.get(format, [5, 6, 7]), num_vertices=6, directed=format == "dl"
    )
    path = tmp_path / f"graph{FORMATS[format][0]}"
    options = {} if format == "tg" else {"directed": graph.directed}
    expected = round_trip(graph, path, **options)
    with torch.device("meta"):
        found = round_trip(graph, path, **options)
    assert_same(found, expected)


def test_pipe(tmp_path):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write('1 2\\n')"]) as writer:
        assert_fault(pipe, None, "not a seekable file", "save it")
        writer.kill()


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_of_the_table_reads_what_it_writes(tmp_path, format):
    directed = format == "dl"
    graph = tgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], WEIGHTS.get(format, [5, 6, 7]), directed=directed)
    for extension in FORMATS[format]:
        path = tmp_path / f"Graph{extension.upper() if format != 'graphalytics' else extension}"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message="CSV does not record")
            tgraph.write(graph, path)
        found = tgraph.read(path, **({} if format == "tg" else {"directed": directed}))
        assert found.directed == directed and found.num_edges == 3 and repr(found.weights) == repr(graph.weights)


def test_importing_is_light():
    code = "import sys, tgraph.io; print([m for m in ('pyarrow', 'pandas', 'scipy', 'networkx') if m in sys.modules])"
    assert interpreters.run(code).stdout == "[]\n"
