// Batches of changes go into the rows that they concern; see rows.hpp.
#include "following/rows.hpp"

#include "base/classes.hpp"

#include <numeric>

namespace tgraph {

FollowedRows::Kind FollowedRows::kind_of(const In<void>& weights) {
    if (!weights.is_valid()) return Kind::none;
    const auto type = weights.dtype();
    if (type == dtype_of<int8_t>) return Kind::i8;
    if (type == dtype_of<uint8_t>) return Kind::u8;
    if (type == dtype_of<int16_t>) return Kind::i16;
    if (type == dtype_of<int32_t>) return Kind::i32;
    if (type == dtype_of<int64_t>) return Kind::i64;
    if (type == dtype_of<float>) return Kind::f32;
    if (type == dtype_of<double>) return Kind::f64;
    throw TypeError("weights: no such numbers are followed");
}

void FollowedRows::rebase(In<int64_t> offset, In<int32_t> neighbors, In<void> weights) {
    kind_ = kind_of(weights);
    offset_ = offset.data(), neighbors_ = neighbors.data(), weights_ = weights.data();
    num_rows_ = std::max<int64_t>(static_cast<int64_t>(offset.shape(0)) - 1, 0);
    for (const int32_t row : used_) place_[row] = -1;
    used_.clear(), rows_.clear(), degree_change_.clear();
    num_changes_ = 0;
}

int64_t FollowedRows::degree(int64_t row) const {
    const Arcs arcs = arcs_of(row);
    const int32_t place = row < static_cast<int64_t>(place_.size()) ? place_[row] : -1;
    return arcs.end - arcs.begin + (place < 0 ? 0 : degree_change_[place]);
}

int64_t FollowedRows::nbytes() const {
    return static_cast<int64_t>(place_.capacity() * sizeof(int32_t) + num_changes_ * sizeof(PairChange) +
                                rows_.size() * (sizeof(rows_[0]) + 2 * sizeof(int32_t)));
}

AnyWeight FollowedRows::added(AnyWeight a, AnyWeight b) const {
    switch (kind_) {
        case Kind::f32: {
            const auto sum = static_cast<float>(std::bit_cast<double>(a.bits)) +
                             static_cast<float>(std::bit_cast<double>(b.bits));
            return {std::bit_cast<int64_t>(static_cast<double>(sum))};
        }
        case Kind::f64: return {std::bit_cast<int64_t>(std::bit_cast<double>(a.bits) + std::bit_cast<double>(b.bits))};
        case Kind::i8: return {static_cast<int8_t>(a.bits + b.bits)};
        case Kind::u8: return {static_cast<uint8_t>(a.bits + b.bits)};
        case Kind::i16: return {static_cast<int16_t>(a.bits + b.bits)};
        case Kind::i32: return {static_cast<int32_t>(a.bits + b.bits)};
        default: return {static_cast<int64_t>(static_cast<uint64_t>(a.bits) + static_cast<uint64_t>(b.bits))};
    }
}

std::vector<PairChange>& FollowedRows::changes_of(int64_t row) {
    if (place_[row] < 0) {
        place_[row] = static_cast<int32_t>(rows_.size());
        used_.push_back(static_cast<int32_t>(row));
        rows_.emplace_back();
        degree_change_.push_back(0);
    }
    return rows_[place_[row]];
}

int64_t FollowedRows::apply(In<Change> changes, In<void> weights, bool swapped, int64_t num_vertices,
                            bool compares, const PairReport& report) {
    const auto size = static_cast<int64_t>(changes.shape(0));
    if (weights.is_valid() ? kind_of(weights) != kind_ : kind_ != Kind::none && size)
        throw TypeError("weights: of another dtype than those of the arcs");
    if (static_cast<int64_t>(place_.size()) < num_vertices) place_.resize(num_vertices, -1);
    std::vector<Change> turned;
    std::vector<int64_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    const Change* all = changes.data();
    if (swapped) {
        for (int64_t i = 0; i < size; ++i)
            turned.push_back(change_of(column_of(all[i]), row_of(all[i]), inserts(all[i])));
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return pair_of(turned[a]) < pair_of(turned[b]); });
        all = turned.data();
    }
    int64_t lines = 0;
    for (int64_t i = 0; i < size;) {
        const int64_t row = row_of(all[order[i]]);
        if (row >= num_vertices) throw std::out_of_range("changes: no such row");
        std::vector<PairChange>& held = changes_of(row);
        merged_.clear();
        std::size_t next = 0;
        while (i < size && row_of(all[order[i]]) == row) {
            const int64_t pair = pair_of(all[order[i]]);
            const auto column = static_cast<int32_t>(column_of(all[order[i]]));
            if (column >= num_vertices) throw std::out_of_range("changes: no such column");
            int64_t end = i + 1;
            while (end < size && pair_of(all[order[end]]) == pair) ++end;
            const std::size_t to = std::lower_bound(held.begin() + next, held.end(), column, is_before) - held.begin();
            merged_.insert(merged_.end(), held.begin() + next, held.begin() + to);
            for (next = to; next < held.size() && held[next].column == column;) ++next;
            fetch_ahead_of(all, order.data(), i, size);
            apply_to_pair(row, all, order.data() + i, end - i, weights.data(), compares, report, lines++);
            merged_.insert(merged_.end(), pair_.begin(), pair_.end());
            i = end;
        }
        merged_.insert(merged_.end(), held.begin() + next, held.end());
        num_changes_ += static_cast<int64_t>(merged_.size()) - static_cast<int64_t>(held.size());
        held.swap(merged_);
    }
    return lines;
}

