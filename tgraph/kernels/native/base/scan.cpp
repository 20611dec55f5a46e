// The inclusive scan (scan.hpp): each part is scanned by itself, then joined with the total of the parts before it.
#include "base/scan.hpp"

#include <limits>

namespace tgraph {
namespace {

template <class T>
constexpr T neutral(std::plus<>) {
    return 0;
}
template <class T>
constexpr T neutral(Larger) {
    return std::numeric_limits<T>::lowest();
}

// Scans a range, block by block, while the items written are in the cache; returns the last output.
template <class T, class Join>
T scan_range(T* out, Range range, T sum, WriteItems<T> write, const void* item, Join join) {
    constexpr int64_t block = 1 << 10;
    for (int64_t i = range.begin; i < range.end;) {
        const Range some{i, std::min(i + block, range.end)};
        write(item, out, some);
        for (; i < some.end; ++i) out[i] = sum = join(sum, out[i]);
    }
    return sum;
}

template <class T, class Join>
void scan_in_parts(int64_t count, T* out, T first, WriteItems<T> write, const void* item, Join join) {
    const int parts = part_count(count);
    if (parts == 1) return static_cast<void>(scan_range(out, {0, count}, first, write, item, join));
    std::vector<T> before(parts + 1, first);
    for_each_part_of(count, parts, [&](Range range, int part) {
        before[part + 1] = scan_range(out, range, part ? neutral<T>(join) : first, write, item, join);
    });
    for (int part = 1; part < parts; ++part) before[part + 1] = join(before[part], before[part + 1]);
    for_each_part_of(count, parts, [&](Range range, int part) {
        const T sum = before[part];
        if (part)
            for (int64_t i = range.begin; i < range.end; ++i) out[i] = join(sum, out[i]);
    });
}

}  // namespace

template <class T>
void scan_items(int64_t count, T* out, T first, WriteItems<T> write, const void* item, std::plus<> join) {
    scan_in_parts(count, out, first, write, item, join);
}
template <class T>
void scan_items(int64_t count, T* out, T first, WriteItems<T> write, const void* item, Larger join) {
    scan_in_parts(count, out, first, write, item, join);
}

template void scan_items(int64_t, int32_t*, int32_t, WriteItems<int32_t>, const void*, std::plus<>);
template void scan_items(int64_t, int64_t*, int64_t, WriteItems<int64_t>, const void*, std::plus<>);
template void scan_items(int64_t, int64_t*, int64_t, WriteItems<int64_t>, const void*, Larger);

}  // namespace tgraph
