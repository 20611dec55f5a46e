// Sums that grow by what ascending rows send to their neighbors, block of rows by block of rows (a graph that is read
// from a file). Each thread takes a range of neighbors and looks for it in every row, so that a sum is added to by one
// thread, in the order of the arcs, however many threads there are.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

inline constexpr int64_t lookahead = 16;
inline constexpr int64_t samples_per_part = 256;

template <class A, class Neighbor>
struct Sent {
    const int64_t* offset;
    const Neighbor* neighbors;
    const A *data, *weights;  // weights : null if all are 1
    int64_t rows, arcs;
};

// The neighbors at which the parts begin, about equally many arcs each.
template <class A, class Neighbor>
std::vector<int64_t> borders(const Sent<A, Neighbor>& sent, int parts) {
    std::vector<Neighbor> samples;
    const int64_t step = std::max<int64_t>(sent.arcs / (parts * samples_per_part), 1);
    for (int64_t i = 0; i < sent.arcs; i += step) samples.push_back(sent.neighbors[i]);
    std::sort(samples.begin(), samples.end());
    std::vector<int64_t> found(parts + 1, 0);
    for (int part = 1; part < parts; ++part) found[part] = samples[samples.size() * part / parts];
    found[parts] = std::numeric_limits<int64_t>::max();
    return found;
}

// Adds what all rows send to neighbors in [first, end).
template <bool weighted, class A, class Neighbor>
void push_range(const Sent<A, Neighbor>& sent, int64_t first, int64_t end, double* out) {
    for (int64_t row = 0; row < sent.rows; ++row) {
        const Neighbor *begin = sent.neighbors + sent.offset[row], *last = sent.neighbors + sent.offset[row + 1];
        const double value = sent.data[row];
        if (first > 0) begin = std::lower_bound(begin, last, first);
        for (const Neighbor* to = begin; to < last && *to < end; ++to) {
            const int64_t i = to - sent.neighbors;
            fetch(out + sent.neighbors[std::min(i + lookahead, sent.arcs - 1)]);
            out[*to] += weighted ? value * static_cast<double>(sent.weights[i]) : value;
        }
    }
}

// out[u] += data[row] (* weights[i]) for every arc i from a row to u; out float64 [n], data [rows], rows ascending.
template <class A, class Neighbor>
void push_sums(In<int64_t> offset, In<Neighbor> neighbors, In<A> weights, In<A> data, Out<double> out) {
    const Sent<A, Neighbor> sent{offset.data(), neighbors.data(), data.data(), weights.data(),
                                 static_cast<int64_t>(offset.shape(0)) - 1, static_cast<int64_t>(neighbors.shape(0))};
    if (sent.rows != static_cast<int64_t>(data.shape(0)) || sent.offset[sent.rows] > sent.arcs)
        throw std::invalid_argument("data, neighbors: expected [rows] and [arcs], of an offset [rows + 1]");
    if (sent.weights && static_cast<int64_t>(weights.shape(0)) != sent.arcs)
        throw std::invalid_argument("weights: expected [arcs]");
    if (sent.arcs == 0) return;
    const int parts = part_count(sent.arcs);
    const std::vector<int64_t> border = borders(sent, parts);
    for_each_part(parts, [&](int part) {
        if (sent.weights)
            push_range<true>(sent, border[part], border[part + 1], out.data());
        else
            push_range<false>(sent, border[part], border[part + 1], out.data());
    });
}

template <class A, class Neighbor>
void bind(Module& module) {
    module.def("push_sums", &push_sums<A, Neighbor>, "offset, neighbors, weights?, data, out");
}

}  // namespace

void bind_push_sums(Module& module) {
    bind<float, int32_t>(module);
    bind<float, int64_t>(module);
    bind<double, int32_t>(module);
    bind<double, int64_t>(module);
}

}  // namespace tgraph
