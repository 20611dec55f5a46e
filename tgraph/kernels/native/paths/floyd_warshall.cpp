// Shortest paths between all pairs (Floyd, "Algorithm 97: shortest path", CACM 1962), by blocks of vertices to pass
// (Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs shortest-paths algorithm", 2003): paths within the block
// first, then those from and to it, then all others, whose rows are shared out to the threads.
//
// A path replaces another only where it is shorter, and the vertices to pass are tried in ascending order, so that
// neither distances nor predecessors depend on the number of threads.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/bindings.hpp"
#include "base/simd.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

constexpr int64_t block_size = 64;

// Paths of one row by a vertex at distance `first`, whose own row is `onward`; predecessors may be null.
TGRAPH_MULTIVERSION void pass(double first, const double* __restrict onward, const int64_t* __restrict onward_before,
                              double* __restrict row, int64_t* __restrict before, int64_t count) {
    if (!before) {
        for (int64_t j = 0; j < count; ++j) {
            const double length = first + onward[j];
            row[j] = length < row[j] ? length : row[j];
        }
        return;
    }
    for (int64_t j = 0; j < count; ++j) {
        const double length = first + onward[j];
        const bool shorter = length < row[j];
        row[j] = shorter ? length : row[j];
        before[j] = shorter ? onward_before[j] : before[j];
    }
}

class FloydWarshall {
public:
    FloydWarshall(double* distance, int64_t* before, int64_t n) : distance_(distance), before_(before), n_(n) {}

    // Returns a vertex on a cycle of negative length, or -1.
    int64_t run() {
        const int threads = part_count(n_ * n_);
        const int64_t blocks = (n_ + block_size - 1) / block_size;
        for (int64_t b = 0; b < blocks; ++b) {
            const Range through = block(b);
            relax(through, through, through);
            for (int64_t v = through.begin; v < through.end; ++v)
                if (distance_[v * n_ + v] < 0) return v;
            const auto others = [&](const auto& visit) {
                for_each_chunk(blocks, threads, [&](int64_t other) {
                    if (other != b) visit(block(other));
                });
            };
            others([&](Range columns) { relax(through, through, columns); });
            others([&](Range rows) {
                relax(through, rows, through);
                for (int64_t other = 0; other < blocks; ++other)
                    if (other != b) relax_settled(through, rows, block(other));
            });
        }
        return -1;
    }

private:
    double* distance_;
    int64_t* before_;
    int64_t n_;

    Range block(int64_t number) const {
        return {number * block_size, std::min(n_, (number + 1) * block_size)};
    }

    // Where the block is among the rows or columns: a vertex at a time.
    void relax(Range through, Range rows, Range columns) const {
        for (int64_t k = through.begin; k < through.end; ++k)
            for (int64_t i = rows.begin; i < rows.end; ++i)
                if (i != k) step(i, k, columns);
    }

    // Where neither is: row by row, which stays in the cache.
    void relax_settled(Range through, Range rows, Range columns) const {
        for (int64_t i = rows.begin; i < rows.end; ++i)
            for (int64_t k = through.begin; k < through.end; ++k) step(i, k, columns);
    }

    void step(int64_t i, int64_t k, Range columns) const {
        const double first = distance_[i * n_ + k];
        if (first == std::numeric_limits<double>::infinity()) return;
        const int64_t from = k * n_ + columns.begin, to = i * n_ + columns.begin;
        pass(first, distance_ + from, before_ ? before_ + from : nullptr, distance_ + to,
             before_ ? before_ + to : nullptr, columns.end - columns.begin);
    }
};

int64_t floyd_warshall(Out<double> distance, Out<int64_t> predecessor, int64_t n) {
    return FloydWarshall(distance.data(), predecessor.data(), n).run();
}

}  // namespace

void bind_floyd_warshall(Module& module) {
    module.def("floyd_warshall", &floyd_warshall, "distance, predecessor?, n");
}

}  // namespace tgraph
