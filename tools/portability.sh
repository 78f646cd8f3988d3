#!/usr/bin/env bash
# Builds with each compiler, C library and processor, tests that in each environment, and prints a table of the results:
#   portability.sh FOLDER [ROW...]
# Every row runs as far as it can, whatever fails in others; the status is 1 if any failed. FOLDER/ROW.log has its output.
set -uo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1" && folder=$(cd "$1" && pwd) || exit 2
shift
jobs=${JOBS:-$(nproc)}
rows=(gcc clang-14 clang-19 clang-sanitizers i386 s390x aarch64 musl spaces german turkish no-home closed-home
    no-temporary umask-077 umask-000)
[ $# -gt 0 ] && rows=("$@")

# build FOLDER SOURCE OPTIONS...: everything, with warnings as errors
build() {
    local where=$1 from=$2
    shift 2
    (cd "$from" && cmake -S . -B "$where" -G Ninja "$@") && cmake --build "$where" -j "$jobs"
}

compiler() { # NAME OPTIONS...
    local name=$1
    shift
    build "$folder/b-$name" "$source" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 -DTRACELOOM_WERROR=ON \
        -DCMAKE_C_COMPILER="$name" "$@"
}

# tests FOLDER LABELS
tests() {
    ctest --test-dir "$1" -j "$jobs" --output-on-failure -L "$2"
}

# A build by gcc whose tests run in another environment: elsewhere SETTINGS LABELS COMMAND...
elsewhere() {
    local settings=$1 labels=$2
    shift 2
    compiler gcc -DTL_TEST_SETTINGS="$settings" && "$@" ctest --test-dir "$folder/b-gcc" -j "$jobs" --output-on-failure -L "$labels"
}

# A locale in UTF-8 and in 8 bits, made here: locale LANGUAGE CHARSET
locale() {
    mkdir -p "$folder/locales"
    localedef -i "$1" -f UTF-8 "$folder/locales/$1.UTF-8" && localedef -i "$1" -f "$2" "$folder/locales/$1.$2" || return 1
    export LOCPATH=$folder/locales TL_LOCALE_UTF8=$1.UTF-8 TL_LOCALE_8BIT=$1.$2
}

usual="LC_ALL=C.UTF-8;TZ=UTC"

row() {
    case $1 in
    gcc | clang-14 | clang-19) compiler "$1" -DTL_TEST_SETTINGS="$usual" && tests "$folder/b-$1" '^(unit|golden)$' ;;
    # AddressSanitizer and UndefinedBehaviorSanitizer of clang find other things than those of gcc.
    clang-sanitizers) build "$folder/b-$1" "$source" --preset clang -DCMAKE_C_COMPILER=clang-19 &&
        tests "$folder/b-$1" '^(unit|golden)$' ;;
    i386) build "$folder/b-$1" "$source" --preset m32 && tests "$folder/b-$1" '^(unit|golden)$' ;;
    s390x | aarch64 | musl) build "$folder/b-$1" "$source" --preset "$1" && tests "$folder/b-$1" '^(unit|golden)$' ;;
    spaces)
        local copy="$folder/a source ä"
        rm -rf "$copy" && mkdir "$copy" && (cd "$source" && git ls-files -z | xargs -0 cp --parents -t "$copy") &&
            build "$copy/b ä" "$copy" --preset dev && tests "$copy/b ä" '^(unit|golden|cli|consumers)$'
        ;;
    german) locale de_DE ISO-8859-1 && elsewhere "LC_ALL=de_DE.UTF-8;TZ=America/St_Johns" '^(unit|golden|cli)$' env ;;
    turkish) locale tr_TR ISO-8859-9 && elsewhere "LC_ALL=tr_TR.UTF-8;TZ=Asia/Kolkata" '^(unit|golden|cli)$' env ;;
    no-home) elsewhere "$usual" '^(unit|golden|cli)$' env -u HOME -u XDG_CACHE_HOME -u TMPDIR ;;
    closed-home) elsewhere "$usual" '^(unit|golden|cli)$' env -u XDG_CACHE_HOME HOME=/proc/1 ;;
    # Unit tests and scripts work in that folder themselves.
    no-temporary) elsewhere "$usual" '^golden$' env TMPDIR=/proc/1 ;;
    umask-*) (umask "${1#umask-}" && elsewhere "$usual" '^(unit|golden|cli)$' env) ;;
    *) echo "no row $1; there are: ${rows[*]}" && return 2 ;;
    esac
}

status=0
table=$folder/table.txt
printf '%-18s %8s %8s %9s %8s  %s\n' row seconds tests failed skipped result | tee "$table"
for name in "${rows[@]}"; do
    log=$folder/$name.log
    begin=$SECONDS
    if (row "$name") >"$log" 2>&1; then result=ok; else
        result=failed
        status=1
    fi
    said=$(grep -E '^[0-9]+% tests passed, ' "$log" | tail -n 1)
    skipped=$(grep -c '\*\*\*Skipped' "$log")
    [ -n "$said" ] || result="not built or not run: $(grep -m 1 -E 'error|Error' "$log" | cut -c 1-100)"
    printf '%-18s %8d %8s %9s %8d  %s\n' "$name" $((SECONDS - begin)) \
        "$(sed -n 's/.* out of //p' <<<"$said")" "$(sed -n 's/.*passed, \([0-9]*\) tests.*/\1/p' <<<"$said")" "$skipped" "$result" |
        tee -a "$table"
    grep -E '^[[:space:]]+[0-9]+ - .*\((Failed|Timeout|SEGFAULT|Subprocess aborted|Not Run)' "$log" | head -n 10 | tee -a "$table"
done
exit "$status"
