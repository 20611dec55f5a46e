// What a step of an affine iteration does with the sums that its rows receive.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/simd.hpp"

namespace tgraph {

inline constexpr int64_t batch = 256;  // rows that are finished together, while their sums are in the nearest cache

struct Sums {
    double change = 0, total = 0, unsent = 0;

    void operator+=(const Sums& other) {
        change += other.change;
        total += other.total;
        unsent += other.unsent;
    }
};

// The vertex data of a step. What is null takes no part: a scale or measure of 1, a bias that is the same for all.
// `values` may be `before`.
template <class Value>
struct Vectors {
    const Value *before, *scale, *bias, *measure;
    Value* values;
    double alpha, beta, constant;
    Value rescale;  // of what is heard, before a step in place
    bool wants_total, wants_unsent;
};

// Added in eight lanes: an order that is the same with vector instructions and without.
[[gnu::always_inline]] inline double added(const double* terms, int64_t count) {
    constexpr int64_t lanes = 8;
    double sum[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (int64_t lane = 0; lane < lanes; ++lane) sum[lane] += terms[i + lane];
    for (; i < count; ++i) sum[0] += terms[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

// The value where the scale is 0, else 0: on the bits, for compilers that take no vector instructions for a choice
// between floating-point numbers, as it could trap.
template <class Value>
[[gnu::always_inline]] inline Value unless_sent(Value value, Value scale) {
    using Bits = std::conditional_t<sizeof(Value) == 4, uint32_t, uint64_t>;
    const Bits magnitude = std::bit_cast<Bits>(scale) << 1;  // without the sign: -0 is 0
    return std::bit_cast<Value>(magnitude == 0 ? std::bit_cast<Bits>(value) : Bits{0});
}

// From what at most `batch` rows from `first` on received, their new values, what they send (unless null), and sums.
template <class Value>
TGRAPH_MULTIVERSION void finish_rows(const Vectors<Value>& vectors, int64_t first, int64_t count,
                                     const double* received, Value* sent, Sums& sums) {
    double terms[batch];
    Value values[batch];
    const double alpha = vectors.alpha, beta = vectors.beta, constant = vectors.constant;
    if (vectors.bias) {
        const Value* bias = vectors.bias + first;
        for (int64_t i = 0; i < count; ++i) values[i] = static_cast<Value>(alpha * received[i] + beta * bias[i]);
    } else {
        for (int64_t i = 0; i < count; ++i) values[i] = static_cast<Value>(alpha * received[i] + constant);
    }
    const Value* before = vectors.before + first;
    for (int64_t i = 0; i < count; ++i)
        terms[i] = std::abs(static_cast<double>(values[i]) - static_cast<double>(before[i]));
    sums.change += added(terms, count);
    std::copy(values, values + count, vectors.values + first);
    if (vectors.wants_total && vectors.measure) {
        const Value* measure = vectors.measure + first;
        for (int64_t i = 0; i < count; ++i) terms[i] = static_cast<double>(measure[i]) * values[i];
        sums.total += added(terms, count);
    } else if (vectors.wants_total) {
        for (int64_t i = 0; i < count; ++i) terms[i] = values[i];
        sums.total += added(terms, count);
    }
    if (!vectors.scale) {
        if (sent) std::copy(values, values + count, sent + first);
        return;
    }
    const Value* scale = vectors.scale + first;
    if (vectors.wants_unsent) {
        for (int64_t i = 0; i < count; ++i) terms[i] = unless_sent(values[i], scale[i]);
        sums.unsent += added(terms, count);
    }
    if (!sent) return;
    sent += first;
    for (int64_t i = 0; i < count; ++i) sent[i] = scale[i] * values[i];
}

}  // namespace tgraph
