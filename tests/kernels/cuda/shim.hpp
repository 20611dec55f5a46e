// CUDA's threads, warps and blocks on the host, for testing kernels on machines without a GPU.
//
// A block is run by fibers, one for each of its threads, on one thread of the host. A fiber runs until it has to wait
// for others: at a barrier, or in a warp operation for the lanes of its mask. Blocks, and the threads that may go on,
// are taken in an order drawn from the seed, so that a kernel whose result depends on it does not pass by chance. What
// would hang on a GPU (a barrier that some threads never reach) stops with a message. Between two waits a fiber is not
// interrupted: this finds wrong indices, missing barriers and wrong masks, not data races within such a stretch.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define TGRAPH_HOST_SHIM 1
#define __global__
#define __device__ inline
#define __forceinline__
#define __host__
#define __constant__ static const
#define __shared__ static  // one block runs at a time; what the last one left is garbage, as on a GPU
#define __restrict__ __restrict
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

inline dim3 threadIdx, blockIdx, blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace shim {

inline constexpr std::size_t stack_size = 256 << 10;

enum class Waits { no, block, warp, done };

struct Fiber {
    ucontext_t context{};
    std::unique_ptr<char[]> stack{new char[stack_size]};
    Waits waits = Waits::no;
    unsigned mask = 0;        // of the warp operation that it waits in
    uint64_t deposited = 0;   // what it gives to the other lanes
    void* fake_stack = nullptr;
};

struct Block {
    ucontext_t scheduler{};
    std::vector<Fiber> fibers;
    std::size_t current = 0;
    const std::function<void()>* body = nullptr;
    void* fake_stack = nullptr;
    const void* scheduler_stack = nullptr;
    std::size_t scheduler_size = 0;
};

inline Block block;

[[noreturn]] inline void fail(const char* what) {
    std::fprintf(stderr, "shim: %s (block %u, thread %zu)\n", what, blockIdx.x, block.current);
    std::abort();
}

inline void leave(void** keep, const void* bottom, std::size_t size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(keep, bottom, size);
#else
    (void)keep, (void)bottom, (void)size;
#endif
}

inline void arrive(void* kept, const void** bottom, std::size_t* size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(kept, bottom, size);
#else
    (void)kept, (void)bottom, (void)size;
#endif
}

// Gives the turn back until the scheduler finds that the wait is over.
inline void wait(Waits what) {
    Fiber& self = block.fibers[block.current];
    self.waits = what;
    leave(&self.fake_stack, block.scheduler_stack, block.scheduler_size);
    swapcontext(&self.context, &block.scheduler);
    arrive(self.fake_stack, nullptr, nullptr);
}

inline void fiber_main() {
    arrive(nullptr, &block.scheduler_stack, &block.scheduler_size);
    (*block.body)();
    block.fibers[block.current].waits = Waits::done;
    leave(nullptr, block.scheduler_stack, block.scheduler_size);
    setcontext(&block.scheduler);
}

inline void resume(std::size_t thread) {
    Fiber& fiber = block.fibers[thread];
    block.current = thread;
    threadIdx = dim3(static_cast<unsigned>(thread % blockDim.x), static_cast<unsigned>(thread / blockDim.x));
    fiber.waits = Waits::no;
    leave(&block.fake_stack, fiber.stack.get(), stack_size);
    swapcontext(&block.scheduler, &fiber.context);
    arrive(block.fake_stack, nullptr, nullptr);
}

// Whether all lanes of the mask have come to the same operation of a warp.
inline bool warp_is_complete(std::size_t thread) {
    const std::size_t first = thread / 32 * 32;
    const unsigned mask = block.fibers[thread].mask;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1)) continue;
        if (first + lane >= block.fibers.size()) continue;  // lanes that the block does not have
        const Fiber& other = block.fibers[first + lane];
        if (other.waits != Waits::warp || other.mask != mask) return false;
    }
    return true;
}

inline void run_block(std::mt19937& random) {
    std::vector<Fiber>& fibers = block.fibers;
    for (Fiber& fiber : fibers) {
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = stack_size;
        fiber.context.uc_link = nullptr;
        fiber.waits = Waits::no;
        makecontext(&fiber.context, fiber_main, 0);
    }
    std::vector<std::size_t> order(fibers.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (;;) {
        std::shuffle(order.begin(), order.end(), random);
        bool went_on = false;
        for (const std::size_t thread : order)
            if (fibers[thread].waits == Waits::no) resume(thread), went_on = true;
        for (std::size_t first = 0; first < fibers.size(); first += 32)
            for (std::size_t thread = first; thread < std::min(first + 32, fibers.size()); ++thread) {
                if (fibers[thread].waits != Waits::warp || !warp_is_complete(thread)) continue;
                const unsigned mask = fibers[thread].mask;
                for (std::size_t lane = 0; lane < 32 && first + lane < fibers.size(); ++lane)
                    if (mask >> lane & 1 && fibers[first + lane].waits == Waits::warp)
                        fibers[first + lane].waits = Waits::no;
                went_on = true;
            }
        if (went_on) continue;
        bool all_done = true, all_meet = true;
        for (const Fiber& fiber : fibers) {
            all_done &= fiber.waits == Waits::done;
            all_meet &= fiber.waits == Waits::done || fiber.waits == Waits::block;
        }
        if (all_done) return;
        if (!all_meet) fail("some lanes of a warp operation's mask never come to it");
        for (Fiber& fiber : fibers)
            if (fiber.waits == Waits::block) fiber.waits = Waits::no;
    }
}

// Runs a grid: body() is the kernel called with its arguments.
inline void launch(dim3 grid, dim3 threads, unsigned seed, const std::function<void()>& body) {
    std::mt19937 random(seed);
    gridDim = grid, blockDim = threads;
    block.body = &body;
    const std::size_t size = std::size_t{threads.x} * threads.y;
    if (size == 0 || size > 1024 || threads.z != 1) fail("a block has 1 to 1024 threads");
    if (block.fibers.size() != size) block.fibers = std::vector<Fiber>(size);
    std::vector<uint64_t> blocks(uint64_t{grid.x} * grid.y);
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = i;
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (const uint64_t number : blocks) {
        blockIdx = dim3(static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x));
        run_block(random);
    }
}

