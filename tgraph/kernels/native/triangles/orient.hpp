// Orientation of an undirected graph by degree: each edge becomes an arc to the end of larger degree, and vertices are
// renumbered by descending degree (Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", 1985; Schank and
// Wagner, WEA 2005). By parallel radix sorts (radix.hpp).
//
// Vertex 0 of the result is the largest hub. A row has the neighbors of smaller rank, ascending; it is no longer than
// sqrt(2 m), and most of its entries are hubs, which have the smallest numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/memory.hpp"
#include "threads/parallel.hpp"
#include "csr/radix.hpp"
#include "base/rows.hpp"

namespace tgraph {

// CSR with ascending rows; parallel arcs and self-loops are allowed.
template <class Neighbor>
struct StoredRows {
    const int64_t* offset;
    const Neighbor* neighbors;
    int64_t num_vertices;

    int64_t num_arcs() const { return offset[num_vertices] - offset[0]; }
    int64_t degree(int64_t v) const { return offset[v + 1] - offset[v]; }
};

// Source of a radix sort by descending degree: the key is the largest degree minus the degree.
template <class Neighbor>
struct ByDegree {
    const StoredRows<Neighbor>& rows;
    int64_t largest, size;
    int bits;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        for (int64_t v = range.begin; v < range.end; ++v) visit(Record::pack(largest - rows.degree(v), v, v, bits));
        return true;
    }
};

// Its sink: the vertices in order, and the rank of each.
template <class Record, class Neighbor>
struct RankSink {
    Neighbor *order, *rank;
    int bits;

    void write(Cursor& cursor, const Record& record) const {
        const auto v = static_cast<int64_t>(record.key & ((typename Record::Key{1} << bits) - 1));
        order[cursor.next] = static_cast<Neighbor>(v);
        rank[v] = static_cast<Neighbor>(cursor.next++);
    }
    void finish(const std::vector<Cursor>&) const {}
};

// Vertices by descending degree, then number (`order`), and the inverse permutation (`rank`).
template <class Neighbor>
struct Ranking {
    Scratch<Neighbor> order, rank;
    Scratch<int64_t> offset;  // offsets of the rows in that order

    explicit Ranking(const StoredRows<Neighbor>& rows)
        : order(rows.num_vertices), rank(rows.num_vertices), offset(rows.num_vertices + 1) {
        using Key = std::conditional_t<sizeof(Neighbor) == 8, uint128_t, uint64_t>;
        using Placed = Record<Key, NoId>;
        const int64_t n = rows.num_vertices;
        const int64_t largest = reduce(n, int64_t{0}, [&](int64_t v) { return rows.degree(v); }, larger);
        const int bits = bits_below(n);
        const std::vector<Digit> digits =
            split_into_digits(bits, bits + std::bit_width(static_cast<uint64_t>(largest)));
        radix_sort<Placed>(ByDegree<Neighbor>{rows, largest, n, bits}, n,
                           RankSink<Placed, Neighbor>{order.data(), rank.data(), bits}, digits);
        offset.data()[0] = 0;
        scan(n, offset.data() + 1, int64_t{0},
             [&](int64_t place) { return rows.degree(order.data()[place]); });
    }
};

// Source of the radix sort: rows in order of rank, every arc reversed to lead to the hub. The sort by source is stable,
// so that rows of the result ascend.
template <class Neighbor, bool keeps_parallel>
struct TowardsHubs {
    const StoredRows<Neighbor>& rows;
    const Ranking<Neighbor>& ranking;
    int64_t size;
    int bits;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        const Neighbor* rank = ranking.rank.data();
        each_row(ranking.offset.data(), rows.num_vertices, range, [&](int64_t hub, Range arcs) {
            const int64_t first = ranking.offset.data()[hub];
            const Neighbor* row = rows.neighbors + rows.offset[ranking.order.data()[hub]] - first;
            for (int64_t i = arcs.begin; i < arcs.end; ++i) {
                if (!keeps_parallel && i > first && row[i] == row[i - 1]) continue;
                const int64_t other = rank[row[i]];
                if (other > hub) visit(Record::pack(other, hub, i, bits));
            }
        });
        return true;
    }
};

// Writes records, and counts them.
template <class Record>
struct MeasuringSink {
    Record* out;
    int64_t* count;

