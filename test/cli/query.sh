#!/usr/bin/env bash
# query: where the SQL comes from, exit status, messages; what it prints for other programs.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
log=$samples/tracelog-doc.log

expect 0 "$tl" --version
if ! grep -q SQLite out; then
    expect 2 "$tl" query "$trace" 'SELECT 1'
    says err "this build has no SQL: it was made without SQLite"
    [ "$failed" -eq 0 ] || exit 1
    echo "skipped: this build has no SQL"
    exit 77
fi

# The SQL is the last word, a file, or standard input.
expect 0 "$tl" query "$trace" 'SELECT 1 AS one, 2 AS two' --to csv
printf 'one,two\r\n1,2\r\n' | cmp - out || fail "the last word: $(cat out)"
echo 'SELECT :n + 1 AS n' >one.sql
expect 0 "$tl" query "$trace" --query-file one.sql -p n=2ms --to jsonl
says out '{"n":2000001}'
"$tl" query "$trace" -p n=1 --json <one.sql >out || fail "from standard input"
says out '{"schema":1,"columns":[{"name":"n","unit":null}],"rows":[[2]]}'
expect 0 "$tl" query "$trace" 'SELECT 1 AS a; -- nothing
    ; SELECT 2 AS b' --to jsonl
[ "$(cat out)" = $'{"a":1}\n{"b":2}' ] || fail "two statements: $(cat out)"
expect 0 "$tl" query "$trace" "$log" 'SELECT DISTINCT trace FROM events' --to jsonl
[ "$(cat out)" = $'{"trace":1}\n{"trace":2}' ] || fail "two traces: $(cat out)"

# JSON of a column is written as it is; other text that a compound SELECT puts there is text.
expect 0 "$tl" query "$trace" "SELECT fields FROM events WHERE 0 UNION ALL SELECT 'a\"b' UNION ALL SELECT '[1]'" --to jsonl
[ "$(cat out)" = $'{"fields":"a\\"b"}\n{"fields":[1]}' ] || fail "text in a column of JSON: $(cat out)"
expect 0 "$tl" query "$trace" "SELECT sum(value) AS n FROM json_each('[1,2]')" --to jsonl
says out '{"n":3}'

# Files, replaced only on request; a failure leaves nothing behind.
expect 0 "$tl" query "$trace" 'SELECT 1 AS one' -o a.csv
printf 'one\r\n1\r\n' | cmp - a.csv || fail "a.csv: $(cat a.csv)"
expect 2 "$tl" query "$trace" 'SELECT 1' -o a.csv
expect 2 "$tl" query "$trace" 'SELECT durr FROM events' -o b.csv
expect 2 "$tl" query "$trace" 'SELECT 1' -o b.xlsx
says err "table, json, jsonl, csv, markdown, parquet or arrow"
only_files ./a.csv ./one.sql

# What was meant.
wrong() { # the SQL, the message
    expect 2 "$tl" query "$trace" "$1"
    says err "$2"
    is_empty out
}
wrong 'SELECT naem FROM events' "line 1, column 8: no column naem in events; did you mean name?"
wrong 'SELECT 1,
 e.duration FROM function_stats AS e, collections' "line 2, column 2: no column e.duration; did you mean dur?"
