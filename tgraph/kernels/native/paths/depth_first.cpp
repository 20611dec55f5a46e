// Depth-first searches, strongly connected components (Tarjan 1972) and generations of a DAG (Kahn 1962), one vertex at
// a time: what they return depends on the order in which the rows list their neighbors.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

constexpr int64_t visits_between_polls = 1 << 16;

// A vertex on the stack, and its next arc.
struct Visit {
    int64_t vertex, arc;
};

// Searches from the sources in turn. `preorder` has the vertices as they are found, `postorder` those that were entered
// as they are left: vertices at the depth limit are found, but not entered. `parent` is -1 before, and that of a source
// stays so. Returns the numbers of both.
template <class Neighbor>
std::pair<int64_t, int64_t> depth_first(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> sources,
                                        int64_t max_depth, Out<int64_t> preorder, Out<int64_t> postorder,
                                        Out<int64_t> parent) {
    std::vector<bool> found(offset.shape(0) - 1);
    std::vector<Visit> stack;
    int64_t num_found = 0, num_left = 0;
    const auto find = [&](int64_t v) {
        found[v] = true;
        preorder.data()[num_found++] = v;
        if (num_found % visits_between_polls == 0) poll_interruption();
    };
    for (std::size_t i = 0; i < sources.shape(0); ++i) {
        const int64_t source = sources.data()[i];
        if (found[source]) continue;
        find(source);
        stack.push_back({source, offset.data()[source]});
        while (!stack.empty()) {
            const int64_t v = stack.back().vertex, end = offset.data()[v + 1];
            int64_t arc = stack.back().arc;
            int64_t entered = -1;
            while (arc < end && entered < 0) {
                const int64_t w = neighbors.data()[arc++];
                if (found[w]) continue;
                find(w);
                parent.data()[w] = v;
                if (static_cast<int64_t>(stack.size()) < max_depth) entered = w;
            }
            stack.back().arc = arc;
            if (entered >= 0) {
                stack.push_back({entered, offset.data()[entered]});
            } else {
                postorder.data()[num_left++] = v;
                stack.pop_back();
            }
        }
    }
    return {num_found, num_left};
}

// Numbers the components in the order in which a depth-first search from all vertices completes them, a component after
// those that it reaches. Returns how many there are.
template <class Neighbor>
int64_t strong_components(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> component) {
    const auto num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
    std::vector<int64_t> number(num_vertices), low(num_vertices), open;  // a number is 0 before it is given
    std::vector<Visit> stack;
    int64_t numbered = 0, completed = 0;
    std::fill_n(component.data(), num_vertices, -1);
    const auto enter = [&](int64_t v) {
        number[v] = low[v] = ++numbered;
        if (numbered % visits_between_polls == 0) poll_interruption();
        open.push_back(v);
        stack.push_back({v, offset.data()[v]});
    };
    for (int64_t source = 0; source < num_vertices; ++source) {
        if (number[source]) continue;
        enter(source);
        while (!stack.empty()) {
            Visit& visit = stack.back();
            const int64_t v = visit.vertex;
            if (visit.arc < offset.data()[v + 1]) {
                const int64_t w = neighbors.data()[visit.arc++];
                if (!number[w])
                    enter(w);
                else if (component.data()[w] < 0)
                    low[v] = std::min(low[v], number[w]);
                continue;
            }
            stack.pop_back();
            if (!stack.empty()) low[stack.back().vertex] = std::min(low[stack.back().vertex], low[v]);
            if (low[v] != number[v]) continue;
            for (int64_t w = -1; w != v; open.pop_back()) {
                w = open.back();
                component.data()[w] = completed;
            }
            ++completed;
        }
    }
    return completed;
}

// Lists the vertices of which all predecessors are listed, by a queue; `generation` is one more than the largest of the
// predecessors', and `missing` the in-degree before and 0 of those listed after. Returns how many are listed: fewer
// than all where there is a cycle.
template <class Neighbor>
int64_t generations(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> missing, Out<int64_t> order,
                    Out<int64_t> generation) {
    const auto num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
    int64_t listed = 0;
    for (int64_t v = 0; v < num_vertices; ++v) {
        if (missing.data()[v]) continue;
        generation.data()[v] = 0;
        order.data()[listed++] = v;
    }
    for (int64_t head = 0; head < listed; ++head) {
        if (head % visits_between_polls == 0) poll_interruption();
        const int64_t v = order.data()[head];
        for (int64_t i = offset.data()[v]; i < offset.data()[v + 1]; ++i) {
            const int64_t w = neighbors.data()[i];
            if (--missing.data()[w]) continue;
            generation.data()[w] = generation.data()[v] + 1;
            order.data()[listed++] = w;
        }
    }
    return listed;
}

template <class Neighbor>
void bind(Module& module) {
    module.def("depth_first", &depth_first<Neighbor>,
               "offset, neighbors, sources, max_depth, preorder, postorder, parent");
    module.def("strong_components", &strong_components<Neighbor>, "offset, neighbors, component");
    module.def("generations", &generations<Neighbor>, "offset, neighbors, missing, order, generation");
}

}  // namespace

void bind_depth_first(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
