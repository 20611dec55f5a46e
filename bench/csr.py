"""Building CSR from a random edge list: tgraph beside scipy's coo_array.tocsr(), in the same run, interleaved.

    python bench/csr.py [--scale 20] [--edges 32000000] [--rounds 5]

Prints the median time of each and how many times faster tgraph is. The results are compared first: both must be the
same matrix. scipy also adds up parallel edges; it is timed as users call it.
"""

import argparse
import statistics
import time

import numpy as np
import torch
from scipy.sparse import coo_array, csr_array

from tgraph import csr, native


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--scale", type=int, default=20, help="2**SCALE vertices")
    options.add_argument("--edges", type=int, default=32_000_000)
    options.add_argument("--rounds", type=int, default=5)
    arguments = options.parse_args()
    n = 2**arguments.scale
    random = torch.Generator().manual_seed(1)
    src, dst = torch.randint(n, (2, arguments.edges), generator=random).unbind()
    weights = torch.randint(1, 256, (arguments.edges,), generator=random, dtype=torch.int32)

    def tgraph_structure():
        return csr.sort_edges(src, dst, n)

    def tgraph_weighted():
        offset, neighbors, perm = csr.sort_edges(src, dst, n, permutation=True)
        return offset, neighbors, csr.take(weights, perm)

    def tgraph_merged():
        return csr.merge_parallel(*tgraph_weighted(), "sum")

    def scipy_tocsr():
        return coo_array((weights.numpy(), (src.numpy(), dst.numpy())), shape=(n, n)).tocsr()

    verify(tgraph_structure(), tgraph_weighted(), tgraph_merged(), scipy_tocsr())
    medians = interleaved([scipy_tocsr, tgraph_structure, tgraph_weighted, tgraph_merged], arguments.rounds)
    kernels = "compiled kernels" if native.load() else "torch only"
    print(f"{arguments.edges:,} edges, {n:,} vertices, {torch.get_num_threads()} threads, {kernels}")
    for name, seconds in medians.items():
        print(f"{name:20} {seconds:7.3f} s   {medians['scipy_tocsr'] / seconds:5.1f} x scipy")


def interleaved(functions, rounds: int) -> dict[str, float]:
    """The median time of each function, over rounds that call all of them in turn."""
    times: dict[str, list[float]] = {function.__name__: [] for function in functions}
    for _ in range(rounds):
        for function in functions:
            start = time.perf_counter()
            result = function()
            times[function.__name__].append(time.perf_counter() - start)
            del result
    return {name: statistics.median(values) for name, values in times.items()}


def verify(structure, weighted, merged, expected: csr_array) -> None:
    """All results hold the matrix that scipy built."""
    assert all(map(torch.equal, structure[:2], weighted[:2]))
    offset, neighbors, values = (part.numpy() for part in merged)
    expected.sort_indices()
    assert np.array_equal(offset, expected.indptr)
    assert np.array_equal(neighbors, expected.indices)
    assert np.array_equal(values, expected.data)


if __name__ == "__main__":
    main()
