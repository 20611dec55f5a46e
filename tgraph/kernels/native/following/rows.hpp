// The rows of a graph that changes: those of a CSR, and for some the changes that came after it, sorted by column.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "changes/change.hpp"

namespace tgraph {

// A weight of any type: a double, or an integer of 64 bits.
struct AnyWeight {
    int64_t bits = 0;
};

// What became of the arcs of one pair: `hides` those of the CSR, and perhaps `there` is one. Several lie in the order
// of time.
struct PairChange {
    int32_t column;
    bool there, hides;
    AnyWeight weight;
};

// What a batch did to the arcs of one pair: how many there were and are, and the sums of their weights. `worse` says
// for whom the best arc got worse: 1 where the least weight is the best one, 2 where the largest, 4 where any change
// is.
struct PairReport {
    int64_t *pair, *before, *after;
    double *sum_before, *sum_after;
    uint8_t* worse;
};

class FollowedRows {
public:
    // counts : whether `degree` is asked for; without, arcs of the CSR are looked up only where a report needs them.
    FollowedRows(int rule, bool counts) : rule_(static_cast<Parallel>(rule)), counts_(counts) {}

    // The CSR to begin with. The caller keeps its arrays alive until the next call.
    void rebase(In<int64_t> offset, In<int32_t> neighbors, In<void> weights);

    // Applies sorted changes, of the reversed arcs if `swapped`; writes a line of the report for each pair, as far as
    // it has arrays, and returns their number. Vertices are below `num_vertices`. Without `compares` an arc that is
    // inserted may be reported as worse or not, whatever it takes the place of.
    int64_t apply(In<Change> changes, In<void> weights, bool swapped, int64_t num_vertices, bool compares,
                  const PairReport& report);

    int64_t degree(int64_t row) const;
    int64_t num_changes() const { return num_changes_; }
    int64_t nbytes() const;

    // Calls visit(column, weight) for the arcs of a row in ascending order while it returns true; whether it did to the
    // end.
    template <class V, class Visit>
    bool each(int64_t row, Visit&& visit) const {
        auto [at, end] = arcs_of(row);
        for (const PairChange *change = first_of(row), *last = last_of(row); change != last;) {
            const int32_t column = change->column;
            const int64_t to = std::lower_bound(neighbors_ + at, neighbors_ + end, column) - neighbors_;
            for (; at < to; ++at)
                if (!visit(neighbors_[at], weight_at<V>(at))) return false;
            if (!each_change<V>(change, last, at, end, visit)) return false;
        }
        for (; at < end; ++at)
            if (!visit(neighbors_[at], weight_at<V>(at))) return false;
        return true;
    }

    // The same for the arcs of one pair.
    template <class V, class Visit>
    bool each_of_pair(int64_t row, int32_t column, Visit&& visit) const {
        const PairChange *last = last_of(row), *change = std::lower_bound(first_of(row), last, column, is_before);
        auto [at, end] = arcs_of(row);
        if (change != last && change->column == column) {
            if (change->hides)
                at = end;
            else
                at = std::lower_bound(neighbors_ + at, neighbors_ + end, column) - neighbors_;
            return each_change<V>(change, last, at, end, visit);
        }
        at = std::lower_bound(neighbors_ + at, neighbors_ + end, column) - neighbors_;
        for (; at < end && neighbors_[at] == column; ++at)
            if (!visit(column, weight_at<V>(at))) return false;
        return true;
    }

private:
    struct Arcs {
        int64_t begin, end;
    };
    enum class Kind { none, i8, u8, i16, i32, i64, f32, f64 };
    static Kind kind_of(const In<void>& weights);
    static bool is_before(const PairChange& change, int32_t column) { return change.column < column; }

    template <class V>
    static V number_at(const void* weights, Kind kind, int64_t i) {
        switch (kind) {
            case Kind::i8: return static_cast<V>(static_cast<const int8_t*>(weights)[i]);
            case Kind::u8: return static_cast<V>(static_cast<const uint8_t*>(weights)[i]);
            case Kind::i16: return static_cast<V>(static_cast<const int16_t*>(weights)[i]);
            case Kind::i32: return static_cast<V>(static_cast<const int32_t*>(weights)[i]);
            case Kind::i64: return static_cast<V>(static_cast<const int64_t*>(weights)[i]);
            case Kind::f32: return static_cast<V>(static_cast<const float*>(weights)[i]);
            case Kind::f64: return static_cast<V>(static_cast<const double*>(weights)[i]);
            default: return V{1};
        }
    }

    template <class V>
    V weight_at(int64_t arc) const {
        return number_at<V>(weights_, kind_, arc);
    }

    bool is_real() const { return kind_ == Kind::f32 || kind_ == Kind::f64; }

    template <class V>
    V number_of_weight(AnyWeight weight) const {
        if (kind_ == Kind::none) return V{1};
        return is_real() ? static_cast<V>(std::bit_cast<double>(weight.bits)) : static_cast<V>(weight.bits);
    }

    AnyWeight any_weight(const void* weights, int64_t i) const {
        return {is_real() ? std::bit_cast<int64_t>(number_at<double>(weights, kind_, i))
                          : number_at<int64_t>(weights, kind_, i)};
    }
    AnyWeight added(AnyWeight a, AnyWeight b) const;

    // The arcs of the pair of `change`, of which those of the CSR begin at `at`; moves both behind the pair.
    template <class V, class Visit>
    bool each_change(const PairChange*& change, const PairChange* last, int64_t& at, int64_t end, Visit&& visit) const {
        const int32_t column = change->column;
        const bool hides = change->hides;
        for (; at < end && neighbors_[at] == column; ++at)
            if (!hides && !visit(column, weight_at<V>(at))) return false;
        for (; change != last && change->column == column; ++change)
            if (change->there && !visit(column, number_of_weight<V>(change->weight))) return false;
        return true;
    }

    Arcs arcs_of(int64_t row) const {
        if (row >= num_rows_) return {0, 0};
        return {offset_[row], offset_[row + 1]};
    }
    const std::vector<PairChange>* changed(int64_t row) const {
        const int32_t place = row < static_cast<int64_t>(place_.size()) ? place_[row] : -1;
        return place < 0 ? nullptr : &rows_[place];
    }
    const PairChange* first_of(int64_t row) const {
        const auto* found = changed(row);
        return found ? found->data() : nullptr;
    }
    const PairChange* last_of(int64_t row) const {
        const auto* found = changed(row);
        return found ? found->data() + found->size() : nullptr;
    }
    std::vector<PairChange>& changes_of(int64_t row);
    void apply_to_pair(int64_t row, const Change* changes, const int64_t* order, int64_t count, const void* weights,
                       bool compares, const PairReport& report, int64_t line);
    void fetch_ahead_of(const Change* changes, const int64_t* order, int64_t i, int64_t size) const;

    Parallel rule_;
    bool counts_;
    Kind kind_ = Kind::none;
    const int64_t* offset_ = nullptr;
    const int32_t* neighbors_ = nullptr;
    const void* weights_ = nullptr;
    int64_t num_rows_ = 0, num_changes_ = 0;
    std::vector<int32_t> place_, degree_change_, used_;  // of each row: its changes in rows_, -1 for none
    std::vector<std::vector<PairChange>> rows_;
    std::vector<PairChange> pair_, merged_;
    std::vector<AnyWeight> held_;
};

}  // namespace tgraph
