// The inner loops of attention over a batch of arcs of one row, in vectors of `lanes` numbers: scores, online softmax
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018) with dropout, its gradient, weighted
// sums.
//
// A row of data has `span` numbers per head, a multiple of `lanes`. Numbers of arcs are stored by head: that of arc a
// and head h is at h * stride + a. With fewer arcs than lanes stride is the number of arcs, so that a vector spans
// heads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/memory.hpp"
#include "base/numbers.hpp"

namespace tgraph {

inline constexpr int64_t most_arcs = 64;

struct Shape {
    int64_t heads, span, stride = most_arcs;
};

// ---- horizontal sum and maximum, and exp of a vector ----------------------------------------------------------------

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define TGRAPH_HALVES 1
#endif
#endif

template <int begin, class A, int lanes, int... place>
TGRAPH_INLINE Vector<A, sizeof...(place)> lanes_from(Vector<A, lanes> v, std::integer_sequence<int, place...>) {
#if defined(TGRAPH_HALVES)
    return __builtin_shufflevector(v, v, (begin + place)...);
#else
    return Vector<A, sizeof...(place)>{v[begin + place]...};
#endif
}

struct Adding {
    template <class T>
    TGRAPH_INLINE static T apply(T a, T b) {
        return a + b;
    }
};

struct Largest {
    template <class T>
    TGRAPH_INLINE static T apply(T a, T b) {
        return a > b ? a : b;
    }
};

template <class Operation, class A, int lanes>
TGRAPH_INLINE A folded(Vector<A, lanes> v) {
    if constexpr (lanes == 2) {
        return Operation::apply(v[0], v[1]);
    } else {
        constexpr auto places = std::make_integer_sequence<int, lanes / 2>{};
        return folded<Operation, A, lanes / 2>(Operation::apply(lanes_from<0, A, lanes>(v, places),
                                                                lanes_from<lanes / 2, A, lanes>(v, places)));
    }
}

template <class A>
struct ExpConstants;
template <>
struct ExpConstants<float> {
    using Bits = uint32_t;
    static constexpr int fraction = 23, terms = 7;
    static constexpr float high = 0.693359375f, low = -2.12194440e-4f, least = -87.0f, shift = 0x1.8p23f;
};
template <>
struct ExpConstants<double> {
    using Bits = uint64_t;
    static constexpr int fraction = 52, terms = 13;
    static constexpr double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33, least = -708.0, shift = 0x1.8p52;
};

template <class A>
constexpr A inverse_factorial(int number) {
    double factorial = 1;
    for (; number > 1; --number) factorial *= number;
    return static_cast<A>(1 / factorial);
}

// exp(x) for x not far above 0, within about one unit in the last place; 0 below `least`. With x = n log 2 + r, e^r is
// its Taylor series, and n is added to the exponent; adding `shift` rounds x / log 2 to n, in the low bits of the sum.
// n log 2 is subtracted in two parts for precision (Cody and Waite).
template <class A, int lanes>
TGRAPH_INLINE Vector<A, lanes> exponential(Vector<A, lanes> x) {
    using P = ExpConstants<A>;
    using Lanes = Vector<A, lanes>;
    using Bits = Vector<typename P::Bits, lanes>;
    constexpr A per_log2 = static_cast<A>(1.4426950408889634);
    constexpr auto one = std::bit_cast<typename P::Bits>(A{1});
    const auto vanishes = x < P::least;
    x = vanishes ? P::least + Lanes{} : x;
    const Lanes shifted = x * per_log2 + P::shift, n = shifted - P::shift;
    const Lanes r = (x - n * P::high) - n * P::low;
    Lanes sum = inverse_factorial<A>(P::terms) + Lanes{};
#pragma GCC unroll 16
    for (int term = P::terms - 1; term >= 0; --term) sum = sum * r + inverse_factorial<A>(term);
    const Bits exponent = (reinterpret_cast<Bits>(shifted) << P::fraction) + one;
    return vanishes ? Lanes{} : sum * reinterpret_cast<Lanes>(exponent);
}

template <class A, int lanes>
TGRAPH_INLINE void store(A* to, Vector<A, lanes> v) {
    *reinterpret_cast<Vector<A, lanes>*>(to) = v;
}

// Contiguous numbers of a batch: those of a head, or of all heads if there are fewer arcs than lanes.
struct Runs {
    int64_t count, length;
};

template <int lanes>
TGRAPH_INLINE Runs runs_of(int64_t size, Shape shape) {
    return size < lanes ? Runs{1, shape.heads * size} : Runs{shape.heads, size};
}

// ---- scores ---------------------------------------------------------------------------------------------------------

// out = leaky_relu(numbers).
template <int lanes, class A>
TGRAPH_MULTIVERSION void leaky_numbers(const A* numbers, int64_t size, Shape shape, A slope, A* out) {
    const Runs runs = runs_of<lanes>(size, shape);
    for (int64_t run = 0; run < runs.count; ++run)
        for (int64_t a = run * shape.stride, end = a + runs.length; a < end; a += lanes) {
            const Vector<A, lanes> z = load<A, lanes>(numbers + a);
            store<A, lanes>(out + a, z > 0 ? z : z * slope);
        }
}

// The sum of both halves of a vector.
template <class A, int lanes>
TGRAPH_INLINE Vector<A, lanes / 2> halved(Vector<A, lanes> v) {
    constexpr auto places = std::make_integer_sequence<int, lanes / 2>{};
    return lanes_from<0, A, lanes>(v, places) + lanes_from<lanes / 2, A, lanes>(v, places);
}

// The horizontal sums of four vectors, in the same order of additions as `folded`, with shared last steps.
template <class A, int lanes>
TGRAPH_INLINE Vector<A, 4> folded_four(Vector<A, lanes> a, Vector<A, lanes> b, Vector<A, lanes> c, Vector<A, lanes> d) {
    if constexpr (lanes > 4) {
        return folded_four<A, lanes / 2>(halved<A, lanes>(a), halved<A, lanes>(b), halved<A, lanes>(c),
                                         halved<A, lanes>(d));
    } else if constexpr (lanes == 2) {
        return Vector<A, 4>{a[0], b[0], c[0], d[0]} + Vector<A, 4>{a[1], b[1], c[1], d[1]};
    } else {
        using Four = Vector<A, 4>;
        const Four ab = Four{a[0], b[0], a[1], b[1]} + Four{a[2], b[2], a[3], b[3]};
        const Four cd = Four{c[0], d[0], c[1], d[1]} + Four{c[2], d[2], c[3], d[3]};
        return Four{ab[0], ab[1], cd[0], cd[1]} + Four{ab[2], ab[3], cd[2], cd[3]};
    }
}

// out = scale * dot(row, fixed), or the row of `fixed` at a * step for arc a. Prefetches the rows of later arcs.
template <int lanes, class A>
TGRAPH_MULTIVERSION void dot_rows(const A* const* rows, const A* const* coming, const A* fixed, int64_t step,
                                  int64_t size, Shape shape, A scale, A* out) {
    int64_t head = 0;
    for (; shape.span == lanes && head + 4 <= shape.heads; head += 4)
        for (int64_t a = 0; a < size; ++a) {
            const int64_t f = head * lanes;
            const A *row = rows[a] + f, *with = fixed + a * step + f, *next = coming[a] + f;
            Vector<A, lanes> sum[4];
#pragma GCC unroll 4
            for (int h = 0; h < 4; ++h) {
                fetch_ahead(next + h * lanes);
                sum[h] = load<A, lanes>(row + h * lanes) * load<A, lanes>(with + h * lanes);
            }
            const Vector<A, 4> sums = scale * folded_four<A, lanes>(sum[0], sum[1], sum[2], sum[3]);
#pragma GCC unroll 4
            for (int h = 0; h < 4; ++h) out[(head + h) * shape.stride + a] = sums[h];
        }
    for (; head < shape.heads; ++head)
        for (int64_t a = 0; a < size; ++a) {
            const A *row = rows[a] + head * shape.span, *with = fixed + a * step + head * shape.span;
            const A* next = coming[a] + head * shape.span;
            Vector<A, lanes> sum{};
            for (int64_t f = 0; f < shape.span; f += lanes) {
                fetch_ahead(next + f);
                sum += load<A, lanes>(row + f) * load<A, lanes>(with + f);
            }
            out[head * shape.stride + a] = scale * folded<Adding, A, lanes>(sum);
        }
}

// Some vectors of a head, with `fixed` and `vector` in registers.
template <int lanes, int vectors, class A>
TGRAPH_INLINE void dot_leaky_head(const A* const* rows, const A* const* coming, int64_t begin, const A* fixed,
                                  const A* vector, int64_t size, A slope, A* out) {
    using Lanes = Vector<A, lanes>;
    Lanes with[vectors], factor[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
        with[v] = load<A, lanes>(fixed + begin + v * lanes);
        factor[v] = load<A, lanes>(vector + begin + v * lanes);
    }
    for (int64_t a = 0; a < size; ++a) {
        const A *row = rows[a] + begin, *next = coming[a] + begin;
        Lanes sum{};
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            fetch_ahead(next + v * lanes);
            const Lanes z = load<A, lanes>(row + v * lanes) + with[v];
            sum += factor[v] * (z > 0 ? z : z * slope);
        }
        out[a] += folded<Adding, A, lanes>(sum);
    }
}

