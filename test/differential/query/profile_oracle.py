"""The table `profile` against `places` and `properties`: histograms are decoded here, from docs/format/profile.md, and
paths are hashed here."""
import struct

MASK = 2 ** 64 - 1


def turn(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def siphash_24(data):
    """SipHash-2-4 with a key of zeros."""
    a, b, c, d = 0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for word in (*struct.unpack("<%dQ" % (len(padded) // 8), padded), None):
        if word is None:
            c ^= 0xff
        else:
            d ^= word
        for _ in range(4 if word is None else 2):
            a, c = (a + b) & MASK, (c + d) & MASK
            b, d = turn(b, 13) ^ a, turn(d, 16) ^ c
            a, c = turn(a, 32), (c + b) & MASK
            a, b = (a + d) & MASK, turn(b, 17) ^ c
            d, c = turn(d, 21) ^ a, turn(c, 32)
        if word is not None:
            a ^= word
    return a ^ b ^ c ^ d


assert siphash_24(b"") == 0x1e924b9d737700d7  # of the authors' code


def bounds(number):
    if number < 512:
        return number, number
    power, part = divmod(number - 512, 256)
    low = (256 + part) << (power + 1)
    return low, low + (2 << power) - 1


def expected(trace, decoded, signed):
    texts = {row[1]: row[2] for row in trace.table("properties").rows if row[2]}
    app = texts["process.exe"].rsplit("/", 1)[-1] if "process.exe" in texts else texts.get("procname")
    names, rows = trace.table("places").columns, []
    for row in trace.table("places").rows:
        place = dict(zip(names, row))
        counts = decoded(place["hist"])[4] if place["hist"] is not None else {}
        sums = place["total"], place["self"]
        for number in sorted(counts) or [None]:
            low, high = bounds(number) if number is not None else (None, None)
            rows.append([place["trace"], app, texts.get("hostname"), place["place_id"], signed(siphash_24(place["path"].encode())), number,
                         low, high, counts.get(number, place["calls"]), *sums])
            sums = 0, 0
    return rows


def truths(difference):
    """As query_oracle.TRUTHS."""
    def check(trace):
        from query_sums import decoded, signed  # which need these truths
        return difference(trace.table("profile").rows, expected(trace, decoded, signed), sort=False)
    return {"profile": check}
