// The dicts of a networkx graph as arrays: their keys as numbers of vertices, and the values of one attribute; and
// dicts of arrays. Objects lie scattered in memory, so that what the next steps need is fetched ahead. All of it runs
// on the calling thread, which holds Python's lock.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/classes.hpp"
#include "base/memory.hpp"

namespace tgraph {
namespace {

constexpr Py_ssize_t ahead = 16;  // objects that are fetched before they are read

// Where the entries of lists and dicts lie, to fetch them ahead. The stable ABI does not say, but CPython has had them
// in these words for long; elsewhere something else is fetched, to no harm.
#ifdef Py_LIMITED_API
PyObject* const* slots(PyObject* list) { return reinterpret_cast<PyObject* const* const*>(list)[3]; }
const void* table(PyObject* dict) { return reinterpret_cast<const void* const*>(dict)[4]; }
#else
PyObject* const* slots(PyObject* list) { return reinterpret_cast<PyListObject*>(list)->ob_item; }
const void* table(PyObject* dict) { return reinterpret_cast<PyDictObject*>(dict)->ma_keys; }
#endif

// The table of a dict that has arrived.
void fetch_table(PyObject* dict) {
    if (PyDict_CheckExact(dict)) fetch(table(dict));
}

// The dict that comes in some steps, and the table of the one before that; at(place) is a dict.
template <class At>
void fetch_dicts(At at, Py_ssize_t place, Py_ssize_t size) {
    if (place + ahead < size) fetch(at(place + ahead));
    if (place + ahead / 2 < size) fetch_table(at(place + ahead / 2));
}

// Calls visit(key, value) for all entries of all dicts of a list; false where one is no plain dict. Code of Python's
// that runs in it must not change the list.
template <class Visit>
bool for_each_entry(PyObject* dicts, Visit visit) {
    const Py_ssize_t size = NB_LIST_GET_SIZE(dicts);
    for (Py_ssize_t place = 0; place < size; ++place) {
        if (NB_LIST_GET_SIZE(dicts) != size) throw std::runtime_error("the list of dicts changed");
        fetch_dicts([&](Py_ssize_t soon) { return NB_LIST_GET_ITEM(dicts, soon); }, place, size);
        PyObject *dict = NB_LIST_GET_ITEM(dicts, place), *key, *value;
        if (!PyDict_CheckExact(dict)) return false;
        for (Py_ssize_t entry = 0; PyDict_Next(dict, &entry, &key, &value);) visit(key, value);
    }
    return true;
}

void check_size(std::size_t found, std::size_t expected) {
    if (found != expected) throw std::invalid_argument("the dicts have other sizes than expected");
}

// The keys of all dicts, without references of their own: until code of Python's runs.
bool list_keys(PyObject* dicts, std::size_t count, std::vector<PyObject*>& keys) {
    keys.reserve(count);
    if (!for_each_entry(dicts, [&](PyObject* key, PyObject*) { keys.push_back(key); })) return false;
    check_size(keys.size(), count);
    return true;
}

// Keys as numbers below `limit`; false where one is no int of these. Nothing of Python's is called.
template <class Neighbor>
bool read_numbers(const std::vector<PyObject*>& keys, int64_t limit, Neighbor* numbers) {
    for (std::size_t place = 0; place < keys.size(); ++place) {
        if (place + ahead < keys.size()) fetch(keys[place + ahead]);
        if (!PyLong_CheckExact(keys[place])) return false;
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(keys[place], &overflow);
        if (overflow != 0 || number < 0 || number >= limit) return false;
        numbers[place] = static_cast<Neighbor>(number);
    }
    return true;
}

// Objects that a function holds while code of Python's runs, such as a key's own __eq__.
struct Held {
    Held(PyObject* const* first, std::size_t count) : objects(first, first + count) {
        for (std::size_t each = 0; each < count; ++each) {
            if (each + ahead < count) fetch(objects[each + ahead]);
            Py_INCREF(objects[each]);
        }
    }
    Held(const Held&) = delete;
    ~Held() {
        for (PyObject* object : objects) Py_DECREF(object);
    }

