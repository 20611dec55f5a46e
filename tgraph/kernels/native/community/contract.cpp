// Groups of vertices: their numbers, the arcs inside, and the graph of groups: the vertices are groups of vertices, and
// an arc weighs what the arcs between two of them do.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/classes.hpp"
#include "base/memory.hpp"
#include "base/rows.hpp"
#include "base/scan.hpp"
#include "community/neighbor_weights.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// Numbers labels in 0 .. n - 1 by their first occurrence; `first` has the position of that. Returns how many there are.
template <class Id>
int64_t number_groups(In<Id> label, Out<Id> group, Out<Id> first) {
    const auto n = static_cast<int64_t>(label.shape(0));
    Scratch<Id> number(n);
    fill(number.data(), n, Id{-1});
    Id count = 0;
    for (int64_t v = 0; v < n; ++v) {
        Id& named = number.data()[label.data()[v]];
        if (named < 0) first.data()[count] = static_cast<Id>(v), named = count++;
        group.data()[v] = named;
    }
    return count;
}

// The weight of the arcs from each vertex to its own group; self-loops count `loops` times.
template <bool weighted, class Id>
void sum_inside(In<int64_t> offset, In<Id> neighbors, In<double> weights, In<Id> group, double loops,
                Out<double> inside) {
    const auto n = static_cast<int64_t>(group.shape(0));
    const RowChunks chunks{offset.data(), n, 1 << 15};
    for_each_chunk(chunks.size(), part_count(n ? offset.data()[n] : 0), [&](int64_t chunk) {
        const Range rows = chunks[chunk];
        for (int64_t v = rows.begin; v < rows.end; ++v) {
            const Id own = group.data()[v];
            int64_t others = 0, own_loops = 0;  // counted rather than branched upon: groups are hard to predict
            double sum = 0;
            for (int64_t arc = offset.data()[v]; arc < offset.data()[v + 1]; ++arc) {
                const Id u = neighbors.data()[arc];
                if constexpr (weighted) {
                    const double weight = weights.data()[arc];
                    sum += group.data()[u] == own ? (u == v ? loops * weight : weight) : 0.0;
                } else {
                    others += group.data()[u] == own;
                    own_loops += u == v;
                }
            }
            if constexpr (!weighted)
                sum = static_cast<double>(others - own_loops) + loops * static_cast<double>(own_loops);
            inside.data()[v] = sum;
        }
    });
}

// The arcs between different groups, computed when constructed, and then written to arrays of the right size.
template <class Id>
class Contraction {
public:
    Contraction(In<int64_t> offset, In<Id> neighbors, In<double> weights, In<Id> group, int64_t num_groups)
        : offset_(offset.data()), neighbors_(neighbors.data()), weights_(weights.data()), group_(group.data()),
          num_vertices_(static_cast<int64_t>(group.shape(0))), num_groups_(num_groups), member_(num_vertices_),
          member_offset_(num_groups + 1), arc_offset_(num_groups + 1), row_offset_(num_groups + 1) {
        list_members();
        sum_rows();
    }

    int64_t num_arcs() const { return row_offset_.data()[num_groups_]; }

    void write(Out<int64_t> offset, Out<Id> neighbors, Out<double> weights) const {
        copy(row_offset_.data(), num_groups_ + 1, offset.data());
        for_each_chunk(static_cast<int64_t>(found_.size()), part_count(num_arcs()), [&](int64_t chunk) {
            const Range rows = chunks()[chunk];
            int64_t arc = row_offset_.data()[rows.begin];
            for (const Arc& each : found_[chunk])
                neighbors.data()[arc] = each.community, weights.data()[arc++] = each.weight;
        });
    }

private:
    using Arc = typename NeighborWeights<Id>::Entry;

    const int64_t* offset_;
    const Id* neighbors_;
    const double* weights_;
    const Id* group_;
    int64_t num_vertices_, num_groups_;
    Scratch<Id> member_;
    Scratch<int64_t> member_offset_, arc_offset_, row_offset_;
    std::vector<std::vector<Arc>> found_;  // by chunk of groups

