// Messages between processes that share memory: a ring of bytes from each rank to each other, written by the one and
// read by the other. A message longer than the room in its ring is written piece by piece as it is read. Ranks that
// find nothing to do spin briefly, and then sleep until another rings.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/classes.hpp"
#include "threads/futex.hpp"
#include "threads/relax.hpp"

namespace tgraph {
namespace {

constexpr std::size_t line = 64;  // bytes of a cache line

struct alignas(line) Ring {
    std::atomic<uint64_t> written;
    alignas(line) std::atomic<uint64_t> read;
};

struct alignas(line) Bell {
    std::atomic<uint32_t> count;
    std::atomic<uint32_t> sleeps;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint64_t>) == 8);

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::microseconds(50);

// The memory: whether the ranks have stopped; a bell of each rank; rings of p x p; their bytes.
class Rings {
public:
    static std::size_t size(std::size_t ranks, std::size_t room) {
        return line + ranks * sizeof(Bell) + ranks * ranks * (sizeof(Ring) + room);
    }

    // memory : zeros, at the beginning of a page. room : the bytes of a ring.
    Rings(Out<uint8_t> memory, std::size_t rank, std::size_t ranks, std::size_t room)
        : rank_(rank), ranks_(ranks), room_(room), sends_(ranks), receives_(ranks) {
        if (rank >= ranks || !room || memory.shape(0) < size(ranks, room) ||
            reinterpret_cast<std::uintptr_t>(memory.data()) % line)
            throw std::invalid_argument("memory: too small for so many ranks, or not at the beginning of a page");
        stopped_ = reinterpret_cast<std::atomic<uint32_t>*>(memory.data());
        bells_ = reinterpret_cast<Bell*>(memory.data() + line);
        rings_ = reinterpret_cast<Ring*>(bells_ + ranks);
        bytes_ = reinterpret_cast<uint8_t*>(rings_ + ranks * ranks);
    }

    // Begins to send an array to each rank, and to receive one from each; returns the number of the exchange. The
    // arrays live until it is done.
    int64_t begin(nb::sequence sent, nb::sequence received) {
        const std::lock_guard lock(busy_);
        if (nb::len(sent) != ranks_ || nb::len(received) != ranks_)
            throw std::invalid_argument("sent, received: expected an array for each rank");
        std::vector<std::pair<Piece, Piece>> pieces;
        for (std::size_t other = 0; other < ranks_; ++other)
            pieces.emplace_back(piece<const uint8_t>(sent[other]), piece<uint8_t>(received[other]));
        if (pieces[rank_].first.size != pieces[rank_].second.size)
            throw std::invalid_argument("received: the own array has another size than sent");
        Exchange& exchange = exchanges_.emplace_back();
        for (std::size_t other = 0; other < ranks_; ++other) {
            const auto& [given, taken] = pieces[other];
            if (other == rank_) {
                if (given.size) std::memcpy(taken.data, given.data, given.size);
                continue;
            }
            if (given.size) sends_[other].push_back({given, &exchange}), ++exchange.left;
            if (taken.size) receives_[other].push_back({taken, &exchange}), ++exchange.left;
        }
        advance();
        return first_ + std::ssize(exchanges_) - 1;
    }

    // Waits for an exchange and all before it, for some milliseconds at most; returns whether they are done.
    bool wait(int64_t number, int64_t milliseconds) {
        const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
        auto spun = Clock::now() + patience;
        for (int looks = 0;; ++looks) {
            const uint32_t count = bell(rank_).count.load();
            {
                const std::lock_guard lock(busy_);
                if (advance()) spun = Clock::now() + patience;
                if (number < first_) return true;
            }
            if (stopped()) return false;
            relax();
            if (looks % 16) continue;
            const auto now = Clock::now();
            if (now >= end) return false;
            if (now >= spun) sleep(count, end - now);
        }
    }

    // Ends the waiting of all ranks.
    void stop() {
        stopped_->store(1);
        for (std::size_t other = 0; other < ranks_; ++other) ring(other);
    }

    bool stopped() const { return stopped_->load() != 0; }

private:
    struct Piece {
        uint8_t* data;
        std::size_t size;
    };

    struct Exchange {
        int64_t left = 0;  // pieces on their way
    };

    struct Underway : Piece {
        Exchange* exchange;
    };

    template <class T>
    static Piece piece(nb::handle array) {
        const auto given = nb::cast<Array<T>>(array);
        return {const_cast<uint8_t*>(given.data()), given.shape(0)};
    }

