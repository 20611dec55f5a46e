"""numpy archives (.npz): the arrays of a Graph, or of scipy.sparse.save_npz. Nothing is unpickled."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from tgraph.core.graph import Graph
from tgraph.errors import ArgumentError, FileFormatError
from tgraph.files import PathLike
from tgraph.files.atomic_write import replacing_by
from tgraph.io import labels
from tgraph.io.text.banners import refuse_others

_OURS = ("offset", "neighbors", "weights", "vertices", "vertex_text", "vertex_text_offset", "directed")
_SCIPYS = ("indptr", "indices", "data", "shape", "format")
_PYGS = ("edge_index", "edge_weight", "num_nodes")
_PREFIXES = ("adj_matrix.", "adj_")  # of the benchmark of Shchur and others
_PICKLED = frozenset({"adj_matrix", "adj"})  # of the same benchmark, earlier
_KNOWN = "offset, neighbors [, weights ...], or indptr, indices [, data, shape], or edge_index"


def read(path: PathLike, *, directed: bool | None = None, weights: bool | None = None) -> Graph:
    """Read CSR arrays: a Graph's (offset, neighbors, weights, vertices, directed) or scipy's (indptr, indices, data,
    shape); scipy's files of other formats, csc, coo, bsr and dia; or PyG's edge_index [, edge_weight, num_nodes].

    scipy's data are the weights, unless they are boolean. `directed` overrides the file (scipy's files are directed);
    an undirected graph must have both arcs of every edge. `weights=False` drops the weights.
    Raises FileFormatError for an archive that is damaged or lacks an array.

    >>> import scipy.sparse
    >>> scipy.sparse.save_npz("a.npz", scipy.sparse.csr_array([[0, 2], [3, 0]]))
    >>> graph = tg.read("a.npz")
    >>> graph.to_edge_index(), graph.weights
    (tensor([[0, 1],
            [1, 0]]), tensor([2, 3]))
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            prefix = next((each for each in _PREFIXES if f"{each}indptr" in archive.files), "")
            names = archive.files
            known = [name for name in (*_OURS, *_SCIPYS, *_PYGS) if prefix + name in archive.files]
            arrays = {name: archive[prefix + name] for name in known}
    except Exception as fault:  # zipfile, zlib and numpy raise various exceptions for damaged bytes
        if isinstance(fault, OSError) and fault.errno not in (None, errno.EINVAL):  # EINVAL: a seek to a damaged offset
            raise
        refuse_others(path, "npz")
        problem = f"not a whole numpy archive of plain arrays ({fault})"
        raise FileFormatError(path, problem, "save it again with numpy.savez or tgraph.write") from fault
    try:
        fields = _from_ours(arrays) if "offset" in arrays else _from_scipy(path, arrays)
        if weights is False:
            fields["weights"] = None
        if directed is not None:
            fields["directed"] = directed
        return _from_arcs(**fields) if "src" in fields else Graph.from_csr(**fields)
    except (KeyError, ValueError, IndexError, TypeError) as fault:
        if isinstance(fault, FileFormatError):
            raise
        missing = f"the array {fault} is missing" if isinstance(fault, KeyError) else str(fault)
        if isinstance(fault, KeyError) and _PICKLED.intersection(names):
            problem = "the matrix is a pickled object, which can run code when it is loaded"
            remedy = "load it by numpy.load(..., allow_pickle=True) where you trust it, and take tgraph.from_scipy"
            raise FileFormatError(path, problem, remedy) from fault
        raise FileFormatError(path, missing, f"the archive must hold {_KNOWN}") from fault


def _from_ours(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    vertices = arrays.get("vertices")
    if "vertex_text" in arrays:
        vertices = labels.unpack(arrays["vertex_text"], arrays["vertex_text_offset"])
    fields = {"offset": arrays["offset"], "neighbors": arrays["neighbors"], "weights": arrays.get("weights")}
    return fields | {"vertices": vertices, "directed": bool(arrays.get("directed", True))}


def _from_arcs(
    src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, num_vertices: int | None, directed: bool = True
) -> Graph:
    arcs = Graph.from_edges(src, dst, weights, num_vertices=num_vertices)
    return arcs if directed else Graph(arcs.offset, arcs.neighbors, arcs.weights, directed=False).validate()


def _from_scipy(path: PathLike, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    if "edge_index" in arrays:
        src, dst = arrays["edge_index"]
        count = int(arrays["num_nodes"]) if "num_nodes" in arrays else None
        return {"src": src, "dst": dst, "weights": arrays.get("edge_weight"), "num_vertices": count}
    kind = arrays["format"].item() if "format" in arrays else b"csr"
    if kind not in (b"csr", "csr"):
        import scipy.sparse

        matrix = scipy.sparse.load_npz(path).tocsr()
        arrays = {name: np.asarray(getattr(matrix, name)) for name in _SCIPYS[:4]}
    offset, neighbors = arrays["indptr"], arrays["indices"]
    shape = arrays["shape"].tolist() if "shape" in arrays else [len(offset) - 1] * 2
    if shape[0] != shape[1]:
        raise FileFormatError(path, f"a rectangular matrix {shape[0]} x {shape[1]}", "a graph needs a square one")
    data = arrays.get("data")
    weighted = data is not None and data.dtype.kind != "b"
    return {"offset": offset, "neighbors": neighbors, "weights": data if weighted else None}


def write(graph: Graph, path: PathLike) -> None:
    """Write the arrays of the graph, compressed; labels as UTF-8 text. Raises ArgumentError for other labels.

    >>> import numpy
    >>> tg.write(tg.generators.path(3), "path.npz")
    >>> numpy.load("path.npz")["neighbors"]
    array([1, 0, 2, 1], dtype=int32)
    """
    arrays = {"offset": graph.offset, "neighbors": graph.neighbors, "weights": graph.weights}
    plain: dict[str, Any] = {}
    for name, tensor in arrays.items():
        if tensor is not None:
            try:
                plain[name] = tensor.detach().cpu().numpy()
            except TypeError as fault:  # bfloat16
                raise ArgumentError(f"graph.{name}: numpy has no {tensor.dtype}; convert it or write .tg") from fault
    if isinstance(graph.vertices, torch.Tensor):
        plain["vertices"] = graph.vertices.cpu().numpy()
    elif graph.vertices is not None:
        plain["vertex_text"], plain["vertex_text_offset"] = labels.pack(graph.vertices)
    with replacing_by(path) as file:
        np.savez_compressed(file, **plain, directed=np.array(graph.directed))
