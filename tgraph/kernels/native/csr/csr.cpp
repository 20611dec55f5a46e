// Bindings of the CSR builders: sort, transpose, filter, relabel. The caller allocates outputs, and reports invalid
// ids.
#include <numeric>

#include "base/classes.hpp"
#include "base/rows.hpp"
#include "csr/filter.hpp"
#include "csr/id_table.hpp"
#include "csr/radix.hpp"
#include "csr/relabel.hpp"

namespace tgraph {
namespace {

// Output arrays of a builder, with neighbors of 32 or 64 bits.
struct Csr {
    int64_t* offset;
    int32_t* narrow;
    int64_t* wide;  // where `narrow` is null
    int64_t* perm;  // null if not requested
    int64_t size, num_vertices;
};

// From 2^31 vertices or 2^32 arcs on.
using WideRecord = Record<uint128_t, uint64_t>;

struct WideSink : CsrSink<WideRecord, int64_t> {
    int32_t* narrow;

    void write(Cursor& cursor, const WideRecord& record) const {
        enter(cursor, record);
        const auto neighbor = static_cast<int64_t>(target(record));
        narrow ? narrow[cursor.next] = static_cast<int32_t>(neighbor) : neighbors[cursor.next] = neighbor;
        if (perm) perm[cursor.next] = static_cast<int64_t>(record.id);
        ++cursor.next;
    }
};

template <class Record>
bool build_narrow(const auto& source, const Csr& csr, const std::vector<Digit>& digits) {
    const CsrSink<Record, int32_t> sink{csr.offset, csr.narrow, csr.perm, csr.num_vertices, source.bits};
    return radix_sort<Record>(source, csr.size, sink, digits);
}

// Sources of ids of any width are sorted by wide records, the others by the smallest that holds the ids.
template <template <class> class Source, class Ids>
bool build(const Source<Ids>& source, const Csr& csr, const std::vector<Digit>& digits) {
    if constexpr (std::is_same_v<Ids, AnyIntegers>) {
        const WideSink sink{{csr.offset, csr.wide, csr.perm, csr.num_vertices, source.bits}, csr.narrow};
        return radix_sort<WideRecord>(source, csr.size, sink, digits);
    } else if (csr.perm) {
        return build_narrow<Record<uint64_t, uint32_t>>(source, csr, digits);
    } else {
        return build_narrow<Record<uint64_t, NoId>>(source, csr, digits);
    }
}

template <class Id>
AnyIntegers any_width(const Id* ids) {
    if constexpr (sizeof(Id) == sizeof(int32_t))
        return {ids, nullptr};
    else
        return {nullptr, ids};
}

template <class Neighbor>
Csr outputs(const Out<int64_t>& offset, const Out<Neighbor>& neighbors, const Out<int64_t>& perm) {
    Csr csr{offset.data(), nullptr, nullptr, perm.data(), static_cast<int64_t>(neighbors.shape(0)),
            static_cast<int64_t>(offset.shape(0)) - 1};
    if constexpr (sizeof(Neighbor) == sizeof(int32_t))
        csr.narrow = neighbors.data();
    else
        csr.wide = neighbors.data();
    advise_huge_pages(neighbors.data(), csr.size * sizeof(Neighbor));
    if (csr.perm) advise_huge_pages(csr.perm, csr.size * sizeof(int64_t));
    return csr;
}

template <class Ids>
bool sort_into(const Csr& csr, Ids src, Ids dst, int64_t size, bool both_ways) {
    const int bits = bits_below(csr.num_vertices);
    const EdgeList<Ids> edges{src, dst, size, csr.num_vertices, bits, both_ways};
    // A sorted list needs only the pass that validates and unpacks it.
    return build(edges, csr, edges.is_sorted() ? split_into_digits(0, 0) : split_into_digits(0, 2 * bits));
}

template <bool both_ways, class Id, class Neighbor>
bool sort_edges(In<Id> src, In<Id> dst, Out<int64_t> offset, Out<Neighbor> neighbors, Out<int64_t> perm, bool wide) {
    const Csr csr = outputs(offset, neighbors, perm);
    const auto size = static_cast<int64_t>(src.shape(0));
    if (wide || csr.wide) return sort_into(csr, any_width(src.data()), any_width(dst.data()), size, both_ways);
    return sort_into(csr, src.data(), dst.data(), size, both_ways);
}

template <class Neighbors>
bool transpose_into(const Csr& csr, const int64_t* offset, Neighbors neighbors, int64_t num_rows) {
    const int bits = bits_below(num_rows);
    const Reversed<Neighbors> arcs{offset, neighbors, csr.size, num_rows, csr.num_vertices, bits};
    // The reversed arcs are sorted by target already: only the digits of their sources are left.
    return build(arcs, csr, split_into_digits(bits, bits + bits_below(csr.num_vertices)));
}

template <class Neighbor>
bool transpose(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> new_offset, Out<Neighbor> new_neighbors,
               Out<int64_t> perm, bool wide) {
    const Csr csr = outputs(new_offset, new_neighbors, perm);
    const auto num_rows = static_cast<int64_t>(offset.shape(0)) - 1;  // may differ from the vertices of the transpose
    if (wide || csr.wide) return transpose_into(csr, offset.data(), any_width(neighbors.data()), num_rows);
    return transpose_into(csr, offset.data(), neighbors.data(), num_rows);
}

template <class Row>
void expand_rows(In<int64_t> offset, Out<Row> rows) {
    const auto num_rows = static_cast<int64_t>(offset.shape(0)) - 1, size = static_cast<int64_t>(rows.shape(0));
    const int64_t* offsets = offset.data();
    Row* out = rows.data();
    advise_huge_pages(out, size * sizeof(Row));
    const int parts = part_count(size);
    for_each_part(parts, [=](int part) {
        each_row(offsets, num_rows, part_of(size, part, parts), [=](int64_t row, Range arcs) {
            std::fill(out + arcs.begin, out + arcs.end, static_cast<Row>(row));
        });
    });
}

template <class Neighbor>
Arcs<Neighbor> arcs_of(const In<int64_t>& offset, const In<Neighbor>& neighbors) {
    return {offset.data(), neighbors.data(), static_cast<int64_t>(offset.shape(0)) - 1,
            static_cast<int64_t>(neighbors.shape(0))};
}

template <class Selection, class Neighbor>
int64_t count_arcs(In<int64_t> offset, In<Neighbor> neighbors) {
    const auto arcs = arcs_of(offset, neighbors);
    const std::vector<int64_t> counts = count_selected<Selection>(arcs, part_count(arcs.size));
    return std::reduce(counts.begin(), counts.end());
}

// The size of `positions` is the result of count_arcs.
template <class Selection, class Neighbor>
void list_arcs(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> positions, Out<int64_t> new_offset) {
    advise_huge_pages(positions.data(), positions.shape(0) * sizeof(int64_t));
    list_selected<Selection>(arcs_of(offset, neighbors), positions.data(), new_offset.data());
}

template <class Selection, class Neighbor>
void bind_selection(Module& module, const char* count_name, const char* list_name) {
    module.def(count_name, &count_arcs<Selection, Neighbor>, "offset, neighbors");
    module.def(list_name, &list_arcs<Selection, Neighbor>, "offset, neighbors, positions, new_offset");
}

template <class Neighbor>
void bind_selections(Module& module) {
    bind_selection<Distinct, Neighbor>(module, "count_distinct", "list_distinct");
    bind_selection<Repeated, Neighbor>(module, "count_repeated", "list_repeated");
    bind_selection<NoLoop, Neighbor>(module, "count_no_loop", "list_no_loop");
}

// Every id is in [low, low + table size): the caller computes both from the ids.
template <class Id, class Entry>
void mark_ids(In<Id> ids, int64_t low, Out<Entry> table) {
    mark(ids.data(), static_cast<int64_t>(ids.shape(0)), low, table.data());
}

template <class Id, class Entry>
void look_up_ids(In<Id> ids, int64_t low, In<Entry> table, Out<Entry> out) {
    look_up(ids.data(), static_cast<int64_t>(ids.shape(0)), low, table.data(), out.data());
}

template <class Id, class Entry>
void bind_relabel(Module& module) {
    module.def("mark_ids", &mark_ids<Id, Entry>, "ids, low, table");
    module.def("look_up_ids", &look_up_ids<Id, Entry>, "ids, low, table, out");
}

template <class Id>
void insert_ids(IdTable& table, In<Id> ids) {
    table.insert(ids.data(), static_cast<int64_t>(ids.shape(0)));
}

// ids : [size of the table]. rank : [its capacity], zeros.
template <class Rank>
void list_ids(const IdTable& table, Out<int64_t> ids, Out<Rank> rank) {
    table.list(ids.data(), rank.data());
}

template <class Id, class Rank>
void rank_ids(const IdTable& table, In<Id> ids, In<Rank> rank, Out<Rank> out) {
    table.look_up(ids.data(), static_cast<int64_t>(ids.shape(0)), rank.data(), out.data());
}

void bind_id_table(Module& module) {
    const nb::call_guard<nb::gil_scoped_release> released;
    nb::class_<IdTable> table = bind_class<IdTable>(module, "IdTable");
    table.def(nb::init<int64_t, int64_t>(), nb::arg("least"), nb::arg("ends"));
    table.def_prop_ro("size", &IdTable::size).def_prop_ro("capacity", &IdTable::capacity);
    const auto define_insert = [&](auto function) { table.def("insert", function, nb::arg("ids"), released); };
    define_insert(&insert_ids<int32_t>);
    define_insert(&insert_ids<int64_t>);
    const auto define_list = [&](auto function) {
        table.def("list", function, nb::arg("ids"), nb::arg("rank"), released);
    };
    define_list(&list_ids<int32_t>);
    define_list(&list_ids<int64_t>);
    const auto define_look_up = [&](auto function) {
        table.def("look_up", function, nb::arg("ids"), nb::arg("rank"), nb::arg("out"),
                  released);
    };
    define_look_up(&rank_ids<int32_t, int32_t>);
    define_look_up(&rank_ids<int64_t, int32_t>);
    define_look_up(&rank_ids<int32_t, int64_t>);
    define_look_up(&rank_ids<int64_t, int64_t>);
}

}  // namespace

void bind_csr(Module& module) {
    const auto define_sort = [&](const char* name, auto function) {
        module.def(name, function, "src, dst, offset, neighbors, perm?, wide");
    };
    define_sort("sort_edges", &sort_edges<false, int32_t, int32_t>);
    define_sort("sort_edges", &sort_edges<false, int64_t, int32_t>);
    define_sort("sort_edges", &sort_edges<false, int32_t, int64_t>);
    define_sort("sort_edges", &sort_edges<false, int64_t, int64_t>);
    define_sort("sort_edges_both_ways", &sort_edges<true, int32_t, int32_t>);
    define_sort("sort_edges_both_ways", &sort_edges<true, int64_t, int32_t>);
    define_sort("sort_edges_both_ways", &sort_edges<true, int32_t, int64_t>);
    define_sort("sort_edges_both_ways", &sort_edges<true, int64_t, int64_t>);
    const auto define_transpose = [&](auto function) {
        module.def("transpose", function, "offset, neighbors, new_offset, new_neighbors, perm?, wide");
    };
    define_transpose(&transpose<int32_t>);
    define_transpose(&transpose<int64_t>);
    const auto define_expand = [&](auto function) {
        module.def("expand_rows", function, "offset, rows");
    };
    define_expand(&expand_rows<int32_t>);
    define_expand(&expand_rows<int64_t>);
    bind_selections<int32_t>(module);
    bind_selections<int64_t>(module);
    bind_relabel<int32_t, int32_t>(module);
    bind_relabel<int64_t, int32_t>(module);
    bind_relabel<int32_t, int64_t>(module);
    bind_relabel<int64_t, int64_t>(module);
    bind_id_table(module);
}

}  // namespace tgraph
