// Results of chunks whose sizes are known when they are done, laid one after the other in the order of the chunks. Nobody
// waits: a chunk that is done before those ahead of it is put aside, and placed by the thread that finishes the last of
// these.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "base/memory.hpp"

namespace tgraph {

// The entries of some rows.
template <class T>
struct Piece {
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
    // A piece to write to, with memory that others have left.
    Piece<T> piece(int64_t chunk, int64_t entries) {
        Piece<T> found;
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

    // Calls place(piece, entries before it) for this piece or others, as soon as it is known where they go.
    template <class Place>
    void finish(Piece<T> piece, const Place& place) {
        std::unique_lock lock(mutex_);
        waiting_.emplace(piece.chunk, std::move(piece));
        while (!waiting_.empty() && waiting_.begin()->first == next_) {
            Piece<T> first = std::move(waiting_.extract(waiting_.begin()).mapped());
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
    std::map<int64_t, Piece<T>> waiting_;
    std::vector<Piece<T>> left_;
    int64_t next_ = 0, total_ = 0;
};

}  // namespace tgraph
