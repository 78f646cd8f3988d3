#!/usr/bin/env bash
# The completion of bash does what it should; those of the other shells are at least read without complaint.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
mkdir bin && ln -s "$tl" bin/traceloom
PATH=$work/bin:$PATH
"$tl" help --completion bash >completion.bash
# shellcheck disable=SC1091
. ./completion.bash

complete_words() { # words..., the last one is being typed
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _traceloom
    echo "${COMPREPLY[*]}"
}
is() {
    [ "$1" = "$2" ] || fail "completed \"$1\" instead of \"$2\""
}
is "$(complete_words traceloom rep)" report
is "$(complete_words traceloom report --per)" --per-thread
is "$(complete_words traceloom info --so)" ""
is "$(complete_words traceloom report --by tr)" tree
is "$(complete_words traceloom report --by = tr)" tree
is "$(complete_words traceloom convert --to jso)" jsonl
is "$(complete_words traceloom help con)" convert
is "$(complete_words traceloom info compl)" completion.bash
is "$(complete_words traceloom convert -o compl)" completion.bash

for shell in zsh fish; do
    "$tl" help --completion $shell >completion.$shell
    if command -v $shell >/dev/null; then
        $shell -n completion.$shell || fail "$shell does not read its completion"
    fi
done
if command -v fish >/dev/null; then
    HOME=$work fish -c 'source completion.fish; complete -C "traceloom report --per"' >reply 2>&1
    says reply --per-thread
    HOME=$work fish -c 'source completion.fish; complete -C "traceloom convert --to jso"' >reply 2>&1
    says reply jsonl
fi
exit $failed
