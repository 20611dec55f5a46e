// How `shim.hpp` runs blocks of threads, and what it watches over while it does.
//
// A block is run by fibers, one for each of its threads, on one thread of the host. A fiber runs until it has to wait
// for others: at a barrier, or in a warp operation for the lanes of its mask. Blocks, and the threads that may go on,
// are taken in an order drawn from the seed, so that a kernel whose result depends on it does not pass by chance. What
// is undefined on a GPU stops with a message: a barrier that some threads never reach, or reach at another place; lanes
// of one warp operation that are at different ones; a read of shared memory that no thread of the block has written.
//
// Between two waits a fiber is not interrupted, so that races within a block are not found. With TGRAPH_SHIM_THREADS
// that many threads of the host share the blocks, for ThreadSanitizer to find those between blocks.
#pragma once

#include <link.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <source_location>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(TGRAPH_SHIM_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

inline thread_local constinit dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

#if !defined(TGRAPH_SHIM_THREADS)
#define TGRAPH_SHIM_THREADS 1
#endif

inline constexpr std::size_t stack_size = 256 << 10;

// What threads wait in: a barrier or a warp operation, identified by its place in the source.
struct Operation {
    const char* name = "";
    std::source_location where = {};

    bool operator==(const Operation& other) const {
        return std::strcmp(name, other.name) == 0 && where.line() == other.where.line() &&
               where.column() == other.where.column() && std::strcmp(where.file_name(), other.where.file_name()) == 0;
    }
};

enum class Waits { no, block, warp, done };

// Where a fiber, or the scheduler, resumes. swapcontext makes a system call to keep the signal mask, which does not
// change here; sanitizers need it nevertheless.
struct Context {
    ucontext_t place{};
    jmp_buf kept;
    bool is_kept = false;  // whether it resumes at `kept`
};

inline void change(Context& from, Context& to) {
#if defined(TGRAPH_SHIM_WATCHED)
    from.is_kept = true;
    if (_setjmp(from.kept) != 0) return;
    if (to.is_kept) _longjmp(to.kept, 1);
    setcontext(&to.place);
#else
    swapcontext(&from.place, &to.place);
#endif
}

struct Fiber {
    Context context;
    std::unique_ptr<char[]> stack{new char[stack_size]};
    Waits waits = Waits::no;
    unsigned mask = 0;       // of the warp operation that it waits in
    Operation at;            // what it waits in
    uint64_t deposited = 0;  // what it gives to the other lanes
    void* fake_stack = nullptr;
};

struct Block {
    Context scheduler;
    std::vector<Fiber> fibers;
    std::size_t current = 0;
    const std::function<void()>* body = nullptr;
    void* fake_stack = nullptr;
    const void* scheduler_stack = nullptr;
    std::size_t scheduler_size = 0;
};

inline thread_local constinit Block* block = nullptr;

[[noreturn]] inline void fail(const char* what) {
    std::fprintf(stderr, "shim: %s (block %u, %u; thread %zu)\n", what, blockIdx.x, blockIdx.y, block->current);
    std::abort();
}

[[noreturn]] inline void fail_at(const char* what, const Operation& one, const Operation& other) {
    char text[1000];
    std::snprintf(text, sizeof(text), "%s: %s at %s:%u, %s at %s:%u", what, one.name, one.where.file_name(),
                  one.where.line(), other.name, other.where.file_name(), other.where.line());
    fail(text);
}

// ---- shared memory --------------------------------------------------------------------------------------------------

// Variables in shared memory are thread-local, and those of this library lie side by side. The compiler calls
// `loaded` and `stored` below at each access, as it would call ThreadSanitizer, whose library is not there then.
#if defined(TGRAPH_SHIM_WATCHED)
#define TGRAPH_UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define TGRAPH_UNWATCHED
#endif
struct SharedMemory {
    static constexpr uint32_t always = ~0u;
    uintptr_t begin = 0, end = 0;
    uint32_t* written;  // for each byte the number of the block that wrote it last
    uint32_t block = 0;

    SharedMemory() {
        threadIdx.x = 0;  // there is memory from the first access on
        dl_iterate_phdr(find, this);
        written = new uint32_t[end - begin]();
        for (const dim3* own : {&threadIdx, &blockIdx, &blockDim, &gridDim}) set(own, sizeof(*own), always);
        set(&shim::block, sizeof(shim::block), always);
    }

