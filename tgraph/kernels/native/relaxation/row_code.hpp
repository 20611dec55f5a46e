// Element-wise functions of rows as a code of single steps, evaluated for some rows at once, and bounds of their values
// where one operand is known by bounds alone.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "base/semiring.hpp"

namespace tgraph {

constexpr int64_t lanes = 64, most_registers = 48;

// In the order of OPERATIONS in row_rounds.py. Truth is 1 or 0 of the type of the values.
enum Operation : int64_t {
    number, values_at, constant_at, received, copied, add, sub, mul, div, minimum, maximum, neg, abs, where,
    eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_not, isnan, isinf, isfinite
};

constexpr int arity(int64_t operation) {
    if (operation <= received) return 0;
    if (operation == where) return 3;
    const bool is_unary = operation == copied || operation == neg || operation == abs || operation >= logical_not;
    return is_unary ? 1 : 2;
}

// Operation, register of the result, and three operands: registers, or the place of a number or a constant.
struct Step {
    int64_t operation, result, a, b, c;
};

// Some rows, at most `lanes`: those listed, or so many from `first` on.
struct SomeRows {
    const int64_t* ids;
    int64_t first, count;
};

// As `lesser` and `greater`, which the compiler takes for vectors already, in a form of which it makes some.
template <class T>
TGRAPH_INLINE T least(T a, T b) {
    return (b < a) | (b != b) ? b : a;
}

template <class T>
TGRAPH_INLINE T most(T a, T b) {
    return (b > a) | (b != b) ? b : a;
}

struct Least {
    template <class T>
    TGRAPH_INLINE static T apply(T a, T b) {
        return least(a, b);
    }
};

struct Most {
    template <class T>
    TGRAPH_INLINE static T apply(T a, T b) {
        return most(a, b);
    }
};

template <class T>
T negative(T x) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
    else
        return -x;
}

// All lanes are computed, those of rows that are not there from what they last held. Registers are the same or apart.
template <class T>
struct Code {
    const Step* steps;
    int64_t size;
    const T *numbers, *constants;  // constants: some [n], one after the other
    int64_t n;
    alignas(64) std::array<std::array<T, lanes>, most_registers> held;

    // The results at some rows; `given` : what they received.
    const T* at(const SomeRows& rows, const T* values, const T* given) {
        for (int64_t s = 0; s < size; ++s) run(steps[s], rows, values, given);
        return held[steps[size - 1].result].data();
    }

    TGRAPH_MULTIVERSION void run(const Step& step, const SomeRows& rows, const T* values, const T* given) {
        T* const out = held[step.result].data();
        const auto read = [&](const T* from) {
            if (!rows.ids) return void(std::copy_n(from + rows.first, rows.count, out));
            for (int64_t i = 0; i < rows.count; ++i) out[i] = from[rows.ids[i]];
        };
        switch (static_cast<Operation>(step.operation)) {
            case number: std::fill_n(out, lanes, numbers[step.a]); break;
            case values_at: read(values); break;
            case constant_at: read(constants + step.a * n); break;
            case received: std::copy_n(given, rows.count, out); break;
            case copied: each(step, [](T a, T) { return a; }); break;
            case add: each(step, [](T a, T b) { return plus(a, b); }); break;
            case sub:
                if constexpr (std::is_integral_v<T>)
                    each(step, [](T a, T b) { return plus(a, negative(b)); });
                else
                    each(step, [](T a, T b) { return a - b; });
                break;
            case mul: each(step, [](T a, T b) { return times(a, b); }); break;
            case div:
                if constexpr (std::is_floating_point_v<T>) each(step, [](T a, T b) { return a / b; });
                break;
            case minimum: each(step, [](T a, T b) { return least(a, b); }); break;
            case maximum: each(step, [](T a, T b) { return most(a, b); }); break;
            case neg: each(step, [](T a, T) { return negative(a); }); break;
            case abs:
                if constexpr (std::is_integral_v<T>)
                    each(step, [](T a, T) { return a < 0 ? negative(a) : a; });
                else
                    each(step, [](T a, T) { return std::fabs(a); });
                break;
            case where: {
                const T *const a = held[step.a].data(), *const b = held[step.b].data(), *const c = held[step.c].data();
#pragma GCC ivdep
                for (int64_t i = 0; i < lanes; ++i) {
                    const T first = b[i], second = c[i];
                    out[i] = a[i] != 0 ? first : second;
                }
                break;
            }
            case eq: each(step, [](T a, T b) { return a == b; }); break;
            case ne: each(step, [](T a, T b) { return a != b; }); break;
            case lt: each(step, [](T a, T b) { return a < b; }); break;
            case le: each(step, [](T a, T b) { return a <= b; }); break;
            case gt: each(step, [](T a, T b) { return a > b; }); break;
            case ge: each(step, [](T a, T b) { return a >= b; }); break;
            case logical_and: each(step, [](T a, T b) { return (a != 0) & (b != 0); }); break;
            case logical_or: each(step, [](T a, T b) { return (a != 0) | (b != 0); }); break;
            case logical_not: each(step, [](T a, T) { return a == 0; }); break;
            case isnan: each(step, [](T a, T) { return a != a; }); break;
            case isinf: each(step, [](T a, T) { return is_infinite(a); }); break;
            case isfinite: each(step, [](T a, T) { return (a == a) & !is_infinite(a); }); break;
        }
    }

private:
    static bool is_infinite(T a) {
        constexpr T infinity = std::numeric_limits<T>::infinity();  // 0 for integers
        return std::is_floating_point_v<T> & ((a == infinity) | (a == -infinity));
    }

