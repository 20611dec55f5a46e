// The vertices that random walks visit most often (Ying et al., "Graph convolutional neural networks for web-scale
// recommender systems", KDD 2018): what is drawn is told in kernels/operators/sampling/visits.py.
//
// The walks of some starts go on step by step together, so that what one waits for is fetched while the others go on.
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/classes.hpp"
#include "base/memory.hpp"
#include "base/random.hpp"
#include "sampling/draws.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

struct Step {
    In<int64_t> offset;
    In<void> neighbors;
    In<void> weights;  // by which arcs are drawn, or None
    In<double> sums;

    bool wide() const { return neighbors.dtype() == dtype_of<int64_t>; }
    void fetch_neighbor(int64_t arc) const {
        fetch(static_cast<const char*>(neighbors.data()) + arc * (wide() ? 8 : 4));
    }
    int64_t neighbor(int64_t arc) const {
        return wide() ? static_cast<const int64_t*>(neighbors.data())[arc]
                      : static_cast<const int32_t*>(neighbors.data())[arc];
    }

    // The arc of begin..end - 1 that a draw takes, -1 where none can be taken.
    int64_t drawn(int64_t own, int64_t number, int64_t begin, int64_t end, Drawn& scratch) const {
        if (begin == end) return -1;
        if (!weights.data()) return begin + random_below(own, number, end - begin);
        const auto stream = static_cast<int64_t>(random_word(own, number));
        return weights.dtype() == dtype_of<float> ? by_weight<float>(stream, begin, end, scratch)
                                                     : by_weight<double>(stream, begin, end, scratch);
    }

private:
    template <class Weight>
    int64_t by_weight(int64_t stream, int64_t begin, int64_t end, Drawn& scratch) const {
        int64_t arc = -1;
        const WeightedRow<Weight> row(static_cast<const Weight*>(weights.data()), sums.data(), begin, end);
        row.draw(stream, 1, true, scratch, &arc);
        return arc;
    }
};

struct Rule {
    int64_t walks, traversals;
    double termination;  // the probability to end before a traversal other than the first
    int64_t key;
};

struct Visited {
    int64_t vertex, count, first;  // when it was visited first
};

class Walks {
public:
    Walks(const std::vector<Step>& steps, const Rule& rule) : steps_(steps), rule_(rule) {}

    // The walks of these starts, the first of which is at place `place` of the batch.
    void run(const int64_t* start, int64_t count, int64_t place) {
        const int64_t walks = count * rule_.walks, stride = static_cast<int64_t>(steps_.size()) + 1;
        at_.resize(walks);
        own_.resize(walks);
        arc_.resize(walks);
        visited_.assign(walks * rule_.traversals, none);
        for (int64_t i = 0; i < walks; ++i) {
            at_[i] = start[i / rule_.walks];
            own_[i] = static_cast<int64_t>(random_word(rule_.key, place * rule_.walks + i));
        }
        for (int64_t t = 0; t < rule_.traversals; ++t) {
            for (int64_t i = 0; t > 0 && i < walks; ++i)
                if (random_uniform(own_[i], t * stride) < rule_.termination) at_[i] = none;
            for (int64_t hop = 0; hop + 1 < stride; ++hop) walk(steps_[hop], t * stride + 1 + hop);
            for (int64_t i = 0; i < walks; ++i) visited_[i * rule_.traversals + t] = at_[i];
        }
    }

    // The vertices that the walks of a start visited most often, those visited first before others; at most `count`.
    const std::vector<Visited>& most(int64_t start, int64_t count) {
        const int64_t visits = rule_.walks * rule_.traversals;
        order_.clear();
        for (int64_t time = 0; time < visits; ++time)
            if (const int64_t vertex = visited_[start * visits + time]; vertex != none)
                order_.push_back({vertex, 1, time});
        std::sort(order_.begin(), order_.end(), [](const Visited& a, const Visited& b) {
            return std::tie(a.vertex, a.first) < std::tie(b.vertex, b.first);
        });
        std::size_t different = 0;
        for (const Visited& visit : order_) {
            if (different && order_[different - 1].vertex == visit.vertex) ++order_[different - 1].count;
            else order_[different++] = visit;
        }
        order_.resize(different);
        const auto end = order_.begin() + std::min<std::size_t>(different, count);
        std::partial_sort(order_.begin(), end, order_.end(), [](const Visited& a, const Visited& b) {
            return std::tie(b.count, a.first) < std::tie(a.count, b.first);
        });
        order_.erase(end, order_.end());
        return order_;
    }

private:
    static constexpr int64_t none = -1;

    const std::vector<Step>& steps_;
    Rule rule_;
    std::vector<int64_t> at_, own_, arc_, visited_;
    std::vector<Visited> order_;
    Drawn scratch_;

    // A walk where no arc leads on ends.
    void walk(const Step& step, int64_t number) {
        for (const int64_t v : at_)
            if (v != none) fetch(step.offset.data() + v);
        for (std::size_t i = 0; i < at_.size(); ++i) {
            if (at_[i] == none) continue;
            const int64_t begin = step.offset.data()[at_[i]], end = step.offset.data()[at_[i] + 1];
            arc_[i] = step.drawn(own_[i], number, begin, end, scratch_);
            if (arc_[i] < 0) at_[i] = none;
            else step.fetch_neighbor(arc_[i]);
        }
        for (std::size_t i = 0; i < at_.size(); ++i)
            if (at_[i] != none) at_[i] = step.neighbor(arc_[i]);
    }
};

template <class T>
In<T> or_none(nb::handle array) {
    return array.is_none() ? In<T>() : nb::cast<In<T>>(array);
}

// steps : (offset, neighbors, weights or None, sums or None) of each. Writes the vertices and their numbers of visits
// for each start, [k, count], and how many there are.
void most_visited(nb::list steps, In<int64_t> start, int64_t first, int64_t walks, int64_t traversals,
                  double termination, int64_t count, int64_t key, Out<int64_t> vertices, Out<float> visits,
                  Out<int64_t> found) {
    std::vector<Step> held;
    for (const nb::handle step : steps)
        held.push_back({nb::cast<In<int64_t>>(step[0]), nb::cast<In<void>>(step[1]), or_none<void>(step[2]),
                        or_none<double>(step[3])});
    const nb::gil_scoped_release released;
    constexpr int64_t together = 16;  // starts
    const auto starts = static_cast<int64_t>(start.shape(0));
    const int64_t work = 16 * starts * walks * traversals * static_cast<int64_t>(held.size());
    for_each_chunk((starts + together - 1) / together, part_count(work), [&](int64_t chunk) {
        const int64_t begin = chunk * together, end = std::min(starts, begin + together);
        Walks own(held, {walks, traversals, termination, key});
        own.run(start.data() + begin, end - begin, first + begin);
        for (int64_t i = begin; i < end; ++i) {
            int64_t at = i * count;
            for (const Visited& visited : own.most(i - begin, count)) {
                vertices.data()[at] = visited.vertex;
                visits.data()[at++] = static_cast<float>(visited.count);
            }
            found.data()[i] = at - i * count;
        }
    });
}

}  // namespace

void bind_most_visited(Module& module) {
    python_module(module).def("most_visited", &most_visited, nb::arg("steps"), nb::arg("start"), nb::arg("first"),
                              nb::arg("walks"),
               nb::arg("traversals"), nb::arg("termination"), nb::arg("count"), nb::arg("key"), nb::arg("vertices"),
               nb::arg("visits"), nb::arg("found"));
}

}  // namespace tgraph
