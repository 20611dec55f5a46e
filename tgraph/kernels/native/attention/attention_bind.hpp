// Bindings of the attention passes: one class per dtype, which validates and holds the arrays of a call.
#pragma once

#include <nanobind/stl/string_view.h>

#include <stdexcept>
#include <string>

#include "attention/attention_passes.hpp"
#include "base/classes.hpp"

namespace tgraph {

template <class T>
void check_below(const T* numbers, int64_t count, int64_t limit, const char* name) {
    constexpr int64_t grain = 1 << 15;
    std::atomic<bool> wrong{false};
    for_each_chunk((count + grain - 1) / grain, part_count(count), [&](int64_t chunk) {
        const int64_t end = std::min(count, (chunk + 1) * grain);
        bool outside = false;
        for (int64_t i = chunk * grain; i < end; ++i) outside |= numbers[i] < 0 || numbers[i] >= limit;
        if (outside) wrong = true;
    });
    if (wrong) throw std::out_of_range(std::string(name) + ": some are out of range");
}

inline void expect(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}


template <class T>
bool is_of(const T& array, int64_t size) {
    return array.is_valid() && static_cast<int64_t>(array.shape(0)) == size;
}

// The arrays of a call, kept alive by the Python object, and the passes over them.
template <class A>
class AttentionArrays {
public:
    AttentionArrays(std::string_view score, int64_t heads, int64_t columns, A factor, uint32_t threshold, A gain,
                    bool drops, uint64_t seed, In<int64_t> position, In<A> source, In<A> target, In<A> value,
                    In<A> edge, In<A> vector, int64_t num_sources, int64_t num_targets)
        : num_sources_(num_sources), num_targets_(num_targets), position_(position), source_(source), target_(target),
          value_(value), edge_(edge) {
        expect(heads > 0 && columns > 0, "heads, columns: expected 1 or more");
        expect(score == "gat" || score == "gatv2" || score == "dot", "score: expected 'gat', 'gatv2' or 'dot'");
        const Score kind = score == "gat" ? Score::gat : score == "gatv2" ? Score::gatv2 : Score::dot;
        inner_ = kind == Score::gat ? heads : heads * columns;
        expect(is_of(source, num_sources * inner_), "source: expected [n_src, ...]");
        expect(is_of(target, num_targets * inner_), "target: expected [n_dst, ...]");
        expect(kind == Score::gatv2 || is_of(value, num_sources * heads * columns), "value: expected [n_src, ...]");
        with_.score = kind;
        with_.kernels = &lane_kernels<A>(columns);
        with_.shape = {heads, (columns + with_.kernels->lanes - 1) / with_.kernels->lanes * with_.kernels->lanes};
        with_.columns = columns;
        with_.factor = factor;
        with_.gain = gain;
        with_.dropout = {seed, threshold, drops};
        with_.position = position_.data();
        with_.source = source.data();
        with_.target = target.data();
        with_.value = kind == Score::gatv2 ? source.data() : value.data();
        with_.edge = edge_.data();
        vector_.assign(with_.width(), kind == Score::dot ? factor : A{0});
        if (kind == Score::gatv2) {
            expect(is_of(vector, heads * columns), "vector: expected [heads, columns]");
            with_.table(vector.data()).row(0, vector_.data());
            if (columns == with_.shape.span) std::copy_n(vector.data(), heads * columns, vector_.data());
        }
        with_.vector = vector_.data();
    }

    void attend(In<int64_t> offset, In<void> neighbors, Out<A> out, Out<A> statistics) const {
        const auto side = by_target(offset, neighbors);
        expect(is_of(out, sent(num_targets_)) && is_of(statistics, 2 * num_targets_ * with_.shape.heads),
               "out, statistics: expected [n_dst, heads, columns] and [n_dst, heads, 2]");
        advise(out);
        over_rows<A>(side, Cut(side.rows), Forward<A>(with_, side, out.data(), statistics.data()));
    }

    void weights(In<int64_t> offset, In<void> neighbors, In<A> statistics, Out<A> out) const {
        const auto side = by_target(offset, neighbors);
        expect(is_of(statistics, 2 * num_targets_ * with_.shape.heads) &&
                   is_of(out, side.rows.num_stored * with_.shape.heads),
               "statistics, out: expected [n_dst, heads, 2] and [edges, heads]");
        Attention<A> with = with_;
        with.statistics = statistics.data();
        over_rows<A>(side, Cut(side.rows), Weights<A>(with, side, out.data()));
    }

