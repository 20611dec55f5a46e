// Sums over the rows of a CSR structure of what the neighbours send: the inner loop of a power iteration.
//
// The time goes into waiting: for values that lie anywhere in memory, and after each wrong guess of where a row ends.
#pragma once

#include <cstdint>
#include <type_traits>

#include "parallel.hpp"
#include "simd.hpp"

#if defined(__GNUC__) && defined(__x86_64__)
#define TGRAPH_AVX512_GATHER 1
#include <immintrin.h>
#endif

namespace tgraph {

struct Unweighted {};

// The arcs of a CSR structure, those of row r being offset[r] to offset[r + 1].
template <class Neighbor, class Weight>
struct WeightedRows {
    const int64_t* offset;
    const Neighbor* neighbors;
    const Weight* weights;  // null for Unweighted
    int64_t num_rows, num_arcs;
    bool scattered = false;  // neighbours lie so far apart that each is a cache line of its own
};

// By a sample of arcs beside each other.
template <class Neighbor>
bool is_scattered(const Neighbor* neighbors, int64_t num_arcs) {
    constexpr int64_t samples = 256, line = 16;
    if (num_arcs < int64_t{1} << 16) return false;  // all in the cache
    int64_t apart = 0;
    for (int64_t i = 0; i < samples; ++i) {
        const int64_t arc = (num_arcs - 1) / samples * i;
        apart += neighbors[arc + 1] - neighbors[arc] >= line || neighbors[arc] - neighbors[arc + 1] >= line;
    }
    return apart > samples * 3 / 4;
}

template <class Value, class Neighbor, class Weight>
TGRAPH_INLINE double message_of(const WeightedRows<Neighbor, Weight>& rows, const Value* sent, int64_t arc) {
    const auto value = static_cast<double>(sent[rows.neighbors[arc]]);
    if constexpr (std::is_same_v<Weight, Unweighted>)
        return value;
    else
        return value * static_cast<double>(rows.weights[arc]);
}

// The sum over some arcs of sent[neighbour] * weight, in four sums that do not wait for each other.
template <class Value, class Neighbor, class Weight>
double sum_of_arcs(const WeightedRows<Neighbor, Weight>& rows, const Value* sent, Range arcs) {
    constexpr int64_t ahead = 32;
    const Neighbor* neighbors = rows.neighbors;
    const auto message = [&](int64_t i) { return message_of(rows, sent, i); };
    double sum[4] = {};
    int64_t i = arcs.begin;
    const int64_t prefetched = arcs.end + ahead <= rows.num_arcs ? arcs.end : arcs.begin;
    for (; i + 4 <= prefetched; i += 4)
        for (int lane = 0; lane < 4; ++lane) {
            __builtin_prefetch(sent + neighbors[i + lane + ahead]);
            sum[lane] += message(i + lane);
        }
    for (; i < prefetched; ++i) {
        __builtin_prefetch(sent + neighbors[i + ahead]);
        sum[0] += message(i);
    }
    for (; i < arcs.end; ++i) sum[0] += message(i);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#if defined(TGRAPH_AVX512_GATHER)

#define TGRAPH_AVX512 __attribute__((target("avx512f")))

TGRAPH_AVX512 inline __m512d widened_sum(__m512 values) {
    const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(values), 1));
    return _mm512_add_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(values)), _mm512_cvtps_pd(high));
}

TGRAPH_AVX512 inline double sum_of_floats(const float* values, int64_t count) {
    __m512d sum = _mm512_setzero_pd();
    for (; count > 16; count -= 16, values += 16) sum = _mm512_add_pd(sum, widened_sum(_mm512_loadu_ps(values)));
    const auto rest = static_cast<__mmask16>((1u << count) - 1);
    return _mm512_reduce_add_pd(_mm512_add_pd(sum, widened_sum(_mm512_maskz_loadu_ps(rest, values))));
}

TGRAPH_AVX512 inline void gather_floats(const float* sent, const int32_t* neighbors, int64_t count, float* out) {
    const __m512 zero = _mm512_setzero_ps();
    int64_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm512_store_ps(out + i, _mm512_i32gather_ps(_mm512_loadu_si512(neighbors + i), sent, sizeof(float)));
    const auto rest = static_cast<__mmask16>((1u << (count - i)) - 1);
    const __m512i index = _mm512_maskz_loadu_epi32(rest, neighbors + i);
    _mm512_store_ps(out + i, _mm512_mask_i32gather_ps(zero, rest, index, sent, sizeof(float)));
}

// The same for many rows at once. The values are gathered into a small buffer first, in a loop that knows nothing of
// rows, so that no wrong guess about the end of a row holds up the loads; rows are then summed without a branch for
// any of up to 16 arcs.
TGRAPH_AVX512 inline void sum_rows_avx512(const int64_t* offset, Range rows, const int32_t* neighbors,
                                          const float* sent, double* sums) {
    constexpr int64_t size = 2048;
    alignas(64) float buffer[size + 16];
    const int64_t end = offset[rows.end];
    int64_t row = rows.begin, arc = offset[row];
    double carried = 0;  // of a row that began in the last buffer
    for (int64_t first = arc; first < end; first += size) {
        const int64_t last = first + size < end ? first + size : end;
        gather_floats(sent, neighbors + first, last - first, buffer);
        for (; row < rows.end && offset[row + 1] <= last; ++row) {
            sums[row - rows.begin] = carried + sum_of_floats(buffer + (arc - first), offset[row + 1] - arc);
            arc = offset[row + 1];
            carried = 0;
        }
        if (arc < last) carried += sum_of_floats(buffer + (arc - first), last - arc);
        arc = last;
    }
    for (; row < rows.end; ++row) sums[row - rows.begin] = 0;
}

#endif

// Rows of a few arcs each, or of neighbours that lie side by side: to be clever costs more than it spares.
template <class Value, class Neighbor, class Weight>
void sum_plain_rows(const WeightedRows<Neighbor, Weight>& csr, const Value* sent, Range rows, double* sums) {
    int64_t arc = csr.offset[rows.begin];
    for (int64_t row = rows.begin; row < rows.end; ++row) {
        double sum = 0, other = 0;
        const int64_t end = csr.offset[row + 1];
        for (; arc + 1 < end; arc += 2) {
            sum += message_of(csr, sent, arc);
            other += message_of(csr, sent, arc + 1);
        }
        if (arc < end) sum += message_of(csr, sent, arc++);
        sums[row - rows.begin] = sum + other;
    }
}

// sums[i] = the sum of row rows.begin + i.
template <class Value, class Neighbor, class Weight>
void sum_rows(const WeightedRows<Neighbor, Weight>& csr, const Value* sent, Range rows, double* sums) {
    if (!csr.scattered || csr.offset[rows.end] - csr.offset[rows.begin] < 6 * (rows.end - rows.begin))
        return sum_plain_rows(csr, sent, rows, sums);
#if defined(TGRAPH_AVX512_GATHER)
    if constexpr (std::is_same_v<Value, float> && std::is_same_v<Neighbor, int32_t> &&
                  std::is_same_v<Weight, Unweighted>)
        if (__builtin_cpu_supports("avx512f")) return sum_rows_avx512(csr.offset, rows, csr.neighbors, sent, sums);
#endif
    for (int64_t row = rows.begin; row < rows.end; ++row)
        sums[row - rows.begin] = sum_of_arcs(csr, sent, {csr.offset[row], csr.offset[row + 1]});
}

}  // namespace tgraph
