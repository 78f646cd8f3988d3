"""Calls of a trace from `convert --to jsonl`, and sums over pieces of its time: without the code of the page or its writer."""
import bisect
import json


class Call:
    """ends: the calls below it, in order."""

    def __init__(self, track, path, begin):
        self.track, self.path, self.begin, self.end, self.inside = track, path, begin, None, []

    @property
    def name(self):
        return self.path[-1]

    @property
    def depth(self):
        return len(self.path)

    def self_between(self, from_, to):
        """Its time without that of the calls below it, within a range."""
        cut = lambda call: max(0, min(call.end, to) - max(call.begin, from_))
        return cut(self) - sum(cut(call) for call in self.inside)


def calls(lines):
    """All calls of a trace whose entries and exits match, and the last time."""
    stacks, found, first, last = {}, [], None, 0
    for line in lines:
        event = json.loads(line)
        name, track, now = event["fields"].get("function"), event.get("track"), event["ts"]
        if name is None:
            continue
        first, last = now if first is None else min(first, now), max(last, now)
        stack = stacks.setdefault(track, [])
        if event["class"].endswith((".enter", ".entry")):
            call = Call(track, (stack[-1].path if stack else ()) + (name,), now)
            if stack:
                stack[-1].inside.append(call)
            stack.append(call)
            found.append(call)
        else:
            assert stack and stack[-1].name == name, event
            stack.pop().end = now
    for stack in stacks.values():
        assert not stack, "a call without an exit"
    for call in found:
        call.begin, call.end = call.begin - first, call.end - first
    return found, last - first


def sums(found, from_, to):
    """{path: [self, calls begun]} of a range."""
    out = {}
    for call in found:
        if call.begin >= to or (call.end <= from_ and call.begin < from_):
            continue
        row = out.setdefault(call.path, [0, 0])
        row[0] += call.self_between(from_, to)
        row[1] += from_ <= call.begin < to
    return {path: row for path, row in out.items() if row[0] or row[1]}


def busy(found, depth, from_, to):
    """Ticks of a range that calls of a depth cover, by thread."""
    out = {}
    for call in found:
        if call.depth == depth:
            out[call.track] = out.get(call.track, 0) + max(0, min(call.end, to) - max(call.begin, from_))
    return out


def place(borders, value):
    return bisect.bisect_right(borders, value) - 1
