// Push: the rows of a selection send to their neighbors, at a cost proportional to the arcs of the selection. Sums are
// added in arc order, on one thread or, for enough arcs and threads, by blocks of targets (push_blocks.hpp); what does
// not depend on the order, by parts of the arcs.
#include "aggregation/segments/segments.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "aggregation/segments/push_blocks.hpp"
#include "aggregation/segments/row_reduction.hpp"

namespace tgraph {
namespace {

// Columns up to which a result of all vertices may be made beside that of the receivers.
constexpr int64_t few_columns = 8;

// The set of receivers, in the order in which they are first reached. `table` need not be initialised: an entry is
// valid only if the list of receivers refers back to it (Briggs and Torczon, "An efficient representation for sparse
// sets", 1993). Without a table the result is dense: every vertex is its own place.
struct Reached {
    void* table;
    bool is_wide;  // entries of 64 bits
    int64_t* receivers;
    int64_t size = 0;

    // The place of a vertex in the result; calls start(place) for a new one.
    template <class Start>
    int64_t place(int64_t vertex, const Start& start) {
        const int64_t entry = Ids{table, is_wide}[vertex];
        if (entry >= 0 && entry < size && receivers[entry] == vertex) return entry;
        if (is_wide)
            static_cast<int64_t*>(table)[vertex] = size;
        else
            static_cast<int32_t*>(table)[vertex] = static_cast<int32_t>(size);
        receivers[size] = vertex;
        start(size);
        return size++;
    }
};

// Adds what rows send to places of the result, in order, some arcs at a time.
class Adder {
public:
    explicit Adder(const Operands& with)
        : with_(with), scatter_(push_kernels(with.result, with.reduction).scatter),
          combine_(with.edge == Edge::copy ? nullptr : combine_rows_kernel(with.result, with.edge)),
          batch_(combine_ ? std::clamp<int64_t>(4096 / with.columns, 1, most) : most),
          rows_(combine_ ? batch_ * with.columns * size_of(with.result) : 0) {}

    void operator()(int64_t place, int64_t row, int64_t arc) {
        place_[size_] = place;
        at_[size_] = row * with_.columns;
        by_[size_] = arc * with_.heads;
        if (++size_ == batch_) flush();
    }

    // What a row sends to neighbors begin .. end - 1, who are their own places, over arcs from `arc` on.
    template <class Neighbor>
    void send(int64_t row, const Neighbor* begin, const Neighbor* end, int64_t arc) {
        while (begin < end) {
            const int64_t count = std::min<int64_t>(batch_ - size_, end - begin), at = row * with_.columns;
            for (int64_t i = 0; i < count; ++i) place_[size_ + i] = begin[i];
            std::fill_n(at_.data() + size_, count, at);
            if (combine_)
                for (int64_t i = 0; i < count; ++i) by_[size_ + i] = (arc + i) * with_.heads;
            begin += count, arc += count;
            if ((size_ += count) == batch_) flush();
        }
    }

    void flush() {
        const char* data = with_.data;
        if (combine_) {
            combine_(data, at_.data(), with_.weights, by_.data(), with_.heads, with_.columns / with_.heads, size_,
                     rows_.data());
            data = rows_.data();
            for (int64_t i = 0; i < size_; ++i) at_[i] = i * with_.columns;
        }
        scatter_(with_.out, place_.data(), data, with_.columns, at_.data(), size_);
        size_ = 0;
    }

private:
    static constexpr int64_t most = 256;

