// Local moving (Blondel, Guillaume, Lambiotte, Lefebvre 2008; with the revisited vertices of Traag, Waltman, van Eck
// 2019): vertices move to the community of a neighbor that raises modularity most.
//
// In a sweep, the vertices to visit are dealt into batches by a hash of vertex and sweep. Those of a batch choose at
// once, from the communities after the batch before, and then all of them move, so that the result does not depend on
// the number of threads. Few neighbors share a batch, and no two do so in most of the sweeps. Weights are multiples of
// a power of two that make all sums exact, in any order.
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
    LocalMoves(WeightedRows<Id> rows, Strengths strengths, double scale, Id* community, const Id* bound,
               int64_t key)
        : rows_(rows), strengths_(strengths), scale_(scale), community_(community), bound_(bound), key_(key),
          threads_(part_count(rows.offset[rows.num_vertices])), waits_(rows.num_vertices),
          visited_(rows.num_vertices), target_(rows.num_vertices), of_community_(rows.num_vertices, strengths.in),
          of_bound_(bound ? rows.num_vertices : 0, bound && strengths.in) {
        const int64_t n = rows.num_vertices;
        const int64_t longest = reduce(n, int64_t{1}, [&](int64_t v) { return rows.degree(v); }, larger);
        for (int thread = 0; thread < threads_; ++thread) weights_.emplace_back(std::min(longest + 1, n));
        fill(waits_.data(), n, uint8_t{1});
        copy(community, n, target_.data());
        for_each_entry(n, [&](int64_t v) {
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
                moved += apply(held);
            }
            moves += moved;
            if (moved <= enough * rows_.num_vertices) break;
        }
        return moves;
    }

