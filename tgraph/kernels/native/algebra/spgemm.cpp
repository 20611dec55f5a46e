// Bindings of the product of sparse matrices (spgemm.hpp), for int64, float and double.
#include "algebra/spgemm.hpp"

#include <string>

#include "algebra/in_order.hpp"
#include "base/bindings.hpp"

namespace tgraph {
namespace {

// The entries of a product are counted before it is made where it has more terms than these, and more than so many for
// each entry of the factors: memory is asked for by the number of terms, and given back where terms fall together.
constexpr int64_t many_terms = 1 << 27, many_terms_each = 8;

Pattern pattern(const In<int64_t>& offset, const In<int32_t>& columns) {
    return {offset.data(), columns.data(), offset.is_valid() ? static_cast<int64_t>(offset.shape(0)) - 1 : 0};
}

// How many entries a product has, or where it cannot be far more than its factors have, at most has.
int64_t spgemm_room(In<int64_t> a_offset, In<int32_t> a_columns, In<int64_t> b_offset, In<int32_t> b_columns,
                    In<int64_t> mask_offset, In<int32_t> mask_columns, bool complement) {
    const SparseMatrix<int64_t> a{pattern(a_offset, a_columns), nullptr, false};
    const SparseMatrix<int64_t> b{pattern(b_offset, b_columns), nullptr, false};
    const Mask mask{pattern(mask_offset, mask_columns), complement};
    const int64_t num_columns = b.num_rows, entries = a.num_entries() + b.num_entries();
    const int64_t enough = std::max(many_terms, many_terms_each * entries);
    if (mask.keeps_listed() && mask.num_entries() <= enough) return mask.num_entries();
    const Terms terms(a, b);
    const auto plus = [](int64_t x, int64_t y) { return x + y; };
    const auto most = [&](int64_t row) { return most_entries(terms, mask, num_columns, row); };
    const int64_t room = reduce(a.num_rows, int64_t{0}, most, plus);
    if (room <= enough) return room;
    const RowSets sets(b, num_columns, terms.total());
    std::atomic<int64_t> total{0};
    Chunks left(terms.chunks().size());
    run_team(terms.threads(), [&](int) {
        RowProduct product(a, b, sets, mask, num_columns, Semiring<int64_t, Plus, Times>{}, false);
        left.each([&](int64_t chunk) {
            const Range rows = terms.chunks()[chunk];
            int64_t count = 0;
            for (int64_t row = rows.begin; row < rows.end; ++row) count += product.count(row);
            total.fetch_add(count, std::memory_order_relaxed);
        });
    });
    return total.load();
}

// Writes the offsets of the product, and its columns and values to memory that has room for them; returns how many.
// values : null for the columns alone.
template <class T>
int64_t spgemm_rows(In<int64_t> a_offset, In<int32_t> a_columns, In<T> a_values, bool by_column, In<int64_t> b_offset,
                    In<int32_t> b_columns, In<T> b_values, In<int64_t> mask_offset, In<int32_t> mask_columns,
                    bool complement, const std::string& reduce, const std::string& edge, Out<int64_t> offset,
                    Out<int32_t> columns, Out<T> values) {
    const SparseMatrix<T> a{pattern(a_offset, a_columns), a_values.data(), by_column};
    const SparseMatrix<T> b{pattern(b_offset, b_columns), b_values.data(), false};
    const Mask mask{pattern(mask_offset, mask_columns), complement};
    const int64_t num_columns = b.num_rows;
    const bool valued = values.is_valid();
    const Terms terms(a, b);
    const RowSets sets = mask.keeps_listed() ? RowSets() : RowSets(b, num_columns, terms.total());
    const RowChunks chunks = terms.chunks();
    int64_t* ends = offset.data() + 1;
    offset.data()[0] = 0;
    InOrder<T> parts;
    const auto place = [&](const Part<T>& part, int64_t before) {
        const Range rows = chunks[part.chunk];
        for (int64_t row = rows.begin; row < rows.end; ++row) ends[row] += before;
        std::copy_n(part.columns.data(), part.size, columns.data() + before);
        if (valued) std::copy_n(part.values.data(), part.size, values.data() + before);
    };
    with_semiring<T>(reduce, edge, [&](const auto& semiring) {
        Chunks left(chunks.size());
        run_team(terms.threads(), [&](int) {
            RowProduct product(a, b, sets, mask, num_columns, semiring, valued);
            left.each([&](int64_t chunk) {
                const Range rows = chunks[chunk];
                int64_t room = 0, size = 0;
                for (int64_t row = rows.begin; row < rows.end; ++row)
                    room += most_entries(terms, mask, num_columns, row);
                Part<T> part = parts.part(chunk, room);
                int32_t* to = part.columns.data();
                T* to_values = part.values.data();
                for (int64_t row = rows.begin; row < rows.end; ++row) {
                    size += product.multiply(row, terms.of(row), to + size, to_values + size);
                    ends[row] = size;
                }
                part.size = size;
                parts.finish(std::move(part), place);
            });
        });
    });
    return parts.total();
}

template <class T>
void bind(Module& module) {
    module.def("spgemm_rows", &spgemm_rows<T>,
               "a_offset, a_columns, a_values?, by_column, b_offset, b_columns, b_values?, mask_offset?, "
               "mask_columns?, complement, reduce, edge, offset, columns, values?");
}

}  // namespace

void bind_spgemm(Module& module) {
    module.def("spgemm_room", &spgemm_room,
               "a_offset, a_columns, b_offset, b_columns, mask_offset?, mask_columns?, complement");
    bind<int64_t>(module);
    bind<float>(module);
    bind<double>(module);
}

}  // namespace tgraph
