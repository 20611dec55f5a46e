// Non-temporal stores (SSE2): writes of whole cache lines without reading them first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tgraph {

// Copies to memory that is not read soon. Non-temporal stores are weakly ordered: call `fence_streams` before other
// threads read the destination.
inline void stream(void* to, const void* from, std::size_t bytes) {
#ifdef __SSE2__
    constexpr std::size_t line = 64;
    auto* out = static_cast<char*>(to);
    const auto* in = static_cast<const char*>(from);
    const std::size_t head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(out) % line) % line);
    std::memcpy(out, in, head);
    for (out += head, in += head, bytes -= head; bytes >= line; out += line, in += line, bytes -= line)
        for (std::size_t i = 0; i < line; i += 16)
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
    std::memcpy(out, in, bytes);
#else
    std::memcpy(to, from, bytes);
#endif
}

inline void fence_streams() {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

}  // namespace tgraph
