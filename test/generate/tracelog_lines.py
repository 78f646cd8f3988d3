"""Lines of a TraceLog in each dialect, for the generator. Each line is a Record with its text and its meaning; nothing
here reads a text."""

DIALECTS = ("doc", "vs", "old", "saved")


class Record:
    """A line. `name` None: it is not a record (blank, comment). `rule`: a reader must skip it, for this reason.
    `track`: "process", ("iid", "0x2" or None) or ("os", number). `at`: its time in ms, or None.
    `hint`: the dialect that it indicates, even if skipped.
    `delta` of a sample: (kept, size, moved, ip, frames); `truth`: the stack that the program had."""

    def __init__(self, name, track, at, fields, text):
        self.name, self.track, self.at, self.fields, self.text = name, track, at, fields, text
        self.end, self.rule, self.bad_bytes, self.hint, self.delta, self.truth = b"\n", None, 0, None, None, None
        self.oldest = False     # it has the form of the oldest recorders only


def hexa(value):
    """As JSON has it; None is undefined."""
    return None if value is None else hex(value)


class Log:
    """Writes records. `free`: in every spelling that readers must accept, instead of the writer's own."""

    def __init__(self, dialect, random, wide=True, free=False):
        self.dialect, self.random, self.free = dialect, random, free
        self.digits = 16 if wide else 8
        self.records = []
        self.oldest = False     # as written before there were iids of classes

    # ---------------------------------------------------------------------------------------------------- spelling

    def padded(self, value, digits, prefix="0x"):
        if self.free:
            digits = (digits, 1, 12, 16)[self.random.below(4)]
        lower = self.dialect == "old" if not self.free else self.random.chance(500)
        return prefix + ("%0*x" if lower else "%0*X") % (digits, value)

    def iid(self, value):
        return "?" if value is None else self.padded(value, 8)

    def ptr(self, value):
        return "?" if value is None else self.padded(value, self.digits)

    def hex32(self, value):
        return self.padded(value, 8)

    def ip(self, value):
        if value is None:
            return "?"
        if self.dialect == "saved":
            return "0x%x" % value
        bare = self.dialect == "old" or (self.free and self.random.chance(400))
        return self.padded(value, self.digits, "" if bare else "0x")

    def pid(self, value, hexadecimal):
        if self.free:
            hexadecimal = self.random.chance(500)
        return "0x%x" % value if hexadecimal else "%d" % value

    def frame(self, iid, ip):
        text = "?" if iid is None else "0x%x" % iid
        if ip is not None:
            return text + ":" + self.ip(ip)
        return text + ":?" if self.random.chance(200) else text

    # ------------------------------------------------------------------------------------------------------ records

    def put(self, words, track, at, fields, *texts):
        text = " ".join((words,) + texts)
        record = Record(words.replace(" ", "."), track, at, fields, text.encode("utf-8"))
        self.records.append(record)
        return record

    def process(self, words, at, fields, *texts):
        return self.put(words, "process", at, fields, *texts)

    def nothing(self, text, rule=None):
        """A blank line, or one that is not a record."""
        record = Record(None, None, None, None, text)
        record.rule = rule
        self.records.append(record)
        return record

    def start(self, time):
        return self.process("prf stm", None, {"time": time}, time)

    def config(self, name, value):
        return self.process("prf cfg", None, {"name": name, "value": value}, name, value)

    def pause(self, at, begin):
        return self.process("prf tps" if begin else "prf trs", at, {"timestamp": at}, "%d" % at)

    def process_cpu(self, at, usage):
        return self.process("prc cpu", at, {"timestamp": at, "usage": usage}, "%d %d" % (at, usage % 2**64))

    def thread_cpu(self, iid, at, usage):
        fields = {"threadIid": hexa(iid), "timestamp": at, "usage": usage}
        return self.put("thr cpu", ("iid", hexa(iid)), at, fields, self.iid(iid), "%d %d" % (at, usage % 2**64))

    def thread_created(self, handle, iid):
        fields = {"threadId": hexa(handle), "threadIid": hexa(iid)}
        return self.put("thr crt", ("iid", hexa(iid)), None, fields, self.ptr(handle), self.iid(iid))

    def thread_assigned(self, iid, os):
        fields = {"threadIid": hexa(iid), "osThreadId": os}
        return self.put("thr aos", ("iid", hexa(iid)), None, fields, self.iid(iid), self.pid(os, False))

    def thread_destroyed(self, iid):
        texts = [self.iid(iid)] * (2 if self.dialect == "vs" else 1)
        return self.put("thr dst", ("iid", hexa(iid)), None, {"threadIid": hexa(iid)}, *texts)

    def module(self, module, base, assembly, status, name):
        fields = {"moduleId": hexa(module), "baseLoadAddress": hexa(base), "assemblyId": hexa(assembly), "status": hexa(status),
                  "moduleName": name}
        return self.process("mod ldf", None, fields, self.ptr(module), self.ptr(base), self.ptr(assembly), self.hex32(status),
                            '"%s"' % name)

    def attached(self, module, assembly):
        return self.process("mod ata", None, {"moduleId": hexa(module), "assemblyId": hexa(assembly)}, self.ptr(module),
                            self.ptr(assembly))

    def assembly(self, assembly, domain, module, status, name):
        fields = {"assemblyId": hexa(assembly), "appDomainId": hexa(domain), "moduleId": hexa(module), "status": hexa(status),
                  "assemblyName": name}
        return self.process("asm ldf", None, fields, self.ptr(assembly), self.ptr(domain), self.ptr(module), self.hex32(status),
                            '"%s"' % name)

    def domain(self, domain, pid, status, name):
        fields = {"appDomainId": hexa(domain), "processId": pid, "status": hexa(status), "appDomainName": name}
        return self.process("apd crf", None, fields, self.ptr(domain), self.pid(pid, self.dialect != "doc"), self.hex32(status),
                            '"%s"' % name)

    def type_loaded(self, handle, iid, module, token, status=0):
        fields = {"classId": hexa(handle), "classIid": hexa(iid), "moduleId": hexa(module), "classToken": hexa(token),
                  "status": hexa(status)}
        texts = [self.ptr(handle), self.iid(iid), self.ptr(module), self.hex32(token), self.hex32(status)]
        if self.oldest:
            fields["classIid"] = None
            del texts[1]
        record = self.process("cls ldf", None, fields, *texts)
        record.oldest = self.oldest
        return record

    def type_named(self, iid, name):
        return self.process("cls nam", None, {"classIid": hexa(iid), "className": name}, self.iid(iid), '"%s"' % name)

    def function(self, iid, handle, owner, module, token, code, il_map, status=0, cached=False):
        """code: [(address, size)], il_map: [(il, from, to)]"""
        fields = {"internalId": hexa(iid), "functionId": hexa(handle), "classId": hexa(owner), "moduleId": hexa(module),
                  "funcToken": hexa(token),
                  "code_info": [{"start_addr": hexa(start), "size": hexa(size)} for start, size in code],
                  "il_map": [dict(zip(("ilOffset", "nativeStart", "nativeEnd"), map(hexa, item))) for item in il_map]}
        items = ["%s:0x%x" % (self.ptr(start), size) for start, size in code] + ["0x%x:0x%x:0x%x" % item for item in il_map]
        head = [self.iid(iid), self.ptr(handle)]
        more = [self.ptr(owner), self.ptr(module), self.hex32(token)]
        if self.dialect != "old":
            return self.process("fun inf", None, fields, *head + more + items)
        if cached:
            return self.process("fun csf", None, fields, *head[::-1] + more + items)
        fields["status"] = hexa(status)
        return self.process("fun cmf", None, fields, *head[::-1] + more + [self.hex32(status)] + items)

    def function_named(self, iid, name, returns, signature):
        fields = {"internalId": hexa(iid), "fullName": name, "returnType": returns, "signature": signature}
        if not self.oldest or '" "' in name:
            return self.process("fun nam", None, fields, self.iid(iid), '"%s" "%s" "%s"' % (name, returns, signature))
        fields["returnType"] = fields["signature"] = None
        record = self.process("fun nam", None, fields, self.iid(iid), '"%s"' % name)
        record.oldest = True
        return record

    def of_thread(self, words, iid, os, at, fields, *texts):
        """jit and gch: the device viewer needs the system's number."""
        if self.dialect == "vs" and os is not None:
            fields = dict(fields, threadIid=None, osThreadId=os, timestamp=at)
            return self.put(words, ("os", os), at, fields, "%d" % os, "%d" % at, *texts)
        return self.put(words, ("iid", hexa(iid)), at, dict(fields, threadIid=hexa(iid), timestamp=at), self.iid(iid), "%d" % at,
                        *texts)

    def jit(self, words, iid, os, at, function, status=None):
        fields, texts = {"functionId": hexa(function)}, [self.ptr(function)]
        if status is not None:
            fields["status"] = hexa(status)
            texts.append(self.hex32(status))
        return self.of_thread(words, iid, os, at, fields, *texts)

    def collection(self, iid, os, at, induced, generations):
        fields = {"reason": "induced" if induced else None, "gen_collect": generations}
        return self.of_thread("gch gcs", iid, os, at, fields, "induced" if induced else "?", generations)

    def collected(self, iid, os, at):
        return self.of_thread("gch gcf", iid, os, at, {})

    def heap(self, at, items):
        """items: [(class iid, count, bytes)]"""
        fields = {"timestamp": at, "alt_item": [{"classIid": hexa(c), "allocCount": n, "memSize": size} for c, n, size in items]}
        return self.process("gch alt", at, fields, *["%d" % at] + ["%s:%d:%d" % (self.short(c), n, size) for c, n, size in items])

    def sizes(self, at, items):
        """items: four of (name, used, reserved)"""
        fields = {"timestamp": at, "generations": [{"name": name, "alloc": used, "reserved": room} for name, used, room in items]}
        return self.process("gch gen", at, fields, *["%d" % at] + ["%s:%d:%d" % item for item in items])

    def short(self, value):
        return "?" if value is None else "0x%x" % value

    def sample(self, iid, at, count, kept, size, moved, ip, frames, truth):
        old = self.dialect == "old"
        head = "%d:%d" % (kept, size) + (":" + self.ip(ip) if moved else "")
        texts = [self.iid(iid), "%d" % at, "?" if count is None else "%d" % count, head]
        fields = {"threadIid": hexa(iid), "timestamp": at, "count": count, "kept": kept}
        record = self.put("str sam" if old else "sam str", ("iid", hexa(iid)), at, fields,
                          *texts + [self.frame(*frame) for frame in frames])
        record.delta = (kept, size, moved, ip, [tuple(frame) for frame in frames])
        record.truth = None if truth is None else [tuple(frame) for frame in truth]
        return record

    def allocations(self, iid, at, items):
        """items: [(class iid, count, bytes, ip or None)]"""
        fields = {"threadIid": hexa(iid), "timestamp": at,
                  "alloc_item": [{"classIid": hexa(c), "allocCount": n, "memSize": size, "ip": hexa(ip)} for c, n, size,
                                 ip in items]}
        texts = []
        for c, n, size, ip in items:
            text = "%s:%d:%d" % (self.short(c), n, size)
            if ip is not None or self.random.chance(200):
                text += ":" + self.ip(ip)
            texts.append(text)
        return self.put("sam mem", ("iid", hexa(iid)), at, fields, self.iid(iid), "%d" % at, *texts)

    def file(self, iid, path):
        return self.process("fil src", None, {"fileIid": hexa(iid), "path": path}, self.iid(iid), '"%s"' % path)

    def line(self, iid, file, function, place):
        """place: first line and column, last line and column"""
        fields = {"lineIid": hexa(iid), "fileIid": hexa(file), "functionIid": hexa(function)}
        fields.update(zip(("startLine", "startCol", "endLine", "endCol"), place))
        return self.process("lin src", None, fields, self.iid(iid), self.iid(file), self.iid(function),
                            "%d %d %d %d" % tuple(place))


def to_bytes(records, bom=False):
    return (b"\xef\xbb\xbf" if bom else b"") + b"".join(record.text + record.end for record in records)
