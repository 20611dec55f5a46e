// Rows of ascending neighbors in Elias-Fano code: see kernels/operators/csr/elias_fano.py.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

constexpr int64_t chunk_arcs = 1 << 14;

uint64_t word_at(const uint8_t* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
}

// How many low bits of each of `degree` numbers below `size` are stored as they are.
int low_bits(int64_t size, int64_t degree) {
    const int64_t apart = degree ? size / degree : 0;
    return apart ? std::bit_width(static_cast<uint64_t>(apart)) - 1 : 0;
}

// Calls body(first row, one past the last) for consecutive rows, by chunks of about as many arcs.
template <class Body>
void for_rows(const int64_t* offset, int64_t rows, const Body& body) {
    const int64_t arcs = offset[rows] - offset[0] + rows, chunks = std::max<int64_t>(1, arcs / chunk_arcs);
    const auto begin_of = [&](int64_t chunk) {
        if (chunk == chunks) return rows;
        const int64_t sought = arcs * chunk / chunks;
        int64_t low = 0, high = rows;  // the first row at which so many arcs and rows lie behind
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (offset[middle] - offset[0] + middle < sought)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    };
    for_each_chunk(chunks, part_count(arcs), [&](int64_t chunk) { body(begin_of(chunk), begin_of(chunk + 1)); });
}

// Writes the bytes of each row to sizes [n]. Returns whether all rows ascend.
template <class Neighbor>
bool measure(In<int64_t> offset, In<Neighbor> neighbors, int64_t size, Out<int64_t> sizes) {
    std::atomic<bool> ascend{true};
    for_rows(offset.data(), static_cast<int64_t>(sizes.shape(0)), [&](int64_t row, int64_t last) {
        for (; row < last; ++row) {
            const Neighbor* const begin = neighbors.data() + offset.data()[row];
            const int64_t degree = offset.data()[row + 1] - offset.data()[row];
            if (!std::is_sorted(begin, begin + degree)) ascend.store(false, std::memory_order_relaxed);
            const int low = low_bits(size, degree);
            const int64_t high = degree ? (static_cast<int64_t>(begin[degree - 1]) >> low) + degree : 0;
            sizes.data()[row] = (degree * low + high + 7) / 8;
        }
    });
    return ascend;
}

// Writes the rows into `bits`, which are 0, at the bytes `start` [n + 1], with 8 bytes of room behind.
template <class Neighbor>
void encode(In<int64_t> offset, In<Neighbor> neighbors, int64_t size, In<int64_t> start, Out<uint8_t> bits) {
    for_rows(offset.data(), static_cast<int64_t>(start.shape(0)) - 1, [&](int64_t row, int64_t last) {
        for (; row < last; ++row) {
            const Neighbor* const begin = neighbors.data() + offset.data()[row];
            const int64_t degree = offset.data()[row + 1] - offset.data()[row];
            const int low = low_bits(size, degree);
            uint8_t* const bytes = bits.data() + start.data()[row];
            const auto set = [&](int64_t bit) { bytes[bit >> 3] |= static_cast<uint8_t>(1 << (bit & 7)); };
            for (int64_t i = 0; i < degree; ++i) {
                const auto value = static_cast<uint64_t>(begin[i]);
                for (int64_t bit = 0; bit < low; ++bit)
                    if (value >> bit & 1) set(i * low + bit);
                set(degree * low + static_cast<int64_t>(value >> low) + i);
            }
        }
    });
}

// Decodes `degree` numbers below `size` from a row of `length` bytes, behind which 8 more may be read. False for bytes
// that are no such row.
template <class Neighbor>
bool decode_row(const uint8_t* bytes, int64_t length, int64_t degree, int64_t size, Neighbor* out) {
    const int low = low_bits(size, degree);
    const uint64_t mask = (uint64_t{1} << low) - 1;
    const int64_t begin = degree * low, end = 8 * length;
    if (begin + degree > end) return degree == 0;
    int64_t found = 0;
    uint64_t most = 0;
    for (int64_t at = begin; at < end && found < degree;) {
        const int skip = static_cast<int>(at & 7);
        uint64_t word = word_at(bytes + (at >> 3)) >> skip;
        if (end - at < 64 - skip) word &= (uint64_t{1} << (end - at)) - 1;
        for (; word && found < degree; word &= word - 1, ++found) {
            const auto high = static_cast<uint64_t>(at + std::countr_zero(word) - begin - found);
            const int64_t bit = found * low;
            const uint64_t value = high << low | (word_at(bytes + (bit >> 3)) >> (bit & 7) & mask);
            most = std::max(most, value);
            out[found] = static_cast<Neighbor>(value);
        }
        at += 64 - skip;
    }
    return found == degree && most < static_cast<uint64_t>(size);
}

// Decodes `rows` into neighbors, row i from its place `offset[i]` on. Returns the first of them that is damaged, -1
// where none is.
template <class Neighbor, class Index>
int64_t decode(In<uint8_t> bits, In<Index> start, In<int64_t> rows, In<int64_t> offset, int64_t size,
               Out<Neighbor> neighbors) {
    const auto count = static_cast<int64_t>(rows.shape(0)), room = static_cast<int64_t>(bits.shape(0)) - 8;
    constexpr int64_t ahead = 8;
    std::atomic<int64_t> damaged{count};
    for_rows(offset.data(), count, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            if (i + ahead < last) fetch(bits.data() + start.data()[rows.data()[i + ahead]]);
            const int64_t row = rows.data()[i], begin = start.data()[row], end = start.data()[row + 1];
            const int64_t degree = offset.data()[i + 1] - offset.data()[i];
            if (begin >= 0 && begin <= end && end <= room &&
                decode_row(bits.data() + begin, end - begin, degree, size, neighbors.data() + offset.data()[i]))
                continue;
            int64_t before = damaged.load(std::memory_order_relaxed);
            while (i < before && !damaged.compare_exchange_weak(before, i, std::memory_order_relaxed)) continue;
        }
    });
    return damaged == count ? -1 : damaged.load();
}

template <class Neighbor>
void bind(Module& module) {
    module.def("elias_fano_measure", &measure<Neighbor>, "offset, neighbors, size, sizes");
    module.def("elias_fano_encode", &encode<Neighbor>, "offset, neighbors, size, start, bits");
    module.def("elias_fano_decode", &decode<Neighbor, int32_t>, "bits, start, rows, offset, size, neighbors");
    module.def("elias_fano_decode", &decode<Neighbor, int64_t>, "bits, start, rows, offset, size, neighbors");
}

}  // namespace

void bind_elias_fano(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
