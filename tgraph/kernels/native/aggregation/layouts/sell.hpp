// Pull over SELL-C-sigma slices: rows padded to one length (Kreutzer et al., "A unified sparse matrix data format for
// efficient general sparse matrix-vector multiplication on modern processors with wide SIMD units", 2014). A single
// column is reduced with one row per vector lane, several columns row by row. Parallel over blocks of slices; each row
// is reduced in arc order.
//
// Data is gathered for padding entries too, but masked out of the reduction, so that it cannot contribute NaN.
#pragma once

#include "linear/gather.hpp"
#include "aggregation/segments/pull.hpp"

namespace tgraph {

// Place p holds a row; `height` consecutive places form a slice. Arc j of the row in place p is entry
// first(p) + j * height.
struct Slices {
    const int64_t* offset;     // where each slice begins
    const int32_t* neighbors;  // of each entry, padding included
    const int32_t* length;     // of the row in each place
    const int32_t* order;      // the row in each place; null for the identity
    int64_t num_places, height, num_entries;

    int64_t row(int64_t place) const { return order ? order[place] : place; }
    int64_t first(int64_t place) const { return offset[place / height] + place % height; }
};

inline constexpr int most_lanes = 32;

template <class T>
TGRAPH_MULTIVERSION void gather_each(const T* data, const int32_t* at, int64_t count, T* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = data[at[i]];
}

// out[i] = data[at[i]]; `out` is aligned to vector registers and padded by one.
template <class T>
void gather_values(const T* data, const int32_t* at, int64_t count, T* out) {
#if defined(TGRAPH_AVX512_GATHER)
    if constexpr (sizeof(T) >= 4)
        if (__builtin_cpu_supports("avx512f")) {
            if constexpr (sizeof(T) == 4)
                return gather_floats(reinterpret_cast<const float*>(data), at, count, reinterpret_cast<float*>(out));
            else
                return gather_doubles(reinterpret_cast<const double*>(data), at, count, reinterpret_cast<double*>(out));
        }
#endif
    gather_each(data, at, count, out);
}

// ---- one column -----------------------------------------------------------------------------------------------------

// Reduces into the sum of each lane arcs begin .. begin + count of its row, masked by the length of the row. Gathered
// data has stride `lanes`, the weights have stride `height`.
template <class Reduce, class Edge, int lanes, class T, class A>
TGRAPH_MULTIVERSION void reduce_lanes(A* sums, const T* sent, const T* weights, int64_t height, const int32_t* length,
                                      int64_t begin, int64_t count) {
    constexpr int each = 16, vectors = lanes / each;
    using Lanes = Vector<A, each>;
    using Counts = Vector<std::conditional_t<sizeof(A) == 8, int64_t, std::conditional_t<sizeof(A) == 4, int32_t,
                                                                                           int8_t>>, each>;
    Lanes sum[vectors];
    Vector<int32_t, each> rest[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
        sum[v] = load<A, each>(sums + v * each);
        rest[v] = load<int32_t, each>(length + v * each) - static_cast<int32_t>(begin);
    }
    for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) {
            Lanes weight{};
            if constexpr (Edge::weighted) weight = load<A, each>(weights + i * height + v * each);
            const Lanes message = Edge::apply(load<A, each>(sent + i * lanes + v * each), weight);
            const Counts counts = __builtin_convertvector(rest[v] > static_cast<int32_t>(i), Counts);
            sum[v] = counts ? Reduce::apply(sum[v], message) : sum[v];
        }
    }
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Lanes*>(sums + v * each) = sum[v];
}

// Reduces one row, whose entries have stride `height`.
template <class Reduce, class Edge, class T, class A>
void reduce_entries(A* sum, const T* data, const int32_t* at, const T* weights, int64_t height, int64_t length) {
    for (int64_t entry = 0; entry < length * height; entry += height) {
        A message = static_cast<A>(widen(data[at[entry]]));
        if constexpr (Edge::weighted) message = Edge::apply(message, static_cast<A>(widen(weights[entry])));
        *sum = Reduce::apply(*sum, message);
    }
}