    static int find(dl_phdr_info* library, std::size_t, void* result) {
        auto& self = *static_cast<SharedMemory*>(result);
        const auto own = reinterpret_cast<uintptr_t>(&threadIdx);
        for (int i = 0; i < library->dlpi_phnum; ++i) {
            const auto& part = library->dlpi_phdr[i];
            const auto begin = reinterpret_cast<uintptr_t>(library->dlpi_tls_data);
            if (part.p_type != PT_TLS || own < begin || own >= begin + part.p_memsz) continue;
            self.begin = begin, self.end = begin + part.p_memsz;
            return 1;
        }
        return 0;
    }

    TGRAPH_UNWATCHED void set(const void* address, std::size_t size, uint32_t number) {
        const auto first = reinterpret_cast<uintptr_t>(address);
        if (first < begin || first + size > end) return;
        for (uint32_t* byte = written + (first - begin); size > 0; --size, ++byte)
            if (*byte != always) *byte = number;
    }

    TGRAPH_UNWATCHED bool is_written(const void* address, std::size_t size) const {
        const auto first = reinterpret_cast<uintptr_t>(address);
        if (first < begin || first + size > end) return true;
        for (const uint32_t* byte = written + (first - begin); size > 0; --size, ++byte)
            if (*byte != block && *byte != always) return false;
        return true;
    }
};

inline thread_local constinit SharedMemory* shared = nullptr;

TGRAPH_UNWATCHED inline void loaded(const void* address, std::size_t size) {
    if (shared == nullptr || shared->is_written(address, size)) return;
    shared = nullptr;
    fail("shared memory is read that no thread of the block has written");
}

TGRAPH_UNWATCHED inline void stored(const void* address, std::size_t size) {
    if (shared != nullptr) shared->set(address, size, shared->block);
}

// ---- fibers ---------------------------------------------------------------------------------------------------------

inline void leave(void** keep, const void* bottom, std::size_t size) {
#if defined(TGRAPH_SHIM_ASAN)
    __sanitizer_start_switch_fiber(keep, bottom, size);
#else
    (void)keep, (void)bottom, (void)size;
#endif
}

inline void arrive(void* kept, const void** bottom, std::size_t* size) {
#if defined(TGRAPH_SHIM_ASAN)
    __sanitizer_finish_switch_fiber(kept, bottom, size);
#else
    (void)kept, (void)bottom, (void)size;
#endif
}

// Gives the turn back until the scheduler finds that the wait is over.
inline void wait(Waits what, const Operation& at) {
    Fiber& self = block->fibers[block->current];
    self.waits = what, self.at = at;
    leave(&self.fake_stack, block->scheduler_stack, block->scheduler_size);
    change(self.context, block->scheduler);
    arrive(self.fake_stack, nullptr, nullptr);
}

// A fiber is the same thread of one block after another.
inline void fiber_main() {
    arrive(nullptr, &block->scheduler_stack, &block->scheduler_size);
    for (;;) {
        (*block->body)();
        wait(Waits::done, {});
    }
}

inline void make_fibers(std::size_t size) {
    block->fibers = std::vector<Fiber>(size);
    for (Fiber& fiber : block->fibers) {
        ucontext_t& place = fiber.context.place;
        getcontext(&place);
        place.uc_stack.ss_sp = fiber.stack.get();
        place.uc_stack.ss_size = stack_size;
        place.uc_link = nullptr;
        makecontext(&place, fiber_main, 0);
    }
}

inline void resume(std::size_t thread) {
    Fiber& fiber = block->fibers[thread];
    block->current = thread;
    threadIdx = dim3(static_cast<unsigned>(thread % blockDim.x), static_cast<unsigned>(thread / blockDim.x));
    fiber.waits = Waits::no;
    leave(&block->fake_stack, fiber.stack.get(), stack_size);
    change(block->scheduler, fiber.context);
    arrive(block->fake_stack, nullptr, nullptr);
}

// Whether all lanes of the mask have come to the same operation of a warp.
inline bool warp_is_complete(std::size_t thread) {
    const std::size_t first = thread / 32 * 32;
    const Fiber& self = block->fibers[thread];
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(self.mask >> lane & 1)) continue;
        if (first + lane >= block->fibers.size()) continue;  // lanes that the block does not have
        const Fiber& other = block->fibers[first + lane];
        if (other.waits != Waits::warp) return false;
        if (!(other.at == self.at)) fail_at("lanes of one warp operation are at different ones", self.at, other.at);
        if (other.mask != self.mask) fail_at("lanes of one warp operation have different masks", self.at, other.at);
    }
    return true;
}

// Lets the lanes go on whose warp operation is complete; whether there are any.
inline bool finish_warp_operations() {
    std::vector<Fiber>& fibers = block->fibers;
    bool went_on = false;
    for (std::size_t thread = 0; thread < fibers.size(); ++thread) {
        if (fibers[thread].waits != Waits::warp || !warp_is_complete(thread)) continue;
        const std::size_t first = thread / 32 * 32;
        const unsigned mask = fibers[thread].mask;
        for (std::size_t lane = 0; lane < 32 && first + lane < fibers.size(); ++lane)
            if (mask >> lane & 1) fibers[first + lane].waits = Waits::no;
        went_on = true;
    }
    return went_on;
}

