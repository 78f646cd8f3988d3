"""Real programs, wholly instrumented: lua and zlib of Debian's sources, recorded with nothing left out."""
import glob
import hashlib
import json
import os
import subprocess
import time

SOURCES = ("lua5.4", "zlib")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
WORDS = ("stack", "trace", "loom", "thread", "weave", "signal", "profile", "histogram", "latency", "recorder")
MB = 1000000


def fetch(folder):
    """{name: folder of its sources}, by apt-get with lists and settings of its own; None without a network."""
    place = os.path.join(folder, "sources")
    found = {name: glob.glob(os.path.join(place, name + "-*")) for name in SOURCES}
    if not all(found.values()):
        for part in ("lists/partial", "cache/archives/partial", "parts"):
            os.makedirs(os.path.join(place, part), exist_ok=True)
        with open("/etc/os-release", encoding="utf-8") as file:
            release = dict(line.strip().split("=", 1) for line in file if "=" in line)
        with open(os.path.join(place, "sources.list"), "w", encoding="ascii") as file:
            file.write("deb-src [signed-by=%s] http://deb.debian.org/debian %s main\n" % (KEYRING, release.get("VERSION_CODENAME", "bookworm")))
        options = ["Dir::Etc::sourcelist=%s/sources.list" % place, "Dir::Etc::sourceparts=%s/parts" % place,
                   "Dir::State::lists=%s/lists" % place, "Dir::Cache=%s/cache" % place, "APT::Sandbox::User=root"]
        apt = ["apt-get", "-q"] + [word for option in options for word in ("-o", option)]
        for command in (apt + ["update"], apt + ["source"] + list(SOURCES)):
            done = subprocess.run(command, cwd=place, capture_output=True, text=True)
            if done.returncode:
                print("rt.py: no sources of real programs: " + done.stderr.strip().splitlines()[-1])
                return None
        found = {name: glob.glob(os.path.join(place, name + "-*")) for name in SOURCES}
    return {name: next(path for path in paths if os.path.isdir(path)) for name, paths in found.items()}


