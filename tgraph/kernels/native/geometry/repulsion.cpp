// Repulsion of all pairs of points by a quadtree (Barnes and Hut, Nature 1986) over points sorted along a Z-curve.
//
// A cell is a range of the sorted points; cells of few points are not divided, and their points are added one by one.
// The tree does not depend on the number of threads, and a point adds in the order of the tree, so that forces do not
// either.
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

constexpr int bits = 21;           // of a coordinate: as in primitives/repulsion.py
constexpr int64_t leaf_size = 8;   // points of a cell that is not divided
constexpr int64_t chunk_size = 256;

struct Cell {
    int64_t begin, end;
    int64_t next;  // the cell after this one and all within it: cells lie in the order of a walk
    double mass, x, y, side;
    bool is_leaf;  // not divided, and its points are added one by one
    bool is_smallest;
};

struct Quadtree {
    const int64_t* code;
    const double* points;  // x and y of each
    const double* mass;
    std::vector<Cell> cells;

    // Adds the cell of the points begin..end - 1, whose codes agree above the lowest 2 * level bits.
    void add(int64_t begin, int64_t end, int level, double side) {
        const auto here = static_cast<int64_t>(cells.size());
        const bool is_leaf = end - begin <= leaf_size && level > 0, is_smallest = level == 0;
        double total = 0, x = 0, y = 0;
        for (int64_t i = begin; i < end; ++i) {
            total += mass[i];
            x += mass[i] * points[2 * i];
            y += mass[i] * points[2 * i + 1];
        }
        const double scale = total > 0 ? 1 / total : 0;
        cells.push_back({begin, end, 0, total, x * scale, y * scale, side, is_leaf, is_smallest});
        if (!is_leaf && !is_smallest) {
            const int shift = 2 * (level - 1);
            for (int64_t first = begin; first < end;) {
                const int64_t quadrant = code[first] >> shift;
                const int64_t last =
                    std::lower_bound(code + first, code + end, (quadrant + 1) << shift) - code;
                add(first, last, level - 1, side / 2);
                first = last;
            }
        }
        cells[here].next = static_cast<int64_t>(cells.size());
    }
};

void repulsion(In<int64_t> code, In<double> points, In<double> mass, double width, double theta, Out<double> forces) {
    const auto n = static_cast<int64_t>(code.shape(0));
    if (n == 0) return;
    Quadtree tree{code.data(), points.data(), mass.data(), {}};
    tree.cells.reserve(n);
    tree.add(0, n, bits, width);
    const Cell* const cells = tree.cells.data();
    const auto num_cells = static_cast<int64_t>(tree.cells.size());
    const double* const place = points.data();
    const double* const weight = mass.data();
    double* const out = forces.data();
    const double limit = theta * theta;
    const int64_t chunks = (n + chunk_size - 1) / chunk_size;
    for_each_chunk(chunks, n < worth_a_thread(1 << 10) ? 1 : thread_count(), [=](int64_t chunk) {
        for (int64_t i = chunk * chunk_size; i < std::min(n, (chunk + 1) * chunk_size); ++i) {
            const double x = place[2 * i], y = place[2 * i + 1];
            double fx = 0, fy = 0;
            for (int64_t c = 0; c < num_cells;) {
                const Cell& cell = cells[c];
                const double dx = x - cell.x, dy = y - cell.y, square = dx * dx + dy * dy;
                const bool inside = cell.begin <= i && i < cell.end;
                if (!inside && square > 0 && (cell.is_smallest || cell.side * cell.side < limit * square)) {
                    const double pull = cell.mass / square;
                    fx += dx * pull;
                    fy += dy * pull;
                    c = cell.next;
                } else if (cell.is_smallest) {
                    c = cell.next;
                } else if (cell.is_leaf) {
                    for (int64_t j = cell.begin; j < cell.end; ++j) {
                        const double ax = x - place[2 * j], ay = y - place[2 * j + 1], near = ax * ax + ay * ay;
                        const double pull = near > 0 ? weight[j] / near : 0;
                        fx += ax * pull;
                        fy += ay * pull;
                    }
                    c = cell.next;
                } else {
                    ++c;
                }
            }
            out[2 * i] = fx * weight[i];
            out[2 * i + 1] = fy * weight[i];
        }
    });
}

}  // namespace

void bind_repulsion(Module& module) {
    module.def("repulsion", &repulsion, "code, points, mass, width, theta, forces");
}

}  // namespace tgraph
