// Attention over the arcs of each row (GAT, GATv2, dot product): data structures and the parallel iteration over rows.
// Passes gather neighbors in batches, without O(E) intermediates. The scores are defined in the portable
// implementation. Parallel over chunks of rows; hubs are cut into pieces, whose states are merged in order.
#pragma once

#include <array>
#include <vector>

#include "attention/attention_lanes.hpp"
#include "base/selection.hpp"

namespace tgraph {

enum class Score { gat, gatv2, dot };

// Rows of [heads, columns] numbers, read with `span` numbers per head: in place if columns == span, else in a copy
// padded with zeros.
template <class A>
struct Table {
    const A* data;
    Shape shape;
    int64_t columns;

    int64_t width() const { return shape.heads * shape.span; }
    bool is_padded() const { return columns != shape.span; }
    const A* stored(int64_t row) const { return data + row * shape.heads * columns; }

    const A* row(int64_t row, A* copy) const {
        if (!is_padded()) return stored(row);
        for (int64_t head = 0; head < shape.heads; ++head) {
            std::copy_n(stored(row) + head * columns, columns, copy + head * shape.span);
            std::fill_n(copy + head * shape.span + columns, shape.span - columns, A{0});
        }
        return copy;
    }

    // Writes a padded row without its padding, times `factors` unless they are null.
    void write(const A* row, const A* factors, A* to) const {
        for (int64_t head = 0; head < shape.heads; ++head)
            for (int64_t c = 0; c < columns; ++c) {
                const int64_t f = head * shape.span + c;
                to[head * columns + c] = factors ? row[f] * factors[f] : row[f];
            }
    }
};

// Inputs of all passes. For "gat", source, target and edge have one number per head and no columns.
template <class A>
struct Attention {
    const LaneKernels<A>* kernels;
    Score score;
    Shape shape;
    int64_t columns;
    A factor, gain;
    Dropout dropout;
    const int64_t* position;
    const A *source, *target, *value, *edge;
    const A* vector;  // [heads, span]: the vector of "gatv2", filled with the factor for "dot"
    const A *grad, *delta, *statistics;  // of each target; statistics [n_dst, heads, 2] as in the portable twin

    Table<A> table(const A* data) const { return {data, shape, columns}; }
    int64_t width() const { return shape.heads * shape.span; }
    int64_t place(int64_t arc) const { return position ? position[arc] : arc; }
};

// Rows of arcs, and the number of each arc in destination-major order.
struct Side {
    Selection rows;
    const int64_t* number;  // null for the identity
};

// An array [n, heads, each], of which `data` is null or the first number to read.
template <class A>
struct HeadNumbers {
    const A* data = nullptr;
    int64_t each = 1;
};

// Buffers for a batch of arcs of a row.
template <class A>
struct Batch {
    static constexpr int64_t lookahead = 24;
    using Arrays = std::array<HeadNumbers<A>, 3>;

    int64_t size = 0;
    Shape shape;  // of the arrays [heads, stride]
    std::array<const A*, most_arcs> row, sent, coming_row, coming_sent;
    std::array<int64_t, most_arcs> other, arc;
    std::vector<A> score, product, maximum, scale, delta, sum;  // [heads, stride]
    std::vector<A> rows, sents, fixed, fixed_sent, here, there;     // copies of rows; the last two of a single row
    std::vector<A> zeros;                                           // a row of them

    explicit Batch(const Attention<A>& with) : shape(with.shape) {
        for (auto* numbers : {&score, &product, &maximum, &scale, &delta, &sum})
            numbers->resize(with.shape.heads * most_arcs);
        here.resize(with.width());
        there.resize(with.width());
        zeros.resize(with.width());
        if (with.columns == with.shape.span && !with.edge) return;
        for (auto* copies : {&rows, &sents, &fixed, &fixed_sent}) copies->resize(most_arcs * with.width());
    }

