# Made by traceloom help --completion bash; do not edit.
_traceloom_files()
{
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

_traceloom()
{
    local cur prev options words=
    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "info check report diff convert cat query serve load record ctl help --help --version" -- "$cur"))
        return
    fi
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case "${COMP_WORDS[1]} $prev" in
    "record --slice-at")
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    "record --slice-insns")
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    "convert --clock" | "cat --clock")
        COMPREPLY=($(compgen -W "relative delta wall date" -- "$cur"))
        return ;;
    "report --clock" | "diff --clock")
        COMPREPLY=($(compgen -W "ns" -- "$cur"))
        return ;;
    "convert --slice-at" | "cat --slice-at")
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    "convert --slice-insns" | "cat --slice-insns"|-n)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    esac
    case $prev in
    --by)
        COMPREPLY=($(compgen -W "func name tree callers callees hist thread line module class state trace track damage loss property gc jit alloc heap cpu domain assembly netmodule type mix block branch page reuse cache syscall" -- "$cur"))
        return ;;
    --weight)
        COMPREPLY=($(compgen -W "samples time bytes allocations" -- "$cur"))
        return ;;
    --sort)
        COMPREPLY=($(compgen -W "self total calls min p50 p90 p99 max name" -- "$cur"))
        return ;;
    --top)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --interval)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --line-size)
        COMPREPLY=($(compgen -W "64 32 128" -- "$cur"))
        return ;;
    --sample)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --cache)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --predictor)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --fail-if)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --fail-when)
        COMPREPLY=($(compgen -W "interval estimate unclear" -- "$cur"))
        return ;;
    --noise)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --min-share)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --per)
        COMPREPLY=($(compgen -W "call run share" -- "$cur"))
        return ;;
    --map)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --query-file)
        _traceloom_files
        return ;;
    --recipe)
        COMPREPLY=($(compgen -W "$(traceloom help --names recipes)" -- "$cur"))
        return ;;
    --param|-p)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --export)
        _traceloom_files
        return ;;
    --rows-per-file)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --engine)
        COMPREPLY=($(compgen -W "sqlite duckdb" -- "$cur"))
        return ;;
    --jobs)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --rows)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --memory)
        COMPREPLY=($(compgen -W "256M 1G" -- "$cur"))
        return ;;
    --timeout)
        COMPREPLY=($(compgen -W "10s 1m" -- "$cur"))
        return ;;
    --server)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --user)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --table)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --cluster)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --port)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --socket)
        _traceloom_files
        return ;;
    --at)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --mode|-m)
        COMPREPLY=($(compgen -W "profile fdr ctf fdr,profile" -- "$cur"))
        return ;;
    --threshold)
        COMPREPLY=($(compgen -W "5us 1us 10us 100us 1ms" -- "$cur"))
        return ;;
    --ring)
        COMPREPLY=($(compgen -W "64M 1M 16M 256M 1G all" -- "$cur"))
        return ;;
    --limit)
        COMPREPLY=($(compgen -W "1G 100M 10G" -- "$cur"))
        return ;;
    --start)
        COMPREPLY=($(compgen -W "on off" -- "$cur"))
        return ;;
    --pid|-p)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --for)
        COMPREPLY=($(compgen -W "10s 1s 1m" -- "$cur"))
        return ;;
    --runs)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --turns)
        _traceloom_files
        return ;;
    --how)
        COMPREPLY=($(compgen -W "linked preload patch" -- "$cur"))
        return ;;
    --libs)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --min-size)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --snapshots)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --qemu-cpu)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --sysroot)
        _traceloom_files
        return ;;
    --jit)
        COMPREPLY=($(compgen -W "on all off" -- "$cur"))
        return ;;
    --sampling)
        COMPREPLY=($(compgen -W "cpu wall off" -- "$cur"))
        return ;;
    --period)
        COMPREPLY=($(compgen -W "4ms 1ms 10ms" -- "$cur"))
        return ;;
    --output|-o)
        _traceloom_files
        return ;;
    --to)
        COMPREPLY=($(compgen -W "$(traceloom help --names ${COMP_WORDS[1]})" -- "$cur"))
        return ;;
    --title)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --page-limit)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --text-style)
        COMPREPLY=($(compgen -W "plain babeltrace" -- "$cur"))
        return ;;
    --glob)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --split)
        COMPREPLY=($(compgen -W "track" -- "$cur"))
        return ;;
    --format-version)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --dialect)
        COMPREPLY=($(compgen -W "doc vs" -- "$cur"))
        return ;;
    --compress)
        COMPREPLY=($(compgen -W "gzip bzip2" -- "$cur"))
        return ;;
    --checksum)
        COMPREPLY=($(compgen -W "crc32 md5 sha1" -- "$cur"))
        return ;;
    --time)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --insns)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --el)
        COMPREPLY=($(compgen -W "0 1 2 3" -- "$cur"))
        return ;;
    --pc)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --thread|-t)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --cpu)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --func|-F)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --not|-N)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --depth|-D)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --min-dur)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --class)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --exe|-e)
        _traceloom_files
        return ;;
    --from)
        COMPREPLY=($(compgen -W "$(traceloom help --names read)" -- "$cur"))
        return ;;
    --threads)
        COMPREPLY=($(compgen -W "" -- "$cur"))
        return ;;
    --color)
        COMPREPLY=($(compgen -W "auto always never" -- "$cur"))
        return ;;
    esac
    case ${COMP_WORDS[1]} in
    info)
        options="--wide --count --at --json --output --force --to --thread --cpu --exe --from --strict --resync --threads --color --no-pager --quiet --verbose --help" ;;
    check)
        options="--json --exe --from --strict --resync --threads --color --quiet --verbose --help" ;;
    report|diff)
        options="--by --weight --sort --top --per-thread --no-fold --wide --interval --line-size --sample --cache --predictor --calls --diff --fail-if --fail-when --noise --min-share --per --map --one-run --json --output --force --to --title --page-limit --clock --glob --format-version --dialect --time --insns --el --pc --thread --cpu --func --not --depth --min-dur --class --exe --no-demangle --from --strict --resync --threads --color --no-pager --quiet --verbose --help" ;;
    convert|cat)
        options="--interval --output --force --to --text-style --clock --split --format-version --dialect --compress --checksum --time --insns --slice-at --slice-insns --el --pc --thread --cpu --func --not --depth --min-dur --class --exe --no-demangle --from --strict --resync --follow --threads --color --no-pager --quiet --verbose --help" ;;
    query)
        options="--query-file --recipe --param --recipes --schema --export --rows-per-file --explain --engine --each --jobs --rows --memory --timeout --server --user --json --output --force --to --time --thread --cpu --func --not --depth --min-dur --class --exe --no-demangle --from --strict --resync --threads --color --no-pager --quiet --verbose --help" ;;
    serve)
        options="--memory --timeout --port --socket --ipv6 --open --title --exe --no-demangle --from --strict --resync --threads --color --quiet --verbose --help" ;;
    load)
        options="--jobs --server --user --create --verify --table --print-ddl --durable --rollup --cluster --exe --from --strict --resync --threads --color --quiet --verbose --help" ;;
    record)
        options="--top --mode --threshold --ring --limit --start --pid --for --runs --turns --how --libs --min-size --exact --children --dry-run --insn --plain --hint --order --snapshots --slice-at --slice-insns --qemu-cpu --sysroot --mono --alloc --heap --lines --jit --classes --sampling --period --any --json --output --force --to --func --not --depth --color --quiet --verbose --help" ;;
    ctl)
        options="--json --color --quiet --verbose --help"
        ((COMP_CWORD == 2)) && words=$(traceloom help --names processes) || words="status start stop flush set" ;;
    help)
        COMPREPLY=($(compgen -W "info check report diff convert cat query serve load record ctl help formats" -- "$cur"))
        return ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    elif [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    else
        _traceloom_files
    fi
}
complete -o filenames -F _traceloom traceloom
