// Truss numbers: edges are removed in the order of their triangles, level by level, all edges of a level at once
// (PKT: Kabir and Madduri, "Parallel k-truss decomposition on multicore systems", HPEC 2017). Rows lose their removed
// edges whenever these are a quarter.
#include <algorithm>
#include <atomic>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/rows.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

enum State : uint8_t { left, current, removed };

template <class Neighbor>
class TrussPeeling {
public:
    // support [e]: the triangles of each edge; becomes that of the level at which it is removed. source, target [e] :
    // its ends. edge [m] : the edge of each arc.
    TrussPeeling(const int64_t* offset, const Neighbor* neighbors, const int64_t* edge, int64_t num_vertices,
                 const Neighbor* source, const Neighbor* target, int64_t* support, int64_t num_edges)
        : offset_(offset), num_vertices_(num_vertices), source_(source), target_(target), support_(support),
          num_edges_(num_edges), threads_(part_count(2 * num_edges)), heads_(2 * num_edges), edges_(2 * num_edges),
          end_(num_vertices), state_(num_edges), members_(threads_) {
        copy(neighbors, 2 * num_edges, heads_.data());
        copy(edge, 2 * num_edges, edges_.data());
        copy(offset + 1, num_vertices, end_.data());
        fill(state_.data(), num_edges, uint8_t{left});
    }

    void run() {
        std::vector<int64_t> remaining(num_edges_);
        for (int64_t e = 0; e < num_edges_; ++e) remaining[e] = e;
        int64_t held = num_edges_, taken = 0;
        for (int64_t level = 0; !remaining.empty(); ++level) {
            level = std::max(level, find(remaining, level));
            while (!current_.empty()) {
                poll_interruption();
                taken += std::ssize(current_);
                remove(level);
            }
            if (4 * taken >= held) {
                drop_removed();
                held -= taken;
                taken = 0;
            }
        }
    }

private:
    struct alignas(64) Member {
        std::vector<int64_t> lowered;
    };

    const int64_t* offset_;
    int64_t num_vertices_;
    const Neighbor *source_, *target_;
    int64_t* support_;
    int64_t num_edges_;
    int threads_;
    Scratch<Neighbor> heads_;
    Scratch<int64_t> edges_, end_;
    Scratch<uint8_t> state_;
    std::vector<Member> members_;
    std::vector<int64_t> current_;

    // The edges of the level, or of the next that has any, become current. Returns that level.
    int64_t find(std::vector<int64_t>& remaining, int64_t level) {
        std::erase_if(remaining, [&](int64_t e) { return state_.data()[e] == removed; });
        if (remaining.empty()) return level;
        int64_t least = INT64_MAX;
        for (const int64_t e : remaining) least = std::min(least, support_[e]);
        level = std::max(level, least);
        for (const int64_t e : remaining)
            if (support_[e] <= level) current_.push_back(e);
        return level;
    }

    void remove(int64_t level) {
        for (const int64_t e : current_) state_.data()[e] = current;
        constexpr int64_t some = 64;
        const int64_t size = std::ssize(current_);
        for_each_chunk((size + some - 1) / some, size < worth_a_thread(1 << 9) ? 1 : threads_,
                       [&](int64_t chunk, int rank) {
            for (int64_t i = chunk * some; i < std::min(size, (chunk + 1) * some); ++i)
                remove_edge(current_[i], level, members_[rank].lowered);
        });
        for (const int64_t e : current_) state_.data()[e] = removed;
        current_.clear();
        for (Member& member : members_) {
            current_.insert(current_.end(), member.lowered.begin(), member.lowered.end());
            member.lowered.clear();
        }
    }

    // Every triangle of the edge loses it: the other two edges are lowered, by the smaller one of two current edges.
    void remove_edge(int64_t e, int64_t level, std::vector<int64_t>& lowered) {
        int64_t u = source_[e], v = target_[e];
        if (end_.data()[u] - offset_[u] > end_.data()[v] - offset_[v]) std::swap(u, v);
        int64_t j = offset_[v];
        const int64_t last = end_.data()[v];
        for (int64_t i = offset_[u]; i < end_.data()[u]; ++i) {
            j = seek(j, last, heads_.data()[i]);
            if (j == last) return;
            if (heads_.data()[j] != heads_.data()[i]) continue;
            const int64_t first = edges_.data()[i], second = edges_.data()[j];
            const uint8_t one = state_.data()[first], other = state_.data()[second];
            if (one == removed || other == removed) continue;
            if (one == left && (other == left || e < second)) lower(first, level, lowered);
            if (other == left && (one == left || e < first)) lower(second, level, lowered);
        }
    }

    // The first arc from j on whose head is not smaller, by galloping.
    int64_t seek(int64_t j, int64_t last, Neighbor head) const {
        const Neighbor* heads = heads_.data();
        int64_t step = 1;
        while (j + step < last && heads[j + step] < head) {
            j += step;
            step *= 2;
        }
        return std::lower_bound(heads + j, heads + std::min(j + step + 1, last), head) - heads;
    }

    void lower(int64_t e, int64_t level, std::vector<int64_t>& lowered) {
        std::atomic_ref<int64_t> support(support_[e]);
        int64_t old = support.load(std::memory_order_relaxed);
        while (old > level)
            if (support.compare_exchange_weak(old, old - 1, std::memory_order_relaxed)) {
                if (old - 1 == level) lowered.push_back(e);
                return;
            }
    }

    void drop_removed() {
        const RowChunks chunks{offset_, num_vertices_};
        for_each_chunk(chunks.size(), threads_, [&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t v = range.begin; v < range.end; ++v) {
                int64_t next = offset_[v];
                for (int64_t i = offset_[v]; i < end_.data()[v]; ++i) {
                    if (state_.data()[edges_.data()[i]] == removed) continue;
                    heads_.data()[next] = heads_.data()[i];
                    edges_.data()[next++] = edges_.data()[i];
                }
                end_.data()[v] = next;
            }
        });
    }
};

template <class Neighbor>
void peel_edges(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> edge, In<Neighbor> source, In<Neighbor> target,
                Out<int64_t> support) {
    TrussPeeling<Neighbor>(offset.data(), neighbors.data(), edge.data(), static_cast<int64_t>(offset.shape(0)) - 1,
                           source.data(), target.data(), support.data(), static_cast<int64_t>(support.shape(0)))
        .run();
}

template <class Neighbor>
void bind(Module& module) {
    module.def("peel_edges", &peel_edges<Neighbor>, "offset, neighbors, edge, source, target, support");
}

}  // namespace

void bind_truss(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
