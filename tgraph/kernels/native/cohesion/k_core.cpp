// k-core decomposition by parallel peeling: vertices of least degree are removed, level by level (PKC: Kabir and
// Madduri, "Parallel k-core decomposition on multicore platforms", IPDPSW 2017).
//
// In a level, threads remove blocks of vertices, and process vertices whose degree falls to the level themselves;
// beyond a limit these are redistributed among all threads, which balances the load when a core collapses. Degrees are
// decremented by compare-and-swap (relaxed). Each arc is processed once from each end, and a level scans the remaining
// vertices, whose degrees are at least the level: O(m) in total.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/memory.hpp"
#include "threads/parallel.hpp"
#include "base/rows.hpp"
#include "cohesion/undirected_rows.hpp"

namespace tgraph {
namespace {

// Holds twice the number of vertices: in a directed graph a neighbor may count twice.
template <class Neighbor>
using Degree = std::make_unsigned_t<Neighbor>;

template <class Neighbor>
class Peeling {
public:
    Peeling(const Sides<Neighbor>& sides, Degree<Neighbor>* degree, int threads)
        : sides_(sides), degree_(degree), threads_(threads), left_(sides.num_vertices), queue_(sides.num_vertices),
          members_(threads) {}

    // Leaves the core number of each vertex in its degree.
    void run() { threads_ == 1 ? peel<false>() : peel<true>(); }

private:
    // A slice of `left_` with `left` remaining vertices, and of `queue_` with `found` vertices of the current level.
    struct Block {
        int64_t begin, left, found;
        Degree<Neighbor> least;  // the least degree of the remaining vertices
    };

    // Per thread: vertices that it has lowered to the level, and those of them to redistribute.
    struct alignas(64) Member {
        std::vector<Neighbor> lowered, left_over;
    };

    const Sides<Neighbor>& sides_;
    Degree<Neighbor>* degree_;
    int threads_;
    Scratch<Neighbor> left_, queue_;
    std::vector<Block> blocks_;
    std::vector<Member> members_;
    std::vector<Neighbor> shared_out_;

    static constexpr int64_t most_kept = worth_a_thread(1 << 14);  // arcs that a thread processes before redistribution

    template <bool shared>
    void peel() {
        const RowChunks chunks{sides_.offset(), sides_.num_vertices};
        for_each_chunk(chunks.size(), threads_, [&](int64_t chunk) {
            const Range range = chunks[chunk];
            for (int64_t v = range.begin; v < range.end; ++v) {
                degree_[v] = distinct_neighbors(v);
                left_.data()[v] = static_cast<Neighbor>(v);
            }
        });
        cut_blocks(sides_.num_vertices);
        for (Degree<Neighbor> level = 0; !blocks_.empty(); ++level) {
            poll_interruption();
            split_blocks(level);
            // Vertices that are lowered to the level from here on are not found a second time.
            if (sum(&Block::found) > 0)
                remove_blocks<shared>(level);
            else
                level = std::max(level, least() - 1);  // skips empty levels
            drop_peeled();
        }
    }

    void cut_blocks(int64_t count) {
        const int64_t size = std::clamp<int64_t>(count / (16 * threads_), 1 << 6, 1 << 12);
        blocks_.clear();
        for (int64_t begin = 0; begin < count; begin += size)
            blocks_.push_back({begin, std::min(size, count - begin), 0, 0});
    }

    Degree<Neighbor> least() const {
        Degree<Neighbor> found = std::numeric_limits<Degree<Neighbor>>::max();
        for (const Block& block : blocks_)
            if (block.left) found = std::min(found, block.least);
        return found;
    }

    int64_t sum(int64_t Block::* part) const {
        int64_t total = 0;
        for (const Block& block : blocks_) total += block.*part;
        return total;
    }

    void split_blocks(Degree<Neighbor> level) {
        constexpr int64_t worth_sharing = worth_a_thread(1 << 13);
        for_each_chunk(std::ssize(blocks_), sum(&Block::left) < worth_sharing ? 1 : threads_, [&](int64_t i) {
            Block& block = blocks_[i];
            block.found = split(left_.data() + block.begin, block, queue_.data() + block.begin, level);
        });
    }

    template <bool shared>
    void remove_blocks(Degree<Neighbor> level) {
        for_each_chunk(std::ssize(blocks_), threads_for(sum(&Block::found), level), [&](int64_t i, int rank) {
            const Neighbor* queue = queue_.data() + blocks_[i].begin;
            remove<shared>({queue, queue + blocks_[i].found}, members_[rank], level);
        });
        while (share_out()) {
            constexpr int64_t some = 16;
            const int64_t size = std::ssize(shared_out_);
            for_each_chunk((size + some - 1) / some, threads_for(size, level), [&](int64_t i, int rank) {
                const Neighbor* queue = shared_out_.data();
                remove<shared>({queue + i * some, queue + std::min(size, (i + 1) * some)}, members_[rank], level);
            });
        }
    }

