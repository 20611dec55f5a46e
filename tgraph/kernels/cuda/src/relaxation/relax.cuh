// What travels along an arc in a relaxation.
#pragma once

#include "base/atomics.cuh"

namespace tgraph {

// Integers wrap around, as torch's do.
__device__ int32_t plus(int32_t a, int32_t b) { return static_cast<int32_t>(uint32_t(a) + uint32_t(b)); }
__device__ int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
__device__ float plus(float a, float b) { return a + b; }
__device__ double plus(double a, double b) { return a + b; }
__device__ int32_t times(int32_t a, int32_t b) { return static_cast<int32_t>(uint32_t(a) * uint32_t(b)); }
__device__ int64_t times(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) * uint64_t(b)); }
__device__ float times(float a, float b) { return a * b; }
__device__ double times(double a, double b) { return a * b; }

// Without this two zeros of different sign could take turns, and which one stays would depend on who comes first.
__device__ int32_t without_negative_zero(int32_t a) { return a; }
__device__ int64_t without_negative_zero(int64_t a) { return a; }
__device__ float without_negative_zero(float a) { return a + 0.0f; }
__device__ double without_negative_zero(double a) { return a + 0.0; }

// An edge operation with its weights: one for each arc (step 1) or one for all (step 0). The operation, the direction
// and the type of the weights are looked up for each message: all threads agree on them, and memory is what they wait
// for. A kernel for each combination would have to be compiled at first use.
template <class V>
struct Messages {
    enum Edge { copy, plus_weight, times_weight, lesser, greater };
    enum Type { int32, int64, float32, float64 };

    const void* weights;
    int64_t type, step, edge;
    bool lowest;

    __device__ V weight(int64_t arc) const {
        const int64_t i = arc * step;
        switch (type) {
            case int32: return static_cast<V>(static_cast<const int32_t*>(weights)[i]);
            case int64: return static_cast<V>(static_cast<const int64_t*>(weights)[i]);
            case float32: return static_cast<V>(static_cast<const float*>(weights)[i]);
            default: return static_cast<V>(static_cast<const double*>(weights)[i]);
        }
    }

    __device__ V operator()(V sent, int64_t arc) const {
        if (edge == copy) return without_negative_zero(sent);
        const V by = weight(arc);
        V message = sent;
        switch (edge) {
            case plus_weight: message = plus(sent, by); break;
            case times_weight: message = times(sent, by); break;
            case lesser: message = by < sent ? by : sent; break;
            default: message = by > sent ? by : sent; break;
        }
        return without_negative_zero(message);
    }

    // A vertex that nothing has reached has nothing to send: its message would overflow, or be the weight alone.
    __device__ bool is_sent(V value) const { return value != identity<V>(lowest); }
    __device__ bool improves(V message, V value) const { return better(message, value, lowest); }
};

}  // namespace tgraph
