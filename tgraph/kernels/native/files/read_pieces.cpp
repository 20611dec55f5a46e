// Many short pieces of a file, read past the system's page cache, as many at a time as the device serves: by io_uring
// where the system has it, else by threads.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "base/bindings.hpp"
#include "files/ring.hpp"

namespace tgraph {
namespace {

constexpr int depth = 128;          // requests in flight
constexpr int64_t room = 16 << 10;  // bytes of a request, at most
constexpr int helpers = 16;         // threads, where there is no io_uring

// Bytes of the file from `begin` on that belong at `to`.
struct Piece {
    int64_t begin, size;
    uint8_t* to;
};

// Pieces [first, last) lie in these bytes of the file, whose ends are aligned.
struct Request {
    int64_t begin, end;
    std::size_t first, last;
};

// The rows in the order of the file, cut where they are longer than a request.
std::vector<Piece> pieces_of(const int64_t* begin, int64_t count, int64_t size, int64_t align, uint8_t* out) {
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    if (!std::is_sorted(begin, begin + count))
        std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return begin[i] < begin[j]; });
    const int64_t longest = room - 2 * align;
    std::vector<Piece> pieces;
    pieces.reserve(count * ((size + longest - 1) / longest));
    for (const int64_t row : order)
        for (int64_t done = 0; done < size; done += longest)
            pieces.push_back({begin[row] + done, std::min(longest, size - done), out + row * size + done});
    return pieces;
}

// Requests for the pieces: those in the same sectors, or sectors side by side, in one.
std::vector<Request> requests_of(const std::vector<Piece>& pieces, int64_t align) {
    std::vector<Request> requests;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const int64_t begin = pieces[i].begin / align * align;
        const int64_t end = (pieces[i].begin + pieces[i].size + align - 1) / align * align;
        if (!requests.empty() && begin >= requests.back().begin && begin <= requests.back().end &&
            std::max(end, requests.back().end) - requests.back().begin <= room) {
            requests.back().end = std::max(end, requests.back().end);
            requests.back().last = i + 1;
        } else {
            requests.push_back({begin, end, i, i + 1});
        }
    }
    return requests;
}

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

// Aligned memory for `count` requests.
class Buffers {
public:
    Buffers(int count, int64_t align) : memory_(std::aligned_alloc(std::max<int64_t>(align, 4096), count * room)) {
        if (!memory_) throw std::bad_alloc();
    }
    uint8_t* at(int slot) const { return static_cast<uint8_t*>(memory_.get()) + slot * room; }
    void leak() { (void)memory_.release(); }

private:
    std::unique_ptr<void, Free> memory_;
};

[[noreturn]] void fail(int error) {
    throw std::system_error(error, std::generic_category());
}

// Copies the pieces of a request out of what was read. Throws where the file ends before.
void deliver(const Request& request, const std::vector<Piece>& pieces, const uint8_t* read, int64_t size) {
    for (std::size_t i = request.first; i < request.last; ++i) {
        const Piece& piece = pieces[i];
        if (piece.begin + piece.size > request.begin + size) fail(ENODATA);
        std::memcpy(piece.to, read + (piece.begin - request.begin), piece.size);
    }
}

void read_by_ring(Ring& ring, int file, const std::vector<Request>& requests, const std::vector<Piece>& pieces,
                  int64_t align) {
    Buffers buffers(depth, align);
    std::vector<std::size_t> request_of(depth);
    std::vector<int> idle(depth);
    std::iota(idle.begin(), idle.end(), 0);
    std::size_t next = 0;
    int in_flight = 0, error = 0;
    while (in_flight || (!error && next < requests.size())) {
        while (!error && next < requests.size() && !idle.empty()) {
            const int slot = idle.back();
            const Request& request = requests[next];
            ring.add_read(file, buffers.at(slot), request.end - request.begin, request.begin, slot);
            request_of[slot] = next++;
            idle.pop_back();
            ++in_flight;
        }
        try {
            ring.submit_and_wait(std::max(1, in_flight / 4));
        } catch (...) {
            buffers.leak();  // reads that are in flight may still write to them
            Ring::drop();
            throw;
        }
        ring.each_completion([&](uint64_t slot, int result) {
            --in_flight;
            idle.push_back(static_cast<int>(slot));
            if (error) return;  // what is in flight writes to the buffers until it ends
            try {
                if (result < 0) fail(-result);
                deliver(requests[request_of[slot]], pieces, buffers.at(static_cast<int>(slot)), result);
            } catch (const std::system_error& fault) {
                error = fault.code().value();
            }
        });
    }
    if (error) fail(error);
}

void read_by_threads(int file, const std::vector<Request>& requests, const std::vector<Piece>& pieces, int64_t align) {
    std::atomic<std::size_t> next{0};
    std::atomic<int> error{0};
    const auto work = [&] {
        try {
            const Buffers buffers(1, align);
            for (std::size_t i; !error && (i = next.fetch_add(1)) < requests.size();) {
                const Request& request = requests[i];
                ssize_t size;
                do size = pread(file, buffers.at(0), request.end - request.begin, request.begin);
                while (size < 0 && errno == EINTR);
                if (size < 0) fail(errno);
                deliver(request, pieces, buffers.at(0), size);
            }
        } catch (const std::system_error& fault) {
            error = fault.code().value();
        } catch (const std::bad_alloc&) {
            error = ENOMEM;
        }
    };
    const int count = static_cast<int>(std::min<std::size_t>(helpers, requests.size() / 8));
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    if (error) fail(error);
}

// Reads `size` bytes from each of the positions `begin` [k] to out [k * size]. Returns 0, or the number of the system's
// error, ENODATA where the file ends before.
int read_pieces(int file, In<int64_t> begin, int64_t size, int64_t align, bool with_ring, Out<uint8_t> out) {
    const auto count = static_cast<int64_t>(begin.shape(0));
    try {
        const std::vector<Piece> pieces = pieces_of(begin.data(), count, size, align, out.data());
        const std::vector<Request> requests = requests_of(pieces, align);
        Ring* const ring = with_ring ? Ring::of_thread(depth) : nullptr;
        if (ring)
            read_by_ring(*ring, file, requests, pieces, align);
        else
            read_by_threads(file, requests, pieces, align);
    } catch (const std::system_error& fault) {
        return fault.code().value();
    }
    return 0;
}

}  // namespace

void bind_read_pieces(Module& module) {
    module.def("read_pieces", &read_pieces, "file, begin, size, align, with_ring, out");
}

}  // namespace tgraph
