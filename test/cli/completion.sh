#!/usr/bin/env bash
# The completion for bash works; those for the other shells are at least read without errors.
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
is "$(complete_words traceloom report --per-)" --per-thread
is "$(complete_words traceloom info --so)" ""
is "$(complete_words traceloom report --by his)" hist
is "$(complete_words traceloom report --by = his)" hist
is "$(complete_words traceloom convert --to jso)" jsonl
is "$(complete_words traceloom help con)" convert
is "$(complete_words traceloom info compl)" completion.bash
is "$(complete_words traceloom convert -o compl)" completion.bash
is "$(complete_words traceloom report --weight al)" allocations
is "$(complete_words traceloom record -m pro)" profile
is "$(complete_words traceloom ctl $$ sta)" "status start"
case " $(complete_words traceloom ctl $$) " in *" $$ "*) fail "ctl is offered a process without a recorder" ;; esac
is "$(complete_words traceloom report --to mark)" markdown # a view of tables
is "$(complete_words traceloom convert --to mark)" ""
is "$(complete_words traceloom info --to pp)" ""
is "$(complete_words traceloom report --to pp)" pprof
is "$(complete_words traceloom report --clock n)" ns # an option of other verbs, too
is "$(complete_words traceloom diff --clock = n)" ns
is "$(complete_words traceloom convert --clock de)" delta
is "$(complete_words traceloom cat --clock n)" ""
is "$(complete_words traceloom help form)" formats
touch "two words.xray"
complete_words traceloom info two >/dev/null
is "${#COMPREPLY[@]} ${COMPREPLY[0]}" "1 two words.xray"
# Everything that a verb accepts is offered.
"$tl" help --names options | while IFS=$'\t' read -r verb _ name _; do
    [ "$verb" = help ] || case " $(complete_words traceloom "$verb" --) " in
    *" --$name "*) ;;
    *) echo "$verb --$name" ;;
    esac
done >missing
is_empty missing

for shell in zsh fish; do
    "$tl" help --completion $shell >completion.$shell
    if command -v $shell >/dev/null; then
        $shell -n completion.$shell || fail "$shell does not read its completion"
    fi
done
if command -v zsh >/dev/null && command -v python3 >/dev/null; then
    mkdir zsh && cp completion.zsh zsh/_traceloom
    cat >type.py <<'END'
"""Types words and a tab into zsh; says what the line is then."""
import os, pty, re, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", HOME=os.getcwd())
    os.execvp("zsh", ["zsh", "-f", "-i"])

def until(pattern):
    text, end = "", time.time() + 60
    while not re.search(pattern, text):
        if not select.select([fd], [], [], max(0, end - time.time()))[0]:
            sys.exit("zsh does not answer: %r" % text)
        text += os.read(fd, 65536).decode(errors="replace")
    return text

os.write(fd, b"PS1='%%'; fpath=($PWD/zsh $fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep; echo re\"\"ady\n")
until("ready\r\n")
os.write(fd, sys.argv[1].encode() + b"\t")
until(re.escape(sys.argv[2]))
END
    while read -r typed completed; do
        python3 type.py "traceloom ${typed//_/ }" "$completed" || fail "zsh does not complete traceloom ${typed//_/ }"
    done <<'END'
rep traceloom report
report_--per-t --per-thread
report_--by_his --by hist
convert_--to_jso --to jsonl
END
fi
if command -v fish >/dev/null; then
    HOME=$work fish -c 'source completion.fish; complete -C "traceloom report --per-"' >reply 2>&1
    says reply --per-thread
    HOME=$work fish -c 'source completion.fish; complete -C "traceloom convert --to jso"' >reply 2>&1
    says reply jsonl
fi
exit $failed
