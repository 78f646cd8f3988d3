"""What `losses` must hold, from the calls of JSON lines and the table `damage`; and stack(), from the parents of places."""
import call_oracle
from class_oracle import compared, rows_of


def unmatched(trace):
    """Exits without entry, and entries without exit, of an XRay log: those that an outer exit ends have none of their own."""
    stacks, exits, entries = {}, 0, 0
    for line in trace.lines:
        stack = stacks.setdefault(line["track"], [])
        if line["class"] in call_oracle.ENTRIES:
            stack.append(dict(line["fields"])["id"])
        elif line["class"] in call_oracle.EXITS:
            function = dict(line["fields"])["id"]
            if function not in stack:
                exits += 1
            while function in stack and stack.pop() != function:
                entries += 1
    return exits, entries + sum(map(len, stacks.values()))


def check_losses(trace, name):
    got = {what: n for what, n in rows_of(trace.table(name), "what", "n")}
    lost = [row for row in rows_of(trace.table("damage"), "kind", "bytes") if row[0] == "loss"]
    expected = {"damaged places": len(lost), "skipped bytes": sum(row[1] for row in lost)}
    if any(line["class"] in call_oracle.ENTRIES for line in trace.lines):
        expected["exits without entry"], expected["entries without exit"] = unmatched(trace)
    traces = dict(zip(trace.table("traces").columns, trace.table("traces").rows[0]))
    expected.update({"lost events": traces["lost_events"], "lost packets": traces["lost_packets"], "events out of order": traces["out_of_order"]})
    different = {what: (got.get(what, 0), n) for what, n in expected.items() if got.get(what, 0) != n}
    return "got and expected: %s" % different if different else "a row of nothing" if 0 in got.values() else None


def check_stacks(trace, ask):
    """The functions of each place are those of its callers, then its own."""
    rows = {row[0]: row[1:] for row in rows_of(trace.table("places"), "place_id", "parent_id", "function_id", "name")}
    some, expected = sorted(rows)[:500], []
    for place in some:
        chain, at = [], place
        while at is not None:
            chain.append(rows[at][1:])
            at = rows[at][0]
        expected += [[place, i + 1] + frame for i, frame in enumerate(reversed(chain))]
    answers, result = ask(trace, ["SELECT p.place_id, s.depth, s.function_id, s.name FROM places AS p, stack(1, p.place_id) AS s WHERE p.place_id <= %d"
                                  % max(some, default=0)])
    return compared(answers[0].rows, expected) if answers else "stack: %s" % result.err
