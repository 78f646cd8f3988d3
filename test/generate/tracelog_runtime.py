"""A made-up .NET program under a profiler, for the TraceLog generator: a runtime that compiles methods when they are first
called, threads that call and sample them, a heap that is collected. It writes its log while it runs, and keeps its own
records (`books`), to check the answers against."""
from program import Random
from tracelog_lines import Log

# Name, return type, signature, callees, allocations. A method's number is its place, until it is compiled again.
METHODS = [
    ("Shop.Program:Main", "System.Void", "(string[])", (1, 1, 2, 9), (0,)),
    ("Shop.Server:Handle", "Shop.Reply", "(Shop.Request)", (2, 3, 4, 6, 10), (1, 4)),
    ("Shop.Json:ReadValue", "object", "(Shop.Reader&)", (2, 2, 3, 11), (2,)),
    ("Shop.Json:ReadString", "string", "(Shop.Reader&)", (7,), (2, 0)),
    ("Shop.Cart:Total", "System.Decimal", "()", (5, 5), ()),
    ("Shop.Cart`1[T]:<Sum>b__3_0", "System.Decimal", "(!0)", (), (5,)),
    ("Shop.Größe:Ermitteln", "System.Int32", "(bool,\"λ\")", (6, 7), (3,)),
    ("System.String:Concat", "string", "(string,string)", (8,), (0, 0)),
    ("System.Buffer:Memmove", "System.Void", "(byte&,byte&,uint)", (), ()),
    ("Shop.Log:Write", "System.Void", "(string,object[])", (7, 12), (0, 4)),
    ("Odd\" \"Name:With Quotes", "System.Void", "()", (4, 11), (1,)),
    ("Shop.Tree:Insert", "Shop.Tree", "(int)", (11, 11, 5), (5,)),
    ("(dynamicClass):lambda_method", "", "", (8,), ()),
]
TYPES = ["System.String", "Shop.Reply", "System.Char[]", "System.Int32[]", "System.Object[]", "Shop.Tree+Node`1[[System.Int32, "
         "mscorlib]]"]
PRECOMPILED = (7, 8)            # their code is found, not compiled
LATE = (3, 5, 11)               # named only after they were used
NEVER = (12,)                   # never named
GENERATIONS = ("tfff", "tfff", "ttff", "tttf", "tttt", "ffft")
PERIOD_TEXTS = {"abc": 10, "0": 10, "3600001": 10, "5": 5, "3600000": 3600000, "25": 25, " 5": 10}


class Method:
    def __init__(self, iid, handle, plan):
        self.iid, self.handle, self.plan = iid, handle, plan
        self.name, self.returns, self.signature, self.callees, self.allocates = METHODS[plan]
        self.code, self.size, self.named, self.calls, self.lines, self.ready = None, 0, False, 0, [], False


class Thread:
    def __init__(self, iid, handle, os):
        self.iid, self.handle, self.os = iid, handle, os
        self.at, self.stack, self.told, self.low, self.jobs = 0, [], [], 0, []
        self.alive, self.used, self.pending = True, 0, {}


