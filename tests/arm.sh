#!/usr/bin/env bash
# The native kernels compiled for aarch64 and the smoke tests on them in an emulator: tests/arm.sh [FOLDER], build/arm.
#
# It takes Debian or one of its kin, with g++-aarch64-linux-gnu, qemu-user and, for 400 MB, the network: Python for
# aarch64 comes from the distribution's packages, unpacked into the folder, and torch and others as wheels from pip's
# index. Python in .venv has to be of the version that the distribution has (or PYTHON of another environment with
# nanobind, cmake and ninja). Nothing is installed on the system. TORCH is a version whose wheel for aarch64 is one for
# the CPU alone, and small.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/arm}")
python=${PYTHON:-.venv/bin/python}
torch=${TORCH:-2.9.0}
root=$folder/root site=$folder/site
mkdir -p "$folder" "$site"

for needed in aarch64-linux-gnu-g++ qemu-aarch64 apt-get dpkg; do
    command -v $needed > /dev/null || { echo "$needed is not installed: see the head of $0"; exit 2; }
done
version=$($python -c 'import sys; print("%d.%d" % sys.version_info[:2])')

# Packages of arm64 by an apt of our own, which knows nothing of the system's.
if [ ! -e "$root/usr/bin/python$version" ]; then
    mkdir -p "$folder"/apt/{lists/partial,cache/archives/partial} "$root"
    : > "$folder/apt/status"
    export APT_CONFIG=$folder/apt/apt.conf
    cat > "$APT_CONFIG" <<CONFIGURATION
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
CONFIGURATION
    apt-get -q update > /dev/null 2>&1 || true # sources of other architectures are none of ours
    apt-get -q install -y --no-install-recommends --download-only "libpython$version-dev" "python$version" libstdc++6 \
        > /dev/null
    for package in "$folder"/apt/cache/archives/*.deb; do dpkg -x "$package" "$root"; done
    unset APT_CONFIG
fi

# Wheels for aarch64, and the Python files of this repository as they are once installed.
if [ ! -e "$site/torch" ]; then
    platforms=()
    for libc in 2_28 2_27 2_26 2_24 2_17; do platforms+=(--platform "manylinux_${libc}_aarch64"); done
    pip=("$python" -m pip install -q --disable-pip-version-check --only-binary=:all: --implementation cp
        --python-version "$version" "${platforms[@]}" --platform manylinux2014_aarch64 --target "$site" --upgrade)
    "${pip[@]}" --no-deps "torch==$torch"
    "${pip[@]}" -c <(grep -v '^torch==' constraints.txt) numpy pyarrow safetensors xxhash pandas matplotlib tqdm typer \
        filelock sympy jinja2 fsspec typing_extensions pytest networkx scipy
fi
rm -rf "$site/tgraph"
cp -r tgraph "$site/tgraph"
cp -r algorithms "$site/tgraph/algorithms"
rm -f "$site"/tgraph/_native*.so

# The compiler finds pyconfig.h by the name of the architecture.
mkdir -p "$folder/include"
ln -sfn "$root/usr/include/aarch64-linux-gnu" "$folder/include/aarch64-linux-gnu"
bin=$(dirname "$python")
PATH="$bin:$PATH" cmake -G Ninja -S . -B "$folder/objects" -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
    -DCMAKE_CXX_FLAGS="-I$folder/include" -DPython_EXECUTABLE="$(realpath -s "$python")" \
    -DPython_INCLUDE_DIR="$root/usr/include/python$version" \
    -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)"
PATH="$bin:$PATH" cmake --build "$folder/objects"
PATH="$bin:$PATH" cmake --install "$folder/objects" --prefix "$site" --strip
mv "$site"/tgraph/_native*.so "$site/tgraph/_native.so" # whose name has the architecture of the Python here

# Processes that it starts are emulated too: Python takes the name of this script for its own.
cat > "$folder/python" <<SCRIPT
#!/bin/sh
exec qemu-aarch64 -L "$root" -0 "$folder/python" "$root/usr/bin/python$version" "\$@"
SCRIPT
chmod +x "$folder/python"
cp tests/test_smoke.py "$folder"
cd "$folder"
export PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=2
./python - <<'CHECK'
import platform
import tgraph as tg
from tgraph.core.system import native

assert platform.machine() == "aarch64" and native.load() is not None, native.load()
with tg.kernels.watched() as seen:
    tg.algorithms.pagerank(tg.generators.rmat(8))
print(platform.machine(), tg.__version__, *{str(choice) for choice in seen}, sep="; ")
CHECK
./python -m pytest -q -p no:cacheprovider -W ignore test_smoke.py
