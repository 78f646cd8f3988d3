#!/bin/bash
# Does llvm-xray read traceloom's FDR and basic files, and see the same events?
#
#     llvm_xray.sh TRACELOOM TRACE [EXE]
#
# Converts the trace to FDR versions 2 to 5 (and 1 if llvm-xray can follow) and to basic versions 1 to 3, loads each with
# llvm-xray, and compares the number of events of each kind, function and thread with traceloom's.
# Exit status: 0 the same, 1 different, 77 llvm-xray is missing or cannot read such a trace at all.
set -eu
traceloom=$1 trace=$2 exe=${3:-}

xray=$(command -v llvm-xray-19 || command -v llvm-xray || true)
if [ -z "$xray" ]; then
    echo "skipped: no llvm-xray"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Lines "kind function thread", sorted, of the function events of a trace as traceloom prints it, and of the others "kind".
# (A damaged trace gives status 3; its readable part counts.)
expected() {
    "$traceloom" convert --to jsonl -o - "$1" 2>"$work/messages" || [ $? = 3 ]
}
as_lines='s/^.*"class":"xray\.([a-z_]+)","track":"thread (-?[0-9]+)".*"fields":\{"function":.*"id":(-?[0-9]+).*$/\1 \3 \2/
          s/^.*"class":"xray\.(custom|typed)".*$/\1/'
yaml_lines='/^  - \{ type:/!d
            s/^.*func-id: (-?[0-9]+),.* thread: ([0-9]+),.* kind: ([a-z-]+),.*$/\3 \1 \2/
            s/^function-enter-arg/enter_args/; s/^function-enter/enter/; s/^function-exit/exit/
            s/^function-tail-exit/tail_exit/; s/^custom-event.*/custom/; s/^typed-event.*/typed/'

expected "$trace" | sed -E "$as_lines" | LC_ALL=C sort >"$work/trace"
total=$(wc -l <"$work/trace")
info=$("$traceloom" info --json "$trace" 2>/dev/null | sed -n -E 's/^.*"events":([0-9]+),"classes".*$/\1/p' || true)
if [ -z "$info" ]; then
    echo "traceloom cannot read the trace: $(head -1 "$work/messages")"
    exit 1
fi
if [ "$total" != "$info" ]; then
    echo "traceloom info counts $info events, convert writes $total"
    exit 1
fi
if [ "$total" = 0 ]; then
    echo "skipped: llvm-xray takes a trace without events for an error"
    exit 77
fi

# Traces that llvm-xray rejects, whoever wrote them.
empty=$("$traceloom" convert --to jsonl -o - "$trace" 2>/dev/null | grep -c '"data":""' || true)
payloads=$(grep -c -x -E 'custom|typed' "$work/trace" || true)

failed=0 compared=0
compare() { # FORMAT VERSION FILTER
    local out="$work/$1-$2.xray" name="$1 version $2"
    "$traceloom" convert --to "$1" --format-version "$2" -o "$out" "$trace" 2>"$work/messages" || true
    [ -e "$out" ] || { cat "$work/messages"; echo "$name: not written"; failed=1; return; }
    if ! "$xray" convert -f yaml -o "$work/yaml" "$out" 2>"$work/messages"; then
        echo "$name: llvm-xray: $(head -1 "$work/messages")"
        failed=1
        return
    fi
    LC_ALL=C sed -E "$yaml_lines" "$work/yaml" | LC_ALL=C sort >"$work/seen"
    sed -E "$3" "$work/trace" | LC_ALL=C sort >"$work/want"
    if ! cmp -s "$work/want" "$work/seen"; then
        echo "$name: llvm-xray sees other events:"
        diff "$work/want" "$work/seen" | head -20
        failed=1
    fi
    compared=$((compared + 1))
}

if [ "$empty" -gt 0 ]; then
    echo "not compared: llvm-xray cannot read events without data, of which there are $empty"
else
    for version in 2 3 4 5; do
        compare xray-fdr $version ''
    done
fi
# llvm-xray takes the unused end of a version 1 slot for functions numbered 0, and loses its way after uneven payloads.
if [ "$payloads" -eq 0 ]; then
    yaml_lines="$yaml_lines; /^enter 0 /d"
    compare xray-fdr 1 '/^enter 0 /d'
fi
if [ "$payloads" -lt "$total" ]; then
    compare xray-basic 3 '/^(custom|typed)$/d'
    compare xray-basic 2 '/^(custom|typed)$/d'
    compare xray-basic 1 '/^(custom|typed)$/d; s/^tail_exit/exit/'
fi

# With the binary, names appear, too.
if [ -n "$exe" ] && [ -e "$work/xray-fdr-5.xray" ] && [ "$failed" = 0 ] &&
    "$xray" convert -f yaml -y -m "$exe" -o "$work/yaml" "$work/xray-fdr-5.xray" 2>"$work/messages"; then
    grep -a -o "function: [A-Za-z_][A-Za-z_0-9]*," "$work/yaml" | sed 's/function: //; s/,//' | sort -u >"$work/seen"
    "$traceloom" convert --to jsonl -e "$exe" -o - "$trace" 2>/dev/null |
        sed -n -E 's/^.*"function":"([A-Za-z_][A-Za-z_0-9]*)".*$/\1/p' | sort -u >"$work/want"
    if [ -n "$(comm -13 "$work/want" "$work/seen")" ]; then
        echo "names that only llvm-xray found: $(comm -13 "$work/want" "$work/seen" | head -5 | tr '\n' ' ')"
        failed=1
    fi
fi
if [ "$failed" = 0 ] && [ "$compared" = 0 ]; then
    echo "skipped: nothing in this trace that llvm-xray can read"
    exit 77
fi
echo "$compared files compared, $total events each at most"
exit $failed
