// Which arcs of a row are drawn: what is told in kernels/operators/sampling/neighbors.py, draw by draw.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"
#include "base/memory.hpp"
#include "base/random.hpp"
#include "sampling/read_ahead.hpp"

namespace tgraph {

// The numbers of the arcs of a row that were drawn. A bit for each remembers them; in long rows arcs share bits, and
// where one is set, those drawn are compared one by one, or looked up where they are many.
class Drawn {
public:
    // For at most `count` of `degree` arcs.
    void start(int64_t degree, int64_t count) {
        std::fill_n(bits_, words, 0);
        is_exact_ = degree <= 64 * words;
        few_ = count <= most_compared;
        count_ = 0;
        if (!is_exact_ && !few_) table_.assign(std::bit_ceil(static_cast<uint64_t>(2 * count)), -1);
    }

    bool has(int64_t arc) const {
        if (!(bits_[word(arc)] >> (arc & 63) & 1)) return false;
        if (is_exact_) return true;
        if (!few_) return table_[slot(arc)] == arc;
        return std::find(list_, list_ + count_, arc) != list_ + count_;
    }

    void add(int64_t arc) {
        bits_[word(arc)] |= uint64_t{1} << (arc & 63);
        if (is_exact_) return;
        if (few_) list_[count_++] = arc;
        else table_[slot(arc)] = arc;
    }

private:
    static constexpr int64_t most_compared = 64, words = 8;

    bool is_exact_ = true, few_ = true;
    int64_t count_ = 0;
    uint64_t bits_[words];
    int64_t list_[most_compared];
    std::vector<int64_t> table_;

    static int64_t word(int64_t arc) { return arc >> 6 & (words - 1); }

    uint64_t slot(int64_t arc) const {
        const uint64_t mask = table_.size() - 1;
        uint64_t at = mix(static_cast<uint64_t>(arc)) & mask;
        while (table_[at] != -1 && table_[at] != arc) at = (at + 1) & mask;
        return at;
    }
};

// Any `count` of the arcs begin..end - 1 alike, fewer than there are, each at most once (Floyd's algorithm: Bentley and
// Floyd, "A sample of brilliance", CACM 1987).
inline void draw_distinct(int64_t own, int64_t begin, int64_t end, int64_t count, Drawn& drawn, int64_t* out) {
    const int64_t rest = end - begin - count;
    for (int64_t i = 0; i < count; ++i) out[i] = random_below(own, i, rest + i + 1);
    drawn.start(end - begin, count);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t arc = drawn.has(out[i]) ? rest + i : out[i];
        drawn.add(arc);
        out[i] = begin + arc;
    }
}

inline void draw_repeatedly(int64_t own, int64_t begin, int64_t end, int64_t count, int64_t* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = begin + random_below(own, i, end - begin);
}

// As std::upper_bound, without branches that cannot be foreseen.
inline const double* first_above(const double* first, int64_t count, double wanted) {
    while (count > 1) {
        const int64_t half = count / 2;
        first += (first[half - 1] <= wanted) ? half : 0;
        count -= half;
    }
    return first + (count == 1 && *first <= wanted);
}

// Arcs drawn by their weights. Running sums of these are kept for every 128th arc only, an eighth of a byte for an arc:
// the sum up to any other one is finished from the weights, which lie in a few lines of the cache.
template <class Weight>
class WeightedRow {
public:
    static constexpr int64_t step = 128;

    // sums[i] : of all weights before arc i * step.
    WeightedRow(const Weight* weights, const double* sums, int64_t begin, int64_t end)
        : weights_(weights), sums_(sums), begin_(begin), end_(end), is_short_(end - begin <= step) {
        if (is_short_) {
            for (int64_t arc = begin; arc < end; ++arc)
                running_[arc - begin] = mass_ += static_cast<double>(weights_[arc]);
        } else {
            base_ = before(begin);
            mass_ = before(end) - base_;
        }
    }

    // Draws arcs of weight above 0 until `count` are found, with `replace` any of them again and again; returns how
    // many there are.
    int64_t draw(int64_t own, int64_t count, bool replace, Drawn& drawn, int64_t* out, int64_t found = 0) const {
        if (!(mass_ > 0)) return found;
        int64_t number = 0;
        // Arcs that were drawn before are passed over, which gives the distribution among the others.
        for (const int64_t most = replace ? count : 4 * count; found < count && number < most;) {
            Place places[together];
            const int64_t some = std::min({together, most - number, count - found});
            for (int64_t i = 0; i < some; ++i) places[i] = place(random_uniform(own, number + i) * mass_);
            for (int64_t i = 0; i < some; ++i) {
                const int64_t arc = at(places[i]);
                if (!replace && drawn.has(arc - begin_)) continue;
                if (!replace) drawn.add(arc - begin_);
                out[found++] = arc;
            }
            number += some;
        }
        // Few arcs have most of the mass: what is left is summed anew for each.
        for (number = 4 * count; !replace && found < count; ++number) {
            const int64_t arc = among_others(random_uniform(own, number), drawn);
            if (arc < 0) break;
            drawn.add(arc - begin_);
            out[found++] = arc;
        }
        return found;
    }

private:
    const Weight* weights_;
    const double* sums_;
    int64_t begin_, end_;
    bool is_short_;
    double base_ = 0, mass_ = 0, running_[step];

    static constexpr int64_t together = 16;  // draws whose weights are fetched before one is looked for
    static constexpr int64_t group = 16;     // weights that are added before one is looked for among them

