#!/usr/bin/env bash
# Installs into a folder and uses the result as a user would: install.sh BUILD_FOLDER C_COMPILER CFLAGS
set -euo pipefail
build=$1 compiler=$2 flags=${3:-}
work=$(mktemp -d "${TL_WORK:-/tmp}/install.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}
command -v pkg-config >/dev/null || {
    echo "skipped: pkg-config is not installed"
    exit 77
}

DESTDIR=$work/dest cmake --install "$build" --prefix /usr >"$work/log" || fail "cmake --install: $(tail -5 "$work/log")"
usr=$work/dest/usr
[ -x "$usr/bin/traceloom" ] || fail "no bin/traceloom"
for header in "$TL_SOURCE"/include/traceloom/*.h; do
    cmp "$header" "$usr/include/traceloom/$(basename "$header")" || fail "header $(basename "$header")"
done
for page in "$TL_SOURCE"/docs/man/*.[1-7]; do
    [ "${page##*/}" != traceloom-mpi.1 ] || [ -x "$usr/bin/traceloom-mpi" ] || continue # not in every build
    [ -f "$usr/share/man/man${page##*.}/$(basename "$page")" ] || fail "man page $(basename "$page")"
done
if command -v mandoc >/dev/null; then
    mandoc -Tlint -W warning "$TL_SOURCE"/docs/man/*.3 >"$work/lint" || fail "mandoc: $(head -3 "$work/lint")"
fi

# Every public header compiles alone, in C and in C++.
for header in "$usr"/include/traceloom/*.h; do
    echo "#include <traceloom/$(basename "$header")>" >"$work/alone.c"
    # shellcheck disable=SC2086
    $compiler $flags -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$usr/include" -fsyntax-only "$work/alone.c" ||
        fail "$(basename "$header") does not compile alone"
    if command -v c++ >/dev/null; then
        c++ -x c++ -std=c++17 -Wall -Wextra -Werror -I"$usr/include" -fsyntax-only "$work/alone.c" ||
            fail "$(basename "$header") does not compile as C++"
    fi
done

python3 -B "$TL_SOURCE/test/generate/xray_gen.py" --one fdr-v5-le-plain "$work/a.xray" --elf "$work/a.elf"
"$usr/bin/traceloom" info "$work/a.xray" >/dev/null || fail "the installed command fails"
echo "installed and used"
