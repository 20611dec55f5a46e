// Rounds of a program from few vertices: what they send is computed by a code of element-wise operations at their rows,
// reduced at the receivers in the order of the arcs, and what these become is computed by another code and written. On
// one thread, round after round while the vertices stay few: one takes microseconds.
#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/bindings.hpp"
#include "base/kernels.hpp"
#include "base/memory.hpp"
#include "relaxation/row_code.hpp"

namespace tgraph {
namespace {

constexpr int64_t batch = 256;

// What arcs bring, reduced at their receivers in order.
template <class T>
struct Inbox {
    const int32_t* neighbors;
    const int64_t* offset;
    const T* weights;  // of the stored arcs
    T identity;
    Edges edge;
    Sums reduction;
    int32_t* table;  // an entry is valid if `vertex` refers back to it
    int64_t* vertex;  // who received, in the order in which they are reached, and what; room for at least one
    T* sum;
    int64_t size = 0;

    void send(int64_t from, T message) {
        int64_t begin = offset[from];
        const int64_t end = offset[from + 1];
        if (edge == Edges::copy) return reduce(neighbors + begin, end - begin, &message, 0);
        std::array<T, batch> sent;
        for (; begin < end; begin += batch) {
            const int64_t count = std::min(batch, end - begin);
            const T* const by = weights + begin;
            switch (edge) {
                case Edges::copy: break;
                case Edges::add: write(message, by, count, sent.data(), Plus()); break;
                case Edges::mul: write(message, by, count, sent.data(), Times()); break;
                case Edges::min: write(message, by, count, sent.data(), Lesser()); break;
                case Edges::max: write(message, by, count, sent.data(), Greater()); break;
            }
            reduce(neighbors + begin, count, sent.data(), 1);
        }
    }

private:
    template <class Edge>
    void write(T message, const T* by, int64_t count, T* sent, Edge) const {
        for (int64_t i = 0; i < count; ++i) sent[i] = Edge::apply(message, by[i]);
    }

    void reduce(const int32_t* to, int64_t count, const T* sent, int64_t step) {
        switch (reduction) {
            case Sums::sum: reduce(to, count, sent, step, Plus()); break;
            case Sums::min: reduce(to, count, sent, step, Lesser()); break;
            case Sums::max: reduce(to, count, sent, step, Greater()); break;
        }
    }

    // Without branches: whether a vertex was reached before is unpredictable.
    template <class Reduce>
    void reduce(const int32_t* to, int64_t count, const T* sent, int64_t step, Reduce) {
        int64_t filled = size;
        for (int64_t i = 0; i < count; ++i) {
            const int64_t entry = table[to[i]], held = (entry >= 0) & (entry < filled) ? entry : 0;
            const bool is_new = !filled | (vertex[held] != to[i]);
            const int64_t at = is_new ? filled : held;
            const T before = is_new ? identity : sum[held];
            table[to[i]] = static_cast<int32_t>(at);
            vertex[at] = to[i];
            sum[at] = Reduce::apply(before, sent[i * step]);
            filled += is_new;
        }
        size = filled;
    }
};

// Overwrites the values of receivers, for at most `most_rounds` from at most `most_arcs` arcs each, and `work` arcs in
// all. Returns how many changed in the last one, listed in `following`, the number of their arcs, and of rounds.
template <class T>
std::tuple<int64_t, int64_t, int64_t> row_rounds(In<int32_t> neighbors, In<int64_t> offset, In<T> weights, int64_t edge,
                                                 int64_t reduction, T identity, In<int64_t> code, int64_t sent_steps,
                                                 In<T> numbers, In<T> constants, In<int64_t> active,
                                                 Out<T> values, Out<int32_t> table, int64_t most_rounds,
                                                 int64_t most_arcs, int64_t work, Out<int64_t> following) {
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1, room = static_cast<int64_t>(following.shape(0));
    if (static_cast<int64_t>(values.shape(0)) != n || static_cast<int64_t>(table.shape(0)) != n)
        throw std::invalid_argument("values, table: expected [n]");
    if (edge ? !weights.is_valid() || weights.shape(0) != neighbors.shape(0) : weights.is_valid())
        throw std::invalid_argument("weights: expected [m]");
    auto size = static_cast<int64_t>(active.shape(0));
    int64_t arcs = 0;
    for (int64_t i = 0; i < size; ++i) {
        const int64_t row = active.data()[i];
        if (static_cast<uint64_t>(row) >= static_cast<uint64_t>(n)) throw std::out_of_range("active: no such vertex");
        arcs += offset.data()[row + 1] - offset.data()[row];
    }
    if (room < std::min(std::max(arcs, most_arcs), n)) throw std::invalid_argument("following: too small");
    const RowFunctions<T> functions(code, sent_steps, numbers, constants, n);
    Code<T> send = functions.sent(), become = functions.become();
    const Scratch<int64_t> reached(room + 1);
    const Scratch<T> sums(room + 1);
    Inbox<T> inbox{neighbors.data(), offset.data(), weights.data(), identity, static_cast<Edges>(edge),
                   static_cast<Sums>(reduction), table.data(), reached.data(), sums.data()};
    reached.data()[0] = 0;
    const int64_t* from = active.data();
    int64_t rounds = 0;
    do {
        work -= arcs + 1;
        inbox.size = 0;
        for (int64_t first = 0; first < size; first += lanes) {
            const int64_t count = std::min(lanes, size - first);
            const T* const sent = send.at({from + first, 0, count}, values.data(), nullptr);
            for (int64_t i = 0; i < count; ++i) inbox.send(from[first + i], sent[i]);
        }
        size = arcs = 0;
        for (int64_t first = 0; first < inbox.size; first += lanes) {
            const int64_t count = std::min(lanes, inbox.size - first), *const rows = inbox.vertex + first;
            const T* const after = become.at({rows, 0, count}, values.data(), inbox.sum + first);
            for (int64_t i = 0; i < count; ++i) {
                T& value = values.data()[rows[i]];
                const bool differs = changes(value, after[i]);
                value = after[i];
                following.data()[size] = rows[i];
                size += differs;
                arcs += differs ? offset.data()[rows[i] + 1] - offset.data()[rows[i]] : 0;
            }
        }
        from = following.data();
        ++rounds;
    } while (size && rounds < most_rounds && arcs <= most_arcs && work > 0);
    return {size, arcs, rounds};
}

template <class T>
void bind(Module& module, const char* name) {
    module.def(name, &row_rounds<T>,
               "neighbors, offset, weights?, edge, reduction, identity, code, sent_steps, numbers, constants, "
               "active, values, table, most_rounds, most_arcs, work, following");
}

}  // namespace

void bind_row_rounds(Module& module) {
    bind<float>(module, "row_rounds_float32");
    bind<double>(module, "row_rounds_float64");
    bind<int32_t>(module, "row_rounds_int32");
    bind<int64_t>(module, "row_rounds_int64");
    bind_row_pull(module);
}

}  // namespace tgraph
