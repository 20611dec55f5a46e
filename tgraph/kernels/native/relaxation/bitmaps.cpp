// Sets of vertices as bitmaps, whose bytes travel between ranks as they are, and the steps of a breadth-first search
// between them: see tgraph/primitives/bitmaps.py. A bitmap is uint8 [8 w], the bits of a byte lowest first.
#include <nanobind/stl/array.h>

#include <array>

#include "base/classes.hpp"
#include "base/kernels.hpp"
#include "relaxation/hops.hpp"

namespace tgraph {
namespace {

using Bits = In<uint8_t>;
using NewBits = Out<uint8_t>;

constexpr int64_t chunk_words = 1 << 5;

int64_t words_in(int64_t bits) { return (bits + 63) / 64; }

void check_room(int64_t bytes, int64_t bits, const char* message) {
    if (bytes < 8 * words_in(bits)) throw std::invalid_argument(message);
}

// Words are read and written by their bytes: messages are not aligned.
uint64_t word_at(const uint8_t* bits, int64_t word) {
    uint64_t held;
    std::memcpy(&held, bits + 8 * word, sizeof held);
    return held;
}
void set_word(uint8_t* bits, int64_t word, uint64_t held) { std::memcpy(bits + 8 * word, &held, sizeof held); }

template <class Body>
void for_each_word(int64_t words, int64_t work, const Body& body) {
    for_each_chunk((words + chunk_words - 1) / chunk_words, part_count(work), [&](int64_t chunk) {
        for (int64_t word = chunk * chunk_words; word < std::min(words, (chunk + 1) * chunk_words); ++word) body(word);
    });
}

// The vertices of `wanted`, none of which has an empty row, that have a neighbor in `front`.
void pull(In<int64_t> offset, In<int32_t> neighbors, Bits front, Bits wanted, NewBits reached) {
    const int64_t words = static_cast<int64_t>(wanted.shape(0)) / 8, n = static_cast<int64_t>(offset.shape(0)) - 1;
    check_room(static_cast<int64_t>(reached.shape(0)), words * 64, "reached: expected as many bytes as wanted");
    if (words > words_in(n)) throw std::invalid_argument("wanted: expected a bit for each row at most");
    const auto* active = reinterpret_cast<const uint64_t*>(front.data());
    for_each_word(words, words * 64, [&](int64_t word) {
        const uint64_t rows = word_at(wanted.data(), word);
        const int64_t first = word * 64;
        set_word(reached.data(), word,
                 rows ? find_parents(rows, offset.data() + first, n - first, neighbors.data(), active) : 0);
    });
}

// Adds the neighbors of the `active` vertices to `reached`.
void push(In<int64_t> offset, In<int32_t> neighbors, Bits active, NewBits reached) {
    const int64_t words = static_cast<int64_t>(active.shape(0)) / 8, n = static_cast<int64_t>(offset.shape(0)) - 1;
    if (words > words_in(n)) throw std::invalid_argument("active: expected a bit for each row at most");
    auto* const out = reinterpret_cast<uint64_t*>(reached.data());
    const int threads = part_count(static_cast<int64_t>(neighbors.shape(0)));
    for_each_chunk((words + chunk_words - 1) / chunk_words, threads, [&](int64_t chunk) {
        for (int64_t word = chunk * chunk_words; word < std::min(words, (chunk + 1) * chunk_words); ++word)
            for (uint64_t left = word_at(active.data(), word); left; left &= left - 1) {
                const int64_t v = word * 64 + std::countr_zero(left);
                for (int64_t arc = offset.data()[v]; arc < offset.data()[v + 1]; ++arc) {
                    const int32_t u = neighbors.data()[arc];
                    const uint64_t bit = uint64_t{1} << (u & 63);
                    std::atomic_ref<uint64_t> held(out[u >> 6]);
                    if (held.load(std::memory_order_relaxed) & bit) continue;
                    if (threads == 1)
                        held.store(held.load(std::memory_order_relaxed) | bit, std::memory_order_relaxed);
                    else
                        held.fetch_or(bit, std::memory_order_relaxed);
                }
            }
    });
}

// Bit i of `chosen` is that of places[i].
void choose(Bits bits, In<int64_t> places, NewBits chosen) {
    const auto count = static_cast<int64_t>(places.shape(0));
    check_room(static_cast<int64_t>(chosen.shape(0)), count, "chosen: expected a bit for each place");
    const auto* held = reinterpret_cast<const uint64_t*>(bits.data());
    for_each_word(words_in(count), count, [&](int64_t word) {
        const int64_t first = word * 64, size = std::min<int64_t>(64, count - first);
        uint64_t found = 0;
        for (int64_t i = 0; i < size; ++i) {
            const int64_t v = places.data()[first + i];
            found |= (held[v >> 6] >> (v & 63) & 1) << i;
        }
        set_word(chosen.data(), word, found);
    });
}

// Adds the places of the bits that are set, to `into`.
void spread(Bits bits, In<int64_t> places, NewBits into) {
    const auto count = static_cast<int64_t>(places.shape(0));
    check_room(static_cast<int64_t>(bits.shape(0)), count, "bits: expected one for each place");
    auto* const out = reinterpret_cast<uint64_t*>(into.data());
    for (int64_t word = 0; word < words_in(count); ++word)
        for (uint64_t left = word_at(bits.data(), word); left; left &= left - 1) {
            const int64_t v = places.data()[word * 64 + std::countr_zero(left)];
            out[v >> 6] |= uint64_t{1} << (v & 63);
        }
}

// Adds `size` bits from number `begin` on to `into`, from number `first` on.
void move(Bits bits, int64_t begin, int64_t size, NewBits into, int64_t first) {
    if (begin < 0 || first < 0 || size < 0 || begin + size > 8 * static_cast<int64_t>(bits.shape(0)) ||
        first + size > 8 * static_cast<int64_t>(into.shape(0)))
        throw std::invalid_argument("size: there are fewer bits");
    const int64_t held = static_cast<int64_t>(bits.shape(0)) / 8;
    for (int64_t done = 0; done < size; done += 64) {
        const int64_t from = begin + done, to = first + done, count = std::min<int64_t>(64, size - done);
        uint64_t found = word_at(bits.data(), from >> 6) >> (from & 63);
        if ((from & 63) && (from >> 6) + 1 < held) found |= word_at(bits.data(), (from >> 6) + 1) << (64 - (from & 63));
        if (count < 64) found &= (uint64_t{1} << count) - 1;
        set_word(into.data(), to >> 6, word_at(into.data(), to >> 6) | found << (to & 63));
        if ((to & 63) && found >> (64 - (to & 63)))
            set_word(into.data(), (to >> 6) + 1, word_at(into.data(), (to >> 6) + 1) | found >> (64 - (to & 63)));
    }
}

// (how many bits are set, the sum of their numbers, where there are any)
std::pair<int64_t, int64_t> measure(Bits bits, In<int64_t> numbers) {
    int64_t count = 0, sum = 0;
    const int64_t words = static_cast<int64_t>(bits.shape(0)) / 8;
    if (numbers.is_valid() && words > words_in(static_cast<int64_t>(numbers.shape(0))))
        throw std::invalid_argument("numbers: expected one for each bit");
    for (int64_t word = 0; word < words; ++word) {
        const uint64_t held = word_at(bits.data(), word);
        count += std::popcount(held);
        if (!numbers.is_valid()) continue;
        for (uint64_t left = held; left; left &= left - 1) sum += numbers.data()[word * 64 + std::countr_zero(left)];
    }
    return {count, sum};
}

// The numbers of the bits that are set, ascending.
void list(Bits bits, Out<int64_t> members) {
    const int64_t words = static_cast<int64_t>(bits.shape(0)) / 8;
    if (measure(bits, {}).first != static_cast<int64_t>(members.shape(0)))
        throw std::invalid_argument("members: expected room for those of the bitmap");
    int64_t* out = members.data();
    for (int64_t word = 0; word < words; ++word)
        for (uint64_t left = word_at(bits.data(), word); left; left &= left - 1)
            *out++ = word * 64 + std::countr_zero(left);
}

// values[v] = value for the vertices of a bitmap.
template <class V>
void fill(Bits bits, Out<V> values, V value) {
    const auto n = static_cast<int64_t>(values.shape(0)), words = static_cast<int64_t>(bits.shape(0)) / 8;
    if (words > words_in(n)) throw std::invalid_argument("bits: expected one for each value");
    for_each_word(words, words * 64, [&](int64_t word) {
        for (uint64_t left = word_at(bits.data(), word); left; left &= left - 1)
            values.data()[word * 64 + std::countr_zero(left)] = value;
    });
}

template <class V>
void bind_fill(Module& module) {
    module.def("fill_bits", &fill<V>, "bits, values, value");
}

}  // namespace

void bind_bitmaps(Module& module) {
    module.def("pull_bits", &pull, "offset, neighbors, front, wanted, reached");
    module.def("push_bits", &push, "offset, neighbors, active, reached");
    module.def("choose_bits", &choose, "bits, places, chosen");
    module.def("spread_bits", &spread, "bits, places, into");
    module.def("move_bits", &move, "bits, begin, size, into, first");
    module.def("measure_bits", &measure, "bits, numbers?");
    bind_fill<int32_t>(module);
    bind_fill<int64_t>(module);
    bind_fill<float>(module);
    bind_fill<double>(module);
    module.def("list_bits", &list, "bits, members");
}

}  // namespace tgraph