wrong 'SELECT zzzz FROM function_stats' "no column zzzz in function_stats, which has trace, "
wrong 'SELECT timestamp FROM events' "did you mean ts?"
wrong 'SELECT * FROM event' "no table event; did you mean events?"
wrong 'SELECT * FROM wxyz' "no table wxyz; --schema lists them"
wrong 'SELECT percentil(ts, 50) FROM events' "no function percentil; did you mean percentile?"
wrong 'SELECT FROM events' 'line 1, column 8: near "FROM": syntax error'
wrong 'SELECT :n AS n' "parameter n has no value: -p n=VALUE gives one"
wrong '.tables now' "--schema lists tables"
wrong 'DELETE FROM events' "statements can only read"
wrong 'CREATE INDEX i ON events(ts)' "statements can only read"
wrong 'SELECT "main" FROM function_stats' "no column main in function_stats; text is in single quotes: 'main'"
wrong 'ATTACH DATABASE "x.db" AS x' "statements can only read"
wrong 'PRAGMA journal_mode = WAL' "statements can only read"
wrong "SELECT ns('soon')" "not a duration"
only_files ./a.csv ./one.sql
expect 2 "$tl" query "$trace"
says err "SQL"
expect 2 "$tl" query 'SELECT 1 AS one'
says err "no input file"
expect 2 "$tl" query "$trace" 'SELECT 1' -p x
says err "name=value"
expect 2 "$tl" query --recipe callers-of name=main
says err "no input file"
"$tl" query - <"$trace" >out 2>err
[ $? -eq 2 ] || fail "the trace is taken for SQL"
says err "no SQL"
"$tl" query - 'SELECT count(*) > 0 AS n FROM events' --to jsonl <"$trace" >out || fail "a trace from standard input"
says out '{"n":1}'
expect 3 "$tl" query absent.xray 'SELECT 1'

# Recipes: their parameters follow the files.
expect 0 "$tl" query --recipes
says out "slowest-calls"
expect 0 "$tl" query "$trace" -e "$binary" --recipe slowest-calls top=2 --to jsonl
[ "$(wc -l <out)" -eq 2 ] || fail "top=2: $(cat out)"
expect 2 "$tl" query "$trace" --recipe slowest-calls foo=1
says err "recipe slowest-calls has no parameter foo"
expect 2 "$tl" query "$trace" --recipe slowest-cals
says err "did you mean slowest-calls?"

