"""What `syscalls` must hold, from the events of arguments and results: consecutive arguments are a call, the first its number."""
import errno

COLUMNS = ["ts", "rank", "track_id", "thread", "number"] + ["arg%d" % i for i in range(6)] + ["result", "errno", "error"]


def expected(table):
    at = {name: table.columns.index(name) for name in ("id", "ts", "rank", "track_id", "thread", "name", "key")}
    calls, before, waiting = [], None, {}
    for row in table.rows:
        event = {name: row[i] for name, i in at.items()}
        stream = event["id"] >> 40
        if event["name"] == "svc_arg":
            if before == (stream, "svc_arg"):
                waiting[stream]["values"].append(event["key"])
            else:
                waiting[stream] = dict(event, values=[event["key"]], result=None)
                calls.append(waiting[stream])
        elif event["name"] == "svc_ret" and stream in waiting:
            waiting.pop(stream)["result"] = event["key"]
        before = (stream, event["name"])
    return [row_of(call) for call in calls]


def row_of(call):
    arguments, result = (call["values"][1:] + [None] * 6)[:6], call["result"]
    failed = result is not None and -4096 < result < 0
    return ([call[name] for name in ("ts", "rank", "track_id", "thread")] + call["values"][:1] + arguments +
            [result, -result if failed else None, errno.errorcode.get(-result) if failed else None])


def check_syscalls(trace):
    """The rows of the table, and those that are expected."""
    table = trace.table("syscalls")
    at = [table.columns.index(name) for name in COLUMNS]
    name, text, number = (table.columns.index(column) for column in ("name", "call_text", "number"))
    for row in table.rows:
        if not row[text].startswith((row[name] or "syscall_0x%x" % (row[number] % (1 << 64))) + "("):
            return [row], []
    return [[row[i] for i in at] for row in table.rows], expected(trace.table("events"))
