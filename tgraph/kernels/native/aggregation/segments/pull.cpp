// Pull (SpMM over a semiring): every row of a selection reduces edge(data[neighbor], weight) over its arcs, in one pass
// and without O(E) intermediates. Parallel over edge-balanced chunks of rows; hubs are cut into pieces whose partial
// results are combined in order, so that sums do not depend on the number of threads.
#include "aggregation/segments/segments.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "aggregation/segments/row_reduction.hpp"
#include "base/selection.hpp"

namespace tgraph {
namespace {

struct Pull {
    const Selection& selection;
    const Operands& with;
    const bool mean;

    bool stores_accumulators() const { return with.result == with.number; }

    // Writes what a row has received from `count` neighbors; `sums` may be its result.
    void write(int64_t row, void* sums, int64_t count) const {
        if (!mean && stores_accumulators() && sums == with.result_of(row)) return;
        const int64_t bounds[] = {0, count};
        if (mean) divide_rows(with.number, sums, with.columns, bounds, 1);
        if (char* const out = with.result_of(row); out != sums)
            store_numbers(with.number, sums, with.columns, with.result, out);
    }
};

// Many columns: the arcs of a row are listed in batches while their rows of data are prefetched, and each batch is
// reduced one block of columns after the other.
class PullColumns {
public:
    explicit PullColumns(const Pull& pull) : pull_(pull), with_(pull.with), rows_(with_) {}

    // Reduces a piece of a row to `sums` and returns the number of active arcs.
    int64_t reduce(const Piece& piece, void* sums) {
        const Selection& selection = pull_.selection;
        const int64_t first = selection.begin(piece.row), shift = selection.offset[piece.row] - first;
        const int64_t end = first + piece.arcs.end;
        with_.start(sums);
        int64_t count = 0;
        for (int64_t i = first + piece.arcs.begin; i < end; i += RowReduction::most_arcs) {
            const int64_t listed = list({i, std::min(i + RowReduction::most_arcs, end)}, shift);
            rows_.add(sums, at_.data(), by_.data(), listed);
            count += listed;
        }
        return count;
    }

    int64_t reduce_many(Range rows) { return rows.begin; }

private:
    static constexpr int64_t lookahead = 24;

    int64_t list(Range stored, int64_t shift) {
        const Ids neighbors = pull_.selection.neighbors;
        return neighbors.are_wide ? list(static_cast<const int64_t*>(neighbors.data), stored, shift)
                                  : list(static_cast<const int32_t*>(neighbors.data), stored, shift);
    }

    template <class Neighbor>
    int64_t list(const Neighbor* neighbors, Range stored, int64_t shift) {
        const int64_t last = pull_.selection.num_stored - 1, columns = with_.columns, heads = with_.heads;
        const int64_t bytes = with_.row_bytes();
        const char* const data = with_.data;
        const bool* const active = pull_.selection.active;
        int64_t *const at = at_.data(), *const by = by_.data();
        int64_t size = 0;
        if (!active && with_.edge == Edge::copy) {
            for (int64_t i = stored.begin; i < stored.end; ++i) {
                fetch_row(data + neighbors[std::min(i + lookahead, last)] * bytes, bytes);
                at[size++] = neighbors[i] * columns;
            }
            return size;
        }
        for (int64_t i = stored.begin; i < stored.end; ++i) {
            fetch_row(data + neighbors[std::min(i + lookahead, last)] * bytes, bytes);
            const int64_t sender = neighbors[i];
            if (active && !active[sender]) continue;
            at[size] = sender * columns;
            by[size++] = (i + shift) * heads;
        }
        return size;
    }

    const Pull& pull_;
    const Operands& with_;
    RowReduction rows_;
    std::array<int64_t, RowReduction::most_arcs> at_, by_;  // offsets into the data and the weights
};

// One column (SpMV over a semiring): the messages of some thousand arcs are written to a small buffer first, so that a
// mispredicted end of a row does not delay the loads. For 32-bit neighbors.
class PullColumn {
public:
    explicit PullColumn(const Pull& pull)
        : pull_(pull), with_(pull.with), neighbors_(static_cast<const int32_t*>(pull.selection.neighbors.data)),
          kernels_(kernels_of(with_)) {}

    static ColumnKernels kernels_of(const Operands& with) {
        return column_kernels(with.stored, with.stored_weights, with.number, with.reduction, with.edge);
    }

