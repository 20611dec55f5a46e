// Neighbours sampled hop by hop (Hamilton, Ying and Leskovec, "Inductive representation learning on large graphs",
// NeurIPS 2017): what is drawn, and in which order, is told in kernels/portable/sampling/neighbors.py.
//
// Threads draw the arcs of some vertices at a time and fetch together what they wait for; one of them numbers the
// vertices that these lead to while the others go on.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/bindings.hpp"
#include "sampling/draws.hpp"
#include "sampling/numbering.hpp"
#include "sampling/read_ahead.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// The arcs between two types of vertices: row v has those along which vertex v of type `target` receives.
struct Relation {
    In<int64_t> offset;
    In<void> neighbors;
    int64_t source, target, key;
    std::vector<int64_t> fanout;  // of each hop; negative for all arcs
    In<void> weights;             // or None
    In<double> sums;
    In<int8_t> bounds;
    In<int64_t> time;  // of the arcs, or of the vertices that they come from, ascending within a row; or None
    bool time_of_arcs;

    bool wide() const { return neighbors.dtype() == nb::dtype<int64_t>(); }
    int64_t neighbor(int64_t arc) const {
        return wide() ? static_cast<const int64_t*>(neighbors.data())[arc]
                      : static_cast<const int32_t*>(neighbors.data())[arc];
    }
    int64_t time_of(int64_t arc) const { return time.data()[time_of_arcs ? arc : neighbor(arc)]; }
};

struct Choice {
    bool replace, disjoint, latest;  // the latest arcs, not any of those that are not too late
    In<int64_t> latest_time;         // of each tree, or None
};

// The sampled arcs of one relation.
struct Arcs {
    Buffer<int64_t> row, col, arc;
    std::vector<int64_t> count;  // by hop

    void reserve_more(int64_t more) {
        for (Buffer<int64_t>* buffer : {&row, &col, &arc}) buffer->reserve_more(more);
    }
};

// The vertices for which a hop draws arcs: copied, since the list grows meanwhile.
struct Frontier {
    int64_t first;  // place of the first in the list
    std::vector<int64_t> vertex, tree;

    Frontier(const Numbering& vertices, Range places) : first(places.begin) {
        for (int64_t place = places.begin; place < places.end; ++place) {
            vertex.push_back(vertices.vertex(place));
            tree.push_back(vertices.tree(place));
        }
    }
    int64_t size() const { return static_cast<int64_t>(vertex.size()); }
};

// The arcs drawn for some vertices of a frontier: `count` of them for each, from `begin` on.
struct Piece {
    Range range{};
    std::vector<int64_t> begin, count, arc, neighbor;
};

// Draws what a piece holds.
class Drawing {
public:
    Drawing(const Relation& relation, const Frontier& frontier, int64_t fanout, const Choice& choice)
        : relation_(relation), frontier_(frontier), fanout_(fanout), choice_(choice), from_file_(is_absent_in_part()) {}

    // The rows of a piece: from a file many, whose pages are asked for before the first is waited for.
    int64_t rows() const { return from_file_ ? 1024 : 64; }

    void draw(Range range, Piece& piece) const {
        piece.range = range;
        make_room(range, piece);
        thread_local Drawn drawn;
        for (int64_t i = range.begin; i < range.end; ++i) {
            int64_t* const out = piece.arc.data() + piece.begin[i - range.begin];
            const int64_t first = offset(i)[0], last = in_time(i, first, offset(i)[1]);
            const int64_t count = draw_row(i, first, last, drawn, out);
            piece.count[i - range.begin] = count;
            fetch_all(out, count);
        }
        if (relation_.wide())
            read(piece, static_cast<const int64_t*>(relation_.neighbors.data()));
        else
            read(piece, static_cast<const int32_t*>(relation_.neighbors.data()));
    }

private:
    const Relation& relation_;
    const Frontier& frontier_;
    int64_t fanout_;
    const Choice& choice_;
    bool from_file_;  // pages are asked for, not lines of the cache

    const int64_t* offset(int64_t i) const { return relation_.offset.data() + frontier_.vertex[i]; }
    const char* neighbor(int64_t arc) const {
        return static_cast<const char*>(relation_.neighbors.data()) + arc * (relation_.wide() ? 8 : 4);
    }

