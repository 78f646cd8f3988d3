#!/usr/bin/env bash
# Builds packages of the committed sources with only the packages that debian/control requires, twice and in different
# surroundings, and uses them on an empty system: package_test.sh [FOLDER], as root; build-package by default. FOLDER keeps
# the packages, the output, and base, the root that all others are copies of. Roots are of this machine's release, from
# the sources of its apt.
set -euo pipefail
umask 022
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(realpath -m "${1:-$top/build-package}")
log=$work/log

if [ "$(id -u)" -ne 0 ]; then
    echo "package-test: must be run as root, for it makes roots with debootstrap and changes into them" >&2
    exit 1
fi

step() {
    printf '%4d s  %s\n' "$SECONDS" "$*"
    printf '\n== %s\n' "$*" >>"$log"
}

ended() {
    [ "$1" -eq 0 ] && return
    tail -n 40 "$log"
    echo "package-test: failed; all of what was printed is in $log"
}
trap 'ended $? >&2' EXIT

# Lines of sources.list for this release, as in this apt, but without keys: the base has those of its release.
places() {
    local release
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        sed -nE 's/^(Debian|Ubuntu) //p' | awk -v release="$release" 'index($3, release) == 1' | sort -u
}

make_base() {
    local place uri release
    place=$(places | awk 'length($3) < length(best) || !best { best = $3; line = $0 } END { print line }')
    if [ -z "$place" ]; then
        echo "package-test: apt knows no place to get this release from; apt-get update may help" >&2
        exit 1
    fi
    read -r _ uri release _ <<<"$place"
    rm -rf "$work/base.part"
    debootstrap --variant=minbase --include=ca-certificates "$release" "$work/base.part" "$uri" >>"$log" 2>&1
    places >"$work/base.part/etc/apt/sources.list"
    # Network settings: proxies and the like.
    apt-config dump | grep -E '^Acquire::(http|https|ftp)::' >"$work/base.part/etc/apt/apt.conf.d/90places" || true
    mv "$work/base.part" "$work/base"
}

# new_root NAME: a copy of the base, with the packed sources and an ordinary user
new_root() {
    rm -rf "${work:?}/$1"
    cp -a "$work/base" "$work/$1"
    cp /etc/resolv.conf "$work/$1/etc/resolv.conf"
    within "$1" root useradd --create-home --home-dir /srv/stranger stranger
    install -d -o 1000 -g 1000 "$work/$1/srv/stranger/first"
    cp "$tarball" "$work/$1/srv/stranger/first/"
    within "$1" root apt-get update -qq
}

# within ROOT USER COMMAND...: with its own processes, which end with the command; only root has a network beyond loopback,
# without which mpicc complains among its answers
within() {
    local root=$work/$1 user=$2 spaces=(--mount --pid --fork --kill-child)
    shift 2
    [ "$user" = root ] || spaces+=(--net)
    # shellcheck disable=SC2016
    unshare "${spaces[@]}" bash -c 'ip link set lo up && mount -t proc proc "$1/proc" && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" && shift && exec "$@"' \
        - "$root" chroot --userspec="$user" "$root" env -i HOME="$([ "$user" = root ] && echo /tmp || echo /srv/stranger)" \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive ${http_proxy:+"http_proxy=$http_proxy"} \
        ${https_proxy:+"https_proxy=$https_proxy"} "$@" >>"$log" 2>&1 </dev/null
}

# build ROOT FOLDER COMMAND-PREFIX...: source and binary packages below /srv/stranger/FOLDER
build() {
    local root=$1 folder=/srv/stranger/$2
    shift 2
    # shellcheck disable=SC2016
    within "$root" stranger "$@" bash -euc 'cd "$1"; mv "$2.tar.gz" "${2/-/_}.orig.tar.gz"; tar -xpzf "${2/-/_}.orig.tar.gz"
        cd "$2"; exec dpkg-buildpackage -us -uc' - "$folder" "$name"
}

