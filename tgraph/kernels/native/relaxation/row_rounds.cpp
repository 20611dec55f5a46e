// One round of a program from few vertices: what they send is computed by a code of element-wise operations at their
// rows, reduced at the receivers in the order of the arcs, and what these become is computed by another code and
// written. On one thread: such a round takes microseconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "base/kernels.hpp"
#include "base/semiring.hpp"

namespace tgraph {
namespace {

constexpr int64_t lanes = 64, most_registers = 48, batch = 256;

// In the order of OPERATIONS in row_rounds.py. Truth is 1 or 0 of the type of the values.
enum Operation : int64_t {
    number, values_at, constant_at, received, copied, add, sub, mul, div, minimum, maximum, neg, abs, where,
    eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_not
};

// Operation, register of the result, and three operands: registers, or the place of a number or a constant.
struct Step {
    int64_t operation, result, a, b, c;
};

template <class T>
T negative(T x) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
    else
        return -x;
}

template <class T>
struct Code {
    const Step* steps;
    int64_t size;
    const T *numbers, *constants;  // constants: some [n], one after the other
    int64_t n;
    std::array<std::array<T, lanes>, most_registers> held;

    // The results at some rows, at most `lanes`; `given` : what they received.
    const T* at(const int64_t* rows, int64_t count, const T* values, const T* given) {
        for (int64_t s = 0; s < size; ++s) run(steps[s], rows, count, values, given);
        return held[steps[size - 1].result].data();
    }

private:
    template <class F>
    void each(const Step& step, int64_t count, const F& f) {
        const T *const a = held[step.a].data(), *const b = held[step.b].data();
        T* const out = held[step.result].data();
        for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(f(a[i], b[i]));
    }

    void run(const Step& step, const int64_t* rows, int64_t count, const T* values, const T* given) {
        T* const out = held[step.result].data();
        const auto gather = [&](const T* from) {
            for (int64_t i = 0; i < count; ++i) out[i] = from[rows[i]];
        };
        switch (static_cast<Operation>(step.operation)) {
            case number: std::fill_n(out, count, numbers[step.a]); break;
            case values_at: gather(values); break;
            case constant_at: gather(constants + step.a * n); break;
            case received: std::copy_n(given, count, out); break;
            case copied: each(step, count, [](T a, T) { return a; }); break;
            case add: each(step, count, [](T a, T b) { return plus(a, b); }); break;
            case sub:
                if constexpr (std::is_integral_v<T>)
                    each(step, count, [](T a, T b) { return plus(a, negative(b)); });
                else
                    each(step, count, [](T a, T b) { return a - b; });
                break;
            case mul: each(step, count, [](T a, T b) { return times(a, b); }); break;
            case div:
                if constexpr (std::is_floating_point_v<T>) each(step, count, [](T a, T b) { return a / b; });
                break;
            case minimum: each(step, count, [](T a, T b) { return lesser(a, b); }); break;
            case maximum: each(step, count, [](T a, T b) { return greater(a, b); }); break;
            case neg: each(step, count, [](T a, T) { return negative(a); }); break;
            case abs:
                if constexpr (std::is_integral_v<T>)
                    each(step, count, [](T a, T) { return a < 0 ? negative(a) : a; });
                else
                    each(step, count, [](T a, T) { return std::fabs(a); });
                break;
            case where: {
                const T *const a = held[step.a].data(), *const b = held[step.b].data(), *const c = held[step.c].data();
                for (int64_t i = 0; i < count; ++i) out[i] = a[i] != 0 ? b[i] : c[i];
                break;
            }
            case eq: each(step, count, [](T a, T b) { return a == b; }); break;
            case ne: each(step, count, [](T a, T b) { return a != b; }); break;
            case lt: each(step, count, [](T a, T b) { return a < b; }); break;
            case le: each(step, count, [](T a, T b) { return a <= b; }); break;
            case gt: each(step, count, [](T a, T b) { return a > b; }); break;
            case ge: each(step, count, [](T a, T b) { return a >= b; }); break;
            case logical_and: each(step, count, [](T a, T b) { return a != 0 && b != 0; }); break;
            case logical_or: each(step, count, [](T a, T b) { return a != 0 || b != 0; }); break;
            case logical_not: each(step, count, [](T a, T) { return a == 0; }); break;
        }
    }
};

enum class Edges : int64_t { copy, add, mul, min, max };
enum class Sums : int64_t { sum, min, max };

// What arcs bring, reduced at their receivers in order.
template <class T>
struct Inbox {
    const T* weights;  // of the stored arcs; null for `weight`
    T weight, identity;
    Edges edge;
    Sums reduction;
    int32_t* table;  // an entry is valid if `vertex` refers back to it
    std::vector<int64_t> vertex;
    std::vector<T> sum;

    void send(T message, const int32_t* neighbors, int64_t begin, int64_t end) {
        std::array<T, batch> sent;
        std::array<int32_t, batch> place;
        for (; begin < end; begin += batch) {
            const int64_t count = std::min(batch, end - begin);
            for (int64_t i = 0; i < count; ++i) place[i] = place_of(neighbors[begin + i]);
            const T* const by = weights ? weights + begin : nullptr;
            switch (edge) {
                case Edges::copy: std::fill_n(sent.data(), count, message); break;
                case Edges::add: write(message, by, count, sent.data(), Plus()); break;
                case Edges::mul: write(message, by, count, sent.data(), Times()); break;
                case Edges::min: write(message, by, count, sent.data(), Lesser()); break;
                case Edges::max: write(message, by, count, sent.data(), Greater()); break;
            }
            switch (reduction) {
                case Sums::sum: reduce(place.data(), sent.data(), count, Plus()); break;
                case Sums::min: reduce(place.data(), sent.data(), count, Lesser()); break;
                case Sums::max: reduce(place.data(), sent.data(), count, Greater()); break;
            }
        }
    }

private:
    template <class Edge>
    void write(T message, const T* by, int64_t count, T* sent, Edge) const {
        for (int64_t i = 0; i < count; ++i) sent[i] = Edge::apply(message, by ? by[i] : weight);
    }