def build(name, source, folder, compiler, flags, link):
    """The program, of all its C files at once."""
    path = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    if name == "lua5.4":
        files = [f for f in glob.glob(source + "/src/*.c") if os.path.basename(f) != "luac.c"]
        # Debian's rules make this header.
        with open(os.path.join(folder, "lua5.4-deb-multiarch.h"), "w", encoding="ascii") as file:
            file.write('#define DEB_HOST_MULTIARCH "none"\n')
        extra = ["-DLUA_USE_POSIX", "-DLUA_COMPAT_5_3", "-I", source + "/src", "-I", folder]
    else:
        files = glob.glob(source + "/*.c") + [source + "/test/minigzip.c"]
        extra = ["-DHAVE_UNISTD_H", "-D_LARGEFILE64_SOURCE=1", "-I", source]
    done = subprocess.run([compiler, "-O2", "-w"] + flags + extra + sorted(files) + link + ["-lm", "-o", path], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("rt.py: %s: %s" % (name, done.stderr[:2000]))
    return path


def text_file(folder):
    """Some megabytes of words, the same each time."""
    path, seed, out = os.path.join(folder, "text"), 1, []
    for _ in range(900000):
        seed = (seed * 6364136223846793005 + 1442695040888963407) & (1 << 64) - 1
        out.append(WORDS[seed >> 33 & 7] if seed >> 40 & 3 else "%x" % (seed >> 44))
    with open(path, "w", encoding="ascii") as file:
        file.write(" ".join(out))
    return path


def jobs(folder, here):
    """[(program, what, arguments, file of its input)]"""
    text, packed = text_file(folder), os.path.join(folder, "text.gz")
    subprocess.run("gzip -9 -n < '%s' > '%s'" % (text, packed), shell=True, check=True)
    return [("lua5.4", "lua: a program of all kinds of things", [os.path.join(here, "programs", "rt_work.lua"), "7"], None),
            ("zlib", "zlib: compress a file (-9)", ["-9"], text),
            ("zlib", "zlib: decompress it", ["-d"], packed)]


def run(program, arguments, source, env):
    """Seconds, and what it printed: its length and a hash."""
    with open(source or os.devnull, "rb") as file:
        begin = time.monotonic()
        done = subprocess.run([program] + arguments, stdin=file, capture_output=True, env=env)
        seconds = time.monotonic() - begin
    if done.returncode or done.stderr:
        raise SystemExit("%s %s: status %d: %s" % (program, arguments, done.returncode, done.stderr[-1000:]))
    return seconds, (len(done.stdout), hashlib.sha256(done.stdout).hexdigest())


def remove(base):
    for path in glob.glob(base + "*"):
        os.unlink(path)


class Job:
    """One program with one input; seconds of each way to record it."""

    def __init__(self, what):
        self.what, self.seconds, self.output, self.wrong = what, {}, None, []
        self.log = self.profile = self.calls = self.functions = 0

    def time(self, way, seconds, output):
        self.seconds[way] = min(seconds, self.seconds.get(way, seconds))
        if self.output is None:
            self.output = output
        elif output != self.output:
            self.wrong.append("OTHER OUTPUT of %s, recorded as %s" % (self.what, way))


WAYS = (("not instrumented", None), ("sleds, nothing recorded", ""), ("fdr, the last 16 MiB", "mode=fdr:ring=16M"), ("fdr, all", "mode=fdr"),
        ("profile", "mode=profile"), ("both", "mode=fdr,profile"))


def asked(traceloom, by, path):
    text = subprocess.run([traceloom, "report", "-q", "--json", "--by", by, path], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def numbers_of(traceloom, path):
    """For each function its name (which may be shared), calls, times, and histogram; and the unmatched ones."""
    rows = [(f["name"], f["calls"], f["total"], f["self"], [tuple(b.values()) for b in f["histogram"]]) for f in asked(traceloom, "hist", path)["functions"]]
    return sorted(rows), asked(traceloom, "func", path)["unmatched"]


def compare(traceloom, job, base):
    """The log and the profile of one run must agree."""
    log, profile = base + ".xray", base + ".tlp"
    job.log, job.profile = os.path.getsize(log), os.path.getsize(profile)
    (ours, open_in_log), (theirs, open_in_profile) = numbers_of(traceloom, log), numbers_of(traceloom, profile)
    job.calls, job.functions = sum(f[1] for f in ours), len(ours)
    if ours != theirs or open_in_log != open_in_profile:
        different = [f for f in ours if f not in theirs]
        job.wrong.append("%s: LOG AND PROFILE DIFFER in %d functions (%.300s ...), unmatched %s and %s" % (
            job.what, len(different), different[:1], open_in_log, open_in_profile))


def measure(traceloom, folder, here, compiler, sleds, repeat):
    """[Job], or None."""
    sources = fetch(folder)
    if sources is None:
        return None
    plain = {name: build(name, source, os.path.join(folder, "plain"), compiler, [], ["-lpthread"]) for name, source in sources.items()}
    traced = {name: build(name, source, os.path.join(folder, "traced"), compiler, sleds[0], sleds[1]) for name, source in sources.items()}
    clean = {key: value for key, value in os.environ.items() if not key.startswith("TRACELOOM")}
    base, out = os.path.join(folder, "real"), []
    for name, what, arguments, source in jobs(folder, here):
        job = Job(what)
        for _ in range(repeat):
            for way, settings in WAYS:
                remove(base + ".")
                env = dict(clean, TRACELOOM="%s:out=%s" % (settings, base)) if settings else clean
                job.time(way, *run((plain if settings is None else traced)[name], arguments, source, env))
        compare(traceloom, job, base)
        remove(base + ".")
        out.append(job)
    return out


def size(n):
    return "%.1f MB" % (n / MB) if n >= MB else "%.1f KB" % (n / 1000)


def tables(done):
    lines = ["| program | functions | calls | log | profile | of the log |", "|---|---:|---:|---:|---:|---:|"]
    for job in done:
        lines.append("| %s | %d | %.2f M | %s | %s | 1/%.0f |" % (job.what, job.functions, job.calls / MB, size(job.log), size(job.profile), job.log / job.profile))
    lines += ["", "| seconds | " + " | ".join(way for way, _ in WAYS) + " |", "|---|" + "---:|" * len(WAYS)]
    for job in done:
        plain = job.seconds[WAYS[0][0]]
        lines.append("| %s | " % job.what + " | ".join("%.3f (%.2f)" % (job.seconds[way], job.seconds[way] / plain) for way, _ in WAYS) + " |")
    lines += ["", "| ns for each call, more than not instrumented | " + " | ".join(way for way, _ in WAYS[1:]) + " |", "|---|" + "---:|" * (len(WAYS) - 1)]
    for job in done:
        plain = job.seconds[WAYS[0][0]]
        lines.append("| %s | " % job.what + " | ".join("%.1f" % ((job.seconds[way] - plain) * 1e9 / job.calls) for way, _ in WAYS[1:]) + " |")
    return lines
