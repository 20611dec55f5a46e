// The parameters of a relaxation, and the dispatch on semiring, weights and values to Rounds and Buckets.
#pragma once

#include <memory>

#include "relaxation/buckets.hpp"
#include "relaxation/fixpoint.hpp"

namespace tgraph {

enum class Number { i32, i64, f32, f64 };

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
    const int64_t* offset;
    const int32_t* neighbors;
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

template <class V, class Weights>
std::unique_ptr<Fixpoint> start(const Problem& problem, ArcRows<Weights> rows, V* values) {
    const auto begin = [&](auto fixpoint) -> std::unique_ptr<Fixpoint> {
        fixpoint->start(problem.ids, problem.num_ids);
        return fixpoint;
    };
    if (problem.delta > 0 && problem.ids)
        return begin(std::make_unique<Buckets<V, Weights>>(rows, values, problem.num_vertices, problem.delta));
    const auto rounds = [&]<class Semiring, bool single>(Semiring semiring, std::bool_constant<single>) {
        return begin(std::make_unique<Rounds<V, Semiring, Weights, single>>(
            rows, values, problem.num_vertices, problem.width, semiring, problem.best_weight.as<V>(), problem.bounded,
            problem.mode, problem.thresholds));
    };
    const auto with = [&](auto semiring) {
        return problem.width == 1 ? rounds(semiring, std::true_type{}) : rounds(semiring, std::false_type{});
    };
    if (problem.is_min && problem.edge == Edge::add) return with(MinPlus<V>{});
    return with(AnySemiring<V>{problem.is_min, problem.edge});
}

template <class V, class W>
std::unique_ptr<Fixpoint> start_weighted(const Problem& problem, V* values) {
    const ArcWeights<V, W> weights{static_cast<const W*>(problem.weights)};
    return start(problem, ArcRows<ArcWeights<V, W>>{problem.offset, problem.neighbors, weights}, values);
}

// Null if the values cannot represent the weights.
template <class V>
std::unique_ptr<Fixpoint> start(const Problem& problem, V* values) {
    if (!problem.weights)
        return start(problem, ArcRows<OneWeight<V>>{problem.offset, problem.neighbors, {problem.weight.as<V>()}},
                     values);
    switch (problem.weight_type) {
        case Number::i32: return start_weighted<V, int32_t>(problem, values);
        case Number::i64: return start_weighted<V, int64_t>(problem, values);
        case Number::f32:
            if constexpr (std::is_floating_point_v<V>) return start_weighted<V, float>(problem, values);
            break;
        case Number::f64:
            if constexpr (std::is_same_v<V, double>) return start_weighted<V, double>(problem, values);
            break;
    }
    return nullptr;
}

// One source file each, so that they compile in parallel.
extern template std::unique_ptr<Fixpoint> start(const Problem&, int32_t*);
extern template std::unique_ptr<Fixpoint> start(const Problem&, int64_t*);
extern template std::unique_ptr<Fixpoint> start(const Problem&, float*);
extern template std::unique_ptr<Fixpoint> start(const Problem&, double*);

}  // namespace tgraph
