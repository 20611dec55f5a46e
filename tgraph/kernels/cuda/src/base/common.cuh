// Fixed-width integers for NVRTC, which has no standard headers. The sources are also compiled by g++ for tests.
#pragma once

#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#endif

namespace tgraph {

constexpr unsigned all_lanes = 0xffffffffu;

}  // namespace tgraph
