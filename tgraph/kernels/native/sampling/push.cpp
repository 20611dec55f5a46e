// Personalised PageRank by pushing residuals (Andersen, Chung and Lang, "Local graph partitioning using PageRank
// vectors", FOCS 2006), in rounds: what is added, and in which order, is told in kernels/operators/sampling/push.py.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "sampling/numbering.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

template <class Neighbor>
class Push {
public:
    Push(const int64_t* offset, const Neighbor* neighbors, double alpha, double epsilon)
        : offset_(offset), neighbors_(neighbors), alpha_(alpha), epsilon_(epsilon) {}

    // Writes the vertices with the largest scores other than the seed itself, at most `count`; returns how many.
    int64_t run(int64_t seed, int64_t count, int64_t* vertices, double* scores) {
        numbering_.reserve_more(1);
        add(place_of(seed), 1);
        while (!active_.empty()) {
            poll_interruption();
            take();
            active_.clear();
            for (const Sent& sent : sent_) spread(sent);
        }
        return best(seed, count, vertices, scores);
    }

private:
    struct Held {
        double gained, residual;  // gained : of the score, divided by alpha
        int64_t degree;
        bool is_active;
    };
    struct Sent {
        int64_t vertex;
        double share;  // for each arc
    };

    const int64_t* offset_;
    const Neighbor* neighbors_;
    double alpha_, epsilon_;
    Numbering numbering_{false};
    std::vector<Held> held_;
    std::vector<int64_t> active_, order_;
    std::vector<Sent> sent_;

    int64_t place_of(int64_t vertex) {
        const int64_t place = numbering_.place_of(vertex, 0);
        if (place == static_cast<int64_t>(held_.size()))
            held_.push_back({0, 0, offset_[vertex + 1] - offset_[vertex], false});
        return place;
    }

    // Takes the residuals of the active vertices, in ascending order.
    void take() {
        const auto before = [&](int64_t a, int64_t b) { return numbering_.vertex(a) < numbering_.vertex(b); };
        std::sort(active_.begin(), active_.end(), before);
        sent_.clear();
        for (const int64_t place : active_) {
            Held& held = held_[place];
            if (held.degree) {
                held.gained += held.residual;
                const double share = (1 - alpha_) * held.residual / static_cast<double>(held.degree);
                sent_.push_back({numbering_.vertex(place), share});
                fetch(offset_ + numbering_.vertex(place));
            } else {
                held.gained += held.residual / alpha_;  // a walk stays where no arc leads on
            }
            held.residual = 0;
            held.is_active = false;
        }
    }

    void spread(const Sent& sent) {
        constexpr int64_t ahead = 8;
        const int64_t begin = offset_[sent.vertex], end = offset_[sent.vertex + 1];
        numbering_.reserve_more(end - begin);
        for (int64_t arc = begin; arc < end; ++arc) {
            if (arc + ahead < end) {
                numbering_.fetch_slot(neighbors_[arc + ahead], 0);
                fetch(offset_ + neighbors_[arc + ahead]);
            }
            add(place_of(neighbors_[arc]), sent.share);
        }
    }

    void add(int64_t place, double share) {
        Held& held = held_[place];
        held.residual += share;
        if (held.is_active || held.residual < epsilon_ * static_cast<double>(std::max<int64_t>(held.degree, 1))) return;
        held.is_active = true;
        active_.push_back(place);
    }

    int64_t best(int64_t seed, int64_t count, int64_t* vertices, double* scores) {
        order_.clear();
        for (int64_t place = 0; place < static_cast<int64_t>(held_.size()); ++place)
            if (held_[place].gained > 0 && numbering_.vertex(place) != seed) order_.push_back(place);
        const auto end = order_.begin() + std::min<int64_t>(count, static_cast<int64_t>(order_.size()));
        std::partial_sort(order_.begin(), end, order_.end(), [&](int64_t a, int64_t b) {
            if (held_[a].gained != held_[b].gained) return held_[a].gained > held_[b].gained;
            return numbering_.vertex(a) < numbering_.vertex(b);
        });
        for (auto place = order_.begin(); place != end; ++place) {
            *vertices++ = numbering_.vertex(*place);
            *scores++ = alpha_ * held_[*place].gained;
        }
        return end - order_.begin();
    }
};

template <class Neighbor>
void push_residuals(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> seeds, double alpha, double epsilon,
                    int64_t count, Out<int64_t> vertices, Out<double> scores, Out<int64_t> found) {
    const auto size = static_cast<int64_t>(seeds.shape(0));
    const auto work = static_cast<int64_t>(static_cast<double>(size) / std::max(alpha * epsilon, 1e-6));
    for_each_chunk(size, part_count(work), [&](int64_t i) {
        Push<Neighbor> push(offset.data(), neighbors.data(), alpha, epsilon);
        found.data()[i] =
            push.run(seeds.data()[i], count, vertices.data() + i * count, scores.data() + i * count);
    });
}

template <class Neighbor>
void bind(Module& module) {
    module.def("push_residuals", &push_residuals<Neighbor>,
               "offset, neighbors, seeds, alpha, epsilon, count, vertices, scores, found");
}

}  // namespace

void bind_push_residuals(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
