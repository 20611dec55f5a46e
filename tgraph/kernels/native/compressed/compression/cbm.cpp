// Builder of the Compressed Binary Matrix format (row_forest.hpp): chooses a parent for each row by rounds of candidate
// search and minimum spanning forest, and encodes rows as deltas to their parents. Searches and encoding are parallel
// over chunks of rows, the forest is sequential.
#include "base/bindings.hpp"
#include "compressed/compression/similar_rows.hpp"

namespace tgraph {
namespace {

// The search also ends with a round that improves the cost of the forest by less than 1 %.
constexpr int most_rounds = 4;

BinaryRows rows_of(const In<int64_t>& offset, const In<int32_t>& columns) {
    return {offset.data(), columns.data(), static_cast<int64_t>(offset.shape(0)) - 1};
}

// Parents among the earlier rows of the same block: the lightest of the candidate edges, the first of equal ones.
class EarlierParents {
public:
    EarlierParents(const EarlierRows& before, int32_t* parent)
        : before_(before), parent_(parent), weight_(before.forest.size()) {
        for (std::size_t row = 0; row < weight_.size(); ++row) weight_[row] = before.forest[row].ones;
        std::fill(parent, parent + weight_.size(), int32_t{-1});
    }

    void offer(const std::vector<RowEdge>& edges) {
        for (const auto& edge : edges) {
            const int32_t child = std::max(edge.u, edge.v), above = std::min(edge.u, edge.v);
            if (edge.weight >= weight_[child] || above < before_.reach(child).begin) continue;
            weight_[child] = edge.weight;
            parent_[child] = above;
        }
    }

private:
    const EarlierRows& before_;
    int32_t* parent_;
    std::vector<int32_t> weight_;
};

// parent[v] : the row that row v is encoded against, -1 for none. earlier[v] : the same, restricted to earlier rows of
// the same block, which are delimited by `bounds`.
void find_parents(In<int64_t> offset, In<int32_t> columns, In<int64_t> column_offset, In<int32_t> column_rows,
                  int64_t price, In<int64_t> bounds, Out<int32_t> parent, Out<int32_t> earlier) {
    const auto rows = rows_of(offset, columns);
    const SimilarRows similar(rows, rows_of(column_offset, column_rows), price);
    RowForest forest(rows);
    const EarlierRows before{forest, {bounds.data(), bounds.data() + bounds.shape(0)}};
    EarlierParents earlier_parents(before, earlier.data());
    earlier_parents.offer(similar.search(before, 0));
    for (int round = 0; round < most_rounds; ++round) {
        const int64_t cost = forest.cost();
        std::vector<RowEdge> edges = similar.search(OtherBranches{forest}, round);
        earlier_parents.offer(edges);
        forest.improve(std::move(edges));
        if (cost - forest.cost() <= cost / 100) break;
    }
    forest.orient(parent.data());
}

// more[v], less[v] : number of columns in row v but not in its parent, and vice versa.
void count_deltas(In<int64_t> offset, In<int32_t> columns, In<int32_t> parent, Out<int32_t> more, Out<int32_t> less) {
    const auto rows = rows_of(offset, columns);
    const RowChunks chunks{rows.offset, rows.size};
    for_each_chunk(chunks.size(), thread_count(), [&](int64_t chunk) {
        const Range range = chunks[chunk];
        for (int64_t row = range.begin; row < range.end; ++row) {
            int32_t added = 0, removed = 0;
            if (parent.data()[row] < 0)
                added = static_cast<int32_t>(rows.ones(row));
            else
                each_difference(
                    rows, row, parent.data()[row], [&](int32_t) { ++added; }, [&](int32_t) { ++removed; });
            more.data()[row] = added;
            less.data()[row] = removed;
        }
    });
}

// Writes row v at child_offset[v]: its parent as an output node, the columns added, the columns removed as ~column.
template <class Child>
void list_deltas(In<int64_t> offset, In<int32_t> columns, In<int32_t> parent, In<int32_t> more,
                 In<int64_t> child_offset, Out<Child> children) {
    const auto rows = rows_of(offset, columns);
    const RowChunks chunks{rows.offset, rows.size};
    for_each_chunk(chunks.size(), thread_count(), [&](int64_t chunk) {
        const Range range = chunks[chunk];
        for (int64_t row = range.begin; row < range.end; ++row) {
            Child* out = children.data() + child_offset.data()[row];
            const int64_t above = parent.data()[row];
            if (above < 0) {
                std::copy(rows.begin(row), rows.end(row), out);
                continue;
            }
            *out++ = static_cast<Child>(rows.size + above);
            Child* removed = out + more.data()[row];
            each_difference(
                rows, row, above, [&](int32_t column) { *out++ = static_cast<Child>(column); },
                [&](int32_t column) { *removed++ = static_cast<Child>(~column); });
        }
    });
}

template <class Child>
void bind_list_deltas(Module& module) {
    module.def("list_deltas", &list_deltas<Child>, "offset, columns, parent, more, child_offset, children");
}

}  // namespace

void bind_cbm(Module& module) {
    module.def("find_parents", &find_parents,
               "offset, columns, column_offset, column_rows, price, bounds, parent, earlier");
    module.def("count_deltas", &count_deltas, "offset, columns, parent, more, less");
    bind_list_deltas<int32_t>(module);
    bind_list_deltas<int64_t>(module);
}

}  // namespace tgraph
