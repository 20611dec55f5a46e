// The dicts of a networkx graph as arrays: their keys as numbers of vertices, and the values of one attribute. They lie
// scattered in memory, so that what the next dicts need is fetched ahead. All of it runs on the calling thread, which
// holds Python's lock.
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/bindings.hpp"
#include "base/memory.hpp"

namespace tgraph {
namespace {

constexpr Py_ssize_t ahead = 16;  // objects that are fetched before they are read

PyObject* dict_at(PyObject* list, Py_ssize_t place) {
    PyObject* found = PyList_GET_ITEM(list, place);
    if (!PyDict_Check(found)) throw nb::type_error("expected a list of dicts");
    return found;
}

// The dict that comes in some steps, and the table of the one before that, which has arrived by now.
void fetch_dicts(PyObject* list, Py_ssize_t place) {
    const Py_ssize_t size = PyList_GET_SIZE(list);
    if (place + ahead < size) fetch(PyList_GET_ITEM(list, place + ahead));
    if (place + ahead / 2 < size) fetch(reinterpret_cast<PyDictObject*>(dict_at(list, place + ahead / 2))->ma_keys);
}

// Calls visit(key, value) for all entries of all dicts of a list; no code of Python's may run in it.
template <class Visit>
void for_each_entry(PyObject* dicts, Visit visit) {
    for (Py_ssize_t place = 0; place < PyList_GET_SIZE(dicts); ++place) {
        fetch_dicts(dicts, place);
        PyObject *dict = dict_at(dicts, place), *key, *value;
        for (Py_ssize_t entry = 0; PyDict_Next(dict, &entry, &key, &value);) visit(key, value);
    }
}

void check_size(std::size_t found, std::size_t expected) {
    if (found != expected) throw std::invalid_argument("the dicts have other sizes than expected");
}

// The keys of all dicts as numbers below `limit`; false where one is no int of these. Nothing of Python's is called.
template <class Neighbor>
bool read_numbers(PyObject* dicts, int64_t limit, Out<Neighbor> numbers) {
    std::vector<PyObject*> keys;
    keys.reserve(numbers.shape(0));
    for_each_entry(dicts, [&](PyObject* key, PyObject*) { keys.push_back(key); });
    check_size(keys.size(), numbers.shape(0));
    for (std::size_t place = 0; place < keys.size(); ++place) {
        if (place + ahead < keys.size()) fetch(keys[place + ahead]);
        if (!PyLong_CheckExact(keys[place])) return false;
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(keys[place], &overflow);
        if (overflow != 0 || number < 0 || number >= limit) return false;
        numbers.data()[place] = static_cast<Neighbor>(number);
    }
    return true;
}

// Objects that a function holds while code of Python's runs, such as a key's own __eq__.
struct Held {
    std::vector<PyObject*> objects;

    void add(PyObject* object) {
        Py_INCREF(object);
        objects.push_back(object);
    }
    ~Held() {
        for (PyObject* object : objects) Py_DECREF(object);
    }
};

// The same by a dict of numbers.
template <class Neighbor>
bool read_names(PyObject* dicts, PyObject* index, Out<Neighbor> numbers) {
    Held keys;
    keys.objects.reserve(numbers.shape(0));
    for_each_entry(dicts, [&](PyObject* key, PyObject*) { keys.add(key); });
    check_size(keys.objects.size(), numbers.shape(0));
    for (std::size_t place = 0; place < keys.objects.size(); ++place) {
        PyObject* number = PyDict_GetItemWithError(index, keys.objects[place]);
        if (number == nullptr) {
            if (PyErr_Occurred()) throw nb::python_error();
            return false;
        }
        numbers.data()[place] = static_cast<Neighbor>(PyLong_AsLongLong(number));
    }
    return true;
}

template <class Neighbor>
bool read_keys(nb::list dicts, nb::object index, int64_t limit, Out<Neighbor> numbers) {
    if (index.is_none()) return read_numbers(dicts.ptr(), limit, numbers);
    if (!PyDict_Check(index.ptr())) throw nb::type_error("expected a dict of numbers");
    return read_names(dicts.ptr(), index.ptr(), numbers);
}

// The values of all dicts as a list; with `taken` those of these entries.
nb::list list_values(nb::list dicts, In<uint8_t> taken, int64_t count) {
    nb::list values = nb::steal<nb::list>(PyList_New(count));
    if (!values.is_valid()) throw nb::python_error();
    std::vector<PyObject*> found;
    found.reserve(count);
    std::size_t place = 0;
    for_each_entry(dicts.ptr(), [&](PyObject*, PyObject* value) {
        if (taken.is_valid() && (place >= taken.shape(0) || taken.data()[place] == 0)) return void(++place);
        found.push_back(value);
        ++place;
    });
    check_size(found.size(), count);
    for (std::size_t entry = 0; entry < found.size(); ++entry) {
        if (entry + ahead < found.size()) fetch(found[entry + ahead]);
        Py_INCREF(found[entry]);
        PyList_SET_ITEM(values.ptr(), entry, found[entry]);
    }
    return values;
}

// What the values of a column are; several kinds are `other`.
enum Kind : int { none, boolean, integer, real, other };

Kind read_value(PyObject* value, int64_t& bits) {
    if (PyFloat_CheckExact(value)) {
        const double number = PyFloat_AS_DOUBLE(value);
        std::memcpy(&bits, &number, sizeof bits);
        return real;
    }
    if (PyBool_Check(value)) return bits = value == Py_True, boolean;
    if (!PyLong_CheckExact(value)) return other;
    int overflow = 0;
    bits = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 ? integer : other;
}

// The values of one attribute as the bits of an int64 or a double, and which dicts have it. Returns their kind and how
// many there are; it ends early where they are `other`.
nb::tuple read_column(nb::list dicts, nb::object name, Out<int64_t> values, Out<bool> present) {
    const Py_ssize_t size = PyList_GET_SIZE(dicts.ptr());
    check_size(size, values.shape(0));
    check_size(size, present.shape(0));
    Kind kind = none;
    int64_t count = 0;
    for (Py_ssize_t place = 0; place < size && kind != other; ++place) {
        if (PyList_GET_SIZE(dicts.ptr()) != size) throw std::runtime_error("the list of dicts changed");
        fetch_dicts(dicts.ptr(), place);
        PyObject* value = PyDict_GetItemWithError(dict_at(dicts.ptr(), place), name.ptr());
        if (value == nullptr && PyErr_Occurred()) throw nb::python_error();
        present.data()[place] = value != nullptr;
        values.data()[place] = 0;
        if (value == nullptr) continue;
        ++count;
        const Kind found = read_value(value, values.data()[place]);
        kind = kind == none || kind == found ? found : other;
    }
    return nb::make_tuple(static_cast<int>(kind), count);
}

}  // namespace

void bind_dicts(nb::module_& module) {
    using nb::arg;
    const auto define = [&](auto function) {
        module.def("read_keys", function, arg("dicts"), arg("index").none(), arg("limit"), arg("numbers").noconvert());
    };
    define(&read_keys<int32_t>);
    define(&read_keys<int64_t>);
    module.def("list_values", &list_values, arg("dicts"), arg("taken").noconvert().none(), arg("count"));
    module.def("read_column", &read_column, arg("dicts"), arg("name").none(), arg("values").noconvert(),
               arg("present").noconvert());
}

}  // namespace tgraph
