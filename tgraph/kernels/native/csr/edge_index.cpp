// An edge_index to destination-major CSR with self-loops, in one call, and the edge weights of GCN and mean
// aggregation. By radix sort (radix.hpp); fused, since the cost of a mini-batch is the number of passes over it.
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/bindings.hpp"
#include "csr/radix.hpp"

namespace tgraph {
namespace {

// Edges source[i] -> target[i], followed by self-loops of the first `size - num_edges` vertices.
struct EdgesAndLoops {
    const int64_t *source, *target;
    int64_t num_edges, size, num_sources, num_targets;
    int bits;

    template <class Record, class Visit>
    bool each(Range range, Visit visit) const {
        bool valid = true;
        const auto sources = static_cast<uint64_t>(num_sources), targets = static_cast<uint64_t>(num_targets);
        for (int64_t i = range.begin; i < std::min(range.end, num_edges); ++i) {
            const int64_t u = source[i], v = target[i];
            valid &= (static_cast<uint64_t>(u) < sources) & (static_cast<uint64_t>(v) < targets);
            visit(Record::pack(v, u, i, bits));
        }
        for (int64_t i = std::max(range.begin, num_edges); i < range.end; ++i)
            visit(Record::pack(i - num_edges, i - num_edges, i, bits));
        return valid;
    }

    bool targets_ascend() const {
        return holds_for_all(num_edges - 1, [this](int64_t i) { return target[i] <= target[i + 1]; });
    }
};

// The edges without self-loops.
class NoLoops {
public:
    explicit NoLoops(const EdgesAndLoops& edges) : source_(edges.num_edges), target_(edges.num_edges) {
        const int64_t both = std::min(edges.num_sources, edges.num_targets);
        for (int64_t i = 0; i < edges.num_edges; ++i) {
            const int64_t u = edges.source[i], v = edges.target[i];
            if (u == v) {
                valid_ &= u >= 0 && u < both;
                continue;
            }
            source_.data()[size_] = u;
            target_.data()[size_++] = v;
        }
    }

    bool valid() const { return valid_; }
    EdgesAndLoops in_place_of(const EdgesAndLoops& edges) const {
        const int64_t loops = edges.size - edges.num_edges;
        return {source_.data(), target_.data(), size_, size_ + loops, edges.num_sources, edges.num_targets, edges.bits};
    }

private:
    Scratch<int64_t> source_, target_;
    int64_t size_ = 0;
    bool valid_ = true;
};

struct Rows {
    int64_t* offset;
    int32_t* neighbors;
    int64_t* position;
};

// Returns the number of arcs, or -1 if an end of an edge is no vertex.
int64_t write_sorted(const EdgesAndLoops& edges, const Rows& rows) {
    using Numbered = Record<uint64_t, uint32_t>;
    const CsrSink<Numbered, int32_t> sink{rows.offset, rows.neighbors, rows.position, edges.num_targets, edges.bits};
    std::fill_n(rows.offset, edges.num_targets + 1, int64_t{0});
    if (!edges.size) return 0;
    const auto digits = split_into_digits(0, edges.bits + bits_below(edges.num_targets));
    return radix_sort<Numbered>(edges, edges.size, sink, digits) ? edges.size : -1;
}

// Rows of edges whose targets ascend, as those of a sampled batch: nothing is sorted. Edges keep their order, and each
// of the first `loops` rows has its self-loop before the first source that is larger; with `replace`, existing
// self-loops are left out. Positions are not written where they are those of the edges.
class Ascending {
public:
    Ascending(const EdgesAndLoops& edges, bool replace, const Rows& rows)
        : edges_(edges), replace_(replace), loops_(edges.size - edges.num_edges), rows_(rows) {}