    const std::vector<PyObject*> objects;
};

// The numbers of a dict by the addresses of its keys: most neighbours are the same objects as the nodes.
class Addresses {
public:
    explicit Addresses(PyObject* index) {
        std::size_t size = 16;
        while (size < 2 * static_cast<std::size_t>(NB_DICT_GET_SIZE(index))) size *= 2;
        slots_.resize(size);
        PyObject *key, *number;
        for (Py_ssize_t entry = 0; PyDict_Next(index, &entry, &key, &number);) {
            Slot* slot = first(key);
            while (slot->key != nullptr) slot = next(slot);
            *slot = {key, PyLong_AsLongLong(number)};
        }
    }

    TGRAPH_INLINE void fetch_slot(PyObject* key) { fetch(first(key)); }

    // The number of this very object, -1 where it is no key.
    int64_t find(PyObject* key) {
        Slot* slot = first(key);
        while (slot->key != nullptr && slot->key != key) slot = next(slot);
        return slot->key == nullptr ? -1 : slot->number;
    }

private:
    struct Slot {
        PyObject* key = nullptr;
        int64_t number = 0;
    };
    Slot* first(PyObject* key) {
        const uint64_t mixed = (reinterpret_cast<uintptr_t>(key) >> 4) * 0x9e3779b97f4a7c15u;
        return &slots_[(mixed >> 32) & (slots_.size() - 1)];
    }
    Slot* next(Slot* slot) { return slot == &slots_.back() ? slots_.data() : slot + 1; }

