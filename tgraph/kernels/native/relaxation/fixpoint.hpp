// Relaxation to a fixpoint in synchronous rounds: value[v] = best over arcs u -> v of send(value[u], weight), until no
// value changes (Bellman-Ford over a semiring).
//
// A round takes a frontier, the vertices that changed in the round before, and pushes or pulls (direction.hpp).
// Messages are computed from the values before the round, so that neither the values after a round nor the number of
// rounds depend on the direction or the number of threads. A push writes improvements by compare-and-swap; a pull owns
// its rows. Atomics are relaxed, as the end of each parallel region orders a round before the next.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "relaxation/direction.hpp"
#include "relaxation/hops.hpp"
#include "base/memory.hpp"
#include "threads/parallel.hpp"
#include "relaxation/relax_semiring.hpp"
#include "relaxation/relaxation.hpp"
#include "base/rows.hpp"
#include "base/scan.hpp"
#include "relaxation/vertex_set.hpp"

namespace tgraph {

// `width` : values per vertex, of independent problems solved together. Loops over arcs are compiled for the semirings
// of with_semiring, everything else once.
template <class V>
class Rounds final : public Fixpoint {
public:
    Rounds(const Pieces<V>& out, V* values, int64_t num_vertices, int64_t width, AnySemiring<V> semiring,
           V best_weight, bool bounded, DirectionPolicy::Mode mode, Thresholds thresholds)
        : out_(out), values_(values), n_(num_vertices), width_(width), semiring_(semiring), best_weight_(best_weight),
          bounded_(bounded), hops_(values, num_vertices, out, semiring.is_min, semiring.identity()),
          queue_(new int32_t[num_vertices + 1]),
          next_(new int32_t[num_vertices + 1]), front_(num_vertices), reached_(num_vertices), found_(thread_count()),
          policy_{mode, thresholds, num_vertices, out.before(num_vertices), false} {}

    // The first frontier: distinct vertices, or all if `ids` is null.
    void start(const int64_t* ids, int64_t count) {
        uniform_ = true, decided_ = in_bitmap_ = false;
        everything_ = ids == nullptr;
        size_ = everything_ ? n_ : count;
        arcs_ = everything_ ? out_.before(n_) : 0;
        for (int64_t i = 0; i < size_; ++i) {
            const int64_t v = everything_ ? i : ids[i];
            if (!everything_) {
                queue_[i] = static_cast<int32_t>(v);
                arcs_ += out_.degree(v);
            }
            uniform_ = uniform_ && values_[v * width_] == values_[(everything_ ? 0 : ids[0]) * width_];
            if (everything_ && !uniform()) break;
        }
        if (uniform() && size_) level_ = values_[everything_ ? 0 : ids[0]];
        // Equal values and one weight, as in breadth-first search: the first value that reaches a vertex is final.
        policy_.settles = uniform();
    }

    void restart(const int64_t* ids, int64_t count, int mode) override {
        policy_.mode = static_cast<DirectionPolicy::Mode>(mode);
        hops_.invalidate();
        start(ids, count);
    }
    void list(int64_t* vertices) override {
        list_frontier();
        for_each_entry(size_, [&](int64_t i) { vertices[i] = queue_[i]; });
    }

    void set_transpose(const RowPieces& rows, const void* weights) override {
        in_ = {rows, {weights, out_.weights.type, out_.weights.one}};
        has_transpose_ = true;
    }
    int64_t active() const override { return size_; }

    State advance(int64_t max_rounds, double seconds) override {
        const double start = seconds_now();
        for (int64_t done = 0; size_ > 0; ++done) {
            const double began = seconds_now();
            if (done == max_rounds || (done && began - start > seconds)) return State::paused;
            if (!decided_) pull_ = policy_.choose(size_, arcs_, everything_);
            decided_ = pull_ && !has_transpose_;
            if (decided_) return State::needs_transpose;
            const int64_t size = size_, arcs = arcs_;
            pull_ ? pull() : push();
            rounds.push_back({pull_, size, arcs, size_, (seconds_now() - began) * 1e3});
        }
        return State::done;
    }

private:
    // Prefetch distance for random accesses: atomic instructions keep the processor from overlapping them.
    static constexpr int64_t ahead = 16;
    static constexpr int64_t grain = worth_a_thread(1 << 12) + 3;

