// The renumbering of inward.hpp.
#include "cohesion/inward.hpp"

namespace tgraph {
namespace {

template <class Visit>
void each_place(const StoredRows& rows, const Visit& visit) {
    constexpr int64_t some = 256;
    for_each_chunk((rows.num_vertices + some - 1) / some, part_count(rows.num_arcs()), [&](int64_t chunk) {
        for (int64_t p = chunk * some; p < std::min(rows.num_vertices, (chunk + 1) * some); ++p) visit(p);
    });
}

}  // namespace

InwardRows::InwardRows(const StoredRows& rows, const Neighbor* order, const Neighbor* rank, bool numbered)
    : num_vertices(rows.num_vertices), offset(rows.num_vertices + 1) {
    offset.data()[0] = 0;
    each_place(rows, [&](int64_t place) {
        int64_t inward = 0;
        const int64_t v = order[place];
        for (int64_t i = rows.offset[v]; i < rows.offset[v + 1]; ++i) inward += rank[rows.neighbors[i]] < place;
        offset.data()[place + 1] = inward;
    });
    for (int64_t place = 0; place < num_vertices; ++place) offset.data()[place + 1] += offset.data()[place];
    heads = Scratch<Neighbor>(num_arcs());
    if (numbered) position = Scratch<int64_t>(num_arcs());
    each_place(rows, [&](int64_t place) {
        int64_t next = offset.data()[place];
        const int64_t v = order[place];
        for (int64_t i = rows.offset[v]; i < rows.offset[v + 1]; ++i) {
            const Neighbor head = rank[rows.neighbors[i]];
            if (head >= place) continue;
            if (numbered) position.data()[next] = i;
            heads.data()[next++] = head;
        }
    });
}

}  // namespace tgraph