// out = dot(vector, leaky_relu(row + fixed)).
template <int lanes, class A>
TGRAPH_MULTIVERSION void dot_leaky_rows(const A* const* rows, const A* const* coming, const A* fixed, const A* vector,
                                        int64_t size, Shape shape, A slope, A* out) {
    for (int64_t head = 0; head < shape.heads; ++head) {
        A* scores = out + head * shape.stride;
        int64_t f = head * shape.span;
        const int64_t end = f + shape.span;
        std::fill_n(scores, size, A{0});
        for (; f + 4 * lanes <= end; f += 4 * lanes)
            dot_leaky_head<lanes, 4>(rows, coming, f, fixed, vector, size, slope, scores);
        for (; f + 2 * lanes <= end; f += 2 * lanes)
            dot_leaky_head<lanes, 2>(rows, coming, f, fixed, vector, size, slope, scores);
        for (; f < end; f += lanes)
            dot_leaky_head<lanes, 1>(rows, coming, f, fixed, vector, size, slope, scores);
    }
}

// out = dot products of two rows per head, without padding: the same bits as of padded rows by `dot_rows`, so that
// gradients of scores vanish where one weight is 1.
template <int lanes, class A>
TGRAPH_MULTIVERSION void dot_heads(const A* a, const A* b, int64_t heads, int64_t columns, A* out) {
    for (int64_t head = 0; head < heads; ++head, a += columns, b += columns) {
        Vector<A, lanes> sum{};
        int64_t f = 0;
        for (; f + lanes <= columns; f += lanes) sum += load<A, lanes>(a + f) * load<A, lanes>(b + f);
        A rest[2 * lanes] = {};
        std::copy_n(a + f, columns - f, rest);
        std::copy_n(b + f, columns - f, rest + lanes);
        if (f < columns) sum += load<A, lanes>(rest) * load<A, lanes>(rest + lanes);
        out[head] = folded<Adding, A, lanes>(sum);
    }
}

