// Pull (SpMM over a semiring): every row of a selection reduces edge(data[neighbor], weight) over its arcs, in one pass
// and without O(E) intermediates. Parallel over edge-balanced chunks of rows; hubs are cut into pieces whose partial
// results are combined in order, so that sums do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "aggregation/segments/columns.hpp"
#include "aggregation/segments/pull_column.hpp"
#include "aggregation/segments/pull_data.hpp"
#include "base/numbers.hpp"
#include "base/selection.hpp"
#include "base/semiring.hpp"

namespace tgraph {

// Many columns: the arcs of a row are listed in batches while their rows of data are prefetched, and each batch is
// reduced one block of columns after the other.
template <class T, class A, class W, class Neighbor>
struct PullColumns {
    const Selection<Neighbor>& selection;
    const PullData<T, A, W>& with;
    const ColumnKernels<T, A, W> kernels;

    static constexpr bool takes_many = false;
    static constexpr int64_t batch = 128;
    static constexpr int64_t lookahead = 24;

    struct Batch {
        std::array<int64_t, batch> at, arc;  // offsets into the data; numbers of the arcs
        std::array<A, batch> weight;
        int64_t size;
    };

    int64_t reduce(const Piece& piece, A* sums) const {
        const int64_t first = selection.begin(piece.row), shift = selection.offset[piece.row] - first;
        std::fill_n(sums, with.columns, with.identity);
        Batch arcs;
        int64_t count = 0;
        for (int64_t i = first + piece.arcs.begin; i < first + piece.arcs.end; i += batch) {
            list({i, std::min(i + batch, first + piece.arcs.end)}, shift, arcs);
            reduce_batch(arcs, sums);
            count += arcs.size;
        }
        return count;
    }

    void list(Range stored, int64_t shift, Batch& arcs) const {
        arcs.size = 0;
        for (int64_t i = stored.begin; i < stored.end; ++i) {
            const int64_t coming = selection.neighbors[std::min(i + lookahead, selection.num_stored - 1)];
            fetch_columns(with.data + coming * with.columns, with.columns);
            const int64_t sender = selection.neighbors[i];
            if (selection.active && !selection.active[sender]) continue;
            arcs.at[arcs.size] = sender * with.columns;
            arcs.arc[arcs.size++] = i + shift;
        }
    }

    void join(A* sums, const A* others, int64_t columns) const { kernels.join(sums, others, columns); }

