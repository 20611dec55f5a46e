// Rows in any order sorted by two transpositions, on one thread: for graphs that are small, where a start of the team
// or one more pass in Python takes longer than the work.
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/bindings.hpp"

namespace tgraph {
namespace {

// The arcs by their target: where the rows of the transpose begin, and the source and the place of each arc.
template <class Neighbor>
struct Transposed {
    Transposed(const int64_t* offset, const Neighbor* neighbors, int64_t num_vertices, int64_t num_arcs)
        : begin(num_vertices + 1), source(num_arcs), place(num_arcs) {
        for (int64_t row = 0; row < num_vertices; ++row) {
            if (offset[row] > offset[row + 1]) throw std::invalid_argument("sort_rows: the offsets do not ascend");
        }
        if (offset[0] != 0 || offset[num_vertices] != num_arcs) {
            throw std::invalid_argument("sort_rows: the offsets do not end with the number of arcs");
        }
        for (int64_t arc = 0; arc < num_arcs; ++arc) {
            const auto target = static_cast<int64_t>(neighbors[arc]);
            if (target < 0 || target >= num_vertices) throw std::out_of_range("sort_rows: a neighbour is no vertex");
            ++begin[target + 1];
        }
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        std::vector<int64_t> next(begin.begin(), begin.end() - 1);
        for (int64_t row = 0; row < num_vertices; ++row) {
            for (int64_t arc = offset[row]; arc < offset[row + 1]; ++arc) {
                const int64_t there = next[neighbors[arc]]++;
                source[there] = static_cast<Neighbor>(row);
                place[there] = arc;
            }
        }
    }

    std::vector<int64_t> begin;
    std::vector<Neighbor> source;
    std::vector<int64_t> place;
};

// The least row with an arc that has no reverse, -1 where there is none.
template <class Neighbor>
int64_t find_lonely(const int64_t* offset, const Neighbor* sorted, const Transposed<Neighbor>& back) {
    const auto num_vertices = static_cast<int64_t>(back.begin.size()) - 1;
    for (int64_t row = 0; row < num_vertices; ++row) {
        int64_t mine = offset[row], theirs = back.begin[row];
        const int64_t size = offset[row + 1] - mine;
        if (size != back.begin[row + 1] - theirs) return row;
        for (int64_t end = mine + size; mine < end; ++mine, ++theirs) {
            if (sorted[mine] != back.source[theirs]) return row;
        }
    }
    return -1;
}

// Numbers the edges of an undirected graph in the order of the given arcs by that of their two arcs that is `upper`.
template <class Neighbor>
void number_edges(const int64_t* offset, const Neighbor* neighbors, const Neighbor* sorted, const int64_t* order,
                  const Transposed<Neighbor>& back, int64_t* edge, bool* upper) {
    const auto num_vertices = static_cast<int64_t>(back.begin.size()) - 1;
    std::vector<int64_t> number(back.place.size());
    int64_t count = 0;
    for (int64_t row = 0; row < num_vertices; ++row) {
        for (int64_t arc = offset[row]; arc < offset[row + 1]; ++arc) {
            upper[arc] = static_cast<int64_t>(neighbors[arc]) >= row;
            if (upper[arc]) edge[order[arc]] = number[arc] = count++;
        }
    }
    for (int64_t row = 0; row < num_vertices; ++row) {
        for (int64_t arc = offset[row]; arc < offset[row + 1]; ++arc) {
            if (static_cast<int64_t>(sorted[arc]) < row) edge[arc] = number[back.place[arc]];
        }
    }
}

// (whether the rows ascend as they are, the least row with an arc that has no reverse, -1 where none has, and for a
// directed graph); see `core/building/sorting.py`.
template <class Neighbor>
std::pair<bool, int64_t> sort_rows(In<int64_t> offset, In<Neighbor> neighbors, bool directed, Out<Neighbor> sorted,
                                   Out<int64_t> order, Out<int64_t> edge, Out<bool> upper) {
    const auto num_vertices = static_cast<int64_t>(offset.shape(0)) - 1;
    const auto num_arcs = static_cast<int64_t>(neighbors.shape(0));
    const int64_t* const begin = offset.data();
    const Neighbor* const ends = neighbors.data();
    const Transposed<Neighbor> back(begin, ends, num_vertices, num_arcs);
    std::vector<int64_t> next(begin, begin + num_vertices);
    bool ascend = true;
    for (int64_t target = 0; target < num_vertices; ++target) {
        for (int64_t each = back.begin[target]; each < back.begin[target + 1]; ++each) {
            const int64_t there = next[back.source[each]]++, place = back.place[each];
            sorted.data()[there] = static_cast<Neighbor>(target);
            order.data()[place] = there;
            ascend = ascend && there == place;
        }
    }
    const int64_t lonely = directed ? -1 : find_lonely(begin, sorted.data(), back);
    if (edge.is_valid() && lonely < 0) {
        if (directed)
            for (int64_t place = 0; place < num_arcs; ++place) edge.data()[order.data()[place]] = place;
        else
            number_edges(begin, ends, sorted.data(), order.data(), back, edge.data(), upper.data());
    }
    return {ascend, lonely};
}

}  // namespace

void bind_sort_rows(Module& module) {
    const auto define = [&](auto function) {
        module.def("sort_rows", function, "offset, neighbors, directed, sorted, order, edge?, upper?");
    };
    define(&sort_rows<int32_t>);
    define(&sort_rows<int64_t>);
}

}  // namespace tgraph