    // Each vertex has at least `level` arcs.
    int threads_for(int64_t vertices, Degree<Neighbor> level) const {
        constexpr int64_t worth_sharing = worth_a_thread(1 << 13);
        return vertices * static_cast<int64_t>(level) < worth_sharing ? 1 : threads_;
    }

    // Collects the vertices to redistribute; returns whether there are any.
    bool share_out() {
        shared_out_.clear();
        for (Member& member : members_) {
            shared_out_.insert(shared_out_.end(), member.left_over.begin(), member.left_over.end());
            member.left_over.clear();
        }
        return !shared_out_.empty();
    }

    // Compacts the blocks once less than half of their vertices remain.
    void drop_peeled() {
        const int64_t left = sum(&Block::left), last = blocks_.back().begin;
        if (2 * left > last) return;
        int64_t count = 0;
        for (const Block& block : blocks_) {
            std::copy_n(left_.data() + block.begin, block.left, left_.data() + count);
            count += block.left;
        }
        cut_blocks(count);
    }

    Degree<Neighbor> distinct_neighbors(int64_t v) const {
        Degree<Neighbor> degree = 0;
        for (int side = 0; side < sides_.count; ++side) {
            const Row<Neighbor> row = sides_.row(side, v);
            for (const Neighbor* u = row.begin; u != row.end; ++u)
                degree += (*u != v) & (u == row.begin || *u != *(u - 1));
        }
        return degree;
    }

    // Moves the vertices of the level to the queue and drops those peeled before, without branches; returns how many it
    // moved.
    int64_t split(Neighbor* left, Block& block, Neighbor* queue, Degree<Neighbor> level) const {
        int64_t kept = 0, moved = 0;
        block.least = std::numeric_limits<Degree<Neighbor>>::max();
        for (int64_t i = 0; i < block.left; ++i) {
            const Neighbor v = left[i];
            const Degree<Neighbor> degree = degree_[v];
            left[kept] = v;
            queue[moved] = v;
            kept += degree > level;
            moved += degree == level;
            block.least = degree > level ? std::min(block.least, degree) : block.least;
        }
        block.left = kept;
        return moved;
    }

    // Removes the vertices in the queue, and those that are lowered to the level by it; with several threads up to a
    // limit, and the rest is left over for redistribution.
    template <bool shared>
    void remove(Row<Neighbor> queue, Member& member, Degree<Neighbor> level) {
        std::vector<Neighbor>& lowered = member.lowered;
        lowered.clear();
        for (const Neighbor* v = queue.begin; v != queue.end; ++v) {
            fetch_later(queue.begin, v - queue.begin, queue.end - queue.begin);
            remove_vertex<shared>(*v, lowered, level);
        }
        std::size_t i = 0;
        for (int64_t arcs = 0; i < lowered.size() && (!shared || arcs < most_kept); ++i) {
            fetch_later(lowered.data(), i, lowered.size());
            arcs += sides_.degree(lowered[i]);
            remove_vertex<shared>(lowered[i], lowered, level);
        }
        member.left_over.insert(member.left_over.end(), lowered.begin() + i, lowered.end());
    }

    TGRAPH_INLINE void fetch_later(const Neighbor* queue, int64_t i, int64_t count) const {
        if (i + 8 < count) sides_.prefetch_offset(queue[i + 8]);
        if (i + 4 < count) sides_.prefetch_row(queue[i + 4]);
    }

    template <bool shared>
    void remove_vertex(Neighbor v, std::vector<Neighbor>& lowered, Degree<Neighbor> level) {
        for (int side = 0; side < sides_.count; ++side) {
            const Row<Neighbor> row = sides_.row(side, v);
            for (const Neighbor* u = row.begin; u != row.end; ++u) {
                if (u != row.begin && *u == *(u - 1)) continue;
                if (lower<shared>(degree_[*u], level)) lowered.push_back(*u);
            }
        }
    }

    // Decrements a degree above the level; returns whether it reaches the level.
    template <bool shared>
    static bool lower(Degree<Neighbor>& degree, Degree<Neighbor> level) {
        if constexpr (!shared) return degree > level && --degree == level;
        std::atomic_ref<Degree<Neighbor>> place(degree);
        Degree<Neighbor> old = place.load(std::memory_order_relaxed);
        while (old > level)
            if (place.compare_exchange_weak(old, old - 1, std::memory_order_relaxed)) return old - 1 == level;
        return false;
    }
};

template <class Neighbor>
void peel(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> in_offset, In<Neighbor> in_neighbors,
          Out<int64_t> core) {
    const Sides<Neighbor> sides(offset, neighbors, in_offset, in_neighbors);
    const Scratch<Degree<Neighbor>> degree(sides.num_vertices);
    const int threads = part_count(sides.num_arcs());
    Peeling<Neighbor>(sides, degree.data(), threads).run();
    copy(degree.data(), sides.num_vertices, core.data());
}

template <class Neighbor>
void bind(Module& module) {
    module.def("peel", &peel<Neighbor>, "offset, neighbors, in_offset?, in_neighbors?, core");
}

}  // namespace

void bind_peel(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
