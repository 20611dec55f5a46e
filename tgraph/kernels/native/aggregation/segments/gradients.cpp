// Kernels for the gradients of segment reductions: SDDMM, argmin and argmax over the neighbors of each row with the
// scatter of their gradient, and the gradient of segment products. Parallel over chunks of arcs or rows; the scatter is
// parallel over columns, so that no two threads write to the same location.
#include <atomic>
#include <vector>

#include "aggregation/segments/row_reduction.hpp"
#include "aggregation/segments/segments.hpp"
#include "base/selection.hpp"

namespace tgraph {
namespace {

// Dot product in eight partial sums, as the compiler may not reorder floating point additions.
template <class A>
TGRAPH_INLINE A dot(const A* a, const A* b, int64_t size) {
    using Lanes = Vector<A, 8>;
    Lanes sum{};
    int64_t f = 0;
    for (; f + 8 <= size; f += 8) sum += load<A, 8>(a + f) * load<A, 8>(b + f);
    A total = ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
    for (; f < size; ++f) total += a[f] * b[f];
    return total;
}

template <class A>
TGRAPH_MULTIVERSION void dot_heads(const A* a, const A* b, int64_t heads, int64_t span, A* out) {
    for (int64_t head = 0; head < heads; ++head) out[head] = dot(a + head * span, b + head * span, span);
}

// Whether data has [n, columns] of the vertices, or more rows: of other vertices, where arcs come from these.
bool has_rows(std::size_t size, int64_t n, int64_t columns) {
    const auto given = static_cast<int64_t>(size);
    return given % columns == 0 && given >= n * columns;
}

// SDDMM: out[arc, head] = dot product of the row's and the neighbor's data over the columns of the head; 0 for arcs
// from inactive neighbors.
template <class A>
void arc_products(In<void> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<bool> active,
                  In<A> row_data, In<A> data, int64_t columns, int64_t heads, Out<A> out) {
    const SelectionArgument argument(neighbors, offset, rows, width, active);
    const Selection selection = *argument;
    const int64_t arcs = selection.num_arcs();
    check_columns(columns, heads);
    if (static_cast<int64_t>(row_data.shape(0)) != selection.count * columns ||
        !has_rows(data.shape(0), selection.num_vertices, columns) ||
        static_cast<int64_t>(out.shape(0)) != arcs * heads)
        throw std::invalid_argument("row_data, data or out: expected [rows, columns], [n, columns], [arcs, heads]");
    constexpr int64_t grain = 1 << 12;
    for_each_chunk((arcs + grain - 1) / grain, part_count(arcs * columns), [&](int64_t chunk) {
        const Range range{chunk * grain, std::min((chunk + 1) * grain, arcs)};
        each_row(selection.offset, selection.count, range, [&](int64_t r, Range within) {
            const int64_t shift = selection.begin(r) - selection.offset[r];
            for (int64_t arc = within.begin; arc < within.end; ++arc) {
                const int64_t neighbor = selection.neighbors[arc + shift];
                A* to = out.data() + arc * heads;
                if (selection.active && !selection.active[neighbor])
                    std::fill_n(to, heads, A{0});
                else
                    dot_heads(row_data.data() + r * columns, data.data() + neighbor * columns, heads, columns / heads,
                              to);
            }
        });
    });
}

template <class A>
using ArgIndex = std::conditional_t<sizeof(A) == 8, int64_t, int32_t>;  // the width of A, so that loops vectorise

// Sets arg[f] to `number` where this message equals best[f] (NaN equals NaN) and no earlier message did.
template <class A>
TGRAPH_MULTIVERSION void match_best(ArgIndex<A>* arg, const A* best, const A* message, int64_t columns,
                                    ArgIndex<A> number) {
    for (int64_t f = 0; f < columns; ++f) {
        const bool equal = (message[f] == best[f]) | ((message[f] != message[f]) & (best[f] != best[f]));
        arg[f] = equal & (arg[f] < 0) ? number : arg[f];
    }
}

template <class A>
struct ArgBest {
    const Selection& selection;
    const A *data, *weights, *best;
    int64_t columns, heads;
    CombineRows combine;     // null for "copy"
    int64_t *sender, *arc;  // of the first message that equals the best; -1 for none

