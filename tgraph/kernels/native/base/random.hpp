// Random words that are functions of a key and a counter: those of tgraph/core/random.py, bit for bit.
#pragma once

#include <cstdint>

#include "base/hash.hpp"

namespace tgraph {

// Word `counter` of the stream `key` (splitmix64).
inline uint64_t random_word(int64_t key, uint64_t counter) {
    return mix((counter + 1) * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(key));
}

// A number in [0, 1), a multiple of 2^-53.
inline double random_uniform(int64_t key, uint64_t counter) {
    return static_cast<double>(random_word(key, counter) >> 11) * 0x1p-53;
}

// An integer in 0..bound - 1.
inline int64_t random_below(int64_t key, uint64_t counter, int64_t bound) {
    return static_cast<int64_t>(random_uniform(key, counter) * static_cast<double>(bound));
}

}  // namespace tgraph