// The places, headers and entries of the rows of coming changes.
void FollowedRows::fetch_ahead_of(const Change* changes, const int64_t* order, int64_t i, int64_t size) const {
    const auto row = [&](int64_t ahead) { return row_of(changes[order[std::min(i + ahead, size - 1)]]); };
    const auto limit = static_cast<int64_t>(place_.size());
    if (row(24) < limit) fetch(place_.data() + row(24));
    if (counts_) fetch(offset_ + std::min(row(24), num_rows_));
    if (row(16) < limit && place_[row(16)] >= 0) fetch(rows_.data() + place_[row(16)]);
    if (row(8) < limit && place_[row(8)] >= 0) fetch(rows_[place_[row(8)]].data());
}

// Makes `pair_` of what is held of a pair and `count` changes of it, and reports.
void FollowedRows::apply_to_pair(int64_t row, const Change* changes, const int64_t* order, int64_t count,
                                 const void* weights, bool compares, const PairReport& report, int64_t line) {
    const auto column = static_cast<int32_t>(column_of(changes[order[0]]));
    const auto less = [&](AnyWeight a, AnyWeight b) {
        return is_real() ? std::bit_cast<double>(a.bits) < std::bit_cast<double>(b.bits) : a.bits < b.bits;
    };
    pair_.clear(), held_.clear();
    const auto& old = rows_[place_[row]];
    auto change = std::lower_bound(old.begin(), old.end(), column, is_before);
    for (; change != old.end() && change->column == column; ++change) pair_.push_back(*change);
    const bool looks = counts_ || compares || (rule_ == Parallel::sum && kind_ != Kind::none);
    if (looks && (pair_.empty() || !pair_[0].hides)) {
        const Arcs arcs = arcs_of(row);
        int64_t at = std::lower_bound(neighbors_ + arcs.begin, neighbors_ + arcs.end, column) - neighbors_;
        for (; at < arcs.end && neighbors_[at] == column; ++at) held_.push_back(any_weight(weights_, at));
    }
    const std::size_t of_base = held_.size();
    for (const PairChange& each : pair_)
        if (each.there) held_.push_back(each.weight);

    std::size_t base_left = of_base;
    for (int64_t i = 0; i < count; ++i) {
        const AnyWeight weight = kind_ == Kind::none ? AnyWeight{} : any_weight(weights, order[i]);
        const bool there = inserts(changes[order[i]]);
        if (there && rule_ == Parallel::keep) {
            pair_.push_back({column, true, false, weight});
            continue;
        }
        AnyWeight now = weight;
        if (there && rule_ == Parallel::sum) {  // of one arc at most
            if (!pair_.empty() && pair_[0].there) now = added(pair_[0].weight, weight);
            if (pair_.empty() && of_base) now = added(held_[0], weight);
        }
        pair_.assign(1, {column, there, true, now});
        base_left = 0;
    }

    const auto before = static_cast<int64_t>(held_.size());
    int64_t after = static_cast<int64_t>(base_left);
    double sum_before = 0, sum_after = 0;
    for (const AnyWeight weight : held_) sum_before += number_of_weight<double>(weight);
    for (std::size_t i = 0; i < base_left; ++i) sum_after += number_of_weight<double>(held_[i]);
    for (const PairChange& each : pair_)
        if (each.there) ++after, sum_after += number_of_weight<double>(each.weight);
    uint8_t worse = 0;
    if (before && (base_left < of_base || !of_base)) {
        const auto [least, most] = std::minmax_element(held_.begin(), held_.end(), less);
        bool gone_least = true, gone_most = true, same = before == 1 && after == 1;
        for (const PairChange& each : pair_)
            if (each.there) {
                gone_least &= less(*least, each.weight), gone_most &= less(each.weight, *most);
                same &= each.weight.bits == least->bits;
            }
        worse = static_cast<uint8_t>(gone_least | gone_most << 1 | !same << 2);
    }
    degree_change_[place_[row]] += static_cast<int32_t>(after - before);
    if (!looks && !inserts(changes[order[0]])) worse = 1 | 2 | 4;
    if (report.pair) report.pair[line] = change_of(row, column, false), report.worse[line] = worse;
    if (!report.before) return;
    report.before[line] = before, report.after[line] = after;
    report.sum_before[line] = sum_before, report.sum_after[line] = sum_after;
}