    // The message of arc j of row r from the row of data `from`; `buffer` has room for it.
    const A* message(int64_t r, int64_t j, int64_t from, A* buffer) const {
        if (!combine) return data + from * columns;
        const int64_t at = from * columns, by = (selection.offset[r] + j) * heads;
        combine(data, &at, weights, &by, heads, columns / heads, 1, buffer);
        return buffer;
    }

    // Pull: the messages to one row.
    void of_row(int64_t r, ArgIndex<A>* arg, A* buffer) const {
        const int64_t first = selection.begin(r);
        std::fill_n(arg, columns, ArgIndex<A>{-1});
        for (int64_t j = 0; j < selection.degree(r); ++j) {
            const int64_t neighbor = selection.neighbors[first + j];
            if (!selection.active || selection.active[neighbor])
                match_best(arg, best + r * columns, message(r, j, neighbor, buffer), columns,
                           static_cast<ArgIndex<A>>(j));
        }
        for (int64_t f = 0; f < columns; ++f) {
            sender[r * columns + f] = arg[f] < 0 ? -1 : selection.neighbors[first + arg[f]];
            arc[r * columns + f] = arg[f] < 0 ? -1 : selection.offset[r] + arg[f];
        }
    }

    // Push: the messages from all rows to their neighbors, in arc order.
    void of_neighbors() const {
        std::vector<A> buffer(columns);
        for (int64_t r = 0; r < selection.count; ++r)
            for (int64_t j = 0; j < selection.degree(r); ++j) {
                const int64_t place = selection.neighbors[selection.begin(r) + j] * columns;
                const A* const sent = message(r, j, r, buffer.data());
                for (int64_t f = 0; f < columns; ++f) {
                    const A one = sent[f], other = best[place + f];
                    const bool equal = one == other || (one != one && other != other);
                    if (!equal || arc[place + f] >= 0) continue;
                    arc[place + f] = selection.offset[r] + j;
                    sender[place + f] = r;
                }
            }
    }
};

// Argmin or argmax: finds, for each receiver and column, the message that equals `best`, the result of the reduction.
// In a pull the rows receive, in a push the neighbors.
template <class A>
void argreduce(In<void> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<bool> active, bool pulls,
               In<A> data, int64_t columns, In<A> weights, int64_t heads, std::string_view edge, In<A> best,
               Out<int64_t> sender, Out<int64_t> arc) {
    const SelectionArgument argument(neighbors, offset, rows, width, active);
    const Selection selection = *argument;
    const int64_t n = selection.num_vertices, k = selection.count, arcs = selection.num_arcs();
    check_columns(columns, heads);
    if (static_cast<int64_t>(data.shape(0)) != (pulls ? n : k) * columns)
        throw std::invalid_argument("data: expected a row of columns for each sender");
    const int64_t size = (pulls ? k : n) * columns;
    for (const int64_t given : {static_cast<int64_t>(best.shape(0)), static_cast<int64_t>(sender.shape(0)),
                                static_cast<int64_t>(arc.shape(0))})
        if (given != size) throw std::invalid_argument("best, sender, arc: expected [receivers, columns]");
    if (edge != "copy" && (!weights.is_valid() || static_cast<int64_t>(weights.shape(0)) != arcs * heads))
        throw std::invalid_argument("weights: expected [arcs, heads]");
    const Edge operation = edge_of(edge);
    const CombineRows combine = operation == Edge::copy ? nullptr : combine_rows_kernel(number_of<A>, operation);
    const ArgBest<A> found{selection, data.data(), weights.data(), best.data(), columns, heads, combine, sender.data(),
                           arc.data()};
    if (!pulls) {  // rows share neighbors: one thread, in arc order
        std::fill_n(found.sender, size, int64_t{-1});
        std::fill_n(found.arc, size, int64_t{-1});
        return found.of_neighbors();
    }
    const RowChunks chunks{selection.offset, k, std::clamp<int64_t>((int64_t{1} << 16) / columns, 512, 8192)};
    for_each_chunk(chunks.size(), part_count(arcs * columns), [&](int64_t chunk) {
        std::vector<ArgIndex<A>> arg(columns);
        std::vector<A> buffer(columns);
        const Range range = chunks[chunk];
        for (int64_t r = range.begin; r < range.end; ++r) found.of_row(r, arg.data(), buffer.data());
    });
}

// Updates best and argbest per column with message `number`; NaN is better than any number, and the first message than
// the identity.
template <bool largest, class A>
TGRAPH_MULTIVERSION void update_best(A* best, ArgIndex<A>* arg, const A* message, int64_t columns,
                                     ArgIndex<A> number) {
    for (int64_t f = 0; f < columns; ++f) {
        const A m = message[f], b = best[f];
        const bool better = (largest ? m > b : m < b) | ((m != m) & (b == b)) | (arg[f] < 0);
        best[f] = better ? m : b;
        arg[f] = better ? number : arg[f];
    }
}

// Max or min over the neighbors of each row per column, with its position among the arcs of the row: the first of equal
// ones; the identity and -1 for none.
template <class A>
void segment_argreduce(In<void> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<bool> active,
                       In<A> data, int64_t columns, bool largest, A identity, Out<A> best, Out<ArgIndex<A>> arg) {
    const SelectionArgument argument(neighbors, offset, rows, width, active);
    const Selection selection = *argument;
    check_columns(columns, 1);
    const int64_t size = selection.count * columns;
    if (!has_rows(data.shape(0), selection.num_vertices, columns) || static_cast<int64_t>(best.shape(0)) != size ||
        static_cast<int64_t>(arg.shape(0)) != size)
        throw std::invalid_argument("data, best or arg: expected [n, columns] and [rows, columns]");
    const int64_t arcs = selection.num_arcs();
    constexpr int64_t lookahead = 16;
    const auto bytes = columns * static_cast<int64_t>(sizeof(A));
    const RowChunks chunks{selection.offset, selection.count, std::clamp<int64_t>((1 << 16) / columns, 512, 8192)};
    for_each_chunk(chunks.size(), part_count(arcs * columns), [&](int64_t chunk) {
        const Range range = chunks[chunk];
        for (int64_t r = range.begin; r < range.end; ++r) {
            const int64_t first = selection.begin(r);
            A* const to = best.data() + r * columns;
            ArgIndex<A>* const by = arg.data() + r * columns;
            std::fill_n(to, columns, identity);
            std::fill_n(by, columns, ArgIndex<A>{-1});
            for (int64_t j = 0; j < selection.degree(r); ++j) {
                const int64_t coming = std::min(first + j + lookahead, selection.num_stored - 1);
                fetch_row(reinterpret_cast<const char*>(data.data() + selection.neighbors[coming] * columns), bytes);
                const int64_t neighbor = selection.neighbors[first + j];
                if (selection.active && !selection.active[neighbor]) continue;
                const A* const message = data.data() + neighbor * columns;
                if (largest)
                    update_best<true>(to, by, message, columns, static_cast<ArgIndex<A>>(j));
                else
                    update_best<false>(to, by, message, columns, static_cast<ArgIndex<A>>(j));
            }
        }
    });
}

// Prefetches the outputs that a row scatters to, for some of its columns.
template <class A>
TGRAPH_INLINE void fetch_outputs(const Selection& selection, int64_t r, const ArgIndex<A>* arg,
                                 int64_t columns, Range of, const A* out) {
    const int64_t first = selection.begin(r), last = selection.degree(r) - 1;
    for (int64_t f = of.begin; f < of.end && last >= 0; ++f)
        fetch(out + selection.neighbors[first + std::clamp<int64_t>(arg[r * columns + f], 0, last)] * columns + f);
}

// The gradient of `segment_argreduce`: out[u, f] = the sum of grad[r, f] over the rows r whose argbest in column f is
// neighbor u. Threads own columns, so that no two write to the same location; sums are in the order of the rows.
template <class A>
void scatter_argreduce(In<void> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<A> grad,
                       int64_t columns, In<ArgIndex<A>> arg, Out<A> out) {
    const SelectionArgument argument(neighbors, offset, rows, width, {});
    const Selection selection = *argument;
    check_columns(columns, 1);
    const int64_t n = static_cast<int64_t>(out.shape(0)) / columns, k = selection.count;
    if (static_cast<int64_t>(out.shape(0)) % columns || static_cast<int64_t>(grad.shape(0)) != k * columns ||
        static_cast<int64_t>(arg.shape(0)) != k * columns)
        throw std::invalid_argument("grad, arg or out: expected [rows, columns] and [n, columns]");
    constexpr int64_t line = 64 / sizeof(A);
    const int64_t lines = (columns + line - 1) / line;
    const int parts = static_cast<int>(std::min<int64_t>(part_count(selection.num_arcs() * columns), lines));
    std::atomic<bool> fits{true};
    for_each_part(parts, [&](int part) {
        const Range range = part_of(lines, part, parts);
        const int64_t first = range.begin * line, size = std::min(range.end * line, columns) - first;
        for (int64_t u = 0; u < n; ++u) std::fill_n(out.data() + u * columns + first, size, A{0});
        for (int64_t r = 0; r < k; ++r) {
            const int64_t begin = selection.begin(r), degree = selection.degree(r);
            if (r + 1 < k) fetch_outputs<A>(selection, r + 1, arg.data(), columns, {first, first + size}, out.data());
            for (int64_t f = r * columns + first; f < r * columns + first + size; ++f) {
                const int64_t arc = arg.data()[f];
                if (arc < 0) continue;
                const int64_t to = arc < degree ? selection.neighbors[begin + arc] : n;
                if (to >= n) {
                    fits.store(false, std::memory_order_relaxed);
                    continue;
                }
                out.data()[to * columns + f - r * columns] += grad.data()[f];
            }
        }
    });
    if (!fits) throw std::invalid_argument("arg: expected arcs of the rows");
}

// out[i] = grad times the product of all messages but message i, per column: prefix products times suffix products, so
// that zeros need no division.
template <class A>
TGRAPH_MULTIVERSION void times_others(const A* messages, const A* grad, int64_t size, int64_t columns, A* product,
                                      A* out) {
    std::copy_n(grad, columns, product);
    for (int64_t i = 0; i < size; ++i)
        for (int64_t f = 0; f < columns; ++f) {
            out[i * columns + f] = product[f];
            product[f] *= messages[i * columns + f];
        }
    std::fill_n(product, columns, A{1});
    for (int64_t i = size - 1; i >= 0; --i)
        for (int64_t f = 0; f < columns; ++f) {
            out[i * columns + f] *= product[f];
            product[f] *= messages[i * columns + f];
        }
}

// The gradient of the products of segments, for each message [e, columns]; grad is [segments, columns].
template <class A>
void product_gradient(In<int64_t> offset, In<A> messages, In<A> grad, int64_t columns, Out<A> out) {
    const int64_t segments = static_cast<int64_t>(offset.shape(0)) - 1, size = static_cast<int64_t>(out.shape(0));
    const int64_t* begin = offset.data();
    if (columns < 1 || segments < 0 || begin[0] != 0 || begin[segments] != size / columns ||
        !std::is_sorted(begin, begin + segments + 1))
        throw std::invalid_argument("offset: expected [segments + 1], ascending from 0 to the number of messages");
    if (size % columns || static_cast<int64_t>(messages.shape(0)) != size ||
        static_cast<int64_t>(grad.shape(0)) != segments * columns)
        throw std::invalid_argument("messages, out or grad: expected [e, columns] and [segments, columns]");
    const RowChunks chunks{begin, segments, std::clamp<int64_t>((int64_t{1} << 16) / columns, 512, 8192)};
    for_each_chunk(chunks.size(), part_count(size), [&](int64_t chunk) {
        std::vector<A> product(columns);
        for (int64_t s = chunks[chunk].begin; s < chunks[chunk].end; ++s)
            times_others(messages.data() + begin[s] * columns, grad.data() + s * columns, begin[s + 1] - begin[s],
                         columns, product.data(), out.data() + begin[s] * columns);
    });
}

template <class A>
void bind_product_gradient(Module& module) {
    module.def("product_gradient", &product_gradient<A>, "offset, messages, grad, columns, out");
}

template <class A>
void bind_gradients_of(Module& module) {
    module.def("arc_products", &arc_products<A>,
               "neighbors, offset, rows?, width, active?, row_data, data, columns, heads, out");
    module.def("argreduce", &argreduce<A>,
               "neighbors, offset, rows?, width, active?, pulls, data, columns, weights?, heads, edge, best, sender, "
               "arc");
    module.def("segment_argreduce", &segment_argreduce<A>,
               "neighbors, offset, rows?, width, active?, data, columns, largest, identity, best, arg");
    module.def("scatter_argreduce", &scatter_argreduce<A>, "neighbors, offset, rows?, width, grad, columns, arg, out");
}

}  // namespace

void bind_gradients(Module& module) {
    bind_gradients_of<float>(module);
    bind_gradients_of<double>(module);
    bind_product_gradient<float>(module);
    bind_product_gradient<double>(module);
}

}  // namespace tgraph