    // Whether all messages of a round are equal, as in breadth-first search.
    bool uniform() const { return width_ == 1 && !out_.weights.data && uniform_; }

    int threads_for(int64_t arcs) const {
        return arcs < arcs_for_threads ? 1 : std::min(static_cast<int>(found_.size()), thread_count());
    }

    // ---- push

    void push() {
        list_frontier();
        if (uniform()) send_level();
        if (uniform() && policy_.is_dense(arcs_)) return push_marks();
        if (!uniform()) save_frontier_values();
        hops_.invalidate();
        Found found;
        for (const auto& rows : out_)
            if (threads_for(arcs_) == 1)
                push_arcs<false>(rows, {0, arcs_}, 0, next_.get() + found.size, found);
            else
                push_in_parallel(rows, found);
        size_ = found.size, arcs_ = found.arcs;
        std::swap(queue_, next_);
        if (!uniform()) for_each_entry(size_, [this](int64_t i) { reached_.clear_word(queue_[i]); });
    }

    // Computes the message of the round, which is the same for all arcs.
    void send_level() {
        if (!(level_ == semiring_.identity())) level_ = semiring_.send(level_, out_.weights.one);
        hops_.begin(level_);
    }

    // A push along many arcs without atomics: each thread marks the targets in a bitmap of its own.
    void push_marks() {
        const int threads = threads_for(arcs_ / 4);  // an arc takes a quarter of the time of other rounds
        while (static_cast<int>(marked_.size()) < threads) marked_.emplace_back(n_);
        for (const auto& rows : out_)
            for_each_chunk(number_arcs(rows), threads, [&](int64_t chunk, int rank) {
                const Range arcs = arcs_of(chunk);
                const int64_t first = first_sender(arcs);
                each_sender(unweighted(rows), arcs, first, before_[first],
                            [&](int64_t, Range row) { hops_.mark(row, rows.neighbors, marked_[rank]); });
            });
        for_words(n_, [&](Range words, Found& found) { hops_.take(words, marked_, reached_, found); });
        hops_.invalidate();
        take_reached();
    }

    // Calls body(words, found) for all words of the bitmaps. `work` : number of vertices that are visited.
    template <class Body>
    void for_words(int64_t work, const Body& body) {
        constexpr int64_t words = 1 << 5;  // of a chunk
        const int64_t all = reached_.num_words();
        for_each_chunk((all + words - 1) / words, threads_for(work), [&](int64_t chunk, int rank) {
            body(Range{chunk * words, std::min(all, (chunk + 1) * words)}, found_[rank]);
        });
    }

    // Prefix sums of the degrees of the frontier, so that chunks have equal numbers of arcs and may split a hub.
    // Returns the number of chunks.
    int64_t number_arcs(const AnyRows<V>& rows) {
        before_.resize(size_ + 1);
        scan(size_, before_.data() + 1, int64_t{0}, [&](int64_t i) { return rows.degree(queue_[i]); });
        return (before_.back() + grain - 1) / grain;
    }
    Range arcs_of(int64_t chunk) const { return {chunk * grain, std::min(before_.back(), (chunk + 1) * grain)}; }

    // The index in the frontier of the source of the first of these arcs.
    int64_t first_sender(Range arcs) const {
        return std::upper_bound(before_.begin(), before_.end(), arcs.begin) - before_.begin() - 1;
    }

    // Adds to those in `all`, which `next_` begins with.
    void push_in_parallel(const AnyRows<V>& rows, Found& all) {
        const int64_t chunks = number_arcs(rows);
        std::atomic<int64_t> listed{all.size};
        for_each_chunk(chunks, threads_for(arcs_), [&](int64_t chunk, int rank) {
            Found& found = found_[rank];
            const Range arcs = arcs_of(chunk);
            const int64_t first = first_sender(arcs);
            found.ids.resize(grain + 1);
            push_arcs<true>(rows, arcs, first, found.ids.data(), found);
            const int64_t size = std::exchange(found.size, 0);
            std::copy_n(found.ids.data(), size, next_.get() + listed.fetch_add(size, std::memory_order_relaxed));
        });
        all.size = listed.load(std::memory_order_relaxed);
        for (Found& found : found_) all.arcs += std::exchange(found.arcs, 0);
    }