    RowChunks chunks() const { return {arc_offset_.data(), num_groups_, 1 << 15}; }

    void list_members() {
        int64_t* const starts = member_offset_.data();
        std::fill_n(starts, num_groups_ + 1, 0);
        std::fill_n(arc_offset_.data(), num_groups_ + 1, 0);
        for (int64_t v = 0; v < num_vertices_; ++v) {
            ++starts[group_[v] + 1];
            arc_offset_.data()[group_[v] + 1] += offset_[v + 1] - offset_[v];
        }
        std::partial_sum(starts, starts + num_groups_ + 1, starts);
        std::partial_sum(arc_offset_.data(), arc_offset_.data() + num_groups_ + 1, arc_offset_.data());
        std::vector<int64_t> next(starts, starts + num_groups_);
        for (int64_t v = 0; v < num_vertices_; ++v) member_.data()[next[group_[v]]++] = static_cast<Id>(v);
    }

    void sum_rows() {
        const int threads = part_count(offset_[num_vertices_]);
        int64_t* const row = row_offset_.data();
        std::vector<NeighborWeights<Id>> weights(threads, NeighborWeights<Id>(num_groups_));
        found_.resize(chunks().size());
        for_each_chunk(chunks().size(), threads, [&](int64_t chunk, int rank) {
            const Range groups = chunks()[chunk];
            for (int64_t g = groups.begin; g < groups.end; ++g) {
                sum_row(g, weights[rank]);
                row[g + 1] = weights[rank].size();
                for (int64_t i = 0; i < weights[rank].size(); ++i) found_[chunk].push_back(weights[rank][i]);
            }
        });
        row[0] = 0;
        scan(num_groups_, row + 1, int64_t{0}, [row](int64_t g) { return row[g + 1]; });
    }

    void sum_row(int64_t g, NeighborWeights<Id>& weights) const {
        weights.begin(arc_offset_.data()[g + 1] - arc_offset_.data()[g]);
        for (int64_t i = member_offset_.data()[g]; i < member_offset_.data()[g + 1]; ++i) {
            const int64_t v = member_.data()[i];
            for (int64_t arc = offset_[v]; arc < offset_[v + 1]; ++arc) {
                const Id group = group_[neighbors_[arc]];
                if (group != g) weights.add(group, weights_ ? weights_[arc] : 1.0);
            }
        }
    }
};

template <class Id>
void bind(Module& module, const char* name) {
    python_module(module).def("number_groups", &number_groups<Id>, nb::arg("label"), nb::arg("group"),
               nb::arg("first"), nb::call_guard<nb::gil_scoped_release>());
    const auto sum = [](In<int64_t> offset, In<Id> neighbors, In<double> weights, In<Id> group, double loops,
                        Out<double> inside) {
        const auto kernel = weights.is_valid() ? &sum_inside<true, Id> : &sum_inside<false, Id>;
        kernel(offset, neighbors, weights, group, loops, inside);
    };
    python_module(module).def("sum_inside", sum, nb::arg("offset"), nb::arg("neighbors"),
               nb::arg("weights").none(), nb::arg("group"), nb::arg("loops"), nb::arg("inside"),
               nb::call_guard<nb::gil_scoped_release>());
    bind_class<Contraction<Id>>(module, name)
        .def(nb::init<In<int64_t>, In<Id>, In<double>, In<Id>, int64_t>(), nb::arg("offset"),
             nb::arg("neighbors"), nb::arg("weights").none(), nb::arg("group"),
             nb::arg("num_groups"), nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("num_arcs", &Contraction<Id>::num_arcs)
        .def("write", &Contraction<Id>::write, nb::arg("offset"), nb::arg("neighbors"),
             nb::arg("weights"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_contract(Module& module) {
    bind<int32_t>(module, "Contraction32");
    bind<int64_t>(module, "Contraction64");
}

}  // namespace tgraph
