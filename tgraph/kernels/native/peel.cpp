// Core numbers by peeling: the vertices of least degree are removed, level after level.
//
// All threads peel one level at the same time, each the vertices that it found at the level and those that it brought
// down to it (PKC: Kabir and Madduri, "Parallel k-core decomposition on multicore platforms", IPDPSW 2017). An arc is
// walked once from each end, and a level looks at the vertices left, which have a degree of at least the level: O(m).
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "memory.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "sides.hpp"

namespace tgraph {
namespace {

// Twice the number of vertices fits: where arcs have a direction a neighbour may count twice.
template <class Neighbor>
using Degree = std::make_unsigned_t<Neighbor>;

template <class Neighbor>
class Peeling {
public:
    Peeling(const Sides<Neighbor>& sides, Degree<Neighbor>* degree, int threads)
        : sides_(sides), degree_(degree), threads_(threads), chunks_{sides.offset(), sides.num_vertices},
          left_(sides.num_vertices * threads), queue_(sides.num_vertices * threads) {}

    // Leaves the core number of each vertex in its degree.
    void run() {
        if (threads_ == 1)
            run_team(1, [&](const Team& team) { peel<false>(team); });
        else
            run_team(threads_, [&](const Team& team) { peel<true>(team); });
    }

private:
    const Sides<Neighbor>& sides_;
    Degree<Neighbor>* degree_;
    int threads_;
    RowChunks chunks_;
    Scratch<Neighbor> left_, queue_;  // room for all vertices in each thread; little of it is ever touched
    std::atomic<int64_t> next_chunk_{0}, peeled_{0};

    template <bool shared>
    void peel(const Team& team) {
        Neighbor* left = left_.data() + team.rank * sides_.num_vertices;
        Neighbor* queue = queue_.data() + team.rank * sides_.num_vertices;
        int64_t count = take_vertices(left);
        team.barrier();  // all degrees are known
        for (Degree<Neighbor> level = 0; peeled_.load(std::memory_order_relaxed) < sides_.num_vertices; ++level) {
            const int64_t found = split(left, count, queue, level);
            team.barrier();  // what is brought down to the level from now on is not found a second time
            peeled_.fetch_add(remove<shared>(queue, found, level), std::memory_order_relaxed);
            team.barrier();
        }
    }

    // Writes vertices that no other thread has to `left`, and their degrees; returns how many.
    int64_t take_vertices(Neighbor* left) {
        int64_t count = 0;
        for (int64_t chunk; (chunk = next_chunk_.fetch_add(1, std::memory_order_relaxed)) < chunks_.size();) {
            const Range range = chunks_[chunk];
            for (int64_t v = range.begin; v < range.end; ++v) {
                degree_[v] = distinct_neighbors(v);
                left[count++] = static_cast<Neighbor>(v);
            }
        }
        return count;
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

    // Moves the vertices of the level to the queue and drops those peeled before; returns how many it moved.
    int64_t split(Neighbor* left, int64_t& count, Neighbor* queue, Degree<Neighbor> level) const {
        int64_t kept = 0, moved = 0;
        for (int64_t i = 0; i < count; ++i) {
            const Neighbor v = left[i];
            const Degree<Neighbor> degree = degree_[v];
            left[kept] = v;
            queue[moved] = v;
            kept += degree > level;
            moved += degree == level;
        }
        count = kept;
        return moved;
    }

    // Removes the vertices in the queue and those that come to their level; returns how many these are.
    template <bool shared>
    int64_t remove(Neighbor* queue, int64_t count, Degree<Neighbor> level) {
        for (int64_t i = 0; i < count; ++i) {
            if (i + 8 < count) sides_.prefetch_offset(queue[i + 8]);
            if (i + 4 < count) sides_.prefetch_row(queue[i + 4]);
            for (int side = 0; side < sides_.count; ++side) {
                const Row<Neighbor> row = sides_.row(side, queue[i]);
                for (const Neighbor* u = row.begin; u != row.end; ++u) {
                    if (u != row.begin && *u == *(u - 1)) continue;
                    if (lower<shared>(degree_[*u], level)) queue[count++] = *u;
                }
            }
        }
        return count;
    }

    // Lowers a degree above the level by one; true where it comes to the level by that.
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
void peel(In<int64_t> offset, In<Neighbor> neighbors, std::optional<In<int64_t>> in_offset,
          std::optional<In<Neighbor>> in_neighbors, Out<int64_t> core) {
    const Sides<Neighbor> sides(offset, neighbors, in_offset, in_neighbors);
    const Scratch<Degree<Neighbor>> degree(sides.num_vertices);
    const int threads = part_count(sides.num_arcs());
    Peeling<Neighbor>(sides, degree.data(), threads).run();
    const int parts = part_count(sides.num_vertices);
    for_each_part(parts, [&](int part) {
        const Range range = part_of(sides.num_vertices, part, parts);
        std::copy(degree.data() + range.begin, degree.data() + range.end, core.data() + range.begin);
    });
}

template <class Neighbor>
void bind(nb::module_& module) {
    using nb::arg;
    module.def("peel", &peel<Neighbor>, arg("offset").noconvert(), arg("neighbors").noconvert(),
               arg("in_offset").noconvert().none(), arg("in_neighbors").noconvert().none(), arg("core").noconvert(),
               nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_peel(nb::module_& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
