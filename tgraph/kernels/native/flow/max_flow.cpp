// Maximum flow by Dinic's algorithm (Dinic, "Algorithm for solution of a problem of maximum flow in a network with
// power estimation", 1970): blocking flows along the arcs that lead one step nearer to the target in the residual
// network.
//
// A phase begins with a breadth-first search from both ends, level by level from the one with fewer arcs, until they
// meet. Where paths are long, as on maps, one of their many arcs has a small capacity, and a phase brings little: from
// then on only arcs with much capacity left are taken, with half of it whenever the target is out of reach (capacity
// scaling; Gabow, "Scaling algorithms for network problems", 1985). The residual network is not built (residual.hpp).
// Memory that a flow does not come near is not touched. O(n^2 m), few phases in practice; one thread.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "flow/residual.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

template <class Network>
class Dinic {
public:
    using Value = typename Network::Number;
    using Step = typename Network::Step;

    Dinic(const Network& network, int64_t source, int64_t target)
        : network_(network), source_(source), target_(target),
          label_(network.num_vertices()) {}
    ~Dinic() { label_.clear(seen_); }

    // Infinite where a path has infinite capacities only.
    Value run() {
        Value total{};
        bool is_scaled = false;
        while (!is_infinite(total)) {
            if (find_levels()) {
                int64_t paths = 0;
                total += block(paths);
                if (!is_scaled && paths <= few_paths && length_ >= long_path) {
                    is_scaled = true;
                    least_ = widest_ = std::min(widest_step<true>(source_), widest_step<false>(target_));
                    if (is_infinite(widest_)) least_ = 0;
                }
            } else if (least_ > 0) {
                least_ /= 2;
                if (least_ < widest_ / scales || (std::is_integral_v<Value> && least_ == 1)) least_ = 0;
            } else {
                break;
            }
        }
        return total;
    }

    // After run(): 1 for vertices from which the target is out of reach.
    void write_source_side(bool* side) {
        forget();
        least_ = 0;
        see(target_, 1, ends_[1]);
        ends_[1].level.swap(ends_[1].next);
        while (!ends_[1].level.empty()) expand<false>(ends_[1]);
        for (int64_t v = 0; v < network_.num_vertices(); ++v) side[v] = !label_[v].level;
    }

private:
    static constexpr int64_t few_paths = 2, long_path = 64, scales = 256;

    // What is reached from one end.
    struct End {
        std::vector<int64_t> level, next;
        int64_t arcs = 0;  // of the level
    };

    // level : one more than the steps to the target, or, near the source, minus one more than those from there; 0 where
    // neither end comes, or given up. next : the number of the step of the vertex that is tried next.
    struct Label {
        int64_t level;
        int64_t next;
    };

    const Network network_;
    const int64_t source_, target_;
    KeptZeros<Label> label_;
    std::vector<int64_t> seen_;
    std::vector<Step> path_;
    End ends_[2];
    int64_t length_ = 0;  // of the shortest paths, in steps
    Value least_{};      // steps with less left are not taken
    Value widest_{};

    static bool is_infinite(Value value) {
        return std::numeric_limits<Value>::has_infinity && value == std::numeric_limits<Value>::infinity();
    }

    bool is_open(Value left) const { return left > 0 && left >= least_; }

    // What is left of a step, or of the one back.
    template <bool is_ahead>
    Value left(const Step& step) const {
        return is_ahead ? network_.left(step) : network_.left_back(step);
    }

    template <bool is_ahead>
    Value widest_step(int64_t v) const {
        Value widest{};
        for (int64_t i = 0, degree = network_.degree(v); i < degree; ++i)
            widest = std::max(widest, left<is_ahead>(network_.step(v, i)));
        return widest;
    }

    // Steps to the target, if the vertex is on a shortest path; negative if it is on none.
    int64_t steps_left(int64_t v) const {
        const int64_t level = label_[v].level;
        return level >= 0 ? level - 1 : length_ + level + 1;
    }

    // Returns whether the target can be reached from the source.
    bool find_levels() {
        poll_interruption();
        forget();
        see(source_, -1, ends_[0]);
        see(target_, 1, ends_[1]);
        for (End& end : ends_) end.level.swap(end.next);
        length_ = 0;
        for (bool has_met = false; !has_met; ++length_) {
            if (ends_[0].level.empty() || ends_[1].level.empty()) return false;
            has_met = ends_[0].arcs < ends_[1].arcs ? expand<true>(ends_[0]) : expand<false>(ends_[1]);
        }
        return true;
    }

    void forget() {
        for (const int64_t v : seen_) label_[v] = {};
        seen_.clear();
        for (End& end : ends_) {
            end.level.clear();
            end.next.clear();
            end.arcs = 0;
        }
    }

