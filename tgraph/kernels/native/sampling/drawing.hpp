// The arcs that one hop draws along one relation, for pieces of its rows: which ones is told in
// kernels/operators/sampling/neighbors.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sampling/draws.hpp"
#include "sampling/numbering.hpp"
#include "sampling/read_ahead.hpp"
#include "sampling/relation.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

class Drawing {
public:
    // For the vertices at `places` in the list of the targets.
    Drawing(const Relation& relation, const Numbering& targets, Range places, int64_t fanout, const Choice& choice)
        : relation_(relation), first_(places.begin), size_(places.end - places.begin), fanout_(fanout),
          choice_(choice), begin_(size_), end_(size_), from_file_(is_absent_in_part(targets)) {
        measure(targets);
    }

    int64_t pieces() const { return (size_ + rows() - 1) / rows(); }

    // Where the arcs of a piece are written: behind as many as those before can be.
    int64_t start(int64_t piece) const { return start_[piece]; }
    int64_t most() const { return start_.back(); }

    // Writes the numbers, the targets' places and the neighbours of the arcs of a piece; returns how many there are.
    int64_t draw(int64_t piece, int64_t* arc, int64_t* target, int64_t* neighbor) const {
        return relation_.wide() ? draw<int64_t>(piece, arc, target, neighbor)
                                : draw<int32_t>(piece, arc, target, neighbor);
    }

private:
    // What a thread keeps from one piece to the next.
    struct Held {
        Drawn drawn;
        std::vector<double> tries;  // of all rows of a piece
    };

    const Relation& relation_;
    int64_t first_, size_, fanout_;
    const Choice& choice_;
    Scratch<int64_t> begin_, end_;  // of the arcs of each row that are not too late
    std::vector<int64_t> start_;
    bool from_file_;  // pages are asked for, not lines of the cache

    // The rows of a piece: from a file many, whose pages are asked for before the first is waited for.
    int64_t rows() const { return from_file_ ? 1024 : 64; }
    Range rows_of(int64_t piece) const { return {piece * rows(), std::min(size_, (piece + 1) * rows())}; }

    const int64_t* offset(const Numbering& targets, int64_t i) const {
        return relation_.offset.data() + targets.vertex(first_ + i);
    }

    // Whether the arcs of a few rows are not all in memory.
    bool is_absent_in_part(const Numbering& targets) const {
        constexpr int64_t most = 8;
        const auto* const neighbors = static_cast<const char*>(relation_.neighbors.data());
        for (int64_t i = 0; i < size_; i += std::max<int64_t>(1, size_ / most)) {
            const int64_t* const own = offset(targets, i);
            if (is_absent(own) || (own[0] < own[1] && is_absent(neighbors + own[0] * (relation_.wide() ? 8 : 4))))
                return true;
        }
        return false;
    }

    // Finds the rows, and the room that each piece may need.
    void measure(const Numbering& targets) {
        start_.assign(pieces() + 1, 0);
        for_each_chunk(pieces(), part_count(8 * size_), [&](int64_t piece) {
            const Range range = rows_of(piece);
            for (int64_t i = range.begin; i < range.end; ++i) fetch_from(from_file_, offset(targets, i), 2);
            for (int64_t i = range.begin; i < range.end; ++i) {
                const int64_t* const own = offset(targets, i);
                begin_.data()[i] = own[0];
                end_.data()[i] = in_time(targets.tree(first_ + i), own[0], own[1]);
                start_[piece + 1] += wanted(end_.data()[i] - own[0]);
            }
        });
        for (int64_t piece = 0; piece < pieces(); ++piece) start_[piece + 1] += start_[piece];
    }

    // The end of the arcs that are not too late.
    int64_t in_time(int64_t tree, int64_t first, int64_t last) const {
        if (!relation_.time.is_valid()) return last;
        const int64_t latest = choice_.latest_time.data()[tree];
        while (first < last) {
            const int64_t middle = first + (last - first) / 2;
            if (relation_.time_of(middle) <= latest) first = middle + 1;
            else last = middle;
        }
        return last;
    }

    bool replaces() const { return choice_.replace && fanout_ >= 0; }

    // The arcs to draw from a row of so many; all of them are taken where these are as many, without replacement.
    int64_t wanted(int64_t degree) const {
        if (fanout_ < 0 || degree == 0) return degree;
        return choice_.replace ? fanout_ : std::min(fanout_, degree);
    }

    // The stream of a row.
    int64_t own(int64_t i) const { return static_cast<int64_t>(random_word(relation_.key, first_ + i)); }

