// One step of a power iteration, x' = alpha A s + beta b, over a linear DAG of compressed rows. As in power.cpp, the
// pass that sums the rows also computes the input and the norms for the next step.
#include <vector>

#include "base/bindings.hpp"
#include "compressed/evaluation/dag_evaluate.hpp"
#include "linear/affine.hpp"

namespace tgraph {
namespace {

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
    const Scratch<Value> state = state_of<Value>(input.data(), nullptr, rows, plan);
    const auto column = column_of<Value>(rows, plan, {state.data(), Value{0}, {weights.data(), of_outputs}, is_signed},
                                  weights.is_valid() ? DagPair::weighted_sum : DagPair::sum);
    std::vector<Sums> parts(column->num_finishes());
    column->run([&](int64_t chunk, int64_t first, int64_t count, const double* received) {
        finish_rows(vectors, first, count, received, sent.data(), parts[chunk]);
    });
    Sums sums;
    for (const Sums& some : parts) sums += some;
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
