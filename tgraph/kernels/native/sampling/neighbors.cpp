// Neighbours sampled hop by hop (Hamilton, Ying and Leskovec, "Inductive representation learning on large graphs",
// NeurIPS 2017): what is drawn, and in which order, is told in kernels/operators/sampling/neighbors.py.
//
// Threads draw the arcs of some vertices at a time and fetch together what they wait for; one of them numbers the
// vertices that these lead to while the others go on.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/classes.hpp"
#include "sampling/drawing.hpp"
#include "sampling/numbering.hpp"
#include "sampling/relation.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// The arcs drawn for some vertices: `count` of them, from `start` on.
struct Piece {
    int64_t start, count;
};

// Pieces are drawn by any thread and used in their order, by one thread at a time: whichever finds that the next one is
// ready and that nobody uses one. Nobody waits unless pieces are far ahead of their use.
template <class Draw, class Use>
void in_order(int64_t pieces, int threads, const Draw& draw, const Use& use) {
    const int64_t window = 4 * threads;  // so many pieces exist at once
    std::vector<Piece> held(std::min(pieces, window));
    std::vector<std::atomic<bool>> ready(held.size());
    std::atomic<int64_t> next{0}, used{0};
    std::atomic<bool> in_use{false}, failed{false};
    const auto next_is_ready = [&] { return used < pieces && ready[used % window]; };
    const auto use_those_ready = [&] {
        while (next_is_ready() && !in_use.exchange(true)) {
            while (next_is_ready()) {
                use(held[used % window]);
                ready[used % window] = false;
                ++used;
            }
            in_use = false;
        }
    };
    run_team(static_cast<int>(std::min<int64_t>(threads, pieces)), [&](int) {
        try {
            for (int64_t piece; (piece = next.fetch_add(1)) < pieces; use_those_ready()) {
                poll_interruption();
                while (piece >= used + window && !failed) use_those_ready();
                if (failed) return;
                held[piece % window] = draw(piece);
                ready[piece % window] = true;
            }
        } catch (...) {
            failed = true;
            throw;
        }
    });
}

class Sample {
public:
    Sample(std::vector<Relation> relations, int64_t types, const Choice& choice)
        : relations_(std::move(relations)), choice_(choice), arcs_(relations_.size()), sizes_(types) {
        for (int64_t type = 0; type < types; ++type) vertices_.emplace_back(choice.disjoint);
    }

    // The seeds of a type; in trees of their own, which are numbered through all types.
    void seed(int64_t type, In<int64_t> seeds) {
        const auto count = static_cast<int64_t>(seeds.shape(0));
        vertices_[type].reserve_more(count);
        for (int64_t i = 0; i < count; ++i)
            vertices_[type].append_seed(seeds.data()[i], choice_.disjoint ? trees_++ : 0);
    }

    void run(int64_t hops) {
        std::vector<int64_t> begin(vertices_.size(), 0);
        note_sizes();
        for (int64_t hop = 0; hop < hops; ++hop) {
            const std::vector<int64_t> end = sizes();
            for (std::size_t r = 0; r < relations_.size(); ++r)
                sample(relations_[r], arcs_[r], {begin[relations_[r].target], end[relations_[r].target]}, hop);
            begin = end;
            note_sizes();
        }
    }

    nb::tuple to_python() {
        nb::list vertices, trees, sizes, row, col, arc, counts;
        for (std::size_t type = 0; type < vertices_.size(); ++type) {
            vertices.append(vertices_[type].vertices().to_numpy());
            trees.append(choice_.disjoint ? vertices_[type].trees().to_numpy() : nb::none());
            sizes.append(nb::cast(sizes_[type]));
        }
        for (SampledArcs& arcs : arcs_) {
            row.append(arcs.row.to_numpy());
            col.append(arcs.col.to_numpy());
            arc.append(arcs.arc.to_numpy());
            counts.append(nb::cast(arcs.count));
        }
        return nb::make_tuple(vertices, trees, sizes, row, col, arc, counts);
    }

private:
    std::vector<Relation> relations_;
    Choice choice_;
    std::deque<Numbering> vertices_;
    std::vector<SampledArcs> arcs_;
    std::vector<std::vector<int64_t>> sizes_;  // of each type: vertices that each hop added, the seeds first
    int64_t trees_ = 0;