    // Whether the arcs of a few vertices of the frontier are not all in memory.
    bool is_absent_in_part() const {
        constexpr int64_t most = 8;
        for (int64_t i = 0; i < frontier_.size(); i += std::max<int64_t>(1, frontier_.size() / most))
            if (is_absent(offset(i)) || (offset(i)[0] < offset(i)[1] && is_absent(neighbor(offset(i)[0])))) return true;
        return false;
    }

    // Each vertex has room for the fan-out, or, where all arcs are taken, for these.
    void make_room(Range range, Piece& piece) const {
        for (int64_t i = range.begin; i < range.end; ++i) fetch_from(from_file_, offset(i), 2);
        piece.begin.resize(range.end - range.begin);
        piece.count.resize(range.end - range.begin);
        int64_t room = 0;
        for (int64_t i = range.begin; i < range.end; ++i) {
            piece.begin[i - range.begin] = room;
            room += fanout_ < 0 ? offset(i)[1] - offset(i)[0] : fanout_;
        }
        piece.arc.resize(room);
        piece.neighbor.resize(room);
        if (!relation_.weights.is_valid()) return;
        if (relation_.weights.dtype() == nb::dtype<double>()) fetch_weights<double>(range);
        else fetch_weights<float>(range);
    }

    // What the first draws of each row read.
    template <class Weight>
    void fetch_weights(Range range) const {
        const auto* const weights = static_cast<const Weight*>(relation_.weights.data());
        constexpr int64_t step = WeightedRow<Weight>::step, line = 64 / sizeof(Weight);
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t first = offset(i)[0], last = offset(i)[1];
            const Rejection<Weight> rejection(weights, relation_.bounds.data(), first, last, fanout_);
            if (const int64_t tries = std::min(rejection.tries(), 2 * fanout_); tries > 0) {
                for (int64_t k = 0; k < tries; ++k) fetch_from(from_file_, rejection.weight(own(i), k));
                continue;
            }
            for (int64_t arc = first; arc < std::min(last, first + step / 4); arc += line)
                fetch_from(from_file_, weights + arc);
            if (last - first <= step) continue;
            fetch(relation_.sums.data() + first / step);
            fetch(relation_.sums.data() + last / step);
            fetch_from(from_file_, weights + last - 1);
        }
    }

    // The stream of a vertex.
    int64_t own(int64_t i) const { return static_cast<int64_t>(random_word(relation_.key, frontier_.first + i)); }

    // The end of the arcs that are not too late.
    int64_t in_time(int64_t i, int64_t first, int64_t last) const {
        if (!relation_.time.is_valid()) return last;
        const int64_t latest = choice_.latest_time.data()[frontier_.tree[i]];
        while (first < last) {
            const int64_t middle = first + (last - first) / 2;
            if (relation_.time_of(middle) <= latest) first = middle + 1;
            else last = middle;
        }
        return last;
    }

    int64_t draw_row(int64_t i, int64_t first, int64_t last, Drawn& drawn, int64_t* out) const {
        const int64_t degree = last - first, count = fanout_ < 0 ? degree : std::min(fanout_, degree);
        const int64_t own = this->own(i);
        const bool replace = choice_.replace && fanout_ >= 0;
        if (relation_.weights.is_valid()) {
            if (relation_.weights.dtype() == nb::dtype<double>())
                return draw_by<double>(own, first, last, replace ? fanout_ : count, replace, drawn, out);
            return draw_by<float>(own, first, last, replace ? fanout_ : count, replace, drawn, out);
        }
        if (choice_.latest || (!replace && count == degree)) {
            for (int64_t k = 0; k < count; ++k) out[k] = last - count + k;
            return count;
        }
        if (degree == 0) return 0;
        if (replace) draw_repeatedly(own, first, last, fanout_, out);
        else draw_distinct(own, first, last, count, drawn, out);
        return replace ? fanout_ : count;
    }

    template <class Weight>
    int64_t draw_by(int64_t own, int64_t first, int64_t last, int64_t count, bool replace, Drawn& drawn,
                    int64_t* out) const {
        const auto* const weights = static_cast<const Weight*>(relation_.weights.data());
        if (!replace && count == last - first) {
            int64_t found = 0;
            for (int64_t arc = first; arc < last; ++arc)
                if (weights[arc] > 0) out[found++] = arc;
            return found;
        }
        drawn.start(last - first, replace ? 0 : count);
        const Rejection<Weight> rejection(weights, relation_.bounds.data(), first, last, count);
        const int64_t found = rejection.draw(own, count, replace, drawn, out);
        if (found == count) return count;
        const WeightedRow<Weight> row(weights, relation_.sums.data(), first, last);
        return row.draw(rejection.after(own), count, replace, drawn, out, found);
    }

    TGRAPH_INLINE void fetch_all(const int64_t* arcs, int64_t count) const {
        for (int64_t k = 0; k < count; ++k) fetch_from(from_file_, neighbor(arcs[k]));
    }

    template <class Neighbor>
    static void read(Piece& piece, const Neighbor* neighbors) {
        for (std::size_t row = 0; row < piece.begin.size(); ++row) {
            const int64_t from = piece.begin[row];
            for (int64_t k = from; k < from + piece.count[row]; ++k) piece.neighbor[k] = neighbors[piece.arc[k]];
        }
    }
};