    std::vector<Slot> slots_;
};

// Keys as numbers by a dict of numbers; false where one is not in it.
template <class Neighbor>
bool read_names(const std::vector<PyObject*>& keys, PyObject* index, Neighbor* numbers) {
    Addresses addresses(index);
    std::vector<PyObject*> others;  // which are equal to a node, but other objects
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < keys.size(); ++place) {
        if (place + ahead < keys.size()) addresses.fetch_slot(keys[place + ahead]);
        const int64_t number = addresses.find(keys[place]);
        numbers[place] = static_cast<Neighbor>(number);
        if (number >= 0) continue;
        others.push_back(keys[place]);
        places.push_back(place);
    }
    const Held held(others.data(), others.size());
    for (std::size_t other = 0; other < others.size(); ++other) {
        if (other + ahead < others.size()) fetch(others[other + ahead]);
        PyObject* number = PyDict_GetItemWithError(index, others[other]);
        if (number == nullptr) {
            if (PyErr_Occurred()) throw nb::python_error();
            return false;
        }
        numbers[places[other]] = static_cast<Neighbor>(PyLong_AsLongLong(number));
    }
    return true;
}

template <class Neighbor>
bool read_keys(nb::list dicts, nb::object index, int64_t limit, Out<Neighbor> numbers) {
    std::vector<PyObject*> keys;
    if (!list_keys(dicts.ptr(), numbers.shape(0), keys)) return false;
    if (index.is_none()) return read_numbers(keys, limit, numbers.data());
    if (!PyDict_Check(index.ptr())) throw TypeError("expected a dict of numbers");
    return read_names(keys, index.ptr(), numbers.data());
}

// Calls visit(value) for the values of all dicts, of those that are `taken` where it is there; false where one of the
// dicts is no plain dict.
template <class Visit>
bool for_each_value(nb::list dicts, const In<uint8_t>& taken, std::size_t count, Visit visit) {
    std::size_t place = 0, found = 0;
    const bool are_dicts = for_each_entry(dicts.ptr(), [&](PyObject*, PyObject* value) {
        const bool is_taken = !taken.is_valid() || (place < taken.shape(0) && taken.data()[place] != 0);
        ++place;
        if (is_taken && found++ < count) visit(value);
    });
    if (are_dicts) check_size(found, count);
    return are_dicts;
}

// The values of all dicts as a list, None where one of them is no plain dict; with `taken` those of these entries.
nb::object list_values(nb::list dicts, In<uint8_t> taken, int64_t count) {
    std::vector<PyObject*> found;
    found.reserve(count);
    if (!for_each_value(dicts, taken, count, [&](PyObject* value) { found.push_back(value); })) return nb::none();
    nb::list values = nb::steal<nb::list>(PyList_New(count));
    if (!values.is_valid()) throw nb::python_error();
    for (std::size_t entry = 0; entry < found.size(); ++entry) {
        if (entry + ahead < found.size()) fetch(found[entry + ahead]);
        Py_INCREF(found[entry]);
        NB_LIST_SET_ITEM(values.ptr(), entry, found[entry]);
    }
    return values;
}

// Where the entries of each dict begin among those of all, and where the last end; false where one is no plain dict.
bool read_offsets(nb::list dicts, Out<int64_t> offsets) {
    const Py_ssize_t size = NB_LIST_GET_SIZE(dicts.ptr());
    check_size(size + 1, offsets.shape(0));
    int64_t sum = offsets.data()[0] = 0;
    for (Py_ssize_t place = 0; place < size; ++place) {
        if (place + ahead < size) fetch(NB_LIST_GET_ITEM(dicts.ptr(), place + ahead));
        PyObject* dict = NB_LIST_GET_ITEM(dicts.ptr(), place);
        if (!PyDict_CheckExact(dict)) return false;
        offsets.data()[place + 1] = sum += NB_DICT_GET_SIZE(dict);
    }
    return true;
}

// Whether the keys of a dict are the ints 0, 1, 2, ... in this order.
bool is_numbered(PyObject* dict) {
    PyObject *key, *value;
    int64_t number = 0;
    for (Py_ssize_t entry = 0; PyDict_Next(dict, &entry, &key, &value); ++number) {
        int overflow = 0;
        if (!PyLong_CheckExact(key) || PyLong_AsLongLongAndOverflow(key, &overflow) != number || overflow != 0) {
            return false;
        }
    }
    return true;
}

// Whether the keys of every dict are the ints 0, 1, 2, ... in this order; None where one is no plain dict.
nb::object are_numbered(nb::list dicts) {
    const Py_ssize_t size = NB_LIST_GET_SIZE(dicts.ptr());
    const auto at = [&](Py_ssize_t place) { return NB_LIST_GET_ITEM(dicts.ptr(), place); };
    for (Py_ssize_t place = 0; place < size; ++place) {
        fetch_dicts(at, place, size);
        if (!PyDict_CheckExact(at(place))) return nb::none();
        if (!is_numbered(at(place))) return nb::bool_(false);
    }
    return nb::bool_(true);
}

// Calls visit(dict) for the values of all dicts, which are dicts themselves, some steps after they are fetched; false
// where one of them is no plain dict. No code of Python's may run in it.
template <class Visit>
bool for_each_inner(nb::list dicts, Visit visit) {
    PyObject* waiting[ahead];
    std::size_t begun = 0, ended = 0;
    bool are_dicts = true;
    const auto end_one = [&] {
        PyObject* dict = waiting[ended++ % ahead];
        if (ended + ahead / 2 <= begun) fetch_table(waiting[(ended + ahead / 2 - 1) % ahead]);
        if (!PyDict_CheckExact(dict)) {
            are_dicts = false;
        } else if (are_dicts) {
            visit(dict);
        }
    };
    const bool outer = for_each_entry(dicts.ptr(), [&](PyObject*, PyObject* value) {
        if (begun - ended == ahead) end_one();
        fetch(value);
        waiting[begun++ % ahead] = value;
    });
    while (ended < begun) end_one();
    return outer && are_dicts;
}

// The number of entries of each dict that is a value of dicts, and whether the keys of each are 0, 1, 2, ...: (found,
// numbered), the first false where one is no plain dict.
nb::tuple read_inner_lengths(nb::list dicts, Out<int64_t> lengths) {
    const std::size_t count = lengths.shape(0);
    std::size_t place = 0;
    bool numbered = true;
    const bool found = for_each_inner(dicts, [&](PyObject* dict) {
        if (place < count) lengths.data()[place] = NB_DICT_GET_SIZE(dict);
        ++place;
        numbered = numbered && is_numbered(dict);
    });
    if (found) check_size(place, count);
    return nb::make_tuple(found, numbered);
}

// What the values of a column are; several kinds are `other`.
enum Kind : int { none, boolean, integer, real, other };

Kind read_value(PyObject* value, int64_t& bits) {
    if (PyFloat_CheckExact(value)) {
        const double number = PyFloat_AsDouble(value);
        std::memcpy(&bits, &number, sizeof bits);
        return real;
    }
    if (PyBool_Check(value)) return bits = value == Py_True, boolean;
    if (!PyLong_CheckExact(value)) return other;
    int overflow = 0;
    bits = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 ? integer : other;
}

// The values of one attribute as the bits of an int64 or a double, and which dicts have it. It ends at the first that
// is `other`, or where a dict is none.
class ColumnReader {
public:
    ColumnReader(PyObject* name, Out<int64_t>& values, Out<bool>& present)
        : name_(name), values_(values.data()), present_(present.data()) {}

