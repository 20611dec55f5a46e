// Local moving (Blondel, Guillaume, Lambiotte, Lefebvre 2008; with the revisited vertices of Traag, Waltman, van Eck
// 2019): vertices move to the community of a neighbor that raises modularity most.
//
// In a sweep, the vertices to visit are dealt into batches by a hash of vertex and sweep. Those of a batch choose at
// once, from the communities after the batch before, and then all of them move, so that the result does not depend on
// the number of threads. Few neighbors share a batch, and no two do so in most of the sweeps; none where the batches
// are given, the colors of a coloring. Weights are multiples of a power of two that make all sums exact, in any order.
//
// Within bounds, this is the refinement of Leiden: only vertices that are alone move, to a community within their bound
// that gains from it and keeps its vertices, so that communities are connected. Nobody is visited again.
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/random.hpp"
#include "base/scan.hpp"
#include "community/neighbor_weights.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

template <class Id>
struct WeightedRows {
    const int64_t* offset;
    const Id* neighbors;
    const double* weights;  // null where every arc weighs 1
    int64_t num_vertices;

    int64_t degree(int64_t v) const { return offset[v + 1] - offset[v]; }
};

// What a vertex brings to the null model: `out` and, in a directed graph, `in` weigh its arcs.
struct Strengths {
    const double *out, *in;
};

template <class Id>
class LocalMoves {
public:
    LocalMoves(WeightedRows<Id> rows, Strengths strengths, double scale, double stirred_share, Id* community,
               const Id* bound, const Id* batch, int64_t key)
        : rows_(rows), strengths_(strengths), scale_(scale), stirred_share_(stirred_share), community_(community),
          bound_(bound), batch_(batch), key_(key),
          threads_(part_count(rows.offset[rows.num_vertices])),
          weights_(threads_, NeighborWeights<Id>(rows.num_vertices)),
          calm_(rows.num_vertices),
          visited_(rows.num_vertices), target_(rows.num_vertices), of_community_(rows.num_vertices, strengths.in),
          of_bound_(bound ? rows.num_vertices : 0, bound && strengths.in) {
        const int64_t n = rows.num_vertices;
        copy(community, n, target_.data());
        for_each_entry(n, [&](int64_t v) {
            wait(v);
            put(of_community_, v, community[v], 1);
            if (bound) put(of_bound_, v, bound[v], 1);
        });
    }

    // Returns the number of moves.
    int64_t run(int64_t sweeps, int64_t batches, double enough) {
        int64_t moves = 0;
        for (int64_t sweep = 0; sweep < sweeps; ++sweep) {
            const int64_t count = deal(key_ + sweep, batches);
            if (!count) break;
            int64_t moved = 0;
            for (int64_t batch = 0; batch < batches; ++batch) {
                const Range held{starts_[batch], starts_[batch + 1]};
                choose(held, key_ + sweep, batch, batches);
                if (bound_) keep_roots(held);
                moved += apply(held, arcs_[batch]);
            }
            moves += moved;
            if (moved <= enough * rows_.num_vertices) break;
        }
        return moves;
    }

private:
    static constexpr int64_t arc_work = 4;         // what an arc is worth beside the items of `part_count`
    static constexpr int64_t longest_chunk = 256;  // in vertices
    static constexpr int64_t ahead = 64;           // arcs, that are fetched before they are read

    // The strengths of groups of vertices.
    struct Totals {
        Scratch<double> out, in;

        Totals(int64_t count, bool directed) : out(count), in(directed ? count : 0) {
            fill(out.data(), count, 0.0);
            if (directed) fill(in.data(), count, 0.0);
        }
    };