    Bell& bell(std::size_t rank) const { return bells_[rank]; }
    Ring& from(std::size_t sender, std::size_t receiver) const { return rings_[sender * ranks_ + receiver]; }

    void ring(std::size_t rank) const {
        bell(rank).count.fetch_add(1);
        if (bell(rank).sleeps.load()) wake_processes(bell(rank).count);
    }

    // Whoever writes or reads first changes the count and looks then whether this rank sleeps: one of both is seen.
    void sleep(uint32_t count, Clock::duration most) const {
        bell(rank_).sleeps.store(1);
        sleep_among_processes(bell(rank_).count, count,
                              std::chrono::duration_cast<std::chrono::nanoseconds>(most).count());
        bell(rank_).sleeps.store(0);
    }

    // Copies what there is room for, and what has come; whether there was any.
    bool advance() {
        bool any = false;
        for (std::size_t other = 0; other < ranks_; ++other) {
            const bool moved = write(other) | read(other);
            if (moved) ring(other);
            any |= moved;
        }
        for (; !exchanges_.empty() && !exchanges_.front().left; ++first_) exchanges_.pop_front();
        return any;
    }

    bool write(std::size_t other) {
        auto& waiting = sends_[other];
        if (waiting.empty()) return false;
        Ring& ring = from(rank_, other);
        const uint64_t begun = ring.written.load(std::memory_order_relaxed);
        const uint64_t end = ring.read.load(std::memory_order_acquire) + room_;
        const uint64_t done = copy(waiting, bytes_of_ring(rank_, other), begun, end, [](uint8_t* there, Piece here) {
            std::memcpy(there, here.data, here.size);
        });
        ring.written.store(done, std::memory_order_release);
        return done != begun;
    }

    bool read(std::size_t other) {
        auto& waiting = receives_[other];
        if (waiting.empty()) return false;
        Ring& ring = from(other, rank_);
        const uint64_t begun = ring.read.load(std::memory_order_relaxed);
        const uint64_t end = ring.written.load(std::memory_order_acquire);
        const uint64_t done = copy(waiting, bytes_of_ring(other, rank_), begun, end, [](uint8_t* there, Piece here) {
            std::memcpy(here.data, there, here.size);
        });
        ring.read.store(done, std::memory_order_release);
        return done != begun;
    }

    uint8_t* bytes_of_ring(std::size_t sender, std::size_t receiver) const {
        return bytes_ + (sender * ranks_ + receiver) * room_;
    }

    // Moves the first pieces from position `at` of a ring to `end` at most; returns the position reached.
    template <class Move>
    uint64_t copy(std::deque<Underway>& waiting, uint8_t* bytes, uint64_t at, uint64_t end, const Move& move) {
        while (!waiting.empty() && at < end) {
            Underway& piece = waiting.front();
            const std::size_t place = at % room_;
            const std::size_t size = std::min({piece.size, static_cast<std::size_t>(end - at), room_ - place});
            move(bytes + place, {piece.data, size});
            at += size, piece.data += size, piece.size -= size;
            if (piece.size) continue;
            --piece.exchange->left;
            waiting.pop_front();
        }
        return at;
    }

    std::size_t rank_, ranks_, room_;
    std::atomic<uint32_t>* stopped_;
    Bell* bells_;
    Ring* rings_;
    uint8_t* bytes_;
    std::mutex busy_;
    std::vector<std::deque<Underway>> sends_, receives_;
    std::deque<Exchange> exchanges_;  // that are not done, from number `first_` on; references to them stay valid
    int64_t first_ = 0;
};

}  // namespace

void bind_rings(Module& module) {
    bind_class<Rings>(module, "Rings", "The rings of one rank. The caller keeps the memory.")
        .def(nb::init<Out<uint8_t>, std::size_t, std::size_t, std::size_t>(), nb::arg("memory"), nb::arg("rank"),
             nb::arg("ranks"), nb::arg("room"))
        .def_static("size", &Rings::size, nb::arg("ranks"), nb::arg("room"))
        .def("begin", &Rings::begin, nb::arg("sent"), nb::arg("received"))
        .def("wait", &Rings::wait, nb::arg("number"), nb::arg("milliseconds"),
             nb::call_guard<nb::gil_scoped_release>())
        .def("stop", &Rings::stop)
        .def_prop_ro("stopped", &Rings::stopped);
}

}  // namespace tgraph
