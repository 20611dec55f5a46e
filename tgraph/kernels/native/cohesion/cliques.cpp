// Bindings of cliques: maximal ones listed (maximal_cliques.hpp) and counted by size, the largest one
// (largest_clique.hpp), and the number of those of k vertices (clique_counts.hpp).
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "base/classes.hpp"
#include "cohesion/clique_counts.hpp"
#include "cohesion/largest_clique.hpp"
#include "cohesion/maximal_cliques.hpp"

namespace tgraph {
namespace {

constexpr int64_t some = 16;  // vertices of a chunk: their work varies much

Degenerate degenerate(const In<int64_t>& offset, const In<Neighbor>& neighbors, const In<int64_t>& order) {
    return {{offset.data(), neighbors.data(), static_cast<int64_t>(offset.shape(0)) - 1}, order.data()};
}

// Calls search(worker, u, chunk) for every vertex by rank; make() is the worker of a thread.
template <class Make, class Search, class Finish>
void each_vertex(const Degenerate& graph, const Make& make, const Search& search, const Finish& finish) {
    const int64_t n = graph.rows.num_vertices;
    Chunks left((n + some - 1) / some);
    std::mutex lock;
    run_team(part_count(16 * graph.rows.num_arcs()), [&](int) {
        auto worker = make();
        left.each([&](int64_t chunk) {
            for (int64_t u = chunk * some; u < std::min(n, (chunk + 1) * some); ++u) search(*worker, u, chunk);
        });
        const std::lock_guard held(lock);
        finish(*worker);
    });
}

// ---- Maximal cliques.

struct SizeCounter {
    std::vector<int64_t> found{};

    template <class Clique>
    void operator()(const Clique& clique) {
        if (found.size() <= clique.size()) found.resize(clique.size() + 1);
        ++found[clique.size()];
    }
};

struct CountingWorker {
    SizeCounter sizes{};
    MaximalCliques<SizeCounter> cliques;

    explicit CountingWorker(const Degenerate& graph) : cliques(graph, sizes) {}
};

// found [n + 1]: the number of maximal cliques of each size.
void clique_sizes(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> order, Out<int64_t> found) {
    const Degenerate graph = degenerate(offset, neighbors, order);
    std::fill_n(found.data(), found.shape(0), int64_t{0});
    using Worker = CountingWorker;
    each_vertex(graph, [&] { return std::make_unique<Worker>(graph); },
                [](Worker& worker, int64_t u, int64_t) { worker.cliques.search(u); },
                [&](Worker& worker) {
                    for (std::size_t size = 0; size < worker.sizes.found.size(); ++size)
                        found.data()[size] += worker.sizes.found[size];
                });
}

struct Listed {
    std::vector<int64_t> sizes, members;
};

struct Lister {
    const Neighbor* order;
    Listed* out = nullptr;

    void operator()(const std::vector<Neighbor>& clique) {
        out->sizes.push_back(std::ssize(clique));
        const std::ptrdiff_t first = std::ssize(out->members);
        for (const Neighbor rank : clique) out->members.push_back(order[rank]);
        std::sort(out->members.begin() + first, out->members.end());
    }
};

struct ListingWorker {
    Lister lister;
    MaximalCliques<Lister> cliques;

    explicit ListingWorker(const Degenerate& graph)
        : lister{graph.order.data()}, cliques(graph, lister) {}
};

// The maximal cliques of a graph in the order of the ranks of their last vertices.
struct CliqueList {
    std::vector<Listed> chunks;
    int64_t count = 0, size = 0;

