// Zeros in memory of which only what is touched costs anything.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tgraph {

void* take_zeros(std::size_t bytes);
void release_zeros(void* data, std::size_t bytes);

// `count` zeros of a trivial type. Pages that are never touched cost nothing, so that a search that reaches few of the
// vertices does not pay for all of them.
template <class T>
class Zeroed {
public:
    explicit Zeroed(std::size_t count)
        : data_(static_cast<T*>(take_zeros(count * sizeof(T)))), bytes_(count * sizeof(T)) {}
    Zeroed(Zeroed&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Zeroed& operator=(Zeroed&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Zeroed() { release_zeros(data_, bytes_); }
    Zeroed(const Zeroed&) = delete;
    Zeroed& operator=(const Zeroed&) = delete;

    T& operator[](std::size_t i) const { return data_[i]; }
    T* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    T* data_ = nullptr;
    std::size_t bytes_;
};

// Zeros that threads keep from one call to the next: asking the system for pages takes longer than a small search.
class CachedBlocks {
public:
    using Block = Zeroed<std::byte>;

    static CachedBlocks& of_thread();

    Block take(std::size_t bytes);  // at least so many
    void keep(Block&& block);       // of zeros again

private:
    CachedBlocks() { blocks_.reserve(count_); }

    static constexpr std::size_t most_ = std::size_t{1} << 27, count_ = 8;
    std::vector<Block> blocks_;
    std::size_t bytes_ = 0;
};

// As Zeroed, for a search that knows what it touched: `clear` has to be called last, with all places that may not be
// zero. The next search of the thread finds the memory mapped already.
template <class T>
class KeptZeros {
public:
    explicit KeptZeros(std::size_t count) : block_(CachedBlocks::of_thread().take(count * sizeof(T))) {}

    T& operator[](std::size_t i) const { return data()[i]; }
    T* data() const { return reinterpret_cast<T*>(block_.data()); }

    template <class Places>
    void clear(const Places& touched) {
        for (const auto i : touched) data()[i] = T{};
        CachedBlocks::of_thread().keep(std::move(block_));
    }

private:
    CachedBlocks::Block block_;
};

}  // namespace tgraph
