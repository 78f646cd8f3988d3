#!/usr/bin/env bash
# Help fits the screen and names every verb; the man pages and completions in docs/ are those of the table.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
docs=$root/docs

expect 0 "$tl"
[ "$(wc -l <out)" -le 16 ] || fail "the overview has $(wc -l <out) lines"
cp out overview
expect 0 "$tl" --help
cmp out overview || fail "--help differs from no words at all"
expect 0 "$tl" --version
says out "traceloom "

for verb in info check report convert record ctl help; do
    says overview "$verb"
    expect 0 "$tl" $verb --help
    [ "$(wc -l <out)" -le 30 ] || fail "$verb --help has $(wc -l <out) lines"
    awk 'length($0) > 80 { exit 1 }' out || fail "$verb --help is wider than 80 columns"
    expect 0 "$tl" help $verb # no terminal: the short help
    [ -s out ] || fail "help $verb says nothing"
    expect 0 "$tl" help --man $verb
    cmp out "$docs/man/traceloom-$verb.1" || fail "docs/man/traceloom-$verb.1 is old: traceloom help --man $verb"
done
expect 0 "$tl" help --man traceloom
cmp out "$docs/man/traceloom.1" || fail "docs/man/traceloom.1 is old: traceloom help --man traceloom"
expect 0 "$tl" help --completion bash
cmp out "$docs/completion/traceloom.bash" || fail "docs/completion/traceloom.bash is old"
expect 0 "$tl" help --completion zsh
cmp out "$docs/completion/_traceloom" || fail "docs/completion/_traceloom is old"
expect 0 "$tl" help --completion fish
cmp out "$docs/completion/traceloom.fish" || fail "docs/completion/traceloom.fish is old"
expect 0 "$tl" help formats
[ "$(wc -l <out)" -gt 2 ] || fail "no formats"

if command -v mandoc >/dev/null; then
    mandoc -Tlint -W warning "$docs"/man/*.1 >lint || fail "mandoc: $(head -3 lint)"
fi
exit $failed
