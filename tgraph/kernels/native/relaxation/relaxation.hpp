// What the two ways to run a relaxation share: rounds of a frontier (fixpoint.hpp) and buckets (buckets.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/memory.hpp"
#include "threads/parallel.hpp"

namespace tgraph {

// What a round did. A bucket of the bucketed order counts as a round.
struct Round {
    bool pull;
    int64_t active, arcs, changed;
    double milliseconds;
};

enum class State { done, paused, wants_transpose };

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A relaxation under way. `advance` runs at most so many rounds, and for about so many seconds.
class Fixpoint {
public:
    virtual ~Fixpoint() = default;
    virtual State advance(int64_t max_rounds, double seconds) = 0;
    virtual int64_t active() const = 0;  // the size of the frontier that comes next
    // The arcs reversed, with weights of the same type, which a pull needs.
    virtual void set_transpose(const int64_t*, const int32_t*, const void*) {}

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

    // The first lines of a row; the processor fetches those that follow by itself.
    TGRAPH_INLINE void fetch_row(int64_t arc) const {
        for (int64_t line = 0; line < 2; ++line) {
            fetch(neighbors + arc + line * 16);
            weights.fetch(arc + line * 16);
        }
    }
    int64_t degree(int64_t v) const { return offset[v + 1] - offset[v]; }
};

// Below this many arcs a round costs less than to wake another thread.
inline constexpr int64_t arcs_for_threads = worth_a_thread(1 << 15);

}  // namespace tgraph
