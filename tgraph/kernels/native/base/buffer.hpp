// Arrays that grow without filling what they grow by, and become arrays of numpy uncopied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/classes.hpp"

namespace tgraph {

template <class T>
class Buffer {
public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer() { std::free(data_); }

    int64_t size() const { return size_; }
    T* data() const { return data_; }
    T& operator[](int64_t i) const { return data_[i]; }

    // Room for so many more, which `push` and `resize` then need not make.
    void reserve_more(int64_t count) {
        if (size_ + count > capacity_) set_capacity(std::max(size_ + count, capacity_ + capacity_ / 2));
    }

    // Without a check: reserve_more came before.
    void push(T value) { data_[size_++] = value; }
    void resize(int64_t size) { size_ = size; }

    // An array of numpy, which owns the memory from now on, as much as it takes; of bytes, one of numbers of a type.
    nb::object to_numpy(DType type = dtype_of<T>) {
        set_capacity(size_);
        capacity_ = 0;
        const int64_t bytes = std::exchange(size_, 0) * static_cast<int64_t>(sizeof(T));
        return numpy_array(std::exchange(data_, nullptr), bytes / bytes_of(type), type);
    }

private:
    T* data_ = nullptr;
    int64_t size_ = 0, capacity_ = 0;

    void set_capacity(int64_t capacity) {
        T* const data = static_cast<T*>(std::realloc(data_, std::max<int64_t>(capacity, 1) * sizeof(T)));
        if (!data) throw std::bad_alloc();
        data_ = data;
        capacity_ = capacity;
    }
};

}  // namespace tgraph
