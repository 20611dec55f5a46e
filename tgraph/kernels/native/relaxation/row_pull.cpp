// A round of a program from many vertices: what they send is computed for all of them, and every vertex whose value may
// change by it reads its arcs until it has received the best message that there is. A minimum or maximum, exact in any
// order, on all threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/bindings.hpp"
#include "base/kernels.hpp"
#include "base/memory.hpp"
#include "base/rows.hpp"
#include "relaxation/row_code.hpp"

namespace tgraph {
namespace {

constexpr int64_t block = 1 << 12;       // vertices whose messages are computed at once
constexpr int64_t ahead = 4;             // rows whose arcs are fetched before they are read
constexpr int64_t longest = 1 << 16;     // arcs of a row that one thread reads

// What is sent, and something else by those that do not send; without a branch, in words of the same size.
template <class T>
TGRAPH_MULTIVERSION void keep_sent(const bool* sends, const T* sent, int64_t count, T other, T* out) {
    using Word = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    const auto rest = std::bit_cast<Word>(other);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) {
        const Word kept = -static_cast<Word>(sends[i]);
        out[i] = std::bit_cast<T>((std::bit_cast<Word>(sent[i]) & kept) | (rest & ~kept));
    }
}

// The same, reduced to one for each lane.
template <class Reduce, class T>
TGRAPH_MULTIVERSION void reduce_sent(const T* sent, int64_t count, T* sums) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) sums[i] = Reduce::apply(sums[i], sent[i]);
}

template <class T, class Reduce, class Opposite>
struct Pull {
    const int32_t* neighbors;  // who sends to each vertex
    const int64_t *offset, *out_offset;
    int64_t n;
    const bool* active;
    T identity, opposite;
    T *values, *messages;
    bool* changed;
    T best{}, worst{};  // of all messages; NaN where one is
    std::atomic<int64_t> size{0}, arcs{0};

    // Finds the best and the worst message. Where they are equal it is enough to know who sends; else writes them all.
    void send(const Code<T>& code) {
        const int64_t blocks = (n + block - 1) / block;
        const int threads = part_count(n);
        std::vector<T> found(2 * blocks);
        std::vector<Code<T>> workers(threads, code);
        for_each_chunk(blocks, threads, [&](int64_t b, int rank) {
            std::array<T, lanes> bests, worsts;
            bests.fill(identity);
            worsts.fill(opposite);
            each_sent(workers[rank], b, [&](int64_t, int64_t count, const bool* sends, const T* sent) {
                std::array<T, lanes> kept;
                keep_sent(sends, sent, count, identity, kept.data());
                reduce_sent<Reduce>(kept.data(), count, bests.data());
                keep_sent(sends, sent, count, opposite, kept.data());
                reduce_sent<Opposite>(kept.data(), count, worsts.data());
            });
            found[b] = reduced<Reduce>(bests.data(), lanes, identity);
            found[blocks + b] = reduced<Opposite>(worsts.data(), lanes, opposite);
        });
        best = reduced<Reduce>(found.data(), blocks, identity);
        worst = reduced<Opposite>(found.data() + blocks, blocks, opposite);
        if (best == worst) return;
        for_each_chunk(blocks, threads, [&](int64_t b, int rank) {
            std::fill_n(messages + b * block, std::min(block, n - b * block), identity);
            each_sent(workers[rank], b, [&](int64_t first, int64_t count, const bool* sends, const T* sent) {
                keep_sent(sends, sent, count, identity, messages + first);
            });
        });
    }

