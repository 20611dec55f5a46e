// Shared by the passes of attention (GAT, GATv2, dot product): assignment of arcs to teams of lanes, gathers, and
// scores.
//
// The formulas are those of the portable implementation. A team of lanes * parts lanes (see teams.cuh) processes some
// arcs of a row, for one head. Each lane has 16 bytes of the columns of the head. A head with more columns than 32
// lanes hold is cut into slices: a team sums over one slice only, but computes scores over all of them.
//
// `near` is the end of the arcs that is the row of the team, `far` the other end; either can be the source or the
// target.
#pragma once

#include "base/atomics.cuh"
#include "base/teams.cuh"

namespace tgraph {

constexpr int attention_threads = 128;
// The least number of resident blocks per multiprocessor, see messages.cuh.
__device__ constexpr int attention_blocks(bool wide) { return wide ? 4 : 3; }

// of_numbers : each end has one number per head instead of columns. of_sum : the score is a function of the sum of both
// ends, else their product.
struct Gat {
    static constexpr bool of_numbers = true, of_sum = true;
};
struct Gatv2 {
    static constexpr bool of_numbers = false, of_sum = true;
};
struct Dot {
    static constexpr bool of_numbers = false, of_sum = false;
};

__device__ __forceinline__ float exponential(float x) { return expf(x); }
__device__ __forceinline__ double exponential(double x) { return exp(x); }

// Of the scores of a row and head: the greatest, 0 where none has a weight, and 1 / the sum of e^(score - greatest).
// Stored as adjacent numbers, [rows, heads, 2].
template <class Number>
struct alignas(2 * sizeof(Number)) Statistics {
    Number greatest = 0, scale = 0;

    static __device__ __forceinline__ Statistics load(const Number* statistics, int64_t place) {
        return reinterpret_cast<const Statistics*>(statistics)[place];
    }
    static __device__ __forceinline__ void store(Number greatest, Number total, Number* statistics, int64_t place) {
        reinterpret_cast<Statistics*>(statistics)[place] = {total > 0 ? greatest : Number{0}, 1 / total};
    }
    __device__ __forceinline__ Number weight(Number score) const { return exponential(score - greatest) * scale; }
};

// ---- the work of a team ---------------------------------------------------------------------------------------------

// Consecutive arcs of a row; slot -1 for a whole row.
struct Segment {
    int64_t row = 0, begin = 0, end = 0, slot = -1;
};

// The tile (row, first arc, end, slot) number `index` or, without tiles, the whole row rows[index] (null: index).
__device__ __forceinline__ Segment segment_of(
    const int64_t* tiles, const int64_t* rows, int64_t index, const int64_t* offset) {
    if (tiles != nullptr) return {tiles[index * 4], tiles[index * 4 + 1], tiles[index * 4 + 2], tiles[index * 4 + 3]};
    const int64_t row = rows == nullptr ? index : rows[index];
    return {row, offset[row], offset[row + 1], -1};
}

// Vertex ids of 32 or 64 bits, distinguished at run time to limit the number of instantiations.
struct Ids {
    const void* data;
    bool is_short;

    __device__ __forceinline__ int64_t operator[](int64_t i) const {
        return is_short ? static_cast<const int32_t*>(data)[i] : static_cast<const int64_t*>(data)[i];
    }
};

// The index of the row, or tile, and the head of a team; heads of a row are adjacent.
struct Team {
    Lane lane;
    int64_t index, head;

    __device__ __forceinline__ Team(int64_t lanes, int64_t parts, int64_t heads)
        : lane(static_cast<int>(lanes), static_cast<int>(parts)) {
        const int64_t warp = (int64_t{blockIdx.x} * attention_threads + threadIdx.x) / 32;
        const int64_t number = warp * (32 / (lane.lanes * lane.parts)) + lane.team;
        index = number / heads;
        head = number - index * heads;
    }

