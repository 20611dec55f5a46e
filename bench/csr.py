"""Building CSR from a random edge list: tgraph compared with scipy's coo_array.tocsr(), interleaved.

Then relabelling scattered 63-bit ids with csr.compact, compared with numpy.unique.

    python -m bench.csr [--scale 20] [--edges 32000000] [--rounds 5]

Prints the median time of each, how many times faster tgraph is, and the peak of memory while it runs as a multiple of
the edge list (src and dst as int64), results included. The results are compared first: both must be the same matrix.
scipy also adds up parallel edges; it is timed as users call it.
"""

from pathlib import Path

import numpy as np
import torch
from scipy.sparse import coo_array, csr_array

from bench.command import parsed
from bench.measure import in_turns, medians
from bench.process import resident
from tgraph.core.building import sorting
from tgraph.core.system import native


def main() -> None:
    arguments = parsed(__doc__, scale=20, edges=32_000_000, rounds=5)
    n = 2**arguments.scale
    random = torch.Generator().manual_seed(1)
    src, dst = torch.randint(n, (2, arguments.edges), generator=random).unbind()
    weights = torch.randint(1, 256, (arguments.edges,), generator=random, dtype=torch.int32)

    def tgraph_structure():
        return sorting.sort_edges(src, dst, n)

    def tgraph_weighted():
        offset, neighbors, perm = sorting.sort_edges(src, dst, n, permutation=True)
        return offset, neighbors, sorting.take(weights, perm)

    def tgraph_merged():
        return sorting.merge_parallel(*tgraph_weighted(), "sum")

    def scipy_tocsr():
        return coo_array((weights.numpy(), (src.numpy(), dst.numpy())), shape=(n, n)).tocsr()

    verify(tgraph_structure(), tgraph_weighted(), tgraph_merged(), scipy_tocsr())
    kernels = "compiled kernels" if native.load() else "torch only"
    print(f"{arguments.edges:,} edges, {n:,} vertices, {torch.get_num_threads()} threads, {kernels}")
    report([scipy_tocsr, tgraph_structure, tgraph_weighted, tgraph_merged], arguments.rounds, src.nbytes + dst.nbytes)

    ids = torch.randint(-(2**62), 2**62, (n,), generator=random)
    far_src, far_dst = ids[src], ids[dst]

    def numpy_unique():
        return np.unique(np.stack((far_src.numpy(), far_dst.numpy())), return_inverse=True)

    def tgraph_compact():
        return sorting.compact(far_src, far_dst)

    assert np.array_equal(numpy_unique()[0], tgraph_compact()[0])
    report([numpy_unique, tgraph_compact], arguments.rounds, src.nbytes + dst.nbytes)


def report(functions, rounds: int, edge_list: int) -> None:
    """Print the cost of each function relative to the first; `edge_list` is the unit of memory, in bytes."""
    peaks = {function.__name__: peak_memory(function) / edge_list for function in functions}
    taken = medians(in_turns({function.__name__: function for function in functions}, rounds, warm=0))
    reference = functions[0].__name__
    for name, seconds in taken.items():
        ratio = f"{taken[reference] / seconds:5.1f} x {reference}"
        print(f"{name:20} {seconds:7.3f} s   {ratio}   peak {peaks[name]:.2f} x the edge list")


def peak_memory(function) -> float:
    """Bytes that the process holds at most, above what it held before, while the function runs; NaN but on Linux."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from the present
    except OSError:
        return float("nan")
    before = resident("VmRSS")
    function()
    return resident("VmHWM") - before


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
