// Pull of one column (SpMV over a semiring). The messages of some thousand arcs are written to a small buffer first, in
// a loop that knows nothing of rows, so that a mispredicted end of a row does not delay the loads. Rows are reduced
// from the buffer in lanes, message i of a row in lane i % lanes, the last ones without a branch.
#pragma once

#include <algorithm>
#include <type_traits>

#include "aggregation/segments/pull_data.hpp"
#include "base/selection.hpp"
#include "base/semiring.hpp"

namespace tgraph {

// A register of 64 bytes, or several smaller ones: the same on all processors, and so the order of reduction.
template <class A>
inline constexpr int message_lanes = 64 / std::max<int>(sizeof(A), 4);

// The minimum or maximum of floating numbers that are no NaN, which takes one instruction.
template <class Reduce, class A>
inline constexpr bool minds_nan = std::is_floating_point_v<A> &&
                                  (std::is_same_v<Reduce, Lesser> || std::is_same_v<Reduce, Greater>);
template <class Reduce>
struct OfNumbers : Reduce {};
template <>
struct OfNumbers<Lesser> {
    template <class A>
    TGRAPH_INLINE static A apply(A a, A b) {
        return b < a ? b : a;
    }
};
template <>
struct OfNumbers<Greater> {
    template <class A>
    TGRAPH_INLINE static A apply(A a, A b) {
        return b > a ? b : a;
    }
};

// messages[i] = edge(data[neighbors[i]], weights[i])
template <class Edge, class T, class A, class W>
TGRAPH_MULTIVERSION void write_messages(const T* __restrict data, const int32_t* __restrict neighbors,
                                        const W* __restrict weights, int64_t count, A* __restrict messages) {
    for (int64_t i = 0; i < count; ++i) {
        const A sent = static_cast<A>(data[neighbors[i]]);
        if constexpr (Edge::weighted)
            messages[i] = Edge::apply(sent, static_cast<A>(weights[i]));
        else
            messages[i] = sent;
    }
}

template <class A>
TGRAPH_MULTIVERSION bool has_nan(const A* numbers, int64_t count) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) found += numbers[i] != numbers[i];
    return found > 0;
}

template <class Reduce, class A, int lanes>
TGRAPH_INLINE A reduce_lanes(const Vector<A, lanes>& values) {
    if constexpr (lanes == 1) {
        return values[0];
    } else {
        const auto* halves = reinterpret_cast<const Vector<A, lanes / 2>*>(&values);
        return reduce_lanes<Reduce, A, lanes / 2>(Reduce::apply(halves[0], halves[1]));
    }
}

// The reduction of messages; reads, and ignores, some behind the last.
template <class Reduce, class A>
TGRAPH_INLINE A reduce_messages(const A* messages, int64_t count, A identity) {
    constexpr int lanes = message_lanes<A>;
    using Lanes = Vector<A, lanes>;
    using Number = std::conditional_t<sizeof(A) == 8, int64_t, std::conditional_t<sizeof(A) == 4, int32_t, int8_t>>;
    const Lanes none = identity - Lanes{};
    Lanes values = none;
    for (; count > lanes; count -= lanes, messages += lanes) values = Reduce::apply(values, load<A, lanes>(messages));
    Vector<Number, lanes> numbers;
    for (int lane = 0; lane < lanes; ++lane) numbers[lane] = static_cast<Number>(lane);
    const Lanes last = numbers < static_cast<Number>(count) ? load<A, lanes>(messages) : none;
    return reduce_lanes<Reduce, A, lanes>(Reduce::apply(values, last));
}

// results[i] = the reduction of row rows.begin + i, for rows whose messages lie one after the other.
template <class Reduce, class A>
TGRAPH_MULTIVERSION void reduce_short_rows(const A* messages, const int64_t* offset, Range rows, A identity,
                                           A* results) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t count = offset[row + 1] - offset[row];
        results[row - rows.begin] = reduce_messages<Reduce>(messages, count, identity);
        messages += count;
    }
}