    // Where to look for a share of the mass: from which block on, and the sum up to there.
    struct Place {
        double wanted;
        int64_t block;
    };

    static double sum_of_group(const Weight* weights) {
        double lane[4];
        for (int64_t i = 0; i < 4; ++i) lane[i] = static_cast<double>(weights[i]);
        for (int64_t from = 4; from < group; from += 4)
            for (int64_t i = 0; i < 4; ++i) lane[i] += static_cast<double>(weights[from + i]);
        return (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }

    double before(int64_t arc) const {
        double total = sums_[arc / step];
        int64_t from = arc / step * step;
        for (; from + group <= arc; from += group) total += sum_of_group(weights_ + from);
        for (; from < arc; ++from) total += static_cast<double>(weights_[from]);
        return total;
    }

    Place place(double share) const {
        if (is_short_) return {share, 0};
        const double wanted = base_ + share;
        const double *const first = sums_ + begin_ / step + 1, *const last = sums_ + (end_ - 1) / step + 1;
        const int64_t block = first_above(first, last - first, wanted) - 1 - sums_;
        constexpr int64_t line = 64 / sizeof(Weight);
        for (int64_t arc = block * step; arc < (block + 1) * step; arc += line) fetch(weights_ + arc);
        return {wanted, block};
    }

    // The arc at a place; rounding may lead beyond the last one that has any mass.
    int64_t at(const Place& place) const {
        if (is_short_) {
            return last_with_mass(begin_ + (first_above(running_, end_ - begin_, place.wanted) - running_));
        }
        int64_t arc = std::max(begin_, place.block * step);
        double total = arc == begin_ ? base_ : sums_[place.block];
        const int64_t end = std::min(end_, (place.block + 1) * step);
        for (; arc + group <= end; arc += group) {
            const double next = total + sum_of_group(weights_ + arc);
            if (next > place.wanted) break;
            total = next;
        }
        for (; arc < end; ++arc)
            if ((total += static_cast<double>(weights_[arc])) > place.wanted) break;
        return last_with_mass(arc);
    }

    int64_t last_with_mass(int64_t arc) const {
        arc = std::min(arc, end_ - 1);
        while (arc > begin_ && !(weights_[arc] > 0)) --arc;
        return arc;
    }

    int64_t among_others(double uniform, const Drawn& drawn) const {
        double left = 0, total = 0;
        for (int64_t arc = begin_; arc < end_; ++arc)
            if (!drawn.has(arc - begin_)) left += static_cast<double>(weights_[arc]);
        int64_t found = -1;
        for (int64_t arc = begin_; arc < end_ && total <= uniform * left; ++arc) {
            if (!(weights_[arc] > 0) || drawn.has(arc - begin_)) continue;
            total += static_cast<double>(weights_[arc]);
            found = arc;
        }
        return found;
    }
};

// Arcs of a long row drawn by their weights as long as a few tries find them: any arc alike, which is kept with the
// probability of its weight over a bound. A try reads one weight, where a share of the mass has to be looked up.
template <class Weight>
class Rejection {
public:
    Rejection(const Weight* weights, const int8_t* bounds, int64_t begin, int64_t end, int64_t count)
        : weights_(weights + begin), begin_(begin), degree_(end - begin) {
        constexpr int64_t step = WeightedRow<Weight>::step;
        if (degree_ <= step) return;
        const int8_t exponent = bounds[(begin + step - 1) / step];
        if (exponent == no_bound) return;
        bound_ = power_of_two(exponent);
        tries_ = 4 * count + 4;
    }

    int64_t tries() const { return tries_; }

    // Where some tries look: the number of an arc, and behind the point what decides whether it is kept. Asks for the
    // weights there.
    TGRAPH_INLINE void look(int64_t own, int64_t first, int64_t count, double* tries, bool from_file) const {
        const auto degree = static_cast<double>(degree_);
        for (int64_t i = 0; i < count; ++i) {
            const double found = random_uniform(own, first + i) * degree;
            tries[i] = found;
            fetch_from(from_file, weights_ + static_cast<int64_t>(found));
        }
    }

    // The arcs that tries find, behind `found` others, until there are `count`; returns how many there are then.
    int64_t draw(double* tries, int64_t size, int64_t count, bool replace, Drawn& drawn, int64_t* out,
                 int64_t found) const {
        int64_t kept = 0;
        for (int64_t i = 0; i < size; ++i) {
            const double arc = std::trunc(tries[i]), weight = weights_[static_cast<int64_t>(tries[i])];
            const bool is_kept = (tries[i] - arc) * bound_ < weight;
            tries[kept] = arc;
            kept += is_kept;
        }
        for (int64_t i = 0; i < kept && found < count; ++i) {
            const auto arc = static_cast<int64_t>(tries[i]);
            if (!replace && drawn.has(arc)) continue;
            if (!replace) drawn.add(arc);
            out[found++] = begin_ + arc;
        }
        return found;
    }

    // The stream behind what the tries take of it.
    int64_t after(int64_t own) const {
        return static_cast<int64_t>(static_cast<uint64_t>(own) + static_cast<uint64_t>(tries_) * 0x9e3779b97f4a7c15);
    }

private:
    static constexpr int8_t no_bound = -128;

    const Weight* weights_;
    int64_t begin_, degree_, tries_ = 0;
    double bound_ = 0;

    static double power_of_two(int64_t exponent) {
        return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
    }
};

}  // namespace tgraph