    void write(Cursor& cursor, const Record& record) const { out[cursor.next++] = record; }
    void finish(const std::vector<Cursor>& cursors) const {
        *count = 0;
        for (const Cursor& cursor : cursors) *count = std::max(*count, cursor.next);
    }
};

template <class Neighbor>
struct OrientedRows {
    Ranking<Neighbor> ranking;
    Scratch<int64_t> offset, end;  // row u is neighbors[offset[u]:end[u]]
    Scratch<Neighbor> neighbors;
    Scratch<uint8_t> twice;  // whether an arc stands for parallel arcs; only with marks_parallel
    int64_t num_vertices, num_arcs = 0;

    OrientedRows(const StoredRows<Neighbor>& rows, bool marks_parallel)
        : ranking(rows), offset(rows.num_vertices + 1), end(rows.num_vertices), num_vertices(rows.num_vertices) {
        if (marks_parallel) {
            sort<true>(rows);
            merge_parallel();
        } else {
            sort<false>(rows);
            copy(offset.data() + 1, num_vertices, end.data());
        }
    }

    const Neighbor* row(int64_t u) const { return neighbors.data() + offset.data()[u]; }
    int64_t degree(int64_t u) const { return end.data()[u] - offset.data()[u]; }

private:
    template <bool keeps_parallel>
    void sort(const StoredRows<Neighbor>& rows) {
        using Key = std::conditional_t<sizeof(Neighbor) == 8, uint128_t, uint64_t>;
        using Arc = Record<Key, NoId>;
        const int bits = bits_below(num_vertices);
        const TowardsHubs<Neighbor, keeps_parallel> source{rows, ranking, rows.num_arcs(), bits};
        const std::vector<Digit> digits = split_into_digits(bits, 2 * bits);
        Scratch<Arc> arcs(source.size);  // about half of it is written
        counting_pass<Arc>(source, MeasuringSink<Arc>{arcs.data(), &num_arcs}, digits.front());
        neighbors = Scratch<Neighbor>(num_arcs);
        fill(offset.data(), num_vertices + 1, int64_t{0});
        const CsrSink<Arc, Neighbor> sink{offset.data(), neighbors.data(), nullptr, num_vertices, bits};
        std::vector<Digit> left(digits.begin() + 1, digits.end());
        if (left.empty()) left.push_back({bits, 0});  // a pass that only unpacks
        radix_sort<Arc>(Records<Arc>{arcs.data(), num_arcs}, num_arcs, sink, left);
    }

    void merge_parallel() {
        twice = Scratch<uint8_t>(num_arcs);
        const RowChunks chunks{offset.data(), num_vertices};
        for_each_chunk(chunks.size(), part_count(num_arcs), [&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t u = range.begin; u < range.end; ++u) {
                int64_t next = offset.data()[u];
                for (int64_t i = offset.data()[u]; i < offset.data()[u + 1]; ++i) {
                    const Neighbor v = neighbors.data()[i];
                    if (next > offset.data()[u] && neighbors.data()[next - 1] == v) {
                        twice.data()[next - 1] = 1;
                    } else {
                        neighbors.data()[next] = v;
                        twice.data()[next++] = 0;
                    }
                }
                end.data()[u] = next;
            }
        });
    }
};

// Whether relabelling by degree pays off, by a sample of degrees: the average is large and much larger than the median,
// as in the GAP benchmark suite (Beamer, Asanovic, Patterson, 2015).
template <class Neighbor>
bool is_skewed(const StoredRows<Neighbor>& rows) {
    constexpr int64_t samples = 1000;
    if (rows.num_arcs() / 10 < rows.num_vertices || rows.num_vertices < 10) return false;
    std::vector<int64_t> degrees(samples);
    uint64_t state = 0;
    for (int64_t& degree : degrees) {
        state += 0x9e3779b97f4a7c15;  // Weyl sequence of the golden ratio: evenly spread, independent of the numbering
        degree = rows.degree(static_cast<int64_t>((uint128_t{state} * rows.num_vertices) >> 64));
    }
    const double mean = static_cast<double>(std::reduce(degrees.begin(), degrees.end())) / samples;
    std::nth_element(degrees.begin(), degrees.begin() + samples / 2, degrees.end());
    return mean / 1.3 > static_cast<double>(degrees[samples / 2]);
}

}  // namespace tgraph