// ---- weights --------------------------------------------------------------------------------------------------------

// Dropout by a counter-based hash of seed, arc and head, so that the backward pass recomputes the mask; as in the
// portable implementation.
struct Dropout {
    uint64_t seed;
    uint32_t threshold;  // an arc is kept if its hash is at least this
    bool drops;
};

template <int lanes>
TGRAPH_INLINE Vector<uint32_t, lanes> mixed(Vector<uint32_t, lanes> bits) {
    bits ^= bits >> 16;
    bits *= 0x7feb352du;
    bits ^= bits >> 15;
    bits *= 0x846ca68bu;
    return bits ^ (bits >> 16);
}

// The dropout factors: `gain` for arcs that are kept, 0 for the others. The counter is low + 2^32 high.
template <int lanes, class A>
TGRAPH_INLINE Vector<A, lanes> dropout_factors(const Dropout& dropout, const uint32_t* low, const uint32_t* high,
                                               A gain) {
    using Bits = Vector<uint32_t, lanes>;
    Bits bits = mixed<lanes>(load<uint32_t, lanes>(low) ^ static_cast<uint32_t>(dropout.seed));
    bits += load<uint32_t, lanes>(high) * 0x9e3779b9u + static_cast<uint32_t>(dropout.seed >> 32);
    const auto stays = mixed<lanes>(bits) >= dropout.threshold;
    using Mask = Vector<std::conditional_t<sizeof(A) == 8, int64_t, int32_t>, lanes>;
    return __builtin_convertvector(stays, Mask) ? gain + Vector<A, lanes>{} : Vector<A, lanes>{};
}

