// Parents from distances: for each vertex an in-neighbor u with distance[u] + weight == distance[v].
//
// Nearer ones come first, the smallest of them. Where arcs of weight 0, or lost to rounding, lead to a vertex from its
// own distance only, rounds over such vertices follow: their parents are in the tree already when a round begins.
#include <cstdint>
#include <limits>
#include <vector>

#include "base/rows.hpp"
#include "paths/search.hpp"

namespace tgraph {
namespace {

template <class Value>
class Tree {
public:
    // `rows` are those of the in-neighbors, ascending. Parents of sources are the sources themselves when it begins,
    // all others -1.
    Tree(const PathRows<Value>& rows, const Value* distance, int64_t* parent)
        : rows_(rows), distance_(distance), parent_(parent) {}

    void run() {
        const RowChunks chunks{rows_.offset, rows_.num_vertices};
        std::vector<std::vector<int64_t>> left(chunks.size());  // not reached from nearer vertices
        for_each_chunk(chunks.size(), thread_count(), [&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t v = range.begin; v < range.end; ++v)
                if (parent_[v] < 0 && is_reached(v)) {
                    parent_[v] = nearer(v);
                    if (parent_[v] < 0) left[chunk].push_back(v);
                }
        });
        std::vector<int64_t> waiting;
        for (const std::vector<int64_t>& part : left) waiting.insert(waiting.end(), part.begin(), part.end());
        while (round(waiting)) poll_interruption();
    }

private:
    const PathRows<Value> rows_;
    const Value* const distance_;
    int64_t* const parent_;

    bool is_reached(int64_t v) const {
        using Numbers = std::numeric_limits<Value>;
        return distance_[v] >= 0 && !(Numbers::has_infinity && distance_[v] == Numbers::infinity());
    }

    bool is_tight(int64_t arc, int64_t v) const {
        const Value from = distance_[rows_.neighbors[arc]];
        const Value sum = from + rows_.weight(arc);
        return sum == distance_[v] && is_reached(rows_.neighbors[arc]);
    }

    // The sum is compared first: it seldom is the distance, which the processor foresees.
    int64_t nearer(int64_t v) const {
        const Value own = distance_[v];
        for (int64_t arc = rows_.offset[v], end = rows_.offset[v + 1]; arc < end; ++arc) {
            const Value from = distance_[rows_.neighbors[arc]];
            if (from + rows_.weight(arc) == own && from < own && from >= 0) return rows_.neighbors[arc];
        }
        return -1;
    }

    int64_t in_tree(int64_t v) const {
        for (int64_t arc = rows_.offset[v]; arc < rows_.offset[v + 1]; ++arc)
            if (parent_[rows_.neighbors[arc]] >= 0 && is_tight(arc, v)) return rows_.neighbors[arc];
        return -1;
    }

    // Returns whether parents were found.
    bool round(std::vector<int64_t>& waiting) const {
        std::vector<int64_t> found;
        for (const int64_t v : waiting) found.push_back(in_tree(v));
        std::size_t kept = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            parent_[waiting[i]] = found[i];
            if (found[i] < 0) waiting[kept++] = waiting[i];
        }
        waiting.resize(kept);
        return kept > 0 && kept < found.size();
    }
};

template <class Value, class Weight>
void parents(In<int64_t> in_offset, In<void> in_neighbors, In<Weight> in_weights, In<Value> distance,
             Out<int64_t> parent) {
    const PathRows<Value> rows(in_offset, in_neighbors, in_weights);
    Tree<Value>(rows, distance.data(), parent.data()).run();
}

template <class Value, class Weight>
void bind(Module& module) {
    module.def("parents", &parents<Value, Weight>, "in_offset, in_neighbors, in_weights?, distance, parent");
}

}  // namespace

void bind_parents(Module& module) {
    bind<int64_t, int64_t>(module);
    bind<int64_t, int32_t>(module);
    bind<float, float>(module);
    bind<double, double>(module);
}

}  // namespace tgraph