    template <class Reduce>
    void reduce(const int32_t* place, const T* sent, int64_t count, Reduce) {
        for (int64_t i = 0; i < count; ++i) sum[place[i]] = Reduce::apply(sum[place[i]], sent[i]);
    }

    int32_t place_of(int32_t to) {
        const int32_t entry = table[to];
        if (entry >= 0 && entry < static_cast<int64_t>(vertex.size()) && vertex[entry] == to) return entry;
        table[to] = static_cast<int32_t>(vertex.size());
        vertex.push_back(to);
        sum.push_back(identity);
        return table[to];
    }
};

void check_code(const std::vector<Step>& code, int64_t numbers, int64_t constants) {
    for (const Step& step : code) {
        const int64_t operands = step.operation == number        ? numbers
                                 : step.operation == constant_at ? constants
                                                                 : most_registers;
        for (int64_t each : {step.a, step.b, step.c})
            if (each < 0 || each >= std::max<int64_t>(operands, 1)) throw std::out_of_range("code: no such operand");
        if (step.operation < 0 || step.operation > logical_not || step.result < 0 || step.result >= most_registers)
            throw std::out_of_range("code: no such operation or register");
    }
}

// Overwrites the values of receivers. Returns how many changed, listed in `following`, and the number of their arcs.
template <class T>
std::pair<int64_t, int64_t> row_round(In<int32_t> neighbors, In<int64_t> offset, In<T> weights, T weight, int64_t edge,
                                      int64_t reduction, T identity, In<int64_t> code, int64_t sent_steps,
                                      In<T> numbers, In<T> constants, In<int64_t> active, Out<T> values,
                                      Out<int32_t> table, Out<int64_t> following) {
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1, size = static_cast<int64_t>(active.shape(0));
    const int64_t steps = static_cast<int64_t>(code.shape(0)) / 5;
    if (static_cast<int64_t>(values.shape(0)) != n || static_cast<int64_t>(table.shape(0)) != n)
        throw std::invalid_argument("values, table: expected [n]");
    if (weights.is_valid() && weights.shape(0) != neighbors.shape(0))
        throw std::invalid_argument("weights: expected [m]");
    if (sent_steps < 1 || sent_steps >= steps) throw std::invalid_argument("code: expected two results");
    std::vector<Step> all(steps);
    for (int64_t s = 0; s < steps; ++s) {
        const int64_t* const step = code.data() + 5 * s;
        all[s] = {step[0], step[1], step[2], step[3], step[4]};
    }
    check_code(all, numbers.shape(0), n ? static_cast<int64_t>(constants.shape(0)) / n : 0);
    Code<T> run{all.data(), sent_steps, numbers.data(), constants.data(), n, {}};
    Inbox<T> inbox{weights.data(), weight,       identity, static_cast<Edges>(edge), static_cast<Sums>(reduction),
                   table.data(),   {},           {}};
    for (int64_t first = 0; first < size; first += lanes) {
        const int64_t count = std::min(lanes, size - first), *const rows = active.data() + first;
        for (int64_t i = 0; i < count; ++i)
            if (static_cast<uint64_t>(rows[i]) >= static_cast<uint64_t>(n))
                throw std::out_of_range("active: no such vertex");
        const T* const sent = run.at(rows, count, values.data(), nullptr);
        for (int64_t i = 0; i < count; ++i)
            inbox.send(sent[i], neighbors.data(), offset.data()[rows[i]], offset.data()[rows[i] + 1]);
    }
    run.steps += sent_steps, run.size = steps - sent_steps;
    const auto reached = static_cast<int64_t>(inbox.vertex.size());
    if (static_cast<int64_t>(following.shape(0)) < reached) throw std::invalid_argument("following: too small");
    int64_t changed = 0, arcs = 0;
    for (int64_t first = 0; first < reached; first += lanes) {
        const int64_t count = std::min(lanes, reached - first), *const rows = inbox.vertex.data() + first;
        const T* const after = run.at(rows, count, values.data(), inbox.sum.data() + first);
        for (int64_t i = 0; i < count; ++i) {
            T& value = values.data()[rows[i]];
            const bool differs = value != after[i] && (value == value || after[i] == after[i]);
            value = after[i];
            following.data()[changed] = rows[i];
            changed += differs;
            arcs += differs ? offset.data()[rows[i] + 1] - offset.data()[rows[i]] : 0;
        }
    }
    return {changed, arcs};
}

template <class T>
void bind(Module& module, const char* name) {
    module.def(name, &row_round<T>,
               "neighbors, offset, weights?, weight, edge, reduction, identity, code, sent_steps, numbers, constants, "
               "active, values, table, following");
}

}  // namespace

void bind_row_rounds(Module& module) {
    bind<float>(module, "row_round_float32");
    bind<double>(module, "row_round_float64");
    bind<int32_t>(module, "row_round_int32");
    bind<int64_t>(module, "row_round_int64");
}

}  // namespace tgraph
