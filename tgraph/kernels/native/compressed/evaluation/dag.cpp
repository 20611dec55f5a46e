// Bindings of linear DAGs of compressed rows: their tensors, the plan of an evaluation, and decoding of single rows.
#include "base/classes.hpp"
#include "compressed/evaluation/dag_plan.hpp"
#include "compressed/evaluation/dag_rows.hpp"

namespace tgraph {

void bind_dag_affine(Module& module);
void bind_dag_evaluate(Module& module);

namespace {

DagRows rows_of(int64_t num_vertices, const In<int64_t>& offset, const In<int32_t>& narrow_children,
                const In<int64_t>& wide_children, const In<int32_t>& narrow_order, const In<int64_t>& wide_order) {
    return {num_vertices,          static_cast<int64_t>(offset.shape(0)) - 1, offset.data(),    narrow_children.data(),
            wide_children.data(), narrow_order.data(),                       wide_order.data()};
}

DagPlan make_plan(const DagRows& rows, In<int64_t> phases, In<int64_t> tasks) {
    return DagPlan(rows, phases.data(), static_cast<int64_t>(phases.shape(0)) - 1, tasks.data(),
                   static_cast<int64_t>(tasks.shape(0)));
}

void check_outputs(const DagRows& rows, const In<int64_t>& outputs) {
    for (std::size_t i = 0; i < outputs.shape(0); ++i)
        if (outputs.data()[i] < 0 || outputs.data()[i] >= rows.num_vertices)
            throw std::out_of_range("vertices: no such vertex");
}

// count[i] = number of arcs of the row of outputs[i].
void count_rows(const DagRows& rows, bool of_outputs, In<int64_t> outputs, Out<int64_t> count) {
    check_outputs(rows, outputs);
    if (count.shape(0) != outputs.shape(0)) throw std::invalid_argument("count: expected [k]");
    decode_rows(rows, of_outputs, outputs.data(), static_cast<int64_t>(outputs.shape(0)),
                [&](int64_t i, DagDecoder& decode) { count.data()[i] = decode.count(outputs.data()[i]); });
}

// Decodes the rows of some outputs: neighbors, and positions of their weights, at `offset` [k + 1].
template <class Neighbor>
void list_rows(const DagRows& rows, bool of_outputs, In<int64_t> outputs, In<int64_t> offset, Out<Neighbor> neighbors,
               Out<int64_t> arcs) {
    check_outputs(rows, outputs);
    if (offset.shape(0) != outputs.shape(0) + 1) throw std::invalid_argument("offset: expected [k + 1]");
    decode_rows(rows, of_outputs, outputs.data(), static_cast<int64_t>(outputs.shape(0)),
                [&](int64_t i, DagDecoder& decode) {
                    int64_t at = offset.data()[i];
                    for (const DagLeaf& leaf : decode(outputs.data()[i])) {
                        if (arcs.is_valid()) arcs.data()[at] = leaf.arc;
                        neighbors.data()[at++] = static_cast<Neighbor>(leaf.input);
                    }
                });
}

template <class Neighbor>
void define_list_rows(Module& module) {
    module.def("dag_list_rows", &list_rows<Neighbor>, "rows, of_outputs, outputs, offset, neighbors, arcs?");
}

}  // namespace

void bind_dag(Module& module) {
    bind_class<DagRows>(module, "DagRows", "The tensors of a DAG, kept alive by the caller.");
    module.def("dag_rows", &rows_of,
               "num_vertices, offset, narrow_children?, wide_children?, narrow_order?, wide_order?", Gil::held);
    bind_class<DagPlan>(module, "DagPlan", "The partition of an evaluation into chunks.");
    module.def("dag_plan", &make_plan, "rows, phases, tasks?");
    module.def("dag_count_rows", &count_rows, "rows, of_outputs, outputs, count");
    define_list_rows<int32_t>(module);
    define_list_rows<int64_t>(module);
    bind_dag_evaluate(module);
    bind_dag_affine(module);
}

}  // namespace tgraph
