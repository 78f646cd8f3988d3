#!/usr/bin/env bash
# Makes the release tarball of the committed files: dist.sh [FOLDER], build-dist by default.
# Its bytes depend on the commit alone: not on the machine, the day, the folder, the umask, or anybody's settings of git.
set -euo pipefail
umask 022
from=$PWD
cd "$(dirname "$0")/.."
folder=${1:-$PWD/build-dist}
[[ $folder == /* ]] || folder=$from/$folder

# The top of a checkout, not a folder inside another one.
if ! command -v git >/dev/null || [ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" != "" ]; then
    echo "dist: a tarball is made of the last commit, and this folder is not a checkout of git" >&2
    exit 1
fi
version=$(git show HEAD:CMakeLists.txt | sed -n 's/^project(traceloom VERSION \([0-9.]*\).*/\1/p')
if [ -z "$version" ]; then
    echo "dist: CMakeLists.txt has no line \"project(traceloom VERSION ...\"" >&2
    exit 1
fi
if [ -n "$(git status --porcelain)" ]; then
    echo "dist: there are changes that are not committed; the tarball is without them" >&2
fi

# Owner, order and modes are git's, the time is the commit's; gzip must store none of its own.
name=traceloom-$version
mkdir -p "$folder"
GIT_ATTR_NOSYSTEM=1 git -c tar.umask=0022 -c core.autocrlf=false -c core.eol=lf -c core.attributesFile=/dev/null \
    archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$folder/.$name.tar.gz"
mv "$folder/.$name.tar.gz" "$folder/$name.tar.gz"
(cd "$folder" && sha256sum "$name.tar.gz")