    // Lists the arcs in `range`, for vectors of `lanes` numbers. Prefetches up to three arrays at the neighbors of
    // later arcs; the first null one ends `arrays`.
    void list(const Side& side, Range range, const Arrays& arrays, int lanes) {
        const int64_t last = side.rows.num_stored - 1, heads = shape.heads;
        const Ids neighbors = side.rows.neighbors;
        size = range.end - range.begin;
        shape.stride = size < lanes ? size : most_arcs;
        for (int64_t a = 0; a < size; ++a) {
            other[a] = neighbors[range.begin + a];
            arc[a] = side.number ? side.number[range.begin + a] : range.begin + a;
            if (!arrays[0].data) continue;
            const int64_t next = neighbors[std::min(range.begin + a + lookahead, last)] * heads;
            for (int kind = 0; kind < 3 && arrays[kind].data; ++kind)
                fetch(arrays[kind].data + next * arrays[kind].each);
        }
    }

    // Lists pointers to the rows of the neighbors in a table (`found`), and to those of later arcs for prefetching
    // (`coming`). Rows are copied if edge features are added, as by `plus_edge`, or rows are padded.
    void gather(const Side& side, int64_t begin, const Table<A>& table, const Attention<A>& with, bool edges,
                std::array<const A*, most_arcs>& found, std::array<const A*, most_arcs>& coming, A* copies,
                const A* first = nullptr) const {
        const int64_t last = side.rows.num_stored - 1;
        const Ids neighbors = side.rows.neighbors;
        const bool copied = edges || table.is_padded();
        for (int64_t a = 0; a < size; ++a) {
            const A* next = table.stored(neighbors[std::min(begin + a + lookahead, last)]);
            coming[a] = next;
            found[a] = table.stored(other[a]);
            if (!copied) continue;
            for (int64_t f = 0; f < table.shape.heads * table.columns; f += 64 / static_cast<int64_t>(sizeof(A)))
                fetch(next + f);
            A* copy = copies + a * table.width();
            const A* row = table.row(other[a], copy);
            found[a] = coming[a] = edges ? plus_edge(row, with, a, copy, first) : copy;
        }
    }

    // copy = row + the features of the edge of arc `a`, or (first + these) + row; `copy` may be `row`. The target comes
    // last in all passes, so that the scores of the backward are those of the forward to the bit.
    const A* plus_edge(const A* row, const Attention<A>& with, int64_t a, A* copy, const A* first = nullptr) const {
        const A* edge = with.table(with.edge).stored(with.place(arc[a]));
        const auto [heads, span, stride] = with.shape;
        for (int64_t head = 0; head < heads; ++head) {
            for (int64_t c = 0, f = head * span; c < with.columns; ++c, ++f) {
                const A number = edge[head * with.columns + c];
                copy[f] = first ? first[f] + number + row[f] : row[f] + number;
            }
            std::fill_n(copy + head * span + with.columns, span - with.columns, A{0});
        }
        return copy;
    }

    // One row per arc: `row` plus the features of its edge. Returns their distance, 0 without edge features, when all
    // are `row`.
    int64_t beside_edges(const A*& row, const Attention<A>& with, A* copies) const {
        if (!with.edge) return 0;
        for (int64_t a = 0; a < size; ++a) plus_edge(row, with, a, copies + a * with.width());
        row = copies;
        return with.width();
    }

    // Scores of "gat": leaky_relu of the sums of the numbers of the row (`fixed`) and of its neighbors (`others`).
    void sum_numbers(const Attention<A>& with, const A* fixed, const A* others) {
        const int64_t heads = shape.heads, stride = shape.stride;
        for (int64_t a = 0; a < size; ++a) {
            const A* number = others + other[a] * heads;
            for (int64_t head = 0; head < heads; ++head) sum[head * stride + a] = fixed[head] + number[head];
            if (!with.edge) continue;
            const A* edge = with.edge + with.place(arc[a]) * heads;
            for (int64_t head = 0; head < heads; ++head) sum[head * stride + a] += edge[head];
        }
        with.kernels->leaky_numbers(sum.data(), size, shape, with.factor, score.data());
    }

