// Label propagation: in every round each vertex takes the label that most of its neighbours have, the least of equals.
//
// All vertices vote at the same time on the labels of the round before, so that the result depends on nothing but the
// graph. A row of a few arcs is compared with itself; a longer one is counted in a hash table of its own size, that
// caches hold for all but the hubs. Once little changes, only the neighbours of what changed vote again.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/memory.hpp"
#include "threads/parallel.hpp"
#include "base/rows.hpp"
#include "base/scan.hpp"
#include "analytics/sides.hpp"

namespace tgraph {
namespace {

// The label in front: most votes, then the least label.
template <class Label>
struct Lead {
    Label label = 0;
    std::make_unsigned_t<Label> votes = 0;

    void challenge(Label other, std::make_unsigned_t<Label> count) {
        if (count > votes || (count == votes && other < label)) label = other, votes = count;
    }
};

// Counts of labels: open addressing, linear probing, at least half of the slots empty.
template <class Label>
class Ballot {
public:
    struct Slot {
        Label label;
        std::make_unsigned_t<Label> votes;
    };

    explicit Ballot(Slot* slots) : slots_(slots) {}

    static int64_t slots_for(int64_t labels) {
        return static_cast<int64_t>(std::bit_ceil(2 * static_cast<uint64_t>(labels)));
    }

    void clear(int64_t labels) {
        const int64_t size = slots_for(labels);
        shift_ = 64 - std::countr_zero(static_cast<uint64_t>(size));
        mask_ = static_cast<uint64_t>(size) - 1;
        std::fill_n(slots_, size, Slot{0, 0});
    }

    // Adds a vote; returns how many the label has now.
    std::make_unsigned_t<Label> add(Label label) {
        // Fibonacci hashing (Knuth, TAOCP 3, section 6.4): labels are often close to each other.
        uint64_t slot = static_cast<uint64_t>(label) * 0x9e3779b97f4a7c15 >> shift_;
        while (slots_[slot].votes && slots_[slot].label != label) slot = (slot + 1) & mask_;
        slots_[slot].label = label;
        return ++slots_[slot].votes;
    }

private:
    Slot* slots_;
    int shift_ = 63;
    uint64_t mask_ = 0;
};

template <class Label>
class Election {
public:
    Election(const Sides<Label>& sides, Label* labels, Label* next)
        : sides_(sides), now_(labels), next_(next), chunks_{sides.offset(), sides.num_vertices},
          threads_(part_count(sides.num_arcs())), must_vote_(sides.num_vertices) {
        const int64_t longest =
            reduce(sides.num_vertices, int64_t{1}, [&](int64_t v) { return sides.degree(v); }, larger);
        slots_per_thread_ = Ballot<Label>::slots_for(labels_of(longest));
        slots_ = Scratch<typename Ballot<Label>::Slot>(threads_ * slots_per_thread_);
    }

    // Returns where the labels are after the given number of rounds, or less where no label changes any more.
    Label* run(int64_t rounds) {
        bool all = true, first = starts_with_ids() && sides_.count == 1;
        for (int64_t round = 0; round < rounds; ++round, first = false) {
            const int64_t changed_arcs = first ? vote_for_ids() : vote(all);
            std::swap(now_, next_);
            if (!changed_arcs) break;
            all = changed_arcs > sides_.num_arcs() / few;
            if (!all) call_neighbors();
        }
        return now_;
    }

private:
    static constexpr int64_t few = 4;    // a fraction of the arcs below which to find out who must vote pays
    static constexpr int64_t small = 8;  // arcs of a row that is compared with itself

    const Sides<Label>& sides_;
    Label *now_, *next_;
    RowChunks chunks_;
    int threads_;
    int64_t slots_per_thread_ = 0;
    Scratch<typename Ballot<Label>::Slot> slots_;
    Scratch<uint8_t> must_vote_;

    int64_t labels_of(int64_t degree) const { return std::min(degree, sides_.num_vertices); }

    bool starts_with_ids() const {
        return holds_for_all(sides_.num_vertices, [this](int64_t v) { return now_[v] == v; });
    }

