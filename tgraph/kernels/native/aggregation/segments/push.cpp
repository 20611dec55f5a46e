// Push: the rows of a selection send to their neighbors, at a cost proportional to the arcs of the selection. Sums are
// added in arc order, on one thread or, for enough arcs and threads, by blocks of targets (push_blocks.hpp).
#include "aggregation/segments/segments.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include "aggregation/segments/push_blocks.hpp"
#include "aggregation/segments/row_reduction.hpp"

namespace tgraph {
namespace {

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

// Calls add(vertex, row, arc) for every arc in order.
template <class Add>
void each_arc(const Selection& selection, const Add& add) {
    for (int64_t r = 0; r < selection.count; ++r) {
        const int64_t first = selection.begin(r);
        for (int64_t j = 0; j < selection.degree(r); ++j)
            add(selection.neighbors[first + j], r, selection.offset[r] + j);
    }
}

// Adds what all rows send in order; every vertex is its own place.
template <class Neighbor>
void send_rows(const Selection& selection, Adder& add) {
    const auto* const neighbors = static_cast<const Neighbor*>(selection.neighbors.data);
    for (int64_t r = 0; r < selection.count; ++r) {
        const Neighbor* const begin = neighbors + selection.begin(r);
        add.send(r, begin, begin + selection.degree(r), selection.offset[r]);
    }
    add.flush();
}

// The same without weights, for neighbors of 32 bits.
void send_plain_rows(const Selection& selection, const Operands& with) {
    const SendRow send = push_kernels(with.result, with.reduction).send;
    const auto* const neighbors = static_cast<const int32_t*>(selection.neighbors.data);
    for (int64_t r = 0; r < selection.count; ++r)
        send(with.out, neighbors + selection.begin(r), selection.degree(r), with.row(r), with.columns);
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

// Returns the number of receivers.
int64_t push_arcs(const Selection& selection, const Operands& with, Reached reached) {
    const int threads = threads_for(selection, with.columns);
    const auto fill_rows = [&](int64_t begin, int64_t end) {
        fill_numbers(with.result, with.result_of(begin), (end - begin) * with.columns, with.identity.data());
    };
    const auto start = [&](int64_t place) { fill_rows(place, place + 1); };
    Adder adder(with);
    if (reached.table && threads > 1) return push_in_blocks(selection, reached.receivers, threads, start, adder);
    if (reached.table) {
        each_arc(selection, [&](int64_t to, int64_t row, int64_t arc) { adder(reached.place(to, start), row, arc); });
        adder.flush();
        return reached.size;
    }
    const int64_t n = selection.num_vertices;
    const int parts = part_count(n * with.columns);
    for_each_part(parts, [&](int part) {
        const Range range = part_of(n, part, parts);
        fill_rows(range.begin, range.end);
    });
    if (threads > 1)
        push_in_blocks(selection, threads, adder);
    else if (selection.neighbors.are_wide)
        send_rows<int64_t>(selection, adder);
    else if (with.edge == Edge::copy)
        send_plain_rows(selection, with);
    else
        send_rows<int32_t>(selection, adder);
    return n;
}

// Returns the number of receivers. Without a table the result has a row for every vertex; with one, a row for each
// receiver, and `receivers` and `out` have room for min(arcs, n).
template <class A>
int64_t push(In<void> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<A> data, int64_t columns,
             In<A> weights, int64_t heads, std::string_view reduce, std::string_view edge, A identity, Out<A> out,
             Out<void> table, Out<int64_t> receivers) {
    const SelectionArgument selection(neighbors, offset, rows, width, In<bool>());
    const bool sparse = table.is_valid() && receivers.is_valid();
    const int64_t n = selection->num_vertices, arcs = selection->num_arcs();
    const int64_t room = sparse ? std::min(n, arcs) : n;
    check_columns(columns, heads);
    if (static_cast<int64_t>(data.shape(0)) != selection->count * columns)
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
    return push_arcs(*selection, with, {sparse ? table.data() : nullptr, selection->neighbors.are_wide,
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
