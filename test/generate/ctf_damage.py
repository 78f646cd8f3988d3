"""Damage for the CTF trace generator: each function breaks the third packet of the first file (or the file's end), and
returns the files and what must survive."""
from ctf_trace import Expected, files_of
from ctf_types import ceil

HURT = 2                    # the packet


def result(trace, packet, kept, offset, harmless=False):
    """`kept`: how many events of the damaged packet survive, None: the packet is not used at all. `harmless`: no byte of an
    event is lost."""
    def survives(p, number):
        return p is not packet or (kept is not None and number < kept)

    files, expected = files_of(trace), Expected(trace, survives)
    info = expected.info(len(files["metadata"]))
    out = {"jsonl": expected.lines(), "ok": False, "problem": [trace.files[0].name, offset], "harmless": harmless,
           "info": {key: info[key] for key in ("schema", "format", "version", "byte_order", "bytes", "events", "classes", "lost")}}
    return files, out


def hurt(trace):
    file = trace.files[0]
    return file, file.packets[HURT]


def bit_of(packet, what, number=0):
    """The place of the n-th mark with a name or type, in bits of the packet."""
    return [bit for bit, mark in packet.marks if mark == what][number]


def put(file, packet, bit, bits, value, order):
    at = packet.offset + bit // 8
    file.data[at:at + bits // 8] = value.to_bytes(bits // 8, "little" if order == "le" else "big")


def unknown_event(trace):
    file, packet = hurt(trace)
    number = len(packet.events) // 2
    bit = bit_of(packet, "event", number)
    put(file, packet, bit, 16, 9999, trace.order)
    return result(trace, packet, number, packet.offset + bit // 8)


def overrun(trace):
    """The content ends one bit inside the last field."""
    file, packet = hurt(trace)
    ends = [bit for bit, mark in packet.marks]
    last = max(bit for bit in ends if bit < packet.content)
    put(file, packet, bit_of(packet, "packet-content-length"), 64, last + 1, trace.order)
    first = max(i for i in range(len(packet.events)) if bit_of(packet, "event", i) <= last)
    return result(trace, packet, first, packet.offset + last // 8)


def bad_magic(trace):
    file, packet = hurt(trace)
    file.data[packet.offset] ^= 0x55
    return result(trace, packet, None, packet.offset)


def bad_magic_first(trace):
    file = trace.files[0]
    file.data[3] ^= 0x55
    return result(trace, file.packets[0], None, 0)


def wrong_uuid(trace):
    file, packet = hurt(trace)
    file.data[packet.offset + 9] ^= 1
    return result(trace, packet, None, packet.offset + 4)


def unknown_stream(trace):
    file, packet = hurt(trace)
    bit = bit_of(packet, "data-stream-class-id")
    put(file, packet, bit, 16, 77, trace.order)
    return result(trace, packet, None, packet.offset + bit // 8)


def zeros_at_the_end(trace):
    file = trace.files[0]
    end = len(file.data)
    file.data += bytes(600)
    return result(trace, None, None, end)


def cut_in_header(trace):
    file = trace.files[0]
    packet = file.packets[-1]
    del file.data[packet.offset + 21:]
    return result(trace, packet, None, len(file.data))


def cut_in_events(trace):
    """The file ends in the middle of an event."""
    file = trace.files[0]
    packet = file.packets[-1]
    number = len(packet.events) - 2
    start, following = bit_of(packet, "event", number), bit_of(packet, "event", number + 1)
    cut = packet.offset + (start + following) // 16
    del file.data[cut:]
    return result(trace, packet, number, len(file.data))


def cut_in_padding(trace):
    file = trace.files[0]
    packet = file.packets[-1]
    end = packet.offset + ceil(packet.content, 8) // 8
    if end == len(file.data):
        file.data += bytes(16)
        put(file, packet, bit_of(packet, "packet-total-length"), 64, 8 * (packet.size + 16), trace.order)
    del file.data[end + 1 if end + 1 < len(file.data) else end:]
    return result(trace, packet, len(packet.events), len(file.data), harmless=True)


def content_beyond_packet(trace):
    file, packet = hurt(trace)
    bit = bit_of(packet, "packet-content-length")
    put(file, packet, bit, 64, 8 * packet.size + 8, trace.order)
    return result(trace, packet, None, packet.offset + bit // 8)


def content_too_small(trace):
    file, packet = hurt(trace)
    bit = bit_of(packet, "packet-content-length")
    put(file, packet, bit, 64, 24, trace.order)
    return result(trace, packet, None, packet.offset + bit // 8)


def packet_not_whole_bytes(trace):
    file, packet = hurt(trace)
    bit = bit_of(packet, "packet-total-length")
    put(file, packet, bit, 64, 8 * packet.size + 3, trace.order)
    return result(trace, packet, None, packet.offset + bit // 8)


def packet_too_small(trace):
    file, packet = hurt(trace)
    bit = bit_of(packet, "packet-total-length")
    put(file, packet, bit, 64, 16, trace.order)
    return result(trace, packet, None, packet.offset + bit // 8)


def garbage_between(trace):
    file, packet = hurt(trace)
    file.data[packet.offset:packet.offset] = b"\x5a" * 37
    return result(trace, None, None, packet.offset)


DAMAGES = {"unknown-event": unknown_event, "overrun": overrun, "bad-magic": bad_magic, "bad-magic-first": bad_magic_first,
           "wrong-uuid": wrong_uuid, "unknown-stream": unknown_stream, "zeros-at-the-end": zeros_at_the_end,
           "cut-in-header": cut_in_header, "cut-in-events": cut_in_events, "cut-in-padding": cut_in_padding,
           "content-beyond-packet": content_beyond_packet, "content-too-small": content_too_small,
           "packet-not-whole-bytes": packet_not_whole_bytes, "packet-too-small": packet_too_small,
           "garbage-between": garbage_between}