namespace {

// Writes the offsets of some rows, [k + 1], then their columns where there is room for them.
void gather_followed(const FollowedRows& rows, In<int64_t> vertices, Out<int64_t> offset, Out<int64_t> columns) {
    const auto count = static_cast<int64_t>(vertices.shape(0));
    int64_t at = 0;
    for (int64_t i = 0; i < count; ++i) {
        offset.data()[i] = at;
        if (columns.is_valid())
            rows.each<int32_t>(vertices.data()[i], [&](int32_t column, int32_t) {
                columns.data()[at++] = column;
                return true;
            });
        else
            at += rows.degree(vertices.data()[i]);
    }
    offset.data()[count] = at;
}

int64_t apply_changes(FollowedRows& rows, In<Change> changes, In<void> weights, bool swapped, int64_t num_vertices,
                      bool compares, Out<int64_t> pair, Out<int64_t> before, Out<int64_t> after,
                      Out<double> sum_before, Out<double> sum_after, Out<uint8_t> worse) {
    return rows.apply(changes, weights, swapped, num_vertices, compares,
                      {pair.data(), before.data(), after.data(), sum_before.data(), sum_after.data(), worse.data()});
}

}  // namespace

void bind_followed_rows(Module& module) {
    bind_class<FollowedRows>(module, "FollowedRows")
        .def(nb::init<int, bool>(), nb::arg("rule"), nb::arg("counts"))
        .def("rebase", &FollowedRows::rebase, nb::arg("offset"), nb::arg("neighbors"),
             nb::arg("weights").none())
        .def("apply", &apply_changes, nb::arg("changes"), nb::arg("weights").none(), nb::arg("swapped"),
             nb::arg("num_vertices"), nb::arg("compares"), nb::arg("pair").none(), nb::arg("before").none(),
             nb::arg("after").none(), nb::arg("sum_before").none(),
             nb::arg("sum_after").none(), nb::arg("worse").none(),
             nb::call_guard<nb::gil_scoped_release>())
        .def("gather", &gather_followed, nb::arg("vertices"), nb::arg("offset"),
             nb::arg("columns").none(), nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("num_changes", &FollowedRows::num_changes)
        .def_prop_ro("nbytes", &FollowedRows::nbytes);
}

}  // namespace tgraph