    // Returns the number of arcs, or -1 if an end of an edge is no vertex.
    int64_t write() {
        const int parts = part_count(edges_.num_edges);
        std::vector<int64_t> kept(parts + 1, 0);  // edges before each part
        std::vector<char> valid(parts);
        for_each_part(parts, [&](int part) { valid[part] = count(range_of(part, parts), kept[part + 1]); });
        if (std::find(valid.begin(), valid.end(), 0) != valid.end()) return -1;
        for (int part = 0; part < parts; ++part) kept[part + 1] += kept[part];
        kept_ = kept[parts];
        for_each_part(parts, [&](int part) { write_rows(range_of(part, parts), kept[part]); });
        return kept_ + loops_;
    }

private:
    const EdgesAndLoops& edges_;
    const bool replace_;
    const int64_t loops_;
    const Rows rows_;
    int64_t kept_ = 0;

    // Whole rows.
    Range range_of(int part, int parts) const {
        const Range range = part_of(edges_.num_edges, part, parts);
        return {row_end(range.begin), row_end(range.end)};
    }
    int64_t row_end(int64_t i) const {
        const int64_t* const last = edges_.target + edges_.num_edges;
        return i ? std::upper_bound(edges_.target + i, last, edges_.target[i - 1]) - edges_.target : 0;
    }
    bool is_left_out(int64_t i) const { return replace_ && edges_.source[i] == edges_.target[i]; }

    bool count(Range range, int64_t& kept) const {
        bool valid = true;
        const auto sources = static_cast<uint64_t>(edges_.num_sources);
        const auto targets = static_cast<uint64_t>(edges_.num_targets);
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t u = edges_.source[i], v = edges_.target[i];
            valid &= (static_cast<uint64_t>(u) < sources) & (static_cast<uint64_t>(v) < targets);
            kept += !is_left_out(i);
        }
        return valid;
    }

    // Where the last part ends, so do all rows without edges.
    void write_rows(Range range, int64_t kept) const {
        const bool is_last = range.end == edges_.num_edges && (range.begin < range.end || !edges_.num_edges);
        int64_t row = range.begin ? edges_.target[range.begin - 1] + 1 : 0, i = range.begin;
        int64_t end = range.begin < range.end ? edges_.target[range.end - 1] + 1 : row;
        if (is_last) end = edges_.num_targets;
        int64_t place = kept + std::min(row, loops_);
        if (!row) rows_.offset[0] = 0;
        for (; row < end; ++row) {
            bool has_loop = row >= loops_;
            for (; i < range.end && edges_.target[i] == row; ++i) {
                if (is_left_out(i)) continue;
                const int64_t source = edges_.source[i];
                if (!has_loop && source > row) {
                    write_arc(place++, row, kept_ + row);
                    has_loop = true;
                }
                write_arc(place++, source, kept++);
            }
            if (!has_loop) write_arc(place++, row, kept_ + row);
            rows_.offset[row + 1] = place;
        }
    }

