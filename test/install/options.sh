#!/usr/bin/env bash
# Builds with formats, optional libraries and the recorder switched off; each build must work: options.sh C_COMPILER
# Every format is switched off alone, in a build without libraries. With TL_THOROUGH every library is, too, which compiles
# everything each time.
set -euo pipefail
compiler=$1
build=${TL_WORK:-/tmp}/options
input=$TL_SOURCE/test/golden/input/fdr-v5-le.xray
libraries=(ZLIB ZSTD BZIP2 LIBDW DEMANGLE SQLITE LLVM RT)
mapfile -t formats < <(ls "$TL_SOURCE/src/format" | tr '[:lower:]' '[:upper:]')

# try SWITCHES...: builds with these off and all others on
try() {
    local arguments=() name
    for name in "${libraries[@]}"; do arguments+=("-DTRACELOOM_$name=ON"); done
    for name in "${formats[@]}"; do arguments+=("-DTRACELOOM_FORMAT_$name=ON"); done
    for name in "$@"; do arguments+=("-DTRACELOOM_$name=OFF"); done
    if ! { cmake -S "$TL_SOURCE" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 -DCMAKE_C_COMPILER="$compiler" \
        -DTRACELOOM_WERROR=ON -DTRACELOOM_TESTS=OFF -DTRACELOOM_EXAMPLES=OFF "${arguments[@]}" &&
        cmake --build "$build" --target traceloom -j 2; } >"$build.log" 2>&1; then
        grep -E 'error|undefined|FAILED' "$build.log" | head -20
        echo "FAILED: does not build without $*"
        exit 1
    fi
    "$build/traceloom" help formats >"$build.formats" || { echo "FAILED: the build without $* does not run"; exit 1; }
    case " $* " in
    *" FORMAT_XRAY "*) ;;
    *) "$build/traceloom" info "$input" >/dev/null || { echo "FAILED: without $*, info fails"; exit 1; } ;;
    esac
    echo "ok without: $*"
}

mkdir -p "$(dirname "$build")"
try "${libraries[@]}"
for name in "${formats[@]}"; do
    try "${libraries[@]}" "FORMAT_$name"
    lower=$(echo "$name" | tr '[:upper:]' '[:lower:]')
    if grep -qE "^ *${lower}([- ]|$)" "$build.formats"; then
        echo "FAILED: format $lower is listed though it was switched off"
        exit 1
    fi
done
[ -z "${TL_THOROUGH:-}" ] || for name in "${libraries[@]}"; do
    try "$name"
done
