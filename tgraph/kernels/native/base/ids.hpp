// Numbers of vertices in 32 or 64 bits, for code that is compiled once for both.
#pragma once

#include <cstdint>

#include "base/bindings.hpp"

namespace tgraph {

// The branch costs nothing beside the memory that the numbers lead to.
struct Ids {
    const void* data;
    bool are_wide;

    int64_t operator[](int64_t i) const {
        return are_wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
    }
};

// Any other dtype is a TypeError.
inline Ids ids_of(const In<void>& numbers) {
    const bool are_wide = numbers.dtype() == dtype_of<int64_t>;
    if (!are_wide && numbers.dtype() != dtype_of<int32_t>)
        throw TypeError("neighbors: expected int32 or int64");
    return {numbers.data(), are_wide};
}

}  // namespace tgraph