// Pieces are drawn by any thread and used in their order, by one thread at a time: whichever finds that the next one is
// ready and that nobody uses one. Nobody waits unless pieces are far ahead of their use.
template <class Draw, class Use>
void in_order(int64_t pieces, int threads, const Draw& draw, const Use& use) {
    constexpr int64_t window = 4;  // so many pieces exist at once
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
                draw(piece, held[piece % window]);
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
        for (Arcs& arcs : arcs_) {
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
    std::vector<Arcs> arcs_;
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

    void sample(const Relation& relation, Arcs& arcs, Range places, int64_t hop) {
        const int64_t before = arcs.row.size();
        if (const int64_t fanout = relation.fanout[hop]) {
            const Frontier frontier(vertices_[relation.target], places);
            const Drawing drawing(relation, frontier, fanout, choice_);
            const int64_t rows = drawing.rows(), pieces = (frontier.size() + rows - 1) / rows;
            const auto draw = [&](int64_t i, Piece& piece) {
                drawing.draw({i * rows, std::min(frontier.size(), (i + 1) * rows)}, piece);
            };
            const int64_t most = frontier.size() * (fanout < 0 ? 64 : fanout);  // arcs, about
            if (fanout > 0) arcs.reserve_more(most);
            in_order(pieces, part_count(4 * most), draw, [&](const Piece& piece) {
                number(frontier, piece, vertices_[relation.source], arcs);
            });
        }
        arcs.count.push_back(arcs.row.size() - before);
    }

    // Numbers the vertices that the arcs lead to.
    static void number(const Frontier& frontier, const Piece& piece, Numbering& sources, Arcs& arcs) {
        const auto room = static_cast<int64_t>(piece.arc.size());
        sources.reserve_more(room);
        arcs.reserve_more(room);
        const Range range = piece.range;
        for (int64_t i = range.begin; i < range.end; ++i) {
            if (i + ahead < range.end) fetch_slots(frontier.tree[i + ahead], piece, i + ahead, sources);
            const int64_t from = piece.begin[i - range.begin], count = piece.count[i - range.begin];
            const int64_t size = arcs.arc.size();
            sources.find_all(piece.neighbor.data() + from, count, frontier.tree[i], arcs.row.data() + size);
            std::fill_n(arcs.col.data() + size, count, frontier.first + i);
            std::copy_n(piece.arc.data() + from, count, arcs.arc.data() + size);
            for (Buffer<int64_t>* buffer : {&arcs.row, &arcs.col, &arcs.arc}) buffer->resize(size + count);
        }
    }

    TGRAPH_INLINE static void fetch_slots(int64_t tree, const Piece& piece, int64_t i, const Numbering& sources) {
        const int64_t from = piece.begin[i - piece.range.begin], to = from + piece.count[i - piece.range.begin];
        for (int64_t k = from; k < to; ++k) sources.fetch_slot(piece.neighbor[k], tree);
    }

    static constexpr int64_t ahead = 2;  // vertices whose slots are fetched before they are looked at
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

void bind_sample_neighbors(nb::module_& module) {
    using nb::arg;
    module.def("sample_neighbors", &sample_neighbors, arg("relations"), arg("seeds"), arg("types"), arg("hops"),
               arg("replace"), arg("disjoint"), arg("latest"), arg("latest_time").noconvert().none());
}

}  // namespace tgraph