private:
    static constexpr int64_t longest_chunk = 256;  // in vertices

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
    const double scale_;
    Id* const community_;
    const Id* const bound_;
    const int64_t key_;
    const int threads_;
    std::vector<NeighborWeights<Id>> weights_;
    Scratch<uint8_t> waits_;     // to be visited
    Scratch<Id> visited_;        // of the present sweep, batch by batch
    Scratch<Id> target_;         // the community chosen by each vertex, its own between two batches
    Totals of_community_, of_bound_;
    std::vector<int64_t> starts_;

    void put(Totals& totals, int64_t v, Id group, double sign) const {
        const auto add = [group](double* total, double value) {
            std::atomic_ref<double>(total[group]).fetch_add(value, std::memory_order_relaxed);
        };
        add(totals.out.data(), sign * strengths_.out[v]);
        if (strengths_.in) add(totals.in.data(), sign * strengths_.in[v]);
    }

    static int64_t batch_of(int64_t key, int64_t v, int64_t batches) {
        return static_cast<int64_t>((random_word(key, v) >> 32) * static_cast<uint64_t>(batches) >> 32);
    }

    // Lists the waiting vertices by batch.
    int64_t deal(int64_t key, int64_t batches) {
        const int64_t n = rows_.num_vertices;
        const int parts = part_count(n);
        std::vector<int64_t> next(parts * batches);
        for_each_part(parts, [&](int part) {
            const Range range = part_of(n, part, parts);
            for (int64_t v = range.begin; v < range.end; ++v)
                if (waits_.data()[v]) ++next[part * batches + batch_of(key, v, batches)];
        });
        starts_.assign(batches + 1, 0);
        int64_t position = 0;
        for (int64_t batch = 0; batch < batches; ++batch) {
            for (int part = 0; part < parts; ++part) position += std::exchange(next[part * batches + batch], position);
            starts_[batch + 1] = position;
        }
        for_each_part(parts, [&](int part) {
            const Range range = part_of(n, part, parts);
            for (int64_t v = range.begin; v < range.end; ++v)
                if (waits_.data()[v])
                    visited_.data()[next[part * batches + batch_of(key, v, batches)]++] = static_cast<Id>(v);
        });
        return position;
    }

    template <class Body>
    void each_chunk(Range held, const Body& body) {
        const int64_t count = held.end - held.begin, n = rows_.num_vertices;
        const int64_t grain = std::clamp<int64_t>(count / 32, 1, longest_chunk), chunks = (count + grain - 1) / grain;
        const int threads = std::min(threads_, part_count(count * (rows_.offset[n] / n + 1)));
        for_each_chunk(chunks, threads, [&](int64_t chunk, int rank) {
            const int64_t begin = held.begin + chunk * grain;
            body(Range{begin, std::min(begin + grain, held.end)}, rank);
        });
    }

    void choose(Range held, int64_t key, int64_t batch, int64_t batches) {
        each_chunk(held, [&](Range range, int rank) {
            for (int64_t i = range.begin; i < range.end; ++i) {
                const int64_t v = visited_.data()[i];
                waits_.data()[v] = 0;
                const Id own = community_[v];
                if (bound_ && !is_alone(v, own)) continue;
                const Id target = best(v, weights_[rank]);
                if (target == own) continue;
                // Of two that want to join each other one goes.
                const bool may_swap = target > own && is_alone(v, own) && community_[target] == target &&
                                      is_alone(target, target) && batch_of(key, target, batches) == batch;
                if (may_swap)
                    waits_.data()[v] = 1;
                else
                    target_.data()[v] = target;
            }
        });
    }

    // Vertices that chose one that moves itself wait for another sweep.
    void keep_roots(Range held) {
        const Id* const target = target_.data();
        each_chunk(held, [&](Range range, int) {
            for (int64_t i = range.begin; i < range.end; ++i) {
                const int64_t v = visited_.data()[i];
                if (target[v] != community_[v] && target[target[v]] != target[v]) waits_.data()[v] = 1;
            }
        });
        each_chunk(held, [&](Range range, int) {
            for (int64_t i = range.begin; i < range.end; ++i) {
                const int64_t v = visited_.data()[i];
                if (waits_.data()[v]) target_.data()[v] = community_[v];
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
        double highest = weights.begin()->weight - penalty(of_community_, v, own, true);
        for (auto entry = weights.begin() + 1; entry != weights.end(); ++entry) {
            const double score = entry->weight - penalty(of_community_, v, entry->community, false);
            const bool is_preferred =
                score > highest || (score == highest && chosen != own && prefers(v, entry->community, chosen));
            if (is_preferred) chosen = entry->community, highest = score;
        }
        return highest < 0 && of_community_.out.data()[v] == 0 ? static_cast<Id>(v) : chosen;  // or on its own
    }

    // The weight of the arcs to each community, first the own one. Returns that of all arcs that count.
    double gather(int64_t v, NeighborWeights<Id>& weights) const {
        double total = 0;
        const int64_t begin = rows_.offset[v], end = rows_.offset[v + 1];
        weights.clear(std::min(end - begin + 1, rows_.num_vertices));
        weights.add(community_[v], 0);
        for (int64_t arc = begin; arc < end; ++arc) {
            const Id u = rows_.neighbors[arc];
            if (u == v || (bound_ && bound_[u] != bound_[v])) continue;
            const double weight = rows_.weights ? rows_.weights[arc] : 1.0;
            total += weight;
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

    bool prefers(int64_t v, Id one, Id other) const {
        return random_word(key_ + v, one) < random_word(key_ + v, other);
    }

    // Returns the number of moves.
    int64_t apply(Range held) {
        std::atomic<int64_t> moves{0};
        each_chunk(held, [&](Range range, int) {
            int64_t moved = 0;
            for (int64_t i = range.begin; i < range.end; ++i) {
                const int64_t v = visited_.data()[i];
                const Id target = target_.data()[v], own = community_[v];
                if (target == own) continue;
                ++moved;
                put(of_community_, v, own, -1);
                put(of_community_, v, target, 1);
                if (!bound_) wake(v, target);
                community_[v] = target;
            }
            if (moved) moves.fetch_add(moved, std::memory_order_relaxed);
        });
        return moves.load();
    }

    // The neighbors outside of the community that a vertex moves to are visited again.
    void wake(int64_t v, Id target) {
        for (int64_t arc = rows_.offset[v]; arc < rows_.offset[v + 1]; ++arc) {
            const Id u = rows_.neighbors[arc];
            if (target_.data()[u] != target && u != v)
                std::atomic_ref<uint8_t>(waits_.data()[u]).store(1, std::memory_order_relaxed);
        }
    }
};

template <class Id>
int64_t move(In<int64_t> offset, In<Id> neighbors, In<double> weights, In<double> out, In<double> in, double scale,
             Out<Id> community, In<Id> bound, int64_t key, int64_t sweeps, int64_t batches, double enough) {
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1;
    if (!n) return 0;
    const WeightedRows<Id> rows{offset.data(), neighbors.data(), weights.data(), n};
    LocalMoves<Id> moves(rows, {out.data(), in.data()}, scale, community.data(), bound.data(), key);
    return moves.run(sweeps, batches, enough);
}

template <class Id>
void bind(nb::module_& module) {
    using nb::arg;
    module.def("move", &move<Id>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("weights").noconvert().none(), arg("out").noconvert(), arg("in_").noconvert().none(), arg("scale"),
               arg("community").noconvert(), arg("bound").noconvert().none(), arg("key"), arg("sweeps"), arg("batches"),
               arg("enough"),
               nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_move(nb::module_& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
