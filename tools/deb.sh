#!/usr/bin/env bash
# Builds the Debian packages of what is committed: deb.sh [FOLDER], build-deb by default.
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
(cd "$folder/$name" && dpkg-buildpackage -us -uc)
rm -rf "${folder:?}/$name"
ls -l "$folder"
