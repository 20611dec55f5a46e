// What the triangles of an undirected simple graph add up to: their number per edge, products of the values of their
// edges per vertex, and their number per combination of the codes of their edges.
#include <array>
#include <atomic>
#include <vector>

#include "base/bindings.hpp"
#include "cohesion/inward.hpp"

namespace tgraph {
namespace {

StoredRows rows_of(const In<int64_t>& offset, const In<Neighbor>& neighbors) {
    return {offset.data(), neighbors.data(), static_cast<int64_t>(offset.shape(0)) - 1};
}

inline void add_shared(int64_t& sum, int64_t amount) {
    std::atomic_ref<int64_t>(sum).fetch_add(amount, std::memory_order_relaxed);
}

// Counts per edge: those at the arcs of u are private to its thread until the end of its row.
struct EdgeCounter {
    const InwardRows& rows;
    int64_t* found;  // at the stored position of the inward arc of each edge
    std::vector<int64_t> at_row{};
    int64_t first = 0;

    void begin(int64_t u) {
        first = rows.begin(u);
        at_row.assign(rows.degree(u), 0);
    }
    void triangle(int64_t i, int64_t j, int64_t k) {
        ++at_row[i - first];
        ++at_row[k - first];
        add_shared(found[rows.position.data()[j]], 1);
    }
    void end(int64_t) {
        for (std::size_t i = 0; i < at_row.size(); ++i)
            if (at_row[i]) add_shared(found[rows.position.data()[first + i]], at_row[i]);
    }
    void finish() const {}
};

// found [m], zeros: at one of the two arcs of each edge its triangles.
void edge_triangles(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> found) {
    const auto stored = rows_of(offset, neighbors);
    const Ranking ranking(stored);
    const InwardRows rows(stored, ranking.order.data(), ranking.rank.data(), true);
    fill(found.data(), stored.num_arcs(), int64_t{0});
    list_triangles(rows, [&] { return EdgeCounter{rows, found.data()}; });
}

// Products per vertex. What u adds at another vertex v is kept with the arc v -> u, so that each vertex adds up its own
// row, in the same order on any number of threads.
struct ProductAdder {
    const InwardRows& rows;
    const double* value;
    const int64_t* mirror;
    double *at_arc, *at_vertex;  // at_vertex : by rank
    std::vector<double> at_row{};
    int64_t first = 0;
    double at_u = 0;

    double value_of(int64_t i) const { return value[rows.position.data()[i]]; }

    void begin(int64_t u) {
        first = rows.begin(u);
        at_row.assign(rows.degree(u), 0);
        at_u = 0;
    }
    void triangle(int64_t i, int64_t j, int64_t k) {
        const double product = value_of(i) * value_of(j) * value_of(k);
        at_u += product;
        at_row[i - first] += product;
        at_row[k - first] += product;
    }
    void end(int64_t u) {
        at_vertex[u] = at_u;
        for (std::size_t i = 0; i < at_row.size(); ++i)
            at_arc[mirror[rows.position.data()[first + i]]] = at_row[i];
    }
    void finish() const {}
};

void triangle_products(In<int64_t> offset, In<Neighbor> neighbors, In<double> value, In<int64_t> mirror,
                       Out<double> found) {
    const auto stored = rows_of(offset, neighbors);
    const Ranking ranking(stored);
    const InwardRows rows(stored, ranking.order.data(), ranking.rank.data(), true);
    const Scratch<double> at_arc(stored.num_arcs()), at_vertex(stored.num_vertices);
    fill(at_arc.data(), stored.num_arcs(), 0.0);
    fill(at_vertex.data(), stored.num_vertices, 0.0);
    list_triangles(rows, [&] {
        return ProductAdder{rows, value.data(), mirror.data(), at_arc.data(), at_vertex.data()};
    });
    for_each_entry(stored.num_vertices, [&](int64_t v) {
        double sum = at_vertex.data()[ranking.rank.data()[v]];
        for (int64_t i = stored.offset[v]; i < stored.offset[v + 1]; ++i) sum += at_arc.data()[i];
        found.data()[v] = sum;
    });
}

struct CodeCounter {
    const InwardRows& rows;
    const uint8_t* code;
    int64_t* shared;
    std::array<int64_t, 64> found{};

    int64_t code_of(int64_t i) const { return code[rows.position.data()[i]]; }

    void begin(int64_t) const {}
    void triangle(int64_t i, int64_t j, int64_t k) { ++found[code_of(i) | code_of(j) << 2 | code_of(k) << 4]; }
    void end(int64_t) const {}
    void finish() {
        for (int64_t c = 0; c < 64; ++c) add_shared(shared[c], found[c]);
    }
};

// found [64]: triangles u, v, w by the codes of u - v, of v - w times 4 and of u - w times 16; a code is below 4.
void triangle_codes(In<int64_t> offset, In<Neighbor> neighbors, In<uint8_t> code, Out<int64_t> found) {
    const auto stored = rows_of(offset, neighbors);
    const Ranking ranking(stored);
    const InwardRows rows(stored, ranking.order.data(), ranking.rank.data(), true);
    std::fill_n(found.data(), 64, int64_t{0});
    list_triangles(rows, [&] { return CodeCounter{rows, code.data(), found.data()}; });
}

}  // namespace

void bind_triangle_edges(Module& module) {
    module.def("edge_triangles", &edge_triangles, "offset, neighbors, found");
    module.def("triangle_products", &triangle_products, "offset, neighbors, value, mirror, found");
    module.def("triangle_codes", &triangle_codes, "offset, neighbors, code, found");
}

}  // namespace tgraph
