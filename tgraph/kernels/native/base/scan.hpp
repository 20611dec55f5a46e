// Parallel reduction, inclusive scan and all-of over the entries of an array.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "threads/parallel.hpp"

namespace tgraph {

// first, combined with item(0), .., item(count - 1) by `join`, which is associative and idempotent on `first`.
template <class T, class Item, class Join>
T reduce(int64_t count, T first, const Item& item, const Join& join) {
    const int parts = part_count(count);
    std::vector<T> found(parts, first);
    for_each_part_of(count, parts, [&](Range range, int part) {
        T value = first;
        for (int64_t i = range.begin; i < range.end; ++i) value = join(value, item(i));
        found[part] = value;
    });
    for (const T& value : found) first = join(first, value);
    return first;
}

struct Larger {
    int64_t operator()(int64_t a, int64_t b) const { return std::max(a, b); }
};
inline constexpr Larger larger;

// Writes the items of a range to out[range.begin], ...
template <class T>
using WriteItems = void (*)(const void* item, T* out, Range range);

// The scan of written items, compiled once for each type and operation (scan.cpp).
template <class T>
void scan_items(int64_t count, T* out, T first, WriteItems<T> write, const void* item, std::plus<> join);
template <class T>
void scan_items(int64_t count, T* out, T first, WriteItems<T> write, const void* item, Larger join);

// Inclusive scan: out[i] = first, combined with item(0), .., item(i) by addition of integers or `larger`. item(i) may
// read out[i], but no other output.
template <class T, class Item, class Join = std::plus<>>
void scan(int64_t count, T* out, T first, const Item& item, Join join = {}) {
    const auto write = [](const void* object, T* out, Range range) {
        const Item& item = *static_cast<const Item*>(object);
        for (int64_t i = range.begin; i < range.end; ++i) out[i] = item(i);
    };
    scan_items<T>(count, out, first, write, std::addressof(item), join);
}

// Whether condition(i) holds for all i < count. Each part stops at its first counterexample.
template <class Condition>
bool holds_for_all(int64_t count, const Condition& condition) {
    std::atomic<bool> holds{true};
    for_each_part_of(count, part_count(count), [&](Range range, int) {
        for (int64_t i = range.begin; i < range.end; ++i)
            if (!condition(i)) return holds.store(false, std::memory_order_relaxed);
    });
    return holds.load(std::memory_order_relaxed);
}

}  // namespace tgraph
