"""What `accesses` must hold, from all events: an access belongs to the last instruction of its track."""


def number(text):
    value = int(text, 16)
    return value - (1 << 64) if value >= 1 << 63 else value


COLUMNS = ["id", "ts", "track_id", "thread", "pc", "kind", "address", "size", "value"]


def expected(table):
    at = [table.columns.index(name) for name in ("id", "ts", "track_id", "thread", "name", "kind", "fields")]
    last, rows = {}, []
    for row in table.rows:
        event, ts, track, thread, name, kind, fields = (row[i] for i in at)
        fields = dict(fields["members"])
        if kind == "insn":
            last[track] = None if fields["pc"] is None else number(fields["pc"])
        elif kind == "mem":
            rows.append([event, ts, track, thread, last.get(track), name, number(fields["addr"]), fields["size"], fields["value"]])
    return rows


def check_accesses(trace):
    """The rows of the table, and those that are expected."""
    table = trace.table("accesses")
    at = [table.columns.index(name) for name in COLUMNS]
    return [[row[i] for i in at] for row in table.rows], expected(trace.table("events"))
