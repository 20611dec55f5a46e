// Residual networks that are not built: each arc has what its capacity leaves, and its reverse what it carries. A
// vertex has steps 0..degree-1, each to a `head`; `left` is what a step can still carry, `left_back` the step back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "paths/search.hpp"

namespace tgraph {

// Integer capacities are added in int64, floating ones in double.
template <class Capacity>
using Flow = Distance<Capacity>;

// Of any graph: the steps of a vertex are its arcs, and then, backwards, those that lead to it, from the rows of the
// transpose. `flow` holds zeros.
template <class Neighbor, class Value>
class TwoSided {
public:
    using Number = Value;

    struct Step {
        int64_t head, arc;
        bool is_back;
    };

    TwoSided(const PathRows<Value>& rows, const int64_t* in_offset, const Neighbor* in_neighbors,
             const int64_t* in_arc, Value* flow)
        : rows_(rows), neighbors_(rows.neighbors.template as<Neighbor>()),
          in_offset_(in_offset), in_neighbors_(in_neighbors), in_arc_(in_arc), flow_(flow) {}

    int64_t num_vertices() const { return rows_.num_vertices; }
    int64_t degree(int64_t v) const { return rows_.degree(v) + in_offset_[v + 1] - in_offset_[v]; }

    Step step(int64_t v, int64_t number) const {
        const int64_t ahead = rows_.degree(v), arc = rows_.offset[v] + number;
        if (number < ahead) return {neighbors_[arc], arc, false};
        const int64_t back = in_offset_[v] + number - ahead;
        return {in_neighbors_[back], in_arc_[back], true};
    }

    Value left(const Step& step) const { return step.is_back ? flow_[step.arc] : rest(step.arc); }
    Value left_back(const Step& step) const { return step.is_back ? rest(step.arc) : flow_[step.arc]; }

    // What is used up is so exactly, however sums round.
    void push(const Step& step, Value value) const {
        const bool is_last = value == left(step);
        if (step.is_back)
            flow_[step.arc] = is_last ? Value{0} : flow_[step.arc] - value;
        else
            flow_[step.arc] = is_last ? rows_.weight(step.arc) : flow_[step.arc] + value;
    }

private:
    const PathRows<Value> rows_;
    const Neighbor* const neighbors_;
    const int64_t* in_offset_;
    const Neighbor* in_neighbors_;
    const int64_t* in_arc_;  // the stored arc of each arc of the transpose
    Value* flow_;

    Value rest(int64_t arc) const { return rows_.weight(arc) - flow_[arc]; }
};

// Of an undirected graph: what an arc carries, its reverse carries negatively, so that the steps of a vertex are its
// arcs alone. The reverse is looked up where something is pushed, which few arcs see: rows ascend by neighbor. Parallel
// arcs pair up in the order of their capacity. `flow` holds zeros.
template <class Neighbor, class Value>
class Mirrored {
public:
    using Number = Value;

    struct Step {
        int64_t head, arc, tail;
    };

    Mirrored(const PathRows<Value>& rows, Value* flow)
        : rows_(rows), neighbors_(rows.neighbors.template as<Neighbor>()), flow_(flow) {}

    int64_t num_vertices() const { return rows_.num_vertices; }
    int64_t degree(int64_t v) const { return rows_.degree(v); }

    Step step(int64_t v, int64_t number) const {
        const int64_t arc = rows_.offset[v] + number;
        return {neighbors_[arc], arc, v};
    }

    Value left(const Step& step) const { return rows_.weight(step.arc) - flow_[step.arc]; }
    Value left_back(const Step& step) const { return rows_.weight(step.arc) + flow_[step.arc]; }

    void push(const Step& step, Value value) const {
        const bool is_last = value == left(step);
        flow_[step.arc] = is_last ? rows_.weight(step.arc) : flow_[step.arc] + value;
        flow_[reverse(step)] = -flow_[step.arc];
    }

private:
    const PathRows<Value> rows_;
    const Neighbor* const neighbors_;
    Value* flow_;

    // The positions of the arcs from one vertex to another.
    std::pair<int64_t, int64_t> arcs(int64_t from, int64_t to) const {
        const auto found = std::equal_range(neighbors_ + rows_.offset[from], neighbors_ + rows_.offset[from + 1], to);
        return {found.first - neighbors_, found.second - neighbors_};
    }

    int64_t reverse(const Step& step) const {
        const auto [begin, end] = arcs(step.head, step.tail);
        if (end - begin == 1) return begin;
        const auto [first, last] = arcs(step.tail, step.head);
        if (end - begin != last - first)
            throw std::invalid_argument("directed=False: an arc lacks its reverse, which graph.validate() names");
        const auto is_less = [&](int64_t a, int64_t b) {
            const auto left = rows_.weight(a), right = rows_.weight(b);
            return left < right || (left == right && a < b);
        };
        int64_t rank = 0;
        for (int64_t arc = first; arc < last; ++arc) rank += is_less(arc, step.arc);
        std::vector<int64_t> back(end - begin);
        std::iota(back.begin(), back.end(), begin);
        std::nth_element(back.begin(), back.begin() + rank, back.end(), is_less);
        return back[rank];
    }
};

}  // namespace tgraph
