// The minimum cut of an undirected graph, by contraction (Nagamochi, Ono and Ibaraki, "Implementing an efficient
// minimum cut algorithm", 1994, on the scans of Stoer and Wagner, "A simple min-cut algorithm", J. ACM 1997).
//
// Vertices are scanned by how much joins them to those scanned before. An edge whose end is joined by as much as the
// best cut known, when it is seen, is in no better cut, and its ends become one vertex. Each scan finds at least one
// such edge, and most graphs are down to a vertex after a few.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

// An undirected graph without self-loops and parallel edges. Weight: int64_t, whose sums are exact, or double.
template <class Weight>
struct Contracted {
    std::vector<int64_t> offset, to;
    std::vector<Weight> weight;

    int64_t size() const { return std::ssize(offset) - 1; }

    Weight degree(int64_t v) const {
        Weight sum = 0;
        for (int64_t arc = offset[v]; arc < offset[v + 1]; ++arc) sum += weight[arc];
        return sum;
    }
};

// The graph whose vertices are the groups: `each_arc(v, visit)` calls visit(neighbor, weight) for the arcs of v.
template <class Weight, class EachArc>
Contracted<Weight> contract(int64_t n, const std::vector<int64_t>& group, int64_t groups, const EachArc& each_arc) {
    std::vector<int64_t> begin(groups + 1), member(n), place(groups, -1);
    for (int64_t v = 0; v < n; ++v) ++begin[group[v] + 1];
    for (int64_t g = 0; g < groups; ++g) begin[g + 1] += begin[g];
    std::vector<int64_t> next(begin.begin(), begin.end() - 1);
    for (int64_t v = 0; v < n; ++v) member[next[group[v]]++] = v;
    Contracted<Weight> found;
    found.offset.reserve(groups + 1);
    found.offset.push_back(0);
    for (int64_t g = 0; g < groups; ++g) {
        const auto first = std::ssize(found.to);
        for (int64_t i = begin[g]; i < begin[g + 1]; ++i)
            each_arc(member[i], [&](int64_t neighbor, Weight weight) {
                const int64_t other = group[neighbor];
                if (other == g || weight == 0) return;
                if (place[other] < first) {
                    place[other] = std::ssize(found.to);
                    found.to.push_back(other);
                    found.weight.push_back(0);
                }
                found.weight[place[other]] += weight;
            });
        found.offset.push_back(std::ssize(found.to));
    }
    return found;
}

template <class Weight>
class GlobalCut {
public:
    GlobalCut(Contracted<Weight> graph, std::vector<int64_t> label, uint8_t* side)
        : graph_(std::move(graph)), label_(std::move(label)), side_(side) {}

    Weight run() {
        while (take_smallest_degree(), graph_.size() > 1 && best_ > 0) {
            poll_interruption();
            scan();
            merge();
        }
        return best_;
    }

private:
    using Limits = std::numeric_limits<Weight>;
    static constexpr Weight kMost = Limits::has_infinity ? Limits::infinity() : Limits::max();

    Contracted<Weight> graph_;
    std::vector<int64_t> label_;  // of each vertex of the whole graph, the one that it is part of
    uint8_t* side_;
    Weight best_ = kMost;
    std::vector<int64_t> root_;

    template <class Inside>
    void keep(Weight value, const Inside& is_inside) {
        best_ = value;
        for (std::size_t v = 0; v < label_.size(); ++v) side_[v] = is_inside(label_[v]);
    }

    void take_smallest_degree() {
        if (graph_.size() < 2) return;
        int64_t least = 0;
        Weight degree = kMost;
        for (int64_t v = 0; v < graph_.size(); ++v)
            if (const Weight found = graph_.degree(v); found < degree) least = v, degree = found;
        if (degree < best_) keep(degree, [=](int64_t v) { return v == least; });
    }

    void scan() {
        const int64_t n = graph_.size();
        std::vector<Weight> joined(n);
        std::vector<int64_t> number(n, -1);
        std::priority_queue<std::pair<Weight, int64_t>> queue;
        root_.resize(n);
        for (int64_t v = 0; v < n; ++v) root_[v] = v;
        queue.emplace(0, 0);
        Weight cut = 0, smallest = best_;
        int64_t scanned = 0, prefix = 0, before = 0, last = 0;
        while (!queue.empty()) {
            const int64_t v = -queue.top().second;
            queue.pop();
            if (number[v] >= 0) continue;
            number[v] = scanned++;
            before = last, last = v;
            cut += graph_.degree(v) - 2 * joined[v];
            if (scanned < n && cut < smallest) smallest = cut, prefix = scanned;
            for (int64_t arc = graph_.offset[v]; arc < graph_.offset[v + 1]; ++arc) {
                const int64_t w = graph_.to[arc];
                if (number[w] >= 0) continue;
                const bool was_joined = joined[w] >= best_;
                joined[w] += graph_.weight[arc];
                if (joined[w] >= best_) unite(v, w);
                if (!was_joined) queue.emplace(std::min(joined[w], best_), -w);
            }
        }
        if (scanned < n) smallest = 0, prefix = scanned;  // the others are not joined to these
        if (prefix > 0)
            keep(std::max<Weight>(smallest, 0), [&](int64_t v) { return number[v] >= 0 && number[v] < prefix; });
        unite(before, last);  // sums that round may have found no edge
    }

    int64_t find(int64_t v) {
        while (root_[v] != v) v = root_[v] = root_[root_[v]];
        return v;
    }

    void unite(int64_t v, int64_t w) { root_[std::max(find(v), find(w))] = std::min(find(v), find(w)); }

    void merge() {
        const int64_t n = graph_.size();
        std::vector<int64_t> group(n);
        int64_t groups = 0;
        for (int64_t v = 0; v < n; ++v) group[v] = find(v) == v ? groups++ : group[find(v)];
        for (int64_t& label : label_) label = group[label];
        graph_ = contract<Weight>(n, group, groups, [&](int64_t v, const auto& visit) {
            for (int64_t arc = graph_.offset[v]; arc < graph_.offset[v + 1]; ++arc)
                visit(graph_.to[arc], graph_.weight[arc]);
        });
    }
};

template <class Neighbor, class Weight>
Weight global_cut(In<int64_t> offset, In<Neighbor> neighbors, In<Weight> weights, Out<uint8_t> side) {
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1;
    std::vector<int64_t> label(n);
    for (int64_t v = 0; v < n; ++v) label[v] = v;
    auto graph = contract<Weight>(n, label, n, [&](int64_t v, const auto& visit) {
        for (int64_t arc = offset.data()[v]; arc < offset.data()[v + 1]; ++arc)
            visit(neighbors.data()[arc], weights.data()[arc]);
    });
    return GlobalCut<Weight>(std::move(graph), std::move(label), side.data()).run();
}

template <class Neighbor, class Weight>
void bind(Module& module) {
    module.def("global_cut", &global_cut<Neighbor, Weight>, "offset, neighbors, weights, side");
}

}  // namespace

void bind_global_cut(Module& module) {
    bind<int32_t, int64_t>(module);
    bind<int64_t, int64_t>(module);
    bind<int32_t, double>(module);
    bind<int64_t, double>(module);
}

}  // namespace tgraph