    // Iterations of `at_once` arcs per lane until all teams of the warp have processed their arcs.
    __device__ __forceinline__ int64_t rounds(const Segment& arcs, int at_once) const {
        const int64_t each = int64_t{at_once} * lane.parts;
        int64_t most = (arcs.end - arcs.begin + each - 1) / each;
        for (int apart = 1; apart < 32; apart *= 2) {
            const int64_t other = __shfl_xor_sync(all_lanes, most, apart);
            most = other > most ? other : most;
        }
        return most;
    }
};

// ---- columns of a lane ----------------------------------------------------------------------------------------------

// Loads `count` adjacent numbers, the first `size` of which are valid, and 0 for the others. With `wide` all or none
// are.
template <bool wide, int count, class T>
__device__ __forceinline__ Pack<T, count> load_some(const T* address, int64_t size) {
    Pack<T, count> numbers{};
    if constexpr (wide) {
        if (size > 0) numbers = load<T, count>(address);
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
            if (i < size) numbers.at[i] = address[i];
    }
    return numbers;
}

template <bool wide, class Result, class Number, int count>
__device__ __forceinline__ void store_some(Result* address, const Number (&value)[count], int64_t size) {
    Pack<Result, count> numbers;
#pragma unroll
    for (int i = 0; i < count; ++i) numbers.at[i] = Narrowed<Result>::from(value[i]);
    if constexpr (wide) {
        if (size > 0) store(address, numbers);
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
            if (i < size) address[i] = numbers.at[i];
    }
}

// ---- dropout --------------------------------------------------------------------------------------------------------

__device__ __forceinline__ uint32_t mixed(uint32_t bits) {
    bits = (bits ^ bits >> 16) * 0x7feb352du;
    bits = (bits ^ bits >> 15) * 0x846ca68bu;
    return bits ^ bits >> 16;
}

// The same hash as `kept` in the portable implementation, which names its source.
__device__ __forceinline__ bool is_kept(uint64_t counter, uint64_t seed, uint32_t threshold) {
    const uint32_t bits = mixed(static_cast<uint32_t>(counter) ^ static_cast<uint32_t>(seed));
    const uint32_t high = static_cast<uint32_t>(counter >> 32) * 0x9e3779b9u + static_cast<uint32_t>(seed >> 32);
    return mixed(bits + high) >= threshold;
}

// ---- arcs -----------------------------------------------------------------------------------------------------------

// A batch of arcs of a team, and the data of their far ends in the columns of a lane. For GAT, score =
// leaky_relu(total).
template <class T, class Number, int arcs>
struct Batch {
    static constexpr int count = 16 / sizeof(T);
    bool counts[arcs];                  // false past the end of the arcs
    int64_t other[arcs], number[arcs];  // far end; number of the arc in destination-major order
    Pack<T, count> far[arcs], sent[arcs], edge[arcs];
    Number total[arcs], score[arcs], product[arcs];
};

// The data of the row of a team in the columns of a lane.
template <class T, class Number>
struct Own {
    int64_t row = 0;
    Number number = 0;  // of the near end, for GAT
    Pack<T, 16 / sizeof(T)> near{}, held{}, vector{};
};

// Inputs of a pass. near, far : features at the ends of the arcs, [., heads, columns], or [., heads] for GAT. sent :
// what is summed, or multiplied, from the far end; held : the other factor of the products (null without products),
// both [., heads, columns]; one of them is the value and the other the gradient of the result. edge : null, or [edges,
// ..] as the ends. vector : [heads, columns] for GATv2. numbers : number of the arc at each position, null for the
// identity. position : edge of each arc, null for the identity.
template <class T, class Score, bool wide, bool at_source>
struct Attention {
    static constexpr int count = 16 / sizeof(T);
    static constexpr bool of_numbers = Score::of_numbers;
    using Number = typename Arithmetic<T>::Value;
    using Mine = Own<T, Number>;

    Ids neighbors;
    const int64_t *numbers, *position;
    int64_t heads, columns;
    Number factor, gain;
    uint32_t threshold;
    const int64_t* seed;  // null without dropout
    const T *near, *far, *held, *sent, *edge, *vector;

    // The value of GATv2 is the source feature, which is not read twice.
    static constexpr bool sends_far = !Score::of_numbers && Score::of_sum && !at_source;
    static constexpr bool holds_near = !Score::of_numbers && Score::of_sum && at_source;

    __device__ __forceinline__ int64_t at(int64_t row, int64_t head) const { return row * heads + head; }

    __device__ __forceinline__ auto stored(
        const T* data, int64_t row, int64_t head, int64_t column, bool counts) const {
        return load_some<wide, count>(data + at(row, head) * columns + column, counts ? columns - column : 0);
    }

    __device__ __forceinline__ Number leaky(Number x) const { return x > 0 ? x : x * factor; }
    __device__ __forceinline__ Number slope(Number x) const { return x > 0 ? Number{1} : factor; }

    __device__ __forceinline__ Mine own(int64_t row, int64_t head, int64_t column, bool counts) const {
        Mine mine;
        mine.row = row;
        if constexpr (Score::of_numbers) {
            if (counts) mine.number = widened(near[at(row, head)]);
        } else {
            mine.near = stored(near, row, head, column, counts);
        }
        if constexpr (holds_near) {
            mine.held = mine.near;
        } else {
            mine.held = stored(held, row, head, column, counts && held != nullptr);
        }
        if constexpr (!Score::of_numbers && Score::of_sum)
            mine.vector = stored(vector, 0, head, column, counts);
        return mine;
    }

