// Parallel reduction, inclusive scan (two passes over one part per thread) and all-of over the entries of an array.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "threads/parallel.hpp"

namespace tgraph {

// first, combined with item(0), .., item(count - 1) by `join`, which is associative and idempotent on `first`.
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

// Inclusive scan: out[i] = first, combined with item(0), .., item(i). `join` must be exactly associative (integers),
// since the parts depend on the number of threads. item(i) is evaluated twice; it may read out[i], but no other output.
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

// Whether condition(i) holds for all i < count. Each part stops at its first counterexample.
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