// The dropout factors of numbers begin .. end - 1 of a batch, at most `lanes`.
template <int lanes, class A>
TGRAPH_INLINE Vector<A, lanes> dropout_factors_at(const Dropout& dropout, const int64_t* arcs, int64_t begin,
                                                  int64_t end, Shape shape, A gain) {
    uint32_t low[lanes] = {}, high[lanes] = {};
    int64_t head = begin / shape.stride, a = begin - head * shape.stride;
    for (int64_t i = 0; i < std::min<int64_t>(end - begin, lanes); ++i) {
        const auto counter = static_cast<uint64_t>(arcs[a] * shape.heads + head);
        low[i] = static_cast<uint32_t>(counter);
        high[i] = static_cast<uint32_t>(counter >> 32);
        if (++a == shape.stride) a = 0, ++head;
    }
    return dropout_factors<lanes, A>(dropout, low, high, gain);
}

// Replaces scores first .. first + size - 1 by exp(score - base), and returns their sum per lane.
template <int lanes, class A>
TGRAPH_INLINE Vector<A, lanes> exponentiate(A* scores, int64_t first, int64_t size, A base) {
    Vector<A, lanes> total{};
    for (int64_t a = first; a < first + size; a += lanes) {
        const Vector<A, lanes> weight = exponential<A, lanes>(load<A, lanes>(scores + a) - base);
        total += weight;
        store<A, lanes>(scores + a, weight);
    }
    return total;
}

// Updates the running maximum of a head with `best`, and rescales total and sums. Returns the base of the exponentials.
template <int lanes, class A>
TGRAPH_INLINE A raise(A best, int64_t head, Shape shape, A* maxima, A* totals, A* sums) {
    constexpr A lowest = -std::numeric_limits<A>::infinity();
    const A before = maxima[head], now = Largest::apply(best, before), base = now == lowest ? A{0} : now;
    maxima[head] = now;
    if (before == lowest || before == now) return base;
    const A factor = exponential<A, lanes>(before - base + Vector<A, lanes>{})[0];
    totals[head] *= factor;
    for (int64_t f = head * shape.span; f < (head + 1) * shape.span; f += lanes)
        store<A, lanes>(sums + f, load<A, lanes>(sums + f) * factor);
    return base;
}

