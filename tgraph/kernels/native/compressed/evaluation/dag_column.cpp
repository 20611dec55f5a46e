// The iteration of an evaluation on one column over the chunks of its phases.
#include "compressed/evaluation/dag_column.hpp"

namespace tgraph {

template <class Total>
void DagColumn<Total>::run(const Finish& finish) {
    struct Worker {
        DagColumn& of;
        const Finish& finish;

        Worker worker() const { return *this; }
        void finish_phase() const {}

        void piece(const DagPlan::Phase& phase, int64_t i) const {
            of.pieces_[i - phase.pieces.begin] = of.reduce_piece(of.plan_.pieces[i]);
        }

        // Outputs that are not evaluated in order are finished at the end.
        void chunk(const DagPlan::Phase& phase, int64_t number) const {
            Total totals[batch];
            const Range chunk = of.plan_.chunks[number];
            const int64_t num_virtual = of.rows_.num_virtual();
            const int64_t first = of.rows_.in_order() ? std::clamp(num_virtual, chunk.begin, chunk.end) : chunk.end;
            for (int64_t at = chunk.begin; at < first; at += batch)
                of.reduce_rows(phase, {at, std::min(at + batch, first)}, totals);
            for (int64_t at = first; at < chunk.end; at += batch) {
                const int64_t end = std::min(at + batch, chunk.end);
                of.reduce_rows(phase, {at, end}, totals);
                finish(number, at - num_virtual, end - at, totals);
            }
        }
    };
    Worker worker{*this, finish};
    run_phases(plan_, 1, worker);
    if (rows_.in_order()) return;
    constexpr int64_t size = finished_together;
    for_each_chunk(num_finishes(), part_count(rows_.num_vertices), [&](int64_t chunk) {
        Total totals[batch];
        const int64_t end = std::min(rows_.num_vertices, (chunk + 1) * size);
        for (int64_t v = chunk * size; v < end; v += batch) {
            const int64_t count = std::min(batch, end - v);
            read_outputs(v, count, totals);
            finish(chunk, v, count, totals);
        }
    });
}

template class DagColumn<double>;
template class DagColumn<int64_t>;

}  // namespace tgraph