    // delta = dot(grad, out) per head, which the gradient of a softmax subtracts.
    void delta(In<A> grad, In<A> out, Out<A> delta) const {
        const int64_t heads = with_.shape.heads, columns = with_.columns, width = heads * columns;
        expect(is_of(grad, sent(num_targets_)) && is_of(out, sent(num_targets_)) && is_of(delta, num_targets_ * heads),
               "grad, out, delta: expected [n_dst, heads, columns] twice and [n_dst, heads]");
        const int parts = part_count(num_targets_ * width);
        for_each_part(parts, [&](int part) {
            const Range rows = part_of(num_targets_, part, parts);
            for (int64_t row = rows.begin; row < rows.end; ++row)
                with_.kernels->dot_heads(grad.data() + row * width, out.data() + row * width, heads, columns,
                                         delta.data() + row * heads);
        });
    }

    void to_target(In<int64_t> offset, In<void> neighbors, In<A> grad, In<A> delta, In<A> statistics,
                   Out<A> to_target, Out<A> to_edge, Out<A> to_vector) const {
        const auto side = by_target(offset, neighbors);
        const Attention<A> with = backward(grad, delta, statistics);
        expect(!to_target.is_valid() || is_of(to_target, num_targets_ * inner_), "to_target: expected [n_dst, ...]");
        expect(!to_edge.is_valid() || is_of(to_edge, side.rows.num_stored * inner_), "to_edge: expected [edges, ...]");
        expect(!to_vector.is_valid() || is_of(to_vector, sent(1)), "to_vector: expected [heads, columns]");
        for (const Out<A>* written : {&to_target, &to_edge}) advise(*written);
        const Cut cut(side.rows);
        std::vector<A> totals(to_vector.is_valid() ? cut.size() * with.width() : 0);
        A* const parts = totals.empty() ? nullptr : totals.data();
        over_rows<A>(side, cut, ToTarget<A>(with, side, to_target.data(), to_edge.data(), parts));
        if (!to_vector.is_valid()) return;
        std::vector<double> sums(with.width());
        for (std::size_t i = 0; i < totals.size(); ++i) sums[i % sums.size()] += static_cast<double>(totals[i]);
        std::vector<A> total(sums.begin(), sums.end());
        with.table(nullptr).write(total.data(), nullptr, to_vector.data());
    }

    void to_source(In<int64_t> offset, In<void> neighbors, In<int64_t> number, In<A> grad, In<A> delta,
                   In<A> statistics, Out<A> to_source, Out<A> to_value) const {
        const bool numbered = with_.edge || with_.dropout.drops;
        auto side = rows_of(offset, neighbors, num_sources_, num_targets_);
        const Attention<A> with = backward(grad, delta, statistics);
        expect(!numbered || is_of(number, side.rows.num_stored), "number: expected [arcs]");
        expect(!to_source.is_valid() || is_of(to_source, num_sources_ * inner_), "to_source: expected [n_src, ...]");
        expect(!to_value.is_valid() || is_of(to_value, sent(num_sources_)), "to_value: expected [n_src, ...]");
        check_edges(side.rows.num_stored);
        if (numbered) {
            side.number = number.data();
            check_below(number.data(), side.rows.num_stored, side.rows.num_stored, "number");
        }
        for (const Out<A>* written : {&to_source, &to_value}) advise(*written);
        over_rows<A>(side, Cut(side.rows), ToSource<A>(with, side, to_source.data(), to_value.data()));
    }

private:
    static void advise(const Out<A>& written) {
        if (written.is_valid()) advise_huge_pages(written.data(), written.shape(0) * sizeof(A));
    }

    int64_t sent(int64_t rows) const { return rows * with_.shape.heads * with_.columns; }

    Attention<A> backward(const In<A>& grad, const In<A>& delta, const In<A>& statistics) const {
        const int64_t heads = num_targets_ * with_.shape.heads;
        expect(is_of(grad, sent(num_targets_)) && is_of(delta, heads) && is_of(statistics, 2 * heads),
               "grad, delta, statistics: expected [n_dst, heads, columns], [n_dst, heads] and [n_dst, heads, 2]");
        Attention<A> with = with_;
        with.grad = grad.data();
        with.delta = delta.data();
        with.statistics = statistics.data();
        return with;
    }

