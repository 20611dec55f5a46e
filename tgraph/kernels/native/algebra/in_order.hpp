// Results of chunks whose sizes are known when they are done, laid one after the other in the order of the chunks.
// Nobody waits: a chunk that is done before those ahead of it is put aside, and placed by the thread that finishes the
// last of these.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "base/memory.hpp"

namespace tgraph {

// The entries of some rows.
template <class T>
struct Part {
    int64_t chunk = 0, size = 0, room = 0;
    Scratch<int32_t> columns;
    Scratch<T> values;

    void reserve(int64_t entries) {
        size = 0;
        if (entries <= room) return;
        room = entries;
        columns = Scratch<int32_t>(entries);
        values = Scratch<T>(entries);
    }
};

template <class T>
class InOrder {
public:
    // A part to write to, with memory that others have left.
    Part<T> part(int64_t chunk, int64_t entries) {
        Part<T> found;
        {
            const std::lock_guard lock(mutex_);
            if (!left_.empty()) {
                found = std::move(left_.back());
                left_.pop_back();
            }
        }
        found.reserve(entries);
        found.chunk = chunk;
        return found;
    }

    // Calls place(part, entries before it) for this part or others, as soon as it is known where they go.
    template <class Place>
    void finish(Part<T> part, const Place& place) {
        std::unique_lock lock(mutex_);
        waiting_.emplace(part.chunk, std::move(part));
        while (!waiting_.empty() && waiting_.begin()->first == next_) {
            Part<T> first = std::move(waiting_.extract(waiting_.begin()).mapped());
            const int64_t before = total_;
            total_ += first.size;
            ++next_;
            lock.unlock();
            place(first, before);
            lock.lock();
            left_.push_back(std::move(first));
        }
    }

    int64_t total() const { return total_; }

private:
    std::mutex mutex_;
    std::map<int64_t, Part<T>> waiting_;
    std::vector<Part<T>> left_;
    int64_t next_ = 0, total_ = 0;
};

}  // namespace tgraph