    const WeightedRows<Id> rows_;
    const Strengths strengths_;
    const double scale_, stirred_share_;
    Id* const community_;
    const Id *const bound_, *const batch_;
    const int64_t key_;
    const int threads_;
    std::vector<NeighborWeights<Id>> weights_;
    Scratch<Id> calm_;           // how many more neighbors move before a vertex is visited again; it waits at 0 or less
    Scratch<Id> visited_;        // of the present sweep, batch by batch
    Scratch<Id> target_;         // the community chosen by each vertex, its own between two batches
    Totals of_community_, of_bound_;
    std::vector<int64_t> starts_, arcs_;  // of the batches: where each begins, and its arcs

    void put(Totals& totals, int64_t v, Id group, double sign) const {
        const auto add = [group](double* total, double value) {
            std::atomic_ref<double>(total[group]).fetch_add(value, std::memory_order_relaxed);
        };
        add(totals.out.data(), sign * strengths_.out[v]);
        if (strengths_.in) add(totals.in.data(), sign * strengths_.in[v]);
    }

    // Whether a vertex is to be visited.
    bool waits(int64_t v) const { return calm_.data()[v] <= 0; }
    void wait(int64_t v) const { calm_.data()[v] = 0; }
    void rest(int64_t v) const {
        calm_.data()[v] = static_cast<Id>(stirred_share_ * static_cast<double>(rows_.degree(v))) + 1;
    }

    int64_t batch_of(int64_t key, int64_t v, int64_t batches) const {
        if (batch_) return batch_[v];
        return static_cast<int64_t>((random_word(key, v) >> 32) * static_cast<uint64_t>(batches) >> 32);
    }

    // Lists the waiting vertices by batch.
    int64_t deal(int64_t key, int64_t batches) {
        const int64_t n = rows_.num_vertices;
        const int parts = part_count(n);
        std::vector<int64_t> next(parts * batches), arcs(parts * batches);
        for_each_part(parts, [&](int part) {
            const Range range = part_of(n, part, parts);
            for (int64_t v = range.begin; v < range.end; ++v)
                if (waits(v)) {
                    const int64_t place = part * batches + batch_of(key, v, batches);
                    ++next[place], arcs[place] += rows_.degree(v);
                }
        });
        starts_.assign(batches + 1, 0);
        arcs_.assign(batches, 0);
        for (int64_t place = 0; place < parts * batches; ++place) arcs_[place % batches] += arcs[place];
        int64_t position = 0;
        for (int64_t batch = 0; batch < batches; ++batch) {
            for (int part = 0; part < parts; ++part) position += std::exchange(next[part * batches + batch], position);
            starts_[batch + 1] = position;
        }
        for_each_part(parts, [&](int part) {
            const Range range = part_of(n, part, parts);
            for (int64_t v = range.begin; v < range.end; ++v)
                if (waits(v))
                    visited_.data()[next[part * batches + batch_of(key, v, batches)]++] = static_cast<Id>(v);
        });
        return position;
    }

    template <class Body>
    void each_chunk(Range held, int64_t arcs, const Body& body) {
        const int64_t count = held.end - held.begin;
        const int64_t grain = std::clamp<int64_t>(count / 32, 1, longest_chunk), chunks = (count + grain - 1) / grain;
        const int threads = std::min(threads_, part_count(arc_work * (count + arcs)));
        for_each_chunk(chunks, threads, [&](int64_t chunk, int rank) {
            const int64_t begin = held.begin + chunk * grain;
            body(Range{begin, std::min(begin + grain, held.end)}, rank);
        });
    }

    void choose(Range held, int64_t key, int64_t batch, int64_t batches) {
        each_chunk(held, arcs_[batch], [&](Range range, int rank) {
            for (int64_t i = range.begin; i < range.end; ++i) {
                look_ahead(i);
                const int64_t v = visited_.data()[i];
                rest(v);
                const Id own = community_[v];
                if (bound_ && !is_alone(v, own)) continue;
                const Id target = best(v, weights_[rank]);
                if (target == own) continue;
                // Of two that want to join each other one goes.
                const bool may_swap = target > own && is_alone(v, own) && community_[target] == target &&
                                      is_alone(target, target) && batch_of(key, target, batches) == batch;
                if (may_swap)
                    wait(v);
                else
                    target_.data()[v] = target;
            }
        });
    }