// Calls a kernel with arguments given as pointers to them.
template <class... Arguments>
void call(void (*kernel)(Arguments...), void** arguments, int count, dim3 grid, dim3 threads, unsigned seed) {
    if (count != static_cast<int>(sizeof...(Arguments))) fail("the kernel takes another number of arguments");
    const auto run = [&]<std::size_t... i>(std::index_sequence<i...>) {
        launch(grid, threads, seed, [&] { kernel(*static_cast<std::decay_t<Arguments>*>(arguments[i])...); });
    };
    run(std::index_sequence_for<Arguments...>{});
}

inline unsigned lane() { return static_cast<unsigned>(block.current % 32); }

// Every lane of the mask deposits bits, and then reads those of others by `read`.
template <class Read>
auto exchange(unsigned mask, uint64_t bits, Read read) {
    if (!(mask >> lane() & 1)) fail("a lane takes part in a warp operation whose mask lacks it");
    Fiber& self = block.fibers[block.current];
    self.mask = mask;
    self.deposited = bits;
    wait(Waits::warp);
    const auto found = read();
    self.mask = mask;
    wait(Waits::warp);  // nobody deposits anew before all have read
    return found;
}

inline uint64_t deposited(unsigned from) {
    const std::size_t thread = block.current / 32 * 32 + from;
    const bool there = thread < block.fibers.size() && block.fibers[thread].waits != Waits::done;
    return there ? block.fibers[thread].deposited : 0;
}

template <class T>
T shuffle(unsigned mask, T value, unsigned from) {
    static_assert(sizeof(T) <= 8);
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return exchange(mask, bits, [&] {
        const uint64_t other = deposited(from);
        T found;
        std::memcpy(&found, &other, sizeof(T));
        return found;
    });
}

}  // namespace shim

inline void __syncthreads() { shim::wait(shim::Waits::block); }
inline void __syncwarp(unsigned mask = 0xffffffffu) {
    shim::exchange(mask, 0, [] { return 0; });
}
inline void __threadfence() {}
inline void __threadfence_block() {}

// A segment of `width` lanes exchanges within itself; a lane whose source lies outside keeps its own value.
template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
    const unsigned first = shim::lane() / width * width;
    return shim::shuffle(mask, value, first + static_cast<unsigned>(from) % width);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    const unsigned from = shim::lane() ^ bits, end = shim::lane() / width * width + width;
    return shim::shuffle(mask, value, from < end ? from : shim::lane());
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
    const unsigned from = shim::lane() + by, end = shim::lane() / width * width + width;
    return shim::shuffle(mask, value, from < end ? from : shim::lane());
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
    const unsigned first = shim::lane() / width * width;
    return shim::shuffle(mask, value, shim::lane() >= first + by ? shim::lane() - by : shim::lane());
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return shim::exchange(mask, predicate != 0, [&] {
        unsigned found = 0;
        for (unsigned lane = 0; lane < 32; ++lane)
            if (mask >> lane & 1 && shim::deposited(lane)) found |= 1u << lane;
        return found;
    });
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
template <class T>
T __ldg(const T* address) { return *address; }

template <class To, class From>
To shim_bits(From from) {
    To to;
    std::memcpy(&to, &from, sizeof(To));
    return to;
}
inline int __float_as_int(float x) { return shim_bits<int>(x); }
inline float __int_as_float(int x) { return shim_bits<float>(x); }
inline unsigned __float_as_uint(float x) { return shim_bits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return shim_bits<float>(x); }
inline long long __double_as_longlong(double x) { return shim_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return shim_bits<double>(x); }

template <class T, class U>
T atomicAdd(T* address, U value) {
    T old = *address;
    *address = static_cast<T>(old + static_cast<T>(value));
    return old;
}
template <class T, class U>
T atomicMin(T* address, U value) { T old = *address; *address = std::min(old, static_cast<T>(value)); return old; }
template <class T, class U>
T atomicMax(T* address, U value) { T old = *address; *address = std::max(old, static_cast<T>(value)); return old; }
template <class T, class U>
T atomicOr(T* address, U value) { T old = *address; *address = old | static_cast<T>(value); return old; }
template <class T, class U>
T atomicAnd(T* address, U value) { T old = *address; *address = old & static_cast<T>(value); return old; }
template <class T, class U>
T atomicExch(T* address, U value) { T old = *address; *address = static_cast<T>(value); return old; }
template <class T, class U, class V>
T atomicCAS(T* address, U compare, V value) {
    T old = *address;
    if (old == static_cast<T>(compare)) *address = static_cast<T>(value);
    return old;
}

using std::max;
using std::min;
