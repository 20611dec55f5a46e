// The file whose CPU seconds those of the kernels are divided by (bench/build.py): templates of the standard library and
// loops that are vectorised, as in the kernels. It is not to be changed: ratios of different versions could not be
// compared.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

template <class Key, class Value>
int64_t group(const std::vector<Key>& keys, const std::vector<Value>& values) {
    std::map<Key, Value> ordered;
    std::unordered_map<Key, std::vector<Value>> listed;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        ordered[keys[i]] += values[i];
        listed[keys[i]].push_back(values[i]);
    }
    int64_t count = 0;
    for (auto& [key, list] : listed) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        std::stable_sort(list.begin(), list.end(), [](const Value& a, const Value& b) { return b < a; });
        count += static_cast<int64_t>(list.size());
    }
    return count + static_cast<int64_t>(ordered.size());
}

template <class Number, int width>
void reduce(const Number* data, const int32_t* at, int64_t count, Number* sums) {
    Number sum[width] = {};
    for (int64_t i = 0; i < count; ++i)
        for (int f = 0; f < width; ++f) sum[f] = std::max(sum[f], data[at[i] * width + f]) + sum[f] * 3;
    std::copy(sum, sum + width, sums);
}

#define GROUP(Key, Value) template int64_t group(const std::vector<Key>&, const std::vector<Value>&);
GROUP(int32_t, int32_t)
GROUP(int32_t, double)
GROUP(int64_t, int64_t)
GROUP(int64_t, float)
GROUP(std::string, int64_t)
GROUP(std::string, std::string)

#define REDUCE(Number)                                                            \
    template void reduce<Number, 1>(const Number*, const int32_t*, int64_t, Number*);  \
    template void reduce<Number, 4>(const Number*, const int32_t*, int64_t, Number*);  \
    template void reduce<Number, 16>(const Number*, const int32_t*, int64_t, Number*); \
    template void reduce<Number, 64>(const Number*, const int32_t*, int64_t, Number*);
REDUCE(float)
REDUCE(double)
REDUCE(int32_t)
REDUCE(int64_t)
