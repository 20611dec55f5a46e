// io_uring through the raw system calls: reads of which many are in flight, without a thread for each.
#pragma once

#include <cstdint>
#include <memory>

#if defined(__linux__) && __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#endif

namespace tgraph {

#if defined(__linux__) && __has_include(<linux/io_uring.h>) && defined(IORING_FEAT_RW_CUR_POS)

// One thread's queues of reads to submit and of reads that ended.
class Ring {
public:
    // The ring of the calling thread; null where the system has none, or does not allow it.
    static Ring* of_thread(unsigned depth) {
        thread_local pid_t owner = 0;
        std::unique_ptr<Ring>& ring = held();
        if (owner != getpid()) {  // a forked child shares its parent's queues, which it must not touch
            (void)ring.release();
            owner = getpid();
        }
        if (!ring) ring.reset(new Ring(depth));
        return ring->is_open() ? ring.get() : nullptr;
    }

    // Forgets the ring of the calling thread, whose state is not known after an error.
    static void drop() { held().reset(); }

    ~Ring() {
        if (entries_ != MAP_FAILED) munmap(entries_, entries_bytes_);
        if (queues_ != MAP_FAILED) munmap(queues_, queues_bytes_);
        if (file_ >= 0) close(file_);
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    void add_read(int file, void* to, int64_t size, int64_t begin, uint64_t tag) {
        const uint32_t tail = *submit_tail_;
        io_uring_sqe& entry = static_cast<io_uring_sqe*>(entries_)[tail & submit_mask_];
        std::memset(&entry, 0, sizeof entry);
        entry.opcode = IORING_OP_READ;
        entry.fd = file;
        entry.addr = reinterpret_cast<uintptr_t>(to);
        entry.len = static_cast<uint32_t>(size);
        entry.off = static_cast<uint64_t>(begin);
        entry.user_data = tag;
        order_[tail & submit_mask_] = tail & submit_mask_;
        std::atomic_ref(*submit_tail_).store(tail + 1, std::memory_order_release);
        ++added_;
    }

    // Submits what was added, and waits until `least` reads have ended.
    void submit_and_wait(unsigned least) {
        for (;;) {
            const long taken =
                syscall(SYS_io_uring_enter, file_, added_, least, unsigned{IORING_ENTER_GETEVENTS}, nullptr, 0);
            if (taken >= 0) {
                added_ -= static_cast<unsigned>(taken);
                if (!added_) return;
            } else if (errno != EINTR && errno != EAGAIN && errno != EBUSY) {
                throw std::system_error(errno, std::generic_category());
            }
        }
    }

    // Calls visit(tag, bytes read or the negative error) for each read that ended.
    template <class Visit>
    void each_completion(const Visit& visit) {
        uint32_t head = *done_head_;
        const uint32_t tail = std::atomic_ref(*done_tail_).load(std::memory_order_acquire);
        for (; head != tail; ++head) visit(done_[head & done_mask_].user_data, done_[head & done_mask_].res);
        std::atomic_ref(*done_head_).store(head, std::memory_order_release);
    }

private:
    int file_ = -1;
    void *queues_ = MAP_FAILED, *entries_ = MAP_FAILED;
    std::size_t queues_bytes_ = 0, entries_bytes_ = 0;
    uint32_t *submit_tail_ = nullptr, *order_ = nullptr, *done_head_ = nullptr, *done_tail_ = nullptr;
    uint32_t submit_mask_ = 0, done_mask_ = 0;
    unsigned added_ = 0;
    io_uring_cqe* done_ = nullptr;

    static std::unique_ptr<Ring>& held() {
        thread_local std::unique_ptr<Ring> ring;
        return ring;
    }

    explicit Ring(unsigned depth) {
        io_uring_params found{};
        const auto opened = static_cast<int>(syscall(SYS_io_uring_setup, depth, &found));
        if (opened < 0) return;
        file_ = opened;
        constexpr unsigned needed = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_RW_CUR_POS;  // the latter came with reads
        if ((found.features & needed) != needed) return;
        queues_bytes_ = std::max<std::size_t>(found.sq_off.array + found.sq_entries * sizeof(uint32_t),
                                              found.cq_off.cqes + found.cq_entries * sizeof(io_uring_cqe));
        entries_bytes_ = found.sq_entries * sizeof(io_uring_sqe);
        queues_ = map(queues_bytes_, IORING_OFF_SQ_RING);
        entries_ = map(entries_bytes_, IORING_OFF_SQES);
        if (!is_open()) return;
        submit_tail_ = at<uint32_t>(found.sq_off.tail);
        submit_mask_ = *at<uint32_t>(found.sq_off.ring_mask);
        order_ = at<uint32_t>(found.sq_off.array);
        done_head_ = at<uint32_t>(found.cq_off.head);
        done_tail_ = at<uint32_t>(found.cq_off.tail);
        done_mask_ = *at<uint32_t>(found.cq_off.ring_mask);
        done_ = at<io_uring_cqe>(found.cq_off.cqes);
    }

    bool is_open() const { return queues_ != MAP_FAILED && entries_ != MAP_FAILED; }

    void* map(std::size_t bytes, int64_t offset) const {
        return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, offset);
    }

    template <class T>
    T* at(std::size_t offset) const {
        return reinterpret_cast<T*>(static_cast<char*>(queues_) + offset);
    }
};

#else

class Ring {
public:
    static Ring* of_thread(unsigned) { return nullptr; }
    static void drop() {}
    void add_read(int, void*, int64_t, int64_t, uint64_t) {}
    void submit_and_wait(unsigned) {}
    template <class Visit>
    void each_completion(const Visit&) {}
};

#endif

}  // namespace tgraph