    std::vector<int64_t> sizes() const {
        std::vector<int64_t> found;
        for (const Numbering& vertices : vertices_) found.push_back(vertices.size());
        return found;
    }

    void note_sizes() {
        for (std::size_t type = 0; type < vertices_.size(); ++type) {
            int64_t before = 0;
            for (const int64_t size : sizes_[type]) before += size;
            sizes_[type].push_back(vertices_[type].size() - before);
        }
    }

    // Arcs are drawn where they stay, but for gaps where fewer are found than there can be.
    void sample(const Relation& relation, SampledArcs& arcs, Range places, int64_t hop) {
        const int64_t before = arcs.size();
        if (const int64_t fanout = relation.fanout[hop]) {
            Numbering &sources = vertices_[relation.source], &targets = vertices_[relation.target];
            const Drawing drawing(relation, targets, places, fanout, choice_);
            arcs.reserve_more(drawing.most());
            sources.expect_more(drawing.most());
            const auto draw = [&](int64_t i) -> Piece {
                const int64_t start = before + drawing.start(i);
                return {start, drawing.draw(i, arcs.arc.data() + start, arcs.col.data() + start,
                                            arcs.row.data() + start)};
            };
            in_order(drawing.pieces(), part_count(4 * drawing.most()), draw,
                     [&](const Piece& piece) { number(piece, sources, targets, arcs); });
        }
        arcs.count.push_back(arcs.size() - before);
    }

    // Numbers the vertices that the arcs lead to: these are where their places go.
    static void number(const Piece& piece, Numbering& sources, const Numbering& targets, SampledArcs& arcs) {
        const auto [start, count] = piece;
        const int64_t size = arcs.size();
        sources.reserve_more(count);
        if (size != start)
            for (Buffer<int64_t>* buffer : {&arcs.row, &arcs.col, &arcs.arc})
                std::copy_n(buffer->data() + start, count, buffer->data() + size);
        int64_t *const row = arcs.row.data() + size, *const col = arcs.col.data() + size;
        sources.find_all(row, count, [&](int64_t i) { return targets.tree(col[i]); }, row);
        arcs.resize(size + count);
    }
};

template <class T>
In<T> or_none(nb::handle array) {
    return array.is_none() ? In<T>() : nb::cast<In<T>>(array);
}

Relation relation_of(nb::handle fields) {
    return {nb::cast<In<int64_t>>(fields[0]), nb::cast<In<void>>(fields[1]),
            nb::cast<int64_t>(fields[2]),     nb::cast<int64_t>(fields[3]),
            nb::cast<int64_t>(fields[4]),     nb::cast<std::vector<int64_t>>(fields[5]),
            or_none<void>(fields[6]),         or_none<double>(fields[7]),
            or_none<int8_t>(fields[8]),       or_none<int64_t>(fields[9]),
            nb::cast<bool>(fields[10])};
}

// relations : a tuple for each, with the fields of Relation. seeds : (type, vertices) for each type that has some.
nb::tuple sample_neighbors(nb::list relations, nb::list seeds, int64_t types, int64_t hops, bool replace, bool disjoint,
                           bool latest, In<int64_t> latest_time) {
    std::vector<Relation> given;
    for (const nb::handle fields : relations) given.push_back(relation_of(fields));
    Sample sample(std::move(given), types, {replace, disjoint, latest, latest_time});
    for (const nb::handle pair : seeds) sample.seed(nb::cast<int64_t>(pair[0]), nb::cast<In<int64_t>>(pair[1]));
    {
        const nb::gil_scoped_release released;
        sample.run(hops);
    }
    return sample.to_python();
}

}  // namespace

void bind_sample_neighbors(Module& module) {
    python_module(module).def("sample_neighbors", &sample_neighbors, nb::arg("relations"), nb::arg("seeds"),
                              nb::arg("types"), nb::arg("hops"),
               nb::arg("replace"), nb::arg("disjoint"), nb::arg("latest"), nb::arg("latest_time").none());
}

}  // namespace tgraph
