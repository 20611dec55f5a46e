// The neighbors of a CSR structure as int32 or int64, known at run time: searches read either through one branch, the
// same for every arc, and are compiled once.
#pragma once

#include <cstdint>

#include "base/bindings.hpp"
#include "base/memory.hpp"

namespace tgraph {

class Neighbors {
public:
    Neighbors(const In<void>& ids) : ids_(ids.data()), wide_(ids.dtype() == dtype_of<int64_t>) {
        if (ids.is_valid() && !wide_ && ids.dtype() != dtype_of<int32_t>)
            throw TypeError("neighbors: expected int32 or int64");
    }

    TGRAPH_INLINE int64_t operator[](int64_t arc) const {
        return wide_ ? static_cast<const int64_t*>(ids_)[arc] : static_cast<const int32_t*>(ids_)[arc];
    }
    TGRAPH_INLINE void fetch_from(int64_t arc) const {
        fetch(static_cast<const char*>(ids_) + arc * (wide_ ? sizeof(int64_t) : sizeof(int32_t)));
    }
    bool is_wide() const { return wide_; }

    // The ids as they are stored, int32 unless they are wide, for loops of which the branch would be a tenth.
    template <class Id>
    const Id* as() const {
        return static_cast<const Id*>(ids_);
    }

private:
    const void* ids_;
    bool wide_;
};

}  // namespace tgraph
