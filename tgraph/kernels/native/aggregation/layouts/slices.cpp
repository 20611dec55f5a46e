#include "aggregation/layouts/slices.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "base/semiring.hpp"
#include "linear/gather.hpp"

namespace tgraph {
namespace {

template <class T>
TGRAPH_MULTIVERSION void gather_each(const T* data, const int32_t* at, int64_t count, T* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = data[at[i]];
}

// Numbers of one width are gathered alike.
template <class T>
void gather(const void* data, const int32_t* at, int64_t count, void* out) {
#if defined(TGRAPH_AVX512_GATHER)
    if (sizeof(T) >= 4 && __builtin_cpu_supports("avx512f")) {
        if (sizeof(T) == 4)
            return gather_floats(static_cast<const float*>(data), at, count, static_cast<float*>(out));
        return gather_doubles(static_cast<const double*>(data), at, count, static_cast<double*>(out));
    }
#endif
    gather_each(static_cast<const T*>(data), at, count, static_cast<T*>(out));
}

// As ReduceLanes, for `parts` vectors of some bytes.
template <class Reduce, class Edge, int bytes, int parts, class A, class T>
TGRAPH_INLINE void reduce_parts(A* sums, const T* sent, int64_t step, const T* weights, int64_t height,
                                const int32_t* length, int64_t begin, int64_t count) {
    constexpr int each = bytes / sizeof(A);
    using Lanes = Vector<A, each>;
    using Count = std::conditional_t<sizeof(A) == 8, int64_t, int32_t>;
    using Counts = Vector<Count, each>;
    Lanes sum[parts];
    Counts rest[parts];
#pragma GCC unroll 4
    for (int p = 0; p < parts; ++p) {
        sum[p] = load<A, each>(sums + p * each);
        rest[p] = __builtin_convertvector(load<int32_t, each>(length + p * each) - static_cast<int32_t>(begin), Counts);
    }
    for (int64_t i = 0; i < count; ++i, sent += step, weights += height) {
#pragma GCC unroll 4
        for (int p = 0; p < parts; ++p) {
            Lanes weight{};
            if constexpr (Edge::weighted) weight = load<A, each>(weights + p * each);
            const Lanes message = Edge::apply(load<A, each>(sent + p * each), weight);
            sum[p] = rest[p] > static_cast<Count>(i) ? Reduce::apply(sum[p], message) : sum[p];
        }
    }
#pragma GCC unroll 4
    for (int p = 0; p < parts; ++p) *reinterpret_cast<Lanes*>(sums + p * each) = sum[p];
}

template <class Reduce, class Edge, int bytes, class A, class T>
TGRAPH_MULTIVERSION void reduce_lanes(void* into, const void* data, const void* by, int64_t height,
                                      const int32_t* length, int64_t begin, int64_t count, int vectors) {
    constexpr int each = bytes / sizeof(A), few = std::min(lanes_of_vector / each, 4),
                  many = std::min(most_lanes / each, 4);
    A* const sums = static_cast<A*>(into);
    const T *sent = static_cast<const T*>(data), *weights = static_cast<const T*>(by);
    const int lanes = vectors * lanes_of_vector, parts = vectors > 1 ? many : few;
    if (!Edge::weighted) weights = nullptr, height = 0;
    for (int lane = 0; lane < lanes; lane += parts * each) {
        const T* by_lane = Edge::weighted ? weights + lane : nullptr;
        if (parts == many)
            reduce_parts<Reduce, Edge, bytes, many>(sums + lane, sent + lane, lanes, by_lane, height, length + lane,
                                                    begin, count);
        else
            reduce_parts<Reduce, Edge, bytes, few>(sums + lane, sent + lane, lanes, by_lane, height, length + lane,
                                                   begin, count);
    }
}

// Minima and maxima take half of a register of 64 bytes: GCC compiles two choices, one by the other, between vectors of
// 64 number by number.
template <class Reduce, class Edge, class A, class T = A>
ReduceLanes widest() {
    constexpr bool compares = std::is_same_v<Reduce, Lesser> || std::is_same_v<Reduce, Greater>;
    return with_vectors(std::min(vector_bytes(), compares ? 32 : 64),
                        [](auto bytes) -> ReduceLanes { return &reduce_lanes<Reduce, Edge, bytes, A, T>; });
}

template <class A>
ReduceLanes lanes_of(Reduction reduction) {
    if (reduction == Reduction::min) return widest<Lesser, Copy, A>();
    if (reduction == Reduction::max) return widest<Greater, Copy, A>();
    if constexpr (std::is_floating_point_v<A> || sizeof(A) == sizeof(int64_t))
        return reduction == Reduction::sum ? widest<Plus, Copy, A>() : widest<Times, Copy, A>();
    throw std::invalid_argument("reduce: integers of less than 64 bits are compared only");
}

}  // namespace

ReduceLanes reduce_lanes_kernel(Number stored, Number number, Reduction reduction, bool multiplied) {
    if (stored != number) {
        if (reduction != Reduction::sum) throw std::invalid_argument("reduce: float32 is added in float64 only");
        return multiplied ? widest<Plus, Times, double, float>() : widest<Plus, Copy, double, float>();
    }
    if (multiplied) return number == Number::float32 ? widest<Plus, Times, float>() : widest<Plus, Times, double>();
    switch (number) {
        case Number::float32: return lanes_of<float>(reduction);
        case Number::float64: return lanes_of<double>(reduction);
        case Number::int64: return lanes_of<int64_t>(reduction);
        default: return lanes_of<int32_t>(reduction);
    }
}

void gather_values(Number number, const void* data, const int32_t* at, int64_t count, void* out) {
    switch (size_of(number)) {
        case 8: return gather<uint64_t>(data, at, count, out);
        case 4: return gather<uint32_t>(data, at, count, out);
        case 2: return gather<uint16_t>(data, at, count, out);
        default: return gather<uint8_t>(data, at, count, out);
    }
}

}  // namespace tgraph
