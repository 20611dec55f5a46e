// Synchronous label propagation (CDLP of LDBC Graphalytics, after Raghavan, Albert, Kumara 2007): in every round each
// vertex takes the most frequent label of its neighbors, the least of ties. Parallel over edge-balanced chunks of
// vertices.
//
// Labels are read from the round before, so that the result is deterministic. Labels of a short row are compared
// pairwise; those of a longer row are counted in a hash table sized for the row, which fits the cache for all but hubs.
// Once few labels change, only neighbors of changed vertices are recomputed.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/memory.hpp"
#include "threads/parallel.hpp"
#include "base/rows.hpp"
#include "base/scan.hpp"
#include "cohesion/undirected_rows.hpp"

namespace tgraph {
namespace {

// The most frequent label, the least of ties.
template <class Label>
struct Mode {
    Label label = 0;
    std::make_unsigned_t<Label> count = 0;

    void update(Label other, std::make_unsigned_t<Label> times) {
        if (times > count || (times == count && other < label)) label = other, count = times;
    }
};

// A histogram of labels: open addressing, linear probing, at least half of the slots empty.
template <class Label>
class Histogram {
public:
    struct Slot {
        Label label;
        std::make_unsigned_t<Label> count;
    };

    explicit Histogram(Slot* slots) : slots_(slots) {}

    static int64_t slots_for(int64_t labels) {
        return static_cast<int64_t>(std::bit_ceil(2 * static_cast<uint64_t>(labels)));
    }

    void clear(int64_t labels) {
        const int64_t size = slots_for(labels);
        shift_ = 64 - std::countr_zero(static_cast<uint64_t>(size));
        mask_ = static_cast<uint64_t>(size) - 1;
        std::fill_n(slots_, size, Slot{0, 0});
    }

    // Adds a label; returns its count.
    std::make_unsigned_t<Label> add(Label label) {
        // Fibonacci hashing (Knuth, TAOCP 3, section 6.4): labels are often close to each other.
        uint64_t slot = static_cast<uint64_t>(label) * 0x9e3779b97f4a7c15 >> shift_;
        while (slots_[slot].count && slots_[slot].label != label) slot = (slot + 1) & mask_;
        slots_[slot].label = label;
        return ++slots_[slot].count;
    }

private:
    Slot* slots_;
    int shift_ = 63;
    uint64_t mask_ = 0;
};

template <class Label>
class LabelPropagation {
public:
    LabelPropagation(const Sides<Label>& sides, Label* labels, Label* next)
        : sides_(sides), now_(labels), next_(next), chunks_{sides.offset(), sides.num_vertices},
          threads_(part_count(sides.num_arcs())), active_(sides.num_vertices) {
        const int64_t longest =
            reduce(sides.num_vertices, int64_t{1}, [&](int64_t v) { return sides.degree(v); }, larger);
        slots_per_thread_ = Histogram<Label>::slots_for(labels_of(longest));
        slots_ = Scratch<typename Histogram<Label>::Slot>(threads_ * slots_per_thread_);
    }

    // Returns the labels after the given number of rounds, or fewer if no label changes.
    Label* run(int64_t rounds) {
        bool all = true, first = starts_with_ids() && sides_.count == 1;
        for (int64_t round = 0; round < rounds; ++round, first = false) {
            const int64_t changed_arcs = first ? propagate_ids() : propagate(all);
            std::swap(now_, next_);
            if (!changed_arcs) break;
            all = changed_arcs > sides_.num_arcs() / few;
            if (!all) activate_neighbors();
        }
        return now_;
    }

private:
    static constexpr int64_t few = 4;    // below 1 / few of the arcs, determining the active vertices pays off
    static constexpr int64_t small = 8;  // arcs of a row whose labels are compared pairwise

    const Sides<Label>& sides_;
    Label *now_, *next_;
    RowChunks chunks_;
    int threads_;
    int64_t slots_per_thread_ = 0;
    Scratch<typename Histogram<Label>::Slot> slots_;
    Scratch<uint8_t> active_;

    int64_t labels_of(int64_t degree) const { return std::min(degree, sides_.num_vertices); }

    bool starts_with_ids() const {
        return holds_for_all(sides_.num_vertices, [this](int64_t v) { return now_[v] == v; });
    }

