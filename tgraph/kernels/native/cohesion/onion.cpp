// Onion decomposition: all vertices of degree at most the level are one layer and are removed at once; the level rises
// where there are none (Hebert-Dufresne, Grochow and Allard, Scientific Reports 2016). The layers are a degeneracy
// order: a vertex has at most as many neighbors in its own and later layers as its core number.
#include <algorithm>
#include <atomic>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"
#include "base/rows.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

template <class Neighbor>
class Onion {
public:
    Onion(const int64_t* offset, const Neighbor* neighbors, int64_t num_vertices, int64_t* core, int64_t* layer)
        : offset_(offset), neighbors_(neighbors), num_vertices_(num_vertices), core_(core), layer_(layer),
          degree_(num_vertices), threads_(part_count(offset[num_vertices])), members_(threads_) {
        for_each_entry(num_vertices, [&](int64_t v) {
            degree_.data()[v] = offset[v + 1] - offset[v];
            layer_[v] = 0;
        });
    }

    void run() {
        std::vector<Neighbor> left(num_vertices_);
        for (int64_t v = 0; v < num_vertices_; ++v) left[v] = static_cast<Neighbor>(v);
        int64_t level = 0, layer = 0;
        for (;;) {
            std::erase_if(left, [&](Neighbor v) { return layer_[v] != 0; });
            if (left.empty()) return;
            int64_t least = INT64_MAX;
            for (const Neighbor v : left) least = std::min(least, degree_.data()[v]);
            level = std::max(level, least);
            for (const Neighbor v : left)
                if (degree_.data()[v] <= level) current_.push_back(v);
            while (!current_.empty()) {
                poll_interruption();
                remove(level, ++layer);
            }
            ++level;
        }
    }

private:
    struct alignas(64) Member {
        std::vector<Neighbor> lowered;
    };

    const int64_t* offset_;
    const Neighbor* neighbors_;
    int64_t num_vertices_;
    int64_t *core_, *layer_;
    Scratch<int64_t> degree_;
    int threads_;
    std::vector<Member> members_;
    std::vector<Neighbor> current_;

    void remove(int64_t level, int64_t layer) {
        for (const Neighbor v : current_) {
            core_[v] = level;
            layer_[v] = layer;
        }
        constexpr int64_t some = 64;
        const int64_t size = std::ssize(current_);
        for_each_chunk((size + some - 1) / some, size * (level + 1) < worth_a_thread(1 << 13) ? 1 : threads_,
                       [&](int64_t chunk, int rank) {
            for (int64_t i = chunk * some; i < std::min(size, (chunk + 1) * some); ++i)
                remove_vertex(current_[i], level, members_[rank].lowered);
        });
        current_.clear();
        for (Member& member : members_) {
            current_.insert(current_.end(), member.lowered.begin(), member.lowered.end());
            member.lowered.clear();
        }
    }

    void remove_vertex(int64_t v, int64_t level, std::vector<Neighbor>& lowered) {
        for (int64_t i = offset_[v]; i < offset_[v + 1]; ++i) {
            const Neighbor u = neighbors_[i];
            if (layer_[u]) continue;
            const int64_t old = std::atomic_ref<int64_t>(degree_.data()[u]).fetch_sub(1, std::memory_order_relaxed);
            if (old == level + 1) lowered.push_back(u);
        }
    }
};

template <class Neighbor>
void onion(In<int64_t> offset, In<Neighbor> neighbors, Out<int64_t> core, Out<int64_t> layer) {
    Onion<Neighbor>(offset.data(), neighbors.data(), static_cast<int64_t>(core.shape(0)), core.data(), layer.data())
        .run();
}

template <class Neighbor>
void bind(Module& module) {
    module.def("onion", &onion<Neighbor>, "offset, neighbors, core, layer");
}

}  // namespace

void bind_onion(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
