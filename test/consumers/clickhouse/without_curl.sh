#!/usr/bin/env bash
# load and query --server in a build without libcurl: what needs no server works, the rest says why it does not.
# shellcheck disable=SC2154
. "$(dirname "$0")/../../cli/common.inc"

"$tl" load --print-ddl >out || fail "--print-ddl: status $?"
says out 'CREATE TABLE IF NOT EXISTS `traces`.`events_local`'
for words in "load --server http://h/d" "load --server http://h/d --verify" "load --server http://h/d --create --durable" \
    "load --server http://h1,h2/d --jobs 2" "load --server https://h/d --rollup"; do
    # shellcheck disable=SC2086
    expect 2 "$tl" $words "$trace" "$samples/tracelog-doc.log"
    says err "this build cannot reach servers: it was made without libcurl"
    [ "$(wc -l <err)" -eq 1 ] || fail "$words: more than one message: $(cat err)"
done
expect 2 "$tl" load --server http://h/d --rollup
says err "this build cannot reach servers: it was made without libcurl"
expect 2 "$tl" query --server http://h/d 'SELECT 1'
says err "this build cannot reach servers: it was made without libcurl"
# Mistakes of the address are found all the same.
expect 2 "$tl" load --server ftp://h/d "$trace"
says err "the address begins with neither http:// nor https://"
exit "$failed"
