// The plan by which a linear DAG of compressed rows is evaluated.
#include "bindings.hpp"
#include "dag_evaluate.hpp"
#include "dag_plan.hpp"

namespace tgraph {
namespace {

DagRows rows_of(int64_t num_vertices, const In<int64_t>& offset, const Optional<int32_t>& narrow_children,
                const Optional<int64_t>& wide_children, const Optional<int32_t>& narrow_order,
                const Optional<int64_t>& wide_order) {
    return {num_vertices,
            static_cast<int64_t>(offset.shape(0)) - 1,
            offset.data(),
            data_of(narrow_children),
            data_of(wide_children),
            data_of(narrow_order),
            data_of(wide_order)};
}

DagPlan make_plan(const DagRows& rows, In<int64_t> phases, Optional<int64_t> tasks) {
    return DagPlan(rows, phases.data(), static_cast<int64_t>(phases.shape(0)) - 1, data_of(tasks),
                   tasks ? static_cast<int64_t>(tasks->shape(0)) : 0);
}

}  // namespace

void bind_dag(nb::module_& module) {
    using nb::arg;
    nb::class_<DagRows>(module, "DagRows", "The tensors of a DAG, which the caller keeps.");
    module.def("dag_rows", &rows_of, arg("num_vertices"), arg("offset").noconvert(),
               arg("narrow_children").noconvert().none(), arg("wide_children").noconvert().none(),
               arg("narrow_order").noconvert().none(), arg("wide_order").noconvert().none());
    nb::class_<DagPlan>(module, "DagPlan", "How the work of a DAG is cut.")
        .def_ro("needs_outputs", &DagPlan::needs_outputs)
        .def_ro("needs_far_outputs", &DagPlan::needs_far_outputs);
    module.def("dag_plan", &make_plan, arg("rows"), arg("phases").noconvert(), arg("tasks").noconvert().none(),
               nb::call_guard<nb::gil_scoped_release>());
    bind_dag_float32(module);
    bind_dag_float64(module);
    bind_dag_integers(module);
    bind_dag_narrow(module);
}

}  // namespace tgraph