// `update_softmax` of a head with at least as many arcs as lanes.
template <int lanes, class A>
TGRAPH_INLINE void update_softmax_head(A* scores, int64_t size, int64_t head, Shape shape, A* maxima, A* totals,
                                       A* sums) {
    constexpr A lowest = -std::numeric_limits<A>::infinity();
    const int64_t first = head * shape.stride;
    for (int64_t a = first + size; a % lanes; ++a) scores[a] = lowest;
    Vector<A, lanes> best = lowest + Vector<A, lanes>{};
    for (int64_t a = first; a < first + size; a += lanes) best = Largest::apply(load<A, lanes>(scores + a), best);
    const A base = raise<lanes, A>(folded<Largest, A, lanes>(best), head, shape, maxima, totals, sums);
    totals[head] += folded<Adding, A, lanes>(exponentiate<lanes, A>(scores, first, size, base));
}

// `update_softmax` of all heads with fewer arcs than lanes.
template <int lanes, class A>
TGRAPH_INLINE void update_softmax_few(A* scores, int64_t size, Shape shape, A* maxima, A* totals, A* sums) {
    constexpr A lowest = -std::numeric_limits<A>::infinity();
    for (int64_t head = 0; head < shape.heads; ++head) {
        A *score = scores + head * size, best = lowest;
        for (int64_t a = 0; a < size; ++a) best = Largest::apply(score[a], best);
        const A base = raise<lanes, A>(best, head, shape, maxima, totals, sums);
        for (int64_t a = 0; a < size; ++a) score[a] -= base;
    }
    exponentiate<lanes, A>(scores, 0, shape.heads * size, A{0});
    for (int64_t head = 0; head < shape.heads; ++head)
        for (int64_t a = 0; a < size; ++a) totals[head] += scores[head * size + a];
}

// Online softmax: updates running maxima and totals with a batch of scores, rescales `sums` [heads, span], and replaces
// the scores by weights, after dropout.
template <int lanes, class A>
TGRAPH_MULTIVERSION void update_softmax(A* scores, int64_t size, Shape shape, const int64_t* arcs,
                                        const Dropout& dropout, A gain, A* maxima, A* totals, A* sums) {
    if (size < lanes)
        update_softmax_few<lanes, A>(scores, size, shape, maxima, totals, sums);
    else
        for (int64_t head = 0; head < shape.heads; ++head)
            update_softmax_head<lanes, A>(scores, size, head, shape, maxima, totals, sums);
    if (!dropout.drops) return;
    const Runs runs = runs_of<lanes>(size, shape);
    for (int64_t run = 0; run < runs.count; ++run)
        for (int64_t a = run * shape.stride, end = a + runs.length; a < end; a += lanes) {
            const auto kept = dropout_factors_at<lanes, A>(dropout, arcs, a, end, shape, gain);
            store<A, lanes>(scores + a, load<A, lanes>(scores + a) * kept);
        }
}

// Recomputes the softmax from the maximum of the scores and the reciprocal of the sum of their powers, each as spread
// to the arcs, and computes its gradient. `scores` become the weights after dropout; `products`, the dot
// products of the gradient of the result and the values, become the gradients of the scores. Unless `sums` is null, the
// scores were leaky_relu(sums), and the gradients become those of the sums.
template <int lanes, class A>
TGRAPH_MULTIVERSION void softmax_backward(A* scores, A* products, const A* maximum, const A* scale, const A* delta,
                                          const A* sums, A slope, int64_t size, Shape shape, const int64_t* arcs,
                                          const Dropout& dropout, A gain) {
    using Lanes = Vector<A, lanes>;
    const Runs runs = runs_of<lanes>(size, shape);
    for (int64_t run = 0; run < runs.count; ++run)
        for (int64_t a = run * shape.stride, end = a + runs.length; a < end; a += lanes) {
            const Lanes power = exponential<A, lanes>(load<A, lanes>(scores + a) - load<A, lanes>(maximum + a));
            const Lanes alpha = power * load<A, lanes>(scale + a);
            Lanes kept = Lanes{} + 1;
            if (dropout.drops) kept = dropout_factors_at<lanes, A>(dropout, arcs, a, end, shape, gain);
            Lanes to_score = alpha * (kept * load<A, lanes>(products + a) - load<A, lanes>(delta + a));
            if (sums) to_score = load<A, lanes>(sums + a) > 0 ? to_score : to_score * slope;
            store<A, lanes>(scores + a, alpha * kept);
            store<A, lanes>(products + a, to_score);
        }
}

