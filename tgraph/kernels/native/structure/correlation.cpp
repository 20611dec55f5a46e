// The correlation over all arcs of a number at their sources and one at their targets: a pass over the vertices for the
// means, and one over the arcs. Chunks are summed in order, whatever the number of threads.
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/bindings.hpp"
#include "base/rows.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

struct Sums {
    double first = 0, second = 0, both = 0;
};

// sum(begin, end) adds up rows of a chunk.
template <class Sum>
Sums sum_chunks(const RowChunks& chunks, int64_t work, const Sum& sum) {
    std::vector<Sums> found(chunks.size());
    for_each_chunk(chunks.size(), part_count(work), [&](int64_t chunk) { found[chunk] = sum(chunks[chunk]); });
    Sums total;
    for (const Sums& one : found)
        total = {total.first + one.first, total.second + one.second, total.both + one.both};
    return total;
}

// The sum of values - mean over neighbours from `next` on while `holds` one; sums of four are added independently.
template <class Neighbor, class Holds>
double sum_while(const Neighbor*& next, const Neighbor* end, const double* values, double mean, const Holds& holds) {
    double a = 0, b = 0, c = 0, d = 0;
    for (; end - next >= 4 && holds(next[3]); next += 4) {
        a += values[next[0]] - mean;
        b += values[next[1]] - mean;
        c += values[next[2]] - mean;
        d += values[next[3]] - mean;
    }
    for (; next < end && holds(*next); ++next) a += values[*next] - mean;
    return (a + b) + (c + d);
}

// The covariance and both variances, times the number of arcs. leaving, reaching : the degrees. is_symmetric : each arc
// has its reverse and both values are the same, so that arcs to smaller vertices count twice for the others.
template <class Neighbor>
std::tuple<double, double, double> correlate_ends(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> leaving,
                                                  In<int64_t> reaching, In<double> first, In<double> second,
                                                  bool is_symmetric) {
    const auto n = static_cast<int64_t>(first.shape(0)), m = static_cast<int64_t>(neighbors.shape(0));
    const RowChunks chunks{offset.data(), n, 1 << 15};
    const int64_t *out = leaving.data(), *in = reaching.data();
    const double *x = first.data(), *y = second.data();
    const Sums means = sum_chunks(chunks, n, [&](Range rows) {
        Sums sums;
        for (int64_t v = rows.begin; v < rows.end; ++v) {
            sums.first += static_cast<double>(out[v]) * x[v];
            sums.second += static_cast<double>(in[v]) * y[v];
        }
        return sums;
    });
    const double arcs = static_cast<double>(m), x_mean = means.first / arcs, y_mean = means.second / arcs;
    const Sums found = sum_chunks(chunks, n + m, [&](Range rows) {
        Sums sums;
        for (int64_t u = rows.begin; u < rows.end; ++u) {
            const double own = x[u] - x_mean, others = y[u] - y_mean;
            const Neighbor *next = neighbors.data() + offset.data()[u], *end = neighbors.data() + offset.data()[u + 1];
            double reached;
            if (is_symmetric) {
                reached = 2 * sum_while(next, end, y, y_mean, [=](int64_t v) { return v < u; });
                for (; next < end && *next == u; ++next) reached += others;
            } else {
                reached = sum_while(next, end, y, y_mean, [](int64_t) { return true; });
            }
            sums.first += static_cast<double>(out[u]) * own * own;
            sums.second += static_cast<double>(in[u]) * others * others;
            sums.both += own * reached;
        }
        return sums;
    });
    return {found.both, found.first, found.second};
}

template <class Neighbor>
void bind(Module& module) {
    module.def("correlate_ends", &correlate_ends<Neighbor>,
               "offset, neighbors, leaving, reaching, first, second, is_symmetric");
}

}  // namespace

void bind_correlation(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