    bool is_open() const { return kind_ != other; }

    void read(PyObject* const* dicts, Py_ssize_t size) {
        for (Py_ssize_t begin = 0; begin < size && is_open(); begin += step) {
            read_some(dicts + begin, std::min(step, size - begin), size - begin);
        }
    }

    nb::tuple found() const { return nb::make_tuple(static_cast<int>(kind_), count_); }

private:
    static constexpr Py_ssize_t step = 64;

    // Finds the values, then reads them, when they have arrived. What has no key that is this very name, which takes
    // code of Python's to compare, comes last.
    void read_some(PyObject* const* dicts, Py_ssize_t size, Py_ssize_t listed) {
        PyObject* values[step];
        for (Py_ssize_t each = 0; each < size; ++each) {
            fetch_dicts([&](Py_ssize_t soon) { return dicts[soon]; }, each, listed);
            if (!PyDict_CheckExact(dicts[each])) return void(kind_ = other);
            values[each] = find(dicts[each]);
            if (values[each] != nullptr) fetch(values[each]);
        }
        for (Py_ssize_t each = 0; each < size; ++each) add(each, values[each]);
        for (Py_ssize_t each = 0; each < size; ++each) {
            if (values[each] != nullptr || NB_DICT_GET_SIZE(dicts[each]) == 0) continue;
            add(each, PyDict_GetItemWithError(dicts[each], name_));
            if (PyErr_Occurred()) throw nb::python_error();
        }
        place_ += size;
    }

    PyObject* find(PyObject* dict) const {
        PyObject *key, *value;
        for (Py_ssize_t entry = 0; PyDict_Next(dict, &entry, &key, &value) && entry <= ahead;) {
            if (key == name_) return value;
        }
        return nullptr;
    }

    void add(Py_ssize_t each, PyObject* value) {
        int64_t& bits = values_[place_ + each] = 0;
        present_[place_ + each] = value != nullptr;
        if (value == nullptr) return;
        ++count_;
        const Kind found = read_value(value, bits);
        kind_ = kind_ == none || kind_ == found ? found : other;
    }

    PyObject* name_;
    int64_t* values_;
    bool* present_;
    Py_ssize_t place_ = 0;
    int64_t count_ = 0;
    Kind kind_ = none;
};

// The kind of the values that the dicts of a list have under `name`, and how many have one.
nb::tuple read_column(nb::list dicts, nb::object name, Out<int64_t> values, Out<bool> present) {
    const Py_ssize_t size = NB_LIST_GET_SIZE(dicts.ptr());
    check_size(size, values.shape(0));
    check_size(size, present.shape(0));
    ColumnReader column(name.ptr(), values, present);
    std::vector<PyObject*> listed(size);
    for (Py_ssize_t place = 0; place < size; ++place) listed[place] = NB_LIST_GET_ITEM(dicts.ptr(), place);
    const Held held(listed.data(), size);
    column.read(held.objects.data(), size);
    return column.found();
}

// Reads a column out of dicts that come one by one.
class BlockReader {
public:
    BlockReader(nb::object name, Out<int64_t>& values, Out<bool>& present)
        : count_(values.shape(0)), column_(name.ptr(), values, present) {
        check_size(count_, present.shape(0));
    }