    void see(int64_t v, int64_t level, End& end) {
        seen_.push_back(v);
        label_[v].level = level;
        end.next.push_back(v);
        end.arcs += network_.degree(v);
    }

    // From the source ahead, from the target back. Returns whether the other end's vertices were met; the level is
    // finished all the same.
    template <bool is_ahead>
    bool expand(End& end) {
        bool has_met = false;
        end.arcs = 0;
        for (const int64_t v : end.level) {
            const int64_t level = label_[v].level + (is_ahead ? -1 : 1);
            for (int64_t i = 0, degree = network_.degree(v); i < degree; ++i) {
                const Step step = network_.step(v, i);
                const int64_t seen = label_[step.head].level;
                if ((is_ahead ? seen < 0 : seen > 0) || !is_open(left<is_ahead>(step))) continue;
                if (seen)
                    has_met = true;
                else
                    see(step.head, level, end);
            }
        }
        end.level.swap(end.next);
        end.next.clear();
        return has_met;
    }

    // Augments along shortest paths until there are none.
    Value block(int64_t& paths) {
        Value total{};
        path_.clear();
        for (int64_t v = source_;;) {
            if (v == target_) {
                ++paths;
                total += augment();
                if (is_infinite(total)) return total;
                v = retreat();
            } else if (advance(v)) {
                v = path_.back().head;
            } else {
                label_[v].level = 0;
                if (path_.empty()) return total;
                path_.pop_back();
                v = path_.empty() ? source_ : path_.back().head;
                ++label_[v].next;
            }
        }
    }

    bool advance(int64_t v) {
        const int64_t degree = network_.degree(v);
        for (int64_t& i = label_[v].next; i < degree; ++i) {
            const Step step = network_.step(v, i);
            const bool is_nearer = label_[step.head].level && steps_left(step.head) + 1 == steps_left(v);
            if (is_nearer && is_open(network_.left(step))) {
                path_.push_back(step);
                return true;
            }
        }
        return false;
    }

    Value augment() {
        Value least = network_.left(path_.front());
        for (const Step& step : path_) least = std::min(least, network_.left(step));
        if (!is_infinite(least))
            for (const Step& step : path_) network_.push(step, least);
        return least;
    }

    // Back to the tail of the first step that is closed.
    int64_t retreat() {
        std::size_t kept = 0;
        while (is_open(network_.left(path_[kept]))) ++kept;
        path_.resize(kept);
        return path_.empty() ? source_ : path_.back().head;
    }
};

template <class Network>
auto solve(const Network& network, int64_t source, int64_t target, Out<bool> source_side) {
    Dinic<Network> dinic(network, source, target);
    const auto value = dinic.run();
    if (source_side.is_valid()) dinic.write_source_side(source_side.data());
    return value;
}

// Without the arcs of the transpose the graph is undirected.
template <class Capacity>
Flow<Capacity> max_flow(In<int64_t> offset, In<void> neighbors, In<Capacity> capacity, In<int64_t> in_offset,
                        In<void> in_neighbors, In<int64_t> in_arc, int64_t source, int64_t target,
                        Out<Flow<Capacity>> flow, Out<bool> source_side) {
    using Value = Flow<Capacity>;
    const PathRows<Value> rows(offset, neighbors, capacity);
    const auto num_arcs = static_cast<int64_t>(neighbors.shape(0));
    const Zeroed<Value> own(flow.is_valid() ? 0 : num_arcs);
    Value* const carried = flow.is_valid() ? flow.data() : own.data();
    const auto run = [&]<class Neighbor>(const Neighbor* back) {
        if (!in_offset.is_valid()) return solve(Mirrored<Neighbor, Value>(rows, carried), source, target, source_side);
        const TwoSided<Neighbor, Value> network(rows, in_offset.data(), back, in_arc.data(), carried);
        return solve(network, source, target, source_side);
    };
    const Neighbors back(in_neighbors);
    const Value value = rows.neighbors.is_wide() ? run(back.as<int64_t>()) : run(back.as<int32_t>());
    if (in_offset.is_valid()) return value;
    if (flow.is_valid())
        for (int64_t arc = 0; arc < num_arcs; ++arc) carried[arc] = std::max(carried[arc], Value{0});
    return value;
}

template <class Capacity>
void bind(Module& module) {
    module.def("max_flow", &max_flow<Capacity>,
               "offset, neighbors, capacity?, in_offset?, in_neighbors?, in_arc?, source, target, flow?, source_side?");
}

}  // namespace

void bind_max_flow(Module& module) {
    for_each_weight([&]<class Capacity>() { bind<Capacity>(module); });
}

}  // namespace tgraph
