#!/usr/bin/env bash
# Builds the Debian packages of the committed files: deb.sh [FOLDER], build-deb by default.
# The source package is made of the release tarball, and built from what is unpacked of it, so that nothing but the
# tarball goes into the packages.
set -euo pipefail
umask 022
from=$PWD
cd "$(dirname "$0")/.."
folder=${1:-$PWD/build-deb}
[[ $folder == /* ]] || folder=$from/$folder

rm -rf "$folder"
tools/dist.sh "$folder" >/dev/null
tarball=$(cd "$folder" && echo traceloom-*.tar.gz)
name=${tarball%.tar.gz}
mv "$folder/$tarball" "$folder/traceloom_${name#traceloom-}.orig.tar.gz"
tar -C "$folder" -xzf "$folder/traceloom_${name#traceloom-}.orig.tar.gz"
log=$folder/build.log
echo "building the packages, some minutes; log: $log"
if ! (cd "$folder/$name" && dpkg-buildpackage -us -uc) >"$log" 2>&1; then
    tail -n 20 "$log"
    echo "deb: dpkg-buildpackage failed; the end of its log is above, all of it in $log" >&2
    exit 1
fi
rm -rf "${folder:?}/$name"
(cd "$folder" && du -h -- *.deb)
echo "next: sudo apt install $folder/traceloom_*.deb; libtraceloom-dev has the library, libtraceloom-rt-dev the recorder"