    // The rows of a CSR structure, validated: all offsets and neighbors are in range.
    Side rows_of(const In<int64_t>& offset, const In<void>& neighbors, int64_t count,
                           int64_t others) const {
        const auto arcs = static_cast<int64_t>(neighbors.shape(0));
        const int64_t* begin = offset.data();
        expect(is_of(offset, count + 1) && begin[0] == 0 && begin[count] == arcs &&
                   std::is_sorted(begin, begin + count + 1),
               "offset: expected [rows + 1], ascending from 0 to the number of arcs");
        const Ids ids = ids_of(neighbors);
        if (ids.are_wide)
            check_below(static_cast<const int64_t*>(ids.data), arcs, others, "neighbors");
        else
            check_below(static_cast<const int32_t*>(ids.data), arcs, others, "neighbors");
        return {{begin, ids, count, arcs, nullptr, nullptr, begin, count}, nullptr};
    }

    Side by_target(const In<int64_t>& offset, const In<void>& neighbors) const {
        const auto side = rows_of(offset, neighbors, num_targets_, num_sources_);
        check_edges(side.rows.num_stored);
        return side;
    }

    void check_edges(int64_t arcs) const {
        expect(!with_.edge || is_of(edge_, arcs * inner_), "edge: expected [edges, ...]");
        expect(!with_.position || is_of(position_, arcs), "position: expected [arcs]");
        if (with_.position) check_below(with_.position, arcs, arcs, "position");
    }

    int64_t num_sources_, num_targets_, inner_;
    In<int64_t> position_;
    In<A> source_, target_, value_, edge_;
    std::vector<A> vector_;
    Attention<A> with_{};
};

template <class A>
void bind_attention_of(Module& module, const char* name) {
    nb::class_<AttentionArrays<A>> arrays = bind_class<AttentionArrays<A>>(module, name);
    arrays.def(nb::init<std::string_view, int64_t, int64_t, A, uint32_t, A, bool, uint64_t, In<int64_t>, In<A>, In<A>,
                        In<A>, In<A>, In<A>, int64_t, int64_t>(),
               nb::arg("score"), nb::arg("heads"), nb::arg("columns"), nb::arg("factor"), nb::arg("threshold"),
                   nb::arg("gain"), nb::arg("drops"),
               nb::arg("seed"), nb::arg("position").none(), nb::arg("source"), nb::arg("target"),
               nb::arg("value").none(), nb::arg("edge").none(), nb::arg("vector").none(),
               nb::arg("num_sources"), nb::arg("num_targets"), nb::keep_alive<1, 10>(), nb::keep_alive<1, 11>(),
               nb::keep_alive<1, 12>(), nb::keep_alive<1, 13>(), nb::keep_alive<1, 14>());
    using Arrays = AttentionArrays<A>;
    const nb::call_guard<nb::gil_scoped_release> released;
    arrays.def("delta", &Arrays::delta, nb::arg("grad"), nb::arg("out"), nb::arg("delta"),
               released);
    arrays.def("attend", &Arrays::attend, nb::arg("offset"), nb::arg("neighbors"),
               nb::arg("out"), nb::arg("statistics"), released);
    arrays.def("weights", &Arrays::weights, nb::arg("offset"), nb::arg("neighbors"),
               nb::arg("statistics"), nb::arg("out"), released);
    arrays.def("to_target", &Arrays::to_target, nb::arg("offset"),
               nb::arg("neighbors"), nb::arg("grad"), nb::arg("delta"),
               nb::arg("statistics"), nb::arg("to_target").none(), nb::arg("to_edge").none(),
               nb::arg("to_vector").none(), released);
    arrays.def("to_source", &Arrays::to_source, nb::arg("offset"),
               nb::arg("neighbors"), nb::arg("number").none(), nb::arg("grad"),
               nb::arg("delta"), nb::arg("statistics"), nb::arg("to_source").none(),
               nb::arg("to_value").none(), released);
}

// One file per dtype, so that they compile in parallel.
void bind_attention_float32(Module& module);
void bind_attention_float64(Module& module);

}  // namespace tgraph
