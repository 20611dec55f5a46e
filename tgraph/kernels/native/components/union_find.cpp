// Bindings of union-find (union_find.hpp), and of the selection of vertices outside of the largest component.
#include "components/union_find.hpp"

#include <numeric>

#include "base/bindings.hpp"

namespace tgraph {
namespace {

// Returns false, without changes, if the labels are no forest.
template <class Neighbor, class Label>
bool join(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> rows, int64_t width, bool both_ways,
          Out<Label> label) {
    const auto num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
    const ForestCheck found = check_forest(label.data(), num_vertices);
    if (!found.fits) return false;
    const bool all = !rows.is_valid();
    const int64_t num_rows = all ? num_vertices : static_cast<int64_t>(rows.shape(0));
    const Rows<Neighbor> held{offset.data(), neighbors.data(), num_vertices, all, rows.data(), num_rows, width};
    Joiner<Neighbor, Label>(held, label.data(), found.fresh, both_ways).run();
    return true;
}

// Joins along the rows of a block, whose first row is that of vertex `first`; trees are flattened by `flatten_labels`
// after all blocks. Labels and neighbors are validated by the caller.
template <class Neighbor, class Label>
void join_block(In<int64_t> offset, In<Neighbor> neighbors, int64_t first, Out<Label> label) {
    const auto num_rows = static_cast<int64_t>(offset.shape(0)) - 1;
    const int64_t* const offsets = offset.data();
    const Neighbor* const others = neighbors.data();
    Label* const labels = label.data();
    for_each_range(offsets[num_rows], 1 << 16, [=](Range arcs) {
        Joins<Label> joins{Forest<Label>(labels)};
        each_row(offsets, num_rows, arcs, [&](int64_t row, Range held) {
            Joiner<Neighbor, Label>::join(joins, first + row, others, held);
        });
    });
}

// Points every vertex at its root. Returns false if the labels are no forest.
template <class Label>
bool flatten_labels(Out<Label> label) {
    const auto num_vertices = static_cast<int64_t>(label.shape(0));
    if (!check_forest(label.data(), num_vertices).fits) return false;
    const Forest<Label> forest(label.data());
    for_each_range(num_vertices, vertices_per_chunk, [=](Range range) {
        for (int64_t v = range.begin; v < range.end; ++v) forest.flatten(static_cast<Label>(v));
    });
    return true;
}

// Whether a vertex is in another tree than `root` and has more than `width` arcs.
template <class Label>
struct Outside {
    const int64_t* offset;
    const Label* label;
    Label root;
    int64_t width;

    bool operator()(int64_t v) const { return (label[v] != root) & (offset[v + 1] - offset[v] > width); }
};

// starts[i] = number of vertices outside in the first i parts, of shape(starts) - 1. Returns the number of their arcs.
template <class Label>
int64_t count_outside(In<int64_t> offset, In<Label> label, Label root, int64_t width, Out<int64_t> starts) {
    const Outside<Label> outside{offset.data(), label.data(), root, width};
    const auto size = static_cast<int64_t>(label.shape(0));
    const int parts = static_cast<int>(starts.shape(0)) - 1;
    int64_t* start = starts.data();
    start[0] = 0;
    std::atomic<int64_t> arcs{0};
    for_each_chunk(parts, thread_count(), [&](int64_t part) {
        const Range range = part_of(size, static_cast<int>(part), parts);
        int64_t found = 0, held = 0;
        for (int64_t v = range.begin; v < range.end; ++v) {
            found += outside(v);
            held += outside(v) ? outside.offset[v + 1] - outside.offset[v] : 0;
        }
        start[part + 1] = found;
        arcs.fetch_add(held, std::memory_order_relaxed);
    });
    std::partial_sum(start, start + parts + 1, start);
    return arcs.load();
}

template <class Label>
void list_outside(In<int64_t> offset, In<Label> label, Label root, int64_t width, In<int64_t> starts,
                  Out<int64_t> vertices) {
    const Outside<Label> outside{offset.data(), label.data(), root, width};
    const auto size = static_cast<int64_t>(label.shape(0));
    const int parts = static_cast<int>(starts.shape(0)) - 1;
    const int64_t* start = starts.data();
    int64_t* const out = vertices.data();
    for_each_chunk(parts, thread_count(), [&](int64_t part) {
        const Range range = part_of(size, static_cast<int>(part), parts);
        int64_t next = start[part];
        for (int64_t v = range.begin; next < start[part + 1] && v < range.end; ++v) {
            out[next] = v;  // branch-free compaction: overwritten unless v is outside
            next += outside(v);
        }
    });
}

template <class Neighbor, class Label>
void bind_join_of(Module& module) {
    module.def("join", &join<Neighbor, Label>, "offset, neighbors, rows?, width, both_ways, label");
    module.def("join_block", &join_block<Neighbor, Label>, "offset, neighbors, first, label");
}

template <class Label>
void bind_outside(Module& module) {
    module.def("flatten_labels", &flatten_labels<Label>, "label");
    module.def("count_outside", &count_outside<Label>, "offset, label, root, width, starts");
    module.def("list_outside", &list_outside<Label>, "offset, label, root, width, starts, vertices");
}

}  // namespace

void bind_join(Module& module) {
    bind_join_of<int32_t, int32_t>(module);
    bind_join_of<int32_t, int64_t>(module);
    bind_join_of<int64_t, int64_t>(module);
    bind_outside<int32_t>(module);
    bind_outside<int64_t>(module);
}

}  // namespace tgraph
