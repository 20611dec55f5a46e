"""A small kernel of the tests' own, one that cannot keep its variables in registers, and one that needs too much."""

from pathlib import Path

from tgraph.kernels.cuda.kernel import Kernel

SHIFT = """
#include "base/common.cuh"
#include "steps.cuh"
namespace tgraph {
template <class T>
__global__ void shift(const T* x, const T* more, T* y, int64_t n, double by) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = step(x[i] + (more ? more[i] : T(0)), T(by));
}
}  // namespace tgraph
"""

STEP = """
namespace tgraph {
template <class T>
__device__ T step(T x, T by) { return x + by; }
}  // namespace tgraph
"""

SPILL = """
#include "base/common.cuh"
namespace tgraph {
template <class T>
__global__ void spill(const int64_t* at, T* y) {
    T kept[64];
    for (int i = 0; i < 64; ++i) kept[i] = y[i];
    for (int i = 0; i < 64; ++i) kept[at[i]] += kept[at[63 - i]];
    for (int i = 0; i < 64; ++i) y[i] = kept[i];
}
}  // namespace tgraph
"""

LARGE = """
#include "base/common.cuh"
namespace tgraph {
__global__ void __launch_bounds__(96) large(int64_t* x, int32_t y, bool z, double by) {
    __shared__ int64_t kept[5000];
    for (int i = threadIdx.x; i < 5000; i += 96) kept[i] = x[i] + y + z + static_cast<int64_t>(by);
    __syncthreads();
    x[threadIdx.x] = kept[kept[threadIdx.x] % 5000];
}
}  // namespace tgraph
"""


def write(folder: Path) -> None:
    """Put the sources in a folder, whose path a kernel names then."""
    for name, text in {"shift.cu": SHIFT, "steps.cuh": STEP, "spill.cu": SPILL, "large.cu": LARGE}.items():
        (folder / name).write_text(text)


def shift(folder: Path, type: str = "float") -> Kernel:
    """y = x + more + by, the sum of n values each; `more` may be null."""
    return Kernel(str(folder / "shift.cu"), "shift", (type,))
