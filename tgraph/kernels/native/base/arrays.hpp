// The arrays that Python passes: torch's tensors, and whatever else hands its memory over by the buffer protocol or
// DLPack. A tensor is asked for its address at once: DLPack takes ten times as long, more than a small kernel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <type_traits>

namespace tgraph {

namespace nb = nanobind;

// One-dimensional memory of numbers, of the type that is looked up where T is void. The caller keeps it alive.
template <class T>
class Array {
public:
    Array() = default;
    Array(T* data, std::size_t size, nb::dlpack::dtype type) : data_(data), size_(size), type_(type), valid_(true) {}

    T* data() const { return data_; }
    std::size_t shape(int) const { return size_; }
    nb::dlpack::dtype dtype() const { return type_; }
    bool is_valid() const { return valid_; }  // false for a None

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
    nb::dlpack::dtype type_{};
    bool valid_ = false;
};

enum class Tensor { none, refused, read };

// The memory of a plain torch tensor; `refused` where it is not contiguous, has several dimensions, records gradients,
// or is not on the CPU, and `none` for any other object.
Tensor read_tensor(PyObject* object, Array<void>& found) noexcept;

// One-dimensional CPU arrays, taken as they are: an argument of another dtype or device is a TypeError.
template <class T>
using In = Array<const T>;
template <class T>
using Out = Array<T>;

}  // namespace tgraph

namespace nanobind::detail {

template <class T>
struct type_caster<tgraph::Array<T>> {
    using Number = std::remove_const_t<T>;
    static constexpr bool any = std::is_void_v<Number>;
    // Of no type in particular, an array is one that may be read only, or one that may be written.
    using Kind = std::conditional_t<!any, T, std::conditional_t<std::is_const_v<T>, ro, device::cpu>>;
    using Other = ndarray<Kind, ndim<1>, c_contig, device::cpu>;
    NB_TYPE_CASTER(tgraph::Array<T>, make_caster<Other>::Name)

    template <class Flags>
    bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
        tgraph::Array<void> found;
        const tgraph::Tensor kind = tgraph::read_tensor(source.ptr(), found);
        if (kind == tgraph::Tensor::none) return take_other(source, flags, cleanup);
        if (kind == tgraph::Tensor::refused) return false;
        if constexpr (!any)
            if (found.dtype() != dtype<Number>()) return false;
        value = {static_cast<T*>(found.data()), found.shape(0), found.dtype()};
        return true;
    }

private:
    template <class Flags>
    bool take_other(handle source, Flags flags, cleanup_list* cleanup) noexcept {
        if (!other_.from_python(source, flags, cleanup)) return false;
        if (source.is_none()) return value = {}, true;
        value = {static_cast<T*>(other_.value.data()), other_.value.shape(0), other_.value.dtype()};
        return true;
    }

    make_caster<Other> other_;  // holds the memory during the call
};

}  // namespace nanobind::detail
