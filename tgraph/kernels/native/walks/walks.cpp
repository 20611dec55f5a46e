// Random walks, first and second order, by rejection sampling (Yang et al., "KnightKing: a fast distributed graph
// random walk engine", SOSP 2019): what a step is drawn by, and in which order, is told in
// kernels/operators/walks/walks.py.
//
// A thread takes some walks a step farther one after the other, so that the memory that one waits for is fetched while
// the others are looked at.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/random.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

constexpr int64_t together = 64;  // walks

template <class Neighbor>
struct Arcs {
    const int64_t* offset;
    const Neighbor* neighbors;
    const double* total;  // running sums of the weights, null for weight 1

    double mass(int64_t row) const {
        const int64_t first = offset[row], last = offset[row + 1];
        return total ? before(last) - before(first) : static_cast<double>(last - first);
    }

    // The neighbor of a row, not empty, at a share of its mass.
    Neighbor at(int64_t row, double share) const {
        const int64_t begin = offset[row], end = offset[row + 1];
        if (!total) return neighbors[begin + std::min(static_cast<int64_t>(share), end - begin - 1)];
        const double high = total[end - 1];
        double wanted = before(begin) + share;
        if (wanted >= high) wanted = std::nextafter(high, -std::numeric_limits<double>::infinity());
        return neighbors[std::upper_bound(total + begin, total + end, wanted) - total];
    }

    bool has(int64_t row, Neighbor v) const {
        return std::binary_search(neighbors + offset[row], neighbors + offset[row + 1], v);
    }

    // The mass of the arcs from a row to v.
    double mass_to(int64_t row, Neighbor v) const {
        const auto [first, last] = std::equal_range(neighbors + offset[row], neighbors + offset[row + 1], v);
        if (!total) return static_cast<double>(last - first);
        return before(last - neighbors) - before(first - neighbors);
    }

private:
    double before(int64_t arc) const { return arc == 0 ? 0 : total[arc - 1]; }
};

struct Rule {
    double back, away, restart;  // 1 / p, 1 / q, and the probability to go back to the start

    bool is_second_order() const { return back != 1 || away != 1; }
};

template <class Neighbor>
class Walks {
public:
    Walks(Arcs<Neighbor> arcs, Rule rule, const int64_t* start, int64_t length, int64_t key, int64_t* out)
        : arcs_(arcs), rule_(rule), start_(start), length_(length), key_(key), out_(out) {}

    void run(int64_t first, int64_t last) const {
        int64_t own[together];
        for (int64_t i = first; i < last; ++i) {
            own[i - first] = static_cast<int64_t>(random_word(key_, i));
            row(i)[0] = start_[i];
            fetch(arcs_.offset + start_[i]);
        }
        const bool plain = !arcs_.total && rule_.restart == 0 && !rule_.is_second_order();
        for (int64_t step = 0; step < length_; ++step)
            if (plain) {
                step_plainly(first, last, own, step);
            } else {
                for (int64_t i = first; i < last; ++i) {
                    row(i)[step + 1] = next(i, own[i - first], step);
                    fetch(arcs_.offset + row(i)[step + 1]);
                }
            }
    }

private:
    Arcs<Neighbor> arcs_;
    Rule rule_;
    const int64_t* start_;
    int64_t length_, key_;
    int64_t* out_;

    int64_t* row(int64_t walk) const { return out_ + walk * (length_ + 1); }

    static double draw(int64_t own, int64_t step, int64_t number) {
        return random_uniform(own, (static_cast<uint64_t>(step) << 32) + static_cast<uint64_t>(number));
    }

    // Any neighbor alike: first where the next one is stored, which is fetched, then which it is.
    void step_plainly(int64_t first, int64_t last, const int64_t* own, int64_t step) const {
        const Neighbor* from[together];
        for (int64_t i = first; i < last; ++i) {
            const int64_t v = row(i)[step], begin = arcs_.offset[v], degree = arcs_.offset[v + 1] - begin;
            const double share = draw(own[i - first], step, 1) * static_cast<double>(degree);
            from[i - first] =
                degree ? arcs_.neighbors + begin + std::min(static_cast<int64_t>(share), degree - 1) : nullptr;
            if (degree) fetch(from[i - first]);
        }
        for (int64_t i = first; i < last; ++i) {
            const Neighbor* const at = from[i - first];
            const int64_t v = at ? *at : row(i)[step];
            row(i)[step + 1] = v;
            fetch(arcs_.offset + v);
        }
    }

    int64_t next(int64_t walk, int64_t own, int64_t step) const {
        const int64_t* held = row(walk);
        const int64_t v = held[step];
        if (rule_.restart > 0 && draw(own, step, 0) < rule_.restart) return start_[walk];
        const double mass = arcs_.mass(v);
        if (!(mass > 0)) return v;
        // After a restart the vertex before is none that the walk came from: a first-order step.
        const bool came = step > 0 && rule_.is_second_order() &&
                          !(rule_.restart > 0 && draw(own, step - 1, 0) < rule_.restart);
        if (!came) return arcs_.at(v, draw(own, step, 1) * mass);
        const auto t = static_cast<Neighbor>(held[step - 1]);
        const double most = std::max(1.0, rule_.away);
        // A return that is likelier than `most` is drawn apart.
        const double extra = rule_.back > most ? (rule_.back / most - 1) * arcs_.mass_to(v, t) : 0;
        for (int64_t trial = 0;; ++trial) {
            const double share = draw(own, step, 1 + 2 * trial) * (mass + extra);
            if (share >= mass) return t;
            const Neighbor x = arcs_.at(v, share);
            const double wanted = draw(own, step, 2 + 2 * trial) * most;
            if (x == t ? wanted < std::min(rule_.back, most)
                       : wanted < std::min(1.0, rule_.away) || wanted < (arcs_.has(t, x) ? 1.0 : rule_.away))
                return x;
            if (trial % 1024 == 1023) poll_interruption();
        }
    }
};

template <class Neighbor>
void random_walks(In<int64_t> offset, In<Neighbor> neighbors, In<double> total, In<int64_t> start, int64_t length,
                  int64_t key, double back, double away, double restart, Out<int64_t> out) {
    const Arcs<Neighbor> arcs{offset.data(), neighbors.data(), total.is_valid() ? total.data() : nullptr};
    const auto count = static_cast<int64_t>(start.shape(0));
    const Walks<Neighbor> walks(arcs, {back, away, restart}, start.data(), length, key, out.data());
    for_each_chunk((count + together - 1) / together, part_count(8 * count * length), [&](int64_t chunk) {
        walks.run(chunk * together, std::min(count, (chunk + 1) * together));
    });
}

template <class Neighbor>
void bind(Module& module) {
    module.def("random_walks", &random_walks<Neighbor>,
               "offset, neighbors, total?, start, length, key, back, away, restart, out");
}

}  // namespace

void bind_walks(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