build_once() {
    new_root build
    within build root apt-get install -y -qq --no-install-recommends build-essential
    # shellcheck disable=SC2016
    within build root bash -euc 'cd /tmp; tar -xzf "$1"; cd "$2"; apt-get build-dep -y -qq --no-install-recommends ./' \
        - "/srv/stranger/first/$name.tar.gz" "$name"
    step "build them, and run their tests"
    build build first
    rm -rf "$work/packages"
    mkdir "$work/packages"
    cp "$work"/build/srv/stranger/first/*.{deb,dsc,changes,buildinfo,orig.tar.gz,debian.tar.xz} "$work/packages/"
}

build_again() {
    local home=$work/build/srv/stranger file different=()
    within build stranger mkdir -p /srv/stranger/other/place
    within build stranger cp "/srv/stranger/first/${name/-/_}.orig.tar.gz" "/srv/stranger/other/place/$name.tar.gz"
    # shellcheck disable=SC2016
    build build other/place env DEB_BUILD_OPTIONS="nocheck parallel=1" TZ=Pacific/Kiritimati LC_ALL=C bash -c 'umask 027; exec "$@"' -
    for file in "$work"/packages/*.{deb,dsc,debian.tar.xz}; do
        cmp "$file" "$home/other/place/$(basename "$file")" >>"$log" 2>&1 || different+=("$(basename "$file")")
    done
    if [ ${#different[@]} -gt 0 ]; then
        echo "package-test: built twice, these differ: ${different[*]}" >&2
        exit 1
    fi
}

use() {
    local ours test needs
    new_root use
    step "install the command alone"
    cp "$work"/packages/*.deb "$work/use/tmp/"
    rm "$work"/use/tmp/*-dbgsym_*.deb
    within use root bash -euc 'apt-get install -y -qq --no-install-recommends /tmp/traceloom_*.deb'
    within use stranger traceloom --version
    step "install all packages"
    within use root bash -euc 'apt-get install -y -qq /tmp/*.deb'
    within use stranger tar -C /srv/stranger -xzf "/srv/stranger/first/$name.tar.gz"
    while IFS='|' read -r test needs; do
        step "run debian/tests/$test"
        within use root apt-get satisfy -y -qq --no-install-recommends "$needs"
        # shellcheck disable=SC2016
        within use stranger bash -euc 'export AUTOPKGTEST_TMP=$(mktemp -d); cd "/srv/stranger/$1"; debian/tests/"$2"' - "$name" "$test"
    done < <(tests)
    step "remove them"
    # shellcheck disable=SC2016
    ours=$(chroot "$work/use" dpkg-query -W -f='${Package} ${Source}\n' | awk '$1 == "traceloom" || $2 == "traceloom" { print $1 }')
    # shellcheck disable=SC2086
    within use root apt-get purge -y -qq $ours
    find "$work/use" -xdev \( -path "*/srv/stranger" -o -path '*/tmp' -o -path '*/var/log' -o -path '*/var/cache/apt' \) -prune -o -name '*traceloom*' -print |
        tee -a "$log" >"$work/left"
    if [ -s "$work/left" ]; then
        echo "package-test: left behind: $(tr '\n' ' ' <"$work/left")" >&2
        exit 1
    fi
}

# Name and dependencies of each test of debian/tests/control, one a line.
tests() {
    sed -e ':join' -e '$!{N;b join}' -e 's/\n  */ /g' "$top/debian/tests/control" |
        awk -F': *' '$1 == "Tests" { test = $2 } $1 == "Depends" { print test "|" $2 }'
}

mkdir -p "$work"
: >"$log"
step "make the tarball"
tarball=$work/$("$top/tools/dist.sh" "$work" 2>>"$log" | awk '{ print $2 }')
name=$(basename "$tarball" .tar.gz)
if [ ! -d "$work/base" ]; then
    step "make a base for clean roots"
    make_base
fi
step "install what debian/control asks for"
build_once
step "ask lintian"
# A first version closes the request for packaging only when it is uploaded to Debian.
lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$work"/packages/*.changes >>"$log" 2>&1
use
step "build them again: another folder, umask, time zone, language and number of jobs, and without tests"
build_again
step "try the tarball: make demo"
new_root tarball
within tarball root apt-get install -y -qq --no-install-recommends make
# shellcheck disable=SC2016
within tarball root bash -euc 'cd /tmp; tar -xzf "$1"; cd "$2"; make demo' - "/srv/stranger/first/$name.tar.gz" "$name"
rm -rf "$work/build" "$work/use" "$work/tarball"
step "all is well. The packages, in bytes:"
(cd "$work/packages" && stat -c '%11s  %n' -- *.deb)