    template <class F>
    TGRAPH_INLINE void each(const Step& step, const F& f) {
        const T *const a = held[step.a].data(), *const b = held[step.b].data();
        T* const out = held[step.result].data();
#pragma GCC ivdep
        for (int64_t i = 0; i < lanes; ++i) out[i] = static_cast<T>(f(a[i], b[i]));
    }
};

// Bounds of a value: any value at all, NaN too, where both are NaN.
template <class T>
struct Interval {
    T low, high;

    static Interval anything() {
        using Limits = std::numeric_limits<T>;
        if constexpr (std::is_integral_v<T>)
            return {Limits::min(), Limits::max()};
        else
            return {Limits::quiet_NaN(), Limits::quiet_NaN()};
    }
    static Interval truth(bool is_true, bool is_false) { return {static_cast<T>(is_true), static_cast<T>(!is_false)}; }

    bool is_true() const { return (low > 0) | (high < 0); }
    bool is_false() const { return (low == 0) & (high == 0); }
};

// Evaluates a code where what was received lies in an interval (interval arithmetic; Moore 1966).
template <class T>
class Bounds {
public:
    using Values = Interval<T>;

    Bounds(const Code<T>& code, Values given) : code_(code), given_(given) {
        for (int64_t s = 0; s < code.size; ++s) {
            const Step& step = code.steps[s];
            const int operands = arity(step.operation);
            varies_[step.result] = step.operation == received || (operands > 0 && varies_[step.a]) ||
                                   (operands > 1 && varies_[step.b]) || (operands > 2 && varies_[step.c]);
        }
    }

    // Marks those of `count` rows from `first` on whose value may become another one. Returns whether there are any.
    bool open(int64_t first, int64_t count, const T* values, bool* marks) {
        const SomeRows rows{nullptr, first, count};
        for (int64_t s = 0; s < code_.size; ++s) {
            const Step& step = code_.steps[s];
            varies_[step.result] ? run(step) : code_.run(step, rows, values, nullptr);
        }
        const int64_t last = code_.steps[code_.size - 1].result;
        const T *const low = code_.held[last].data(), *const high = highs(last);
        bool any = false;
        const T* const value = values + first;
        for (int64_t i = 0; i < count; ++i) {
            marks[i] = (low[i] != value[i]) | (high[i] != value[i]);
            any |= marks[i];
        }
        return any;
    }

private:
    const T* highs(int64_t at) const { return varies_[at] ? high_[at].data() : code_.held[at].data(); }

    template <class F>
    TGRAPH_INLINE void each(const Step& step, const F& f) {
        const T *const a = code_.held[step.a].data(), *const b = code_.held[step.b].data();
        const T *const above_a = highs(step.a), *const above_b = highs(step.b);
        T *const low = code_.held[step.result].data(), *const high = high_[step.result].data();
#pragma GCC ivdep
        for (int64_t i = 0; i < lanes; ++i) {
            const Values found = f(Values{a[i], above_a[i]}, Values{b[i], above_b[i]});
            low[i] = found.low;
            high[i] = found.high;
        }
    }

    TGRAPH_INLINE void choose(const Step& step) {
        const T *const a = code_.held[step.a].data(), *const b = code_.held[step.b].data(),
                *const c = code_.held[step.c].data();
        const T *const above_a = highs(step.a), *const above_b = highs(step.b), *const above_c = highs(step.c);
        T *const low = code_.held[step.result].data(), *const high = high_[step.result].data();
#pragma GCC ivdep
        for (int64_t i = 0; i < lanes; ++i) {
            const Values is{a[i], above_a[i]}, first{b[i], above_b[i]}, second{c[i], above_c[i]};
            const bool is_first = is.is_true(), is_second = is.is_false();
            const T below = least(first.low, second.low), above = most(first.high, second.high);
            low[i] = is_first ? first.low : is_second ? second.low : below;
            high[i] = is_first ? first.high : is_second ? second.high : above;
        }
    }

