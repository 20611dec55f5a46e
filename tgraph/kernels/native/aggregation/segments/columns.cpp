// Kernels that reduce many columns: the inner loop of SpMM.
#include "aggregation/segments/columns_reduce.hpp"

namespace tgraph {
namespace {

template <class A>
ReduceRows reduce_floats(Reduction reduction) {
    switch (reduction) {
        case Reduction::sum: return &reduce_columns<Plus, Copy, A>;
        case Reduction::min: return &reduce_columns<Lesser, Copy, A>;
        case Reduction::max: return &reduce_columns<Greater, Copy, A>;
        default: return &reduce_seldom<Times, A>;
    }
}

ReduceRows reduce_bytes(Reduction reduction) {
    if (reduction == Reduction::min) return &reduce_columns<Lesser, Copy, uint8_t>;
    if (reduction == Reduction::max) return &reduce_columns<Greater, Copy, uint8_t>;
    throw std::invalid_argument("reduce: bytes are compared only");
}

ReduceRows reduce_int64(Reduction reduction) {
    switch (reduction) {
        case Reduction::sum: return &reduce_columns<Plus, Copy, int64_t>;
        case Reduction::min: return &reduce_columns<Lesser, Copy, int64_t>;
        case Reduction::max: return &reduce_columns<Greater, Copy, int64_t>;
        default: return &reduce_seldom<Times, int64_t>;
    }
}

}  // namespace

ReduceRows reduce_rows_kernel(Number number, Reduction reduction) {
    switch (number) {
        case Number::float32: return reduce_floats<float>(reduction);
        case Number::float64: return reduce_floats<double>(reduction);
        case Number::int64: return reduce_int64(reduction);
        case Number::uint8: return reduce_bytes(reduction);
        default: break;
    }
    if (reduction == Reduction::min) return &reduce_seldom<Lesser, int32_t>;
    if (reduction == Reduction::max) return &reduce_seldom<Greater, int32_t>;
    throw std::invalid_argument("reduce: integers of less than 64 bits are compared only");
}

ReduceRows add_products_kernel(Number number) {
    if (number == Number::float32) return &reduce_columns<Plus, Times, float>;
    return number == Number::float64 ? &reduce_columns<Plus, Times, double> : nullptr;
}

}  // namespace tgraph