    // Reduces and writes rows from rows.begin on, until one does not fit the buffer; returns which.
    int64_t reduce_many(Range rows) {
        const Selection& selection = pull_.selection;
        if (counts_active()) return rows.begin;
        const int64_t* offset = selection.offset;
        while (rows.begin < rows.end) {
            const int64_t first = offset[rows.begin], limit = std::min(rows.begin + size, rows.end);
            const int64_t end = std::upper_bound(offset + rows.begin, offset + limit + 1, first + size) - offset - 1;
            if (end <= rows.begin) break;
            const bool direct = pull_.stores_accumulators();
            void* const results = direct ? static_cast<void*>(with_.result_of(rows.begin)) : results_;
            if (offset == selection.stored)  // all arcs of all rows
                receive(first, first, offset[end] - first, messages_);
            else
                for (int64_t row = rows.begin; row < end; ++row)
                    receive(selection.begin(row), offset[row], selection.degree(row),
                            messages_ + (offset[row] - first) * size_of(with_.number));
            kernels_.reduce(messages_, offset, {rows.begin, end}, with_.identity.data(), results);
            if (pull_.mean) divide_rows(with_.number, results, 1, offset + rows.begin, end - rows.begin);
            if (!direct)
                store_numbers(with_.number, results, end - rows.begin, with_.result, with_.result_of(rows.begin));
            rows.begin = end;
        }
        return rows.begin;
    }

    // Reduces a piece of a row to `sum` and returns the number of active arcs.
    int64_t reduce(const Piece& piece, void* sum) {
        const Selection& selection = pull_.selection;
        const int64_t first = selection.begin(piece.row), shift = selection.offset[piece.row] - first;
        const Range stored{first + piece.arcs.begin, first + piece.arcs.end};
        with_.start(sum);
        if (counts_active()) return reduce_active(stored, shift, sum);
        for (int64_t i = stored.begin; i < stored.end; i += size) {
            const int64_t bounds[] = {i, std::min(i + size, stored.end)};
            receive(i, i + shift, bounds[1] - i, messages_);
            kernels_.reduce(messages_, bounds, {0, 1}, with_.identity.data(), results_);
            kernels_.fold(sum, results_, 1);
        }
        return stored.end - stored.begin;
    }

private:
    static constexpr int64_t size = 2048;

    bool counts_active() const { return pull_.mean && pull_.selection.active; }

    // The messages of arcs from `stored` on, whose weights start at `arc`; the identity from those that do not send.
    void receive(int64_t stored, int64_t arc, int64_t count, char* messages) {
        kernels_.write(with_.data, neighbors_ + stored, weights_at(arc), count, messages);
        if (!pull_.selection.active) return;
        if (size_of(with_.number) == sizeof(int32_t))
            silence<int32_t>(neighbors_ + stored, count, messages);
        else
            silence<int64_t>(neighbors_ + stored, count, messages);
    }

    template <class Word>
    void silence(const int32_t* senders, int64_t count, char* messages) const {
        const bool* const active = pull_.selection.active;
        Word identity;
        std::memcpy(&identity, with_.identity.data(), sizeof(Word));
        auto* const message = reinterpret_cast<Word*>(messages);
        for (int64_t i = 0; i < count; ++i) {  // without a branch, which would be mispredicted
            const Word sends = -static_cast<Word>(active[senders[i]]);
            message[i] = (message[i] & sends) | (identity & ~sends);
        }
    }

    const char* weights_at(int64_t arc) const {
        return with_.edge == Edge::copy ? nullptr : with_.weights + arc * size_of(with_.stored_weights);
    }

    // In order, and counted: the arcs from active neighbors are listed first.
    int64_t reduce_active(Range stored, int64_t shift, void* sum) {
        constexpr int64_t batch = 256;
        std::array<int32_t, batch> senders;
        std::array<int64_t, batch> arcs;
        const bool* const active = pull_.selection.active;
        int64_t total = 0;
        for (int64_t begin = stored.begin; begin < stored.end; begin += batch) {
            int64_t count = 0;
            for (int64_t i = begin; i < std::min(begin + batch, stored.end); ++i) {
                senders[count] = neighbors_[i];
                arcs[count] = i + shift;
                count += active[neighbors_[i]];
            }
            const int64_t bytes = with_.edge == Edge::copy ? 0 : size_of(with_.stored_weights);
            for (int64_t j = 0; j < count && bytes; ++j)
                std::memcpy(results_ + j * bytes, with_.weights + arcs[j] * bytes, bytes);
            kernels_.write(with_.data, senders.data(), results_, count, messages_);
            kernels_.fold(sum, messages_, count);
            total += count;
        }
        return total;
    }