    // One round into `next_`, of all vertices or of those that must. Returns the arcs at the vertices that changed.
    int64_t vote(bool all) {
        return each_vertex([&](int64_t v, Ballot<Label>& ballot) {
            return all || must_vote_.data()[v] ? winner(v, ballot) : now_[v];
        });
    }

    // The round in which every label is the vertex's own: the longest run of an ascending row wins.
    int64_t vote_for_ids() {
        return each_vertex([&](int64_t v, Ballot<Label>&) {
            const Row<Label> row = sides_.row(0, v);
            if (row.begin == row.end) return now_[v];
            Lead<Label> lead;
            const Label* run = row.begin;
            for (const Label* u = row.begin; u != row.end; ++u) {
                if (*u != *run) run = u;
                lead.challenge(*u, u - run + 1);
            }
            return lead.label;
        });
    }

    template <class Choose>
    int64_t each_vertex(const Choose& choose) {
        std::atomic<int64_t> changed{0};
        for_each_chunk(chunks_.size(), threads_, [&](int64_t chunk, int rank) {
            Ballot<Label> ballot(slots_.data() + rank * slots_per_thread_);
            const Range range = chunks_[chunk];
            int64_t arcs = 0;
            for (int64_t v = range.begin; v < range.end; ++v) {
                next_[v] = choose(v, ballot);
                if (next_[v] != now_[v]) arcs += sides_.degree(v);
            }
            changed.fetch_add(arcs, std::memory_order_relaxed);
        });
        return changed.load();
    }

    Label winner(int64_t v, Ballot<Label>& ballot) const {
        const int64_t degree = sides_.degree(v);
        if (degree == 0) return now_[v];
        Lead<Label> lead;
        if (degree <= small) {
            among_few(v, lead);
            return lead.label;
        }
        ballot.clear(labels_of(degree));
        for (int side = 0; side < sides_.count; ++side) {
            const Row<Label> row = sides_.row(side, v);
            for (const Label* u = row.begin; u != row.end; ++u) lead.challenge(now_[*u], ballot.add(now_[*u]));
        }
        return lead.label;
    }

    void among_few(int64_t v, Lead<Label>& lead) const {
        Label heard[small];
        int64_t count = 0;
        for (int side = 0; side < sides_.count; ++side) {
            const Row<Label> row = sides_.row(side, v);
            for (const Label* u = row.begin; u != row.end; ++u) heard[count++] = now_[*u];
        }
        for (int64_t i = 0; i < count; ++i) {  // the last of equal labels is counted in full
            std::make_unsigned_t<Label> votes = 0;
            for (int64_t j = 0; j <= i; ++j) votes += heard[j] == heard[i];
            lead.challenge(heard[i], votes);
        }
    }

    // Marks the neighbours of the vertices whose label changed in the round that has just ended.
    void call_neighbors() {
        fill(must_vote_.data(), sides_.num_vertices, uint8_t{0});
        for_each_chunk(chunks_.size(), threads_, [&](int64_t chunk) {
            const Range range = chunks_[chunk];
            for (int64_t v = range.begin; v < range.end; ++v) {
                if (now_[v] == next_[v]) continue;
                for (int side = 0; side < sides_.count; ++side) {
                    const Row<Label> row = sides_.row(side, v);
                    for (const Label* u = row.begin; u != row.end; ++u)
                        std::atomic_ref<uint8_t>(must_vote_.data()[*u]).store(1, std::memory_order_relaxed);
                }
            }
        });
    }
};

// Leaves the labels after the rounds in `labels`; `spare` is of the same length.
template <class Label>
void vote(In<int64_t> offset, In<Label> neighbors, std::optional<In<int64_t>> in_offset,
          std::optional<In<Label>> in_neighbors, Out<Label> labels, Out<Label> spare, int64_t rounds) {
    const Sides<Label> sides(offset, neighbors, in_offset, in_neighbors);
    const Label* last = Election<Label>(sides, labels.data(), spare.data()).run(rounds);
    if (last != labels.data()) copy(last, sides.num_vertices, labels.data());
}

template <class Label>
void bind(nb::module_& module) {
    using nb::arg;
    module.def("vote", &vote<Label>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("in_offset").noconvert().none(), arg("in_neighbors").noconvert().none(), arg("labels").noconvert(),
               arg("spare").noconvert(), arg("rounds"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_vote(nb::module_& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
