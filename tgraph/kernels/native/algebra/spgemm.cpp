// Bindings of the product of sparse matrices (spgemm.hpp), for int64, float and double.
#include "algebra/spgemm.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "base/bindings.hpp"

namespace tgraph {

void count_entries(const Pattern& a, const Pattern& b, const Mask& mask, int64_t num_columns, int64_t* offset) {
    const Terms terms(a, b);
    const LongRows long_rows(b, num_columns);
    Chunks left(terms.chunks().size());
    run_team(terms.threads(), [&](int) {
        Columns found(num_columns);
        MaskRow wanted(mask, num_columns);
        left.each([&](int64_t chunk) {
            const Range rows = terms.chunks()[chunk];
            for (int64_t row = rows.begin; row < rows.end; ++row) {
                int64_t count = 0;
                wanted.mark(row);
                if (terms.of(row) <= few_terms) {
                    ShortRow<int8_t> sorted;
                    for (int64_t i = a.offset[row]; i < a.offset[row + 1]; ++i)
                        for (int64_t j = b.offset[a.columns[i]]; j < b.offset[a.columns[i] + 1]; ++j)
                            sorted.add<Greater>(b.columns[j], 0);
                    for (int64_t i = 0; i < sorted.size; ++i) count += wanted.keeps(sorted.columns[i]);
                } else {
                    for (int64_t i = a.offset[row]; i < a.offset[row + 1]; ++i)
                        found.mark_row(b, long_rows, a.columns[i]);
                    found.drain([&](int64_t word, uint64_t bits) { count += std::popcount(wanted.kept(word, bits)); });
                }
                wanted.clear(row);
                offset[row + 1] = count;
            }
        });
    });
    offset[0] = 0;
    scan(a.num_rows, offset + 1, int64_t{0}, [&](int64_t row) { return offset[row + 1]; });
}

namespace {

Pattern pattern(const In<int64_t>& offset, const In<int32_t>& columns) {
    return {offset.data(), columns.data(), offset.is_valid() ? static_cast<int64_t>(offset.shape(0)) - 1 : 0};
}

void spgemm_sizes(In<int64_t> a_offset, In<int32_t> a_columns, In<int64_t> b_offset, In<int32_t> b_columns,
                  In<int64_t> mask_offset, In<int32_t> mask_columns, bool complement, Out<int64_t> offset) {
    const Mask mask{pattern(mask_offset, mask_columns), complement};
    const Pattern b = pattern(b_offset, b_columns);
    count_entries(pattern(a_offset, a_columns), b, mask, b.num_rows, offset.data());
}

// values : null for the columns alone.
template <class T>
void spgemm_rows(In<int64_t> a_offset, In<int32_t> a_columns, In<T> a_values, bool by_column, In<int64_t> b_offset,
                 In<int32_t> b_columns, In<T> b_values, In<int64_t> mask_offset, In<int32_t> mask_columns,
                 bool complement, const std::string& reduce, const std::string& edge, In<int64_t> offset,
                 Out<int32_t> columns, Out<T> values) {
    const SparseMatrix<T> a{pattern(a_offset, a_columns), a_values.data(), by_column};
    const SparseMatrix<T> b{pattern(b_offset, b_columns), b_values.data(), false};
    const Mask mask{pattern(mask_offset, mask_columns), complement};
    const int64_t num_columns = b.num_rows;
    const Terms terms(a, b);
    const LongRows long_rows(b, num_columns);
    with_reduction(reduce, [&](auto reduction) {
        Chunks left(terms.chunks().size());
        run_team(terms.threads(), [&](int) {
            RowProduct<T, decltype(reduction)> product(a, b, long_rows, mask, num_columns, edge_named(edge));
            left.each([&](int64_t chunk) {
                const Range rows = terms.chunks()[chunk];
                for (int64_t row = rows.begin; row < rows.end; ++row) {
                    int64_t next = offset.data()[row];
                    if (next == offset.data()[row + 1]) continue;
                    product.multiply(row, terms.of(row), [&](int32_t column, T value) {
                        columns.data()[next] = column;
                        if (values.is_valid()) values.data()[next] = value;
                        ++next;
                    });
                }
            });
        });
    });
}

template <class T>
void bind(nb::module_& module) {
    using nb::arg;
    module.def("spgemm_rows", &spgemm_rows<T>, arg("a_offset").noconvert(), arg("a_columns").noconvert(),
               arg("a_values").noconvert().none(), arg("by_column"), arg("b_offset").noconvert(),
               arg("b_columns").noconvert(), arg("b_values").noconvert().none(), arg("mask_offset").noconvert().none(),
               arg("mask_columns").noconvert().none(), arg("complement"), arg("reduce"), arg("edge"),
               arg("offset").noconvert(), arg("columns").noconvert(), arg("values").noconvert().none(),
               nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_spgemm(nb::module_& module) {
    using nb::arg;
    module.def("spgemm_sizes", &spgemm_sizes, arg("a_offset").noconvert(), arg("a_columns").noconvert(),
               arg("b_offset").noconvert(), arg("b_columns").noconvert(), arg("mask_offset").noconvert().none(),
               arg("mask_columns").noconvert().none(), arg("complement"), arg("offset").noconvert(),
               nb::call_guard<nb::gil_scoped_release>());
    bind<int64_t>(module);
    bind<float>(module);
    bind<double>(module);
}

}  // namespace tgraph
