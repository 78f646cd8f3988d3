#!/usr/bin/env bash
# Folders of profiles: which files are read, in which order, what cannot be read, other clocks, other builds.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

mkdir -p fleet/b/c fleet/.hidden
for n in 1 2 3; do
    expect 0 "$tl" report "$trace" -o fleet/p$n.tlp -q
done
expect 0 "$tl" report "$trace" -o fleet/b/a.tlp -q
expect 0 "$tl" report "$trace" -o fleet/b/c/p.tlp.gz -q
cp fleet/p1.tlp fleet/.hidden/p.tlp
cp fleet/p1.tlp fleet/.p.tlp
cp fleet/p1.tlp fleet/a-profile-by-content
cp "$trace" fleet/events.xray
echo text >fleet/README
mkfifo fleet/pipe.tlp
ln -s ../fleet fleet/b/loop
ln -s p1.tlp fleet/q.tlp
ln -s nowhere fleet/r.tlp

# The same bytes as with the files named, in the order of names, with any number of threads.
named="fleet/a-profile-by-content fleet/b/a.tlp fleet/b/c/p.tlp.gz fleet/p1.tlp fleet/p2.tlp fleet/p3.tlp fleet/q.tlp"
# shellcheck disable=SC2086
expect 0 "$tl" report $named -o named.tlp
for threads in 1 2 7; do
    expect 0 "$tl" report fleet --threads $threads -o all.tlp -f
    cmp named.tlp all.tlp || fail "a folder gives other bytes than its files ($threads threads)"
done
expect 0 "$tl" report fleet/ -v -o all.tlp -f
grep -o '^fleet/[^:]*' err | uniq >order
# shellcheck disable=SC2086
printf '%s\n' $named | cmp - order || fail "order: $(cat order)"
expect 0 "$tl" report fleet
says out "7 files, 1,162 calls"

# Functions without names are those of the same number, whatever program they are from: said once, with how many.
"$tl" report fleet --by func --to csv 2>/dev/null >functions
unnamed=$(grep -c '^[0-9]*,,' functions)
[ "$unnamed" -gt 1 ] || fail "no functions without names to try"
says err "traceloom: $unnamed functions without names are added up by number, even from different programs"
[ "$(grep -c 'added up by number' err)" -eq 1 ] || fail "said more than once"
expect 0 "$tl" report fleet -q
is_empty err
expect 0 "$tl" report fleet/p1.tlp
says_not err "added up by number"
expect 0 "$tl" report "$trace" -e "$binary" -o one.tlp
mkdir named
cp one.tlp named/a.tlp
cp one.tlp named/b.tlp
expect 0 "$tl" report named
says_not err "added up by number"
rm -r named one.tlp
expect 0 "$tl" report fleet
# shellcheck disable=SC2086
"$tl" report $named >by-name 2>/dev/null
cmp out by-name || fail "another table"
expect 0 "$tl" report fleet --to html -o all.html

# Some of them, and files of other kinds.
expect 0 "$tl" report fleet --glob 'p[12].tlp' -o two.tlp
expect 0 "$tl" report fleet/p1.tlp fleet/p2.tlp -o named2.tlp
cmp two.tlp named2.tlp || fail "--glob took other files"
expect 0 "$tl" report fleet --glob '*.xray' -o one.tlp
cmp one.tlp fleet/p1.tlp || fail "--glob did not read events"
expect 0 "$tl" report "$trace" fleet fleet/p1.tlp -o mixed.tlp
# shellcheck disable=SC2086
# shellcheck disable=SC2086
expect 0 "$tl" report $named "$trace" fleet/p1.tlp -o mixed2.tlp
cmp mixed.tlp mixed2.tlp || fail "files beside a folder"
expect 3 "$tl" report fleet --glob '*.none'
says err "fleet: no file in this folder matches --glob *.none"
expect 2 "$tl" report fleet/p1.tlp --glob '*'
says err "--glob chooses files of a folder"
expect 2 "$tl" report fleet --glob '*' --by gc
expect 2 "$tl" report fleet --clock ns --by gc
expect 2 "$tl" report --diff fleet fleet --clock ns
mkdir empty
expect 3 "$tl" report empty
says err "empty: no recognised trace in this folder, and no profiles"