    void write_arc(int64_t place, int64_t source, int64_t position) const {
        rows_.neighbors[place] = static_cast<int32_t>(source);
        if (loops_) rows_.position[place] = position;
    }
};

// Sorts arcs by (target, source, position), or leaves them as they are where their targets ascend (`Ascending`).
// Self-loops of the first `loops` vertices are appended to the edges; with `replace`, existing self-loops are removed
// first, and positions refer to the remaining edges. Returns the number of arcs and whether positions are those of the
// edges, and not written.
std::pair<int64_t, bool> sort_by_target(In<int64_t> source, In<int64_t> target, int64_t num_sources, int64_t loops,
                                        bool replace, Out<int64_t> offset, Out<int32_t> neighbors,
                                        Out<int64_t> position) {
    const auto num_edges = static_cast<int64_t>(source.shape(0)), size = num_edges + loops;
    const auto num_targets = static_cast<int64_t>(offset.shape(0)) - 1;
    if (static_cast<int64_t>(target.shape(0)) != num_edges || static_cast<int64_t>(neighbors.shape(0)) != size ||
        static_cast<int64_t>(position.shape(0)) != size || size >= int64_t{1} << 32 || num_targets < 0)
        throw std::invalid_argument("target, neighbors or position: expected [edges] and [edges + loops]");
    if (loops < 0 || loops > std::min(num_sources, num_targets) || std::max(num_sources, num_targets) >= 1LL << 31)
        throw std::invalid_argument("loops: expected at most one for each vertex, of less than 2^31");
    const Rows rows{offset.data(), neighbors.data(), position.data()};
    advise_huge_pages(rows.neighbors, size * sizeof(int32_t));
    advise_huge_pages(rows.position, size * sizeof(int64_t));
    const EdgesAndLoops edges{source.data(), target.data(), num_edges, size, num_sources, num_targets,
                                  bits_below(num_sources)};
    const auto is_no_loop = [&](int64_t i) { return edges.source[i] != edges.target[i]; };
    if (edges.targets_ascend()) return {Ascending(edges, replace, rows).write(), !loops};
    if (!replace || !loops || holds_for_all(num_edges, is_no_loop)) return {write_sorted(edges, rows), false};
    const NoLoops kept(edges);
    return {kept.valid() ? write_sorted(kept.in_place_of(edges), rows) : -1, false};
}

// out[row] = 1 / sqrt(degree of the row), 0 for an empty row.
template <class A>
void inverse_root_degree(In<int64_t> offset, Out<A> out) {
    const auto rows = static_cast<int64_t>(out.shape(0));
    if (static_cast<int64_t>(offset.shape(0)) != rows + 1) throw std::invalid_argument("offset: expected [rows + 1]");
    const int64_t* begin = offset.data();
    for (int64_t row = 0; row < rows; ++row) {
        const int64_t degree = begin[row + 1] - begin[row];
        out.data()[row] = degree ? A{1} / std::sqrt(static_cast<A>(degree)) : A{0};
    }
}

// out[arc] = scale[row] * scale[neighbor].
template <class A>
void multiply_ends(In<A> scale, In<int64_t> offset, In<int32_t> neighbors, Out<A> out) {
    const auto rows = static_cast<int64_t>(offset.shape(0)) - 1, size = static_cast<int64_t>(out.shape(0));
    if (static_cast<int64_t>(scale.shape(0)) != rows || static_cast<int64_t>(neighbors.shape(0)) != size)
        throw std::invalid_argument("scale or neighbors: expected [n] and [arcs]");
    const A* const at = scale.data();
    const int64_t* const begin = offset.data();
    const int32_t* const others = neighbors.data();
    A* const to = out.data();
    const int parts = part_count(size);
    for_each_part(parts, [=](int part) {
        each_row(begin, rows, part_of(size, part, parts), [=](int64_t row, Range arcs) {
            for (int64_t i = arcs.begin; i < arcs.end; ++i) to[i] = at[others[i]] * at[row];
        });
    });
}

// out[arc] = 1 / degree of the neighbor in the CSR of `offset`: the weights of the transpose of a mean over its rows.
template <class A>
void mean_weights(In<int64_t> offset, In<int32_t> neighbors, Out<A> out) {
    const auto size = static_cast<int64_t>(out.shape(0));
    if (static_cast<int64_t>(neighbors.shape(0)) != size) throw std::invalid_argument("neighbors: expected [arcs]");
    const int64_t* const begin = offset.data();
    const int32_t* const others = neighbors.data();
    A* const to = out.data();
    for_each_entry(size, [=](int64_t i) { to[i] = A{1} / static_cast<A>(begin[others[i] + 1] - begin[others[i]]); });
}

template <class A>
void bind_weights(Module& module) {
    module.def("inverse_root_degree", &inverse_root_degree<A>, "offset, out", Gil::held);
    module.def("multiply_ends", &multiply_ends<A>, "scale, offset, neighbors, out");
    module.def("mean_weights", &mean_weights<A>, "offset, neighbors, out");
}

}  // namespace

void bind_edge_index(Module& module) {
    module.def("sort_by_target", &sort_by_target,
               "source, target, num_sources, loops, replace, offset, neighbors, position");
    bind_weights<float>(module);
    bind_weights<double>(module);
}

}  // namespace tgraph
