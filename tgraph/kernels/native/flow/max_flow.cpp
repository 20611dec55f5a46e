// Maximum flow by Dinic's algorithm (Dinic, "Algorithm for solution of a problem of maximum flow in a network with
// power estimation", 1970): blocking flows along the arcs that lead one step nearer to the target in the residual
// network.
//
// A phase begins with a breadth-first search from both ends, level by level from the one with fewer arcs, until they
// meet. The residual network is not built: an arc has cap - flow left, and its reverse, found in the rows of the
// transpose, has the flow. Memory that a flow does not come near is not touched. O(n^2 m), few phases in practice; one
// thread.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/bindings.hpp"
#include "base/zeroed.hpp"
#include "threads/team.hpp"

namespace tgraph {
namespace {

// Integer capacities are added in int64, floating ones in double.
template <class Capacity>
using Flow = std::conditional_t<std::is_floating_point_v<Capacity>, double, int64_t>;

template <class Neighbor, class Capacity>
struct Network {
    const int64_t* offset;
    const Neighbor* neighbors;
    const Capacity* capacity;  // every arc has 1 where it is null
    const int64_t* in_offset;
    const Neighbor* in_neighbors;
    const int64_t* in_arc;  // the stored arc of each arc of the transpose
    int64_t num_vertices;

    Flow<Capacity> cap(int64_t arc) const {
        return capacity ? static_cast<Flow<Capacity>>(capacity[arc]) : Flow<Capacity>{1};
    }
    int64_t out_degree(int64_t v) const { return offset[v + 1] - offset[v]; }
    int64_t degree(int64_t v) const { return out_degree(v) + in_offset[v + 1] - in_offset[v]; }
};

template <class Neighbor, class Capacity>
class Dinic {
public:
    using Value = Flow<Capacity>;

    // `flow` holds zeros.
    Dinic(const Network<Neighbor, Capacity>& network, Value* flow, int64_t source, int64_t target)
        : network_(network), flow_(flow), source_(static_cast<Neighbor>(source)),
          target_(static_cast<Neighbor>(target)), level_(network.num_vertices), next_(network.num_vertices) {}

    // Infinite where a path has infinite capacities only.
    Value run() {
        Value total{};
        while (!is_infinite(total) && find_levels()) total += block();
        return total;
    }

    // After run(): 1 for vertices from which the target is out of reach.
    void write_source_side(bool* side) {
        forget();
        see(target_, 1, ends_[1]);
        ends_[1].level.swap(ends_[1].next);
        while (!ends_[1].level.empty()) expand_target();
        for (int64_t v = 0; v < network_.num_vertices; ++v) side[v] = !level_[v];
    }

private:
    // A step along an arc, or back along one that has a flow.
    struct Step {
        Neighbor head;
        int64_t arc;
        bool is_back;
    };

    // What is reached from one end.
    struct End {
        std::vector<Neighbor> level, next;
        int64_t arcs = 0;  // of the level
    };

    const Network<Neighbor, Capacity> network_;
    Value* const flow_;
    const Neighbor source_, target_;
    // One more than the steps to the target, or, near the source, minus one more than those from there; 0 where neither
    // end comes, or given up.
    Zeroed<Neighbor> level_;
    Zeroed<int64_t> next_;  // the number of the step of a vertex that is tried next
    std::vector<Neighbor> seen_;
    std::vector<Step> path_;
    End ends_[2];
    Neighbor length_ = 0;  // of the shortest paths, in steps

    static bool is_infinite(Value value) {
        return std::numeric_limits<Value>::has_infinity && value == std::numeric_limits<Value>::infinity();
    }

    Value left(const Step& step) const {
        return step.is_back ? flow_[step.arc] : network_.cap(step.arc) - flow_[step.arc];
    }

    Step step(Neighbor v, int64_t number) const {
        const int64_t ahead = network_.out_degree(v), arc = network_.offset[v] + number;
        if (number < ahead) return {network_.neighbors[arc], arc, false};
        const int64_t back = network_.in_offset[v] + number - ahead;
        return {network_.in_neighbors[back], network_.in_arc[back], true};
    }

    // Steps to the target, if the vertex is on a shortest path; negative if it is on none.
    Neighbor steps_left(Neighbor v) const {
        const Neighbor level = level_[v];
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
            has_met = ends_[0].arcs < ends_[1].arcs ? expand_source() : expand_target();
        }
        return true;
    }

    void forget() {
        for (const Neighbor v : seen_) level_[v] = 0;
        seen_.clear();
        for (End& end : ends_) {
            end.level.clear();
            end.next.clear();
        }
    }

    void see(Neighbor v, Neighbor level, End& end) {
        level_[v] = level;
        next_[v] = 0;
        seen_.push_back(v);
        end.next.push_back(v);
        end.arcs += network_.degree(v);
    }

