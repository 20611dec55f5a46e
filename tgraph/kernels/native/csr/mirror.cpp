// The symmetry hash of core/building/symmetry.py over a range of arcs of a CSR: a sum that is 0 if every arc has its
// reverse. Unsigned addition is associative, so the parts of the threads may be summed in any grouping.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bindings.hpp"
#include "base/hash.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// One step of SplitMix64.
uint64_t mixed(uint64_t word) { return mix(word + 0x9e3779b97f4a7c15); }

template <class Neighbor, bool weighted>
uint64_t sum_of(const int64_t* offset, int64_t num_rows, const Neighbor* neighbors, const int64_t* words, Range arcs) {
    uint64_t sum = 0;
    int64_t arc = arcs.begin;
    for (int64_t row = std::upper_bound(offset, offset + num_rows + 1, arc) - offset - 1; arc < arcs.end; ++row) {
        uint64_t forth = 0, back = 0;
        for (const int64_t end = std::min(arcs.end, offset[row + 1]); arc < end; ++arc) {
            const auto other = static_cast<uint64_t>(neighbors[arc]);
            const uint64_t factor = weighted ? mixed(static_cast<uint64_t>(words[arc])) : 1;
            forth += factor * mixed(~other);
            back += factor * mixed(other);
        }
        const auto vertex = static_cast<uint64_t>(row);
        sum += mixed(vertex) * forth - mixed(~vertex) * back;
    }
    return sum;
}

// The sum over arcs begin .. end - 1, whose weights are `words`, [end - begin].
template <class Neighbor>
uint64_t mirror(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> words, int64_t begin, int64_t end) {
    const auto num_rows = static_cast<int64_t>(offset.shape(0)) - 1, size = end - begin;
    if (begin < 0 || end > static_cast<int64_t>(neighbors.shape(0)) || size < 0 ||
        (words.is_valid() && static_cast<int64_t>(words.shape(0)) != size))
        throw std::invalid_argument("mirror: no such arcs");
    const int64_t* first = offset.data();
    const Neighbor* ends = neighbors.data();
    const int64_t* weights = words.is_valid() ? words.data() - begin : nullptr;
    const int parts = part_count(size);
    std::vector<uint64_t> sums(parts);
    for_each_part(parts, [&](int part) {
        const Range range = part_of(size, part, parts), arcs{begin + range.begin, begin + range.end};
        sums[part] = weights ? sum_of<Neighbor, true>(first, num_rows, ends, weights, arcs)
                             : sum_of<Neighbor, false>(first, num_rows, ends, weights, arcs);
    });
    uint64_t sum = 0;
    for (const uint64_t part : sums) sum += part;
    return sum;
}

}  // namespace

void bind_mirror(Module& module) {
    const auto define = [&](auto function) {
        module.def("mirror", function, "offset, neighbors, words?, begin, end");
    };
    define(&mirror<int32_t>);
    define(&mirror<int64_t>);
}

}  // namespace tgraph
