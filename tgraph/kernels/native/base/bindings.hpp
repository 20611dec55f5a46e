// Kernels as functions of the Python module.
//
//     module.def("transpose", &transpose<int32_t>, "offset, neighbors, new_offset, new_neighbors, perm?, wide");
//
// The types are those of the C++ function; a name with a question mark accepts None too, and an array that is read, a
// tensor that is not contiguous, of which the kernel is given a copy. Functions of one name are
// overloads, told apart by the dtypes of their arrays. Arguments are converted and errors raised by code that is
// compiled once (bindings.cpp): a kernel adds only a call of itself, where a general library would add kilobytes for
// each. Classes are bound by nanobind (classes.hpp).
#pragma once

#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/numbers.hpp"

struct _object;  // PyObject, without the headers of Python

namespace tgraph {

// Numbers as Python passes them: bfloat16 and float16 as int16 bits.
template <class T>
using Passed = std::conditional_t<is_narrow<T>, int16_t, T>;

// Becomes Python's TypeError; other exceptions of the standard library become those of their names.
struct TypeError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Which Python objects a parameter accepts.
struct Parameter {
    enum Kind : uint8_t { boolean, integer, number, text, array, object };

    Kind kind;
    DType dtype = DType::other;  // of an array; `other` for any
    bool is_written = false;     // an array
    int64_t least = 0, most = 0;  // of an integer
    const std::type_info* type = nullptr;  // of an object
};

// A converted argument: the member that belongs to the kind of the parameter.
struct Argument {
    int64_t integer = 0;
    double number = 0;
    std::string_view text;
    Array<void> array;
    void* object = nullptr;  // null for None
};

template <class P>
struct Converted;  // how a C++ parameter of type P is described, and made of an Argument

template <>
struct Converted<bool> {
    static constexpr Parameter parameter() { return {Parameter::boolean}; }
    static bool from(const Argument& given) { return given.integer != 0; }
};

template <class P>
    requires std::is_integral_v<P>
struct Converted<P> {
    using Limits = std::numeric_limits<P>;
    static constexpr bool narrow = sizeof(P) < sizeof(int64_t) || std::is_signed_v<P>;
    static constexpr Parameter parameter() {
        return {.kind = Parameter::integer,
                .least = static_cast<int64_t>(Limits::min()),
                .most = narrow ? static_cast<int64_t>(Limits::max()) : -1};  // -1: all of uint64
    }
    static P from(const Argument& given) { return static_cast<P>(given.integer); }
};

template <class P>
    requires std::is_floating_point_v<P>
struct Converted<P> {
    static constexpr Parameter parameter() { return {Parameter::number}; }
    static P from(const Argument& given) { return static_cast<P>(given.number); }
};

template <>
struct Converted<std::string_view> {
    static constexpr Parameter parameter() { return {Parameter::text}; }
    static std::string_view from(const Argument& given) { return given.text; }
};

template <>
struct Converted<std::string> {
    static constexpr Parameter parameter() { return {Parameter::text}; }
    static std::string from(const Argument& given) { return std::string(given.text); }
};

template <class T>
struct Converted<Array<T>> {
    static constexpr Parameter parameter() {
        return {.kind = Parameter::array, .dtype = dtype_of<T>, .is_written = !std::is_const_v<T>};
    }
    static Array<T> from(const Argument& given) {
        const Array<void>& array = given.array;
        if (!array.is_valid()) return {};
        return {static_cast<T*>(array.data()), array.shape(0), array.dtype()};
    }
};

// Instances of classes that are bound by nanobind: C& and C*.
template <class P>
    requires std::is_class_v<std::remove_pointer_t<P>>
struct Converted<P> {
    using Class = std::remove_const_t<std::remove_pointer_t<P>>;
    static Parameter parameter() { return {.kind = Parameter::object, .type = &typeid(Class)}; }
    static decltype(auto) from(const Argument& given) {
        auto* const object = static_cast<Class*>(given.object);
        if constexpr (std::is_pointer_v<P>)
            return object;
        else
            return *object;
    }
};

// Results. The caller holds the GIL.
_object* to_python();  // None
_object* to_python(bool found);
_object* to_python(int64_t found);
_object* to_python(double found);
_object* to_python(uint64_t found);
inline _object* to_python(int found) { return to_python(static_cast<int64_t>(found)); }
_object* make_tuple(_object** items, std::size_t size);  // takes the references
_object* make_list(_object** items, std::size_t size);

template <class Item>
_object* to_python(const std::vector<Item>& found);
template <class First, class Second>
_object* to_python(const std::pair<First, Second>& found);

template <class... Items>
_object* to_python(const std::tuple<Items...>& found) {
    return std::apply(
        [](const auto&... items) {
            _object* made[] = {to_python(items)...};
            return make_tuple(made, sizeof...(Items));
        },
        found);
}

template <class First, class Second>
_object* to_python(const std::pair<First, Second>& found) {
    return to_python(std::tuple<First, Second>(found));
}

template <class Item>
_object* to_python(const std::vector<Item>& found) {
    std::vector<_object*> made;
    made.reserve(found.size());
    for (const Item& item : found) made.push_back(to_python(item));
    return make_list(made.data(), made.size());
}

// How a result becomes an object of Python; other classes are in classes.hpp.
template <class R>
struct Returned {
    static _object* convert(R&& found) { return to_python(found); }
};

template <class R>
inline constexpr bool is_standard = false;
template <class... Items>
inline constexpr bool is_standard<std::tuple<Items...>> = true;
template <class First, class Second>
inline constexpr bool is_standard<std::pair<First, Second>> = true;
template <class Item>
inline constexpr bool is_standard<std::vector<Item>> = true;

template <class T>
inline constexpr bool is_object = std::is_class_v<T> && !is_standard<T>;
template <>
inline constexpr bool is_object<std::string> = false;
template <>
inline constexpr bool is_object<std::string_view> = false;
template <class T>
inline constexpr bool is_object<Array<T>> = false;

enum class Gil : bool { released, held };  // while a kernel runs

// Releases the GIL until `take` or the end of its scope.
class Unlocked {
public:
    explicit Unlocked(Gil gil);
    ~Unlocked() { take(); }
    Unlocked(const Unlocked&) = delete;
    void take();

private:
    void* thread_;
};

class Module {
public:
    explicit Module(_object* module) : module_(module) {}