    void receive(const Code<T>& code) {
        const Interval<T> between = best != best      ? Interval<T>::anything()
                                    : best < identity ? Interval<T>{best, identity}
                                                      : Interval<T>{identity, best};
        const RowChunks chunks{offset, n, 1 << 15};
        const int threads = part_count(offset[n] + n);
        std::vector<std::pair<Bounds<T>, Code<T>>> workers(threads, {{code, between}, code});
        for_each_chunk(chunks.size(), threads, [&](int64_t chunk, int rank) {
            auto& [bounds, run] = workers[rank];
            const Range rows = chunks[chunk];
            int64_t total = 0, leaving = 0;
            for (int64_t first = rows.begin; first < rows.end; first += lanes) {
                std::array<int64_t, lanes> open;
                std::array<T, lanes> given;
                const int64_t count = list(bounds, first, std::min(lanes, rows.end - first), open.data());
                for (int64_t i = 0; i < count; ++i) {
                    fetch(neighbors + offset[open[std::min(i + ahead, count - 1)]]);
                    given[i] = received(offset[open[i]], offset[open[i] + 1]);
                }
                write(run, open.data(), given.data(), count, total, leaving);
            }
            size += total;
            arcs += leaving;
        });
        for (int64_t row : long_rows(chunks)) receive(code, row);
    }

private:
    // Calls visit(first, count, who sends, what) for the lanes of a block in which somebody sends.
    template <class Visit>
    void each_sent(Code<T>& code, int64_t b, const Visit& visit) const {
        for (int64_t first = b * block; first < std::min(n, (b + 1) * block); first += lanes) {
            const int64_t count = std::min(lanes, n - first);
            if (std::memchr(active + first, 1, count))
                visit(first, count, active + first, code.at({nullptr, first, count}, values, nullptr));
        }
    }

    template <class By>
    static T reduced(const T* found, int64_t count, T from) {
        return std::accumulate(found, found + count, from, [](T a, T b) { return By::apply(a, b); });
    }

    // Those of `count` rows that have arcs, and may change.
    int64_t list(Bounds<T>& bounds, int64_t first, int64_t count, int64_t* open) {
        std::array<bool, lanes> marks;
        std::fill_n(changed + first, count, false);
        if (offset[first] == offset[first + count]) return 0;
        if (!bounds.open(first, count, values, marks.data())) return 0;
        int64_t listed = 0;
        for (int64_t i = 0; i < count; ++i) {
            const int64_t row = first + i, degree = offset[row + 1] - offset[row];
            open[listed] = row;
            listed += marks[i] & (degree > 0) & (degree <= longest);
        }
        return listed;
    }

    T received(int64_t begin, int64_t end) const {
        if (best == worst)
            return std::any_of(neighbors + begin, neighbors + end, [this](int32_t u) { return active[u]; }) ? best
                                                                                                            : identity;
        constexpr int64_t step = 8;
        T sum = identity;
        for (; begin + step <= end; begin += step) {
            T part = messages[neighbors[begin]];
            for (int64_t i = 1; i < step; ++i) part = Reduce::apply(part, messages[neighbors[begin + i]]);
            sum = Reduce::apply(sum, part);
            if (sum == best) return sum;
        }
        return std::accumulate(neighbors + begin, neighbors + end, sum,
                               [this](T before, int32_t u) { return Reduce::apply(before, messages[u]); });
    }

    bool is_reached(int64_t row) const {
        const int32_t *const begin = neighbors + offset[row], *const end = neighbors + offset[row + 1];
        return std::any_of(begin, end, [this](int32_t u) { return active[u]; });
    }

    // Rows that the chunks have left out: as long as the chunks are, so that each spans the beginning of one.
    std::vector<int64_t> long_rows(const RowChunks& chunks) const {
        std::vector<int64_t> rows;
        for (int64_t chunk = 1; chunk < chunks.size(); ++chunk) {
            const int64_t row = chunks[chunk].begin - 1;
            if (row >= 0 && (rows.empty() || rows.back() != row) && offset[row + 1] - offset[row] > longest)
                rows.push_back(row);
        }
        return rows;
    }

