// Which arcs of a directed graph without cycles longer paths replace (Aho, Garey and Ullman, "The transitive reduction
// of a directed graph", 1972).
//
// A block of targets, neighbours in a topological order, is a bit each. From the last of them back to the first vertex,
// each vertex that reaches some passes its set on to its in-neighbours, which have what their out-neighbours reach: the
// arc u -> v is replaced where v is among these. Only the ancestors of a block are visited.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/zeroed.hpp"
#include "components/breadth_first.hpp"

namespace tgraph {
namespace {

constexpr int64_t targets_at_once = 256, words = targets_at_once / 64;

// Targets that a vertex reaches by two arcs or more, and by one.
struct alignas(64) Reach {
    uint64_t longer[words], direct[words];

    bool any() const {
        uint64_t all = 0;
        for (int64_t i = 0; i < words; ++i) all |= longer[i] | direct[i];
        return all != 0;
    }
};

// The sets of one thread. `in`: the rows of the transpose. `order`: the vertices such that arcs lead forward, `rank`
// their places in it.
class Ancestors {
public:
    Ancestors(GraphRows in, const int64_t* order, const Neighbor* rank)
        : in_(in), order_(order), rank_(rank), reach_(in.num_vertices), waiting_((in.num_vertices + 63) / 64) {}

    // Writes for each arc of `in` whose row is a target, in this range of the order, whether a longer path replaces it.
    void run(Range targets, bool* replaced) {
        for (int64_t place = targets.begin; place < targets.end; ++place) wait(place);
        for (int64_t word = (targets.end - 1) / 64; word >= 0; --word) {
            poll_interruption();
            while (waiting_[word]) {
                const int bit = 63 - std::countl_zero(waiting_[word]);
                waiting_[word] ^= uint64_t{1} << bit;
                pass_on(64 * word + bit, targets.begin);
            }
        }
        for (int64_t place = targets.begin; place < targets.end; ++place) {
            const int64_t v = order_[place], bit = place - targets.begin;
            for (int64_t arc = in_.offset[v]; arc < in_.offset[v + 1]; ++arc)
                replaced[arc] = reach_[in_.neighbors[arc]].longer[bit >> 6] >> (bit & 63) & 1;
        }
        for (const Neighbor v : reaching_) reach_[v] = {};
        reaching_.clear();
    }

private:
    GraphRows in_;
    const int64_t* order_;
    const Neighbor* rank_;
    Zeroed<Reach> reach_;
    std::vector<uint64_t> waiting_;   // a bit for each place of the order
    std::vector<Neighbor> reaching_;  // vertices whose set is not empty

    void wait(int64_t place) { waiting_[place >> 6] |= uint64_t{1} << (place & 63); }

    void pass_on(int64_t place, int64_t first_target) {
        constexpr int64_t ahead = 8;
        const int64_t v = order_[place], end = in_.offset[v + 1];
        Reach sent{};
        for (int64_t i = 0; i < words; ++i) sent.longer[i] = reach_[v].longer[i] | reach_[v].direct[i];
        if (const int64_t bit = place - first_target; bit >= 0) sent.direct[bit >> 6] = uint64_t{1} << (bit & 63);
        for (int64_t arc = in_.offset[v]; arc < end; ++arc) {
            if (arc + ahead < end) fetch(&reach_[in_.neighbors[arc + ahead]]);
            const Neighbor u = in_.neighbors[arc];
            Reach& own = reach_[u];
            if (!own.any()) {
                reaching_.push_back(u);
                wait(rank_[u]);
            }
            for (int64_t i = 0; i < words; ++i) own.longer[i] |= sent.longer[i], own.direct[i] |= sent.direct[i];
        }
    }
};

void replaced_arcs(In<int64_t> in_offset, In<Neighbor> in_neighbors, In<int64_t> order, Out<bool> replaced) {
    const GraphRows in(in_offset, in_neighbors);
    const int64_t n = in.num_vertices, blocks = (n + targets_at_once - 1) / targets_at_once;
    const Scratch<Neighbor> rank(n);
    for_each_entry(n, [&](int64_t place) { rank.data()[order.data()[place]] = static_cast<Neighbor>(place); });
    const int threads = part_count((in.size() + n) * blocks);
    std::vector<std::unique_ptr<Ancestors>> members(threads);
    for_each_chunk(blocks, threads, [&](int64_t block, int member) {
        if (!members[member]) members[member] = std::make_unique<Ancestors>(in, order.data(), rank.data());
        const int64_t begin = block * targets_at_once;
        members[member]->run({begin, std::min(begin + targets_at_once, n)}, replaced.data());
    });
}

}  // namespace

void bind_transitive(Module& module) {
    module.def("replaced_arcs", &replaced_arcs, "in_offset, in_neighbors, order, replaced");
}

}  // namespace tgraph
