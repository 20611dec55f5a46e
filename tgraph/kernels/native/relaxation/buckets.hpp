// Delta-stepping (Meyer and Sanders, J. Algorithms 2003): vertices whose distance is in [k * delta, (k + 1) * delta)
// are relaxed before those of later buckets. Each thread has its own buckets and, while its part of the current bucket
// is small, continues with it without a barrier (bucket fusion: Zhang, Brahmakshatriya, Chen, Dhulipala, Kamil,
// Amarasinghe, Shun, "Optimizing ordered graph algorithms with GraphIt", 2020).
//
// Distances are lowered by compare-and-swap with relaxed order: the order of relaxations affects the work, but not the
// result, the unique least fixpoint.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "threads/parallel.hpp"
#include "relaxation/relax_semiring.hpp"
#include "relaxation/relaxation.hpp"

namespace tgraph {

template <class V>
class Buckets final : public Fixpoint {
public:
    Buckets(AnyRows<V> out, V* values, int64_t num_vertices, double delta)
        : out_(out), values_(values), per_delta_(1 / delta), relaxed_(num_vertices),
          threads_(out.offset[num_vertices] < arcs_for_threads ? 1 : thread_count()), workers_(threads_) {
        fill(relaxed_.data(), num_vertices, highest<V>());
        for (Worker& worker : workers_) worker.bins.resize(window);
    }

    void start(const int64_t* ids, int64_t count) {
        base_ = highest<V>();
        for (int64_t i = 0; i < count; ++i) base_ = std::min(base_, values_[ids[i]]);
        for (int64_t i = 0; i < count; ++i)
            if (const V value = values_[ids[i]]; value < highest<V>())
                put(static_cast<int32_t>(ids[i]), value, workers_[0]);
        if (open_next(first_open())) fill_frontier();
    }

    int64_t active() const override { return frontier_size_; }

    State advance(int64_t max_rounds, double seconds) override {
        const double start = seconds_now();
        const auto has_time = [&](int64_t done) { return !done || seconds_now() - start < seconds; };
        for (int64_t done = 0; frontier_size_ && done < max_rounds && has_time(done); ++done) {
            const double began = seconds_now();
            const int64_t count = (frontier_size_ + chunk - 1) / chunk;
            Chunks chunks(count);
            run_team(threads_for(count), [&](int rank) {
                with_weights(out_, [&](const auto& rows) { relax_frontier(rows, chunks, workers_[rank]); });
            });
            finish_round(began);
            fill_frontier();
        }
        return frontier_size_ ? State::paused : State::done;
    }

private:
    // Buckets that are kept apart; vertices beyond them are in one overflow list, `far`.
    static constexpr int64_t window = 256;
    // A bin of fewer vertices is processed by its thread without a barrier.
    static constexpr std::size_t fused = 1000;
    static constexpr int64_t chunk = 64;

    static constexpr int64_t none = std::numeric_limits<int64_t>::max();

    struct alignas(64) Worker {
        std::vector<std::vector<int32_t>> bins;  // bucket b is bins[b % window] while current_ <= b < current_ + window
        std::vector<int32_t> far, taken;
        int64_t least_far = none, place = 0, active = 0, arcs = 0, changed = 0;
        int64_t least = 0;  // all buckets before this one are empty
    };

    // There may be fewer threads now than when the relaxation began, so that bins may have no thread: the next bucket
    // is determined over the bins of all workers.
    int threads_for(int64_t chunks) const {
        return static_cast<int>(std::clamp<int64_t>(chunks, 1, std::min(threads_, thread_count())));
    }

    int64_t bucket_of(V value) const {
        const double bucket = (static_cast<double>(value) - static_cast<double>(base_)) * per_delta_;
        return std::max(current_, bucket < 1e18 ? static_cast<int64_t>(bucket) : int64_t{1} << 60);
    }

    template <class Rows>
    void relax_frontier(const Rows& rows, Chunks& chunks, Worker& worker) {
        chunks.each([&](int64_t number) {
            const int64_t first = number * chunk;
            relax_all(rows, frontier_.data() + first, std::min(chunk, frontier_size_ - first), worker);
        });
        std::vector<int32_t>& bin = worker.bins[current_ % window];
        while (!bin.empty() && bin.size() < fused) {
            std::swap(bin, worker.taken);
            relax_all(rows, worker.taken.data(), static_cast<int64_t>(worker.taken.size()), worker);
            worker.taken.clear();
        }
    }

    // The first bucket that is not empty. The search resumes at `least`: with many workers most bins are empty.
    int64_t first_bin(Worker& worker) const {
        for (int64_t& bucket = worker.least = std::max(worker.least, current_); bucket < current_ + window; ++bucket)
            if (!worker.bins[bucket % window].empty()) return bucket;
        return none;
    }

