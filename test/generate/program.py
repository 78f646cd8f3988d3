"""A made-up server program: its functions, and its threads' actions, for the trace generator.

Everything follows from a seed, with a random number generator of our own, so that files are the same on every host."""

ENTER, EXIT, TAIL_EXIT, ENTER_ARGS, CUSTOM, TYPED = range(6)
CLASS_NAMES = ["xray.enter", "xray.exit", "xray.tail_exit", "xray.enter_args", "xray.custom", "xray.typed"]

# Name, own cost in ticks, and (callee, how many calls in 8 attempts) pairs. The id of a function is its place from 1 on.
FUNCTIONS = [
    ("main", 900, [("serve_client", 8), ("serve_client", 8), ("serve_client", 8), ("serve_client", 8), ("log_line", 8)]),
    ("serve_client", 700, [("parse_request", 8), ("check_user", 5), ("render_page", 8), ("send_reply", 8)]),
    ("parse_request", 400, [("find_header", 8), ("find_header", 6), ("find_header", 3)]),
    ("find_header", 90, []),
    ("check_user", 250, [("hash_password", 7)]),
    ("hash_password", 5200, []),
    ("render_page", 800, [("render_node", 8), ("render_node", 4)]),
    ("render_node", 160, [("render_node", 4), ("write_escaped", 6), ("render_node", 2)]),
    ("write_escaped", 60, []),
    ("send_reply", 300, [("compress_block", 6), ("compress_block", 4), ("log_line", 2)]),
    ("compress_block", 2100, []),
    ("log_line", 120, []),
]
NAMES = [name for name, _, _ in FUNCTIONS]
IDS = {name: number for number, name in enumerate(NAMES, 1)}


class Random:
    """xorshift64*: the same numbers in every Python."""

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 + 0x1234567) % (1 << 64) or 1

    def below(self, limit):
        x = self.state
        x ^= x >> 12
        x ^= (x << 25) % (1 << 64)
        x ^= x >> 27
        self.state = x
        return ((x * 0x2545F4914F6CDD1D) % (1 << 64) >> 32) % limit

    def chance(self, in_1000):
        return self.below(1000) < in_1000

    def bytes(self, count):
        return bytes(self.below(256) for _ in range(count))


class Event:
    """One event before it is written. `args` belongs to ENTER_ARGS, `data` to CUSTOM and TYPED, `type` to TYPED."""

    def __init__(self, kind, tsc, cpu, function=0, args=(), data=b"", type=0):
        self.kind, self.tsc, self.cpu, self.function = kind, tsc, cpu, function
        self.args, self.data, self.type = list(args), data, type


class Thread:
    """Runs `main` again and again until there are enough events."""

    def __init__(self, random, tid, style, events):
        self.random, self.tid, self.style, self.wanted = random, tid, style, events
        self.tsc = style.get("start", 1 << 40) + random.below(5000)
        self.cpu = random.below(8)
        self.events = []
        while len(self.events) < events:
            self.call("main", 0)
        if style.get("cut"):                                      # the recording ends inside a call
            del self.events[events:]

    def emit(self, kind, name=None, **more):
        style, random = self.style, self.random
        if random.chance(style.get("gap", 0)):
            self.tsc += (1 << 32) + random.below(1 << 33)
        if random.chance(style.get("migrate", 0)):
            self.cpu = random.below(style.get("cpus", 8))
        self.events.append(Event(kind, self.tsc, self.cpu, IDS.get(name, 0), **more))

    def call(self, name, depth):
        style, random = self.style, self.random
        _, cost, callees = FUNCTIONS[IDS[name] - 1]
        if random.chance(style.get("args", 0)):
            count = 1 + random.below(style.get("max_args", 1))
            args = [random.below(1 << 32) << random.below(33) for _ in range(count)]
            self.emit(ENTER_ARGS, name, args=args)
        else:
            self.emit(ENTER, name)
        self.tsc += cost // 2 + random.below(cost)
        for callee, eighths in callees:
            if depth < 12 and random.below(8) < eighths and len(self.events) < self.wanted:
                self.call(callee, depth + 1)
                self.tsc += random.below(40)
        if random.chance(style.get("custom", 0)):
            self.emit(CUSTOM, data=random.bytes(random.below(20)))
        if random.chance(style.get("typed", 0)):
            self.emit(TYPED, data=random.bytes(random.below(20)), type=random.below(5))
        self.tsc += 1 + random.below(cost // 4)
        if not random.chance(style.get("missing", 0)):            # otherwise the exit is lost
            self.emit(TAIL_EXIT if random.chance(style.get("tail", 0)) else EXIT, name)
        if random.chance(style.get("stray", 0)):
            self.emit(EXIT, NAMES[random.below(len(NAMES))])


def run(seed, threads=2, events=120, pid=4711, **style):
    """[(tid, [Event, ...]), ...]; style: chances in 1000, see Thread."""
    random = Random(seed)
    return [(pid + number * 3, Thread(random, pid + number * 3, style, events).events) for number in range(threads)]


def functions(threads):
    """The times of every function: {id: [calls, ticks of calls not inside another one of it, own ticks]}."""
    rows = {}
    for _, events in threads:
        stack, last = [], 0
        for event in events:
            if stack:
                rows[stack[-1][0]][2] += event.tsc - last
            last = event.tsc
            if event.kind in (ENTER, ENTER_ARGS):
                rows.setdefault(event.function, [0, 0, 0])
                stack.append((event.function, event.tsc))
            elif event.kind in (EXIT, TAIL_EXIT):
                function, entered = stack.pop()
                rows[function][0] += 1
                if all(outer != function for outer, _ in stack):
                    rows[function][1] += event.tsc - entered
    return rows


def jsonl(threads, hz, cpu_bits=16, named=False):
    """The expected output of `convert --to jsonl`: {track name: [object, ...]}."""
    every = [event.tsc for _, events in threads for event in events]
    begin = min(every, default=0)

    def time(tsc):
        if hz == 0:
            return tsc - begin
        whole, rest = divmod((tsc - begin) * 10**9, hz)
        return whole + (rest * 2 > hz or (rest * 2 == hz and whole % 2))

    tracks = {}
    for tid, events in threads:
        lines = tracks.setdefault("thread %d" % tid, [])
        for event in events:
            if event.kind in (CUSTOM, TYPED):
                fields = {"data": event.data.hex()}
                if event.kind == TYPED:
                    fields["type"] = event.type
            else:
                fields = {"function": NAMES[event.function - 1] if named else None, "id": event.function}
                if event.kind == ENTER_ARGS:
                    fields["args"] = event.args
            lines.append({"ts": time(event.tsc), "class": CLASS_NAMES[event.kind], "track": "thread %d" % tid,
                          "cpu": event.cpu % (1 << cpu_bits), "fields": fields})
    return {track: lines for track, lines in tracks.items() if lines}
