// The passes of attention: forward with an online softmax, weights of arcs, and gradients by target and by source,
// which recompute the scores (as FlashAttention: Dao et al., NeurIPS 2022).
#pragma once

#include <cmath>

#include "attention/attention.hpp"

namespace tgraph {

template <class A>
struct PassOver : Pass<A> {
    using Arrays = typename Batch<A>::Arrays;
    using Pass<A>::with;
    using Pass<A>::side;
    const LaneKernels<A>& kernels;
    const Arrays arrays;  // those that are read at the neighbors

    PassOver(const Attention<A>& with, const Side& side, int64_t state, const Arrays& arrays)
        : Pass<A>(with, side, state), kernels(*with.kernels), arrays(arrays) {}

    static Arrays at_sources(const Attention<A>& with) {
        return {HeadNumbers<A>{with.score == Score::gat ? with.source : nullptr}};
    }

    // Lists the arcs of a row in batches, and calls visit(first arc) for each.
    template <class Visit>
    void each_batch(Batch<A>& batch, Range arcs, Visit visit) const {
        for (int64_t begin = arcs.begin; begin < arcs.end; begin += most_arcs) {
            batch.list(side, {begin, std::min(begin + most_arcs, arcs.end)}, arrays, kernels.lanes);
            visit(begin);
        }
    }

protected:
    // The scores of a batch of arcs to the target `row`; gathers the values, `batch.sent`, too.
    void score_at_target(Batch<A>& batch, int64_t begin, int64_t row, const A* fixed) const {
        const bool edges = with.edge && with.score != Score::gat;
        const auto source = with.table(with.source), value = with.table(with.value);
        if (with.score == Score::gat) {
            batch.sum_numbers(with, with.target + row * with.shape.heads, with.source);
            batch.gather(side, begin, value, with, false, batch.sent, batch.coming_sent, batch.sents.data());
            return;
        }
        batch.gather(side, begin, source, with, edges, batch.row, batch.coming_row, batch.rows.data());
        if (with.score == Score::gatv2) {
            batch.sent = batch.row;
            batch.coming_sent = batch.row;  // prefetched already
            if (edges)
                batch.gather(side, begin, source, with, false, batch.sent, batch.coming_sent, batch.sents.data());
            kernels.dot_leaky_rows(batch.row.data(), batch.coming_row.data(), fixed, with.vector, batch.size,
                                  batch.shape, with.factor, batch.score.data());
            return;
        }
        batch.gather(side, begin, value, with, edges, batch.sent, batch.coming_sent, batch.sents.data());
        kernels.dot_rows(batch.row.data(), batch.coming_row.data(), fixed, 0, batch.size, batch.shape, with.factor,
                        batch.score.data());
    }

    // The data of the target of a row, null for "gat", which has no columns.
    const A* target_of(int64_t row, Batch<A>& batch) const {
        return with.score == Score::gat ? nullptr : with.table(with.target).row(row, batch.here.data());
    }

    // Of the scores and products of a batch of arcs, whose target is `row` or, if that is negative, their neighbor.
    void backward_of_softmax(Batch<A>& batch, int64_t row) const {
        const int64_t heads = with.shape.heads;
        const A* sums = with.score == Score::gat ? batch.sum.data() : nullptr;
        batch.spread({with.statistics, 2}, row, heads, batch.maximum);
        batch.spread({with.statistics + 1, 2}, row, heads, batch.scale);
        if (with.delta) batch.spread({with.delta}, row, heads, batch.delta);
        kernels.softmax_backward(batch.score.data(), batch.product.data(), batch.maximum.data(), batch.scale.data(),
                                 batch.delta.data(), sums, with.factor, batch.size, batch.shape, batch.arc.data(),
                                 with.dropout, with.gain);
    }
};

// ---- forward --------------------------------------------------------------------------------------------------------

// The state: sums [heads, span], then maxima and totals [heads].
template <class A>
struct Forward : PassOver<A> {
    using Base = PassOver<A>;
    using Base::kernels;
    using Base::with;
    A *out, *statistics;

