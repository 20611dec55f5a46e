// Operations on edges: the entry points of their kernels.
#include "attention/attention_bind.hpp"
#include "attention/edge_softmax.hpp"

namespace tgraph {
namespace {

// Arrays of Python's as rows, checked: nothing that they say may lead out of an array.
template <class Neighbor>
EdgeRows<Neighbor> edge_rows(const In<int64_t>& offset, const In<Neighbor>& neighbors, const In<int64_t>& number,
                             int64_t others) {
    const auto count = static_cast<int64_t>(offset.shape(0)) - 1, arcs = static_cast<int64_t>(neighbors.shape(0));
    const int64_t* begin = offset.data();
    expect(count >= 0 && begin[0] == 0 && begin[count] == arcs && std::is_sorted(begin, begin + count + 1),
           "offset: expected [rows + 1], ascending from 0 to the number of arcs");
    if (others >= 0) check_below(neighbors.data(), arcs, others, "neighbors");
    expect(!number.is_valid() || is_of(number, arcs), "number: expected [arcs]");
    if (number.is_valid()) check_below(number.data(), arcs, arcs, "number");
    return {begin, count, arcs, neighbors.data(), data_of(number)};
}

template <class A>
int64_t rows_of(const In<A>& data, int64_t columns, const char* what) {
    const auto size = static_cast<int64_t>(data.shape(0));
    expect(columns > 0 && size % columns == 0, what);
    return size / columns;
}

template <class A, class Neighbor>
void ends(std::string_view operation, In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> number, In<A> source,
          In<A> target, int64_t columns, int64_t heads, Out<A> out) {
    expect(heads > 0 && columns > 0 && columns % heads == 0, "heads: expected a divisor of the columns");
    const auto rows = edge_rows(offset, neighbors, number, rows_of(source, columns, "source: expected [n, columns]"));
    expect(is_of(target, rows.num_rows * columns), "target: expected [rows, columns]");
    expect(is_of(out, rows.num_arcs * (operation == "dot" ? heads : columns)), "out: expected [edges, columns]");
    apply_at_ends(operation, rows, source.data(), target.data(), columns, heads, out.data());
}

template <class A, class Neighbor>
void sums(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> number, In<A> weight, In<A> data, int64_t columns,
          int64_t heads, Out<A> out) {
    expect(heads > 0 && columns > 0 && columns % heads == 0, "heads: expected a divisor of the columns");
    const int64_t others = data.is_valid() ? rows_of(data, columns, "data: expected [n, columns]") : -1;
    const auto rows = edge_rows(offset, neighbors, number, others);
    expect(data.is_valid() || columns == heads, "columns: expected those of the edges");
    expect(is_of(weight, rows.num_arcs * heads), "weight: expected [edges, heads]");
    expect(is_of(out, rows.num_rows * columns), "out: expected [rows, columns]");
    sum_edges(rows, weight.data(), data_of(data), columns, heads, out.data());
}

// Rows of which only the lengths and the numbers of the edges count.
EdgeRows<int64_t> softmax_rows(const In<int64_t>& offset, const In<int64_t>& number, std::size_t size,
                               int64_t heads) {
    expect(heads > 0 && size % heads == 0, "heads: expected those of the edges");
    const auto count = static_cast<int64_t>(offset.shape(0)) - 1, arcs = static_cast<int64_t>(size) / heads;
    const int64_t* begin = offset.data();
    expect(count >= 0 && begin[0] == 0 && begin[count] == arcs && std::is_sorted(begin, begin + count + 1),
           "offset: expected [rows + 1], ascending from 0 to the number of edges");
    expect(!number.is_valid() || is_of(number, arcs), "number: expected [edges]");
    if (number.is_valid()) check_below(number.data(), arcs, arcs, "number");
    return {begin, count, arcs, nullptr, data_of(number)};
}

template <class A>
void softmax(In<int64_t> offset, In<int64_t> number, In<A> score, int64_t heads, Out<A> out) {
    const auto rows = softmax_rows(offset, number, score.shape(0), heads);
    expect(is_of(out, score.shape(0)), "out: expected [edges, heads]");
    each_softmax<A>(rows, heads, [&](SoftmaxRow<A>& row, Range arcs) {
        row.softmax(rows, arcs, score.data(), out.data());
    });
}

template <class A>
void softmax_gradient(In<int64_t> offset, In<int64_t> number, In<A> grad, In<A> alpha, int64_t heads, Out<A> out) {
    const auto rows = softmax_rows(offset, number, grad.shape(0), heads);
    expect(is_of(alpha, grad.shape(0)) && is_of(out, grad.shape(0)), "alpha, out: expected [edges, heads]");
    each_softmax<A>(rows, heads, [&](SoftmaxRow<A>& row, Range arcs) {
        row.gradient(rows, arcs, grad.data(), alpha.data(), out.data());
    });
}

template <class A, class Neighbor>
void bind_ends(nb::module_& module) {
    using nb::arg;
    const nb::call_guard<nb::gil_scoped_release> released;
    module.def("apply_at_ends", &ends<A, Neighbor>, arg("operation"), arg("offset").noconvert(),
               arg("neighbors").noconvert(), arg("number").noconvert().none(), arg("source").noconvert(),
               arg("target").noconvert(), arg("columns"), arg("heads"), arg("out").noconvert(), released);
    module.def("sum_edges", &sums<A, Neighbor>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("number").noconvert().none(), arg("weight").noconvert(), arg("data").noconvert().none(),
               arg("columns"), arg("heads"), arg("out").noconvert(), released);
}

template <class A>
void bind_edges_of(nb::module_& module) {
    using nb::arg;
    const nb::call_guard<nb::gil_scoped_release> released;
    bind_ends<A, int32_t>(module);
    bind_ends<A, int64_t>(module);
    module.def("edge_softmax", &softmax<A>, arg("offset").noconvert(), arg("number").noconvert().none(),
               arg("score").noconvert(), arg("heads"), arg("out").noconvert(), released);
    module.def("edge_softmax_gradient", &softmax_gradient<A>, arg("offset").noconvert(),
               arg("number").noconvert().none(), arg("grad").noconvert(), arg("alpha").noconvert(), arg("heads"),
               arg("out").noconvert(), released);
}

}  // namespace

void bind_edges(nb::module_& module) {
    bind_edges_of<float>(module);
    bind_edges_of<double>(module);
}

}  // namespace tgraph