    // Both return whether the other end's vertices were met; the level is finished all the same.
    bool expand_source() {
        bool has_met = false;
        ends_[0].arcs = 0;
        for (const Neighbor v : ends_[0].level)
            for (int64_t i = 0, degree = network_.degree(v); i < degree; ++i) {
                const Step taken = step(v, i);
                if (level_[taken.head] < 0 || !(left(taken) > 0)) continue;
                if (level_[taken.head])
                    has_met = true;
                else
                    see(taken.head, level_[v] - 1, ends_[0]);
            }
        ends_[0].level.swap(ends_[0].next);
        ends_[0].next.clear();
        return has_met;
    }

    bool expand_target() {
        bool has_met = false;
        ends_[1].arcs = 0;
        const auto reach = [&](Neighbor u, Neighbor v) {
            if (level_[u])
                has_met = true;
            else
                see(u, level_[v] + 1, ends_[1]);
        };
        for (const Neighbor v : ends_[1].level) {
            for (int64_t b = network_.in_offset[v]; b < network_.in_offset[v + 1]; ++b) {
                const int64_t arc = network_.in_arc[b];
                const Neighbor u = network_.in_neighbors[b];
                if (level_[u] <= 0 && network_.cap(arc) - flow_[arc] > 0) reach(u, v);
            }
            for (int64_t arc = network_.offset[v]; arc < network_.offset[v + 1]; ++arc)
                if (level_[network_.neighbors[arc]] <= 0 && flow_[arc] > 0) reach(network_.neighbors[arc], v);
        }
        ends_[1].level.swap(ends_[1].next);
        ends_[1].next.clear();
        return has_met;
    }

    // Augments along shortest paths until there are none.
    Value block() {
        Value total{};
        path_.clear();
        for (Neighbor v = source_;;) {
            if (v == target_) {
                total += augment();
                if (is_infinite(total)) return total;
                v = retreat();
            } else if (advance(v)) {
                v = path_.back().head;
            } else {
                level_[v] = 0;
                if (path_.empty()) return total;
                path_.pop_back();
                v = path_.empty() ? source_ : path_.back().head;
                ++next_[v];
            }
        }
    }

    bool advance(Neighbor v) {
        const int64_t degree = network_.degree(v);
        for (int64_t& i = next_[v]; i < degree; ++i) {
            const Step taken = step(v, i);
            const bool is_nearer = level_[taken.head] && steps_left(taken.head) + 1 == steps_left(v);
            if (is_nearer && left(taken) > 0) {
                path_.push_back(taken);
                return true;
            }
        }
        return false;
    }

    Value augment() {
        Value least = left(path_.front());
        for (const Step& taken : path_) least = std::min(least, left(taken));
        if (is_infinite(least)) return least;
        for (const Step& taken : path_) {
            Value& flow = flow_[taken.arc];
            // What is used up is so exactly, however sums round.
            const bool is_last = least == left(taken);
            const Value used_up = taken.is_back ? Value{0} : network_.cap(taken.arc);
            flow = is_last ? used_up : taken.is_back ? flow - least : flow + least;
        }
        return least;
    }

    // Back to the tail of the first step that is used up.
    Neighbor retreat() {
        std::size_t kept = 0;
        while (left(path_[kept]) > 0) ++kept;
        path_.resize(kept);
        return path_.empty() ? source_ : path_.back().head;
    }
};

template <class Neighbor, class Capacity>
Flow<Capacity> max_flow(In<int64_t> offset, In<Neighbor> neighbors, In<Capacity> capacity, In<int64_t> in_offset,
                        In<Neighbor> in_neighbors, In<int64_t> in_arc, int64_t source, int64_t target,
                        Out<Flow<Capacity>> flow, Out<bool> source_side) {
    const auto num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
    const Network<Neighbor, Capacity> network{offset.data(),    neighbors.data(),    capacity.data(), in_offset.data(),
                                              in_neighbors.data(), in_arc.data(), num_vertices};
    const Zeroed<Flow<Capacity>> own(flow.is_valid() ? 0 : neighbors.shape(0));
    Dinic<Neighbor, Capacity> dinic(network, flow.is_valid() ? flow.data() : own.data(), source, target);
    const Flow<Capacity> value = dinic.run();
    if (source_side.is_valid()) dinic.write_source_side(source_side.data());
    return value;
}

template <class Neighbor, class Capacity>
void bind(nb::module_& module) {
    using nb::arg;
    module.def("max_flow", &max_flow<Neighbor, Capacity>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("capacity").noconvert().none(), arg("in_offset").noconvert(), arg("in_neighbors").noconvert(),
               arg("in_arc").noconvert(), arg("source"), arg("target"), arg("flow").noconvert().none(),
               arg("source_side").noconvert().none(), nb::call_guard<nb::gil_scoped_release>());
}

template <class Neighbor>
void bind_numbers(nb::module_& module) {
    bind<Neighbor, int32_t>(module);
    bind<Neighbor, int64_t>(module);
    bind<Neighbor, float>(module);
    bind<Neighbor, double>(module);
}

}  // namespace

void bind_max_flow(nb::module_& module) {
    bind_numbers<int32_t>(module);
    bind_numbers<int64_t>(module);
}

}  // namespace tgraph