    void add(PyObject* dict) {
        if (!column_.is_open() || seen_++ >= count_) return;
        fetch(dict);
        found_[size_++] = dict;
        if (size_ == block) flush();
    }

    nb::tuple found(bool are_dicts) {
        flush();
        if (!are_dicts) return nb::make_tuple(static_cast<int>(other), int64_t{0});
        if (column_.is_open()) check_size(seen_, count_);
        return column_.found();
    }

private:
    static constexpr std::size_t block = 256;  // dicts held at a time, and still in the cache when they are released

    void flush() {
        const Held held(found_, size_);
        column_.read(found_, size_);
        size_ = 0;
    }

    PyObject* found_[block];
    std::size_t count_, size_ = 0, seen_ = 0;
    ColumnReader column_;
};

// The same for the dicts that are the values of dicts.
nb::tuple read_entry_column(nb::list dicts, In<uint8_t> taken, nb::object name, Out<int64_t> values,
                            Out<bool> present) {
    BlockReader column(name, values, present);
    return column.found(
        for_each_value(dicts, taken, values.shape(0), [&](PyObject* value) { column.add(value); }));
}

// The same for the dicts of parallel edges by key that are the values of dicts: all that are in one that is `taken`.
nb::tuple read_inner_column(nb::list dicts, In<uint8_t> taken, nb::object name, Out<int64_t> values,
                            Out<bool> present) {
    BlockReader column(name, values, present);
    std::size_t place = 0;
    std::vector<PyObject*> inner;
    const bool found = for_each_inner(dicts, [&](PyObject* dict) {
        const bool is_taken = !taken.is_valid() || (place < taken.shape(0) && taken.data()[place] != 0);
        ++place;
        if (!is_taken) return;
        PyObject *key, *value;
        for (Py_ssize_t entry = 0; PyDict_Next(dict, &entry, &key, &value);) inner.push_back(value);
    });
    if (!found) return column.found(false);
    const Held held(inner.data(), inner.size());
    for (PyObject* dict : held.objects) column.add(dict);
    return column.found(true);
}

PyObject* item(PyObject* list, int64_t place) {
    if (place < 0 || place >= NB_LIST_GET_SIZE(list)) throw std::invalid_argument("a place beyond the end of the list");
    return NB_LIST_GET_ITEM(list, place);
}

PyObject* new_dict([[maybe_unused]] Py_ssize_t size) {
#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_LIMITED_API)
    PyObject* dict = size > 5 ? _PyDict_NewPresized(size) : PyDict_New();  // an empty one has room for five
#else
    PyObject* dict = PyDict_New();
#endif
    if (dict == nullptr) throw nb::python_error();
    return dict;
}

// A dict for each row: keys[key_of[entry]] with the value values[value_of[entry]] for its entries.
template <class Neighbor>
nb::list write_dicts(In<int64_t> offset, nb::list keys, In<Neighbor> key_of, nb::list values, In<int64_t> value_of) {
    const int64_t rows = static_cast<int64_t>(offset.shape(0)) - 1, count = key_of.shape(0);
    check_size(value_of.shape(0), count);
    nb::list dicts = nb::steal<nb::list>(PyList_New(rows));
    if (!dicts.is_valid()) throw nb::python_error();
    const Neighbor* key = key_of.data();
    const int64_t* value = value_of.data();
    PyObject* const* const places = slots(values.ptr());
    for (int64_t row = 0; row < rows; ++row) {
        const int64_t begin = offset.data()[row], end = offset.data()[row + 1];
        if (begin < 0 || begin > end || end > count) throw std::invalid_argument("the offsets do not ascend");
        PyObject* dict = new_dict(end - begin);
        NB_LIST_SET_ITEM(dicts.ptr(), row, dict);
        for (int64_t entry = begin; entry < end; ++entry) {
            if (entry + 2 * ahead < count) fetch(places + value[entry + 2 * ahead]);
            if (entry + ahead < count) {
                fetch(item(values.ptr(), value[entry + ahead]));
                fetch(item(keys.ptr(), key[entry + ahead]));
            }
            if (PyDict_SetItem(dict, item(keys.ptr(), key[entry]), item(values.ptr(), value[entry])) != 0) {
                throw nb::python_error();
            }
        }
    }
    return dicts;
}

// A dict of class `kind` for each place of the columns: names[c] with the value columns[c][place], but for `missing`.
nb::list write_columns(nb::list names, nb::list columns, nb::object kind, nb::object missing) {
    const Py_ssize_t width = NB_LIST_GET_SIZE(names.ptr());
    check_size(NB_LIST_GET_SIZE(columns.ptr()), width);
    const Py_ssize_t size = width > 0 ? PyList_Size(item(columns.ptr(), 0)) : 0;
    for (Py_ssize_t column = 0; column < width; ++column) check_size(PyList_Size(item(columns.ptr(), column)), size);
    nb::list dicts = nb::steal<nb::list>(PyList_New(size));
    if (!dicts.is_valid()) throw nb::python_error();
    const bool is_plain = kind.ptr() == reinterpret_cast<PyObject*>(&PyDict_Type);
    for (Py_ssize_t place = 0; place < size; ++place) {
        PyObject* dict = is_plain ? PyDict_New() : PyObject_CallNoArgs(kind.ptr());
        if (dict == nullptr) throw nb::python_error();
        NB_LIST_SET_ITEM(dicts.ptr(), place, dict);
        for (Py_ssize_t column = 0; column < width; ++column) {
            PyObject* value = item(item(columns.ptr(), column), place);
            if (value == missing.ptr()) continue;
            if (PyDict_SetItem(dict, item(names.ptr(), column), value) != 0) throw nb::python_error();
        }
    }
    return dicts;
}

}  // namespace