// Lets all threads go on from a barrier where they have all come to it; false where they have all ended.
inline bool finish_barrier() {
    std::vector<Fiber>& fibers = block->fibers;
    const auto waiting = std::find_if(fibers.begin(), fibers.end(), [](auto& f) { return f.waits == Waits::block; });
    for (const Fiber& fiber : fibers) {
        if (fiber.waits == Waits::warp) fail("some lanes of a warp operation's mask never come to it");
        if (waiting == fibers.end()) continue;
        if (fiber.waits == Waits::done) fail_at("threads have ended before a barrier of others", {}, waiting->at);
        if (!(fiber.at == waiting->at)) fail_at("threads of a block wait at different barriers", waiting->at, fiber.at);
    }
    for (Fiber& fiber : fibers)
        if (fiber.waits == Waits::block) fiber.waits = Waits::no;
    return waiting != fibers.end();
}

inline void run_block(std::mt19937& random) {
    std::vector<Fiber>& fibers = block->fibers;
    for (Fiber& fiber : fibers) fiber.waits = Waits::no;
    std::vector<std::size_t> order(fibers.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (;;) {
        std::shuffle(order.begin(), order.end(), random);
        bool went_on = false;
        for (const std::size_t thread : order)
            if (fibers[thread].waits == Waits::no) resume(thread), went_on = true;
        went_on |= finish_warp_operations();
        if (!went_on && !finish_barrier()) return;
    }
}

// ---- grids ----------------------------------------------------------------------------------------------------------

// Runs every `step`-th of these blocks, from the first on.
inline void run_some(
    dim3 grid, dim3 threads, unsigned seed, const std::function<void()>& body, const std::vector<uint64_t>& blocks,
    std::size_t first, std::size_t step) {
    static thread_local Block* const own = new Block;  // not in shared memory, and kept, for its stacks
    block = own;
    gridDim = grid, blockDim = threads;
    block->body = &body;
    const std::size_t size = std::size_t{threads.x} * threads.y;
    if (size == 0 || size > 1024 || threads.z != 1) fail("a block has 1 to 1024 threads");
    if (block->fibers.size() != size) make_fibers(size);
    std::mt19937 random(seed + static_cast<unsigned>(first));
#if defined(TGRAPH_SHIM_WATCHED)
    static thread_local SharedMemory* const watched = new SharedMemory;
    watched->set(&own, sizeof(own), SharedMemory::always);
    watched->set(&watched, sizeof(watched), SharedMemory::always);
    watched->set(&shared, sizeof(shared), SharedMemory::always);
#endif
    for (std::size_t i = first; i < blocks.size(); i += step) {
        blockIdx = dim3(static_cast<unsigned>(blocks[i] % grid.x), static_cast<unsigned>(blocks[i] / grid.x));
#if defined(TGRAPH_SHIM_WATCHED)
        shared = watched, ++watched->block;
#endif
        run_block(random);
        shared = nullptr;
    }
}

// Runs a grid: body() is the kernel called with its arguments. Which thread of the host has which blocks is settled
// beforehand, so that ThreadSanitizer sees those of two threads as simultaneous however they are timed.
inline void launch(dim3 grid, dim3 threads, unsigned seed, const std::function<void()>& body) {
    std::vector<uint64_t> blocks(uint64_t{grid.x} * grid.y);
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = i;
    std::mt19937 random(seed);
    std::shuffle(blocks.begin(), blocks.end(), random);
    if (TGRAPH_SHIM_THREADS == 1) return run_some(grid, threads, seed, body, blocks, 0, 1);
#if TGRAPH_SHIM_THREADS > 1
    std::vector<std::thread> hosts;
    for (std::size_t first = 0; first < std::min<std::size_t>(TGRAPH_SHIM_THREADS, blocks.size()); ++first)
        hosts.emplace_back([&, first] {
            run_some(grid, threads, seed, body, blocks, first, TGRAPH_SHIM_THREADS);
            delete std::exchange(block, nullptr);
        });
    for (std::thread& host : hosts) host.join();
#endif
}

// Whether a kernel has a parameter of type T for what the launcher codes so: d for a double, i for a whole number, and
// for a pointer the bytes of what it points to, 0 for none.
template <class T>
constexpr bool takes(char code) {
    if constexpr (std::is_pointer_v<T>) {
        using Pointed = std::remove_cv_t<std::remove_pointer_t<T>>;
        if constexpr (std::is_void_v<Pointed>)
            return code >= '0' && code <= '8';
        else
            return code == '0' || code == '0' + static_cast<char>(sizeof(Pointed));
    }
    return code == (std::is_same_v<T, double> ? 'd' : 'i') && (std::is_same_v<T, double> || std::is_same_v<T, int64_t>);
}

// Calls a kernel with arguments given as pointers to them.
template <class... Arguments>
void call(
    void (*kernel)(Arguments...), void** arguments, const char* codes, dim3 grid, dim3 threads, unsigned seed) {
    std::size_t i = 0;
    const bool fits = std::strlen(codes) == sizeof...(Arguments) && (takes<std::decay_t<Arguments>>(codes[i++]) && ...);
    if (!fits) {
        std::fprintf(stderr, "shim: a kernel of %zu parameters is not called with \"%s\", from argument %zu on\n",
                     sizeof...(Arguments), codes, i == 0 ? 0 : i - 1);
        std::abort();
    }
    const auto run = [&]<std::size_t... i>(std::index_sequence<i...>) {
        launch(grid, threads, seed, [&] { kernel(*static_cast<std::decay_t<Arguments>*>(arguments[i])...); });
    };
    run(std::index_sequence_for<Arguments...>{});
}

// ---- warps ----------------------------------------------------------------------------------------------------------

inline unsigned lane() { return static_cast<unsigned>(block->current % 32); }

// Every lane of the mask deposits bits, and then reads those of others by `read`.
template <class Read>
auto exchange(const Operation& at, unsigned mask, uint64_t bits, Read read) {
    if (!(mask >> lane() & 1)) fail_at("a lane takes part in a warp operation whose mask lacks it", at, {});
    Fiber& self = block->fibers[block->current];
    self.mask = mask;
    self.deposited = bits;
    wait(Waits::warp, at);
    const auto found = read();
    self.mask = mask;
    wait(Waits::warp, at);  // all have read before the next deposit
    return found;
}

inline bool is_there(unsigned from) { return block->current / 32 * 32 + from < block->fibers.size(); }

inline uint64_t deposited(unsigned from) {
    return is_there(from) ? block->fibers[block->current / 32 * 32 + from].deposited : 0;
}

template <class T>
T shuffle(const Operation& at, unsigned mask, T value, unsigned from) {
    static_assert(sizeof(T) <= 8);
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    if (from >= 32 || !(mask >> from & 1) || !is_there(from))
        fail_at("a shuffle reads a lane that takes no part in it", at, {});
    return exchange(at, mask, bits, [&] {
        const uint64_t other = deposited(from);
        T found;
        std::memcpy(&found, &other, sizeof(T));
        return found;
    });
}

}  // namespace shim

