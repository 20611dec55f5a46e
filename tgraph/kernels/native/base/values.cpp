// Fill, iota, replace, convert and write over the values of all vertices, on the team's threads: torch may be held to
// one thread while a program runs (`hold_torch`).
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

template <class T>
void fill_values(Out<T> values, T value) {
    const auto size = static_cast<int64_t>(values.shape(0));
    advise_huge_pages(values.data(), size * sizeof(T));
    fill(values.data(), size, value);
}

// values[i] = i
template <class T>
void number_values(Out<T> values) {
    const auto size = static_cast<int64_t>(values.shape(0));
    T* const out = values.data();
    advise_huge_pages(out, size * sizeof(T));
    for_each_entry(size, [=](int64_t i) { out[i] = static_cast<T>(i); });
}

template <class T>
void replace_values(Out<T> values, T old, T by) {
    T* const data = values.data();
    for_each_entry(static_cast<int64_t>(values.shape(0)), [=](int64_t i) { data[i] = data[i] == old ? by : data[i]; });
}

template <class From, class To>
void convert_values(In<From> from, Out<To> to) {
    if (from.shape(0) != to.shape(0)) throw std::invalid_argument("to: expected the size of the values");
    const auto size = static_cast<int64_t>(to.shape(0));
    advise_huge_pages(to.data(), size * sizeof(To));
    copy(from.data(), size, to.data());
}

// An upper bound of |x| for all values, below twice the largest: the bits that are set in any of them, of x or ~x.
int64_t bound_magnitudes(In<int64_t> values) {
    const auto size = static_cast<int64_t>(values.shape(0));
    const int64_t* const in = values.data();
    std::atomic<int64_t> bits = 0;
    for_each_part_of(size, part_count(size), [&](Range range, int) {
        int64_t found = 0;
        for (int64_t i = range.begin; i < range.end; ++i) found |= in[i] ^ (in[i] >> 63);
        bits.fetch_or(found, std::memory_order_relaxed);
    });
    const int64_t all = bits.load();
    return all == std::numeric_limits<int64_t>::max() ? all : all + 1;  // ~x is one less than |x|
}

// Writes rows [r, columns] to the values [n, columns] of distinct vertices. Returns how many differ from before, which
// are listed in order, and the sum of their degrees. NaN equals NaN.
template <class T>
std::pair<int64_t, int64_t> write_changed(Out<T> values, In<int64_t> vertices, In<T> rows, In<int64_t> degree,
                                          Out<int64_t> changed) {
    const auto n = static_cast<int64_t>(degree.shape(0)), count = static_cast<int64_t>(vertices.shape(0));
    if (static_cast<int64_t>(changed.shape(0)) != count) throw std::invalid_argument("changed: expected [r]");
    const int64_t columns = static_cast<int64_t>(values.shape(0)) / std::max<int64_t>(n, 1);
    if (static_cast<int64_t>(values.shape(0)) != n * columns || static_cast<int64_t>(rows.shape(0)) != count * columns)
        throw std::invalid_argument("rows: expected [r, columns]");
    const int parts = part_count(count * columns);
    std::vector<int64_t> size(parts), arcs(parts);
    for_each_part_of(count, parts, [&](Range range, int part) {
        int64_t* next = changed.data() + range.begin;
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t vertex = vertices.data()[i];
            if (static_cast<uint64_t>(vertex) >= static_cast<uint64_t>(n))
                throw std::out_of_range("vertices: no such vertex");
            T *const old = values.data() + vertex * columns;
            const T *const row = rows.data() + i * columns;
            bool differs = false;
            for (int64_t f = 0; f < columns; ++f) {
                differs |= old[f] != row[f] && (old[f] == old[f] || row[f] == row[f]);
                old[f] = row[f];
            }
            *next = vertex;
            next += differs;
            arcs[part] += differs ? degree.data()[vertex] : 0;
        }
        size[part] = next - changed.data() - range.begin;
    });
    for (int part = 1; part < parts; ++part) {
        std::copy_n(changed.data() + part_of(count, part, parts).begin, size[part], changed.data() + size[0]);
        size[0] += size[part], arcs[0] += arcs[part];
    }
    return {size[0], arcs[0]};
}

template <class T>
void bind(Module& module) {
    module.def("write_changed", &write_changed<T>, "values, vertices, rows, degree, changed");
    module.def("fill_values", &fill_values<T>, "values, value");
    module.def("replace_values", &replace_values<T>, "values, old, by");
}

}  // namespace

void bind_values(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
    bind<float>(module);
    bind<double>(module);
    module.def("bound_magnitudes", &bound_magnitudes, "values");
    module.def("number_values", &number_values<int32_t>, "values");
    module.def("number_values", &number_values<int64_t>, "values");
    module.def("convert_values", &convert_values<int32_t, int64_t>, "values, to");
}

}  // namespace tgraph