class Runtime:
    """style: threads, steps, pauses, narrow, free, bare (no set-up), period (text of the configuration or None) ..."""

    def __init__(self, seed, dialect, steps=150, threads=3, **style):
        self.random, self.style = Random(seed * 31 + len(dialect)), style
        self.log = Log(dialect, self.random, wide=not style.get("narrow"), free=style.get("free", False))
        self.dialect, self.now = dialect, self.random.below(40)
        self.threads, self.methods, self.types, self.collections, self.gone = [], {}, {}, [], []
        self.next_iid, self.next_line, self.period, self.paused, self.cpu_step = 0, 1, 10, False, 10
        self.live = {}
        self.books = {"on": {}, "top": {}, "bytes": {}, "pauses": [], "compiled": 0, "counted": 0, "calls": {}}
        self.begin(threads)
        for step in range(steps):
            self.step(step)
        self.finish()

    def pick(self, choices):
        return choices[self.random.below(len(choices))]

    # --------------------------------------------------------------------------------------------------------- start

    def begin(self, threads):
        log, style = self.log, self.style
        log.start(style.get("start", "2018-06-25 07:24:28.049"))
        log.oldest = style.get("oldest", False)
        self.instrumented = style.get("instrumented", False)
        if style.get("suspended"):
            log.config("TracingSuspendedOnStart", "T")
            self.paused = True
        if self.instrumented == "memory":
            log.config("ExecutionTraceEnabled", "F")
        for name, value in (("CollectionMethod", "Instrumentation" if self.instrumented else "Sampling"), ("HighGranularityEnabled", "T"),
                            ("CommandLine", "shop  --port 80 "),
                            ("Nothing", "")):
            log.config(name, value)
        if style.get("period"):
            self.configure(style["period"])
        if not style.get("no_cpu_step"):
            log.config("CpuTraceTimeoutMs", "%d" % self.cpu_step)
        domain, assembly = self.address(0x1046E280), self.address(0x10478560)
        log.domain(domain, 5256, 0, "Shop.exe")
        for number, name in enumerate(("/usr/share/dotnet/System.Private.CoreLib.dll", "/srv/my shop/Shop \"2\".dll")):
            module = self.module(number)
            log.module(module, self.address(0x36ED0000 + number * 0x100000), assembly + number * 64 if number else None, 0, name)
            log.assembly(assembly + number * 64, domain, module, 0, name.split("/")[-1][:-4])
            log.attached(module, assembly + number * 64)
        log.module(self.module(2), 0, None, 0x80131522, "")                     # it could not be loaded
        for _ in range(threads):
            self.new_thread()
        if self.dialect == "saved":
            for number, path in enumerate(("/src/shop/Server.cs", "/src/shop/Größe \"neu\".cs")):
                log.file(number, path)

    def configure(self, text):
        self.log.config("SamplingTimeoutMs", text)
        self.period = PERIOD_TEXTS[text]

    def address(self, low):
        return low if self.style.get("narrow") else 0x7F0000000000 + low

    def module(self, number):
        return self.address(0x26E24020 + number * 0x78)

    def new_thread(self):
        """The system reuses handles and numbers of ended threads."""
        iid = len(self.threads)
        old = self.gone.pop() if self.gone else None
        thread = Thread(iid, old.handle if old else self.address(0x28000CA0 + iid * 0x200), old.os if old else 5483 + iid * 7)
        thread.at = self.now
        self.threads.append(thread)
        self.log.thread_created(thread.handle, iid)
        self.log.thread_assigned(iid, thread.os)
        return thread

    # ---------------------------------------------------------------------------------------------------------- steps

    def step(self, number):
        random = self.random
        self.now += random.below(6)
        alive = [thread for thread in self.threads if thread.alive]
        thread = self.pick(alive)
        if self.style.get("pauses") and random.chance(60):
            self.paused = not self.paused
            self.log.pause(self.now, self.paused)
        if number % 20 == 10:
            self.measure(alive)
        if random.chance(self.style.get("collecting", 50)):
            self.collect(thread)
        if random.chance(25) and len(alive) > 1:
            self.end_thread(self.pick(alive[1:]))
        elif random.chance(30) and len(alive) < 6:
            self.new_thread()
        if thread.alive:
            self.run(thread)
        if self.style.get("period") and not self.style.get("steady") and random.chance(20):
            self.configure(self.pick(sorted(PERIOD_TEXTS)))
        if random.chance(40):
            self.name_late()

    def clock(self, thread):
        """The threads' clocks differ: only each single one never goes back."""
        thread.at = max(thread.at, self.now - self.random.below(8), 0)
        return thread.at

    def run(self, thread):
        random = self.random
        if thread.jobs and not random.chance(300):
            self.end_job(thread)
            return
        for _ in range(random.below(7)):
            if thread.stack and random.chance(400):
                self.leave(thread)
            elif len(thread.stack) < 14:
                self.call(thread)
        if thread.stack and random.chance(700):
            self.move(thread)
        if thread.stack and random.chance(400):
            self.allocate(thread)
        if self.instrumented is True:
            if random.chance(500) or thread.pending:
                self.tell(thread, self.pick((0, 0, 0, 3)))
        elif random.chance(850):
            self.tell(thread, None if self.dialect == "old" and random.chance(100) else self.pick((0, 1, 1, 1, 2, 7)))

    # ---------------------------------------------------------------------------------------------- calls and samples

    def method(self, plan):
        return self.methods.get(plan)

    def call(self, thread):
        plan = 0
        if thread.stack:
            caller = thread.stack[-1][2]
            if caller is None or not caller.callees:
                return
            plan = self.pick(caller.callees)
            if not self.random.chance(200):
                self.move(thread)
        if self.random.chance(30):
            thread.stack.append([None, None, None])                 # of a library unknown to the profiler
            self.entered(thread)
            return
        if plan not in self.methods:
            self.first_call(thread, plan)
        method = self.methods[plan]
        method.calls += 1
        if method.calls % 23 == 0:
            self.recompile(thread, method)
        thread.stack.append([method.iid, None if self.random.chance(150) else self.place(method), method])
        self.entered(thread)

    def place(self, method):
        if self.dialect == "saved":
            return self.pick(method.lines) if method.lines and not self.random.chance(100) else 0
        return method.code + self.random.below(max(method.size, 1)) if method.code is not None else 0x1000

    def move(self, thread):
        frame = thread.stack[-1]
        frame[1] = self.place(frame[2]) if frame[2] is not None and not self.random.chance(80) else None

    def leave(self, thread):
        frame = thread.stack.pop()
        thread.low = min(thread.low, len(thread.stack))
        if self.instrumented is not True:
            return
        self.now += self.random.below(3)
        self.tell(thread, 0)
        row = self.books["calls"].setdefault(frame[0], [])
        row.append(thread.at - frame[3])

    def entered(self, thread):
        """An instrumented program writes a line for each enter and leave."""
        if self.instrumented is True:
            self.now += self.random.below(3)
            self.tell(thread, 0)
            thread.stack[-1].append(thread.at)

    def tell(self, thread, count, at=None):
        """One line: the difference of the stack from the last line's, and its number of samples."""
        at = self.clock(thread) if at is None else at
        kept, size = thread.low, len(thread.told)
        moved = kept > 0 and thread.told[kept - 1][1] != thread.stack[kept - 1][1]
        frames = [(frame[0], frame[1]) for frame in thread.stack]
        self.log.sample(thread.iid, at, count, kept, size, moved, frames[kept - 1][1] if moved else None, frames[kept:], frames)
        thread.told, thread.low = frames, len(frames)
        if count and not self.instrumented:
            books = self.books
            books["counted"] += count
            for iid in {iid for iid, _ in frames}:
                books["on"][iid] = books["on"].get(iid, 0) + count * self.period
            if frames:
                books["top"][frames[-1][0]] = books["top"].get(frames[-1][0], 0) + count * self.period
        if thread.pending:
            items = [(key[0], n, size, key[1]) for key, (n, size) in thread.pending.items()]
            thread.pending = {}
            self.log.allocations(thread.iid, at, items)
            for iid, _, size, _ in items:
                self.books["bytes"][iid] = self.books["bytes"].get(iid, 0) + size

    def allocate(self, thread):
        method = thread.stack[-1][2]
        if method is None or not method.allocates:
            return
        plan = self.pick(method.allocates)
        if plan not in self.types:
            self.types[plan] = len(self.types)
            if not self.random.chance(100):
                self.log.type_loaded(self.address(0x26E2C798 + plan * 0x80), self.types[plan], self.module(1), 0x02000057 + plan)
            if not self.random.chance(100):
                self.log.type_named(self.types[plan], TYPES[plan])
        iid = None if self.random.chance(30) else self.types[plan]
        n, size = 1 + self.random.below(4), 16 + 8 * self.random.below(20)
        key = (iid, None if self.random.chance(300) else self.place(method))
        have = thread.pending.setdefault(key, [0, 0])
        have[0] += n
        have[1] += n * size
        alive = self.live.setdefault(iid, [0, 0])
        alive[0] += n
        alive[1] += n * size

    # ----------------------------------------------------------------------------------------------------------- code

    def first_call(self, thread, plan):
        reuse = [m for m in self.methods.values() if m.plan in (4, 9) and self.random.chance(50)]
        handle = reuse[0].handle if reuse else self.address(0x326CFD88 + plan * 0x70)   # the old method was unloaded
        method = self.methods[plan] = Method(self.next_iid, handle, plan)
        self.next_iid += 1
        words = "jit cs" if plan in PRECOMPILED else "jit cm"
        self.log.jit(words + "s", thread.iid, thread.os, self.clock(thread), handle)
        self.now += self.random.below(4)
        if self.random.chance(250) and plan != 8 and 8 not in self.methods:
            self.first_call(thread, 8)                              # one compilation inside another
        if self.random.chance(80):                                  # the first attempt fails
            self.log.jit(words + "f", thread.iid, thread.os, self.clock(thread), handle,
                         0x80131522 if words == "jit cm" else None)
            self.books["compiled"] += words == "jit cm"
            self.log.jit(words + "s", thread.iid, thread.os, self.clock(thread), handle)
        self.give_code(method)
        if plan not in LATE + NEVER:
            self.give_name(method)
        if self.random.chance(300):
            thread.jobs.append((words, handle))                     # it ends later
        else:
            self.log.jit(words + "f", thread.iid, thread.os, self.clock(thread), handle, 0 if words == "jit cm" else None)
            self.books["compiled"] += words == "jit cm"

    def end_job(self, thread):
        words, handle = thread.jobs.pop()
        self.log.jit(words + "f", thread.iid, thread.os, self.clock(thread), handle, 0 if words == "jit cm" else None)
        self.books["compiled"] += words == "jit cm"

    def recompile(self, thread, method):
        """Better code for a frequently called method: the same ids again. Sometimes the start is lost."""
        if any(handle == method.handle for other in self.threads for _, handle in other.jobs):
            return
        worker = self.pick([other for other in self.threads if other.alive])
        lost = self.random.chance(150)
        if not lost:
            self.log.jit("jit cms", worker.iid, worker.os, self.clock(worker), method.handle)
            self.books["compiled"] += 1
        self.now += self.random.below(9)
        self.give_code(method)
        self.log.jit("jit cmf", worker.iid, worker.os, self.clock(worker), method.handle, 0x1)

    def give_code(self, method):
        random = self.random
        method.size = 16 + random.below(400)
        method.code = self.address(0x1DE22000 + random.below(1 << 20) * 64)
        half = random.below(method.size)
        code = [(method.code, method.size)] if random.chance(700) else [(method.code, method.size - half),
                                                                        (method.code + 4096, half)]
        il_map, at = [], 0
        for il in (0xFFFFFFFE, 0, 7, 0x13, 0xFFFFFFFD, 0xFFFFFFFF)[:random.below(7)]:
            il_map.append((il, at, at + 6))
            at += 6
        if random.chance(40):
            code, il_map = [], []
        self.log.function(method.iid, method.handle, None if random.chance(100) else self.address(0x326CFE18), self.module(1),
                          0x06000003 + method.plan, code, il_map, cached=method.plan in PRECOMPILED)
        if self.dialect == "saved":
            for _ in range(1 + random.below(3)):
                row = 10 + random.below(300)
                self.log.line(self.next_line, random.below(2), method.iid, (row, 1 + random.below(9), row + random.below(3), 40))
                method.lines.append(self.next_line)
                self.next_line += 1

    def give_name(self, method):
        method.named = True
        self.log.function_named(method.iid, method.name, method.returns, method.signature)

    def name_late(self):
        waiting = [m for m in self.methods.values() if not m.named and m.plan not in NEVER]
        if waiting:
            self.give_name(self.pick(waiting))
        elif self.methods and self.random.chance(300):              # one method gets another name
            method = self.pick(sorted(self.methods.values(), key=lambda m: m.iid))
            self.log.function_named(method.iid, method.name + "$2", method.returns, method.signature)

    # -------------------------------------------------------------------------------------------- heap and processors

    def collect(self, thread):
        """Collections may be open on several threads; any end belongs to the one that began last."""
        random = self.random
        self.collections.append(self.clock(thread))
        self.log.collection(thread.iid, thread.os, thread.at, random.chance(300), self.pick(GENERATIONS))
        if random.chance(250):
            return                                                  # it ends later
        self.now += random.below(30)
        for _ in range(min(1 + random.chance(300), len(self.collections))):
            other = self.pick([t for t in self.threads if t.alive])
            at = self.clock(other)
            self.books["pauses"].append(max(0, at - self.collections.pop()))
            self.log.collected(other.iid, other.os, at)
        for counts in self.live.values():
            counts[0], counts[1] = counts[0] // 2, counts[1] // 2
        if random.chance(600):
            self.log.heap(self.now, [(iid, n, size) for iid, (n, size) in self.live.items() if n])
        if self.dialect != "doc":
            self.log.sizes(self.now, [(name, random.below(1 << 20), 1 << 21) for name in ("LOH", "GEN2", "GEN1", "GEN0")])

    def measure(self, alive):
        total = 0
        for thread in alive:
            used = self.random.below(12000)
            if self.style.get("clock_back") and self.random.chance(200):
                used -= 12000                                           # another thread of the system, with a late clock
            total += used
            self.log.thread_cpu(thread.iid, self.clock(thread), used)
        self.log.process_cpu(self.now, total)

    def end_thread(self, thread):
        while thread.jobs:
            self.end_job(thread)
        while thread.stack:
            self.leave(thread)
        self.tell(thread, 1)
        self.log.thread_destroyed(thread.iid)
        thread.alive = False
        self.gone.append(thread)

    def finish(self):
        for thread in self.threads[::2]:
            if thread.alive:
                self.end_thread(thread)
        if self.dialect == "old" or self.style.get("free"):         # unknown records
            self.log.sample(None, self.now, 1, 0, 0, False, None, [(None, None), (77, None)], None)
            self.log.sample(None, self.now + 1, 1, 1, 2, True, None, [(0, 0xFFFFFFFFFFFFFFFF)], None)
            self.log.allocations(None, self.now + 1, [(None, 1, 24, None), (99, 2, 48, 0x10)])
            self.log.jit("jit cmf", None, None, self.now, 0x5, 0)
            self.books = None