template <class Reduce, class Edge, class T, class A, class W>
struct PullColumn {
    const Selection<int32_t>& selection;
    const PullData<T, A, W>& with;

    static constexpr bool takes_many = true;
    static constexpr int64_t size = 2048;

    struct Buffer {
        alignas(64) A messages[size + message_lanes<A>], results[size];
    };

    static void join(A* sum, const A* other, int64_t) { *sum = Reduce::apply(*sum, *other); }

    // Reduces and writes rows from rows.begin on, until one does not fit the buffer; returns which.
    int64_t reduce_many(Range rows) const {
        if (selection.offset != selection.stored || selection.active) return rows.begin;  // all arcs of all rows
        const int64_t* offset = selection.offset;
        Buffer buffer;
        while (rows.begin < rows.end) {
            const int64_t first = offset[rows.begin], limit = std::min(rows.begin + size, rows.end);
            const int64_t end = std::upper_bound(offset + rows.begin, offset + limit + 1, first + size) - offset - 1;
            if (end <= rows.begin) break;
            receive(first, first, offset[end] - first, buffer.messages);
            reduce_buffer(offset, {rows.begin, end}, buffer);
            for (int64_t row = rows.begin; row < end; ++row)
                with.write(row, buffer.results + (row - rows.begin), offset[row + 1] - offset[row]);
            rows.begin = end;
        }
        return rows.begin;
    }

    // Reduces a piece of a row to `sum` and returns the number of active arcs.
    int64_t reduce(const Piece& piece, A* sum) const {
        const int64_t first = selection.begin(piece.row), shift = selection.offset[piece.row] - first;
        const Range stored{first + piece.arcs.begin, first + piece.arcs.end};
        if (selection.active) return reduce_active(stored, shift, sum);
        Buffer buffer;
        *sum = with.identity;
        for (int64_t i = stored.begin; i < stored.end; i += size) {
            const int64_t bounds[] = {i, std::min(i + size, stored.end)};
            receive(i, i + shift, bounds[1] - i, buffer.messages);
            reduce_buffer(bounds, {0, 1}, buffer);
            *sum = Reduce::apply(*sum, buffer.results[0]);
        }
        return stored.end - stored.begin;
    }

private:
    // The messages of arcs from `stored` on, whose weights start at `arc`.
    void receive(int64_t stored, int64_t arc, int64_t count, A* messages) const {
        const W* weights = Edge::weighted ? with.weights + arc : nullptr;
        write_messages<Edge>(with.data, selection.neighbors + stored, weights, count, messages);
    }

    void reduce_buffer(const int64_t* offset, Range rows, Buffer& buffer) const {
        if constexpr (minds_nan<Reduce, A>)
            if (has_nan(buffer.messages, offset[rows.end] - offset[rows.begin])) {
                for (int64_t row = rows.begin; row < rows.end; ++row) {
                    A& result = buffer.results[row - rows.begin] = with.identity;
                    for (int64_t i = offset[row]; i < offset[row + 1]; ++i)
                        result = Reduce::apply(result, buffer.messages[i - offset[rows.begin]]);
                }
                return;
            }
        reduce_short_rows<OfNumbers<Reduce>>(buffer.messages, offset, rows, with.identity, buffer.results);
    }

    int64_t reduce_active(Range stored, int64_t shift, A* sum) const {
        int64_t count = 0;
        *sum = with.identity;
        for (int64_t i = stored.begin; i < stored.end; ++i) {
            const int32_t sender = selection.neighbors[i];
            if (!selection.active[sender]) continue;
            A message = static_cast<A>(with.data[sender]);
            if constexpr (Edge::weighted) message = Edge::apply(message, static_cast<A>(with.weights[i + shift]));
            *sum = Reduce::apply(*sum, message);
            ++count;
        }
        return count;
    }
};

}  // namespace tgraph