    // Lists the arcs first, first + step, .. before end.
    template <int arcs>
    __device__ __forceinline__ void list(
        Batch<T, Number, arcs>& batch, int64_t first, int64_t step, int64_t end) const {
#pragma unroll
        for (int i = 0; i < arcs; ++i) {
            const int64_t arc = first + i * step;
            batch.counts[i] = arc < end;
            batch.other[i] = batch.counts[i] ? neighbors[arc] : 0;
            batch.number[i] = !batch.counts[i] ? 0 : numbers == nullptr ? arc : numbers[arc];
        }
    }

    // The edge of an arc.
    template <int arcs>
    __device__ __forceinline__ int64_t place(const Batch<T, Number, arcs>& batch, int arc) const {
        return position == nullptr ? batch.number[arc] : position[batch.number[arc]];
    }

    template <int arcs>
    __device__ __forceinline__ void gather(Batch<T, Number, arcs>& batch, int64_t head, int64_t column) const {
#pragma unroll
        for (int i = 0; i < arcs; ++i) {
            const bool counts = batch.counts[i];
            if constexpr (!Score::of_numbers) {
                batch.far[i] = stored(far, batch.other[i], head, column, counts);
                batch.edge[i] = {};
                if (counts && edge != nullptr) batch.edge[i] = stored(edge, place(batch, i), head, column, true);
            }
            if constexpr (!sends_far)
                batch.sent[i] = stored(sent, batch.other[i], head, column, counts && sent != nullptr);
        }
    }

    // Column i of `sent` and `held`; one of them is the value, to which "dot" adds the edge features.
    template <int arcs>
    __device__ __forceinline__ Number sent_at(const Batch<T, Number, arcs>& batch, int arc, int i) const {
        const Number number = widened(sends_far ? batch.far[arc].at[i] : batch.sent[arc].at[i]);
        return Score::of_sum || at_source ? number : number + widened(batch.edge[arc].at[i]);
    }
    template <int arcs>
    __device__ __forceinline__ Number held_at(
        const Batch<T, Number, arcs>& batch, const Mine& mine, int arc, int i) const {
        const Number number = widened(mine.held.at[i]);
        return Score::of_sum || !at_source ? number : number + widened(batch.edge[arc].at[i]);
    }

    // Column i of the argument of leaky_relu of GATv2, and the term of column i of the score.
    template <int arcs>
    __device__ __forceinline__ Number total_at(
        const Batch<T, Number, arcs>& batch, const Mine& mine, int arc, int i) const {
        return widened(batch.far[arc].at[i]) + widened(mine.near.at[i]) + widened(batch.edge[arc].at[i]);
    }
    template <int arcs>
    __device__ __forceinline__ Number term_at(
        const Batch<T, Number, arcs>& batch, const Mine& mine, int arc, int i) const {
        if constexpr (Score::of_sum) {
            return widened(mine.vector.at[i]) * leaky(total_at(batch, mine, arc, i));
        } else {
            const Number far = widened(batch.far[arc].at[i]), edge = widened(batch.edge[arc].at[i]);
            return at_source ? far * (widened(mine.near.at[i]) + edge) : widened(mine.near.at[i]) * (far + edge);
        }
    }

    // Adds the columns of the lane to scores and products.
    template <bool products, int arcs>
    __device__ __forceinline__ void add_terms(Batch<T, Number, arcs>& batch, const Mine& mine) const {
#pragma unroll
        for (int arc = 0; arc < arcs; ++arc) {
#pragma unroll
            for (int i = 0; i < count; ++i) {
                if constexpr (!Score::of_numbers) batch.score[arc] += term_at(batch, mine, arc, i);
                if constexpr (products)
                    batch.product[arc] += sent_at(batch, arc, i) * held_at(batch, mine, arc, i);
            }
        }
    }

    // Computes the scores of the listed arcs and, with `products`, the dot products of `sent` and `held`. Leaves the
    // data of the columns of the lane in `batch` and `mine`. Called by all lanes of the warp.
    template <bool products, int arcs>
    __device__ __forceinline__ void compute_scores(
        Batch<T, Number, arcs>& batch, Mine& mine, const Lane& lane, int64_t head, int64_t column) const {
#pragma unroll
        for (int i = 0; i < arcs; ++i) batch.score[i] = batch.product[i] = 0;
        const int64_t slice = lane.lanes * count;
        if (columns > slice && (products || !Score::of_numbers)) {
            for (int64_t first = lane.column * count; first < columns; first += slice) {
                gather(batch, head, first);
                mine = own(mine.row, head, first, true);
                add_terms<products>(batch, mine);
            }
            gather(batch, head, column);
            mine = own(mine.row, head, column, true);
        } else {
            gather(batch, head, column);
            add_terms<products>(batch, mine);
        }
        for (int apart = 1; apart < lane.lanes; apart *= 2) {
#pragma unroll
            for (int i = 0; i < arcs; ++i) {
                if constexpr (!Score::of_numbers)
                    batch.score[i] += __shfl_xor_sync(all_lanes, batch.score[i], apart);
                if constexpr (products) batch.product[i] += __shfl_xor_sync(all_lanes, batch.product[i], apart);
            }
        }
        finish_scores(batch, mine, head);
    }