# A table that a trace cannot have; not one that happens to be empty.
expect 0 "$tl" query "$trace" 'SELECT count(*) AS n FROM collections' --to jsonl
says out '{"n":0}'
says err "collections is empty: it needs a managed runtime; "
expect 0 "$tl" query "$log" 'SELECT count(*) AS n FROM collections'
is_empty err
expect 0 "$tl" query "$trace" "$log" 'SELECT count(*) AS n FROM collections'
says_not err "is empty"
expect 0 "$tl" query -q "$trace" 'SELECT count(*) AS n FROM collections'
is_empty err
expect 0 "$tl" query "$trace" 'SELECT count(*) AS n FROM spans' --to jsonl
says err "spans is empty: it needs begins and ends; "
expect 0 "$tl" query "$trace" 'SELECT count(*) > 0 AS n FROM slices' --to jsonl
says out '{"n":1}'
is_empty err
expect 0 "$tl" query "$samples/tracelog-calls.log" 'SELECT count(*) AS n FROM calls' --to jsonl
says out '{"n":37}'
is_empty err
expect 0 "$tl" query "$log" 'SELECT count(*) AS n FROM calls, call_stats'
says err "calls is empty: it needs calls; "
says err "call_stats is empty: it needs calls; "
expect 0 "$tl" query "$profile" 'SELECT count(*) AS n FROM events' --to jsonl
says out '{"n":0}'
says err "events is empty: it needs events; "
expect 0 "$tl" query "$profile" 'SELECT count(*) AS n FROM calls' --to jsonl
says err "calls is empty: it needs events; "
says err " is a profile of "
# A trace that declares instructions, and has snapshots alone.
snapshots=$(echo "$samples"/xtrace-user/*.xsnapshot.bin)
for table in calls instructions syscalls insn_mix; do
    expect 0 "$tl" query "$snapshots" "SELECT count(*) AS n FROM $table" --to jsonl
    says out '{"n":0}'
    says err "$table is empty: it needs "
    says err " has snapshots of registers; its tables: events, snapshots"
done
expect 0 "$tl" query "$snapshots" 'SELECT count(*) AS n FROM snapshots' --to jsonl
says out '{"n":3}'
is_empty err
expect 0 "$tl" query "$samples/xtrace-user" 'SELECT count(*) AS n FROM syscalls, calls WHERE depth < 0' --to jsonl
is_empty err
for table in functions places function_stats stack; do
    expect 0 "$tl" query "$profile" "SELECT count(*) AS n FROM $table" --to jsonl
    is_empty err
done
expect 0 "$tl" query "$trace" 'SELECT count(*) AS n FROM functions' --to jsonl
is_empty err
expect 0 "$tl" query "$profile" 'SELECT count(*) AS n FROM classes, fields'
says err "classes is empty: it needs events; "
says err "fields is empty: it needs events; "

# Losses: the recipe has those of the table.
expect 3 "$tl" query -q "$damaged" --recipe losses --to csv
says out "skipped bytes"
grep -q "damaged places,1" out || fail "losses: $(cat out)"

# Damage: what could be read, and exit status 3.
expect 3 "$tl" query "$damaged" 'SELECT count(*) AS n FROM events' --to jsonl
says err "damage"
"$tl" convert "$damaged" --to jsonl 2>/dev/null | wc -l >lines
says out "{\"n\":$(cat lines)}"

# Tables for people: units; numbers of expressions are plain; text that a terminal takes for commands is shown.
expect 0 "$tl" query "$log" 'SELECT dur, dur + 0 AS n, NULL AS x, char(27) AS c FROM collections ORDER BY 1 DESC LIMIT 1'
says out "13.0 ms"
says out "13000000"
says_not out $'\e'
expect 0 "$tl" query "$log" 'SELECT 2097152.0 AS value, 2097152.0 / 7 AS part'
says out "2097152  299593"
expect 0 "$tl" query "$trace" 'SELECT ts FROM events' --rows 2
[ "$(wc -l <out)" -eq 4 ] || fail "--rows 2: $(cat out)"
says out "more; --rows 0 shows all"

# How a statement would be run; nothing is.
expect 0 "$tl" query "$trace" "SELECT name, count(*) FROM calls WHERE depth = 2 AND ts + 1 > 5 GROUP BY name ORDER BY 2" --explain
says out "calls: read once, about "
says out "  columns: ts, depth, name"
says out "  conditions for the reader: depth ="
says_not out "ts >"
says out "sorted by name in memory"
says out "SQLite collects and sorts rows, for ORDER BY"
expect 0 "$tl" query "$log" "SELECT ts FROM events WHERE ts > 5 ORDER BY ts; SELECT max(self) FROM function_stats" --explain
says out "  conditions for the reader: ts >"
says out "rows are read in the order of ts"
says out "made first, by reading the traces"
expect 0 "$tl" query "$trace" "SELECT count(*) FROM classes AS c CROSS JOIN events AS e USING (class_id) LEFT JOIN json_each('[1]')" --explain
says out "classes AS c: read once"
says out "events AS e: read for each row of the table above"
says out "conditions for the reader: class_id ="
says out "kept: rows are read once"
says out "json_each"
says_not out "VIRTUAL"
expect 0 "$tl" query "$trace" "SELECT (SELECT max(e.ts) FROM events AS e WHERE e.ts < c.ts) FROM calls AS c" --explain
says out "events AS e: read for each row outside"
expect 0 "$tl" query "$trace" " -- nothing" --explain
is_empty out
expect 2 "$tl" query "$trace" "SELECT naem FROM events" --explain
says err "line 1, column 8: no column naem in events; did you mean name?"
expect 2 "$tl" query "$trace" "DELETE FROM events" --explain
says err "statements can only read"

expect 0 "$tl" query "$log" --schema
says out "collections: "
says out "INTEGER NS"
expect 0 "$tl" query "$log" --schema 'coll*' tables
says out "collections: "
says out "tables: "
says_not out "events: "
expect 2 "$tl" query "$log" --schema nothing
says err "no table matches nothing"
expect 0 "$tl" query "$samples/ctf-18" 'SELECT utc, utc(utc) AS text FROM events LIMIT 1'
says out "2023-11-14T22:13:20.001000158Z  2023-11-14T22:13:20.001000158Z"
[ "$failed" -eq 0 ]