    // Fetches what the next visits read: rows lie anywhere.
    TGRAPH_INLINE void look_ahead(int64_t i) const {
        const int64_t last = starts_.back() - 1;
        const int64_t far = visited_.data()[std::min(i + 8, last)], near = visited_.data()[std::min(i + 4, last)],
                      next = visited_.data()[std::min(i + 1, last)];
        fetch(&rows_.offset[far]);
        fetch(&community_[far]);
        fetch(&strengths_.out[far]);
        const Id* const row = rows_.neighbors + rows_.offset[near];
        for (int64_t arc = 0; arc < std::min(rows_.degree(near), ahead); arc += 64 / sizeof(Id)) fetch(row + arc);
        const int64_t begin = rows_.offset[next], end = std::min(begin + ahead, rows_.offset[next + 1]);
        for (int64_t arc = begin; arc < end; ++arc) fetch(&community_[rows_.neighbors[arc]]);
    }

    // Vertices that chose one that moves itself wait for another sweep.
    void keep_roots(Range held) {
        const Id* const target = target_.data();
        each_chunk(held, 0, [&](Range range, int) {
            for (int64_t i = range.begin; i < range.end; ++i) {
                const int64_t v = visited_.data()[i];
                if (target[v] != community_[v] && target[target[v]] != target[v]) wait(v);
            }
        });
        each_chunk(held, 0, [&](Range range, int) {
            for (int64_t i = range.begin; i < range.end; ++i) {
                const int64_t v = visited_.data()[i];
                if (waits(v)) target_.data()[v] = community_[v];
            }
        });
    }

    bool is_alone(int64_t v, Id community) const {
        return of_community_.out.data()[community] == strengths_.out[v] &&
               (!strengths_.in || of_community_.in.data()[community] == strengths_.in[v]);
    }

    Id best(int64_t v, NeighborWeights<Id>& weights) const {
        const Id own = community_[v];
        const double total = gather(v, weights);
        if (bound_ && total < penalty(of_bound_, v, bound_[v], true)) return own;  // its bound hardly holds it
        Id chosen = own;
        double highest = weights[0].weight - penalty(of_community_, v, own, true);
        for (int64_t i = 1; i < weights.size(); ++i) {
            const auto [weight, community] = weights[i];
            const double score = weight - penalty(of_community_, v, community, false);
            const bool is_preferred =
                score > highest ||
                (score == highest && (chosen != own || is_propagation()) && prefers(v, community, chosen));
            if (is_preferred) chosen = community, highest = score;
        }
        return highest < 0 && of_community_.out.data()[v] == 0 ? static_cast<Id>(v) : chosen;  // or on its own
    }

    // The weight of the arcs to each community, first the own one. Returns that of all arcs that count.
    double gather(int64_t v, NeighborWeights<Id>& weights) const {
        double total = 0;
        const int64_t begin = rows_.offset[v], end = rows_.offset[v + 1];
        weights.begin(end - begin + 1);
        weights.add(community_[v], 0);
        for (int64_t arc = begin; arc < end; ++arc) {
            const Id u = rows_.neighbors[arc];
            if (arc + ahead < end) fetch(&community_[rows_.neighbors[arc + ahead]]);
            if (u == v || (bound_ && bound_[u] != bound_[v])) continue;
            const double weight = rows_.weights ? rows_.weights[arc] : 1.0;
            total += weight;
            fetch(&of_community_.out.data()[community_[u]]);
            weights.add(community_[u], weight);
        }
        return total;
    }

    // The weight expected between a vertex and a group, of which it is a member or not.
    double penalty(const Totals& totals, int64_t v, Id group, bool is_member) const {
        const double out = strengths_.out[v], others_out = totals.out.data()[group] - (is_member ? out : 0);
        if (!strengths_.in) return scale_ * (out * others_out);
        const double in = strengths_.in[v], others_in = totals.in.data()[group] - (is_member ? in : 0);
        return scale_ * (out * others_in + in * others_out);
    }

