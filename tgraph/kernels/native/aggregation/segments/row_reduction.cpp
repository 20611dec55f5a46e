#include "aggregation/segments/row_reduction.hpp"

namespace tgraph {
namespace {

inline constexpr int64_t buffered = 4096;  // numbers of a batch: they stay in the L1 cache

}  // namespace

RowReduction::RowReduction(const Operands& with)
    : with_(with), reduce_(reduce_rows_kernel(with.number, with.reduction)),
      at_once_(std::clamp<int64_t>(buffered / with.columns, 1, most_arcs)) {
    const bool weighted = with.edge != Edge::copy, per_column = with.heads > 1 && with.heads == with.columns;
    if (weighted) {
        if (with.edge == Edge::mul && with.reduction == Reduction::sum && !per_column)
            add_products_ = add_products_kernel(with.number);
        if (!add_products_) combine_ = combine_rows_kernel(with.number, with.edge);
        if (add_products_ || with.stored_weights != with.number)
            read_weights_ = read_rows_kernel(with.stored_weights, with.number);
    }
    is_plain_ = !weighted && with.stored == with.number;
    if (with.stored != with.number) read_ = read_rows_kernel(with.stored, with.number);
    if (read_weights_) weights_.resize(most_arcs * (add_products_ ? 1 : with.heads) * size_of(with.number));
    if (!read_ && !combine_) return;
    rows_.resize(at_once_ * with.columns * size_of(with.number));
    places_.resize(most_arcs * 2);
    for (int64_t i = 0; i < most_arcs; ++i) {
        places_[i] = i * with.columns;
        places_[most_arcs + i] = i * with.heads;
    }
}

void RowReduction::add_weighted(void* sums, const int64_t* at, const int64_t* by, int64_t count) {
    char* const to = static_cast<char*>(sums);
    if (!read_ && !combine_) return add_products(to, with_.data, at, by, count);
    for (int64_t i = 0; i < count; i += at_once_) add_some(to, at + i, by + i, std::min(at_once_, count - i));
}

// The products of each head, whose weights are read one after the other.
void RowReduction::add_products(char* sums, const char* data, const int64_t* at, const int64_t* by, int64_t count) {
    const int64_t span = with_.columns / with_.heads, size = size_of(with_.number);
    const bool are_adjacent = count > 0 && with_.heads == 1 && by[count - 1] - by[0] == count - 1;
    if (are_adjacent && with_.stored_weights == with_.number)
        return add_products_(sums, data, with_.columns, at, with_.weights + by[0] * size, count);
    for (int64_t head = 0; head < with_.heads; ++head) {
        read_weights_(with_.weights + head * size_of(with_.stored_weights), by, 1, count, weights_.data());
        add_products_(sums + head * span * size, data + head * span * size, span, at, weights_.data(), count);
    }
}

// Rows that are converted first, or combined with their weights, in a buffer.
void RowReduction::add_some(char* sums, const int64_t* at, const int64_t* by, int64_t count) {
    const char *data = with_.data, *weights = with_.weights;
    const int64_t span = with_.columns / with_.heads;
    if (read_) {
        read_(data, at, with_.columns, count, rows_.data());
        data = rows_.data(), at = places_.data();
    }
    if (add_products_) return add_products(sums, data, at, by, count);
    if (combine_) {
        if (read_weights_) {
            read_weights_(weights, by, with_.heads, count, weights_.data());
            weights = weights_.data(), by = places_.data() + most_arcs;
        }
        combine_(data, at, weights, by, with_.heads, span, count, rows_.data());
        data = rows_.data(), at = places_.data();
    }
    reduce_(sums, data, with_.columns, at, nullptr, count);
}

}  // namespace tgraph