    // Pushes along a range of arcs of the frontier, the first of which leaves its member `i`; lists improved vertices.
    template <bool shared>
    void push_arcs(const AnyRows<V>& out, Range arcs, int64_t i, int32_t* list, Found& found) {
        int32_t* end = list;
        const int64_t position = shared ? before_[i] : 0, held = out.offset[n_] - ahead;
        if (uniform())
            with_order([&](auto semiring) {
                each_sender(unweighted(out), arcs, i, position, [&](int64_t, Range row) {
                    end = push_level<shared>(out.neighbors, row, end, semiring);
                });
            });
        else
            with_semiring(out, [&]<bool single>(auto semiring, const auto rows, std::bool_constant<single>) {
                each_sender(rows, arcs, i, position, [&](int64_t sender, Range row) {
                    end = push_row<shared, single>(sender, rows, row, held, end, semiring);
                });
            });
        found.size += end - list;
        found.arcs += degrees(list, end - list);
    }

    // Calls visit(i, row) for the members of the frontier with these arcs; the first is member `i`, whose arcs begin at
    // `position`.
    template <class Rows, class Visit>
    TGRAPH_INLINE void each_sender(const Rows& rows, Range arcs, int64_t i, int64_t position, const Visit& visit) {
        const int32_t* const queue = queue_.get();
        for (const int64_t size = size_; position < arcs.end && i < size; ++i) {
            if (i + ahead < size) fetch(rows.offset + queue[i + ahead]);
            if (i + ahead / 4 < size) rows.fetch_row(rows.offset[queue[i + ahead / 4]]);
            const int64_t u = queue[i], first = rows.offset[u], degree = rows.degree(u);
            const Range row{first + std::max<int64_t>(0, arcs.begin - position),
                            first + std::min(degree, arcs.end - position)};
            position += degree;
            visit(i, row);
        }
    }

    template <bool shared, class Semiring>
    TGRAPH_INLINE int32_t* push_level(const int32_t* neighbors, Range row, int32_t* end, const Semiring& semiring) {
        const V level = level_;
        for (int64_t arc = row.begin; arc < row.end; ++arc) {
            if (arc + ahead < row.end) fetch(values_ + neighbors[arc + ahead]);
            const int32_t v = neighbors[arc];
            if constexpr (shared) {
                if (improve<true>(values_[v], level, semiring)) *end++ = v;
            } else {  // without a branch, which would be unpredictable and depend on a cache miss
                const bool better = semiring.better(level, values_[v]);
                values_[v] = better ? level : values_[v];
                *end = v;
                end += better;
            }
        }
        return end;
    }

    template <bool shared, bool single, class Rows, class Semiring>
    TGRAPH_INLINE int32_t* push_row(int64_t i, const Rows& rows, Range row, int64_t held, int32_t* end,
                                    const Semiring& semiring) {
        const int64_t width = single ? 1 : width_;
        const V* sent = sent_.data() + i * width;
        if (single && *sent == semiring.identity()) return end;
        for (int64_t arc = row.begin; arc < row.end; ++arc) {
            if (arc < held) fetch(values_ + rows.neighbors[arc + ahead] * width);
            const int64_t v = rows.neighbors[arc];
            const V weight = rows.weights[arc];
            bool better = false;
            for (int64_t c = 0; c < width; ++c) {
                if (!single && sent[c] == semiring.identity()) continue;
                better |= improve<shared>(values_[v * width + c], semiring.send(sent[c], weight), semiring);
            }
            if (better && reached_.add(v, shared)) *end++ = static_cast<int32_t>(v);
        }
        return end;
    }