    // One round into `next_`, of all or of the active vertices. Returns the number of arcs of changed vertices.
    int64_t propagate(bool all) {
        return each_vertex([&](int64_t v, Histogram<Label>& histogram) {
            return all || active_.data()[v] ? most_frequent(v, histogram) : now_[v];
        });
    }

    // The first round, if every label is the vertex itself: the mode is the longest run of an ascending row.
    int64_t propagate_ids() {
        return each_vertex([&](int64_t v, Histogram<Label>&) {
            const Row<Label> row = sides_.row(0, v);
            if (row.begin == row.end) return now_[v];
            Mode<Label> mode;
            const Label* run = row.begin;
            for (const Label* u = row.begin; u != row.end; ++u) {
                if (*u != *run) run = u;
                mode.update(*u, u - run + 1);
            }
            return mode.label;
        });
    }

    template <class Choose>
    int64_t each_vertex(const Choose& choose) {
        std::atomic<int64_t> changed{0};
        for_each_chunk(chunks_.size(), threads_, [&](int64_t chunk, int rank) {
            Histogram<Label> histogram(slots_.data() + rank * slots_per_thread_);
            const Range range = chunks_[chunk];
            int64_t arcs = 0;
            for (int64_t v = range.begin; v < range.end; ++v) {
                next_[v] = choose(v, histogram);
                if (next_[v] != now_[v]) arcs += sides_.degree(v);
            }
            changed.fetch_add(arcs, std::memory_order_relaxed);
        });
        return changed.load();
    }

    Label most_frequent(int64_t v, Histogram<Label>& histogram) const {
        const int64_t degree = sides_.degree(v);
        if (degree == 0) return now_[v];
        Mode<Label> mode;
        if (degree <= small) {
            compare_pairwise(v, mode);
            return mode.label;
        }
        histogram.clear(labels_of(degree));
        for (int side = 0; side < sides_.count; ++side) {
            const Row<Label> row = sides_.row(side, v);
            for (const Label* u = row.begin; u != row.end; ++u) mode.update(now_[*u], histogram.add(now_[*u]));
        }
        return mode.label;
    }

    void compare_pairwise(int64_t v, Mode<Label>& mode) const {
        Label labels[small];
        int64_t count = 0;
        for (int side = 0; side < sides_.count; ++side) {
            const Row<Label> row = sides_.row(side, v);
            for (const Label* u = row.begin; u != row.end; ++u) labels[count++] = now_[*u];
        }
        for (int64_t i = 0; i < count; ++i) {  // the last occurrence of a label has its full count
            std::make_unsigned_t<Label> times = 0;
            for (int64_t j = 0; j <= i; ++j) times += labels[j] == labels[i];
            mode.update(labels[i], times);
        }
    }

    // Activates the neighbors of vertices that changed in the last round.
    void activate_neighbors() {
        fill(active_.data(), sides_.num_vertices, uint8_t{0});
        for_each_chunk(chunks_.size(), threads_, [&](int64_t chunk) {
            const Range range = chunks_[chunk];
            for (int64_t v = range.begin; v < range.end; ++v) {
                if (now_[v] == next_[v]) continue;
                for (int side = 0; side < sides_.count; ++side) {
                    const Row<Label> row = sides_.row(side, v);
                    for (const Label* u = row.begin; u != row.end; ++u)
                        std::atomic_ref<uint8_t>(active_.data()[*u]).store(1, std::memory_order_relaxed);
                }
            }
        });
    }
};

// Updates `labels` in place; `spare` is scratch memory of the same size.
template <class Label>
void vote(In<int64_t> offset, In<Label> neighbors, In<int64_t> in_offset, In<Label> in_neighbors, Out<Label> labels,
          Out<Label> spare, int64_t rounds) {
    const Sides<Label> sides(offset, neighbors, in_offset, in_neighbors);
    const Label* last = LabelPropagation<Label>(sides, labels.data(), spare.data()).run(rounds);
    if (last != labels.data()) copy(last, sides.num_vertices, labels.data());
}

template <class Label>
void bind(Module& module) {
    module.def("vote", &vote<Label>, "offset, neighbors, in_offset?, in_neighbors?, labels, spare, rounds");
}

}  // namespace

void bind_vote(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