// Kernels by the names of reduction and edge operation: for all lanes, half of them, and single rows.
template <class T, class A>
struct SliceKernels {
    using Lanes = void (*)(A* sums, const T* sent, const T* weights, int64_t height, const int32_t* length,
                           int64_t begin, int64_t count);
    Lanes all, half;
    void (*entries)(A* sum, const T* data, const int32_t* at, const T* weights, int64_t height, int64_t length);
    bool weighted;
};

template <class T, class A>
SliceKernels<T, A> slice_kernels(std::string_view reduce, std::string_view edge) {
    SliceKernels<T, A> found{};
    with_pair<T, A, T>(reduce, edge, [&]<class Reduce, class Edge>(Reduce, Edge) {
        found = {&reduce_lanes<Reduce, Edge, most_lanes, T, A>, &reduce_lanes<Reduce, Edge, most_lanes / 2, T, A>,
                 &reduce_entries<Reduce, Edge, T, A>, Edge::weighted};
    });
    return found;
}

template <class T, class A>
struct SliceColumn {
    const Slices& slices;
    const PullData<T, A, T>& with;
    const SliceKernels<T, A> kernels;

    // Reduces at most most_lanes places of one slice.
    void reduce(Range places, A*) const {
        const int64_t count = places.end - places.begin;
        if (count == most_lanes) return reduce_vectors<most_lanes>(places.begin, kernels.all);
        if (count == most_lanes / 2) return reduce_vectors<most_lanes / 2>(places.begin, kernels.half);
        for (int64_t place = places.begin; place < places.end; ++place) reduce_row(place);
    }

    const T* weights(int64_t entry) const { return kernels.weighted ? with.weights + entry : nullptr; }

    template <int lanes>
    void reduce_vectors(int64_t place, typename SliceKernels<T, A>::Lanes reduce_lanes) const {
        constexpr int64_t batch = 2048 / lanes;
        alignas(64) T sent[batch * lanes + 16];
        A sums[lanes];
        std::fill_n(sums, lanes, with.identity);
        const int32_t* length = slices.length + place;
        const int64_t height = slices.height, longest = *std::max_element(length, length + lanes);
        for (int64_t j = 0; j < longest; j += batch) {
            const int64_t entry = slices.first(place) + j * height, count = std::min(batch, longest - j);
            const int32_t* at = slices.neighbors + entry;
            if (height == lanes)
                gather_values(with.data, at, count * lanes, sent);
            else
                for (int64_t i = 0; i < count; ++i) gather_values(with.data, at + i * height, lanes, sent + i * lanes);
            reduce_lanes(sums, sent, weights(entry), height, length, j, count);
        }
        for (int lane = 0; lane < lanes; ++lane) with.write(slices.row(place + lane), sums + lane, 0);
    }

    void reduce_row(int64_t place) const {
        A sum = with.identity;
        const int64_t entry = slices.first(place);
        kernels.entries(&sum, with.data, slices.neighbors + entry, weights(entry), slices.height,
                        slices.length[place]);
        with.write(slices.row(place), &sum, 0);
    }
};

// ---- many columns ---------------------------------------------------------------------------------------------------

// Row by row, as in CSR.
template <class T, class A>
struct SliceColumns {
    const Slices& slices;
    const PullData<T, A, T>& with;
    const ColumnKernels<T, A> kernels;

    static constexpr int64_t batch = 128;
    static constexpr int64_t lookahead = 16;  // arcs

    void reduce(Range places, A* sums) const {
        for (int64_t place = places.begin; place < places.end; ++place) {
            fetch_row(std::min(place + 2, places.end - 1));
            reduce_row(place, sums);
            with.write(slices.row(place), sums, 0);
        }
    }

    TGRAPH_INLINE void fetch_sender(int64_t entry) const {
        fetch_columns(with.data + slices.neighbors[entry] * with.columns, with.columns);
    }

    TGRAPH_INLINE void fetch_row(int64_t place) const {
        const int64_t first = slices.first(place), count = std::min<int64_t>(slices.length[place], lookahead);
        for (int64_t j = 0; j < count; ++j) fetch_sender(first + j * slices.height);
    }