    // Adds the gradients of the scores of the batch to those of the row.
    void add_to_heads(A* sums, int64_t heads) const {
        for (int64_t head = 0; head < heads; ++head)
            for (int64_t a = 0; a < size; ++a) sums[head] += product[head * shape.stride + a];
    }

    // Spreads numbers per head to the arcs: those of row `row`, or of each neighbor if `row` is negative.
    void spread(HeadNumbers<A> numbers, int64_t row, int64_t heads, std::vector<A>& to) const {
        for (int64_t a = 0; a < size; ++a)
            for (int64_t head = 0; head < heads; ++head)
                to[head * shape.stride + a] = numbers.data[((row < 0 ? other[a] : row) * heads + head) * numbers.each];
    }
};

// ---- all rows -------------------------------------------------------------------------------------------------------

// Chunks of rows, and pieces of long rows; they depend on the arcs alone, not on the number of threads.
struct Cut {
    RowChunks chunks;
    int64_t longest;
    std::vector<Piece> pieces;

    explicit Cut(const Selection& rows)
        : chunks{rows.offset, rows.count, std::max<int64_t>((rows.num_arcs() + rows.count) / 512, 1 << 10)},
          longest(chunks.grain), pieces(cut_long_rows(rows, chunks, longest)) {}

    // Number of chunks and pieces.
    int64_t size() const { return chunks.size() + static_cast<int64_t>(pieces.size()); }
};

// A pass over all rows, each with a state of numbers, which is 0 at first and added up over the pieces of a row.
template <class A>
struct Pass {
    const Attention<A>& with;
    const Side& side;
    const int64_t state;  // its size

    Pass(const Attention<A>& with, const Side& side, int64_t state) : with(with), side(side), state(state) {}
    virtual ~Pass() = default;

    virtual void start(A* sums) const { std::fill_n(sums, state, A{0}); }
    // Adds some arcs of the row; `part` selects a total per chunk or piece.
    virtual void reduce(Batch<A>& batch, int64_t row, Range arcs, A* sums, int64_t part) const = 0;
    // Combines the states of two pieces of a row.
    virtual void merge(A* sums, const A* other) const {
        for (int64_t f = 0; f < state; ++f) sums[f] += other[f];
    }
    // Writes the result.
    virtual void finish(int64_t row, A* sums) const = 0;
};

template <class A>
void over_rows(const Side& side, const Cut& cut, const Pass<A>& pass) {
    const Selection& rows = side.rows;
    const int threads = part_count((rows.num_arcs() + rows.count) * pass.with.width());
    const int64_t chunks = cut.chunks.size(), state = pass.state;
    const auto pieces = static_cast<int64_t>(cut.pieces.size());
    const Scratch<A> held(std::max<int64_t>(pieces * state, 1));
    for_each_chunk(chunks + pieces, threads, [&](int64_t part) {
        Batch<A> batch(pass.with);
        if (part < pieces) {
            A* sums = held.data() + part * state;
            const auto& [row, arcs] = cut.pieces[part];
            pass.start(sums);
            pass.reduce(batch, row, {rows.offset[row] + arcs.begin, rows.offset[row] + arcs.end}, sums, part);
            return;
        }
        std::vector<A> sums(state);
        const Range chunk = cut.chunks[part - pieces];
        for (int64_t row = chunk.begin; row < chunk.end; ++row) {
            if (rows.degree(row) > cut.longest) continue;
            pass.start(sums.data());
            pass.reduce(batch, row, {rows.offset[row], rows.offset[row + 1]}, sums.data(), part);
            pass.finish(row, sums.data());
        }
    });
    for (int64_t i = 0, next; i < pieces; i = next) {
        A* sums = held.data() + i * state;
        for (next = i + 1; next < pieces && cut.pieces[next].row == cut.pieces[i].row; ++next)
            pass.merge(sums, held.data() + next * state);
        pass.finish(cut.pieces[i].row, sums);
    }
}

}  // namespace tgraph