// ---- what the compiler calls ----------------------------------------------------------------------------------------

#define TGRAPH_CALLED(name) extern "C" TGRAPH_UNWATCHED __attribute__((used, visibility("hidden"))) void name

#if defined(TGRAPH_SHIM_WATCHED)
#define TGRAPH_ACCESSES(kind, size)                                                                      \
    TGRAPH_CALLED(__tsan_##kind##read##size)(void* address) { shim::loaded(address, size); }             \
    TGRAPH_CALLED(__tsan_##kind##write##size)(void* address) { shim::stored(address, size); }
TGRAPH_ACCESSES(, 1)
TGRAPH_ACCESSES(, 2)
TGRAPH_ACCESSES(, 4)
TGRAPH_ACCESSES(, 8)
TGRAPH_ACCESSES(, 16)
TGRAPH_ACCESSES(unaligned_, 2)
TGRAPH_ACCESSES(unaligned_, 4)
TGRAPH_ACCESSES(unaligned_, 8)
TGRAPH_ACCESSES(unaligned_, 16)
TGRAPH_CALLED(__tsan_read_range)(void* address, std::size_t size) { shim::loaded(address, size); }
TGRAPH_CALLED(__tsan_write_range)(void* address, std::size_t size) { shim::stored(address, size); }
TGRAPH_CALLED(__tsan_vptr_update)(void**, void*) {}
TGRAPH_CALLED(__tsan_init)() {}
#elif defined(__SANITIZE_THREAD__)
// An access to a volatile variable is to CUDA a relaxed atomic one.
#define TGRAPH_VOLATILE(size)                              \
    TGRAPH_CALLED(__tsan_volatile_read##size)(void*) {}    \
    TGRAPH_CALLED(__tsan_volatile_write##size)(void*) {}
TGRAPH_VOLATILE(1)
TGRAPH_VOLATILE(2)
TGRAPH_VOLATILE(4)
TGRAPH_VOLATILE(8)
#endif
