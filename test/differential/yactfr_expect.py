"""Reads the listings of decoded elements beside the traces of yactfr, as values.

A line is "<bit offset> <element>"; elements with children end with " {". Scopes: 0 packet header, 1 packet context,
2 event header, 3 and 4 the contexts, 5 the payload."""
import re

NUMBERS = ("FLUI", "FLSI", "FLBA", "VLUI", "VLSI")
LISTS = ("SLA", "DLA")
TEXTS = ("NTS", "SLS", "DLS")
BLOBS = ("SLB", "DLB")
ERROR = re.compile(r"[A-Z][a-z]+ .*")


class Node:
    def __init__(self, kind, rest):
        self.kind, self.rest, self.children, self.closed = kind, rest, [], False


def tree(text):
    """(root, (bit, message) of the error that ends the listing or None)"""
    root = Node("", "")
    stack = [root]
    for line in text.splitlines():
        found = re.match(r"\s*(\d+) (.*)", line)
        if not found:
            continue
        bit, body = int(found.group(1)), found.group(2).strip()
        if body == "}":
            stack.pop().closed = True
            continue
        if ERROR.fullmatch(body):
            return root, (bit, body)
        opens = body.endswith("{")
        kind, _, rest = body.rstrip("{").rstrip().partition(":")
        node = Node(kind, rest)
        stack[-1].children.append(node)
        if opens:
            stack.append(node)
    return root, None


def raw(node):
    """The bytes of a string or blob."""
    out = b""
    for child in node.children:
        text = child.rest.split(":", 1)[1]
        if node.kind in BLOBS:
            out += bytes.fromhex(text)
        else:
            out += re.sub(rb"\$([0-9a-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text.encode())
    return out


class Text(bytes):
    """Bytes of a string of unknown encoding."""

    def shows(self, text):
        for codec in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
            try:
                if self.decode(codec).split("\0")[0] == text:
                    return True
            except UnicodeDecodeError:
                pass
        return False


def value(node, named):
    """(name, value); absent optionals have the value None."""
    rest = node.rest
    if node.kind in NUMBERS + ("FLB", "FLFPN"):
        name, _, number = rest.rpartition(":")
        if node.kind == "FLB":
            return name, number == "true"
        return name, float(number) if node.kind == "FLFPN" else int(number)
    if node.kind == "FLBM":
        parts = rest.split(":")
        return parts[0], {"value": int(parts[1]), "labels": sorted(parts[2].split(",")) if parts[2] else []}
    if node.kind == "ST":
        return rest, struct(node)
    if node.kind in LISTS:
        return rest, [value(child, False)[1] for child in node.children if child.kind != "MSU"]
    if node.kind in TEXTS:
        return rest, Text(raw(node))
    if node.kind in BLOBS:
        return rest.rpartition(":")[0] if named else "", raw(node).hex()
    if node.kind in ("VU", "VS"):
        return rest.rpartition(":")[0], value(node.children[0], False)[1]
    if node.kind in ("OB", "OU", "OS"):
        return rest.split(":")[0], value(node.children[0], False)[1] if node.children else None
    raise ValueError("unknown element " + node.kind)


def struct(node):
    out = {}
    for child in node.children:
        if child.kind not in ("DCV", "PMN", "MSU"):
            name, one = value(child, True)
            if one is not None:
                out[name] = one
    return out


def events(root):
    """Whole events: {"class", "stream": {}, "event": {}, "fields": {}}"""
    out = []
    for packet in root.children:
        for content in packet.children:
            for node in content.children:
                if node.kind == "ER" and node.closed:
                    one = {"class": None, "stream": {}, "event": {}, "fields": {}}
                    for part in node.children:
                        if part.kind == "ERI":
                            one["class"] = part.rest.partition("#")[2] or None
                        scope = {"SC:3": "stream", "SC:4": "event", "SC:5": "fields"}.get("%s:%s" % (part.kind, part.rest))
                        if scope and part.children:
                            one[scope] = struct(part.children[0])
                    out.append(one)
    return out


def same(ours, theirs):
    """ours: of jsonl."""
    if isinstance(theirs, Text):
        return theirs.shows(ours)
    if isinstance(ours, dict) and set(ours) == {"value", "labels"} and not isinstance(theirs, dict):
        return ours["value"] == theirs
    if isinstance(theirs, float):
        return not isinstance(ours, (dict, list, str)) and abs(ours - theirs) <= 1e-5 * abs(theirs)
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return set(ours) == set(theirs) and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, list) and isinstance(ours, str):              # an array of characters, or bytes
        data = bytes(v % 256 for v in theirs)
        return Text(data).shows(ours) or data.hex() == ours
    return ours == theirs
