// Evaluation of a linear DAG of compressed rows: dispatch from the names of reduction and edge operation to kernels.
#pragma once

#include <stdexcept>
#include <string_view>

#include "base/bindings.hpp"
#include "dag/evaluation/dag_column.hpp"
#include "dag/evaluation/dag_columns.hpp"
#include "dag/evaluation/dag_plan.hpp"

namespace tgraph {

// Writes left * total for each output.
template <class Total, class T>
struct Output {
    T* out;
    const T* left;
    void operator()(int64_t, int64_t first, int64_t count, const Total* totals) const {
        for (int64_t i = 0; i < count; ++i) {
            const T total = static_cast<T>(totals[i]);
            out[first + i] = left ? times(left[first + i], total) : total;
        }
    }
};

// The vector of the values of all nodes, without outputs if no row needs them; inputs are filled in.
template <class T>
Scratch<T> state_of(const T* inputs, const T* right, const DagRows& rows, const DagPlan& plan) {
    const int64_t num_vertices = rows.num_vertices;
    Scratch<T> state(rows.num_rows + (plan.keeps_outputs(rows) ? num_vertices : 0));
    T* const nodes = state.data();
    for_each_entry(num_vertices, [=](int64_t v) { nodes[v] = right ? times(right[v], inputs[v]) : inputs[v]; });
    return state;
}

template <class Reduce, class Edge, bool is_signed, class T, class A>
void evaluate_as(const DagRows& rows, const DagPlan& plan, const DagData<T, A>& with) {
    if constexpr (std::is_same_v<T, A>)
        if (with.columns == 1) {
            const Scratch<A> state = state_of(with.inputs, with.right, rows, plan);
            Output<DagTotal<Reduce, A>, A> output{with.outputs, with.left};
            const auto run = [&]<class Child>(const Child* children) {
                DagColumn<Reduce, Edge, is_signed, A, Child, decltype(output)>(
                    rows, children, plan, state.data(), with.identity, with.weights, output).run();
            };
            return rows.narrow_children ? run(rows.narrow_children) : run(rows.wide_children);
        }
    if constexpr (std::is_same_v<Reduce, Plus> && !Edge::weighted)
        if (is_signed || with.right)
            return DagColumns<T, A>(rows, plan, with, dag_kernels<Reduce, Times, T, A>()).run();
    DagColumns<T, A>(rows, plan, with, dag_kernels<Reduce, Edge, T, A>()).run();
}

// Calls evaluate_as for the pairs that are compiled.
template <class T, class A>
void evaluate_named(const DagRows& rows, const DagPlan& plan, const DagData<T, A>& with,
                    std::string_view reduce, std::string_view edge, bool is_signed) {
    if constexpr (std::is_floating_point_v<A> || sizeof(A) == sizeof(int64_t)) {
        if (reduce == "sum" && edge == "copy" && is_signed) return evaluate_as<Plus, Copy, true>(rows, plan, with);
        if (reduce == "sum" && edge == "copy") return evaluate_as<Plus, Copy, false>(rows, plan, with);
        if (reduce == "sum" && edge == "mul") return evaluate_as<Plus, Times, false>(rows, plan, with);
        if (reduce == "prod" && edge == "copy") return evaluate_as<Times, Copy, false>(rows, plan, with);
    }
    if (reduce == "min" && edge == "copy") return evaluate_as<Lesser, Copy, false>(rows, plan, with);
    if (reduce == "max" && edge == "copy") return evaluate_as<Greater, Copy, false>(rows, plan, with);
    if constexpr (sizeof(A) > 1) {
        if (reduce == "min" && edge == "add") return evaluate_as<Lesser, Plus, false>(rows, plan, with);
        if (reduce == "max" && edge == "add") return evaluate_as<Greater, Plus, false>(rows, plan, with);
    }
    throw std::invalid_argument("reduce, edge: no such pair");
}

template <class T, class A>
void evaluate(const DagPlan& plan, const DagRows& rows, In<Passed<T>> data, int64_t columns, std::string_view reduce,
              std::string_view edge, bool is_signed, A identity, In<A> weights, bool of_outputs, In<A> left,
              In<A> right, Out<Passed<T>> out) {
    const auto numbers = static_cast<int64_t>(data.shape(0));
    if (columns < 1 || numbers != rows.num_vertices * columns || data.shape(0) != out.shape(0))
        throw std::invalid_argument("data, out: expected [n, columns]");
    const DagData<T, A> with{reinterpret_cast<const T*>(data.data()),
                             reinterpret_cast<T*>(out.data()),
                             columns,
                             identity,
                             left.data(),
                             right.data(),
                             {weights.data(), of_outputs}};
    evaluate_named(rows, plan, with, reduce, edge, is_signed);
}

template <class T, class A>
void define_evaluate(Module& module, const char* name) {
    module.def(name, &evaluate<T, A>,
               "plan, rows, data, columns, reduce, edge, is_signed, identity, weights?, of_outputs, left?, right?, "
               "out");
}

// One file per group of dtypes, so that they compile in parallel.
void bind_dag_float32(Module& module);
void bind_dag_float64(Module& module);
void bind_dag_integers(Module& module);
void bind_dag_narrow(Module& module);
void bind_dag_affine(Module& module);

}  // namespace tgraph