    TGRAPH_MULTIVERSION void run(const Step& step) {
        switch (static_cast<Operation>(step.operation)) {
            case received: each(step, [this](Values, Values) { return given_; }); break;
            case copied: each(step, [](Values a, Values) { return a; }); break;
            case minimum:
                each(step,
                     [](Values a, Values b) { return Values{least(a.low, b.low), least(a.high, b.high)}; });
                break;
            case maximum:
                each(step,
                     [](Values a, Values b) { return Values{most(a.low, b.low), most(a.high, b.high)}; });
                break;
            case add:
            case sub: shift(step); break;
            case where: choose(step); break;
            case eq:
            case ne: {
                const bool turned = step.operation == ne;
                each(step, [turned](Values a, Values b) {
                    const bool equal = (a.low == b.high) & (a.high == b.low);
                    const bool apart = (a.high < b.low) | (b.high < a.low);
                    return turned ? Values::truth(apart, equal) : Values::truth(equal, apart);
                });
                break;
            }
            case lt: each(step, less); break;
            case gt: each(step, [](Values a, Values b) { return less(b, a); }); break;
            case le: each(step, at_most); break;
            case ge: each(step, [](Values a, Values b) { return at_most(b, a); }); break;
            case logical_and:
                each(step, [](Values a, Values b) {
                    return Values::truth(a.is_true() & b.is_true(), a.is_false() | b.is_false());
                });
                break;
            case logical_or:
                each(step, [](Values a, Values b) {
                    return Values::truth(a.is_true() | b.is_true(), a.is_false() & b.is_false());
                });
                break;
            case logical_not:
                each(step, [](Values a, Values) { return Values::truth(a.is_false(), a.is_true()); });
                break;
            case isnan:
            case isinf:
            case isfinite: each(step, [](Values, Values) { return Values::truth(false, false); }); break;
            default: each(step, [](Values, Values) { return Values::anything(); });
        }
    }

    static Values less(Values a, Values b) { return Values::truth(a.high < b.low, a.low >= b.high); }
    static Values at_most(Values a, Values b) { return Values::truth(a.high <= b.low, a.low > b.high); }

    // Sums and differences with a known number keep the order of what is added to it, rounded or not; integers wrap.
    TGRAPH_INLINE void shift(const Step& step) {
        const bool known = std::is_floating_point_v<T> && !(varies_[step.a] && varies_[step.b]);
        const bool adds = step.operation == add;
        each(step, [known, adds](Values a, Values b) {
            const Values sum = adds ? Values{plus(a.low, b.low), plus(a.high, b.high)}
                                    : Values{plus(a.low, negative(b.high)), plus(a.high, negative(b.low))};
            return known && sum.low == sum.low && sum.high == sum.high ? sum : Values::anything();
        });
    }

    Code<T> code_;
    const Values given_;
    std::array<bool, most_registers> varies_{};
    alignas(64) std::array<std::array<T, lanes>, most_registers> high_{};
};

// The functions of a round: what vertices send, and what they become by what they receive.
template <class T>
class RowFunctions {
public:
    RowFunctions(In<int64_t> code, int64_t sent, In<T> numbers, In<T> constants, int64_t n)
        : sent_(sent), numbers_(numbers.data()), constants_(constants.data()), n_(n) {
        steps_.resize(code.shape(0) / 5);
        const auto size = static_cast<int64_t>(steps_.size());
        if (sent < 1 || sent >= size) throw std::invalid_argument("code: expected two results");
        const int64_t tensors = n ? static_cast<int64_t>(constants.shape(0)) / n : 0;
        for (int64_t s = 0; s < size; ++s) {
            const int64_t* const at = code.data() + 5 * s;
            steps_[s] = {at[0], at[1], at[2], at[3], at[4]};
            check(steps_[s], static_cast<int64_t>(numbers.shape(0)), tensors);
        }
    }

    Code<T> sent() const { return {steps_.data(), sent_, numbers_, constants_, n_, {}}; }
    Code<T> become() const {
        return {steps_.data() + sent_, static_cast<int64_t>(steps_.size()) - sent_, numbers_, constants_, n_, {}};
    }

private:
    static void check(const Step& step, int64_t numbers, int64_t tensors) {
        const int64_t operands = step.operation == number        ? numbers
                                 : step.operation == constant_at ? tensors
                                                                 : most_registers;
        for (int64_t each : {step.a, step.b, step.c})
            if (each < 0 || each >= std::max<int64_t>(operands, 1)) throw std::out_of_range("code: no such operand");
        if (step.operation < 0 || step.operation > isfinite || step.result < 0 || step.result >= most_registers)
            throw std::out_of_range("code: no such operation or register");
    }

    std::vector<Step> steps_;
    const int64_t sent_;
    const T *const numbers_, *const constants_;
    const int64_t n_;
};

template <class T>
bool changes(T before, T after) {
    return before != after && (before == before || after == after);
}

enum class Edges : int64_t { copy, add, mul, min, max };
enum class Sums : int64_t { sum, min, max };

}  // namespace tgraph