    int64_t degrees(const int32_t* vertices, int64_t count) const {
        int64_t sum = 0;
        for (const auto& rows : out_)
            for (int64_t i = 0; i < count; ++i) {
                if (i + ahead < count) fetch(rows.offset + vertices[i + ahead]);
                sum += rows.degree(vertices[i]);
            }
        return sum;
    }

    // Copies the values of the frontier from before the round.
    void save_frontier_values() {
        if (!sent_) sent_ = Scratch<V>(n_ * width_);
        for_each_entry(size_, [this](int64_t i) {
            const V* value = values_ + queue_[i] * width_;
            std::copy(value, value + width_, sent_.data() + i * width_);
        });
    }

    void list_frontier() {
        if (everything_)
            for_each_entry(n_, [this](int64_t v) { queue_[v] = static_cast<int32_t>(v); });
        else if (in_bitmap_)
            list_members(front_, queue_.get());
        everything_ = in_bitmap_ = false;
    }

    // ---- pull

    void pull() {
        mark_frontier();
        uniform() ? pull_level() : pull_values();
        take_reached();
    }

    void pull_level() {
        for_words(hops_.num_unvisited(), [&](Range words, Found& found) {
            hops_.pull(everything_, words, in_, front_, reached_, found);
        });
        hops_.end_pull();
    }

    void pull_values() {
        V bound{};
        const bool bounded = width_ == 1 && bounded_ && find_bound(bound);
        save_values();
        const RowChunks chunks{in_.begin()->offset, n_, int64_t{1} << 15};
        for_each_chunk(chunks.size(), threads_for(in_.before(n_) + n_), [&](int64_t chunk, int rank) {
            const Range rows = whole_words(chunks[chunk], chunk + 1 == chunks.size());
            for (const auto& piece : in_)
                with_semiring(piece, [&]<bool single>(auto semiring, const auto in, std::bool_constant<single>) {
                    pull_rows<single>(in, rows, bounded, bound, found_[rank], semiring);
                });
        });
    }

    // Makes the vertices reached in this round the frontier.
    void take_reached() {
        size_ = arcs_ = 0;
        for (Found& found : found_) size_ += std::exchange(found.size, 0), arcs_ += std::exchange(found.arcs, 0);
        std::swap(front_, reached_);
        reached_.clear();
        everything_ = false, in_bitmap_ = true;
    }

    // Aligns chunks to words of the bitmap, so that each word is written by one thread.
    Range whole_words(Range rows, bool last) const { return {rows.begin & ~63, last ? n_ : rows.end & ~63}; }

    template <bool single, class Rows, class Semiring>
    void pull_rows(const Rows& in, Range rows, bool bounded, V bound, Found& found, const Semiring& semiring) {
        for (int64_t v = rows.begin; v < rows.end; ++v) {
            if (bounded && !semiring.better(bound, values_[v])) continue;
            if (single ? pull_row(in, v, bounded, bound, semiring) : pull_columns(in, v, semiring)) reach(v, found);
        }
    }

    template <class Rows, class Semiring>
    TGRAPH_INLINE bool pull_row(const Rows& in, int64_t v, bool bounded, V bound, const Semiring& semiring) {
        const V *sent = sent_.data(), held = values_[v];
        V best = held;
        for (int64_t arc = in.offset[v], end = in.offset[v + 1]; arc < end; ++arc) {
            const int64_t u = in.neighbors[arc];
            if (!is_active(u) || sent[u] == semiring.identity()) continue;
            const V message = semiring.send(sent[u], in.weights[arc]);
            if (!semiring.better(message, best)) continue;
            best = message;
            if (bounded && !semiring.better(bound, best)) break;
        }
        if (!semiring.better(best, held)) return false;
        values_[v] = best;
        return true;
    }

    template <class Rows, class Semiring>
    TGRAPH_INLINE bool pull_columns(const Rows& in, int64_t v, const Semiring& semiring) {
        V* best = values_ + v * width_;
        bool better = false;
        for (int64_t arc = in.offset[v], end = in.offset[v + 1]; arc < end; ++arc) {
            const int64_t u = in.neighbors[arc];
            if (!is_active(u)) continue;
            const V* sent = sent_.data() + u * width_;
            const V weight = in.weights[arc];
            for (int64_t c = 0; c < width_; ++c)
                if (sent[c] != semiring.identity())
                    better |= improve<false>(best[c], semiring.send(sent[c], weight), semiring);
        }
        return better;
    }

