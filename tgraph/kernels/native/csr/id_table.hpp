// Relabelling arbitrary ids that lie too far apart for a table of all values: a hash table of those that occur.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "threads/parallel.hpp"
#include "csr/radix.hpp"

namespace tgraph {

// The different ids of an edge list: open addressing, linear probing, filled by all threads at once. Any int64 is a
// valid id, yet no value and no flag is spent on empty slots: the least id marks them. Looking that one up ends at an
// empty slot; those keep rank 0, which is its rank.
class IdTable {
public:
    // For `ends` ids with repetitions, none below `least`, which is one of them.
    IdTable(int64_t least, int64_t ends)
        : least_(least), mask_(std::bit_ceil(smallest + static_cast<uint64_t>(ends) / 16) - 1), slots_(empty_slots()) {}

    int64_t size() const { return others_ + 1; }
    int64_t capacity() const { return static_cast<int64_t>(mask_) + 1; }

    // Adds ids. In a round every thread goes on until it has added its share of what the table may still take, so
    // that this never fills up; the next one, in a larger table where need be, begins where the threads stopped.
    template <class Id>
    void insert(const Id* ids, int64_t count) {
        const int parts = part_count(count);
        std::vector<Range> left(parts);
        for (int part = 0; part < parts; ++part) left[part] = part_of(count, part, parts);
        for (bool done = false; !done;) {
            if (others_ > limit() / 8 * 7) grow();
            const int64_t quota = (limit() - others_) / parts;
            std::vector<int64_t> added(parts);
            for_each_part(parts, [&](int part) { added[part] = insert_some(ids, left[part], quota); });
            done = true;
            for (int part = 0; part < parts; ++part) {
                others_ += added[part];
                done &= left[part].begin == left[part].end;
            }
        }
    }

    // Writes the ids, ascending, and the position of each among them to rank[its slot]: [capacity], zeros on entry.
    template <class Rank>
    void list(int64_t* ids, Rank* rank) const {
        ids[0] = least_;
        radix_sort<Record<uint64_t, NoId>>(Occupied{*this, capacity()}, others_, Ids{ids + 1, least_},
                                           split_into_digits(0, 64));
        advise_huge_pages(rank, capacity() * sizeof(Rank));
        each_slot(ids, size(), rank, [=](int64_t i, uint64_t slot) { rank[slot] = static_cast<Rank>(i); });
    }

    // out[i] = the rank of ids[i], each of which must be in the table.
    template <class Id, class Rank>
    void look_up(const Id* ids, int64_t count, const Rank* rank, Rank* out) const {
        advise_huge_pages(out, count * sizeof(Rank));
        each_slot(ids, count, rank, [=](int64_t i, uint64_t slot) { out[i] = rank[slot]; });
    }

private:
    static constexpr uint64_t smallest = 1 << 14;  // enough that every thread gets a share of what a round may add
    static constexpr int64_t lookahead = 16;       // ids whose slots are on their way from memory

    int64_t least_, others_ = 0;
    uint64_t mask_;
    Scratch<int64_t> slots_;

    // What the radix sort reads: the ids as distances from the least, which order like them.
    struct Occupied {
        const IdTable& table;
        int64_t size;

        template <class Record, class Visit>
        bool each(Range range, Visit visit) const {
            for (int64_t slot = range.begin; slot < range.end; ++slot)
                if (const int64_t id = table.slots_.data()[slot]; id != table.least_)
                    visit(Record{static_cast<uint64_t>(id) - static_cast<uint64_t>(table.least_), {}});
            return true;
        }
    };

    // Where its last pass writes.
    struct Ids {
        int64_t *out, least;

        template <class Record>
        void write(Cursor& cursor, const Record& record) const {
            out[cursor.next++] = static_cast<int64_t>(record.key + static_cast<uint64_t>(least));
        }
        void finish(const std::vector<Cursor>&) const {}
    };

    // Slots in use, at most: probes get long beyond three quarters.
    int64_t limit() const { return capacity() / 4 * 3; }

    // Where the search for an id begins. The mixing is the finalizer of splitmix64 (Steele, Lea and Flood, "Fast
    // splittable pseudorandom number generators", 2014): ids are often multiples of something.
    uint64_t home(int64_t id) const {
        auto bits = static_cast<uint64_t>(id);
        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
        return (bits ^ bits >> 31) & mask_;
    }

    // The slot of an id; an empty one for the least id, and for those that are not there.
    uint64_t find(int64_t id) const {
        uint64_t slot = home(id);
        while (slots_.data()[slot] != id && slots_.data()[slot] != least_) slot = (slot + 1) & mask_;
        return slot;
    }

    // Calls visit(i, slot of ids[i]) for every i, on all threads.
    template <class Id, class Rank, class Visit>
    void each_slot(const Id* ids, int64_t count, const Rank* rank, Visit visit) const {
        const int parts = part_count(count);
        for_each_part(parts, [=, this](int part) {
            const Range range = part_of(count, part, parts);
            for (int64_t i = range.begin; i < range.end; ++i) {
                const uint64_t ahead = home(ids[std::min(i + lookahead, range.end - 1)]);
                __builtin_prefetch(slots_.data() + ahead);
                __builtin_prefetch(rank + ahead);
                visit(i, find(ids[i]));
            }
        });
    }

    // True where the id is new. Other threads insert at the same time: a slot goes from empty to an id, once.
    bool insert(int64_t id) {
        for (uint64_t slot = home(id);; slot = (slot + 1) & mask_) {
            std::atomic_ref<int64_t> place(slots_.data()[slot]);
            int64_t found = place.load(std::memory_order_relaxed);
            if (found == least_ && id != least_ && place.compare_exchange_strong(found, id, std::memory_order_relaxed))
                return true;
            if (found == id) return false;  // `found` is what another thread put there if the exchange failed
        }
    }

    // Inserts from the front of `left` until that is empty or `quota` ids were new; returns how many were.
    template <class Id>
    int64_t insert_some(const Id* ids, Range& left, int64_t quota) {
        int64_t i = left.begin, added = 0;
        for (; i < left.end && added < quota; ++i) {
            __builtin_prefetch(slots_.data() + home(ids[std::min(i + lookahead, left.end - 1)]));
            added += insert(ids[i]);
        }
        left.begin = i;
        return added;
    }

    void grow() {
        const int64_t old_capacity = capacity();
        mask_ = 2 * mask_ + 1;
        const Scratch<int64_t> old = std::exchange(slots_, empty_slots());
        const int parts = part_count(old_capacity);
        for_each_part(parts, [&](int part) {
            Range range = part_of(old_capacity, part, parts);
            insert_some(old.data(), range, old_capacity);
        });
    }

    Scratch<int64_t> empty_slots() const {
        Scratch<int64_t> slots(capacity());
        const int parts = part_count(capacity());
        for_each_part(parts, [&](int part) {
            const Range range = part_of(capacity(), part, parts);
            std::fill(slots.data() + range.begin, slots.data() + range.end, least_);
        });
        return slots;
    }
};

}  // namespace tgraph
