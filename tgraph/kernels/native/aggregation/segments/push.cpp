// Push: the rows of a selection send to their neighbors, at a cost proportional to the arcs of the selection. Sums are
// added in arc order, on one thread or, for enough arcs and threads, by blocks of targets (push_blocks.hpp).
#include <cstdint>

#include "aggregation/segments/pull.hpp"
#include "aggregation/segments/push_blocks.hpp"

namespace tgraph {
namespace {

// The set of receivers, in the order in which they are first reached. `table` need not be initialised: an entry is
// valid only if the list of receivers refers back to it (Briggs and Torczon, "An efficient representation for sparse
// sets", 1993). Without a table the result is dense: every vertex is its own place.
template <class Entry>
struct Reached {
    Entry* table;
    int64_t* receivers;
    int64_t size = 0;

    // The place of a vertex in the result; calls start(place) for a new one.
    template <class Start>
    int64_t place(int64_t vertex, const Start& start) {
        const auto entry = static_cast<int64_t>(table[vertex]);
        if (entry >= 0 && entry < size && receivers[entry] == vertex) return entry;
        table[vertex] = static_cast<Entry>(size);
        receivers[size] = vertex;
        start(size);
        return size++;
    }
};

template <class A>
struct PushData {
    const A *data, *weights;
    int64_t columns, heads;
    A identity;
    A* out;

    void start(int64_t place) const { std::fill_n(out + place * columns, columns, identity); }

    template <class Reduce, class Edge>
    TGRAPH_INLINE void add(int64_t place, int64_t row, int64_t arc) const {
        A* sums = out + place * columns;
        const A* sent = data + row * columns;
        if constexpr (Edge::weighted) {
            const int64_t span = columns / heads;
            const A* by = weights + arc * heads;
            for (int64_t head = 0; head < heads; ++head)
                for (int64_t f = head * span; f < (head + 1) * span; ++f)
                    sums[f] = Reduce::apply(sums[f], Edge::apply(sent[f], by[head]));
        } else {
            for (int64_t f = 0; f < columns; ++f) sums[f] = Reduce::apply(sums[f], sent[f]);
        }
    }
};

// Calls add(vertex, row, arc) for every arc in order.
template <class Neighbor, class Add>
void each_arc(const Selection<Neighbor>& selection, const Add& add) {
    for (int64_t r = 0; r < selection.count; ++r) {
        const Neighbor* to = selection.neighbors + selection.begin(r);
        for (int64_t j = 0; j < selection.degree(r); ++j) add(to[j], r, selection.offset[r] + j);
    }
}

// The number of threads for a push: one if the sequential push takes less than sorting the arcs into blocks, which pays
// only with several threads.
template <class Neighbor>
int threads_for(const Selection<Neighbor>& selection, int64_t columns) {
    constexpr int fewest = 4;
    const int64_t arcs = selection.num_arcs();
    if (arcs < items_per_part || 4 * arcs < selection.num_vertices || selection.count >= int64_t{1} << 32) return 1;
    const int threads = part_count(arcs * columns);
    return threads < fewest ? 1 : threads;
}

// Returns the number of receivers.
template <class Reduce, class Edge, class A, class Neighbor>
int64_t push_arcs(const Selection<Neighbor>& selection, const PushData<A> with, Reached<Neighbor> reached) {
    const int threads = threads_for(selection, with.columns);
    const auto start = [with](int64_t place) { with.start(place); };
    const auto add = [with](int64_t place, int64_t row, int64_t arc) {
        with.template add<Reduce, Edge>(place, row, arc);
    };
    if (reached.table && threads > 1)
        return push_in_blocks(selection, reached.receivers, threads, start, add);
    if (reached.table) {
        each_arc(selection, [&](int64_t to, int64_t row, int64_t arc) { add(reached.place(to, start), row, arc); });
        return reached.size;
    }
    fill(with.out, selection.num_vertices * with.columns, with.identity);
    threads > 1 ? push_in_blocks(selection, threads, add) : each_arc(selection, add);
    return selection.num_vertices;
}

// Returns the number of receivers. Without a table the result has a row for every vertex; with one, a row for each
// receiver, and `receivers` and `out` have room for min(arcs, n).
template <class A, class Neighbor>
int64_t push(In<Neighbor> neighbors, In<int64_t> offset, In<int64_t> rows, int64_t width, In<A> data, int64_t columns,
             In<A> weights, int64_t heads, std::string_view reduce, std::string_view edge, A identity, Out<A> out,
             Out<Neighbor> table, Out<int64_t> receivers) {
    const SelectionArgument<Neighbor> selection(neighbors, offset, rows, width, In<bool>());
    const bool sparse = table.is_valid() && receivers.is_valid();
    const int64_t n = selection->num_vertices, arcs = selection->num_arcs();
    const int64_t room = sparse ? std::min(n, arcs) : n;
    check_columns(columns, heads);
    if (static_cast<int64_t>(data.shape(0)) != selection->count * columns)
        throw std::invalid_argument("data: expected [rows, columns]");
    if (static_cast<int64_t>(out.shape(0)) < room * columns) throw std::invalid_argument("out: too small");
    if (sparse && (static_cast<int64_t>(table.shape(0)) < n || static_cast<int64_t>(receivers.shape(0)) < room))
        throw std::invalid_argument("table or receivers: too small");
    if (edge != "copy" && (!weights.is_valid() || static_cast<int64_t>(weights.shape(0)) != arcs * heads))
        throw std::invalid_argument("weights: expected [arcs, heads]");
    const PushData<A> with{data.data(), weights.data(), columns, heads, identity, out.data()};
    Reached<Neighbor> reached{sparse ? table.data() : nullptr, sparse ? receivers.data() : nullptr};
    int64_t count = 0;
    with_pair<A, A, A>(reduce, edge, [&]<class Reduce, class Edge>(Reduce, Edge) {
        count = push_arcs<Reduce, Edge>(*selection, with, reached);
    });
    return count;
}

template <class A>
void bind_push_of(Module& module, const char* name) {
    const auto define = [&](auto function) {
        module.def(name, function,
                   "neighbors, offset, rows?, width, data, columns, weights?, heads, reduce, edge, identity, out, "
                   "table?, receivers?");
    };
    define(&push<A, int32_t>);
    define(&push<A, int64_t>);
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
