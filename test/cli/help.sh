#!/usr/bin/env bash
# Help fits the screen and names every verb; the man pages and completions in docs/ are generated from the table.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
docs=$root/docs

expect 0 "$tl"
[ "$(wc -l <out)" -le 18 ] || fail "the overview has $(wc -l <out) lines"
cp out overview
expect 0 "$tl" --help
cmp out overview || fail "--help differs from no words at all"
expect 0 "$tl" --version
says out "traceloom "
for word in libraries formats recorder compiler; do
    says out "$word "
done
expect 0 "$tl" --version --json
formats=$(grep -c '^TL_FORMAT' "$root/src/formats.def") # of a build that has all
python3 -c '
import json, sys
v = json.load(open("out"))
assert list(v) == ["schema", "version", "libraries", "formats", "without", "recorder", "compiler"], list(v)
assert v["formats"] and not set(v["formats"]) & set(v["without"]), v
assert len(v["formats"]) + len(v["without"]) == int(sys.argv[1]) and v["recorder"] in (True, False), v' "$formats" || fail "--version --json"
expect 2 "$tl" --version --jsno
says err "takes no other arguments than --json"

for verb in info check report diff convert cat query serve record ctl help; do
    [ $verb = cat ] || [ $verb = diff ] || says overview "  $verb "
    expect 0 "$tl" $verb --help
    most=30
    [ $verb = report ] || [ $verb = diff ] && most=46 # with the lists of its tables, and of the options of comparisons
    [ $verb = query ] && most=34
    [ $verb = record ] && most=41 # functions, instructions and .NET
    [ "$(wc -l <out)" -le $most ] || fail "$verb --help has $(wc -l <out) lines"
    awk 'length($0) > 80 { exit 1 }' out || fail "$verb --help is wider than 80 columns"
    expect 0 "$tl" help $verb # no terminal: the short help
    [ -s out ] || fail "help $verb says nothing"
    expect 0 "$tl" help --man $verb
    cmp out "$docs/man/traceloom-$verb.1" || fail "docs/man/traceloom-$verb.1 is old: traceloom help --man $verb"
done
expect 0 "$tl" report --help
sed -n 's/^TL_TABLE(\(.*\))/\1/p' "$root/src/tables.def" | while read -r table; do
    grep -q "^          \(.*: \| *\)\(.* \)\?$table\( \|\$\)" out || echo "$table"
done >unlisted
is_empty unlisted
expect 2 "$tl" help --man nosuchpage
says err "expected traceloom, formats, schema, tables, or the name of a verb"
expect 2 "$tl" help reprot
says err "did you mean report?"
expect 0 "$tl" help --man formats
"$tl" help formats | grep -c . >lines
if [ "$(($(cat lines) - 1))" -eq "$formats" ]; then # in builds without some the page is shorter
    cmp out "$docs/man/traceloom-formats.5" || fail "docs/man/traceloom-formats.5 is old: traceloom help --man formats"
fi
# The page has more about each format than a line of summary.
"$tl" help formats | tail -n +2 | while read -r format _; do
    sed -n "/^\\.It Cm $format\$/,/^\\.\\(It\\|El\\)/p" out | grep -q '^\.Pp' || echo "$format"
done >bare
is_empty bare
expect 0 "$tl" help --man tables
cmp out "$docs/man/traceloom-tables.5" || fail "docs/man/traceloom-tables.5 is old: traceloom help --man tables"
expect 0 "$tl" help --tables markdown
cmp out "$docs/tables.md" || fail "docs/tables.md is old: traceloom help --tables markdown"
expect 0 "$tl" help --man schema
cmp out "$docs/man/traceloom-schema.5" || fail "docs/man/traceloom-schema.5 is old: traceloom help --man schema"
expect 0 "$tl" help --schema markdown
cmp out "$docs/schema.md" || fail "docs/schema.md is old: traceloom help --schema markdown"
expect 0 "$tl" help tables
says out "callers"
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

# The example of libtraceloom(3) is a program.
sed -n '/^\.Bd -literal/,/^\.Ed/p' "$docs/man/libtraceloom.3" | sed '1d;$d;s/\\e/\\/g' >example.c
says example.c "int main"
if command -v cc >/dev/null; then
    cc -std=c17 -Wall -Wextra -Werror -I"$root/include" -c example.c -o example.o || fail "the example of libtraceloom(3)"
fi
# It names errors as the header does.
for code in $(grep -o 'TL_E[A-Z]* =' "$root/include/traceloom/error.h" | tr -d ' ='); do
    says "$docs/man/libtraceloom.3" "Dv $code"
done
# The functions and types that it names exist.
LC_ALL=C grep -ho 'tl_[a-z_]*' "$docs/man/libtraceloom.3" | sort -u | while read -r name; do
    grep -qrw "$name" "$root/include/traceloom" || echo "$name"
done >unknown
is_empty unknown

if command -v mandoc >/dev/null; then
    mandoc -Tlint -W warning "$docs"/man/*.[1-9] >lint || fail "mandoc: $(head -3 lint)"
fi
exit $failed
