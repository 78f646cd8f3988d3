"""What `instructions`, `classes`, `fields`, `enum_labels` and `functions` must hold, from JSON lines; names of
functions at an address are those of nm."""
import shutil
import subprocess

import machine_oracle

KINDS = {"xray.enter": "enter", "xray.exit": "exit", "xray.tail_exit": "exit", "insn": "insn", "load": "mem", "store": "mem",
         "jit.cms": "begin", "jit.cmf": "end", "snapshot": "regs"}
ROLES = {"insn": "instruction", "load": "load", "store": "store", "snapshot": "snapshot", "svc_arg": "call argument", "gch.gcs": "collection",
         "gch.gcf": "collection", "jit.cms": "compilation", "sam.mem": "allocation", "xray.enter": None, "xray.exit": None}
HEAD = {"trace", "id", "ts", "utc", "track_id", "thread", "cpu"}
KEYS = {"xray.enter": "function", "xray.exit": "function", "insn": "pc", "load": "address", "store": "address"}


def rows_of(table, *names):
    at = [table.columns.index(name) for name in names]
    return [[row[i] for i in at] for row in table.rows]


def compared(got, expected):
    got, expected = sorted(got, key=repr), sorted(expected, key=repr)
    if got == expected:
        return None
    return "%d rows, expected %d\n  got %.300r\n  expected %.300r" % (
        len(got), len(expected), [row for row in got if row not in expected][:2], [row for row in expected if row not in got][:2])


def number(text):
    value = int(text, 16) if isinstance(text, str) else text
    return value - (1 << 64) if value is not None and value >= 1 << 63 else value


