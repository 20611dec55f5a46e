// Operands of a pull, and where its results go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/numbers.hpp"

namespace tgraph {

// Operands of a pull: data of T [n, columns], weights of W [arcs, heads], accumulators of A. Each weight applies to
// columns / heads adjacent columns.
template <class T, class A, class W>
struct PullData {
    using Result = std::conditional_t<is_narrow<T>, T, A>;
    const T* data;
    const W* weights;
    int64_t columns, heads;
    A identity;
    bool mean;
    Result* out;

    // `count` : messages that the row has received, for the mean.
    void write(int64_t row, const A* sums, int64_t count) const {
        Result* to = out + row * columns;
        if constexpr (std::is_floating_point_v<A>)
            if (mean) {
                const A divisor = static_cast<A>(std::max<int64_t>(count, 1));
                for (int64_t f = 0; f < columns; ++f) to[f] = stored_as<Result>(sums[f] / divisor);
                return;
            }
        for (int64_t f = 0; f < columns; ++f) to[f] = stored_as<Result>(sums[f]);
    }
};

}  // namespace tgraph