    Forward(const Attention<A>& attention, const Side& side, A* out, A* statistics)
        : Base(attention, side, attention.width() + 2 * attention.shape.heads, Base::at_sources(attention)), out(out),
          statistics(statistics) {}

    template <class Number>
    Number* maxima(Number* sums) const {
        return sums + with.width();
    }
    template <class Number>
    Number* totals(Number* sums) const {
        return maxima(sums) + with.shape.heads;
    }

    void start(A* sums) const override {
        Base::start(sums);
        std::fill_n(maxima(sums), with.shape.heads, -std::numeric_limits<A>::infinity());
    }

    void reduce(Batch<A>& batch, int64_t row, Range arcs, A* sums, int64_t) const override {
        const A* fixed = this->target_of(row, batch);
        this->each_batch(batch, arcs, [&](int64_t begin) {
            this->score_at_target(batch, begin, row, fixed);
            kernels.update_softmax(batch.score.data(), batch.size, batch.shape, batch.arc.data(), with.dropout,
                                  with.gain, maxima(sums), totals(sums), sums);
            const bool prefetched = with.score == Score::gatv2;
            kernels.add_rows(sums, batch.sent.data(), prefetched ? nullptr : batch.coming_sent.data(),
                            batch.score.data(), batch.size, batch.shape);
        });
    }

    // The number that is subtracted from scores of which this is the greatest.
    static A base_of(A greatest) { return greatest == -std::numeric_limits<A>::infinity() ? A{0} : greatest; }

    void merge(A* sums, const A* other) const override {
        const auto [heads, span, stride] = with.shape;
        for (int64_t head = 0; head < heads; ++head) {
            A& best = maxima(sums)[head];
            const A first = best, second = maxima(other)[head];
            best = std::max(first, second);
            const A base = base_of(best);
            const A a = std::exp(first - base), b = std::exp(second - base);
            totals(sums)[head] = totals(sums)[head] * a + totals(other)[head] * b;
            for (int64_t f = head * span; f < (head + 1) * span; ++f) sums[f] = sums[f] * a + other[f] * b;
        }
    }

    void finish(int64_t row, A* sums) const override {
        const auto [heads, span, stride] = with.shape;
        const bool none = this->side.rows.degree(row) == 0;
        for (int64_t head = 0; head < heads; ++head) {
            const A total = totals(sums)[head];
            statistics[(row * heads + head) * 2] = base_of(maxima(sums)[head]);
            statistics[(row * heads + head) * 2 + 1] = 1 / total;
            for (int64_t c = 0; c < with.columns; ++c)
                out[(row * heads + head) * with.columns + c] = none ? A{0} : sums[head * span + c] / total;
        }
    }
};

// The weights of the arcs after dropout, by the position of their edge; rows have no state.
template <class A>
struct Weights : PassOver<A> {
    using Base = PassOver<A>;
    using Base::kernels;
    using Base::with;
    A* out;

    Weights(const Attention<A>& attention, const Side& side, A* out)
        : Base(attention, side, 0, Base::at_sources(attention)), out(out) {}

    void reduce(Batch<A>& batch, int64_t row, Range arcs, A*, int64_t) const override {
        const int64_t heads = with.shape.heads;
        const A* fixed = this->target_of(row, batch);
        this->each_batch(batch, arcs, [&](int64_t begin) {
            this->score_at_target(batch, begin, row, fixed);
            this->backward_of_softmax(batch, row);
            for (int64_t a = 0; a < batch.size; ++a)
                for (int64_t head = 0; head < heads; ++head)
                    out[with.place(batch.arc[a]) * heads + head] = batch.score[head * batch.shape.stride + a];
        });
    }