    _object* python() const { return module_; }

    template <class R, class... P>
    void def(const char* name, R (*function)(P...), const char* parameters, Gil gil = Gil::released) {
        constexpr std::size_t count = sizeof...(P);
        const Parameter kinds[count + 1] = {Converted<std::remove_cvref_t<P>>::parameter()..., {}};
        // An object may keep the addresses of arrays.
        constexpr bool keeps_nothing =
            !(is_object<R> || ... || is_object<std::remove_pointer_t<std::remove_cvref_t<P>>>);
        add(name, parameters, kinds, count, reinterpret_cast<Function>(function),
            &call<R, P...>, gil, keeps_nothing);
    }

    // A lambda without captures.
    template <class Lambda>
        requires std::is_class_v<Lambda>
    void def(const char* name, Lambda function, const char* parameters, Gil gil = Gil::released) {
        def(name, +function, parameters, gil);
    }

    // Lets parameters of kernels be instances of a class (classes.hpp).
    static void add_class(const std::type_info& type, _object* bound);

    using Function = void (*)();
    using Call = _object* (*)(Function, const Argument*, Gil);

private:
    _object* module_;

    // Throws std::logic_error if `parameters` does not have `count` names.
    void add(const char* name, const char* parameters, const Parameter* kinds, std::size_t count, Function function,
             Call call, Gil gil, bool keeps_nothing);

    template <class R, class... P>
    static _object* call(Function function, const Argument* given, Gil gil) {
        return call_with<R, P...>(reinterpret_cast<R (*)(P...)>(function), given, gil,
                                  std::index_sequence_for<P...>());
    }

    template <class R, class... P, std::size_t... i>
    static _object* call_with(R (*function)(P...), const Argument* given, Gil gil, std::index_sequence<i...>) {
        Unlocked unlocked(gil);
        if constexpr (std::is_void_v<R>) {
            function(Converted<std::remove_cvref_t<P>>::from(given[i])...);
            unlocked.take();
            return to_python();
        } else {
            R found = function(Converted<std::remove_cvref_t<P>>::from(given[i])...);
            unlocked.take();
            return Returned<R>::convert(std::move(found));
        }
    }
};

}  // namespace tgraph
