// Zeros in memory of which only what is touched costs anything.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tgraph {

// `count` zeros of a trivial type. Pages that are never touched cost nothing, so that a search that reaches few of the
// vertices does not pay for all of them.
template <class T>
class Zeroed {
public:
    explicit Zeroed(std::size_t count) : bytes_(count * sizeof(T)) {
#ifdef __linux__
        constexpr int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
        void* const pages = bytes_ ? mmap(nullptr, bytes_, access, kind, -1, 0) : nullptr;
        if (pages == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<T*>(pages);
#else
        data_ = static_cast<T*>(std::calloc(count, sizeof(T)));
        if (count && !data_) throw std::bad_alloc();
#endif
    }
    ~Zeroed() {
#ifdef __linux__
        if (data_) munmap(data_, bytes_);
#else
        std::free(data_);
#endif
    }
    Zeroed(const Zeroed&) = delete;
    Zeroed& operator=(const Zeroed&) = delete;

    T& operator[](std::size_t i) const { return data_[i]; }
    T* data() const { return data_; }

private:
    T* data_ = nullptr;
    std::size_t bytes_;
};

}  // namespace tgraph
