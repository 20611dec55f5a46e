// A sweep of Gauss-Seidel over all rows for several right-hand sides at once, the columns of x and b:
//
//     x[v] = alpha * (sum over arcs u -> v of weight * scale[u] * x[u]) + b[v]
//
// in place and in the order of the rows, so that each uses the new values of those before it. Columns do not depend on
// each other: they lie in groups, one after the other, and a thread passes over all rows of a group alone, whence
// results do not depend on the number of threads. Eight columns of doubles are a cache line.
#include <cstring>

#include "base/bindings.hpp"
#include "base/ids.hpp"
#include "base/simd.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

template <class T, int width>
struct Row {
    typedef T Lanes __attribute__((vector_size(width * sizeof(T))));
};

template <class Value>
struct Columns {
    const int64_t* offset;
    Ids neighbors;
    const double* weights;  // null for 1
    const Value *scale, *bias;
    Value* x;
    double* change;  // of each column, the L1 norm of x' - x
    int64_t num_rows;
    double alpha;
};

template <class Value, int width>
TGRAPH_INLINE typename Row<double, width>::Lanes widened_row(const Value* from) {
    typename Row<Value, width>::Lanes row;
    std::memcpy(&row, from, sizeof(row));
    return __builtin_convertvector(row, typename Row<double, width>::Lanes);
}

// All rows of a group of columns, [num_rows, width].
template <int width, class Value>
TGRAPH_MULTIVERSION void sweep_rows(const Columns<Value>& given) {
    using Doubles = typename Row<double, width>::Lanes;
    const Columns<Value> columns = given;
    Value* const x = columns.x;
    Doubles change = {};
    for (int64_t v = 0, arc = 0; v < columns.num_rows; ++v) {
        Doubles received = {};
        for (const int64_t end = columns.offset[v + 1]; arc < end; ++arc) {
            const auto sender = columns.neighbors[arc];
            const double share = columns.scale[sender] * (columns.weights ? columns.weights[arc] : 1.0);
            received += share * widened_row<Value, width>(x + sender * width);
        }
        const int64_t place = v * width;
        received = columns.alpha * received + widened_row<Value, width>(columns.bias + place);
        const auto row = __builtin_convertvector(received, typename Row<Value, width>::Lanes);
        const Doubles moved = __builtin_convertvector(row, Doubles) - widened_row<Value, width>(x + place);
        change += moved < 0 ? -moved : moved;
        std::memcpy(x + place, &row, sizeof(row));
    }
    std::memcpy(columns.change, &change, sizeof(change));
}

template <class Value>
void gauss_seidel_columns(In<int64_t> offset, In<void> neighbors, In<double> weights, In<Value> scale,
                          In<Value> bias, double alpha, Out<Value> x, Out<double> change, int64_t width) {
    const auto num_rows = static_cast<int64_t>(scale.shape(0)), num_columns = static_cast<int64_t>(change.shape(0));
    const int threads = part_count((num_rows + static_cast<int64_t>(neighbors.shape(0))) * num_columns);
    for_each_chunk(num_columns / width, threads, [&](int64_t group) {
        const int64_t first = group * num_rows * width;
        const Columns<Value> columns{offset.data(), ids_of(neighbors),   weights.data(), scale.data(),
                                               bias.data() + first, x.data() + first,
                                               change.data() + group * width, num_rows, alpha};
        switch (width) {
            case 8: return sweep_rows<8>(columns);
            case 4: return sweep_rows<4>(columns);
            case 2: return sweep_rows<2>(columns);
            default: return sweep_rows<1>(columns);
        }
    });
}

}  // namespace

void bind_gauss_seidel_columns(Module& module) {
    const auto define = [&](auto function) {
        module.def("gauss_seidel_columns", function,
                   "offset, neighbors, weights?, scale, bias, alpha, x, change, width");
    };
    define(&gauss_seidel_columns<float>);
    define(&gauss_seidel_columns<double>);
}

}  // namespace tgraph