    void finish(int64_t, A*) const override {}
};

// ---- backward -------------------------------------------------------------------------------------------------------

// Gradients of target and edge features, each of which may be null, and of the vector of "gatv2" in `totals`,
// [parts, heads, span].
template <class A>
struct ToTarget : PassOver<A> {
    using Base = PassOver<A>;
    using Base::kernels;
    using Base::with;
    A *to_target, *to_edge, *totals;

    ToTarget(const Attention<A>& attention, const Side& side, A* to_target, A* to_edge, A* totals)
        : Base(attention, side, attention.score == Score::gat ? attention.shape.heads : attention.width(),
               Base::at_sources(attention)),
          to_target(to_target), to_edge(to_edge), totals(totals) {}

    void reduce(Batch<A>& batch, int64_t row, Range arcs, A* sums, int64_t part) const override {
        const A *fixed = this->target_of(row, batch), *grad = with.table(with.grad).row(row, batch.there.data());
        this->each_batch(batch, arcs, [&](int64_t begin) {
            this->score_at_target(batch, begin, row, fixed);
            kernels.dot_rows(batch.sent.data(), batch.coming_sent.data(), grad, 0, batch.size, batch.shape, A{1},
                            batch.product.data());
            this->backward_of_softmax(batch, row);
            add_scores(batch, fixed, sums, part);
            if (to_edge) write_edges(batch, fixed, grad);
        });
    }

    void finish(int64_t row, A* sums) const override {
        if (!to_target) return;
        if (with.score == Score::gat)
            std::copy_n(sums, with.shape.heads, to_target + row * with.shape.heads);
        else
            with.table(nullptr).write(sums, with.vector, to_target + row * with.shape.heads * with.columns);
    }

private:
    void add_scores(const Batch<A>& batch, const A* fixed, A* sums, int64_t part) const {
        if (with.score == Score::gat)
            batch.add_to_heads(sums, with.shape.heads);
        else if (with.score == Score::gatv2)
            kernels.add_leaky_rows(sums, totals ? totals + part * with.width() : nullptr, batch.row.data(), fixed,
                                  batch.product.data(), batch.size, batch.shape, with.factor);
        else
            kernels.add_rows(sums, batch.row.data(), nullptr, batch.product.data(), batch.size, batch.shape);
    }

    void write_edges(Batch<A>& batch, const A* fixed, const A* grad) const {
        const int64_t heads = with.shape.heads;
        const auto table = with.table(nullptr);
        for (int64_t a = 0; a < batch.size; ++a) {
            const int64_t place = with.place(batch.arc[a]);
            if (with.score == Score::gat) {
                for (int64_t head = 0; head < heads; ++head)
                    to_edge[place * heads + head] = batch.product[head * batch.shape.stride + a];
                continue;
            }
            A *to = to_edge + place * heads * with.columns, *written = table.is_padded() ? batch.fixed.data() : to;
            const A *product = batch.product.data() + a, *weight = batch.score.data() + a;
            if (with.score == Score::gatv2)
                kernels.leaky_gradient(written, batch.row[a], fixed, with.vector, product, batch.shape, with.factor);
            else
                kernels.mixed_rows(written, fixed, with.vector, product, grad, weight, batch.shape);
            if (written != to) table.write(written, nullptr, to);
        }
    }
};

// Gradients of source features and values, over source-major rows. The state: gradients through the scores, then
// through the weighted sums.
template <class A>
struct ToSource : PassOver<A> {
    using Base = PassOver<A>;
    using Base::kernels;
    using Base::with;
    A *to_source, *to_value;

    ToSource(const Attention<A>& attention, const Side& side, A* to_source, A* to_value)
        : Base(attention, side, first(attention) + attention.width(),
               {HeadNumbers<A>{attention.statistics, 2}, HeadNumbers<A>{attention.delta},
                HeadNumbers<A>{attention.score == Score::gat ? attention.target : nullptr}}),
          to_source(to_source), to_value(to_value) {}

