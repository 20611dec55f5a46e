// Pull over SELL-C-sigma slices: rows padded to one length (Kreutzer et al., "A unified sparse matrix data format for
// efficient general sparse matrix-vector multiplication on modern processors with wide SIMD units", 2014). A single
// column is reduced with one row per vector lane, several columns row by row. Parallel over blocks of slices; each row
// is reduced in arc order.
//
// Data is gathered for padding entries too, but masked out of the reduction, so that it cannot contribute NaN.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "aggregation/layouts/slices.hpp"
#include "aggregation/segments/row_reduction.hpp"

namespace tgraph {
namespace {

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

// Reduces blocks of places, with the buffers of a thread.
class SliceReduction {
public:
    SliceReduction(const Slices& slices, const Operands& with)
        : slices_(slices), with_(with), rows_(with), sums_(with.columns * size_of(with.number)) {
        if (with.columns == 1) prepare_lanes();
    }

    // Reduces at most most_lanes places of one slice.
    void reduce(Range places) {
        const int64_t count = places.end - places.begin;
        if (with_.columns == 1 && (count == most_lanes || count == lanes_of_vector))
            return reduce_lanes(places.begin, static_cast<int>(count));
        for (int64_t place = places.begin; place < places.end; ++place) {
            fetch_senders(std::min(place + 2, places.end - 1));
            reduce_row(place);
            store_numbers(with_.number, sums_.data(), with_.columns, with_.result,
                          with_.result_of(slices_.row(place)));
        }
    }

private:
    static constexpr int64_t lookahead = 16;                      // arcs
    static constexpr int64_t gathered = 2048, padding = 64;       // numbers; bytes

    // ---- one column -------------------------------------------------------------------------------------------------

    void prepare_lanes() {
        const bool weighted = with_.edge != Edge::copy;
        const bool floating = with_.number == Number::float32 || with_.number == Number::float64;
        const bool multiplied = weighted && floating && with_.edge == Edge::mul && with_.reduction == Reduction::sum;
        const bool widened = with_.number == Number::float64 && with_.stored == Number::float32 &&
                             (!weighted || with_.stored_weights == Number::float32);
        const bool converts = with_.stored != with_.number && !widened;
        if (converts) read_ = read_rows_kernel(with_.stored, with_.number);
        if (weighted && !widened && with_.stored_weights != with_.number)
            read_weights_ = read_rows_kernel(with_.stored_weights, with_.number);
        if (weighted && !multiplied) combine_ = combine_rows_kernel(with_.number, with_.edge);
        reduce_lanes_ = reduce_lanes_kernel(converts ? with_.number : with_.stored, with_.number, with_.reduction,
                                            multiplied);
        sent_ = Scratch<char>(gathered * 8 + 2 * padding);
        if (read_) wide_.resize(gathered * size_of(with_.number));
        if (read_weights_) weights_.resize(gathered * size_of(with_.number));
    }

    void reduce_lanes(int64_t place, int lanes) {
        const int64_t batch = gathered / lanes, height = slices_.height;
        alignas(64) char sums[most_lanes * 8];
        fill_numbers(with_.number, sums, lanes, with_.identity.data());
        const int32_t* const length = slices_.length + place;
        const int64_t longest = *std::max_element(length, length + lanes);
        for (int64_t j = 0; j < longest; j += batch) {
            const int64_t entry = slices_.first(place) + j * height, count = std::min(batch, longest - j);
            gather(entry, lanes, count);
            reduce_gathered(sums, entry, lanes, length, j, count);
        }
        store_numbers(with_.number, sums, lanes, with_.result, sums);
        switch (size_of(with_.result)) {
            case 8: return write_lanes<uint64_t>(place, sums, lanes);
            case 4: return write_lanes<uint32_t>(place, sums, lanes);
            case 2: return write_lanes<uint16_t>(place, sums, lanes);
            default: return write_lanes<uint8_t>(place, sums, lanes);
        }
    }

    // Numbers of one width are written alike.
    template <class T>
    void write_lanes(int64_t place, const char* results, int lanes) const {
        for (int lane = 0; lane < lanes; ++lane)
            std::memcpy(with_.out + slices_.row(place + lane) * sizeof(T), results + lane * sizeof(T), sizeof(T));
    }

    // Aligned to vector registers.
    char* sent() const {
        const auto address = reinterpret_cast<std::uintptr_t>(sent_.data());
        return reinterpret_cast<char*>((address + padding - 1) / padding * padding);
    }

    void gather(int64_t entry, int lanes, int64_t count) const {
        const int32_t* const at = slices_.neighbors + entry;
        if (slices_.height == lanes) return gather_values(with_.stored, with_.data, at, count * lanes, sent());
        for (int64_t i = 0; i < count; ++i)
            gather_values(with_.stored, with_.data, at + i * slices_.height, lanes,
                          sent() + i * lanes * size_of(with_.stored));
    }

    void reduce_gathered(char* sums, int64_t entry, int lanes, const int32_t* length, int64_t begin, int64_t count) {
        const char* data = sent();
        const char* weights = with_.weights + entry * size_of(with_.stored_weights);
        const int64_t none = 0;
        int64_t height = slices_.height;
        if (read_) {
            read_(data, &none, count * lanes, 1, wide_.data());
            data = wide_.data();
        }
        if (read_weights_) {
            for (int64_t i = 0; i < count; ++i) at_weights_[i] = i * height;
            read_weights_(weights, at_weights_.data(), lanes, count, weights_.data());
            weights = weights_.data(), height = lanes;
        }
        if (combine_) {
            for (int64_t i = 0; i < count; ++i) at_[i] = i * lanes, at_weights_[i] = i * height;
            char* const to = read_ ? wide_.data() : sent();
            combine_(data, at_.data(), weights, at_weights_.data(), lanes, 1, count, to);
        }
        reduce_lanes_(sums, data, weights, height, length, begin, count, lanes / lanes_of_vector);
    }

