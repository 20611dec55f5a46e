// Counts of shortest paths and what flows back along them (Brandes, "A faster algorithm for betweenness centrality",
// 2001), over weights: vertices are visited in the order of their distances, and an arc is on a shortest path where the
// distances of its ends differ by its length.
//
// Each search is of one thread, so that sums have one order; values of arcs are added search after search, each row of
// arcs by one thread.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/neighbor.hpp"
#include "base/rows.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

template <class Distance>
struct Lengths {
    const int64_t* offset;
    const Neighbor* neighbors;
    const Distance* weights;  // null where each arc has length 1

    Distance at(int64_t arc) const { return weights ? weights[arc] : Distance{1}; }
};

// Distances that are not reached are negative, or infinite.
template <class Distance>
bool is_reached(Distance distance) {
    if constexpr (std::is_floating_point_v<Distance>)
        return distance < std::numeric_limits<Distance>::infinity();
    else
        return distance >= 0;
}

// Bits that ascend with distances, none of which is negative.
template <class Distance>
uint64_t bits_in_order(Distance distance) {
    return std::bit_cast<uint64_t>(distance);
}

// Sorts vertices by distance, those of equal distance by their number: a radix sort that skips digits all have alike.
template <class Distance>
class ByDistance {
public:
    std::vector<Neighbor> order;

    void sort(const Distance* distance, int64_t n) {
        items_.clear();
        uint64_t all = ~uint64_t{0}, any = 0;
        for (int64_t v = 0; v < n; ++v) {
            if (!is_reached(distance[v])) continue;
            const uint64_t bits = bits_in_order(distance[v]);
            items_.push_back({bits, static_cast<Neighbor>(v)});
            all &= bits, any |= bits;
        }
        spare_.resize(items_.size());
        for (int shift = 0; shift < 64; shift += digit_bits)
            if ((all ^ any) >> shift & (digits - 1)) pass(shift);
        order.resize(items_.size());
        for (std::size_t i = 0; i < items_.size(); ++i) order[i] = items_[i].vertex;
    }

private:
    static constexpr int digit_bits = 11, digits = 1 << digit_bits;
    struct Item {
        uint64_t bits;
        Neighbor vertex;
    };

    void pass(int shift) {
        std::vector<int64_t> begin(digits + 1);
        for (const Item& item : items_) ++begin[(item.bits >> shift & (digits - 1)) + 1];
        for (int i = 0; i < digits; ++i) begin[i + 1] += begin[i];
        for (const Item& item : items_) spare_[begin[item.bits >> shift & (digits - 1)]++] = item;
        items_.swap(spare_);
    }

    std::vector<Item> items_, spare_;
};

// Calls visit(u) for each neighbor u in a row that `is_tight(u, length)` accepts, once however many parallel arcs it
// accepts: these are adjacent.
template <class Distance, class Tight, class Visit>
TGRAPH_INLINE void each_tight(const Lengths<Distance>& arcs, int64_t row, const Tight& is_tight,
                              const Visit& visit) {
    Neighbor before = -1;
    for (int64_t arc = arcs.offset[row], end = arcs.offset[row + 1]; arc < end; ++arc) {
        const Neighbor u = arcs.neighbors[arc];
        if (u == before || !is_tight(u, arcs.at(arc))) continue;
        before = u;
        visit(u);
    }
}

// The sum of values[u] over the neighbors u in a row at a distance, parallel arcs making one. Without branches, which
// the processor could not foresee.
template <class Distance>
TGRAPH_INLINE double sum_at_distance(const Lengths<Distance>& arcs, int64_t row, const Distance* distance,
                                     Distance wanted, const double* values) {
    double sum = 0;
    Neighbor before = -1;
    for (int64_t arc = arcs.offset[row], end = arcs.offset[row + 1]; arc < end; ++arc) {
        const Neighbor u = arcs.neighbors[arc];
        const double value = values[u];
        sum += (distance[u] == wanted) & (u != before) ? value : 0.0;
        before = u;
    }
    return sum;
}

// `trace` in hops, without `even`.
template <class Distance>
void trace_hops(const Lengths<Distance>& out, const Lengths<Distance>& in,
                const std::vector<Neighbor>& order, const Distance* distance, double* counts, double* onward) {
    if (order.empty()) return;
    counts[order[0]] = 1;
    for (std::size_t i = 1; i < order.size(); ++i)
        counts[order[i]] = sum_at_distance(in, order[i], distance, distance[order[i]] - 1, counts);
    for (std::size_t i = order.size(); i-- > 0;) {
        const int64_t v = order[i];
        onward[v] = 1 / counts[v] + sum_at_distance(out, v, distance, distance[v] + 1, onward);
    }
}

// Whether no row has parallel arcs, which are adjacent.
template <class Distance>
bool is_simple(const Lengths<Distance>& arcs, int64_t num_rows) {
    for (int64_t row = 0; row < num_rows; ++row)
        for (int64_t arc = arcs.offset[row] + 1; arc < arcs.offset[row + 1]; ++arc)
            if (arcs.neighbors[arc] == arcs.neighbors[arc - 1]) return false;
    return true;
}

