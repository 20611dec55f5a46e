// Fill, iota, replace and convert over the values of all vertices, on the team's threads: torch may be restricted to
// one thread while a program runs (`hold_torch`).
#include <cstdint>
#include <stdexcept>

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

template <class T>
void bind(Module& module) {
    module.def("fill_values", &fill_values<T>, "values, value");
    module.def("replace_values", &replace_values<T>, "values, old, by");
}

}  // namespace

void bind_values(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
    bind<float>(module);
    bind<double>(module);
    module.def("number_values", &number_values<int32_t>, "values");
    module.def("number_values", &number_values<int64_t>, "values");
    module.def("convert_values", &convert_values<int32_t, int64_t>, "values, to");
}

}  // namespace tgraph