    // Rows are at random addresses: prefetches offsets `far` vertices ahead, and the first arcs `near` vertices ahead.
    template <class Rows>
    void relax_all(const Rows rows, const int32_t* vertices, int64_t count, Worker& worker) {
        constexpr int64_t near = 4, far = 12;
        for (int64_t i = 0; i < count; ++i) {
            if (i + far < count) {
                fetch(&rows.offset[vertices[i + far]]);
                fetch(&values_[vertices[i + far]]);
                fetch(&relaxed_.data()[vertices[i + far]]);
            }
            if (i + near < count) rows.fetch_row(rows.offset[vertices[i + near]]);
            relax(rows, vertices[i], worker);
        }
    }

    template <class Rows>
    TGRAPH_INLINE void relax(const Rows& rows, int32_t u, Worker& worker) {
        const V value = std::atomic_ref<V>(values_[u]).load(std::memory_order_relaxed);
        // A vertex is in one bucket per improvement; stale entries are skipped.
        std::atomic_ref<V> relaxed(relaxed_.data()[u]);
        if (relaxed.load(std::memory_order_relaxed) == value) return;
        relaxed.store(value, std::memory_order_relaxed);
        const int64_t end = rows.offset[u + 1];
        ++worker.active;
        worker.arcs += rows.degree(u);
        for (int64_t arc = rows.offset[u]; arc < end; ++arc) {
            const int32_t v = rows.neighbors[arc];
            const V message = plus(value, rows.weights[arc]);
            if (improve<true>(values_[v], message, MinPlus<V>{})) put(v, message, worker);
        }
    }

    TGRAPH_INLINE void put(int32_t v, V value, Worker& worker) {
        const int64_t bucket = bucket_of(value);
        ++worker.changed;
        if (bucket < current_ + window) {
            worker.least = std::min(worker.least, bucket);
            return worker.bins[bucket % window].push_back(v);
        }
        worker.far.push_back(v);
        worker.least_far = std::min(worker.least_far, bucket);
    }

    void finish_round(double began) {
        Round round{false, 0, 0, 0, 0};
        for (Worker& worker : workers_) {
            round.active += std::exchange(worker.active, 0);
            round.arcs += std::exchange(worker.arcs, 0);
            round.changed += std::exchange(worker.changed, 0);
        }
        open_next(first_open());
        round.milliseconds = (seconds_now() - began) * 1e3;
        rounds.push_back(round);
    }

    // Makes the next bucket that is not empty the frontier; returns whether there is one. `next` is the first of them
    // within the window.
    bool open_next(int64_t next) {
        for (;;) {
            int64_t far = none;
            for (const Worker& worker : workers_) far = std::min(far, worker.least_far);
            if (next < far) return open(next), true;
            if (far == none) return frontier_size_ = 0, false;
            current_ = std::max(current_, far);
            for (Worker& worker : workers_) open_far(worker);
            next = first_open();
        }
    }

    int64_t first_open() {
        int64_t next = none;
        for (Worker& worker : workers_) next = std::min(next, first_bin(worker));
        return next;
    }

    // Distributes far vertices that have not been relaxed since to their buckets, which may still be far.
    void open_far(Worker& worker) {
        std::swap(worker.far, worker.taken);
        worker.least_far = none;
        const int64_t changed = worker.changed;
        for (const int32_t v : worker.taken)
            if (relaxed_.data()[v] != values_[v]) put(v, values_[v], worker);
        worker.changed = changed;
        worker.taken.clear();
    }

    void open(int64_t bucket) {
        current_ = bucket;
        frontier_size_ = 0;
        for (Worker& worker : workers_) {
            worker.place = frontier_size_;
            frontier_size_ += static_cast<int64_t>(worker.bins[bucket % window].size());
        }
        frontier_.resize(std::max<std::size_t>(frontier_.size(), frontier_size_));
    }

    void fill_frontier() {
        if (!frontier_size_) return;
        for_each_chunk(std::ssize(workers_), threads_for(frontier_size_ / items_per_part), [&](int64_t i) {
            std::vector<int32_t>& bin = workers_[i].bins[current_ % window];
            std::copy(bin.begin(), bin.end(), frontier_.begin() + workers_[i].place);
            bin.clear();
        });
    }

    AnyRows<V> out_;
    V* values_;
    V base_{};
    double per_delta_;
    Scratch<V> relaxed_;  // the value at which the arcs of each vertex were last relaxed
    int threads_;
    std::vector<Worker> workers_;
    std::vector<int32_t> frontier_;
    int64_t frontier_size_ = 0, current_ = 0;
};

}  // namespace tgraph