    template <int arcs>
    __device__ __forceinline__ void finish_scores(Batch<T, Number, arcs>& batch, const Mine& mine, int64_t head) const {
#pragma unroll
        for (int i = 0; i < arcs; ++i) {
            if constexpr (Score::of_numbers) {
                batch.total[i] = mine.number;
                if (batch.counts[i]) batch.total[i] += widened(far[at(batch.other[i], head)]);
                if (batch.counts[i] && edge != nullptr) batch.total[i] += widened(edge[at(place(batch, i), head)]);
                batch.score[i] = leaky(batch.total[i]);
            } else if constexpr (!Score::of_sum) {
                batch.score[i] *= factor;
            }
        }
    }

    // Adds the gradients of target and vector by an arc, given the gradient of its score.
    template <int arcs>
    __device__ __forceinline__ void add_target_gradient(
        const Batch<T, Number, arcs>& batch, const Mine& mine, int arc, Number score, Number (&target)[count],
        Number (&vectors)[count]) const {
        if constexpr (Score::of_numbers) {
            target[0] += score;
        } else {
#pragma unroll
            for (int i = 0; i < count; ++i) {
                if constexpr (Score::of_sum) {
                    const Number total = total_at(batch, mine, arc, i);
                    target[i] += score * widened(mine.vector.at[i]) * slope(total);
                    vectors[i] += score * leaky(total);
                } else {
                    target[i] += factor * score * (widened(batch.far[arc].at[i]) + widened(batch.edge[arc].at[i]));
                }
            }
        }
    }

    // The gradient of column i of the edge features; `held` is the gradient of the result.
    template <int arcs>
    __device__ __forceinline__ Number edge_gradient(
        const Batch<T, Number, arcs>& batch, const Mine& mine, int arc, Number weight, Number score, int i) const {
        if constexpr (Score::of_sum) {
            return score * widened(mine.vector.at[i]) * slope(total_at(batch, mine, arc, i));
        } else {
            return factor * score * widened(mine.near.at[i]) + weight * widened(mine.held.at[i]);
        }
    }

    // Adds the gradients of source and value by an arc; `sent` is the gradient of the result.
    template <int arcs>
    __device__ __forceinline__ void add_source_gradient(
        const Batch<T, Number, arcs>& batch, const Mine& mine, int arc, Number weight, Number score,
        Number (&source)[count], Number (&value)[count]) const {
        if constexpr (Score::of_numbers) source[0] += score;
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const Number to_value = weight * sent_at(batch, arc, i);
            if constexpr (Score::of_numbers) {
                value[i] += to_value;
            } else if constexpr (Score::of_sum) {
                source[i] += to_value + score * widened(mine.vector.at[i]) * slope(total_at(batch, mine, arc, i));
            } else {
                value[i] += to_value;
                source[i] += factor * score * widened(batch.far[arc].at[i]);
            }
        }
    }

    // The factor of an arc by dropout: `gain`, or 0.
    template <int arcs>
    __device__ __forceinline__ Number dropout_factor(const Batch<T, Number, arcs>& batch, int arc, int64_t head) const {
        if (seed == nullptr) return 1;
        const auto counter = static_cast<uint64_t>(at(batch.number[arc], head));
        return is_kept(counter, static_cast<uint64_t>(*seed), threshold) ? gain : Number{0};
    }
};

// Kernel parameters are plain numbers and pointers: those common to all passes, and the Attention that they make up.
#define TGRAPH_ATTENTION_PARAMETERS(T)                                                                             \
    const int64_t *tiles, const int64_t *rows, int64_t first_index, int64_t end_index, const int64_t *offset,      \
        const void *neighbors, int64_t short_neighbors, const int64_t *numbers, const int64_t *position,           \
        int64_t heads, int64_t columns, int64_t lanes, int64_t parts, double factor, double gain,                  \
        int64_t threshold, const int64_t *seed, const T *near, const T *far, const T *held, const T *sent,         \
        const T *edge, const T *vector
#define TGRAPH_ATTENTION(at_source)                                                                                \
    Attention<T, Score, wide, at_source> {                                                                         \
        {neighbors, short_neighbors != 0}, numbers, position, heads, columns,                                      \
            static_cast<typename Arithmetic<T>::Value>(factor), static_cast<typename Arithmetic<T>::Value>(gain),  \
            static_cast<uint32_t>(threshold), seed, near, far, held, sent, edge, vector                            \
    }

}  // namespace tgraph