    const Operands& with_;
    ScatterRows scatter_;
    CombineRows combine_;
    int64_t batch_, size_ = 0;
    std::vector<char> rows_;
    std::array<int64_t, most> place_, at_, by_;
};

// Prefetches rows some time before row r comes: those of a frontier are anywhere.
TGRAPH_INLINE void fetch_rows(const Selection& selection, int64_t r) {
    constexpr int64_t ahead = 8;
    if (!selection.rows || r + 2 * ahead >= selection.count) return;
    fetch(selection.stored + selection.rows[r + 2 * ahead]);
    const Ids& neighbors = selection.neighbors;
    const int64_t first = selection.begin(r + ahead) << (neighbors.are_wide ? 3 : 2);
    fetch(static_cast<const char*>(neighbors.data) + first);
    fetch(static_cast<const char*>(neighbors.data) + first + 64);
}

// Calls add(vertex, row, arc) for every arc in order.
template <class Add>
void each_arc(const Selection& selection, const Add& add) {
    for (int64_t r = 0; r < selection.count; ++r) {
        fetch_rows(selection, r);
        const int64_t first = selection.begin(r);
        for (int64_t j = 0; j < selection.degree(r); ++j)
            add(selection.neighbors[first + j], r, selection.offset[r] + j);
    }
}

// Adds what rows send over arcs of a selection, in order; every vertex is its own place.
template <class Neighbor>
void send_arcs(const Selection& selection, const Operands& with, Range arcs) {
    const auto* const neighbors = static_cast<const Neighbor*>(selection.neighbors.data);
    const bool is_plain = with.edge == Edge::copy && sizeof(Neighbor) == sizeof(int32_t);
    const SendRow send = push_kernels(with.result, with.reduction).send;
    Adder adder(with);
    arcs.begin += selection.offset[0], arcs.end += selection.offset[0];
    each_row(selection.offset, selection.count, arcs, [&](int64_t row, Range held) {
        fetch_rows(selection, row);
        const Neighbor* const begin = neighbors + selection.begin(row) + held.begin - selection.offset[row];
        const int64_t count = held.end - held.begin;
        if (is_plain)
            send(with.out, reinterpret_cast<const int32_t*>(begin), count, with.row(row), with.columns);
        else
            adder.send(row, begin, begin + count, held.begin);
    });
    adder.flush();
}

void send_arcs(const Selection& selection, const Operands& with, Range arcs) {
    if (selection.neighbors.are_wide)
        send_arcs<int64_t>(selection, with, arcs);
    else
        send_arcs<int32_t>(selection, with, arcs);
}

// The number of threads for a push: one if the sequential push takes less than sorting the arcs into blocks, which pays
// only with several threads.
int threads_for(const Selection& selection, int64_t columns) {
    constexpr int fewest = 4;
    const int64_t arcs = selection.num_arcs();
    if (arcs < items_per_part || 4 * arcs < selection.num_vertices || selection.count >= int64_t{1} << 32) return 1;
    const int threads = part_count(arcs * columns);
    return threads < fewest ? 1 : threads;
}

void fill_rows(const Operands& with, Range rows) {
    fill_numbers(with.result, with.result_of(rows.begin), (rows.end - rows.begin) * with.columns, with.identity.data());
}

// Lists the receivers as they are first reached, and returns their number.
int64_t list_receivers(const Selection& selection, int64_t* receivers) {
    std::vector<char> is_reached(selection.num_vertices);
    int64_t size = 0;
    each_arc(selection, [&](int64_t to, int64_t, int64_t) {
        if (!std::exchange(is_reached[to], char{1})) receivers[size++] = to;
    });
    return size;
}

// Reduces into an initialised result of all vertices: parts of the arcs into results of their own that are then joined,
// where the order does not matter. Lists the receivers meanwhile, if `receivers` is not null, and returns their number.
int64_t push_parts(const Selection& selection, const Operands& with, int parts, int64_t* receivers) {
    const int64_t arcs = selection.num_arcs(), n = selection.num_vertices;
    const int64_t bytes = n * with.columns * size_of(with.result);
    const Scratch<char> others((parts - 1) * bytes);
    int64_t reached = n;
    for_each_part(parts + (receivers != nullptr), [&](int part) {
        if (part == parts) {
            reached = list_receivers(selection, receivers);
            return;
        }
        Operands own = with;
        if (part) {
            own.out = others.data() + (part - 1) * bytes;
            fill_rows(own, {0, n});
        }
        send_arcs(selection, own, part_of(arcs, part, parts));
    });
    const SendRow join = push_kernels(with.result, with.reduction).send;
    const int32_t first = 0;
    for_each_part_of(n * with.columns, part_count(n * with.columns * parts), [&](Range entries, int) {
        const int64_t begin = entries.begin * size_of(with.result), count = entries.end - entries.begin;
        for (int part = 1; part < parts; ++part)
            join(with.out + begin, &first, 1, others.data() + (part - 1) * bytes + begin, count);
    });
    return reached;
}

// Reduces into a result of all vertices, and lists the receivers as `push_parts` does.
int64_t push_dense(const Selection& selection, const Operands& with, int64_t* receivers) {
    const int64_t n = selection.num_vertices, arcs = selection.num_arcs();
    for_each_part_of(n, part_count(n * with.columns), [&](Range rows, int) { fill_rows(with, rows); });
    const bool is_ordered = with.reduction != Reduction::min && with.reduction != Reduction::max &&
                            (with.result == Number::float32 || with.result == Number::float64);
    const bool in_parts = !is_ordered && with.columns <= few_columns;
    const int64_t parts = in_parts ? std::clamp<int64_t>(arcs / (2 * n + 1), 1, part_count(arcs)) : 1;
    const int threads = threads_for(selection, with.columns);
    if (threads < 2 || parts >= threads) return push_parts(selection, with, static_cast<int>(parts), receivers);
    push_in_blocks(selection, threads, Adder(with));
    return receivers ? list_receivers(selection, receivers) : n;
}

// Reduces into a result of all vertices first, of which the rows of the receivers are taken. Returns their number.
int64_t push_many(const Selection& selection, const Operands& with, int64_t* receivers) {
    const int64_t bytes = with.columns * size_of(with.result);
    const Scratch<char> all(selection.num_vertices * bytes);
    Operands dense = with;
    dense.out = all.data();
    const int64_t reached = push_dense(selection, dense, receivers);
    for_each_entry(reached, [&](int64_t place) {
        std::memcpy(with.out + place * bytes, dense.out + receivers[place] * bytes, bytes);
    });
    return reached;
}

// Returns the number of receivers.
int64_t push_arcs(const Selection& selection, const Operands& with, Reached reached) {
    const int64_t n = selection.num_vertices;
    if (!reached.table) return push_dense(selection, with, nullptr);
    if (with.columns <= few_columns && 2 * selection.num_arcs() >= n)
        return push_many(selection, with, reached.receivers);
    const auto start = [&](int64_t place) { fill_rows(with, {place, place + 1}); };
    Adder adder(with);
    const int threads = threads_for(selection, with.columns);
    if (threads > 1) return push_in_blocks(selection, reached.receivers, threads, start, adder);
    each_arc(selection, [&](int64_t to, int64_t row, int64_t arc) { adder(reached.place(to, start), row, arc); });
    adder.flush();
    return reached.size;
}

// Returns the number of receivers. Without a table the result has a row for every vertex; with one, a row for each
// receiver, and `receivers` and `out` have room for min(arcs, n).
template <class A>
int64_t push(In<void> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<A> data, int64_t columns,
             In<A> weights, int64_t heads, std::string_view reduce, std::string_view edge, A identity, Out<A> out,
             Out<void> table, Out<int64_t> receivers) {
    const SelectionArgument argument(neighbors, offset, rows, width, In<bool>());
    const bool sparse = table.is_valid() && receivers.is_valid();
    Selection selection = *argument;
    if (sparse) selection.num_vertices = std::max(selection.num_vertices, static_cast<int64_t>(table.shape(0)));
    const int64_t n = selection.num_vertices, arcs = selection.num_arcs();
    const int64_t room = sparse ? std::min(n, arcs) : n;
    check_columns(columns, heads);
    if (static_cast<int64_t>(data.shape(0)) != selection.count * columns)
        throw std::invalid_argument("data: expected [rows, columns]");
    if (static_cast<int64_t>(out.shape(0)) < room * columns) throw std::invalid_argument("out: too small");
    if (sparse && table.dtype() != neighbors.dtype()) throw TypeError("table: expected the dtype of neighbors");
    if (sparse && (static_cast<int64_t>(table.shape(0)) < n || static_cast<int64_t>(receivers.shape(0)) < room))
        throw std::invalid_argument("table or receivers: too small");
    const Number number = number_of<A>;
    Operands with{number, number, number, number, reduction_of(reduce), edge_of(edge),
                  reinterpret_cast<const char*>(data.data()), reinterpret_cast<const char*>(weights.data()), columns,
                  heads, {}, reinterpret_cast<char*>(out.data())};
    std::memcpy(with.identity.data(), &identity, sizeof(identity));
    if (with.edge != Edge::copy && (!weights.is_valid() || static_cast<int64_t>(weights.shape(0)) != arcs * heads))
        throw std::invalid_argument("weights: expected [arcs, heads]");
    if (with.edge != Edge::copy && number == Number::uint8) throw std::invalid_argument("edge: bytes have no weights");
    return push_arcs(selection, with, {sparse ? table.data() : nullptr, selection.neighbors.are_wide,
                                       sparse ? receivers.data() : nullptr});
}

template <class A>
void bind_push_of(Module& module, const char* name) {
    module.def(name, &push<A>,
               "neighbors, offset, rows?, width, data, columns, weights?, heads, reduce, edge, identity, out, table?, "
               "receivers?");
}

}  // namespace

void bind_push(Module& module) {
    bind_push_of<float>(module, "push_float32");
    bind_push_of<double>(module, "push_float64");
    bind_push_of<int32_t>(module, "push_int32");
    bind_push_of<int64_t>(module, "push_int64");
    bind_push_of<uint8_t>(module, "push_uint8");
}

}  // namespace tgraph
