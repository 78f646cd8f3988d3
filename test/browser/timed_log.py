"""A log of a program that does other things at other times: threads that begin late, a phase of long calls, one very slow call."""
import random
import struct

HZ = 10 ** 9                                        # so that ticks are the nanoseconds that other outputs have
NAMES = ["main", "serve_client", "parse_request", "find_header", "check_user", "hash_password", "render_page", "render_node",
         "write_escaped", "send_reply", "compress_block", "log_line"]
BELOW = {"main": ["serve_client", "log_line"], "serve_client": ["parse_request", "check_user", "render_page", "send_reply"],
         "parse_request": ["find_header"], "check_user": ["hash_password"], "render_page": ["render_node"],
         "render_node": ["write_escaped", "render_node"], "send_reply": ["compress_block"]}
DEPTH_MOST, SPAN = 9, 4000000


class Writer:
    def __init__(self, thread, chance):
        self.thread, self.chance, self.records = thread, chance, []

    def put(self, kind, name, now):
        self.records.append((now, len(self.records), struct.pack("<HBBIQII8x", 0, 0, kind, NAMES.index(name) + 1, now, self.thread, 4000)))

    def call(self, name, now, depth, until):
        """A call from `now` on; its end."""
        self.put(0, name, now)
        now += self.chance.randrange(20, 400)
        late = now > SPAN // 2                       # then rendering takes longer
        for _ in range(self.chance.randrange(1, 5) if depth < DEPTH_MOST else 0):
            below = BELOW.get(name, [])
            if name == "main":
                break
            if below and now < until:
                now = self.call(self.chance.choice(below), now, depth + 1, until)
                now += self.chance.randrange(1, 900 if late and name.startswith("render") else 300)
        if name == "main":
            while now < until:
                now = self.call(self.chance.choice(BELOW["main"]), now, depth + 1, until) + self.chance.randrange(100, 5000)
        if name == "hash_password" and not late and self.chance.random() < 0.02:
            now += 60000
        now += self.chance.randrange(5, 200)
        self.put(1, name, now)
        return now


def write(path, threads=(4711, 4714, 4717), seed=7, span=SPAN):
    records = []
    for at, thread in enumerate(threads):
        writer = Writer(thread, random.Random(seed + at))
        writer.call("main", 1000 + at * span // 5, 1, 1000 + span)
        records += writer.records
    with open(path, "wb") as file:
        file.write(struct.pack("<HHIQ16x", 3, 0, 0, HZ))
        for _, _, data in sorted(records):
            file.write(data)
