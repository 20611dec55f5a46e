// Connected components by lock-free union-find: the larger root is hooked under the smaller by compare-and-swap
// (ECL-CC: Jaiganesh and Burtscher, HPDC 2018; Afforest: Sutton, Ben-Nun, Barak, IPDPS 2018). Edge-balanced.
//
// A label is never a larger vertex and only decreases, so there are no cycles, and the root of a tree is its smallest
// vertex, for any order of threads.
#include "relaxation/frontier.cuh"

namespace tgraph {

// The current root of v, with path halving: each vertex on the way is pointed at its grandparent. A vertex that is not
// a root never becomes one again.
template <class Label>
__device__ Label find_root(Label* label, Label v) {
    Label parent = look(label + v);
    while (parent != v) {
        const Label above = look(label + parent);
        if (above == parent) return parent;
        put(label + v, above);
        v = parent;
        parent = above;
    }
    return v;
}

// Adds the number of invalid labels, negative or larger than their vertex, to sums[0].
template <class Label>
__global__ void count_strays(const Label* label, int64_t n, int64_t* sums) {
    const int64_t v = global_thread();
    const int64_t strays = block_sum(v < n && (label[v] < 0 || label[v] > v));
    if (threadIdx.x == 0 && strays) add(sums, strays);
}

// Joins the trees at both ends of every arc of the rows.
template <class Label, class Neighbor>
__global__ void hook(
    const int64_t* offset, const Neighbor* neighbors, const int64_t* rows, const int64_t* before, int64_t num_rows,
    int64_t num_arcs, Label* label) {
    const RowRange range = rows_of_block(before, num_rows, num_arcs);
    const int64_t first = static_cast<int64_t>(blockIdx.x) * arcs_per_block;
    for (int64_t arc = first + threadIdx.x; arc < first + arcs_per_block && arc < num_arcs; arc += block_size) {
        const int64_t i = row_of_arc(before, range.first, range.end, arc);
        const int64_t row = rows ? rows[i] : i;
        Label a = static_cast<Label>(row), b = static_cast<Label>(neighbors[offset[row] + (arc - before[i])]);
        if (look(label + a) == look(label + b)) continue;
        for (;;) {
            a = find_root(label, a), b = find_root(label, b);
            if (a == b) break;
            const Label high = a > b ? a : b, low = a > b ? b : a;
            if (compare_and_swap(label + high, high, low) == high) break;
        }
    }
}

// Points every vertex at its root. Each thread writes the label of its own vertex only: path halving here could
// overwrite the root that another thread has found.
template <class Label>
__global__ void flatten(Label* label, int64_t n) {
    const int64_t v = global_thread();
    if (v >= n) return;
    Label root = look(label + v);
    for (Label above = look(label + root); above != root; above = look(label + root)) root = above;
    put(label + v, root);
}

// The bitmap of vertices outside of the tree of `root` with more than `width` arcs; adds their number and that of their
// arcs to sums[0] and sums[1].
template <class Label>
__global__ void mark_outside(
    const Label* label, const int64_t* offset, int64_t n, int64_t root, int64_t width, uint32_t* words, int64_t* sums) {
    const int64_t v = global_thread();
    const int64_t degree = v < n ? offset[v + 1] - offset[v] : 0;
    const bool is_outside = v < n && label[v] != root && degree > width;
    const uint32_t word = __ballot_sync(all_lanes, is_outside);
    if (lane() == 0 && v < n) words[v / 32] = word;
    const int64_t size = block_sum(is_outside), arcs = block_sum(is_outside ? degree : 0);
    if (threadIdx.x == 0 && size) {
        add(sums, size);
        add(sums + 1, arcs);
    }
}

}  // namespace tgraph