// counts[v] : the shortest paths to v; with `even`, the vertices before v, or 1 where the source is one, from which it
// is reached alone then. onward[v] : (1 + what flows back to v) / counts[v]. Vertices that are not reached keep 0.
template <class Distance>
void trace(const Lengths<Distance>& out, const Lengths<Distance>& in,
           const std::vector<Neighbor>& order, const Distance* distance, int64_t n, bool even, double* counts,
           double* onward) {
    if (order.empty()) return;
    const Neighbor source = order[0];
    std::vector<bool> straight(even ? n : 0);
    counts[source] = 1;
    for (std::size_t i = 1; i < order.size(); ++i) {
        const int64_t v = order[i];
        const Distance here = distance[v];
        double sum = 0;
        each_tight(in, v,
                   [=](Neighbor u, Distance length) { return is_reached(distance[u]) && distance[u] + length == here; },
                   [&](Neighbor u) {
                       sum += even ? 1 : counts[u];
                       if (even && u == source) straight[v] = true;
                   });
        counts[v] = even && straight[v] ? 1 : sum;
    }
    for (std::size_t i = order.size(); i-- > 0;) {
        const int64_t v = order[i];
        const Distance here = distance[v];
        double sum = even ? 1 : 1 / counts[v];
        each_tight(out, v, [=](Neighbor w, Distance length) { return here + length == distance[w]; },
                   [&](Neighbor w) { sum += even && v != source && straight[w] ? 0 : onward[w]; });
        onward[v] = even ? sum / counts[v] : sum;
    }
}

template <class Distance>
void count_paths(In<int64_t> offset, In<Neighbor> neighbors, In<Distance> weights, In<int64_t> in_offset,
                 In<Neighbor> in_neighbors, In<Distance> in_weights, In<Distance> distance, bool even,
                 Out<double> counts, Out<double> onward) {
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1;
    if (n == 0) return;
    const auto searches = static_cast<int64_t>(distance.shape(0)) / n;
    const Lengths<Distance> out{offset.data(), neighbors.data(), weights.data()};
    const Lengths<Distance> in{in_offset.data(), in_neighbors.data(), in_weights.data()};
    const int threads = part_count(searches * (n + offset.data()[n]));
    std::vector<ByDistance<Distance>> sorters(threads);
    for_each_chunk(searches, threads, [&](int64_t search, int rank) {
        const Distance* from = distance.data() + search * n;
        sorters[rank].sort(from, n);
        double *to_counts = counts.data() + search * n, *to_onward = onward.data() + search * n;
        if (out.weights || even)
            trace(out, in, sorters[rank].order, from, n, even, to_counts, to_onward);
        else
            trace_hops(out, in, sorters[rank].order, from, to_counts, to_onward);
    });
}

// Adds to each arc u -> v on shortest paths left[u] * right[v] of each search, shared by parallel arcs of that length.
template <class Distance>
void add_along_arcs(In<int64_t> offset, In<Neighbor> neighbors, In<Distance> weights, In<Distance> distance,
                    In<double> left, In<double> right, Out<double> sums) {
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1;
    if (n == 0) return;
    const auto searches = static_cast<int64_t>(distance.shape(0)) / n;
    const Lengths<Distance> arcs{offset.data(), neighbors.data(), weights.data()};
    const RowChunks chunks{offset.data(), n};
    const bool is_plain = !arcs.weights && is_simple(arcs, n);
    for_each_chunk(chunks.size(), part_count(searches * (n + offset.data()[n])), [&](int64_t chunk) {
        const Range rows = chunks[chunk];
        for (int64_t search = 0; search < searches; ++search) {
            const Distance* from = distance.data() + search * n;
            const double *sent = left.data() + search * n, *taken = right.data() + search * n;
            for (int64_t u = rows.begin; u < rows.end; ++u) {
                const Distance here = from[u];
                if (!is_reached(here)) continue;
                if (is_plain) {
                    for (int64_t arc = arcs.offset[u], end = arcs.offset[u + 1]; arc < end; ++arc) {
                        const double flow = sent[u] * taken[arcs.neighbors[arc]];
                        sums.data()[arc] += from[arcs.neighbors[arc]] == here + 1 ? flow : 0.0;
                    }
                    continue;
                }
                for (int64_t arc = arcs.offset[u], end = arcs.offset[u + 1]; arc < end;) {
                    const Neighbor v = arcs.neighbors[arc];
                    int64_t last = arc, tight = 0;
                    for (; last < end && arcs.neighbors[last] == v; ++last) tight += here + arcs.at(last) == from[v];
                    for (; arc < last; ++arc)
                        if (tight && here + arcs.at(arc) == from[v])
                            sums.data()[arc] += sent[u] * taken[v] / static_cast<double>(tight);
                }
            }
        }
    });
}

template <class Distance>
void bind(Module& module) {
    module.def("count_paths", &count_paths<Distance>,
               "offset, neighbors, weights?, in_offset, in_neighbors, in_weights?, distance, even, counts, onward");
    module.def("add_along_arcs", &add_along_arcs<Distance>, "offset, neighbors, weights?, distance, left, right, sums");
}

}  // namespace

void bind_path_counts(Module& module) {
    bind<int64_t>(module);
    bind<double>(module);
}

}  // namespace tgraph