    const Pull& pull_;
    const Operands& with_;
    const int32_t* const neighbors_;
    const ColumnKernels kernels_;
    alignas(64) char messages_[size * 8 + message_padding], results_[size * 8];
};

// Reduces the pieces of long rows in parallel, and combines them in order.
template <class Kernel>
void reduce_pieces(const Pull& pull, const std::vector<Piece>& pieces, int threads) {
    const Operands& with = pull.with;
    const int64_t bytes = with.columns * size_of(with.number), none = 0;
    const auto size = static_cast<int64_t>(pieces.size());
    const Scratch<char> sums(size * bytes);
    std::vector<int64_t> count(size);
    for_each_chunk(size, threads, [&](int64_t i) {
        Kernel kernel(pull);
        count[i] = kernel.reduce(pieces[i], sums.data() + i * bytes);
    });
    const ReduceRows join = reduce_rows_kernel(with.number, with.reduction);
    for (int64_t i = 0, next; i < size; i = next) {
        char* sum = sums.data() + i * bytes;
        for (next = i + 1; next < size && pieces[next].row == pieces[i].row; ++next) {
            join(sum, sums.data() + next * bytes, with.columns, &none, nullptr, 1);
            count[i] += count[next];
        }
        pull.write(pieces[i].row, sum, count[i]);
    }
}

// Reduces every row. The chunks depend on the graph and the columns alone, not on the number of threads.
template <class Kernel>
void reduce_rows(const Pull& pull) {
    const Selection& selection = pull.selection;
    const int64_t columns = pull.with.columns;
    const int64_t grain = std::clamp<int64_t>((int64_t{1} << 16) / columns, 512, 8192);
    const int64_t longest = std::max(grain, 16 * columns);
    const RowChunks chunks{selection.offset, selection.count, grain};
    const int threads = part_count((selection.num_arcs() + selection.count) * columns);
    for_each_chunk(chunks.size(), threads, [&](int64_t chunk) {
        Kernel kernel(pull);
        std::vector<char> scratch(pull.stores_accumulators() ? 0 : columns * size_of(pull.with.number));
        const Range rows = chunks[chunk];
        for (int64_t row = rows.begin; row < rows.end; ++row) {
            row = kernel.reduce_many({row, rows.end});
            if (row == rows.end) break;
            const int64_t degree = selection.degree(row);
            if (degree > longest) continue;
            void* const sums = scratch.empty() ? pull.with.result_of(row) : scratch.data();
            const int64_t count = kernel.reduce({row, {0, degree}}, sums);
            pull.write(row, sums, count);
        }
    });
    const std::vector<Piece> pieces = cut_long_rows(selection, chunks, longest);
    if (!pieces.empty()) reduce_pieces<Kernel>(pull, pieces, threads);
}

void pull_rows(const Selection& selection, const Operands& with, bool mean, const In<void>& data,
               const In<void>& weights, const Out<void>& out) {
    const auto size = static_cast<int64_t>(data.shape(0));  // may have more rows than there are vertices (bipartite)
    if (size < selection.num_vertices * with.columns || size % with.columns)
        throw std::invalid_argument("data: expected [n, columns]");
    if (static_cast<int64_t>(out.shape(0)) != selection.count * with.columns)
        throw std::invalid_argument("out: expected [rows, columns]");
    if (with.edge != Edge::copy && (!weights.is_valid() || static_cast<int64_t>(weights.shape(0)) !=
                                                               selection.num_arcs() * with.heads))
        throw std::invalid_argument("weights: expected [arcs, heads]");
    reduce_rows_kernel(with.number, with.reduction);  // throws where there is none
    const Pull pull{selection, with, mean};
    if (with.columns == 1 && !selection.neighbors.are_wide && PullColumn::kernels_of(with).write)
        reduce_rows<PullColumn>(pull);
    else
        reduce_rows<PullColumns>(pull);
}

template <class T>
void pull(In<void> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<bool> active, In<void> data,
          int64_t columns, In<void> weights, int64_t heads, std::string_view reduce, std::string_view edge,
          Accumulator<T> identity, bool mean, Out<void> out) {
    const SelectionArgument selection(neighbors, offset, rows, width, active);
    const Operands with = operands_of<T>(data, columns, weights, heads, reduce, edge, identity, out);
    pull_rows(*selection, with, mean, data, weights, out);
}

template <class T>
void bind_pull(Module& module, const char* name) {
    module.def(name, &pull<T>,
               "neighbors, offset, rows?, width, active?, data, columns, weights?, heads, reduce, edge, identity, "
               "mean, out");
}

}  // namespace

void bind_aggregate(Module& module) {
    bind_pull<float>(module, "pull_float32");
    bind_pull<double>(module, "pull_float64");  // of float32 as well
    bind_pull<int32_t>(module, "pull_int32");
    bind_pull<int64_t>(module, "pull_int64");
    bind_pull<uint8_t>(module, "pull_uint8");
    bind_pull<Float16>(module, "pull_float16");
    bind_pull<BFloat16>(module, "pull_bfloat16");
    bind_push(module);
    bind_gradients(module);
}

}  // namespace tgraph
