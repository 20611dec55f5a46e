// One step of a power iteration, x' = alpha A s + beta b, over a linear DAG of compressed rows. As in power.cpp, the
// pass that sums the rows also computes the input and the norms for the next step.
#include <vector>

#include "linear/affine.hpp"
#include "dag/evaluation/dag_evaluate.hpp"

namespace tgraph {
namespace {

template <class Value>
struct AffineFinish {
    const Vectors<Value>& vectors;
    Value* sent;
    std::vector<Sums> sums;
    void operator()(int64_t chunk, int64_t first, int64_t count, const double* received) {
        finish_rows(vectors, first, count, received, sent, sums[chunk]);
    }
};

template <class Edge, bool is_signed, class Value, class Child>
Sums step(const DagRows& rows, const Child* children, const DagPlan& plan, const Value* input, const Value* weights,
          bool of_outputs, const Vectors<Value>& vectors, Value* sent) {
    const Scratch<Value> state = state_of<Value>(input, nullptr, rows, plan);
    AffineFinish<Value> finish{vectors, sent, {}};
    DagColumn<Plus, Edge, is_signed, Value, Child, AffineFinish<Value>> column(rows, children, plan, state.data(), 0,
                                                                              {weights, of_outputs}, finish);
    finish.sums.resize(column.num_finishes());
    column.run();
    Sums sums;
    for (const Sums& some : finish.sums) sums += some;
    return sums;
}

// out = (change, total, dangling), see Sums.
template <class Value>
void dag_affine_step(const DagPlan& plan, const DagRows& rows, bool is_signed, In<Value> weights, bool of_outputs,
                     In<Value> input, In<Value> before, In<Value> scale, In<Value> bias, In<Value> measure,
                     double alpha, double beta, double constant, bool needs_total, bool needs_dangling,
                     Out<Value> values, Out<Value> sent, Out<double> out) {
    for (const std::size_t size : {input.shape(0), before.shape(0), values.shape(0)})
        if (static_cast<int64_t>(size) != rows.num_vertices) throw std::invalid_argument("expected [n]");
    const Vectors<Value> vectors{before.data(), scale.data(), bias.data(), measure.data(), values.data(), alpha,
                                 beta,          constant,     1,           needs_total,    needs_dangling};
    const auto run = [&]<class Child>(const Child* children) {
        const auto as = [&]<class Edge, bool subtracts>() {
            return step<Edge, subtracts, Value, Child>(rows, children, plan, input.data(), weights.data(), of_outputs,
                                                       vectors, sent.data());
        };
        if (weights.is_valid()) return as.template operator()<Times, false>();
        return is_signed ? as.template operator()<Copy, true>() : as.template operator()<Copy, false>();
    };
    const Sums sums = rows.narrow_children ? run(rows.narrow_children) : run(rows.wide_children);
    out.data()[0] = sums.change;
    out.data()[1] = sums.total;
    out.data()[2] = sums.dangling;
}

template <class Value>
void define_step(Module& module) {
    module.def("dag_affine_step", &dag_affine_step<Value>,
               "plan, rows, is_signed, weights?, of_outputs, input, before, scale?, bias?, measure?, alpha, beta, "
               "constant, needs_total, needs_dangling, values, sent?, out");
}

}  // namespace

void bind_dag_affine(Module& module) {
    define_step<float>(module);
    define_step<double>(module);
}

}  // namespace tgraph