    // ---- many columns -----------------------------------------------------------------------------------------------

    void fetch_sender(int64_t entry) const {
        fetch_row(with_.row(slices_.neighbors[entry]), with_.row_bytes());
    }

    void fetch_senders(int64_t place) const {
        const int64_t first = slices_.first(place), count = std::min<int64_t>(slices_.length[place], lookahead);
        for (int64_t j = 0; j < count; ++j) fetch_sender(first + j * slices_.height);
    }

    // As in CSR.
    void reduce_row(int64_t place) {
        with_.start(sums_.data());
        const int64_t first = slices_.first(place), length = slices_.length[place], height = slices_.height;
        for (int64_t begin = 0; begin < length; begin += RowReduction::most_arcs) {
            const int64_t count = std::min(RowReduction::most_arcs, length - begin);
            for (int64_t i = 0; i < count; ++i) {
                const int64_t j = begin + i, entry = first + j * height;
                if (j + lookahead < length) fetch_sender(entry + lookahead * height);
                at_[i] = slices_.neighbors[entry] * with_.columns;
                at_weights_[i] = entry;
            }
            rows_.add(sums_.data(), at_.data(), at_weights_.data(), count);
        }
    }

    const Slices& slices_;
    const Operands& with_;
    RowReduction rows_;
    ReadRows read_ = nullptr, read_weights_ = nullptr;
    CombineRows combine_ = nullptr;
    ReduceLanes reduce_lanes_ = nullptr;
    Scratch<char> sent_;
    std::vector<char> sums_, wide_, weights_;
    std::array<int64_t, RowReduction::most_arcs> at_, at_weights_;
};

// Reduces every row. The chunks depend on the slices and the columns alone, not on the number of threads.
void reduce_slices(const Slices& slices, const Operands& with) {
    const int64_t columns = with.columns, height = slices.height;
    const int64_t blocks_of_slice = (height + most_lanes - 1) / most_lanes;
    const int64_t num_blocks = (slices.num_places + height - 1) / height * blocks_of_slice;
    const int64_t work = (slices.num_entries + slices.num_places) * columns;
    const int64_t blocks = std::max<int64_t>(1, (int64_t{1} << 15) * num_blocks / std::max<int64_t>(work, 1));
    for_each_chunk((num_blocks + blocks - 1) / blocks, part_count(work), [&](int64_t chunk) {
        SliceReduction reduction(slices, with);
        const int64_t end = std::min((chunk + 1) * blocks, num_blocks);
        for (int64_t block = chunk * blocks; block < end; ++block) {
            const int64_t slice = block / blocks_of_slice * height;
            const int64_t begin = slice + block % blocks_of_slice * most_lanes;
            const int64_t last = std::min({begin + most_lanes, slice + height, slices.num_places});
            if (begin < last) reduction.reduce({begin, last});
        }
    });
}

template <class T>
void pull_slices(In<int64_t> offset, In<int32_t> neighbors, In<int32_t> length, In<int32_t> order, int64_t height,
                 In<void> data, int64_t columns, In<void> weights, std::string_view reduce, std::string_view edge,
                 Accumulator<T> identity, Out<void> out) {
    const auto places = static_cast<int64_t>(length.shape(0)), entries = static_cast<int64_t>(neighbors.shape(0));
    const Operands with = operands_of<T>(data, columns, weights, 1, reduce, edge, identity, out);
    if (height < 1 || static_cast<int64_t>(offset.shape(0)) != (places + height - 1) / height + 1 ||
        offset.data()[offset.shape(0) - 1] != entries)
        throw std::invalid_argument("offset: expected where each slice begins, and the number of entries");
    if (order.is_valid() && static_cast<int64_t>(order.shape(0)) != places)
        throw std::invalid_argument("order: expected a row for each place");
    if (static_cast<int64_t>(data.shape(0)) != places * columns || data.shape(0) != out.shape(0))
        throw std::invalid_argument("data and out: expected [n, columns]");
    if (edge != "copy" && (!weights.is_valid() || static_cast<int64_t>(weights.shape(0)) != entries))
        throw std::invalid_argument("weights: expected one for each entry");
    reduce_rows_kernel(with.number, with.reduction);  // throws where there is none
    reduce_slices({offset.data(), neighbors.data(), length.data(), order.data(), places, height, entries}, with);
}

template <class T>
void bind_pull_slices(Module& module, const char* name) {
    module.def(name, &pull_slices<T>,
               "offset, neighbors, length, order?, height, data, columns, weights?, reduce, edge, identity, out");
}

}  // namespace

void bind_sell(Module& module) {
    bind_pull_slices<float>(module, "pull_slices_float32");
    bind_pull_slices<double>(module, "pull_slices_float64");  // of float32 as well
    bind_pull_slices<int32_t>(module, "pull_slices_int32");
    bind_pull_slices<int64_t>(module, "pull_slices_int64");
    bind_pull_slices<uint8_t>(module, "pull_slices_uint8");
    bind_pull_slices<Float16>(module, "pull_slices_float16");
    bind_pull_slices<BFloat16>(module, "pull_slices_bfloat16");
}

}  // namespace tgraph