    void reduce_batch(Batch& arcs, A* sums) const {
        const int64_t span = with.columns / with.heads;
        if (!kernels.weighted)
            return kernels.reduce(sums, with.data, with.columns, arcs.at.data(), nullptr, arcs.size);
        if (span == 1 && with.heads > 1)
            return kernels.reduce_pairs(sums, with.data, with.columns, arcs.at.data(), with.weights, arcs.arc.data(),
                                        arcs.size);
        for (int64_t head = 0; head < with.heads; ++head) {
            for (int64_t j = 0; j < arcs.size; ++j)
                arcs.weight[j] = static_cast<A>(widen(with.weights[arcs.arc[j] * with.heads + head]));
            kernels.reduce(sums + head * span, with.data + head * span, span, arcs.at.data(), arcs.weight.data(),
                           arcs.size);
        }
    }
};

// Reduces the pieces of long rows in parallel, and combines them in order.
template <class A, class Kernel>
void reduce_pieces(const std::vector<Piece>& pieces, int threads, const Kernel& kernel) {
    const int64_t columns = kernel.with.columns;
    const auto size = static_cast<int64_t>(pieces.size());
    const Scratch<A> sums(size * columns);
    std::vector<int64_t> count(size);
    for_each_chunk(size, threads,
                   [&](int64_t i) { count[i] = kernel.reduce(pieces[i], sums.data() + i * columns); });
    for (int64_t i = 0, next; i < size; i = next) {
        A* sum = sums.data() + i * columns;
        for (next = i + 1; next < size && pieces[next].row == pieces[i].row; ++next) {
            kernel.join(sum, sums.data() + next * columns, columns);
            count[i] += count[next];
        }
        kernel.with.write(pieces[i].row, sum, count[i]);
    }
}

// Reduces every row. The chunks depend on the graph and the columns alone, not on the number of threads.
template <class A, class Kernel>
void reduce_rows(const Kernel& kernel) {
    const auto& selection = kernel.selection;
    const int64_t columns = kernel.with.columns;
    const int64_t grain = std::clamp<int64_t>((int64_t{1} << 16) / columns, 512, 8192);
    const int64_t longest = std::max(grain, 16 * columns);
    const RowChunks chunks{selection.offset, selection.count, grain};
    const int threads = part_count((selection.num_arcs() + selection.count) * columns);
    for_each_chunk(chunks.size(), threads, [&](int64_t chunk) {
        std::vector<A> sums(columns);
        const Range rows = chunks[chunk];
        for (int64_t row = rows.begin; row < rows.end; ++row) {
            if constexpr (Kernel::takes_many) {
                row = kernel.reduce_many({row, rows.end});
                if (row == rows.end) break;
            }
            const int64_t degree = selection.degree(row);
            if (degree > longest) continue;
            const int64_t count = kernel.reduce({row, {0, degree}}, sums.data());
            kernel.with.write(row, sums.data(), count);
        }
    });
    const std::vector<Piece> pieces = cut_long_rows(selection, chunks, longest);
    if (!pieces.empty()) reduce_pieces<A>(pieces, threads, kernel);
}

// A single column has its own kernels, compiled for numbers that need no conversion and 32-bit neighbors.
template <class T, class A, class W, class Neighbor>
void pull_rows(const Selection<Neighbor>& selection, const PullData<T, A, W>& with, std::string_view reduce,
               std::string_view edge) {
    if constexpr (!is_narrow<T> && sizeof(Neighbor) == sizeof(int32_t))
        if (with.columns == 1)
            return with_pair<T, A, W>(reduce, edge, [&]<class Reduce, class Edge>(Reduce, Edge) {
                reduce_rows<A>(PullColumn<Reduce, Edge, T, A, W>{selection, with});
            });
    reduce_rows<A>(PullColumns<T, A, W, Neighbor>{selection, with, column_kernels<T, A, W>(reduce, edge)});
}

inline void check_columns(int64_t columns, int64_t heads) {
    if (columns < 1 || heads < 1 || columns % heads)
        throw std::invalid_argument("columns: expected a multiple of heads");
}

template <class T, class A, class W, class Neighbor>
void pull(In<Neighbor> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<bool> active,
          In<Passed<T>> data, int64_t columns, In<Passed<W>> weights, int64_t heads, std::string_view reduce,
          std::string_view edge, A identity, bool mean,
          Out<Passed<typename PullData<T, A, W>::Result>> out) {
    using Result = typename PullData<T, A, W>::Result;
    const SelectionArgument<Neighbor> selection(neighbors, offset, rows, width, active);
    check_columns(columns, heads);
    const auto size = static_cast<int64_t>(data.shape(0));  // may have more rows than there are vertices (bipartite)
    if (size < selection->num_vertices * columns || size % columns)
        throw std::invalid_argument("data: expected [n, columns]");
    if (static_cast<int64_t>(out.shape(0)) != selection->count * columns)
        throw std::invalid_argument("out: expected [rows, columns]");
    if (edge != "copy" && (!weights.is_valid() || static_cast<int64_t>(weights.shape(0)) !=
                                                      selection->num_arcs() * heads))
        throw std::invalid_argument("weights: expected [arcs, heads]");
    const PullData<T, A, W> with{reinterpret_cast<const T*>(data.data()),
                                 reinterpret_cast<const W*>(weights.data()),
                                 columns,
                                 heads,
                                 identity,
                                 mean,
                                 reinterpret_cast<Result*>(out.data())};
    pull_rows(*selection, with, reduce, edge);
}

template <class T, class A, class W>
void bind_pull(Module& module, const char* name) {
    const auto define = [&](auto function) {
        module.def(name, function,
                   "neighbors, offset, rows?, width, active?, data, columns, weights?, heads, reduce, edge, identity, "
                   "mean, out");
    };
    define(&pull<T, A, W, int32_t>);
    define(&pull<T, A, W, int64_t>);
}

// One file per group of dtypes, so that they compile in parallel.
void bind_pull_float32(Module& module);
void bind_pull_float64(Module& module);
void bind_pull_integers(Module& module);
void bind_pull_narrow(Module& module);
void bind_push(Module& module);
void bind_gradients(Module& module);

}  // namespace tgraph
