// The sorts of orient.hpp.
#include "cohesion/orient.hpp"

#include <bit>
#include <numeric>
#include <vector>

#include "base/scan.hpp"
#include "csr/radix.hpp"

namespace tgraph {
namespace {

// Source of a radix sort by descending degree: the key is the largest degree minus the degree.
struct ByDegree {
    const StoredRows& rows;
    int64_t largest, size;
    int bits;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        for (int64_t v = range.begin; v < range.end; ++v) visit(Record::pack(largest - rows.degree(v), v, v, bits));
        return true;
    }
};

// Its sink: the vertices in order, and the rank of each.
template <class Record>
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

// Source of the radix sort: rows in order of rank, every arc reversed to lead to the hub. The sort by source is stable,
// so that rows of the result ascend.
struct TowardsHubs {
    const StoredRows& rows;
    const Ranking& ranking;
    bool keeps_parallel;
    int64_t size;
    int bits;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        const Neighbor* const rank = ranking.rank.data();
        const bool skips = !keeps_parallel;
        each_row(ranking.offset.data(), rows.num_vertices, range, [&](int64_t hub, Range arcs) {
            const int64_t first = ranking.offset.data()[hub];
            const Neighbor* row = rows.neighbors + rows.offset[ranking.order.data()[hub]] - first;
            for (int64_t i = arcs.begin; i < arcs.end; ++i) {
                if (skips && i > first && row[i] == row[i - 1]) continue;
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

}  // namespace

Ranking::Ranking(const StoredRows& rows)
    : order(rows.num_vertices), rank(rows.num_vertices), offset(rows.num_vertices + 1) {
    using Placed = Record<uint64_t, NoId>;
    const int64_t n = rows.num_vertices;
    const int64_t largest = reduce(n, int64_t{0}, [&](int64_t v) { return rows.degree(v); }, larger);
    const int bits = bits_below(n);
    const std::vector<Digit> digits = split_into_digits(bits, bits + std::bit_width(static_cast<uint64_t>(largest)));
    radix_sort<Placed>(ByDegree{rows, largest, n, bits}, n, RankSink<Placed>{order.data(), rank.data(), bits}, digits);
    offset.data()[0] = 0;
    scan(n, offset.data() + 1, int64_t{0}, [&](int64_t place) { return rows.degree(order.data()[place]); });
}

OrientedRows::OrientedRows(const StoredRows& rows, bool marks_parallel)
    : ranking(rows), offset(rows.num_vertices + 1), end(rows.num_vertices), num_vertices(rows.num_vertices) {
    sort(rows, marks_parallel);
    if (marks_parallel)
        merge_parallel();
    else
        copy(offset.data() + 1, num_vertices, end.data());
}

void OrientedRows::sort(const StoredRows& rows, bool keeps_parallel) {
    using Arc = Record<uint64_t, NoId>;
    const int bits = bits_below(num_vertices);
    const TowardsHubs source{rows, ranking, keeps_parallel, rows.num_arcs(), bits};
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

void OrientedRows::merge_parallel() {
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

bool is_skewed(const StoredRows& rows) {
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
