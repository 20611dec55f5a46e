// Bindings of evaluation: from the names of reduction and edge operation to kernels of one column or of many.
#include "compressed/evaluation/dag_evaluate.hpp"

#include <stdexcept>
#include <string_view>

#include "base/bindings.hpp"

namespace tgraph {
namespace {

DagPair pair_named(std::string_view reduce, std::string_view edge) {
    if (reduce == "sum" && edge == "copy") return DagPair::sum;
    if (reduce == "sum" && edge == "mul") return DagPair::weighted_sum;
    if (reduce == "prod" && edge == "copy") return DagPair::product;
    if (reduce == "min" && edge == "copy") return DagPair::least;
    if (reduce == "max" && edge == "copy") return DagPair::largest;
    if (reduce == "min" && edge == "add") return DagPair::least_of_sums;
    if (reduce == "max" && edge == "add") return DagPair::largest_of_sums;
    throw std::invalid_argument("reduce, edge: no such pair");
}

// Writes left * total for each output.
template <class A>
void evaluate_column(const DagRows& rows, const DagPlan& plan, const DagData<A>& with, DagPair pair, bool is_signed) {
    const Scratch<A> state = state_of(with.inputs, with.right, rows, plan);
    const ColumnData<A> column{state.data(), with.identity, with.weights, is_signed};
    column_of(rows, plan, column, pair)->run([&](int64_t, int64_t first, int64_t count, const DagTotal<A>* totals) {
        for (int64_t i = 0; i < count; ++i) {
            const A total = static_cast<A>(totals[i]);
            with.outputs[first + i] = with.left ? times(with.left[first + i], total) : total;
        }
    });
}

template <class A>
void evaluate(const DagPlan& plan, const DagRows& rows, In<A> data, int64_t columns, std::string_view reduce,
              std::string_view edge, bool is_signed, A identity, In<A> weights, bool of_outputs, In<A> left,
              In<A> right, Out<A> out) {
    const auto numbers = static_cast<int64_t>(data.shape(0));
    if (columns < 1 || numbers != rows.num_vertices * columns || data.shape(0) != out.shape(0))
        throw std::invalid_argument("data, out: expected [n, columns]");
    const DagData<A> with{data.data(), out.data(),   columns, identity,
                          left.data(), right.data(), {weights.data(), of_outputs}};
    DagPair pair = pair_named(reduce, edge);
    if (columns == 1) return evaluate_column(rows, plan, with, pair, is_signed);
    if (pair == DagPair::sum && (is_signed || right.is_valid())) pair = DagPair::weighted_sum;
    DagColumns<A>(rows, plan, with, kernels_of<A>(pair)).run();
}

template <class A>
void define_evaluate(Module& module, const char* name) {
    module.def(name, &evaluate<A>,
               "plan, rows, data, columns, reduce, edge, is_signed, identity, weights?, of_outputs, left?, right?, "
               "out");
}

}  // namespace

void bind_dag_evaluate(Module& module) {
    define_evaluate<float>(module, "dag_float32");
    define_evaluate<double>(module, "dag_float64");
    define_evaluate<int32_t>(module, "dag_int32");
    define_evaluate<int64_t>(module, "dag_int64");
}

}  // namespace tgraph