    template <class Neighbor>
    int64_t draw(int64_t piece, int64_t* arc, int64_t* target, int64_t* neighbor) const {
        static thread_local Held thread;
        Held& held = thread;  // looked up once
        const auto* const neighbors = static_cast<const Neighbor*>(relation_.neighbors.data());
        const bool by_weight = relation_.weights.is_valid();
        const bool is_wide = by_weight && relation_.weights.dtype() == dtype_of<double>;
        const Range range = rows_of(piece);
        if (by_weight && is_wide) fetch_weights<double>(range, held);
        else if (by_weight) fetch_weights<float>(range, held);
        int64_t size = 0;
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t count = !by_weight ? draw_alike(i, held.drawn, arc + size)
                                  : is_wide  ? draw_by<double>(i, range, held, arc + size)
                                             : draw_by<float>(i, range, held, arc + size);
            for (const int64_t end = size + count; size < end; ++size) {
                fetch_from(from_file_, neighbors + arc[size]);
                target[size] = first_ + i;
            }
        }
        for (int64_t k = 0; k < size; ++k) neighbor[k] = neighbors[arc[k]];
        return size;
    }

    int64_t draw_alike(int64_t i, Drawn& drawn, int64_t* out) const {
        const int64_t first = begin_.data()[i], last = end_.data()[i], count = wanted(last - first);
        if (choice_.latest || (!replaces() && count == last - first)) {
            const int64_t taken = replaces() ? std::min(count, last - first) : count;
            for (int64_t k = 0; k < taken; ++k) out[k] = last - taken + k;
            return taken;
        }
        if (count == 0) return 0;
        if (replaces()) draw_repeatedly(own(i), first, last, count, out);
        else draw_distinct(own(i), first, last, count, drawn, out);
        return count;
    }

    template <class Weight>
    const Weight* weights() const { return static_cast<const Weight*>(relation_.weights.data()); }

    template <class Weight>
    Rejection<Weight> rejection(int64_t first, int64_t last) const {
        return {weights<Weight>(), relation_.bounds.data(), first, last, wanted(last - first)};
    }

    // Asks for what the first draws of each row read.
    template <class Weight>
    void fetch_weights(Range range, Held& held) const {
        constexpr int64_t step = WeightedRow<Weight>::step, line = 64 / sizeof(Weight);
        const int64_t room = 2 * std::max<int64_t>(fanout_, 0);
        held.tries.resize((range.end - range.begin) * room);
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t first = begin_.data()[i], last = end_.data()[i];
            const Rejection<Weight> rejection = this->rejection<Weight>(first, last);
            if (rejection.tries() > 0) {
                double* const tries = held.tries.data() + (i - range.begin) * room;
                rejection.look(own(i), 0, std::min(room, rejection.tries()), tries, from_file_);
                continue;
            }
            for (int64_t arc = first; arc < std::min(last, first + step); arc += line)
                fetch_from(from_file_, weights<Weight>() + arc);
            if (last - first <= step) continue;
            fetch(relation_.sums.data() + first / step);
            fetch(relation_.sums.data() + last / step);
            fetch_from(from_file_, weights<Weight>() + last - 1);
        }
    }

    template <class Weight>
    int64_t draw_by(int64_t i, Range range, Held& held, int64_t* out) const {
        const int64_t first = begin_.data()[i], last = end_.data()[i], count = wanted(last - first);
        if (!replaces() && count == last - first) return with_mass(weights<Weight>(), first, last, out);
        held.drawn.start(last - first, replaces() ? 0 : count);
        const Rejection<Weight> rejection = this->rejection<Weight>(first, last);
        const int64_t room = 2 * fanout_, own = this->own(i);
        double* const tries = held.tries.data() + (i - range.begin) * room;
        int64_t found = 0;
        for (int64_t done = 0; done < rejection.tries() && found < count; done += room) {
            const int64_t some = std::min(room, rejection.tries() - done);
            if (done > 0) rejection.look(own, done, some, tries, from_file_);
            found = rejection.draw(tries, some, count, replaces(), held.drawn, out, found);
        }
        if (found == count) return count;
        const WeightedRow<Weight> row(weights<Weight>(), relation_.sums.data(), first, last);
        return row.draw(rejection.after(own), count, replaces(), held.drawn, out, found);
    }

    template <class Weight>
    static int64_t with_mass(const Weight* weights, int64_t first, int64_t last, int64_t* out) {
        int64_t found = 0;
        for (int64_t arc = first; arc < last; ++arc) {
            out[found] = arc;
            found += weights[arc] > 0;
        }
        return found;
    }
};

}  // namespace tgraph
