#include "aggregation/layouts/slices.hpp"

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

template <class Reduce, class Edge, class A, class T = A>
TGRAPH_MULTIVERSION void reduce_lanes(void* into, const void* data, const void* by, int64_t height,
                                      const int32_t* length, int64_t begin, int64_t count, int vectors) {
    constexpr int each = lanes_of_vector;
    using Lanes = Vector<A, each>;
    using Counts = Vector<std::conditional_t<sizeof(A) == 8, int64_t, int32_t>, each>;
    A* const sums = static_cast<A*>(into);
    const T *sent = static_cast<const T*>(data), *weights = static_cast<const T*>(by);
    Lanes sum[2] = {};
    Vector<int32_t, each> rest[2] = {};
    for (int v = 0; v < vectors; ++v) {
        sum[v] = load<A, each>(sums + v * each);
        rest[v] = load<int32_t, each>(length + v * each) - static_cast<int32_t>(begin);
    }
    for (int64_t i = 0; i < count; ++i, sent += vectors * each, weights += Edge::weighted ? height : 0) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; ++v) {
            if (v == vectors) break;
            Lanes weight{};
            if constexpr (Edge::weighted) weight = load<A, each>(weights + v * each);
            const Lanes message = Edge::apply(load<A, each>(sent + v * each), weight);
            const Counts counts = __builtin_convertvector(rest[v] > static_cast<int32_t>(i), Counts);
            sum[v] = counts ? Reduce::apply(sum[v], message) : sum[v];
        }
    }
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Lanes*>(sums + v * each) = sum[v];
}

template <class A>
ReduceLanes lanes_of(Reduction reduction) {
    if (reduction == Reduction::min) return &reduce_lanes<Lesser, Copy, A>;
    if (reduction == Reduction::max) return &reduce_lanes<Greater, Copy, A>;
    if constexpr (std::is_floating_point_v<A> || sizeof(A) == sizeof(int64_t))
        return reduction == Reduction::sum ? &reduce_lanes<Plus, Copy, A> : &reduce_lanes<Times, Copy, A>;
    throw std::invalid_argument("reduce: integers of less than 64 bits are compared only");
}

}  // namespace

ReduceLanes reduce_lanes_kernel(Number stored, Number number, Reduction reduction, bool multiplied) {
    if (stored != number) {
        if (reduction != Reduction::sum) throw std::invalid_argument("reduce: float32 is added in float64 only");
        return multiplied ? &reduce_lanes<Plus, Times, double, float> : &reduce_lanes<Plus, Copy, double, float>;
    }
    if (multiplied) return number == Number::float32 ? &reduce_lanes<Plus, Times, float> : &reduce_lanes<Plus, Times,
        double>;
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
