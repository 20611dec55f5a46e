// The interface and graph representation shared by synchronous rounds (fixpoint.hpp) and delta-stepping (buckets.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// Statistics of a round; in delta-stepping, of a bucket.
struct Round {
    bool pull;
    int64_t active, arcs, changed;
    double milliseconds;
};

enum class State { done, paused, needs_transpose };

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A relaxation in progress. `advance` runs at most max_rounds, and for about `seconds`.
class Fixpoint {
public:
    virtual ~Fixpoint() = default;
    virtual State advance(int64_t max_rounds, double seconds) = 0;
    virtual int64_t active() const = 0;  // the size of the next frontier
    // The transpose, with weights of the same dtype, which a pull needs.
    virtual void set_transpose(const int64_t*, const int32_t*, const void*) {}
    // Another frontier, of distinct vertices (all if `ids` is null), and the direction of the rounds to come; values
    // may have been improved meanwhile. Only for synchronous rounds, as is `list`, which writes the next frontier.
    virtual void restart(const int64_t*, int64_t, int) { throw std::logic_error("restart: buckets have an order"); }
    virtual void list(int64_t*) { throw std::logic_error("list: buckets have no frontier"); }

    std::vector<Round> rounds;
};

template <class V>
struct OneWeight {
    V value;
    V operator[](int64_t) const { return value; }
    TGRAPH_INLINE void fetch(int64_t) const {}
    OneWeight of_transpose(const void*) const { return *this; }
};

template <class V, class W>
struct ArcWeights {
    const W* data;
    V operator[](int64_t arc) const { return static_cast<V>(data[arc]); }
    TGRAPH_INLINE void fetch(int64_t arc) const { tgraph::fetch(data + arc); }
    ArcWeights of_transpose(const void* weights) const { return {static_cast<const W*>(weights)}; }
};

template <class Weights>
struct ArcRows {
    const int64_t* offset;
    const int32_t* neighbors;
    Weights weights;

    // Prefetches the first cache lines of a row; the hardware prefetcher follows.
    TGRAPH_INLINE void fetch_row(int64_t arc) const {
        for (int64_t line = 0; line < 2; ++line) {
            fetch(neighbors + arc + line * 16);
            weights.fetch(arc + line * 16);
        }
    }
    int64_t degree(int64_t v) const { return offset[v + 1] - offset[v]; }
};

// A round of fewer arcs takes less time than waking another thread.
inline constexpr int64_t arcs_for_threads = worth_a_thread(1 << 15);

}  // namespace tgraph
