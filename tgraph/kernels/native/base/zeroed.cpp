// Pages of zeros (zeroed.hpp).
#include "base/zeroed.hpp"

#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tgraph {

void* take_zeros(std::size_t bytes) {
    if (!bytes) return nullptr;
#ifdef __linux__
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
#else
    void* const data = std::calloc(bytes, 1);
    if (!data) throw std::bad_alloc();
#endif
    return data;
}

void release_zeros([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
    if (data) munmap(data, bytes);
#else
    std::free(data);
#endif
}

CachedBlocks& CachedBlocks::of_thread() {
    static thread_local CachedBlocks blocks;
    return blocks;
}

CachedBlocks::Block CachedBlocks::take(std::size_t bytes) {
    for (Block& block : blocks_)
        if (block.bytes() >= bytes) {
            Block taken = std::move(block);
            block = std::move(blocks_.back());
            blocks_.pop_back();
            bytes_ -= taken.bytes();
            return taken;
        }
    return Block(bytes);
}

void CachedBlocks::keep(Block&& block) {
    if (block.bytes() > most_) return;
    while (bytes_ + block.bytes() > most_ || blocks_.size() == count_) {
        bytes_ -= blocks_.front().bytes();
        blocks_.erase(blocks_.begin());
    }
    bytes_ += block.bytes();
    blocks_.push_back(std::move(block));
}

}  // namespace tgraph
