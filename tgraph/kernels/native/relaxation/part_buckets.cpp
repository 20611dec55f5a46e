// Delta-stepping over a part of the vertices: see Buckets, and the declaration of the operator.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "base/classes.hpp"
#include "base/kernels.hpp"
#include "relaxation/relax.hpp"

namespace tgraph {
namespace {

// The caller keeps the arrays alive.
template <class V>
AnyRows<V> rows_of(In<int64_t> offset, In<int32_t> neighbors, In<void> weights) {
    if (weights.shape(0) != neighbors.shape(0)) throw std::invalid_argument("weights: expected one for each arc");
    const AnyRows<V> rows{offset.data(), neighbors.data(), {weights.data(), number_of(weights.dtype()), V{}}};
    if (!rows.weights.fit()) throw TypeError("weights: their dtype does not fit that of the values");
    return rows;
}

template <class V>
void make(Buckets<V>* self, In<int64_t> offset, In<int32_t> neighbors, In<void> weights, In<int64_t> outside,
          In<int32_t> mirrors, In<void> outside_weights, Out<V> values, double delta) {
    const auto size = static_cast<int64_t>(offset.shape(0)) - 1, all = static_cast<int64_t>(values.shape(0));
    if (size < 0 || all < size || static_cast<int64_t>(outside.shape(0)) != all + 1)
        throw std::invalid_argument("values: expected those of the vertices and the mirrors");
    new (self) Buckets<V>(rows_of<V>(offset, neighbors, weights), values.data(), size, delta,
                          rows_of<V>(outside, mirrors, outside_weights), all - size);
}

template <class V>
void check(const Buckets<V>& self, In<int64_t> vertices) {
    for (std::size_t i = 0; i < vertices.shape(0); ++i)
        if (static_cast<uint64_t>(vertices.data()[i]) >= static_cast<uint64_t>(self.num_vertices()))
            throw std::out_of_range("vertices: no such vertex");
}

template <class V>
void queue(Buckets<V>& self, In<int64_t> vertices) {
    check(self, vertices);
    self.queue(vertices.data(), static_cast<int64_t>(vertices.shape(0)));
}

template <class V>
void receive(Buckets<V>& self, In<int64_t> vertices, In<V> messages) {
    if (vertices.shape(0) != messages.shape(0)) throw std::invalid_argument("messages: expected one for each vertex");
    check(self, vertices);
    self.receive(vertices.data(), messages.data(), static_cast<int64_t>(vertices.shape(0)));
}

// (vertices relaxed, their arcs, mirrors reached)
template <class V>
std::tuple<int64_t, int64_t, int64_t> run(Buckets<V>& self, int64_t end) {
    const nb::gil_scoped_release released;
    const Round done = self.run(end);
    return {done.active, done.arcs, self.num_reached()};
}

template <class V>
int64_t take_reached(Buckets<V>& self, Out<int64_t> mirrors, Out<V> messages) {
    if (static_cast<int64_t>(mirrors.shape(0)) != self.num_reached() || mirrors.shape(0) != messages.shape(0))
        throw std::invalid_argument("mirrors, messages: expected room for those reached");
    return self.take_reached(mirrors.data(), messages.data());
}

template <class V>
void mark_queued(const Buckets<V>& self, Out<bool> mask) {
    if (static_cast<int64_t>(mask.shape(0)) != self.num_vertices()) throw std::invalid_argument("mask: expected [n]");
    for (int64_t v = 0; v < self.num_vertices(); ++v) mask.data()[v] = self.is_queued(v);
}

template <class V>
void bind(Module& module, const char* name) {
    bind_class<Buckets<V>>(module, name)
        .def("__init__", &make<V>, nb::arg("offset"), nb::arg("neighbors"), nb::arg("weights"), nb::arg("outside"),
             nb::arg("mirrors"), nb::arg("outside_weights"), nb::arg("values"), nb::arg("delta"))
        .def("queue", &queue<V>, nb::arg("vertices"))
        .def("receive", &receive<V>, nb::arg("vertices"), nb::arg("messages"))
        .def("run", &run<V>, nb::arg("end"))
        .def("take_reached", &take_reached<V>, nb::arg("mirrors"), nb::arg("messages"))
        .def("next_bucket", &Buckets<V>::next_bucket)
        .def("mark_queued", &mark_queued<V>, nb::arg("mask"));
}

}  // namespace

void bind_part_buckets(Module& module) {
    bind<int32_t>(module, "PartBuckets_int32");
    bind<int64_t>(module, "PartBuckets_int64");
    bind<float>(module, "PartBuckets_float32");
    bind<double>(module, "PartBuckets_float64");
}

}  // namespace tgraph