    void write(Out<int64_t> offset, Out<int64_t> members) const {
        int64_t clique = 0, next = 0;
        offset.data()[0] = 0;
        for (const Listed& chunk : chunks) {
            for (const int64_t held : chunk.sizes) {
                offset.data()[clique + 1] = offset.data()[clique] + held;
                ++clique;
            }
            std::copy(chunk.members.begin(), chunk.members.end(), members.data() + next);
            next += std::ssize(chunk.members);
        }
    }
};

CliqueList list_cliques(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> order) {
    const Degenerate graph = degenerate(offset, neighbors, order);
    CliqueList list;
    list.chunks.resize((graph.rows.num_vertices + some - 1) / some);
    using Worker = ListingWorker;
    each_vertex(graph, [&] { return std::make_unique<Worker>(graph); },
                [&](Worker& worker, int64_t u, int64_t chunk) {
                    worker.lister.out = &list.chunks[chunk];
                    worker.cliques.search(u);
                },
                [](Worker&) {});
    for (const Listed& chunk : list.chunks) {
        list.count += std::ssize(chunk.sizes);
        list.size += std::ssize(chunk.members);
    }
    return list;
}

// ---- The largest clique.

// Of the largest cliques that of the smallest rank, by a key that grows with the size and then falls with the rank.
struct BestClique {
    static constexpr int64_t ranks = int64_t{1} << 40;
    std::atomic<int64_t> key{0};
    std::mutex lock;
    std::vector<Neighbor> clique;

    static int64_t key_of(int64_t size, int64_t u) { return size * ranks + (ranks - 1 - u); }

    // No clique of u of at most so many vertices is better.
    int64_t bound(int64_t u) const {
        const int64_t best = key.load(std::memory_order_relaxed), size = best / ranks;
        return key_of(size, u) > best ? size - 1 : size;
    }

    void offer(const std::vector<Neighbor>& found, int64_t u) {
        const std::lock_guard held(lock);
        const int64_t mine = key_of(std::ssize(found), u);
        if (mine <= key.load(std::memory_order_relaxed)) return;
        key.store(mine, std::memory_order_relaxed);
        clique = found;
    }
};

// Writes the vertices of the largest clique and returns their number.
int64_t largest_clique(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> order, Out<int64_t> members) {
    const Degenerate graph = degenerate(offset, neighbors, order);
    BestClique best;
    using Worker = LargestClique;
    each_vertex(graph, [&] { return std::make_unique<Worker>(graph); },
                [&](Worker& worker, int64_t u, int64_t) {
                    const std::vector<Neighbor>& found = worker.search(u, best.bound(u), graph.rows.degree(u));
                    if (!found.empty()) best.offer(found, u);
                },
                [](Worker&) {});
    const int64_t size = std::ssize(best.clique);
    for (int64_t i = 0; i < size; ++i) members.data()[i] = graph.order.data()[best.clique[i]];
    std::sort(members.data(), members.data() + size);
    return size;
}

// ---- Numbers of cliques.

int64_t count_cliques(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> order, int64_t k) {
    const Degenerate graph = degenerate(offset, neighbors, order);
    uint64_t total = 0;
    double estimate = 0;
    using Worker = CliqueCounter;
    each_vertex(graph, [&] { return std::make_unique<Worker>(graph, k); },
                [](Worker& worker, int64_t u, int64_t) { worker.count(u); },
                [&](Worker& worker) {
                    total += worker.total;
                    estimate += worker.estimate;
                });
    return estimate < 9.2e18 ? static_cast<int64_t>(total) : -1;
}

}  // namespace

void bind_cliques(Module& module) {
    bind_class<CliqueList>(module, "CliqueList")
        .def_ro("count", &CliqueList::count)
        .def_ro("size", &CliqueList::size)
        .def("write", &CliqueList::write, nb::arg("offset"), nb::arg("members"));
    module.def("clique_sizes", &clique_sizes, "offset, neighbors, order, found");
    module.def("list_cliques", &list_cliques, "offset, neighbors, order");
    module.def("largest_clique", &largest_clique, "offset, neighbors, order, members");
    module.def("count_cliques", &count_cliques, "offset, neighbors, order, k");
}

}  // namespace tgraph
