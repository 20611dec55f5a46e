// The interface and graph representation shared by synchronous rounds (fixpoint.hpp) and delta-stepping (buckets.hpp).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/clock.hpp"
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

// The rows of a graph in one or two pieces: each row goes on in the second, over the same vertices.
struct RowPieces {
    struct Piece {
        const int64_t* offset = nullptr;
        const int32_t* neighbors = nullptr;
    };
    Piece pieces[2];
    int count = 0;
};

// A relaxation in progress. `advance` runs at most max_rounds, and for about `seconds`.
class Fixpoint {
public:
    virtual ~Fixpoint() = default;
    virtual State advance(int64_t max_rounds, double seconds) = 0;
    virtual int64_t active() const = 0;  // the size of the next frontier
    // The transpose, with weights of the same dtype, which a pull needs.
    virtual void set_transpose(const RowPieces&, const void*) {}
    // Another frontier, of distinct vertices (all if `ids` is null), and the direction of the rounds to come; values
    // may have been improved meanwhile. Only for synchronous rounds, as is `list`, which writes the next frontier.
    virtual void restart(const int64_t*, int64_t, int) { throw std::logic_error("restart: buckets have an order"); }
    virtual void list(int64_t*) { throw std::logic_error("list: buckets have no frontier"); }

    std::vector<Round> rounds;
};

enum class Number { i32, i64, f32, f64 };

template <class V>
constexpr Number number_of() {
    if constexpr (std::is_floating_point_v<V>) return sizeof(V) == 4 ? Number::f32 : Number::f64;
    return sizeof(V) == 4 ? Number::i32 : Number::i64;
}

// The weights of arcs as numbers V: none, those of an array of W, or of a dtype known at run time.
template <class V>
struct NoWeights {
    V operator[](int64_t) const { return {}; }
    TGRAPH_INLINE void fetch(int64_t) const {}
};

template <class V, class W>
struct TypedWeights {
    const W* data;
    V operator[](int64_t arc) const { return static_cast<V>(data[arc]); }
    TGRAPH_INLINE void fetch(int64_t arc) const { tgraph::fetch(data + arc); }
};

// One for all where `data` is null. The branches are the same for every arc, hence predictable.
template <class V>
struct AnyWeights {
    const void* data;
    Number type;
    V one;

    // Whether the values can represent the weights: no floating ones in integers, nor float64 in float32.
    bool fit() const {
        return !data || type <= Number::i64 || (std::is_floating_point_v<V> && type <= number_of<V>());
    }
    template <class W>
    bool are() const {
        return data && type == number_of<W>();
    }

    TGRAPH_INLINE V operator[](int64_t arc) const {
        if (!data) return one;
        if (type == number_of<V>()) return static_cast<const V*>(data)[arc];
        if (type == Number::i32) return static_cast<V>(static_cast<const int32_t*>(data)[arc]);
        if (type == Number::i64) return static_cast<V>(static_cast<const int64_t*>(data)[arc]);
        return static_cast<V>(static_cast<const float*>(data)[arc]);
    }
    TGRAPH_INLINE void fetch(int64_t arc) const {
        const int64_t size = type == Number::i64 || type == Number::f64 ? 8 : 4;
        if (data) tgraph::fetch(static_cast<const char*>(data) + arc * size);
    }
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

template <class V>
using AnyRows = ArcRows<AnyWeights<V>>;

// The same in pieces. Two have one weight for all arcs.
template <class V>
class Pieces {
public:
    Pieces(const RowPieces& rows, const AnyWeights<V>& weights) : weights(weights), are_two_(rows.count > 1) {
        if (are_two_ && weights.data) throw std::invalid_argument("weights: rows in pieces have one for all");
        for (int i = 0; i < rows.count; ++i) pieces_[i] = {rows.pieces[i].offset, rows.pieces[i].neighbors, weights};
    }

    AnyWeights<V> weights;

    const AnyRows<V>* begin() const { return pieces_; }
    const AnyRows<V>* end() const { return pieces_ + 1 + are_two_; }
    bool are_two() const { return are_two_; }
    // The arcs of a vertex, and of all before it.
    int64_t degree(int64_t v) const { return pieces_[0].degree(v) + (are_two_ ? pieces_[1].degree(v) : 0); }
    int64_t before(int64_t v) const { return pieces_[0].offset[v] + (are_two_ ? pieces_[1].offset[v] : 0); }

private:
    AnyRows<V> pieces_[2] = {};
    bool are_two_;
};

template <class V>
ArcRows<NoWeights<V>> unweighted(const AnyRows<V>& rows) {
    return {rows.offset, rows.neighbors, {}};
}
template <class W, class V>
ArcRows<TypedWeights<V, W>> weighted(const AnyRows<V>& rows) {
    return {rows.offset, rows.neighbors, {static_cast<const W*>(rows.weights.data)}};
}

// Calls visit(rows) with weights of the dtype of the values, or int64 for int32 values, as for paths, known at compile
// time, all others at run time.
template <class V, class Visit>
void with_weights(const AnyRows<V>& rows, const Visit& visit) {
    if (rows.weights.template are<V>()) return visit(weighted<V>(rows));
    if constexpr (std::is_same_v<V, int32_t>)
        if (rows.weights.template are<int64_t>()) return visit(weighted<int64_t>(rows));
    visit(rows);
}

// A round of fewer arcs takes less time than waking another thread.
inline constexpr int64_t arcs_for_threads = worth_a_thread(1 << 15);

}  // namespace tgraph
