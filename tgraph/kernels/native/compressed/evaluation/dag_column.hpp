// Evaluation of a linear DAG on one column. The values of all nodes are in one vector, so that a child of any kind is
// one load. The iteration over chunks of rows is compiled once for each type of totals; a semiring reduces up to
// `batch` rows per call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/memory.hpp"
#include "base/semiring.hpp"
#include "compressed/evaluation/dag_plan.hpp"
#include "linear/affine.hpp"

namespace tgraph {

// The weights of a DAG, in the dtype of the computation.
template <class A>
struct DagWeights {
    const A* values;
    bool of_outputs;  // on the arcs from outputs, else on the arcs to inputs
};

template <class A>
using DagTotal = std::conditional_t<std::is_floating_point_v<A>, double, int64_t>;

// Compiled for double and int64_t.
template <class Total>
class DagColumn {
public:
    // Consumes the totals of at most `batch` outputs; each chunk runs on one thread.
    using Finish = std::function<void(int64_t chunk, int64_t first, int64_t count, const Total* totals)>;

    DagColumn(const DagRows& rows, const DagPlan& plan) : rows_(rows), plan_(plan), pieces_(plan.most_pieces) {}
    virtual ~DagColumn() = default;

    void run(const Finish& finish);

    // The number of chunks passed to `finish`.
    int64_t num_finishes() const {
        if (rows_.in_order()) return static_cast<int64_t>(plan_.chunks.size());
        return (rows_.num_vertices + finished_together - 1) / finished_together;
    }

protected:
    // Reduces the rows at some positions of the order, at most `batch`, and keeps what other rows may need.
    virtual void reduce_rows(const DagPlan::Phase& phase, Range positions, Total* totals) const = 0;
    virtual Total reduce_piece(const DagPiece& piece) const = 0;
    // Reads totals that were kept.
    virtual void read_outputs(int64_t first, int64_t count, Total* totals) const = 0;

    const DagRows& rows_;
    const DagPlan& plan_;
    std::vector<Total> pieces_;  // of the current phase

private:
    static constexpr int64_t finished_together = 32 * batch;
};

// A column of a DAG, its data, and the pair of reduction and edge operation.
template <class A>
struct ColumnData {
    A* state;  // [n + R + n], with the inputs filled in
    A identity;
    DagWeights<A> weights;
    bool is_signed;  // some children are subtracted
};

// The vector of the values of all nodes, without outputs if no row needs them; inputs are filled in.
template <class A>
Scratch<A> state_of(const A* inputs, const A* right, const DagRows& rows, const DagPlan& plan) {
    const int64_t num_vertices = rows.num_vertices;
    Scratch<A> state(rows.num_rows + (plan.keeps_outputs(rows) ? num_vertices : 0));
    A* const nodes = state.data();
    for_each_entry(num_vertices, [=](int64_t v) { nodes[v] = right ? times(right[v], inputs[v]) : inputs[v]; });
    return state;
}

}  // namespace tgraph
