// Bindings of the accumulation by levels (level_accumulate.hpp), and a parallel counting sort of vertices by level.
#include "centrality/level_accumulate.hpp"

#include "base/bindings.hpp"
#include "base/memory.hpp"

namespace tgraph {
namespace {

// Stable counting sort of the positions by depth, for depths 0 .. num_levels - 1; level_offset : begin of each depth.
template <class Item>
void group_levels(In<int32_t> depth, Out<Item> order, Out<int64_t> level_offset) {
    const auto size = static_cast<int64_t>(depth.shape(0));
    const auto num_levels = static_cast<int64_t>(level_offset.shape(0)) - 1;
    const int32_t* depths = depth.data();
    Item* const out = order.data();
    int64_t* const begin = level_offset.data();
    // A part has a counter per level: fewer parts for many levels (paths).
    const int parts = static_cast<int>(std::clamp<int64_t>(size / (num_levels + 1), 1, part_count(size)));
    std::vector<int64_t> next(parts * num_levels);
    advise_huge_pages(out, size * sizeof(Item));
    for_each_part(parts, [&](int part) {
        const Range range = part_of(size, part, parts);
        int64_t* count = next.data() + part * num_levels;
        for (int64_t i = range.begin; i < range.end; ++i)
            if (depths[i] >= 0 && depths[i] < num_levels) ++count[depths[i]];
    });
    int64_t total = 0;
    for (int64_t level = 0; level < num_levels; ++level) {
        begin[level] = total;
        for (int part = 0; part < parts; ++part) {
            const int64_t count = next[part * num_levels + level];
            next[part * num_levels + level] = total;
            total += count;
        }
    }
    begin[num_levels] = total;
    for_each_part(parts, [&](int part) {
        const Range range = part_of(size, part, parts);
        int64_t* place = next.data() + part * num_levels;
        for (int64_t i = range.begin; i < range.end; ++i)
            if (depths[i] >= 0 && depths[i] < num_levels) out[place[depths[i]]++] = static_cast<Item>(i);
    });
}

// Validated by the caller: items are below shape(values), a multiple of the number of vertices, and levels are
// consecutive in the order. `sums` and `values` are filled with the zero of Kind.
template <class Kind, class Item>
void sweep(In<int64_t> pull_offset, In<Neighbor> pull_neighbors, In<int64_t> push_offset, In<Neighbor> push_neighbors,
           In<Item> order, In<int64_t> level_offset, bool descending, In<double> bias, Out<double> sums,
           Out<double> values) {
    const auto num_vertices = static_cast<int64_t>(pull_offset.shape(0)) - 1;
    const auto num_levels = static_cast<int64_t>(level_offset.shape(0)) - 1;
    if (num_levels <= 0 || num_vertices == 0) return;
    Sweep<Kind> first;
    first.pull = {pull_offset.data(), pull_neighbors.data()};
    first.push = {push_offset.data(), push_neighbors.data()};
    first.num_vertices = num_vertices;
    if constexpr (sizeof(Item) == 4)
        first.order = {order.data(), nullptr};
    else
        first.order = {nullptr, order.data()};
    first.bias = bias.data();
    first.sums = sums.data();
    first.values = values.data();
    const auto count = static_cast<int64_t>(values.shape(0)) / num_vertices;
    Searches<Kind>{first, count, level_offset.data(), num_levels, descending}.sweep();
}

// Whether the offsets ascend within the order, and its items, which are below `size`, within their levels.
template <class Item>
bool is_order(In<Item> order, In<int64_t> level_offset, int64_t size) {
    const auto count = static_cast<int64_t>(order.shape(0)), ends = static_cast<int64_t>(level_offset.shape(0));
    const Item* const items = order.data();
    const int64_t* const begin = level_offset.data();
    for (int64_t place = 0; place < count; ++place)
        if (items[place] < 0 || items[place] >= size) return false;
    if (ends == 0 || begin[0] < 0 || begin[ends - 1] > count) return false;
    for (int64_t level = 0; level + 1 < ends; ++level) {
        if (begin[level] > begin[level + 1]) return false;
        for (int64_t place = begin[level] + 1; place < begin[level + 1]; ++place)
            if (items[place] <= items[place - 1]) return false;
    }
    return true;
}

template <class Item>
void bind(Module& module) {
    module.def("group_levels", &group_levels<Item>, "depth, order, level_offset");
    module.def("is_order", &is_order<Item>, "order, level_offset, size");
    const auto define = [&](const char* name, auto function) {
        module.def(name, function,
                   "pull_offset, pull_neighbors, push_offset, push_neighbors, order, level_offset, descending, bias, "
                   "sums, values");
    };
    define("sweep", &sweep<Numbers, Item>);
    define("sweep_logarithms", &sweep<Logarithms, Item>);
}

}  // namespace

void bind_sweep(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
