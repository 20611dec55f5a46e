// The messages of a relaxation: edge operation and weights.
#pragma once

#include "base/atomics.cuh"
#include "base/numbers.cuh"

namespace tgraph {

// Zeros of different sign are equal but have different bits, so that the result would depend on the order of threads.
__device__ int32_t without_negative_zero(int32_t a) { return a; }
__device__ int64_t without_negative_zero(int64_t a) { return a; }
__device__ float without_negative_zero(float a) { return a + 0.0f; }
__device__ double without_negative_zero(double a) { return a + 0.0; }

// An edge operation with its weights, one per arc (step 1) or one for all (step 0). Operation, direction and dtype of
// the weights are dispatched per message: branches are uniform over all threads, and kernels are bound by memory.
// Templates would have to be compiled for each combination at first use.
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

    // Unreached vertices send nothing: their message would overflow, or be the weight alone.
    __device__ bool is_sent(V value) const { return value != identity<V>(lowest); }
    __device__ bool improves(V message, V value) const { return better(message, value, lowest); }
};

}  // namespace tgraph