// ---- sums -----------------------------------------------------------------------------------------------------------

template <int lanes, int vectors, class A>
TGRAPH_INLINE void add_block(A* sums, const A* const* rows, const A* const* coming, int64_t begin, const A* weights,
                             int64_t size) {
    Vector<A, lanes> sum[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[v] = load<A, lanes>(sums + begin + v * lanes);
    for (int64_t a = 0; a < size; ++a) {
        const A* row = rows[a] + begin;
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            if (coming) fetch_ahead(coming[a] + begin + v * lanes);
            sum[v] += weights[a] * load<A, lanes>(row + v * lanes);
        }
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store<A, lanes>(sums + begin + v * lanes, sum[v]);
}

// sums += weight * row. Prefetches the rows of later arcs, unless `coming` is null.
template <int lanes, class A>
TGRAPH_MULTIVERSION void add_rows(A* sums, const A* const* rows, const A* const* coming, const A* weights, int64_t size,
                                  Shape shape) {
    for (int64_t head = 0; head < shape.heads; ++head) {
        const A* weight = weights + head * shape.stride;
        int64_t f = head * shape.span;
        const int64_t end = f + shape.span;
        for (; f + 4 * lanes <= end; f += 4 * lanes) add_block<lanes, 4>(sums, rows, coming, f, weight, size);
        for (; f + 2 * lanes <= end; f += 2 * lanes) add_block<lanes, 2>(sums, rows, coming, f, weight, size);
        for (; f < end; f += lanes) add_block<lanes, 1>(sums, rows, coming, f, weight, size);
    }
}

// Several vectors of a head at once, for instruction-level parallelism.
template <int lanes, int vectors, class A>
TGRAPH_INLINE void add_leaky_block(A* sums, A* to_vector, const A* const* rows, const A* fixed, int64_t begin,
                                   const A* gradient, int64_t size, A slope) {
    using Lanes = Vector<A, lanes>;
    Lanes with[vectors], sum[vectors], of_vector[vectors] = {};
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
        with[v] = load<A, lanes>(fixed + begin + v * lanes);
        sum[v] = load<A, lanes>(sums + begin + v * lanes);
    }
    for (int64_t a = 0; a < size; ++a) {
        const Lanes ds = gradient[a] + Lanes{}, less = ds * slope;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            const Lanes z = load<A, lanes>(rows[a] + begin + v * lanes) + with[v], part = z > 0 ? ds : less;
            sum[v] += part;
            of_vector[v] += part * z;
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
        A* to = to_vector ? to_vector + begin + v * lanes : nullptr;
        store<A, lanes>(sums + begin + v * lanes, sum[v]);
        if (to) store<A, lanes>(to, load<A, lanes>(to) + of_vector[v]);
    }
}

// The gradient of `dot_leaky_rows`: sums += the gradient of row + fixed without the factor `vector`, and, unless it is
// null, to_vector += the gradient of `vector`.
template <int lanes, class A>
TGRAPH_MULTIVERSION void add_leaky_rows(A* sums, A* to_vector, const A* const* rows, const A* fixed, const A* gradients,
                                        int64_t size, Shape shape, A slope) {
    for (int64_t head = 0; head < shape.heads; ++head) {
        const A* gradient = gradients + head * shape.stride;
        int64_t f = head * shape.span;
        const int64_t end = f + shape.span;
        for (; f + 4 * lanes <= end; f += 4 * lanes)
            add_leaky_block<lanes, 4>(sums, to_vector, rows, fixed, f, gradient, size, slope);
        for (; f + 2 * lanes <= end; f += 2 * lanes)
            add_leaky_block<lanes, 2>(sums, to_vector, rows, fixed, f, gradient, size, slope);
        for (; f < end; f += lanes)
            add_leaky_block<lanes, 1>(sums, to_vector, rows, fixed, f, gradient, size, slope);
    }
}