def symbols(path):
    """(address, size, name) of functions, by nm; those without a size reach to the next one."""
    if not shutil.which("nm"):
        return None
    out = subprocess.run(["nm", "-S", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in out.splitlines()]
    words = [w[:1] + ["0"] + w[1:] if len(w) == 3 else w for w in words]
    found = [(int(w[0], 16), int(w[1], 16), w[3]) for w in words if w[2] in "tTwWi"]
    next_one = {at: min([other for other, size, name in found if other > at], default=at) for at, size, name in found}
    return [(at, size or next_one[at] - at, name) for at, size, name in found]


def check_instructions(trace, name):
    expected = []
    for line in trace.lines:
        if line["class"] == "insn":
            fields = dict(line["fields"])
            expected.append([line["ts"], line["track"], number(fields.get("pc")), number(fields["opcode"]), fields.get("el", 0)])
    table = trace.table(name)
    for opcode, kind in rows_of(table, "opcode", "class"):
        branch = machine_oracle.kind_of(opcode)
        if kind.startswith("branch.") != (branch is not None) or branch not in (None, kind):
            return "%#x is %s, not %s" % (opcode, kind, branch)
    return compared(rows_of(table, "ts", "thread", "pc", "opcode", "el"), expected) or check_names(trace, table)


def check_snapshots(trace, name):
    expected = [[line["ts"], line["track"], dict(line["fields"])["insns"]] for line in trace.lines if line["class"] == "snapshot"]
    return compared(rows_of(trace.table(name), "ts", "thread", "insns"), expected)


def check_tracks(trace, name):
    """Their numbers, and those of their events."""
    expected = {}
    for track, thread in rows_of(trace.table("events"), "track_id", "thread"):
        expected[track, thread] = expected.get((track, thread), 0) + 1
    got = {(track, thread): n for track, thread, n in rows_of(trace.table(name), "track_id", "name", "events") if n}
    return compared(list(got.items()), list(expected.items()))


def check_names(trace, table):
    known = symbols(trace.options[1]) if trace.options else []
    if known is None:
        return None
    for pc, function, offset in rows_of(table, "pc", "function_name", "offset"):
        inside = [(pc - at, text) for at, size, text in known if pc is not None and at <= pc < at + size]
        if (offset, function) not in (inside or [(None, None)]):
            return "%#x is in %s+%s; nm: %s" % (pc or 0, function, offset, inside)
    return None


def check_classes(trace, name):
    for class_name, role in rows_of(trace.table(name), "name", "role"):
        if ROLES.get(class_name, role) != role:
            return "class %s: role %s" % (class_name, role)
    rows = {row[0]: row[1:] for row in rows_of(trace.table(name), "class_id", "name", "kind", "key", "pair_class_id", "table_name")}
    if sorted(rows) != list(range(len(rows))):
        return "numbers of classes: %s" % sorted(rows)
    names = {row[0] for row in rows.values()}
    missing = {line["class"] for line in trace.lines} - names
    if missing:
        return "no class %s" % missing
    for row in rows.values():
        kind, key = KINDS.get(row[0], row[1]), KEYS.get(row[0], row[2])
        if (kind, key) != (row[1], row[2]):
            return "class %s: expected %s, %s" % (row, kind, key)
        if row[4] is not None and row[4] not in trace.schema:
            return "class %s: no such table" % row
        if (row[3] is not None) != (row[1] in ("begin", "end")) or (row[3] is not None and rows[row[3]][3] not in (None,) and
                                                                    {row[1], rows[row[3]][1]} != {"begin", "end"}):
            return "class %s: its pair" % row
    tables = {}
    for row in rows.values():
        if row[4] is not None and tables.setdefault(row[4], row[0]) != row[0]:
            return "table %s is of %s and of %s" % (row[4], row[0], tables[row[4]])
    return None


def json_fields(trace):
    """(class, is it a context, its name, its value) of every field in JSON lines."""
    for line in trace.lines:
        own = list(line.get("fields") or [])
        if len(own) >= 2 and own[0][0] == "function" and own[1][0] == "id":
            own = own[2:]
        for context, pairs in ((False, own), (True, list(line.get("context") or []))):
            for key, value in pairs:
                yield line["class"], context, key, value


def json_members(trace):
    """The same of members of structs, by their paths."""
    def inside(path, value, depth):
        if depth <= 4 and isinstance(value, list) and value and all(isinstance(pair, tuple) for pair in value):
            for key, inner in value:
                yield "%s.%s" % (path, key or ""), inner
                yield from inside("%s.%s" % (path, key or ""), inner, depth + 1)
    for owner, context, key, value in json_fields(trace):
        for path, inner in inside(key, value, 1):
            yield owner, context, path, inner


def check_fields(trace, name):
    """Each field of an event is a row of its class; its type fits."""
    known = {}
    for owner, field, kind, scope in rows_of(trace.table(name), "class_name", "name", "type", "scope"):
        known.setdefault((owner, scope in ("stream", "event"), field or ""), []).append(kind)
    keys = {row[0] for row in rows_of(trace.table("classes"), "name", "key") if row[1] is not None}
    for owner, context, key, value in json_fields(trace):
        plain = key.split(".", 1)[1] if context and key.startswith(("stream.", "event.")) else key
        kinds = known.get((owner, context, plain)) or known.get((owner, context, key))
        if kinds is None and not context and owner in keys:
            continue  # the key of an event is shown as a field
        if kinds is None:
            return "no field %r of %s" % (key, owner)
        if isinstance(value, bool) and not {"bool"} & set(kinds):
            return "field %r of %s: %s is %r" % (key, owner, kinds, value)
        if isinstance(value, int) and not {"u64", "i64", "hex", "bool", "f64", "variant"} & set(kinds):
            return "field %r of %s: %s is %r" % (key, owner, kinds, value)
        if not isinstance(value, list):
            continue
        for path in member_paths(plain, value):
            if (owner, context, path) not in known and (owner, context, key + path[len(plain):]) not in known:
                return "no member %r of %s" % (path, owner)
    return check_columns(trace, name)


def member_paths(path, value, depth=1):
    """"outer.inner" of every member of structs that are columns; of enumerations, labels are not."""
    pairs = value if isinstance(value, list) and value and all(isinstance(pair, tuple) for pair in value) else []
    if depth <= 4 and [key for key, inner in pairs] != ["value", "labels"]:
        for key, inner in pairs:
            yield "%s.%s" % (path, key or "")
            yield from member_paths("%s.%s" % (path, key or ""), inner, depth + 1)


def check_columns(trace, name):
    """The columns of the table of a class are those of its fields, and labels of enumerations."""
    tables = {row[0]: row[1] for row in rows_of(trace.table("classes"), "class_id", "table_name")}
    columns, labels = {}, {}
    for owner, column in rows_of(trace.table(name), "class_id", "column_name"):
        columns.setdefault(tables[owner], set()).update([column] if column else [])
    for owner, column in rows_of(trace.table("enum_labels"), "class_id", "column_name"):
        labels.setdefault(tables[owner], set()).update([column] if column else [])
    for table in set(tables.values()) - {None}:
        more = set(trace.schema[table]) - HEAD - columns.get(table, set())
        if list(trace.schema[table])[7:9] == ["function_id", "function_name"]:  # of events that have a function
            more -= {"function_id", "function_name"}
        if not columns.get(table, set()) <= set(trace.schema[table]) or not all("_label" in column for column in more) or (
                len(more) != len(labels.get(table, set()))):
            return "columns of %s: %s; fields: %s, labels of %s" % (table, sorted(trace.schema[table]), columns.get(table), labels.get(table))
    return None


def check_labels(trace, name):
    """Every label of a value of a field is in the table."""
    flags, known = set(), {}
    names = {row[0]: row[1] for row in rows_of(trace.table("classes"), "class_id", "name")}
    for owner, field, label, low, high in rows_of(trace.table(name), "class_id", "field", "label", "low", "high"):
        known.setdefault((names[owner], field), []).append((label, low, high))
    for owner, context, key, value in list(json_fields(trace)) + list(json_members(trace)):
        pairs = dict(value) if isinstance(value, list) and value and isinstance(value[0], tuple) else {}
        if list(pairs) != ["value", "labels"] or not isinstance(pairs["value"], int):
            continue
        plain = key.split(".", 1)[1] if context and key.startswith(("stream.", "event.")) else key
        bits = {i for i in range(64) if pairs["value"] >> i & 1}
        for label in pairs["labels"]:
            ranges = [(low, high) for text, low, high in known.get((owner, plain), []) if text == label]
            if not any(low <= number(pairs["value"]) <= high or bits & set(range(low, min(high, 63) + 1)) for low, high in ranges):
                return "label %s of %r, %s: %s" % (label, pairs["value"], key, ranges)
    return None


def check_functions(trace, name):
    """Names that JSON lines have."""
    known = dict(rows_of(trace.table(name), "function_id", "name"))
    for line in trace.lines:
        fields = list(line.get("fields") or [])
        if len(fields) >= 2 and fields[0][0] == "function" and fields[1][0] == "id" and line["class"].startswith("xray."):
            if fields[0][1] is not None and known.get(fields[1][1]) != fields[0][1]:
                return "function %d is %s, not %s" % (fields[1][1], known.get(fields[1][1]), fields[0][1])
    return None