    void receive(const Code<T>& code, int64_t row) {
        Code<T> run = code;
        const int64_t begin = offset[row], end = offset[row + 1], pieces = (end - begin + longest - 1) / longest;
        std::vector<T> found(pieces);
        for_each_chunk(pieces, thread_count(), [&](int64_t i) {
            found[i] = received(begin + i * longest, std::min(end, begin + (i + 1) * longest));
        });
        const T given = reduced<Reduce>(found.data(), pieces, identity);
        int64_t total = 0, leaving = 0;
        write(run, &row, &given, 1, total, leaving);
        size += total;
        arcs += leaving;
    }

    // Of vertices that nobody reaches the values stay. These have received the identity; it may have been sent, too.
    void write(Code<T>& run, const int64_t* rows, const T* given, int64_t count, int64_t& total, int64_t& leaving) {
        if (!count) return;
        const T* const after = run.at({rows, 0, count}, values, given);
        for (int64_t i = 0; i < count; ++i) {
            const int64_t row = rows[i];
            const bool differs = changes(values[row], after[i]);
            const bool may_be_sent = !(worst < identity || worst > identity);
            const bool is_same = !std::memcmp(&values[row], &after[i], sizeof(T));
            if (given[i] == identity && (!may_be_sent || is_same || !is_reached(row))) continue;
            values[row] = after[i];
            changed[row] = differs;
            total += differs;
            leaving += differs ? out_offset[row + 1] - out_offset[row] : 0;
        }
    }
};

// neighbors, offset: of the transpose. Overwrites the values, and marks in `changed` which vertices' do. Returns how
// many these are, and the number of their arcs.
template <class T>
std::pair<int64_t, int64_t> row_pull(In<int32_t> neighbors, In<int64_t> offset, In<int64_t> out_offset,
                                     int64_t reduction, In<int64_t> code, int64_t sent_steps, In<T> numbers,
                                     In<T> constants, In<bool> active, Out<T> values, Out<T> messages,
                                     Out<bool> changed) {
    const auto n = static_cast<int64_t>(offset.shape(0)) - 1;
    for (std::size_t size : {out_offset.shape(0) - 1, active.shape(0), values.shape(0), messages.shape(0),
                             changed.shape(0)})
        if (static_cast<int64_t>(size) != n) throw std::invalid_argument("expected tensors [n]");
    const RowFunctions<T> functions(code, sent_steps, numbers, constants, n);
    const auto run = [&]<class Reduce, class Opposite>(Reduce, Opposite) {
        using Limits = std::numeric_limits<T>;
        constexpr T high = Limits::has_infinity ? Limits::infinity() : Limits::max();
        constexpr T low = Limits::has_infinity ? -Limits::infinity() : Limits::min();
        constexpr bool is_min = std::is_same_v<Reduce, Least>;
        Pull<T, Reduce, Opposite> pull{.neighbors = neighbors.data(), .offset = offset.data(),
                                       .out_offset = out_offset.data(), .n = n, .active = active.data(),
                                       .identity = is_min ? high : low, .opposite = is_min ? low : high,
                                       .values = values.data(), .messages = messages.data(),
                                       .changed = changed.data()};
        pull.send(functions.sent());
        pull.receive(functions.become());
        return std::pair<int64_t, int64_t>(pull.size, pull.arcs);
    };
    if (reduction == static_cast<int64_t>(Sums::sum)) throw std::invalid_argument("reduction: expected min or max");
    return reduction == static_cast<int64_t>(Sums::min) ? run(Least(), Most()) : run(Most(), Least());
}

template <class T>
void bind(Module& module, const char* name) {
    module.def(name, &row_pull<T>,
               "neighbors, offset, out_offset, reduction, code, sent_steps, numbers, "
               "constants, active, values, messages, changed");
}

}  // namespace

void bind_row_pull(Module& module) {
    bind<float>(module, "row_pull_float32");
    bind<double>(module, "row_pull_float64");
    bind<int32_t>(module, "row_pull_int32");
    bind<int64_t>(module, "row_pull_int64");
}

}  // namespace tgraph
