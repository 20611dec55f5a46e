// Parallel push by propagation blocking (Beamer, Asanovic, Patterson, IPDPS 2017): a stable counting sort puts the arcs
// into blocks of targets, and each block is processed by one thread. Every target receives its messages in arc order,
// and receivers are numbered in the order in which they are first reached, as in a sequential push.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "threads/parallel.hpp"
#include "base/rows.hpp"
#include "base/scan.hpp"
#include "base/selection.hpp"

namespace tgraph {

// The arcs of a selection by blocks of targets.
class ArcBlocks {
public:
    struct Arc {
        uint32_t to;   // less the first target of the block
        uint32_t row;  // of the selection, as its number
        int64_t number;
    };

    explicit ArcBlocks(const Selection& selection)
        : shift_(std::max(12, static_cast<int>(std::bit_width(static_cast<uint64_t>(selection.num_vertices))) - 10)),
          size_((selection.num_vertices >> shift_) + 1), arcs_(selection.num_arcs()), begin_(size_ + 1) {
        const int parts = part_count(selection.num_arcs());
        std::vector<int64_t> next(parts * size_);
        for_each_part(parts, [&](int part) {
            int64_t* count = next.data() + part * size_;
            each_arc(selection, part, parts, [&](int64_t to, int64_t, int64_t) { ++count[to >> shift_]; });
        });
        int64_t total = 0;
        for (int64_t block = 0; block < size_; ++block) {
            begin_[block] = total;
            for (int part = 0; part < parts; ++part) {
                int64_t& place = next[part * size_ + block];
                total += std::exchange(place, total);
            }
        }
        begin_[size_] = total;
        for_each_part(parts, [&](int part) {
            int64_t* place = next.data() + part * size_;
            each_arc(selection, part, parts, [&](int64_t to, int64_t row, int64_t number) {
                const auto within = static_cast<uint32_t>(to & (width() - 1));
                arcs_.data()[place[to >> shift_]++] = {within, static_cast<uint32_t>(row), number};
            });
        });
    }

    int64_t size() const { return size_; }
    const Arc* begin(int64_t block) const { return arcs_.data() + begin_[block]; }
    const Arc* end(int64_t block) const { return arcs_.data() + begin_[block + 1]; }
    int64_t first_target(int64_t block) const { return block << shift_; }
    int64_t width() const { return int64_t{1} << shift_; }

private:
    template <class Visit>
    static void each_arc(const Selection& selection, int part, int parts, const Visit& visit) {
        const int64_t first = selection.offset[0];
        Range arcs = part_of(selection.num_arcs(), part, parts);
        arcs.begin += first, arcs.end += first;
        each_row(selection.offset, selection.count, arcs, [&](int64_t row, Range held) {
            const int64_t shift = selection.begin(row) - selection.offset[row];
            for (int64_t i = held.begin; i < held.end; ++i) visit(selection.neighbors[i + shift], row, i);
        });
    }

    int shift_;
    int64_t size_;
    Scratch<Arc> arcs_;
    std::vector<int64_t> begin_;
};

// A bitmap of the arcs that are the first to reach their target, with rank queries. Bits are set by relaxed atomics, as
// blocks share words.
class FirstArcs {
public:
    FirstArcs(const ArcBlocks& blocks, int64_t first_arc, int64_t num_arcs, int threads)
        : first_arc_(first_arc), is_first_(num_arcs / 64 + 1), before_(num_arcs / 64 + 2) {
        fill(is_first_.data(), num_arcs / 64 + 1, uint64_t{0});
        for_each_chunk(blocks.size(), threads, [&](int64_t block) {
            std::vector<bool> reached(blocks.width());
            for (const auto* arc = blocks.begin(block); arc != blocks.end(block); ++arc) {
                if (reached[arc->to]) continue;
                reached[arc->to] = true;
                const int64_t i = arc->number - first_arc_;
                std::atomic_ref<uint64_t>(is_first_.data()[i >> 6])
                    .fetch_or(uint64_t{1} << (i & 63), std::memory_order_relaxed);
            }
        });
        before_.data()[0] = 0;
        scan(num_arcs / 64 + 1, before_.data() + 1, int64_t{0},
             [this](int64_t word) { return static_cast<int64_t>(std::popcount(is_first_.data()[word])); });
        count_ = before_.data()[num_arcs / 64 + 1];
    }

    int64_t count() const { return count_; }

    // The number of first arcs before `arc`.
    int64_t rank(int64_t arc) const {
        const int64_t i = arc - first_arc_;
        const uint64_t earlier = is_first_.data()[i >> 6] & ((uint64_t{1} << (i & 63)) - 1);
        return before_.data()[i >> 6] + std::popcount(earlier);
    }

private:
    int64_t first_arc_, count_ = 0;
    Scratch<uint64_t> is_first_;
    Scratch<int64_t> before_;
};

// Calls start(place) once for each receiver, then add(place, row, arc) for each of its arcs in order, of an adder per
// block; lists the receivers by place. Returns their number.
template <class Adder, class Start>
int64_t push_in_blocks(const Selection& selection, int64_t* receivers, int threads, const Start& start,
                       const Adder& adder) {
    const ArcBlocks blocks(selection);
    const FirstArcs first(blocks, selection.offset[0], selection.num_arcs(), threads);
    for_each_chunk(blocks.size(), threads, [&](int64_t block) {
        Adder add(adder);
        std::vector<int64_t> places(blocks.width(), -1);
        for (const auto* arc = blocks.begin(block); arc != blocks.end(block); ++arc) {
            int64_t& place = places[arc->to];
            if (place < 0) {
                place = first.rank(arc->number);
                receivers[place] = blocks.first_target(block) + arc->to;
                start(place);
            }
            add(place, arc->row, arc->number);
        }
        add.flush();
    });
    return first.count();
}

// The same for a dense, initialised result, where every vertex is its own place.
template <class Adder>
void push_in_blocks(const Selection& selection, int threads, const Adder& adder) {
    const ArcBlocks blocks(selection);
    for_each_chunk(blocks.size(), threads, [&](int64_t block) {
        Adder add(adder);
        for (const auto* arc = blocks.begin(block); arc != blocks.end(block); ++arc)
            add(blocks.first_target(block) + arc->to, arc->row, arc->number);
        add.flush();
    });
}

}  // namespace tgraph