    TGRAPH_INLINE bool is_active(int64_t v) const { return everything_ || front_.has(v); }

    // Calls visit(semiring, rows, whether there is one column): the semirings of shortest paths, widest paths and
    // components with weights of the dtype of the values, and all others.
    template <class Visit>
    void with_semiring(const AnyRows<V>& rows, const Visit& visit) const {
        constexpr std::true_type single;
        constexpr std::false_type several;
        const auto is = [&](bool is_min, Edge edge) { return semiring_.is_min == is_min && semiring_.edge == edge; };
        if (width_ > 1)
            is(true, Edge::add) ? visit(MinPlus<V>{}, rows, several) : visit(semiring_, rows, several);
        else if (is(true, Edge::add))
            with_weights(rows, [&](const auto& typed) { visit(MinPlus<V>{}, typed, single); });
        else if (is(true, Edge::copy))
            visit(BestCopy<V, true>{}, unweighted(rows), single);
        else if (is(false, Edge::copy))
            visit(BestCopy<V, false>{}, unweighted(rows), single);
        else if (is(false, Edge::min) && rows.weights.template are<V>())
            visit(MaxMin<V>{}, weighted<V>(rows), single);
        else
            visit(semiring_, rows, single);
    }

    // The same for loops that compare, but do not send.
    template <class Visit>
    void with_order(const Visit& visit) const {
        semiring_.is_min ? visit(BestCopy<V, true>{}) : visit(BestCopy<V, false>{});
    }

    void reach(int64_t v, Found& found) {
        if (!reached_.add(v, false)) return;  // another piece has improved it, too
        ++found.size;
        found.arcs += out_.degree(v);
    }

    void mark_frontier() {
        if (uniform()) send_level();
        if (everything_ || in_bitmap_) return;
        front_.clear();
        constexpr int fewest = 4;  // threads that pay off: an atomic update takes as long as three others
        if (part_count(size_) < fewest)
            for (int64_t i = 0; i < size_; ++i) front_.add(queue_[i], false);
        else
            for_each_entry(size_, [this](int64_t i) { front_.add(queue_[i], true); });
    }

    // The best message of the round: vertices with a value at least as good cannot improve and are skipped.
    bool find_bound(V& bound) const {
        const V nothing = semiring_.identity();
        const auto value = [&](int64_t v) { return is_active(v) ? values_[v] : nothing; };
        const auto better = [&](V best, V other) { return semiring_.better(other, best) ? other : best; };
        const V best = reduce(n_, nothing, value, better);
        bound = best == semiring_.identity() ? best : semiring_.send(best, best_weight_);
        return true;
    }

    void save_values() {
        if (!sent_) sent_ = Scratch<V>(n_ * width_);
        copy(values_, n_ * width_, sent_.data());
    }

    Pieces<V> out_, in_ = out_;
    V* values_;
    int64_t n_, width_;
    const AnySemiring<V> semiring_;
    V best_weight_;
    bool bounded_, uniform_ = true, has_transpose_ = false, decided_ = false, pull_ = false;
    // The frontier: all vertices, a bitmap (front_), or a list (queue_).
    bool everything_ = false, in_bitmap_ = false;
    int64_t size_ = 0, arcs_ = 0;
    V level_{};  // the value of all vertices of the frontier in a uniform search
    Hops<V> hops_;
    std::unique_ptr<int32_t[]> queue_, next_;  // not Scratch: zeroing a huge page takes longer than many searches
    Scratch<V> sent_;
    Bitmap front_, reached_;
    std::vector<Bitmap> marked_;   // one per thread
    std::vector<int64_t> before_;  // exclusive prefix sums of the degrees of the frontier
    std::vector<Found> found_;
    DirectionPolicy policy_;
};

}  // namespace tgraph
