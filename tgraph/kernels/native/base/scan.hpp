// What is made of all entries of an array, by all threads: reductions, running sums, conditions that all have to meet.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "threads/parallel.hpp"

namespace tgraph {

// first, joined with item(0), .., item(count - 1). `join` is associative, and `first` joined with itself is itself.
template <class T, class Item, class Join>
T reduce(int64_t count, T first, const Item& item, const Join& join) {
    const int parts = part_count(count);
    std::vector<T> found(parts, first);
    for_each_part(parts, [&](int part) {
        const Range range = part_of(count, part, parts);
        T value = first;
        for (int64_t i = range.begin; i < range.end; ++i) value = join(value, item(i));
        found[part] = value;
    });
    for (const T& value : found) first = join(first, value);
    return first;
}

// out[i] = first, joined with item(0), .., item(i), for i < count. `join` is associative: of integers, since the parts
// are those of the threads. Where there are several each is gone through twice: for what it adds up to, and again from
// what those before it do. item(i) may read out[i], and nothing else that is written.
template <class T, class Item, class Join = std::plus<>>
void scan(int64_t count, T* out, T first, const Item& item, const Join& join = {}) {
    const int parts = part_count(count);
    std::vector<T> before(parts, first);
    if (parts > 1)
        for_each_part(parts, [&](int part) {
            if (part + 1 == parts) return;
            const Range range = part_of(count, part, parts);
            T sum = item(range.begin);
            for (int64_t i = range.begin + 1; i < range.end; ++i) sum = join(sum, item(i));
            before[part + 1] = sum;
        });
    for (int part = 1; part < parts; ++part) before[part] = join(before[part - 1], before[part]);
    for_each_part(parts, [&](int part) {
        const Range range = part_of(count, part, parts);
        T sum = before[part];
        for (int64_t i = range.begin; i < range.end; ++i) out[i] = sum = join(sum, item(i));
    });
}

inline constexpr auto larger = [](int64_t a, int64_t b) { return std::max(a, b); };

// Whether condition(i) is true for all i < count. Each part ends with the first for which it is not.
template <class Condition>
bool holds_for_all(int64_t count, const Condition& condition) {
    const int parts = part_count(count);
    std::atomic<bool> holds{true};
    for_each_part(parts, [&](int part) {
        const Range range = part_of(count, part, parts);
        for (int64_t i = range.begin; i < range.end; ++i)
            if (!condition(i)) return holds.store(false, std::memory_order_relaxed);
    });
    return holds.load(std::memory_order_relaxed);
}

}  // namespace tgraph
