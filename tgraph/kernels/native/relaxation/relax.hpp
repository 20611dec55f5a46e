// The parameters of a relaxation, and the dispatch on semiring, weights and values to Rounds and Buckets.
#pragma once

#include <memory>

#include "relaxation/buckets.hpp"
#include "relaxation/fixpoint.hpp"

namespace tgraph {

// A number, to be converted to the dtype of the values.
struct Constant {
    double floating = 0;
    int64_t integer = 0;

    template <class V>
    V as() const {
        if constexpr (std::is_integral_v<V>)
            return static_cast<V>(integer);
        else
            return static_cast<V>(floating);
    }
};

struct Problem {
    RowPieces rows;
    int64_t num_vertices, width;
    const void* weights;  // null if all are `weight`
    Number weight_type;
    Constant weight, best_weight;
    bool is_min, bounded;  // bounded: sending the best value along the best weight bounds all messages of a round
    Edge edge;
    DirectionPolicy::Mode mode;
    Thresholds thresholds;
    const int64_t* ids;  // the first frontier, null for all vertices
    int64_t num_ids;
    double delta;  // bucket width, 0 for synchronous rounds
};

// Null if the values cannot represent the weights.
template <class V>
std::unique_ptr<Fixpoint> start(const Problem& problem, V* values) {
    const Pieces<V> rows{problem.rows, {problem.weights, problem.weight_type, problem.weight.as<V>()}};
    if (!rows.weights.fit()) return nullptr;
    const auto begin = [&](auto fixpoint) -> std::unique_ptr<Fixpoint> {
        fixpoint->start(problem.ids, problem.num_ids);
        return fixpoint;
    };
    if (problem.delta > 0 && problem.ids && !rows.are_two())
        return begin(std::make_unique<Buckets<V>>(*rows.begin(), values, problem.num_vertices, problem.delta));
    return begin(std::make_unique<Rounds<V>>(rows, values, problem.num_vertices, problem.width,
                                             AnySemiring<V>{problem.is_min, problem.edge},
                                             problem.best_weight.as<V>(), problem.bounded, problem.mode,
                                             problem.thresholds));
}

// One source file each, so that they compile in parallel.
extern template std::unique_ptr<Fixpoint> start(const Problem&, int32_t*);
extern template std::unique_ptr<Fixpoint> start(const Problem&, int64_t*);
extern template std::unique_ptr<Fixpoint> start(const Problem&, float*);
extern template std::unique_ptr<Fixpoint> start(const Problem&, double*);

}  // namespace tgraph
