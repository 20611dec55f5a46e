// Windows of 16 rows, cut into tiles of 8 columns with a 128-bit bitmap each: access to the bitmaps. See `Tiles` in
// tgraph/kernels/operators/aggregation/tiles.py for the layout.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "base/bindings.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

inline constexpr int64_t height = 16, width = 8;
inline constexpr int64_t windows_at_once = 16;

// Calls body(scratch, window) for the windows first .. last - 1 in parallel, with one scratch = make() per chunk.
template <class Make, class Body>
void each_window(int64_t first, int64_t last, int64_t work, const Make& make, const Body& body) {
    const int64_t chunks = (last - first + windows_at_once - 1) / windows_at_once;
    for_each_chunk(chunks, part_count(work), [&](int64_t chunk) {
        auto scratch = make();
        const int64_t begin = first + chunk * windows_at_once;
        for (int64_t window = begin; window < std::min(begin + windows_at_once, last); ++window) body(scratch, window);
    });
}

// Popcount of each byte (SWAR): baseline x86-64 has no popcnt instruction.
inline uint64_t count_in_bytes(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
}

inline int64_t count_bits(uint64_t word) {
    return static_cast<int64_t>(count_in_bytes(word) * 0x0101010101010101 >> 56);
}

// The tiles of window w are offset[w] to offset[w + 1].
struct TileBits {
    const int64_t* offset;
    const uint64_t* words;
    int64_t num_windows;

    uint32_t row(int64_t tile, int64_t r) const { return words[tile * 2 + r / 8] >> r % 8 * 8 & 0xff; }

    int64_t count_before(int64_t tile, int64_t r) const {
        const uint64_t below = (uint64_t{1} << r % 8 * 8) - 1;
        return (r < 8 ? 0 : count_bits(words[tile * 2])) + count_bits(words[tile * 2 + r / 8] & below);
    }

    // Adds the popcount of each row of a tile to counts [16].
    void count_rows(int64_t tile, int64_t* counts) const {
        for (int64_t half = 0; half < 2; ++half) {
            const uint64_t sums = count_in_bytes(words[tile * 2 + half]);
            for (int64_t r = 0; r < 8; ++r) counts[half * 8 + r] += sums >> r * 8 & 0xff;
        }
    }
};

inline TileBits checked_tiles(const In<int64_t>& offset, const In<int64_t>& bitmap, int64_t first, int64_t num_rows) {
    const auto windows = static_cast<int64_t>(offset.shape(0)) - 1;
    if (windows < 0 || offset.data()[0] != 0 || static_cast<int64_t>(bitmap.shape(0)) != 2 * offset.data()[windows] ||
        !std::is_sorted(offset.data(), offset.data() + windows + 1))
        throw std::invalid_argument("offset: expected where the tiles of each window begin");
    if (first < 0 || num_rows < 0 || first + (num_rows + height - 1) / height > windows)
        throw std::invalid_argument("first: expected the number of a window");
    return {offset.data(), reinterpret_cast<const uint64_t*>(bitmap.data()), windows};
}

void bind_tile_sums(Module& module);

}  // namespace tgraph
