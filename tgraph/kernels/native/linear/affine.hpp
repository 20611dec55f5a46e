// The epilogue of a step of an affine iteration x' = alpha A s + beta b, fused with the SpMV: new values, the scaled
// input of the next step, and norms. Vectorised over batches of rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/simd.hpp"

namespace tgraph {

inline constexpr int64_t batch = 256;  // rows per call of finish_rows: their sums stay in the L1 cache

// change : the L1 norm of x' - x. total : the sum of measure * x'. dangling : the sum of x' over vertices of scale 0.
struct Sums {
    double change = 0, total = 0, dangling = 0;

    void operator+=(const Sums& other) {
        change += other.change;
        total += other.total;
        dangling += other.dangling;
    }
};

// The vertex data of a step. Null stands for a scale or measure of 1, and for a bias that is in `constant`. `values`
// may be `before`.
template <class Value>
struct Vectors {
    const Value *before, *scale, *bias, *measure;
    Value* values;
    double alpha, beta, constant;
    Value rescale;  // factor of the input before a Gauss-Seidel step
    bool needs_total, needs_dangling;
};

// Sums in eight lanes: the same order of additions with and without vector instructions.
[[gnu::always_inline]] inline double added(const double* terms, int64_t count) {
    constexpr int64_t lanes = 8;
    double sum[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (int64_t lane = 0; lane < lanes; ++lane) sum[lane] += terms[i + lane];
    for (; i < count; ++i) sum[0] += terms[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

// The value if the scale is 0, else 0. On the bits, since compilers do not vectorise a select of floating point numbers
// that could trap.
template <class Value>
[[gnu::always_inline]] inline Value dangling(Value value, Value scale) {
    using Bits = std::conditional_t<sizeof(Value) == 4, uint32_t, uint64_t>;
    const Bits magnitude = std::bit_cast<Bits>(scale) << 1;  // without the sign: -0 is 0
    return std::bit_cast<Value>(magnitude == 0 ? std::bit_cast<Bits>(value) : Bits{0});
}

// For rows first .. first + count - 1, at most `batch`: new values from the sums `received`, the input of the next step
// (`sent`, unless null), and norms.
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
    if (vectors.needs_total && vectors.measure) {
        const Value* measure = vectors.measure + first;
        for (int64_t i = 0; i < count; ++i) terms[i] = static_cast<double>(measure[i]) * values[i];
        sums.total += added(terms, count);
    } else if (vectors.needs_total) {
        for (int64_t i = 0; i < count; ++i) terms[i] = values[i];
        sums.total += added(terms, count);
    }
    if (!vectors.scale) {
        if (sent) std::copy(values, values + count, sent + first);
        return;
    }
    const Value* scale = vectors.scale + first;
    if (vectors.needs_dangling) {
        for (int64_t i = 0; i < count; ++i) terms[i] = dangling(values[i], scale[i]);
        sums.dangling += added(terms, count);
    }
    if (!sent) return;
    sent += first;
    for (int64_t i = 0; i < count; ++i) sent[i] = scale[i] * values[i];
}

}  // namespace tgraph