    static int64_t first(const Attention<A>& with) {
        return with.score == Score::gat ? with.shape.heads : with.width();
    }

    void reduce(Batch<A>& batch, int64_t row, Range arcs, A* sums, int64_t) const override {
        const bool numbers = with.score == Score::gat, own = with.score != Score::gatv2;
        const A* fixed = numbers ? nullptr : with.table(with.source).row(row, batch.here.data());
        const A* value = own ? with.table(with.value).row(row, batch.there.data()) : fixed;
        const auto grads = with.table(with.grad);
        this->each_batch(batch, arcs, [&](int64_t begin) {
            score_at_source(batch, begin, row, fixed);
            batch.gather(this->side, begin, grads, with, false, batch.sent, batch.coming_sent, batch.sents.data());
            const A* beside = value;
            const int64_t step =
                with.score == Score::dot ? batch.beside_edges(beside, with, batch.fixed_sent.data()) : 0;
            kernels.dot_rows(batch.sent.data(), batch.coming_sent.data(), beside, step, batch.size, batch.shape, A{1},
                            batch.product.data());
            this->backward_of_softmax(batch, -1);
            add_scores(batch, fixed, sums);
            kernels.add_rows(sums + first(with), batch.sent.data(), nullptr, batch.score.data(), batch.size,
                               batch.shape);
        });
    }

    void finish(int64_t row, A* sums) const override {
        const auto [heads, span, stride] = with.shape;
        const auto table = with.table(nullptr);
        const A* sent = sums + first(with);
        if (with.score == Score::gatv2) {
            for (int64_t head = 0; head < heads; ++head)
                for (int64_t c = 0, f = head * span; c < with.columns; ++c, ++f)
                    to_source[(row * heads + head) * with.columns + c] = sums[f] * with.vector[f] + sent[f];
            return;
        }
        if (to_value) table.write(sent, nullptr, to_value + row * heads * with.columns);
        if (to_source && with.score == Score::gat) std::copy_n(sums, heads, to_source + row * heads);
        if (to_source && with.score == Score::dot)
            table.write(sums, with.vector, to_source + row * heads * with.columns);
    }

private:
    // As score_at_target, where `row` is the source.
    void score_at_source(Batch<A>& batch, int64_t begin, int64_t row, const A* fixed) const {
        if (with.score == Score::gat)
            return batch.sum_numbers(with, with.source + row * with.shape.heads, with.target);
        const auto target = with.table(with.target);
        const bool added = with.edge && with.score == Score::gatv2;
        batch.gather(this->side, begin, target, with, added, batch.row, batch.coming_row, batch.rows.data(), fixed);
        if (with.score == Score::gatv2)
            return kernels.dot_leaky_rows(batch.row.data(), batch.coming_row.data(), beside(batch, fixed), with.vector,
                                          batch.size, batch.shape, with.factor, batch.score.data());
        const int64_t step = batch.beside_edges(fixed, with, batch.fixed.data());
        kernels.dot_rows(batch.row.data(), batch.coming_row.data(), fixed, step, batch.size, batch.shape, with.factor,
                        batch.score.data());
    }

    // The row of the source of "gatv2", which edge features have been added to the targets with.
    const A* beside(const Batch<A>& batch, const A* fixed) const { return with.edge ? batch.zeros.data() : fixed; }

    void add_scores(const Batch<A>& batch, const A* fixed, A* sums) const {
        if (with.score == Score::gat)
            batch.add_to_heads(sums, with.shape.heads);
        else if (with.score == Score::gatv2)
            kernels.add_leaky_rows(sums, nullptr, batch.row.data(), beside(batch, fixed), batch.product.data(),
                                   batch.size, batch.shape, with.factor);
        else
            kernels.add_rows(sums, batch.row.data(), nullptr, batch.product.data(), batch.size, batch.shape);
    }
};

}  // namespace tgraph
