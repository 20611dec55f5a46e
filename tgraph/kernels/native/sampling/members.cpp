// The arcs of some rows that come from some vertices: see kernels/operators/sampling/members.py.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/classes.hpp"
#include "base/memory.hpp"
#include "base/buffer.hpp"
#include "threads/parallel.hpp"

namespace tgraph {
namespace {

// Different vertices, ascending. Few bits tell of most others that they are none of them, in the nearest cache.
class Members {
public:
    Members(const int64_t* vertices, int64_t count)
        : first_(vertices),
          last_(vertices + count),
          shift_(64 - std::countr_zero(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(16 * count, 64))))),
          bits_((uint64_t{1} << (64 - shift_)) / 64, 0) {
        for (const int64_t* vertex = first_; vertex != last_; ++vertex) bits_[bit(*vertex) / 64] |= mask(*vertex);
    }

    // The place of a vertex, -1 where it is none of them.
    int64_t place(int64_t vertex) const {
        if (!(bits_[bit(vertex) / 64] & mask(vertex))) return -1;
        const int64_t* const found = std::lower_bound(first_, last_, vertex);
        return found != last_ && *found == vertex ? found - first_ : -1;
    }

private:
    const int64_t *first_, *last_;
    int shift_;
    std::vector<uint64_t> bits_;

    uint64_t bit(int64_t vertex) const { return (static_cast<uint64_t>(vertex) * 0x9e3779b97f4a7c15) >> shift_; }
    uint64_t mask(int64_t vertex) const { return uint64_t{1} << (bit(vertex) & 63); }
};

struct Piece {
    std::vector<int64_t> arc, place;
};

// Writes how many arcs each row has, and returns (their numbers, the places of their sources).
template <class Neighbor>
nb::tuple arcs_from(In<int64_t> offset, In<Neighbor> neighbors, In<int64_t> rows, In<int64_t> sources,
                    Out<int64_t> found) {
    constexpr int64_t together = 64, ahead = 4;
    Buffer<int64_t> arcs, places;
    {
        const nb::gil_scoped_release released;
        const auto size = static_cast<int64_t>(rows.shape(0)), pieces = (size + together - 1) / together;
        const Members members(sources.data(), static_cast<int64_t>(sources.shape(0)));
        const auto begin_of = [&](int64_t i) { return offset.data()[rows.data()[i]]; };
        const auto end_of = [&](int64_t i) { return offset.data()[rows.data()[i] + 1]; };
        int64_t work = 0;
        for (int64_t i = 0; i < size; ++i) work += end_of(i) - begin_of(i);
        std::vector<Piece> held(pieces);
        for_each_chunk(pieces, part_count(work), [&](int64_t chunk) {
            Piece& piece = held[chunk];
            const int64_t last = std::min(size, (chunk + 1) * together);
            for (int64_t i = chunk * together; i < last; ++i) {
                if (i + ahead < last) fetch(neighbors.data() + begin_of(i + ahead));
                const auto before = static_cast<int64_t>(piece.arc.size());
                for (int64_t arc = begin_of(i), end = end_of(i); arc < end; ++arc) {
                    const int64_t place = members.place(neighbors.data()[arc]);
                    if (place < 0) continue;
                    piece.arc.push_back(arc);
                    piece.place.push_back(place);
                }
                found.data()[i] = static_cast<int64_t>(piece.arc.size()) - before;
            }
        });
        int64_t total = 0;
        for (const Piece& piece : held) total += static_cast<int64_t>(piece.arc.size());
        arcs.reserve_more(total);
        places.reserve_more(total);
        for (const Piece& piece : held) {
            for (const int64_t arc : piece.arc) arcs.push(arc);
            for (const int64_t place : piece.place) places.push(place);
        }
    }
    return nb::make_tuple(arcs.to_numpy(), places.to_numpy());
}

template <class Neighbor>
void bind(Module& module) {
    module.def("arcs_from", &arcs_from<Neighbor>, "offset, neighbors, rows, sources, found", Gil::held);
}

}  // namespace

void bind_arcs_from(Module& module) {
    bind<int32_t>(module);
    bind<int64_t>(module);
}

}  // namespace tgraph