    void reduce_row(int64_t place, A* sums) const {
        std::fill_n(sums, with.columns, with.identity);
        std::array<int64_t, batch> at;
        std::array<A, batch> weight;
        const int64_t first = slices.first(place), length = slices.length[place], height = slices.height;
        for (int64_t begin = 0; begin < length; begin += batch) {
            const int64_t count = std::min(batch, length - begin);
            for (int64_t i = 0; i < count; ++i) {
                const int64_t j = begin + i, entry = first + j * height;
                if (j + lookahead < length) fetch_sender(entry + lookahead * height);
                at[i] = slices.neighbors[entry] * with.columns;
                if (kernels.weighted) weight[i] = static_cast<A>(widen(with.weights[entry]));
            }
            kernels.reduce(sums, with.data, with.columns, at.data(), weight.data(), count);
        }
    }
};

// ---- all rows -------------------------------------------------------------------------------------------------------

// Reduces every row. The chunks depend on the slices and the columns alone, not on the number of threads.
template <class A, class Kernel>
void reduce_slices(const Kernel& kernel) {
    const Slices& slices = kernel.slices;
    const int64_t columns = kernel.with.columns, height = slices.height;
    const int64_t blocks_of_slice = (height + most_lanes - 1) / most_lanes;
    const int64_t num_blocks = (slices.num_places + height - 1) / height * blocks_of_slice;
    const int64_t work = (slices.num_entries + slices.num_places) * columns;
    const int64_t blocks = std::max<int64_t>(1, (int64_t{1} << 15) * num_blocks / std::max<int64_t>(work, 1));
    for_each_chunk((num_blocks + blocks - 1) / blocks, part_count(work), [&](int64_t chunk) {
        std::vector<A> sums(columns);
        const int64_t end = std::min((chunk + 1) * blocks, num_blocks);
        for (int64_t block = chunk * blocks; block < end; ++block) {
            const int64_t slice = block / blocks_of_slice * height;
            const int64_t begin = slice + block % blocks_of_slice * most_lanes;
            const int64_t last = std::min({begin + most_lanes, slice + height, slices.num_places});
            if (begin < last) kernel.reduce({begin, last}, sums.data());
        }
    });
}

template <class T, class A>
void pull_slices(In<int64_t> offset, In<int32_t> neighbors, In<int32_t> length, In<int32_t> order, int64_t height,
                 In<Passed<T>> data, int64_t columns, In<Passed<T>> weights, std::string_view reduce,
                 std::string_view edge, A identity, Out<Passed<typename PullData<T, A, T>::Result>> out) {
    using Result = typename PullData<T, A, T>::Result;
    const auto places = static_cast<int64_t>(length.shape(0)), entries = static_cast<int64_t>(neighbors.shape(0));
    check_columns(columns, 1);
    if (height < 1 || static_cast<int64_t>(offset.shape(0)) != (places + height - 1) / height + 1 ||
        offset.data()[offset.shape(0) - 1] != entries)
        throw std::invalid_argument("offset: expected where each slice begins, and the number of entries");
    if (order.is_valid() && static_cast<int64_t>(order.shape(0)) != places)
        throw std::invalid_argument("order: expected a row for each place");
    if (static_cast<int64_t>(data.shape(0)) != places * columns || data.shape(0) != out.shape(0))
        throw std::invalid_argument("data and out: expected [n, columns]");
    if (edge != "copy" && (!weights.is_valid() || static_cast<int64_t>(weights.shape(0)) != entries))
        throw std::invalid_argument("weights: expected one for each entry");
    const Slices slices{offset.data(), neighbors.data(), length.data(), order.data(), places, height, entries};
    const PullData<T, A, T> with{reinterpret_cast<const T*>(data.data()),
                                 reinterpret_cast<const T*>(weights.data()),
                                 columns,
                                 1,
                                 identity,
                                 false,
                                 reinterpret_cast<Result*>(out.data())};
    if (columns == 1)
        reduce_slices<A>(SliceColumn<T, A>{slices, with, slice_kernels<T, A>(reduce, edge)});
    else
        reduce_slices<A>(SliceColumns<T, A>{slices, with, column_kernels<T, A>(reduce, edge)});
}

template <class T, class A>
void bind_pull_slices(Module& module, const char* name) {
    module.def(name, &pull_slices<T, A>,
               "offset, neighbors, length, order?, height, data, columns, weights?, reduce, edge, identity, out");
}

void bind_sell_narrow(Module& module);

}  // namespace tgraph
