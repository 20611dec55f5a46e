"""Spectral embedding: vertices as points that lie near where they are joined (Belkin and Niyogi, "Laplacian eigenmaps",
2003), by the eigenvectors of the least eigenvalues of the normalised Laplacian L = I - D^-1/2 W D^-1/2.

Of a small graph all eigenvectors are computed. Of a larger one, those of the largest eigenvalues of 2 I - L by a block
Krylov method: a block of vectors is multiplied by it a few times, the best combinations of all of them (Rayleigh-Ritz)
are the next block, until L x = lambda x holds up to a tolerance (Golub and Underwood, "The block Lanczos method",
1977). A block finds as many eigenvectors of one eigenvalue as it is wide, such as those of several components.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

import tgraph as tg

DENSE = 1000  # vertices up to which all eigenvectors are computed
POWERS = 8  # products of a block before the best combinations are taken


def spectral_embedding(
    graph: tg.Graph,
    dimensions: int = 2,
    *,
    weighted: bool = False,
    normalize: bool = True,
    drop_first: bool = True,
    tol: float = 1e-7,
    max_iterations: int = 1000,
    seed: int = 0,
) -> tuple[Tensor, Tensor]:
    """Embedding of the vertices by eigenvectors of the Laplacian: (points, eigenvalues) of an undirected graph, float64
    [n, k] and [k], ascending, for k `dimensions`.

    As in scikit-learn: column j is the eigenvector of the j-th least eigenvalue, of norm 1, divided by the root of the
    degrees unless `normalize` is False, its entry of largest magnitude positive; `drop_first` leaves out the very
    first, of eigenvalue 0, which tells nothing of a connected graph. `weighted`, by graph.weights; parallel edges add,
    and self-loops do not count. A vertex without edges has the eigenvalue 0 of its own. `tol`, the norm of L x - lambda
    x, `max_iterations` and `seed`, of the first block, are for graphs of more than 1000 vertices. Raises
    NotConvergedError, and ArgumentError for a directed graph, more dimensions than there are, and weights that are
    missing, negative or not finite.

    >>> points, eigenvalues = tg.algorithms.spectral_embedding(tg.generators.lollipop(3, 2), 1)
    >>> points.flatten().round(decimals=3), eigenvalues.round(decimals=3)
    (tensor([-0.2800, -0.2800, -0.0860,  0.3910,  0.5980], dtype=torch.float64), tensor([0.3460], dtype=torch.float64))
    """
    tg.primitives.simple_graph.refuse_directed(graph)
    graph = graph.without_self_loops()
    n, wanted = graph.num_vertices, dimensions + drop_first
    if not 0 <= dimensions <= max(n - drop_first, 0):
        raise tg.errors.ArgumentError(f"dimensions: expected 0 to {max(n - drop_first, 0)}, got {dimensions}")
    edge = "copy"
    if weighted:
        if graph.weight_dtype is None:
            raise tg.errors.ArgumentError("weighted: the graph has no weights; leave weighted=False")
        tg.primitives.weights.check(graph, "measures", "spectral embeddings")
        edge = "mul"
    one = torch.ones(n, dtype=torch.float64, device=graph.device)
    root = tg.aggregate(graph, one, "sum", edge=edge).sqrt()
    scale = torch.where(root > 0, 1 / root, 0)[:, None]

    def multiply(x: Tensor) -> Tensor:
        """(2 I - L) x; a vertex without edges has L x = 0."""
        return torch.where(root[:, None] > 0, x, 2 * x) + scale * tg.aggregate(graph, scale * x, "sum", edge=edge)

    if n <= max(DENSE, 2 * POWERS * (wanted + 3)):
        found, vectors = torch.linalg.eigh(multiply(torch.eye(n, dtype=torch.float64, device=graph.device)))
        values, vectors = found.flip(0)[:wanted], vectors.flip(1)[:, :wanted]
    else:
        width = wanted + 3
        drawn = tg.random.uniform(tg.random.key(seed), torch.arange(n * width, device=graph.device)).view(n, width)
        values, vectors = _largest(multiply, drawn - 0.5, wanted, tol, max_iterations)
    if normalize:
        vectors = torch.where(root[:, None] > 0, scale * vectors, vectors)
    first = int(drop_first)
    return _signed(vectors[:, first:]), (2 - values[first:]).clamp(min=0)


def _signed(vectors: Tensor) -> Tensor:
    """The columns with their entry of largest magnitude positive."""
    if not vectors.numel():
        return vectors
    largest = vectors.gather(0, vectors.abs().argmax(0, keepdim=True))
    return vectors * torch.where(largest < 0, -1.0, 1.0)


def _largest(
    multiply: Callable[[Tensor], Tensor], start: Tensor, wanted: int, tol: float, max_iterations: int
) -> tuple[Tensor, Tensor]:
    """(values, vectors) of the largest eigenvalues of what `multiply` multiplies by, descending, from a first block."""
    width = start.shape[1]
    block, before, residual = torch.linalg.qr(start).Q, start[:, :0], torch.inf
    for _ in range(max_iterations):
        basis = block if not before.shape[1] else torch.cat((block, _orthogonal(before, block)), 1)
        last = block
        for _ in range(POWERS):
            last = _orthogonal(multiply(last), basis)
            basis = torch.cat((basis, last), 1)
        product = multiply(basis)
        values, mixes = torch.linalg.eigh(basis.T @ product)
        values, mixes = values.flip(0)[:width], mixes.flip(1)[:, :width]
        before, block = block, basis @ mixes
        residual = float(torch.linalg.vector_norm(product @ mixes - block * values, dim=0)[:wanted].max())
        if residual <= tol:
            return values[:wanted], block[:, :wanted]
    raise tg.errors.NotConvergedError(
        f"max_iterations: the residual is {residual:.3g} after {max_iterations}, above {tol:g}; allow more",
        tg.Run(block[:, :wanted], max_iterations, False, residual),
        residual,
    )


def _orthogonal(block: Tensor, basis: Tensor) -> Tensor:
    """The block made orthonormal, and orthogonal to the basis: twice, since once leaves rounding."""
    for _ in range(2):
        block = torch.linalg.qr(block - basis @ (basis.T @ block)).Q
    return block
