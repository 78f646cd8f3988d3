#!/usr/bin/env bash
# Makes the wheel for Python with the library of a build: wheel.sh BUILD FOLDER
# Of a copy of python/, where setuptools leaves its files. PYTHON=python3 is the one that has pip, setuptools and wheel.
set -euo pipefail
library=$(realpath "${1:?usage: wheel.sh BUILD FOLDER}/libtraceloom.so.0")
mkdir -p "${2:?usage: wheel.sh BUILD FOLDER}"
folder=$(realpath "$2")
python=${PYTHON:-/usr/bin/python3}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$(dirname "$0")/../python" "$copy/python"
rm -rf "$copy/python/build" "$copy"/python/*.egg-info
rm -f "$folder"/traceloom-*.whl
TRACELOOM_WHEEL_LIBRARY=$library "$python" -m pip wheel --no-index --no-build-isolation --no-deps -q -w "$folder" "$copy/python"
wheel=$(echo "$folder"/traceloom-*.whl)
du -h "$wheel"
echo "next: pip install $wheel"