// The gradient of `dot_leaky_rows` by row + fixed for one arc. The gradients of the scores have stride shape.stride.
template <int lanes, class A>
TGRAPH_MULTIVERSION void leaky_gradient(A* to, const A* row, const A* fixed, const A* vector, const A* gradients,
                                        Shape shape, A slope) {
    for (int64_t head = 0; head < shape.heads; ++head)
        for (int64_t f = head * shape.span; f < (head + 1) * shape.span; f += lanes) {
            const Vector<A, lanes> z = load<A, lanes>(row + f) + load<A, lanes>(fixed + f),
                                   part = gradients[head * shape.stride] * load<A, lanes>(vector + f);
            store<A, lanes>(to + f, z > 0 ? part : part * slope);
        }
}

// to = a * scale * row + b * other, where a and b have one number per head, with stride shape.stride.
template <int lanes, class A>
TGRAPH_MULTIVERSION void mixed_rows(A* to, const A* row, const A* scale, const A* a, const A* other, const A* b,
                                    Shape shape) {
    for (int64_t head = 0; head < shape.heads; ++head)
        for (int64_t f = head * shape.span; f < (head + 1) * shape.span; f += lanes)
            store<A, lanes>(to + f, a[head * shape.stride] * load<A, lanes>(scale + f) * load<A, lanes>(row + f) +
                                        b[head * shape.stride] * load<A, lanes>(other + f));
}

// ---- by dtype and number of columns ---------------------------------------------------------------------------------

// The loops for vectors of `lanes` numbers, so that the passes that call them are compiled once per dtype.
template <class A>
struct LaneKernels {
    int lanes;
    decltype(&tgraph::leaky_numbers<8, A>) leaky_numbers;
    decltype(&tgraph::dot_rows<8, A>) dot_rows;
    decltype(&tgraph::dot_leaky_rows<8, A>) dot_leaky_rows;
    decltype(&tgraph::dot_heads<8, A>) dot_heads;
    decltype(&tgraph::update_softmax<8, A>) update_softmax;
    decltype(&tgraph::softmax_backward<8, A>) softmax_backward;
    decltype(&tgraph::add_rows<8, A>) add_rows;
    decltype(&tgraph::add_leaky_rows<8, A>) add_leaky_rows;
    decltype(&tgraph::leaky_gradient<8, A>) leaky_gradient;
    decltype(&tgraph::mixed_rows<8, A>) mixed_rows;
};

template <int lanes, class A>
inline constexpr LaneKernels<A> kernels_of_lanes{lanes,
                                                 &leaky_numbers<lanes, A>,
                                                 &dot_rows<lanes, A>,
                                                 &dot_leaky_rows<lanes, A>,
                                                 &dot_heads<lanes, A>,
                                                 &update_softmax<lanes, A>,
                                                 &softmax_backward<lanes, A>,
                                                 &add_rows<lanes, A>,
                                                 &add_leaky_rows<lanes, A>,
                                                 &leaky_gradient<lanes, A>,
                                                 &mixed_rows<lanes, A>};

// The widest vectors of the machine, or half as wide ones where so few columns, or such a remainder, would leave half
// of them unused.
template <class A>
const LaneKernels<A>& lane_kernels(int64_t columns) {
    constexpr int size = sizeof(A);
    const int widest = vector_bytes(), rest = static_cast<int>(columns % (widest / size)) * size;
    const int bytes = rest > 0 && 2 * rest <= widest ? std::max(widest / 2, 16) : widest;
    return *with_vectors(bytes, [](auto width) { return &kernels_of_lanes<width / size, A>; });
}
// Compiled in files of their own.
extern template const LaneKernels<float>& lane_kernels(int64_t);
extern template const LaneKernels<double>& lane_kernels(int64_t);

}  // namespace tgraph
