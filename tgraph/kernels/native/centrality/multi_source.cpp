// Bindings of the searches from many sources (multi_source.hpp): groups of sources, each searched by one thread.
#include "centrality/multi_source.hpp"

#include <memory>

#include "base/classes.hpp"

namespace tgraph {
namespace {

// The number of vertices at each distance from each source: what `count_levels` found.
struct LevelCounts {
    int64_t num_sources, group_size;
    std::vector<std::vector<int64_t>> groups;  // of each group, level after level

    int64_t sources_in(int64_t group) const { return std::min(group_size, num_sources - group * group_size); }

    int64_t num_levels() const {
        int64_t most = 0;
        for (std::size_t g = 0; g < groups.size(); ++g)
            most = std::max(most, static_cast<int64_t>(groups[g].size()) / sources_in(g));
        return most;
    }

    // out : [num_sources, num_levels], filled with 0.
    void copy_to(Out<int64_t> out) const {
        const int64_t levels = num_levels();
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const int64_t count = sources_in(g), first = g * group_size;
            for (std::size_t i = 0; i < groups[g].size(); ++i)
                out.data()[(first + i % count) * levels + i / count] = groups[g][i];
        }
    }
};

// Calls visit(search, group) for each group, with the searches of the thread.
template <int width, class Visit>
void each_group(int64_t groups, SearchArcs out, SearchArcs in, int64_t n, int threads,
                const Visit& visit) {
    std::vector<std::unique_ptr<GroupSearch<width>>> searches(threads);
    for_each_chunk(groups, threads, [&](int64_t group, int rank) {
        if (!searches[rank]) searches[rank] = std::make_unique<GroupSearch<width>>(out, in, n);
        visit(*searches[rank], group);
    });
}

template <int width>
void search_groups(LevelCounts& found, const int64_t* sources, SearchArcs out, SearchArcs in,
                   int64_t n, int threads) {
    each_group<width>(static_cast<int64_t>(found.groups.size()), out, in, n, threads, [&](auto& search, int64_t group) {
        found.groups[group] = search.run(sources + group * found.group_size, found.sources_in(group));
    });
}

// Counts are integers: they depend neither on the groups nor on the number of threads.
LevelCounts count_levels(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> in_offset, In<Neighbor> in_neighbors,
                         In<int64_t> sources) {
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1, count = static_cast<int64_t>(sources.shape(0));
    const int64_t work = (offset.data()[n] + n) * std::min<int64_t>(count, 64);
    const int threads = static_cast<int>(std::clamp<int64_t>(count, 1, part_count(work)));
    const int64_t share = (count + threads - 1) / threads;
    LevelCounts found{count, std::clamp<int64_t>(share, 1, 512), {}};
    found.groups.resize((count + found.group_size - 1) / found.group_size);
    const SearchArcs out{offset.data(), neighbors.data()}, in{in_offset.data(), in_neighbors.data()};
    if (found.group_size <= 64)
        search_groups<1>(found, sources.data(), out, in, n, threads);
    else if (found.group_size <= 128)
        search_groups<2>(found, sources.data(), out, in, n, threads);
    else if (found.group_size <= 256)
        search_groups<4>(found, sources.data(), out, in, n, threads);
    else
        search_groups<8>(found, sources.data(), out, in, n, threads);
    return found;
}

// distance : [k, n]; -1 where a vertex is out of reach.
void count_hops(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> in_offset, In<Neighbor> in_neighbors,
                In<int64_t> sources, Out<int32_t> distance) {
    constexpr int64_t most = 64;
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1, count = static_cast<int64_t>(sources.shape(0));
    const int threads = part_count((offset.data()[n] + n) * std::min(count, most));
    const int64_t share = std::clamp<int64_t>((count + threads - 1) / threads, 1, most);
    const SearchArcs out{offset.data(), neighbors.data()}, in{in_offset.data(), in_neighbors.data()};
    each_group<1>((count + share - 1) / share, out, in, n, threads, [&](auto& search, int64_t group) {
        const int64_t first = group * share, size = std::min(share, count - first);
        std::fill_n(distance.data() + first * n, size * n, -1);
        search.run(sources.data() + first, size, distance.data() + first * n);
    });
}

}  // namespace

void bind_multi_source(Module& module) {
    bind_class<LevelCounts>(module, "LevelCounts")
        .def_prop_ro("num_levels", &LevelCounts::num_levels)
        .def("copy_to", &LevelCounts::copy_to, nb::arg("out"));
    module.def("count_hops", &count_hops, "offset, neighbors, in_offset, in_neighbors, sources, distance");
    module.def("count_levels", &count_levels, "offset, neighbors, in_offset, in_neighbors, sources");
}

}  // namespace tgraph
