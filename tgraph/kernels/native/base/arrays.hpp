// Array arguments of the bindings and their nanobind type caster: torch tensors, and objects that support the buffer
// protocol or DLPack. Tensors are read by `data_ptr` (arrays.cpp): DLPack takes ten times as long, more than a small
// kernel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <type_traits>

namespace tgraph {

namespace nb = nanobind;

// A non-owning view of contiguous numbers; with T = void their type is known at run time only (`dtype`). For None,
// which arguments declared `.none()` accept, it is not valid and its data is null.
template <class T>
class Array {
public:
    Array() = default;
    Array(T* data, std::size_t size, nb::dlpack::dtype type) : data_(data), size_(size), type_(type), valid_(true) {}

    T* data() const { return data_; }
    std::size_t shape(int) const { return size_; }
    nb::dlpack::dtype dtype() const { return type_; }
    bool is_valid() const { return valid_; }  // false for None

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
    nb::dlpack::dtype type_{};
    bool valid_ = false;
};

enum class Tensor { none, refused, read };

// Reads a torch.Tensor or torch.nn.Parameter into `found`. `refused` if it is not contiguous, requires a gradient, has
// a dtype without kernels or is not on the CPU; `none` if the object is not a tensor.
Tensor read_tensor(PyObject* object, Array<void>& found) noexcept;

// Inputs and outputs on the CPU. There is no conversion: another dtype or device is a TypeError.
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
    // Without a number type, the ndarray is constrained to read-only or writable memory alone.
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