    // Labels without a null model: all vertices draw the same one of equals, their own too, so that labels meet.
    bool is_propagation() const { return scale_ == 0 && !batch_; }

    bool prefers(int64_t v, Id one, Id other) const {
        if (batch_) return one > other;
        if (is_propagation()) return random_word(key_, one) < random_word(key_, other);
        return random_word(key_ + v, one) < random_word(key_ + v, other);
    }

    // Returns the number of moves.
    int64_t apply(Range held, int64_t arcs) {
        std::atomic<int64_t> moves{0};
        each_chunk(held, arcs / 4, [&](Range range, int) {
            int64_t moved = 0;
            for (int64_t i = range.begin; i < range.end; ++i) {
                fetch_moves(i, held.end - 1);
                const int64_t v = visited_.data()[i];
                const Id target = target_.data()[v], own = community_[v];
                if (target == own) continue;
                ++moved;
                put(of_community_, v, own, -1);
                put(of_community_, v, target, 1);
                if (!bound_) wake(v, target);
                std::atomic_ref(community_[v]).store(target, std::memory_order_relaxed);
            }
            if (moved) moves.fetch_add(moved, std::memory_order_relaxed);
        });
        return moves.load();
    }

    // Whichever it is while other threads move vertices.
    int64_t community_of(int64_t v) const { return std::atomic_ref(community_[v]).load(std::memory_order_relaxed); }

    // Fetches what the next moves read and write.
    TGRAPH_INLINE void fetch_moves(int64_t i, int64_t last) const {
        const int64_t far = visited_.data()[std::min(i + 12, last)], near = visited_.data()[std::min(i + 8, last)],
                      next = visited_.data()[std::min(i + 4, last)];
        fetch(&target_.data()[far]);
        fetch(&community_[far]);
        fetch(&rows_.offset[far]);
        fetch(&of_community_.out.data()[target_.data()[near]]);
        fetch(&of_community_.out.data()[community_of(near)]);
        fetch(rows_.neighbors + rows_.offset[near]);
        if (bound_ || target_.data()[next] == community_of(next)) return;
        const int64_t begin = rows_.offset[next], end = std::min(begin + ahead, rows_.offset[next + 1]);
        for (int64_t arc = begin; arc < end; ++arc) fetch(&calm_.data()[rows_.neighbors[arc]]);
    }

    // The neighbors outside of the community that a vertex moves to may be visited again.
    void wake(int64_t v, Id target) {
        for (int64_t arc = rows_.offset[v]; arc < rows_.offset[v + 1]; ++arc) {
            const Id u = rows_.neighbors[arc];
            const std::atomic_ref<Id> calm(calm_.data()[u]);
            const Id left = calm.load(std::memory_order_relaxed);
            if (left <= 0 || u == v || target_.data()[u] == target) continue;
            if (left == 1)
                calm.store(0, std::memory_order_relaxed);
            else
                calm.fetch_sub(1, std::memory_order_relaxed);
        }
    }
};

template <class Id>
int64_t move(In<int64_t> offset, In<Id> neighbors, In<double> weights, In<double> out, In<double> in, double scale,
             double stirred_share, Out<Id> community, In<Id> bound, In<Id> batch, int64_t key, int64_t sweeps,
             int64_t batches, double enough) {
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1;
    if (!n) return 0;
    const WeightedRows<Id> rows{offset.data(), neighbors.data(), weights.data(), n};
    LocalMoves<Id> moves(rows, {out.data(), in.data()}, scale, stirred_share, community.data(), bound.data(),
                         batch.data(), key);
    return moves.run(sweeps, batches, enough);
}

template <class Id>
void bind(Module& module) {
    module.def("move", &move<Id>,
               "offset, neighbors, weights?, out, in_?, scale, stirred_share, community, bound?, batch?, key, sweeps, "
               "batches, enough");
}

}  // namespace

void bind_move(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