# The output is no input.
expect 0 "$tl" report fleet -o fleet/all.tlp -f
expect 0 "$tl" report fleet -o fleet/all.tlp -f
cmp named.tlp fleet/all.tlp || fail "the output was added"
says err "fleet/all.tlp: is the output, and not one of the inputs"
rm fleet/all.tlp

# What cannot be read is named and counted, and the rest is there.
head -c 100 fleet/p1.tlp >fleet/b/cut.tlp
head -c 0 fleet/p1.tlp >fleet/b/none.tlp
expect 3 "$tl" report fleet -o all.tlp -f
cmp named.tlp all.tlp || fail "damaged files changed the sums"
says err "fleet/b/cut.tlp: byte 100: tlp: tlp.truncated"
says err "fleet/b/none.tlp: "
says err "2 of 9 files could not be read, and are left out"
expect 3 "$tl" report fleet -o all.tlp -f --threads 1
cmp named.tlp all.tlp || fail "damaged files changed the sums (1 thread)"
rm all.tlp
expect 3 "$tl" report fleet -o all.tlp --strict
[ ! -e all.tlp ] || fail "--strict wrote an output"
says_not err "b/none.tlp"
expect 3 "$tl" report fleet/b/cut.tlp fleet/p1.tlp -o all.tlp
[ ! -e all.tlp ] || fail "a file that was named was left out"
mkdir bad
cp fleet/b/cut.tlp bad
expect 3 "$tl" report bad
says err "1 of 1 files could not be read"
is_empty out
rm fleet/b/cut.tlp fleet/b/none.tlp

# Sixteen folders in each other, and no more: that one is passed over.
deep=fleet
for n in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do deep=$deep/d$n; done
mkdir -p "$deep"
cp fleet/p1.tlp "$deep"
# shellcheck disable=SC2086
"$tl" report $named fleet/p1.tlp -o eight.tlp -q
expect 0 "$tl" report fleet -o all.tlp -f
cmp eight.tlp all.tlp || fail "16 folders in each other"
mkdir "$deep/d17"
expect 0 "$tl" report "$trace" --depth 1 -o fleet/z.tlp
# shellcheck disable=SC2086
"$tl" report $named fleet/p1.tlp fleet/z.tlp -o nine.tlp -q
for threads in 1 2 7; do # whoever reads ahead must not be one file off after what could not be listed
    expect 3 "$tl" report fleet -o all.tlp -f --threads $threads
    cmp nine.tlp all.tlp || fail "17 folders in each other ($threads threads)"
    says err "more than 16 folders in each other"
done
rm fleet/z.tlp
rm -r fleet/d2

# Clocks that differ.
cp "$trace" other.xray
printf '\000\136\320\262' | dd of=other.xray bs=1 seek=8 conv=notrunc status=none # 3 GHz
expect 0 "$tl" report other.xray -o fleet/b/other.tlp
expect 2 "$tl" report fleet -o all.tlp -f
says err "profiles of different clocks cannot be added up: tsc at 2000000000 Hz and tsc at 3000000000 Hz"
says err "; with --clock ns they can"
expect 0 "$tl" report fleet --clock ns -o all.tlp -f
expect 0 "$tl" info all.tlp
says out "rescaled, 1 GHz"
expect 0 "$tl" report all.tlp --clock ns -o again.tlp
cmp all.tlp again.tlp || fail "rescaled twice is not the same as once"
expect 2 "$tl" report "$samples/fdr-v5-le-no-clock.xray" --clock ns
says err "the frequency of the profile's clock is not known"

# Builds.
expect 0 "$tl" report fleet --clock ns --by name -o names.tlp
says out "files"
expect 0 "$tl" report names.tlp --by name --clock ns -o names2.tlp -q
cmp names.tlp names2.tlp || fail "--by name twice is not the same as once"
exit $failed
