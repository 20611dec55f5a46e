// SpMV over CSR rows with double accumulators: the inner loop of a power iteration.
//
// It is bound by cache misses of the gathered values and by mispredicted ends of rows. So rows of up to four arcs are
// summed without a branch (masked lanes), and with AVX-512 values are gathered ahead into a buffer, independent of
// rows.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/numbers.hpp"
#include "threads/parallel.hpp"
#include "base/simd.hpp"

#if defined(__GNUC__) && defined(__x86_64__) && !defined(TGRAPH_NO_AVX512)
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
    bool buffered = false;  // values are gathered ahead: rows are long, and neighbors on different cache lines
};

inline bool are_short(int64_t num_rows, int64_t num_arcs) { return num_arcs < 6 * num_rows; }

// Whether consecutive neighbors are on different cache lines, by a sample.
template <class Neighbor>
bool are_apart(const Neighbor* neighbors, int64_t num_arcs) {
    constexpr int64_t samples = 256, line = 16;
    if (num_arcs < samples) return false;
    int64_t apart = 0;
    for (int64_t i = 0; i < samples; ++i) {
        const int64_t arc = (num_arcs - 1) / samples * i;
        apart += neighbors[arc + 1] - neighbors[arc] >= line || neighbors[arc] - neighbors[arc + 1] >= line;
    }
    return apart > samples * 3 / 4;
}

template <class Neighbor>
bool is_scattered(const Neighbor* neighbors, int64_t num_rows, int64_t num_arcs) {
    if (num_arcs < int64_t{1} << 16 || are_short(num_rows, num_arcs)) return false;
    return are_apart(neighbors, num_arcs);
}

inline constexpr int64_t cached_values = int64_t{1} << 18;  // floats of a megabyte: from there single loads are faster

template <class T>
struct Four {
    typedef T Lanes __attribute__((vector_size(4 * sizeof(T))));
};
using Doubles = Four<double>::Lanes;
using Integers = Four<int64_t>::Lanes;

// Arc i of a row is added in lane i % 4.
template <class Value, class Neighbor, class Weight>
TGRAPH_INLINE Doubles four_messages(const WeightedRows<Neighbor, Weight>& rows, const Value* sent, int64_t arc) {
    const Neighbor* u = rows.neighbors + arc;
    const typename Four<Value>::Lanes values = {sent[u[0]], sent[u[1]], sent[u[2]], sent[u[3]]};
    const Doubles messages = __builtin_convertvector(values, Doubles);
    if constexpr (std::is_same_v<Weight, Unweighted>) {
        return messages;
    } else {
        const Weight* w = rows.weights + arc;
        const typename Four<Weight>::Lanes weights = {w[0], w[1], w[2], w[3]};
        return messages * __builtin_convertvector(weights, Doubles);
    }
}

template <class Value, class Neighbor, class Weight>
TGRAPH_INLINE double one_message(const WeightedRows<Neighbor, Weight>& rows, const Value* sent, int64_t arc) {
    const auto value = static_cast<double>(sent[rows.neighbors[arc]]);
    if constexpr (std::is_same_v<Weight, Unweighted>)
        return value;
    else
        return value * static_cast<double>(rows.weights[arc]);
}

alignas(32) inline constexpr int64_t first_lanes[5][4] = {
    {0, 0, 0, 0}, {-1, 0, 0, 0}, {-1, -1, 0, 0}, {-1, -1, -1, 0}, {-1, -1, -1, -1}};

template <class Value, class Neighbor, class Weight>
[[gnu::noinline, gnu::cold]] void read_last(const WeightedRows<Neighbor, Weight>& rows, const Value* sent, int64_t arc,
                                            int64_t end, double* messages) {
    for (; arc < end; ++arc) *messages++ = one_message(rows, sent, arc);
}

// The sum over arcs arc .. end - 1. The last one to four are read as a full vector and masked.
template <class Value, class Neighbor, class Weight>
TGRAPH_INLINE double sum_of_arcs(const WeightedRows<Neighbor, Weight>& rows, const Value* sent, int64_t arc,
                                 int64_t end) {
    Doubles sums = {};
    for (; end - arc > 4; arc += 4) sums += four_messages(rows, sent, arc);
    if (arc + 4 <= rows.num_arcs) [[likely]] {
        const int64_t* lanes = first_lanes[end - arc];
        const Integers mask = {lanes[0], lanes[1], lanes[2], lanes[3]};
        sums += std::bit_cast<Doubles>(std::bit_cast<Integers>(four_messages(rows, sent, arc)) & mask);
    } else {
        double last[4] = {};
        read_last(rows, sent, arc, end, last);
        sums += Doubles{last[0], last[1], last[2], last[3]};
    }
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// sums[i] = the sum of row rows.begin + i.
template <class Value, class Neighbor, class Weight>
TGRAPH_MULTIVERSION_NARROW void sum_any_rows(const WeightedRows<Neighbor, Weight>& csr, const Value* sent, Range rows,
                                             double* sums) {
    int64_t arc = csr.offset[rows.begin];
    for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t end = csr.offset[row + 1];
        sums[row - rows.begin] = sum_of_arcs(csr, sent, arc, end);
        arc = end;
    }
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

TGRAPH_AVX512 inline void gather_doubles(const double* sent, const int32_t* neighbors, int64_t count, double* out) {
    for (int64_t i = 0; i < count; i += 8) {
        const auto rest = static_cast<__mmask8>(count - i < 8 ? (1u << (count - i)) - 1 : 0xffu);
        const __m256i index = _mm512_castsi512_si256(_mm512_maskz_loadu_epi32(rest, neighbors + i));
        _mm512_store_pd(out + i, _mm512_mask_i32gather_pd(_mm512_setzero_pd(), rest, index, sent, sizeof(double)));
    }
}

// The same for long rows. Values are gathered into a small buffer first, in a loop independent of rows, so that a
// mispredicted end of a row does not delay the loads; rows of up to 16 arcs are then summed without a branch.
TGRAPH_AVX512 inline void sum_rows_avx512(const int64_t* offset, Range rows, const int32_t* neighbors,
                                          const float* sent, double* sums) {
    constexpr int64_t size = 2048;
    alignas(64) float buffer[size + 16];
    const int64_t end = offset[rows.end];
    int64_t row = rows.begin, arc = offset[row];
    double carried = 0;  // partial sum of a row that began in the buffer before
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

// Picks the faster of the two for these rows.
template <class Value, class Neighbor, class Weight>
void sum_rows(const WeightedRows<Neighbor, Weight>& csr, const Value* sent, Range rows, double* sums) {
#if defined(TGRAPH_AVX512_GATHER)
    if constexpr (std::is_same_v<Value, float> && std::is_same_v<Neighbor, int32_t> &&
                  std::is_same_v<Weight, Unweighted>)
        if (csr.buffered && !are_short(rows.end - rows.begin, csr.offset[rows.end] - csr.offset[rows.begin]) &&
            __builtin_cpu_supports("avx512f"))
            return sum_rows_avx512(csr.offset, rows, csr.neighbors, sent, sums);
#endif
    sum_any_rows(csr, sent, rows, sums);
}

}  // namespace tgraph
