// Relabelling of arbitrary sparse ids by a concurrent hash table; relabel.hpp has a direct table for dense ids.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/memory.hpp"
#include "csr/radix.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// The set of ids of an edge list: open addressing with linear probing, filled concurrently by compare-and-swap
// (relaxed: no other data depends on it). Any int64 is a valid id, so the least id marks empty slots; looking it up
// ends at an empty slot, whose rank is 0, the rank of the least id.
class IdTable {
public:
    // `least` : the smallest id. `ends` : number of ids with repetitions.
    IdTable(int64_t least, int64_t ends)
        : least_(least), mask_(std::bit_ceil(smallest + static_cast<uint64_t>(ends) / 16) - 1), slots_(empty_slots()) {}

    int64_t size() const { return others_ + 1; }
    int64_t capacity() const { return static_cast<int64_t>(mask_) + 1; }

    // Adds ids in rounds. In a round every thread adds at most its share of the free capacity, so that the table never
    // fills up; between rounds the table grows if necessary, and each thread continues where it stopped.
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

    // Writes the ids in ascending order, and rank[slot of id] = its position; rank is [capacity], zeros on entry.
    template <class Rank>
    void list(int64_t* ids, Rank* rank) const {
        sort(ids);
        advise_huge_pages(rank, capacity() * sizeof(Rank));
        each_slot(ids, size(), rank, [=](int64_t i, uint64_t slot) { rank[slot] = static_cast<Rank>(i); });
    }

    // out[i] = the rank of ids[i], all of which are in the table.
    template <class Id, class Rank>
    void look_up(const Id* ids, int64_t count, const Rank* rank, Rank* out) const {
        advise_huge_pages(out, count * sizeof(Rank));
        each_slot(ids, count, rank, [=](int64_t i, uint64_t slot) { out[i] = rank[slot]; });
    }

private:
    static constexpr uint64_t smallest = 1 << 14;  // capacity, so that every thread has a share in each round
    static constexpr int64_t lookahead = 16;       // prefetch distance in ids

    int64_t least_, others_ = 0;
    uint64_t mask_;
    Scratch<int64_t> slots_;

    // Source of the radix sort: the ids minus the least id, as unsigned keys of the same order.
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

    // Its sink.
    struct Ids {
        int64_t *out, least;

        template <class Record>
        void write(Cursor& cursor, const Record& record) const {
            out[cursor.next++] = static_cast<int64_t>(record.key + static_cast<uint64_t>(least));
        }
        void finish(const std::vector<Cursor>&) const {}
    };

    void sort(int64_t* ids) const {
        ids[0] = least_;
        radix_sort<Record<uint64_t, NoId>>(Occupied{*this, capacity()}, others_, Ids{ids + 1, least_},
                                           split_into_digits(0, 64));
    }

    // The load factor is at most 3/4: beyond it probe sequences get long.
    int64_t limit() const { return capacity() / 4 * 3; }

    // The first slot of the probe sequence. Hashed, as ids are often multiples of a power of two.
    uint64_t home(int64_t id) const { return mix(static_cast<uint64_t>(id)) & mask_; }

    // The slot of an id; an empty slot for the least id and for ids that are not in the table.
    uint64_t find(int64_t id) const {
        uint64_t slot = home(id);
        while (slots_.data()[slot] != id && slots_.data()[slot] != least_) slot = (slot + 1) & mask_;
        return slot;
    }

    // Calls visit(i, slot of ids[i]) for every i, in parallel.
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

    // Returns whether the id is new. Safe with concurrent inserts: a slot changes from empty to an id once.
    bool insert(int64_t id) {
        for (uint64_t slot = home(id);; slot = (slot + 1) & mask_) {
            std::atomic_ref<int64_t> place(slots_.data()[slot]);
            int64_t found = place.load(std::memory_order_relaxed);
            if (found == least_ && id != least_ && place.compare_exchange_strong(found, id, std::memory_order_relaxed))
                return true;
            if (found == id) return false;  // also if the exchange failed because another thread inserted the same id
        }
    }

    // Inserts from the front of `left` until it is empty or `quota` ids were new; returns the number of new ids.
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
        fill(slots.data(), capacity(), least_);
        return slots;
    }
};

}  // namespace tgraph