void bind_dicts(Module& module) {
    const auto define = [&](auto function) {
        python_module(module).def("read_keys", function, nb::arg("dicts"), nb::arg("index").none(), nb::arg("limit"),
                                  nb::arg("numbers"));
    };
    define(&read_keys<int32_t>);
    define(&read_keys<int64_t>);
    python_module(module).def("read_offsets", &read_offsets, nb::arg("dicts"), nb::arg("offsets"));
    python_module(module).def("are_numbered", &are_numbered, nb::arg("dicts"));
    python_module(module).def("read_inner_lengths", &read_inner_lengths, nb::arg("dicts"), nb::arg("lengths"));
    python_module(module).def("read_inner_column", &read_inner_column, nb::arg("dicts"), nb::arg("taken").none(),
               nb::arg("name").none(), nb::arg("values"), nb::arg("present"));
    python_module(module).def("list_values", &list_values, nb::arg("dicts"), nb::arg("taken").none(), nb::arg("count"));
    python_module(module).def("read_column", &read_column, nb::arg("dicts"), nb::arg("name").none(), nb::arg("values"),
               nb::arg("present"));
    python_module(module).def("read_entry_column", &read_entry_column, nb::arg("dicts"), nb::arg("taken").none(),
               nb::arg("name").none(), nb::arg("values"), nb::arg("present"));
    const auto define_writer = [&](auto function) {
        python_module(module).def("write_dicts", function, nb::arg("offset"), nb::arg("keys"), nb::arg("key_of"),
                   nb::arg("values"), nb::arg("value_of"));
    };
    define_writer(&write_dicts<int32_t>);
    define_writer(&write_dicts<int64_t>);
    python_module(module).def("write_columns", &write_columns, nb::arg("names"), nb::arg("columns"), nb::arg("kind"),
                              nb::arg("missing"));
}

}  // namespace tgraph
